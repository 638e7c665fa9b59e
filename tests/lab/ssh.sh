#!/usr/bin/env bash
# A board over ssh: this machine, through a private sshd on loopback. A run there is like any other, and its agent is
# copied once and verified.
. "$(dirname "$0")/../common.bash"
. tests/lab/ssh.bash

a_run() {
    on_board --cycles 1000 --deadline 1s --name board
    expect "a run that passes" [ "$code" = 0 ] &&
        holds "run['asked']['on']['target'] == '$board' and threads[0]['summary']['cycles'] >= 1000
            and run['verdict']['word'] == 'pass'
            and 'stream-lost' not in codes and run['conditions']" &&
        expect "an agent that only its user may read" \
            [ "$(stat -c %a "$cache"/latlab "$cache"/latlab/agents "$cache"/latlab/agents/agent-* | sort -u)" = 700 ] &&
        until_holds 10 "nothing that is left running" gone
}
# Invariant (boards): A run over ssh has the method, the settings and the tables of a local one.
beside_a_local_one() {
    "$program" run --quiet --format json --cpus 0 -i 1ms --warm-up 0s --cycles 1000 --deadline 1s "${rights[@]}" \
        --name local >"$here/local.json" 2>"$here/errors"
    python3 tests/lab/boards.py same_as_local "$LATLAB_RUNS" "$here/local.json" "$here/run.json" || return
    "$program" compare local -- board >"$here/compared" &&
        expect "the two side by side" grep -q 'board' "$here/compared" || return
    expect "no other method" [ "$(grep -c 'other method' "$here/compared")" = 0 ] &&
        "$program" plot local board --kind overlay -o "$here/both.svg" >/dev/null &&
        expect "both in one picture" [ "$(grep -oE '>(local|board)' "$here/both.svg" | sort -u | wc -l)" = 2 ] &&
        "$program" report local board -o "$here/both.html" >/dev/null &&
        expect "both on a page" grep -q 'board' "$here/both.html"
}
high_water() { awk '/^VmHWM/ { print $2 }' "/proc/$agent/status"; }
# Invariant (boards): The agent takes no more memory on a board than here.
takes_the_memory_of_a_local_one() {
    local there
    begin_on_board && there=$(high_water) || return
    kill -INT "$run"
    finish
    until_holds 10 "an agent that ends" gone && begin --cpus 0 --for 10min &&
        until_holds 60 "a second that is stored" stored || return
    local here_too
    here_too=$(high_water)
    kill -INT "$run"
    finish
    echo "VmHWM of the agent: $there kB on the board, $here_too kB here"
    expect "at most a tenth more" [ "$((there * 10))" -le "$((here_too * 11))" ]
}
is_off_the_measured_cpus() {
    [ "$(nproc)" -gt 1 ] || return 0
    on_board --for 5s
    holds "$moved and 'board-traffic' in codes
        and [one['per_second'] for one in run['findings'] if one['code'] == 'board-interrupts'
            for one in one['cpus']]" &&
        expect "a listener on all CPUs" [ "$(taskset -cp "$sshd" | sed 's/.*: //')" = \
            "$(taskset -cp $$ | sed 's/.*: //')" ]
}
# A server for each connection, as inetd and systemd start it.
by_a_server_of_its_own() {
    [ "$(nproc)" -gt 1 ] || return 0
    { cat "$here/ssh/config" && echo "ProxyCommand /usr/sbin/sshd -i -f $here/ssh/sshd_config"; } >"$here/ssh/inetd"
    LATLAB_SSH="ssh -F $here/ssh/inetd" on_board --cycles 500
    expect "a run" [ "$code" = 0 ] && holds "$moved"
}
is_not_copied_again() {
    local before
    before=$(stat -c %y "$cache"/latlab/agents/agent-*)
    on_board --cycles 10
    expect "the same copy" [ "$(stat -c %y "$cache"/latlab/agents/agent-*)" = "$before" ]
}
# Invariant (boards): The agent on a board is verified before each start.
half_copies_go() {
    local place=$cache/latlab/agents
    : >"$place/agent-0f.123"
    : >"$place/agent-0f.124"
    touch -d '2 days ago' "$place/agent-0f.123"
    on_board --cycles 10
    # The newer one may be a copy in progress.
    expect "a run" [ "$code" = 0 ] && expect "no old piece of a copy" [ ! -e "$place/agent-0f.123" ] &&
        expect "the young one" rm "$place/agent-0f.124"
}
is_verified() {
    local agent
    agent=$(echo "$cache"/latlab/agents/agent-*)
    printf '%s\n' '#!/bin/sh' "touch $here/was-run; echo 'latlab-agent 0.1.0'" >"$agent"
    on_board --cycles 10
    expect "a run" [ "$code" = 0 ] && expect "a copy that is not started" [ ! -e "$here/was-run" ]
}
in_memory() {
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=/proc/nowhere" || return 1
    on_board --cycles 10
    expect "a run" [ "$code" = 0 ] &&
        expect "nothing that is left" [ -z "$(ls -d /dev/shm/latlab.* /tmp/latlab.* 2>/dev/null)" ]
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=$cache"
}
is_examined() {
    "$program" doctor --target "$board" --format json >"$here/doctor.json" &&
        "$program" doctor --format json >"$here/local.json" &&
        python3 tests/lab/boards.py same_findings "$here/doctor.json" "$here/local.json" &&
        "$program" doctor --target "$board" --restore | grep -qx 'Nothing to restore.'
}
tells_its_loads() {
    diff <("$program" loads) <("$program" loads --target "$board")
}
with_all_that_runs_here() {
    have "a load on a board" hackbench || return 0
    on_board --for 3s --load hackbench,groups=1 --samples --tune rt-throttling=off --deadline 1s
    expect "a run that passes" [ "$code" = 0 ] &&
        holds "run['loads'][0]['evidence'] and not run['losses']['samples'] and 'samples.parquet' in run['files']
            and any(one['what'] == 'tuning rt-throttling' and one['applied'] == '-1'
                for one in run['applied']['settings'])" &&
        expect "throttling as before" [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$throttling" ]
}
in_a_sheet() {
    printf '%s\n' 'repeats = 1' '[defaults]' 'for = "1s"' 'warm-up = "0s"' 'cpus = "0"' 'period = "1ms"' \
        '[matrix]' "target = [\"local\", \"$board\", \"ssh://127.0.0.1:1\"]" '[[scenario]]' 'name = "idle"' \
        >"$here/sheet.toml"
    [ "$(id -u)" = 0 ] || sed -i '/^cpus/a policy = "other"\nidle-states = "system"' "$here/sheet.toml"
    "$program" run "$here/sheet.toml" --quiet --format json >"$here/table.json" 2>"$here/errors"
    holds_in "$here/table.json" "table = run['table']; rows = {row['target']: row for row in table['rows']}" \
        "rows['local']['cells'][0]['run'] and rows['$board']['cells'][0]['run']
            and not rows['ssh://127.0.0.1:1']['cells'][0]['run']"
}

try "a board can be started on loopback" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "a run on a board is one like any other" a_run
try "it has what a local run has" beside_a_local_one
if [ "$(id -u)" = 0 ]; then
    try "its ssh server is off the measured CPUs, and the report says what the link carried and how often it \
interrupted" is_off_the_measured_cpus
    try "so is one that was started for the connection" by_a_server_of_its_own
fi
try "its agent takes the memory of a local one" takes_the_memory_of_a_local_one
try "an agent that is there is not copied again" is_not_copied_again
try "a piece of a copy that a power cut left there goes after a day" half_copies_go
try "one that was changed there is not started" is_verified
try "where nothing can be written, it is in memory and leaves nothing" in_memory
try "a board is examined as this machine is" is_examined
try "the loads of a board are listed" tells_its_loads
throttling=$(cat /proc/sys/kernel/sched_rt_runtime_us)
try "loads, samples and tunings are as here" with_all_that_runs_here
try "a sheet measures boards, and notes one that cannot be reached" in_a_sheet
exit $status
