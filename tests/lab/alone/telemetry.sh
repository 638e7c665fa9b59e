#!/usr/bin/env bash
# Events planted at known times are found in the conditions of a real run, within one reading; pandas
# reads the table; and reading is cheap, even with many threads.
# Invariant (conditions): An event is found within one reading; reading many threads costs less than a script that does.
. "$(dirname "$0")/../../common.bash"

have telemetry python:{pandas,pyarrow} || exit 0
rights_for "telemetry"
last_cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')

# Each records CLOCK_REALTIME when it starts.

hog() {
    timeout 2 taskset -c "$last_cpu" sh -c 'date +"hog %s.%N" >>"$1"; while :; do :; done' - "$here/planted"
}

# At a higher priority than the measuring threads, for a tenth of the time.
competitor() {
    timeout 2 taskset -c "$last_cpu" chrt -f 95 sh -c 'date +"competitor %s.%N" >>"$1"
        while :; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.1; done' - "$here/planted"
}

eater() {
    python3 tests/lab/telemetry.py eat "$here/planted"
}

planted() {
    : >"$here/planted"
    "$program" run "${rights[@]}" --for 20s --warm-up 1s --quiet --name planted \
        --out "$here/runs" >"$here/out" 2>"$here/errors" &
    run=$!
    begun || return 1
    sleep 5
    hog
    sleep 3
    [ "$(id -u)" != 0 ] || competitor
    sleep 3
    eater
    wait $run
    python3 tests/lab/telemetry.py found "$here"
}

crowd() {
    hackbench -g 10 -l 1000000 >"$here/hackbench" 2>&1 &
    local crowd=$!
    sleep 1
    "$program" run "${rights[@]}" --for 10s --quiet --name crowd --out "$here/runs" \
        >"$here/out" 2>"$here/errors" &
    run=$!
    begun && python3 tests/lab/telemetry.py read >"$here/usual"
    finish
    kill $crowd
    wait $crowd
    [ $code = 0 ] && python3 tests/lab/telemetry.py cost "$here"/runs/*_crowd/run.json "$here/usual"
}

none() {
    "$program" run "${rights[@]}" --for 1s --telemetry off --quiet --name none \
        --out "$here/runs" >"$here/out" 2>"$here/errors" || return 1
    [ ! -e "$here"/runs/*_none/telemetry.parquet ] &&
        holds_in "$here"/runs/*_none/run.json "" "run['conditions'] is None"
}

try "a hog, a competitor and a memory eater are found within one reading" planted
! have "the cost of readings" hackbench ||
    try "with the 400 tasks of hackbench a reading takes less than a script that reads every thread" crowd
try "without telemetry there are no conditions, and not those of nothing" none
try "the stored tables are whole" "$program" verify --all --out "$here/runs"

exit $status
