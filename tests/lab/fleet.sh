#!/usr/bin/env bash
# Tables of many runs: adding, querying, verifying, kills in the middle, rebuilding; on DuckDB, and in the long form on
# a Spark cluster of this machine, whose answers are compared row by row.
. "$(dirname "$0")/../common.bash"
have "tables of many runs" python:{numpy,pyarrow} || exit 0
have "tables of many runs" "$PWD/.venv/fleet/deltalake" "$PWD/.venv/fleet/duckdb_extension_delta" || exit 0
unset LATLAB_RUNS LATLAB_FLEET LATLAB_SPARK
# Separate from the packages of the other tests, which have a later DuckDB.
export LATLAB=$program PYTHONPATH=$PWD/.venv/fleet:$PWD/python/src
# Cache bytecode: Python starts a hundred times here.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$here/compiled

without_the_package() {
    local code=0
    (cd "$here" && PYTHONPATH= "$program" fleet query worst) 2>"$here/errors" || code=$?
    expect "exit code 3, not $code" [ $code = 3 ] &&
        expect "one line that says how: $(cat "$here/errors")" \
            grep -qx "latlab: .*pip install '\./python\[fleet\]'.*" "$here/errors" &&
        expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] || return 1
    mkdir -p "$here/nothing"
    code=0
    PATH=$here/nothing "$program" fleet verify 2>"$here/errors" || code=$?
    expect "exit code 3, not $code" [ $code = 3 ] &&
        grep -q "pip install '\./python\[fleet\]' (there is no python3)" "$here/errors"
}
try "without the Python package one line says how to get it" without_the_package

python3 tests/lab/fleet.py "$here/all" || status=1

# It takes minutes and 4 GB.
if [ -n "${LATLAB_LONG:-}" ] && have "the same answers on a Spark cluster" java "$PWD/.venv/spark/pyspark"; then
    PYTHONPATH=$PWD/.venv/spark:$PYTHONPATH python3 tests/lab/fleet_spark.py "$here/spark" || status=1
fi
exit $status
