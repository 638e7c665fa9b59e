#!/usr/bin/env bash
# A series of builds, a run each: the answers of `latlab trend`, and the exit codes of its gate.
# The runs are made from lists of readings, so they are the same each time.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs COLUMNS=120

# Sixteen builds of which the second half is slower, a run each.
builds() {
    local build
    for build in 1 2 3 4 5 6 7 8; do readings old 1 $((100 + build % 3)) 0 || return 1; done
    for build in 1 2 3 4 5 6 7 8; do readings slow 1 $((130 + build % 3)) 0 || return 1; done
}
# trend CODE WORDS FLAGS-AND-RUNS...
trend() {
    local expected=$1 words=$2 code
    shift 2
    "$program" trend --gate --by run "$@" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/text" "$here/errors"
    expect "exit code $expected, not $code" [ "$code" = "$expected" ] &&
        expect "the words '$words'" grep -q -- "$words" "$here/text" "$here/errors"
}
try "runs of builds" builds
try "a step in a series of builds has regressed" trend 1 '^REGRESSED: p99.9 x1.3.* since .*_slow' old slow
try "a series says which steps it lets one see" trend 1 \
    'To see a step of 5 % in p99.9 you need [0-9]* builds before it' old slow
try "builds without a step have not" trend 4 'too few to find a step; 10 are needed' old
try "a wider limit accepts the step" trend 0 '^NO REGRESSION' --margin 50% old slow
try "since then there are too few" trend 2 'no valid run of that kind' --since 2999-01-01 old slow

try "a time that is none is one line" trend 2 "'yesterday' is not a time such as 2026-11-01" --since yesterday old

followed() {
    "$program" trend --by run -o "$here/trend.html" old slow &&
        expect "the answer first" grep -q '<h1 class="headline"[^>]*>REGRESSED' "$here/trend.html" &&
        expect "every build" grep -q 'data-builds="16"' "$here/trend.html" &&
        "$program" trend --by run --format json old slow >"$here/trend.json" &&
        holds_in "$here/trend.json" "" "[step['at'] for step in run['steps']] == [8]" &&
        "$program" trend --by run --format junit old slow | grep -q '<failure message="REGRESSED' &&
        "$program" trend --by name --format markdown old slow | grep -q '^| old |'
}
try "a series as page, JSON, JUnit XML and Markdown" followed

exit $status
