#!/usr/bin/env bash
# The Python package: reads runs of every schema into pandas (current and Debian 12's) and Polars, starts
# runs, has types, an executable guide, and a wheel with the program inside.
# Invariant (old data): The Python package reads runs of every schema, and its figures are those of run.json.
. "$(dirname "$0")/../common.bash"
have "the Python package" python:{pandas,pyarrow,polars,mypy,hatchling} || exit 0
unset LATLAB_RUNS
root=$PWD source=$PWD/python/src
mkdir "$here/bin"
ln -s "$program" "$here/bin/latlab"
export PATH=$here/bin:$PATH

# A case is named after its function.
cases() {
    local frame=$1
    shift
    python3 tests/lab/python.py "$here/$frame-$RANDOM" "$frame" "$@" || status=1
}

export PYTHONPATH=$source
cases pandas runs
cases polars tables
if have "pandas of Debian 12" "$PWD/.venv/debian-12/pandas"; then
    PYTHONPATH=$PWD/.venv/debian-12:$source cases pandas tables
fi

types() {
    mypy --config-file python/pyproject.toml --cache-dir "$here/types" python/src tests/lab/python_types.py
}
try "the package has types, and a frame is that of its library (mypy, strict)" types

try "each cell of the guide can be executed, and prints what stands there" \
    python3 tests/lab/notebook.py docs/guide/python.ipynb

# The wheel

unset PYTHONPATH
export SOURCE_DATE_EPOCH=1700000000
wheel() {
    local wheel
    mkdir "$here/one" "$here/two" "$here/installed"
    wheel=$(scripts/wheel.sh "$program" "$(uname -m)" LICENSE-MIT "$here/one") &&
        scripts/wheel.sh "$program" "$(uname -m)" LICENSE-MIT "$here/two" >/dev/null &&
        cmp "$wheel" "$here/two/${wheel##*/}" &&
        pip install --quiet --no-index --no-deps --target "$here/installed" "$wheel" &&
        cmp "$program" "$here/installed/bin/latlab" || return
    cd "$here" &&
        PATH=${PATH#"$here/bin:"} PYTHONPATH=$here/installed python3 "$tests/lab/checks.py" installed_wheel \
            "$here/installed" "$wheel"
}
clone() {
    mkdir -p "$here/clone/target" "$here/from-clone" && cp -r python "$here/clone" &&
        cp "$program" "$here/clone/target" || return
    (cd "$here/clone" &&
        pip install --quiet --no-index --no-deps --no-build-isolation --target "$here/from-clone" ./python) &&
        cmp "$program" "$here/from-clone/bin/latlab"
}
try "pip installs the package of a clone with the program that was built there" clone
try "a wheel holds the program, is the same when it is built again, and can be installed" wheel
exit $status
