#!/usr/bin/env bash
# Named tunings on this machine: they hold during a run, and everything is as before after its end, after
# kills, and after a refused run.
# Invariant (undo): Tunings hold during a run and are undone from any start; no other thread is touched.
. "$(dirname "$0")/../common.bash"

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: tunings: need root"
    exit 0
fi
# Restore this machine whatever fails below.
trap '"$program" doctor --restore >/dev/null 2>&1; rm -rf "$here"' EXIT
[ "$OWN_MOUNTS" = no ] || mount -t debugfs none /sys/kernel/debug 2>/dev/null

measured=$(taskset -cp $$ | sed 's/.*[ ,-]//')
runtime=/proc/sys/kernel/sched_rt_runtime_us
migration=/proc/sys/kernel/timer_migration
pages=/sys/kernel/mm/transparent_hugepage/enabled
queues=/sys/devices/virtual/workqueue/cpumask
fair=/sys/kernel/debug/sched/fair_server/cpu$measured/runtime
thread=$(ps -eo comm= | grep '^irq/' | head -n 1)
others=never
grep -q '\[never\]' $pages 2>/dev/null && others=madvise

tunings=()
# Adds a tuning if this machine has what it changes.
may_tune() {
    if cat "$2" >/dev/null 2>&1; then
        tunings+=(--tune "$1")
    else
        echo "SKIPPED: --tune $1: $2 is not here, or may not be read"
    fi
}
may_tune rt-throttling=off $runtime
may_tune timer-migration=off $migration
may_tune "thp=$others" $pages
may_tune fair-server=off "$fair"
if [ "$measured" = 0 ]; then
    echo "SKIPPED: --tune irqs and workqueues: there is one CPU only"
else
    may_tune irqs=away /proc/irq/default_smp_affinity
    may_tune workqueues=away $queues
fi
if [ -n "$thread" ]; then
    tunings+=(--tune "irq-thread:$thread=51")
else
    echo "SKIPPED: --tune irq-thread: no interrupt has a thread here (threadirqs)"
fi

# Everything that the tunings change.
state() {
    grep -sH . $runtime $migration $pages $queues "$fair" /proc/irq/default_smp_affinity \
        /proc/irq/*/smp_affinity_list
    ps -eo pid,cls,rtprio,comm | grep ' irq/'
}

# Starts a tuned run of $1 seconds with a name, and waits until its last tuning holds.
start() {
    "$program" run -a "$measured" --policy other --idle-states system --warm-up 0s --quiet \
        "${tunings[@]}" --for "$1s" --name "$2" --out "$here/runs" >"$here/out" 2>"$here/errors" &
    run=$!
    for _ in $(seq 600); do
        sleep 0.1
        [ -n "$(find "$here/runs" -name journal -path "*_$2*" -size +20k 2>/dev/null)" ] && return
        kill -0 $run 2>/dev/null || break
    done
    cat "$here/errors"
    return 1
}

as_before() {
    for _ in $(seq 300); do
        state >"$here/after"
        cmp -s "$here/before" "$here/after" && return
        sleep 0.1
    done
    diff "$here/before" "$here/after"
}

# Current values from the kernel's files, not from latlab.
holds_now() {
    case $1 in
        rt-throttling=*) [ "$(cat $runtime)" = -1 ] ;;
        timer-migration=*) [ "$(cat $migration)" = 0 ] ;;
        thp=*) grep -q "\[$others\]" $pages ;;
        fair-server=*) [ "$(cat "$fair")" = 0 ] ;;
        irqs=*) [ $((0x$(tr -d , </proc/irq/default_smp_affinity) >> measured & 1)) = 0 ] ;;
        workqueues=*) [ $((0x$(tr -d , <$queues) >> measured & 1)) = 0 ] ;;
        irq-thread:*) ps -eo rtprio,comm | grep -qF "51 $thread" ;;
    esac
}

# Interrupts with a handler that may run on the measured CPU.
staying() {
    local folder
    for folder in $(find /proc/irq -mindepth 2 -maxdepth 2 -type d -printf '%h\n' | sort -u); do
        python3 tests/checks.py includes "$measured" "$(cat "$folder/smp_affinity_list")" && echo "${folder##*/}"
    done
}

during_a_run() {
    # Stopped below once everything is checked, however long that takes.
    start 600 held || return 1
    local one
    for one in "${tunings[@]}"; do
        [ "$one" = --tune ] || expect "$one holds" holds_now "$one" || return 1
    done
    staying >"$here/staying"
    kill -INT $run
    wait $run
    expect "an end without a complaint" [ $? = 0 ] || { cat "$here/errors"; return 1; }
    as_before && python3 tests/checks.py tunings_told "$here"/runs/*_held/run.json $((${#tunings[@]} / 2)) \
        "$here/staying"
}

# $1 says what is killed: run, agent or both.
killed() {
    start 60 "killed-$1" || return 1
    local agent
    agent=$(pgrep -P $run)
    case $1 in
        run) kill -KILL $run ;;
        agent) kill -KILL "$agent" ;;
        both) kill -KILL "$agent" $run ;;
    esac
    wait $run 2>/dev/null
    [ "$1" = run ] || until_holds 30 "the end of the agent" [ ! -e "/proc/$agent" ] || return 1
    # An agent that loses its conductor restores everything itself.
    [ "$1" = run ] || "$program" doctor --restore >"$here/restored" 2>&1 || return 1
    as_before || return 1
    case $1 in
        both) expect "the old value, named" grep -q "restored $runtime from '-1' to" "$here/restored" || return 1 ;;
    esac
    [ "$("$program" doctor --restore)" = "Nothing to restore." ]
}

by_the_next_run() {
    local agent
    start 60 left || return 1
    agent=$(pgrep -P $run)
    kill -KILL "$agent" $run
    wait $run 2>/dev/null
    until_holds 30 "the end of the agent" [ ! -e "/proc/$agent" ] || return 1
    start 1 next || return 1
    wait $run
    as_before && python3 tests/checks.py same_before "$here"/runs/*_held/run.json "$here"/runs/*_next/run.json
}

two_at_once() {
    start 20 first || return 1
    "$program" run -a 0 --share --policy other --idle-states system --for 1s --quiet \
        --tune rt-throttling=off --out "$here/second" >"$here/said-second" 2>&1 &&
        "$program" run -a 0 --share --policy other --idle-states system --for 1s --quiet \
            --set kernel.sched_rt_runtime_us=940000 --out "$here/second" >"$here/said-second" 2>&1
    local code=$?
    expect "the value of the first" holds_now rt-throttling=off || return 1
    kill -INT $run
    wait $run
    cat "$here/said-second"
    expect "exit code 3" [ $code = 3 ] &&
        grep -q "until it ends: wait for it" "$here/said-second" && as_before
}

refused() {
    "$program" run --tune rt-throttling=off --tune "irq-thread:no such thread=50" --for 1s \
        --policy other --quiet --out "$here/none" >"$here/said-refused" 2>&1
    local code=$?
    cat "$here/said-refused"
    expect "exit code 3" [ $code = 3 ] && expect "one line" [ "$(wc -l <"$here/said-refused")" = 1 ] &&
        expect "no run" [ ! -e "$here/none" -o -z "$(ls "$here/none" 2>/dev/null)" ] &&
        as_before || return 1
    "$program" run --tune smt=off --for 1s --out "$here/none" >"$here/said-refused" 2>&1
    code=$?
    cat "$here/said-refused"
    expect "exit code 2" [ $code = 2 ] && grep -q "unknown tuning 'smt'" "$here/said-refused"
}

state >"$here/before"
try "tunings hold during a run, are told with what was there, and are put back" during_a_run
try "a killed conductor: its agent puts everything back" killed run
try "a killed agent: doctor --restore puts everything back" killed agent
try "both killed: doctor --restore puts everything back" killed both
try "what a killed run left is put back before the next is tuned" by_the_next_run
try "a second run shares an equal value, and is refused another one" two_at_once
try "a tuning that cannot be made is refused in one line, and none is made" refused

exit $status
