#!/usr/bin/env bash
# Runs the code of the guides, unchanged, on a real run.
# Invariant (documents): The code of the guides runs.
. "$(dirname "$0")/common.bash"
pages=("$PWD"/docs/guide/*.md) package=$PWD/python/src

# Writes each block of code of one language in a page to a file.
blocks() {
    python3 "$tests/checks.py" blocks "$1" "$2" "$here/blocks"
}

rights_for "the run of the guides"
cd "$here" || exit 1
"$program" run --for 1s --warm-up 0s --deadline 1ms --samples --name night --quiet \
    "${rights[@]}" >"$here/summary" 2>&1
[ -d "$(echo runs/*_night)" ] || { echo "not ok a run to compute with"; cat summary; exit 1; }

if have "the Python of the guides" python:{pandas,pyarrow,duckdb}; then
    mkdir bin
    ln -s "$program" bin/latlab
    export PATH=$here/bin:$PATH PYTHONPATH=$package
    for page in "${pages[@]}"; do
        for block in $(blocks "$page" python); do
            name=${block##*/}
            try "the Python of ${name%.python} runs" python3 "$block"
        done
    done
fi

keep_last() {
    mkdir -p kept/{20260101T0000{01..16}Z_nightly,.20260101T000017Z_nightly.partial}
    line=$(grep -h '^ls -d "$LATLAB_RUNS"' "${pages[@]}") &&
        LATLAB_RUNS=$here/kept bash -c "$line" || return 1
    ls -A kept
    expect "the last 14 and the one that goes on" [ "$(ls -A kept | wc -l)" = 15 ] &&
        expect "no older one" [ ! -e kept/20260101T000002Z_nightly ]
}
try "the line that keeps the last runs keeps just these" keep_last

if have "the units of the guides" systemd-analyze; then
    units() {
        local page=${pages[0]}
        mkdir -p units
        blocks "$(dirname "$page")/cron-and-systemd.md" ini >/dev/null
        sed "s|/usr/local/bin/latlab|$program|" blocks/cron-and-systemd-1.ini >units/latlab.service
        cp blocks/cron-and-systemd-2.ini units/latlab.timer
        systemd-analyze verify --man=no units/latlab.service units/latlab.timer >said.units 2>&1
        cat said.units
        # Proves that the check works here.
        printf '[Service]\nExecStart=relative/latlab\n' >units/wrong.service
        expect "a complaint about a wrong unit" \
            grep -q wrong.service <(systemd-analyze verify --man=no units/wrong.service 2>&1) || return 1
        expect "no complaint about our units" [ -z "$(grep 'latlab\.' said.units)" ]
    }
    try "systemd accepts the units" units
fi

exit $status
