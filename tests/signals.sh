#!/usr/bin/env bash
# Signals and stops of agent and conductor, clients that hang, and an end by the kernel's OOM killer.
# Invariant (kills): Closed terminals, stops and lack of memory end or mark a run as documented.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs
rights_for "signals to runs"
[ "$(id -u)" = 0 ] && [ "$OWN_MOUNTS" = no ] && rights=(--share)

clean_up() {
    [ -z "${group:-}" ] || rmdir "$group" 2>/dev/null
    rm -rf "$here"
}
trap clean_up EXIT

to_the_agent() {
    begin --for 60s || return 1
    sleep 1
    kill "-$1" "$agent"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        holds "run['ended'] == 'interrupted' and all(t['end']['cycles'] == t['summary']['cycles'] > 0 for t in threads)"
}
try "SIGTERM to the agent ends the run cleanly" to_the_agent TERM
try "SIGINT to the agent ends the run cleanly" to_the_agent INT

stopped() {
    begin --for 5s --samples --deadline 10s || return 1
    kill -STOP "$run"
    sleep 3
    kill -CONT "$run"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        holds "codes == [] and run['losses'] == dict.fromkeys(run['losses'], 0)"
}
try "a conductor that is stopped for seconds loses nothing" stopped

stopped_agent() {
    local since length
    begin --for 600s --deadline 10s || return 1
    since=${EPOCHREALTIME/./}
    kill -STOP "$agent"
    sleep 1
    kill -CONT "$agent"
    length=$((${EPOCHREALTIME/./} - since))
    more_cycles 200 || return 1
    end_run
    holds "[f['times'] for f in run['findings'] if f['code'] == 'agent-stopped'] == [1]" &&
        holds "0.5e9 < next(f['length_ns'] for f in run['findings'] if f['code'] == 'agent-stopped')
            < ${length}e3 + 2e9" &&
        # Other work makes no such latency.
        holds "run['verdict']['word'] != 'pass' and not run['self_interference']['largest'][0]['own_threads']"
}
try "an agent that was stopped says so, and does not pass" stopped_agent

agent_killed_with_hook() {
    # A number of seconds that no other process sleeps for.
    local mark=$here/hook.pid patience=300.$$
    begin --for 60s --spike-above 1us --on-spike "echo \$\$ >$mark; sleep $patience & sleep $patience; true" || return 1
    until_holds 60 "the command to be started" [ -s "$mark" ] || return 1
    kill -KILL "$agent"
    finish
    until_holds 60 "no process of the command" eval "! pgrep -f '^sleep $patience\$'"
}
try "a spike command and what it has started end with an agent that is killed" agent_killed_with_hook

closed_outputs() {
    "$program" run --for 1s --warm-up 0s --name mute "${rights[@]}" >&- 2>&- <&-
    code=$?
    expect "exit code 0, not $code" [ "$code" = 0 ] && published mute && holds "run['ended'] == 'finished'"
}
try "a run needs neither standard output nor error" closed_outputs

# A client of labgrid that ignores signals and prints nothing, or prints for ever.
client() {
    printf '#!/bin/sh\ntrap "" INT TERM\n%s\n' "$1" >"$here/client"
    chmod +x "$here/client"
    LATLAB_LABGRID=$here/client "$program" run --target labgrid:x --for 1s >"$here/out" 2>&1 &
    run=$!
    until_holds 30 "a call of the client" pgrep -f "^/bin/sh $here/client" || return 1
    kill -INT "$(pgrep -P "$run" -f " run " || echo "$run")"
    until_holds 120 "an end" has_ended "$run"
    local code=$?
    kill -KILL $(pgrep -f "$here/client")
    return $code
}
try "a labgrid client that hangs does not keep Ctrl-C from ending a run" client "sleep 600"
try "nor does one that talks for ever" client "while :; do echo more; done"

# Without memory

out_of_memory() {
    local hog
    bash -c 'echo $$ >'"$group"'/cgroup.procs; echo 1000 >/proc/self/oom_score_adj; exec "$@"' _ \
        "$program" run --quiet --warm-up 0s --for 60s --name hungry "${rights[@]}" >"$here/out" 2>"$here/errors" &
    run=$!
    begun || return 1
    echo "$agent" >"$root/cgroup.procs"
    until_holds 60 "an interval in the journal" has_interval hungry || return 1
    sleep 2
    echo 64M >"$limit"
    # Many small processes take all memory, until the kernel has killed the intended victim.
    bash -c 'echo $$ >'"$group"'/cgroup.procs; exec python3 tests/checks.py take_memory '"$run" 2>"$here/hog" &
    hog=$!
    wait "$run"
    code=$?
    wait "$hog"
    expect "an end by SIGKILL, not $code" [ "$code" = 137 ] || return 1
    "$program" list >"$here/text" 2>"$here/errors"
    expect "a recovered run" grep -q '^latlab: recovered' "$here/errors" && published hungry &&
        holds "run['recovered'] and run['measured_ns'] > 1e9"
}
has_interval() { has_counts 1 "$here"/runs/.*_"$1".partial/journal; }
root=/sys/fs/cgroup/memory
limit=memory.limit_in_bytes
[ -d "$root" ] || root=/sys/fs/cgroup limit=memory.max
group=$root/latlab-test-$$
if [ "$(id -u)" = 0 ] && mkdir "$group" 2>/dev/null && [ -w "$group/$limit" ]; then
    limit=$group/$limit
    try "a conductor that the kernel ends for want of memory is recovered" out_of_memory
else
    echo "SKIPPED: want of memory: no memory cgroup can be made here"
fi

exit $status
