#!/usr/bin/env bash
# Runs of an attached program are runs like others: rows of a campaign, sides of a comparison, test results, and on
# another machine.
# Invariant (instruments): attach: cycles, releases and faults of a program are those of its log.
. "$(dirname "$0")/common.bash"
. tests/attach.bash

# Two rows of one sheet, each with its own log, and JUnit with a test for each.
campaign() {
    local row
    printf '%s\n' '[defaults]' 'for = "20s"' >"$here/programs.toml"
    for row in quick slow; do
        printf '%s\n' '[[scenario]]' "name = \"$row\"" 'deadline = "1s"' \
            "program = [\"$here/loops\", \"abs\", \"2000\", \"600\", \"100\", \"$here/$row.log\"]"
    done >>"$here/programs.toml"
    sed -i '0,/"600"/! s/"600"/"900"/' "$here/programs.toml"
    "$program" run "$here/programs.toml" --out "$runs" --quiet --junit "$here/junit.xml" >"$here/text" || return 1
    for row in quick:600 slow:900; do
        folder=$(ls -d "$runs"/*_programs/runs/*_"${row%:*}"-1)
        python3 tests/attach/told.py "$folder" "$here/${row%:*}.log" "$same" "len(cycles) == ${row#*:}" || return 1
        expect "a test of ${row%:*}" grep -q "testcase.*${row%:*}" "$here/junit.xml" || return 1
    done
}

compares() {
    set -- "$runs"/*_programs/runs/*_quick-1 "$runs"/*_programs/runs/*_slow-1
    "$program" compare "$1" -- "$2" >"$here/text"
    expect "their quantiles side by side" grep -q '^p50 ' "$here/text"
}

try "a program is a row of a campaign, with all of its cycles" campaign
try "runs of programs are compared" compares
exit $status
