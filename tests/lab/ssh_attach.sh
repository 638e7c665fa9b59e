#!/usr/bin/env bash
# A program on a board is attached to over ssh: its cycles are those of the log that it writes there.
# Invariant (instruments): attach: cycles, releases and faults of a program are those of its log.
. "$(dirname "$0")/../common.bash"
. tests/lab/board.bash
need_boards "a program on a board"
. tests/attach.bash
runs=$LATLAB_RUNS
start_sshd "SetEnv XDG_CACHE_HOME=$cache" || exit 1

started() {
    more=(--target "$board" --explain)
    loop on-a-board abs 2000 1500 100
    more=()
    cat "$here/text"
    expect "its board" told "run['asked']['on']['target'] == '$board'" || return 1
    expect "each cycle" told "$same" 'all(told == due for told, due in releases())' || return 1
    expect "parts that add up" told "all(adds_up(long) for long in thread['longest'])"
}

by_name() {
    "$here/loops" abs 1000 20000 100 "$here/log" &
    local loops=$!
    "$program" attach --target "$board" --comm loops --list >"$here/text" 2>&1
    cat "$here/text"
    kill $loops
    wait $loops 2>/dev/null
    expect "how it waits" grep -q 'loops .*clock_nanosleep (until a time)' "$here/text"
}

try "a program is started and followed on a board" started
try "a program of a board is listed by its name" by_name
exit $status
