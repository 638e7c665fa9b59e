#!/usr/bin/env bash
# `--breakdown` in a real run: the counts of the parts, that they are consistent, and that a kill leaves no trace
# instance behind. If the script mounts tracefs, no other process sees the mount.
# Invariant (instruments): breakdown: counts and cost on the real program; no trace instance left after a kill.
. "$(dirname "$0")/../common.bash"
[ "$OWN_MOUNTS" = yes ] || skip "breakdown: need root, and the right to a mount namespace"
grep -q tracefs /proc/filesystems || skip "breakdown: this kernel has no tracefs"
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing || exit 1
instances=/sys/kernel/tracing/instances
# Older instances were left by runs outside of this mount namespace.
touch "$here/begun"

contained() {
    unshare --pid --fork --mount-proc "$program" run --quiet --breakdown --out "$here/contained" --for 1s 2>"$here/errors"
    expect "exit code 3" [ $? = 3 ] &&
        expect "the reason, and what to do" grep -q -- '--breakdown: .*--pid=host' "$here/errors" &&
        expect "no run" [ -z "$(ls -A "$here/contained")" ]
}
try "in a process namespace, whose numbers the trace does not have, --breakdown is refused" contained
[ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ] ||
    skip "breakdown: this is a process namespace, whose numbers the kernel's trace does not have"

# Evaluates Python with the breakdown of the run.
holds() { holds_in "$here/run.json" 'breakdown = run["breakdown"]; tally = breakdown["tally"]' "$1"; }
# Instances of live agents belong to other runs.
no_trace_of_ours() {
    local instance
    for instance in $(find "$instances" -maxdepth 1 -name 'latlab-*' -newer "$here/begun"); do
        expect "no $instance" [ -e "/proc/${instance##*-}" ] || return 1
    done
}

# Some kernels do not trace switches from an idle CPU, so give each CPU ordinary work.
for cpu in $(seq 0 $(($(nproc) - 1))); do
    taskset -c "$cpu" nice -n 19 timeout 15 bash -c 'while :; do :; done' 2>/dev/null &
done
try "a run with --breakdown ends well" bash -c \
    "'$program' run --quiet --breakdown --samples --format json --out '$here/runs' --for 8s >'$here/run.json'"
try "most traced cycles have their breakdown, and none contradicts its latency" holds \
    "tally['traced'] > 1000 and tally['known'] > tally['traced'] * 0.8 and tally['unsound'] < 10"
try "no event was lost" holds "tally['events_lost'] == 0"
try "the interrupt comes before the thread, and both before the latency" holds \
    "all(t['irq']['min_ns'] >= 0 and t['irq']['p50_ns'] <= t['thread_part']['p50_ns'] for t in breakdown['threads'])
     and all(0 <= l['breakdown']['irq_ns'] <= l['breakdown']['thread_ns'] <= l['latency_ns'] for l in breakdown['largest'])"
try "its cost was measured with and without it, a quarter of the time without" holds \
    "breakdown['cost'] and 0.15 < breakdown['cost']['untraced']['count'] / run['total']['cycles'] < 0.35"
short="'$program' run --quiet --breakdown --format json --out '$here/short' --for 1s >'$here/run.json'"
try "a run of a second ends well" bash -c "$short"
try "it has the IRQ part of nearly all its cycles, and at least as many of them as of both parts" holds \
    "tally['traced'] > 0 and sum(t['irq']['count'] for t in breakdown['threads']) > tally['traced'] * 0.8
     and all(t['irq']['count'] >= t['tally']['known'] for t in breakdown['threads'])"
try "the folder is whole" "$program" verify "$here"/runs/* "$here"/short/*
try "the instance is gone" no_trace_of_ours

"$program" run --quiet --breakdown --out "$here/killed" --for 60s >"$here/said" 2>&1 &
run=$!
cp /dev/null "$here/errors"
begun
try "there is an instance during the run" [ -d "$instances/latlab-$agent" ]
kill -9 "$agent" $run
wait 2>/dev/null
until_holds 60 "the end of the agent" [ ! -e "/proc/$agent" ]
try "after a kill of both the next command says that it was removed" bash -c \
    "'$program' doctor --restore | grep -q 'removed .*latlab-$agent, left by'"
try "and it is" no_trace_of_ours

# Only of this mount, so that no other process sees it.
mount -o remount,bind,ro /sys/kernel/tracing
refused=$("$program" run --quiet --breakdown --out "$here/none" --for 1s 2>&1)
code=$?
mount -o remount,bind,rw /sys/kernel/tracing
try "a trace that is read-only is one line, exit code 3" expect "exit code 3, not $code: $refused" \
    [ "$code/${refused/*remount,rw*/told}" = 3/told ]
while umount /sys/kernel/tracing 2>/dev/null; do :; done
umount /sys/kernel/debug 2>/dev/null
refused=$(setpriv --bounding-set -sys_admin "$program" run --quiet --breakdown --out "$here/none" --for 1s 2>&1)
code=$?
try "a trace that is not mounted and cannot be is one line, exit code 3" expect "exit code 3, not $code: $refused" \
    [ "$code/${refused/*mount -t tracefs*/told}" = 3/told ]
refused=$("$program" run --quiet --breakdown --clock tai --out "$here/none" --for 1s 2>&1)
code=$?
try "a clock that the trace does not have is wrong usage" expect "exit code 2, not $code: $refused" \
    [ "$code" = 2 ]
try "nothing is left of runs that were refused" [ ! -e "$here"/none/20* ]
exit $status
