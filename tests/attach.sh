#!/usr/bin/env bash
# A program is attached to that keeps a log of its own: when each of its cycles was due, started and ended,
# and how many faults were planted, which only that log says. What latlab tells of it must be that: each
# cycle, each release of a timer to the nanosecond, each fault that is a system call or a page fault. A loop
# that is late must fail, and nothing of latlab may be left behind.
# Invariant (instruments): attach: cycles, releases and faults of a program are those of its own log.
. "$(dirname "$0")/common.bash"

have attach gcc python:pyarrow || exit 0
[ "$(id -u)" = 0 ] || skip "attach: the kernel's events need root"
chrt -f 80 true 2>/dev/null || skip "attach: no real-time priority here"
gcc -O1 -Wall -Wextra -pthread -o "$here/loops" tests/attach/loops.c -lrt || exit 1

runs=$here/runs
tracing=/sys/kernel/tracing
if [ "${OWN_MOUNTS:-}" = yes ] && [ ! -d $tracing/instances ]; then
    mount -t tracefs tracefs $tracing || exit 1
fi
# More options of latlab.
more=()
# How many instances of ours tracefs has.
instances() { find $tracing/instances -maxdepth 1 -name 'latlab-*' | wc -l; }
# Attaches to a loop: loop NAME LOOPS-ARGUMENTS...; its log is $here/log.
loop() {
    local name=$1 arguments=("${@:2:4}") faults=("${@:6}")
    rm -f "$here/log"
    "$program" attach --quiet --out "$runs" --name "$name" "${more[@]}" -- \
        "$here/loops" "${arguments[@]}" "$here/log" "${faults[@]}" >"$here/text" 2>&1
    code=$?
    folder=$runs/$(ls "$runs" | grep "_$name$" | tail -n 1)
}

# Whether an expression holds of the last run: `thread` is what was found of the thread loops, `cycles`
# are its cycles, `log` is what the program says.
told() {
    python3 tests/attach/told.py "$folder" "$here/log" "$1" || { tail -n 30 "$here/text"; return 1; }
}

# Each way of waiting: the call that is found, and whether the log has the releases as well.
waits() {
    local kind=$1 call=$2
    loop "waits-$kind" "$kind" 2000 600 150
    expect "$kind waits in $call" told "thread['activation']['call'] == '$call'" || return 1
    expect "every cycle of $kind" told "$3" || return 1
    expect "the releases of $kind" told 'all(told == due for told, due in releases())' || return 1
    expect "what the log has of $kind within its cycles" told 'share(lies_within()) > 0.99' || return 1
    expect "the period of $kind" told "thread['period_ns'] and abs(thread['period_ns'] - 2e6) < ${4:-100}" || return 1
    expect "the parts of each cycle" told "all(part >= 0 for cycle in cycles for part in cycle['parts'])"
}

same='len(cycles) == len(log["cycles"])'
# A queue over a futex whose work is there already makes no call, so that two cycles are one.
at_most='0.9 * len(log["cycles"]) <= len(cycles) <= len(log["cycles"])'

timers() {
    waits abs clock_nanosleep "$same" &&
        waits timerfd read "$same" &&
        waits epoll epoll_wait "$same" &&
        waits sigwait rt_sigtimedwait "$same" &&
        waits pause pause "$same"
}

others() {
    # Their periods are those of the thread that gives them work, or get longer by their own work.
    waits rel clock_nanosleep "$same" 2e6 &&
        waits poll poll "$same" 2e6 &&
        waits pipe read "$same" 2e5 &&
        waits eventfd read "$same" 2e5 &&
        waits socket read "$same" 2e5 &&
        waits mq mq_timedreceive "$same" 2e5 &&
        waits condvar futex "$at_most" 2e5
}

deadline() {
    waits deadline sched_yield "$same" 1e5
}

# The job sleeps longer in a request to another thread than at its timer.
decoys() {
    local kind
    for kind in decoy-abs:clock_nanosleep decoy-timerfd:read; do
        loop "${kind%:*}" "${kind%:*}" 3000 500 100
        expect "${kind%:*}: the timer ends a cycle, not the request" told \
            "thread['activation']['call'] == '${kind#*:}' and thread['activation']['file'] in (None, 'timerfd')" || return 1
        expect "each cycle of ${kind%:*}" told "$same" || return 1
        expect "its request is time in which it is blocked" told "median(cycle['parts'][3] for cycle in cycles) > 1_500_000" ||
            return 1
    done
}

# A loop that begins twenty periods late and never sleeps again.
always_late() {
    loop always-late late 1000 500 1050
    expect "a failed verdict" [ "$code" = 1 ] || return 1
    expect "each cycle of it" told "$same" || return 1
    expect "its releases" told 'all(told == due for told, due in releases())' || return 1
    expect "all of it missed" told "thread['misses'] >= 500"
}

# Two sleeps in one cycle are said to be that, and not judged as if they were cycles.
two_phases() {
    more=(--deadline 20ms)
    loop two-phases two 9000 300 50
    more=()
    expect "no verdict that could be wrong" [ "$code" = 4 ] || return 1
    expect "the ambiguity" told "thread['ambiguous_with'] and 'activation-ambiguous' in codes"
}

faults() {
    loop faults abs 2000 1500 100 $RANDOM page-fault heap write sync sleep open yield inversion
    expect "each cycle" told "$same" || return 1
    expect "page faults" told "fault('page-fault') >= planted('page-fault')" || return 1
    local fault
    for fault in heap:munmap write:write sync:fsync open:openat yield:sched_yield; do
        expect "as many as were planted: $fault" told "fault('${fault%:*}', '${fault#*:}') == planted('${fault%:*}')" || return 1
    done
    expect "sleeps in the cycles that have them" told "in_cycles('sleep') == planted('sleep') + planted('inversion')" || return 1
    # One that is given free at once makes no call.
    expect "inversions" told "0.7 * planted('inversion') <= fault('inversion') <= planted('inversion')" || return 1
    expect "who held the lock" told "object('inversion') == 'holder'"
}

# A loop without any: nothing is said of it but what it is.
clean() {
    loop clean abs 2000 600 100
    expect "no fault" told "not thread['report']['faults']" || return 1
    UNLOCKED=1 loop unlocked rel 2000 600 100
    expect "what is true of it" told "sorted(fault['kind'] for fault in thread['report']['faults']) == ['relative-sleep', 'unlocked-memory']"
}

# Where the reader cannot keep up, what is lost is counted, and the run does not pass.
losses() {
    "$here/loops" abs 100 120000 10 "$here/log" &
    local loops=$! attach
    sleep 0.5
    "$program" attach --quiet --out "$runs" --name losses --pid $loops --for 9s >"$here/text" 2>&1 &
    attach=$!
    sleep 4
    # The agent, which is a child of the conductor.
    pkill -STOP -P $attach
    sleep 3
    pkill -CONT -P $attach
    wait $attach
    code=$?
    kill $loops
    wait $loops 2>/dev/null
    folder=$runs/$(ls "$runs" | grep "_losses$" | tail -n 1)
    echo '{"cycles": [], "planted": {}}' >"$here/log"
    expect "lost events" told "run['attached']['events_lost'] > 0" || return 1
    expect "cycles that were not followed" told "thread['report']['unseen'] > 0 and 'cycles-unseen' in codes" || return 1
    expect "no pass" [ "$code" != 0 ] || return 1
    # From the first release to the last, nothing is missing and nothing is made up.
    expect "cycles, overruns and what is unseen are the releases" told \
        "abs(len(cycles) + thread['report']['overruns'] + thread['report']['unseen'] - 1 - round((cycles[-1]['release'] - cycles[0]['release']) / 1e5)) <= thread['report']['unseen'] * 0.01 + 2"
}

nothing_left() {
    "$here/loops" abs 1000 60000 10 "$here/log" &
    local loops=$! before attach
    before=$(instances)
    more_instances() { [ "$(instances)" -gt "$before" ]; }
    "$program" attach --quiet --out "$runs" --name killed --pid $loops >"$here/text" 2>&1 &
    attach=$!
    until_holds 30 "a trace of ours" more_instances || return 1
    pkill -KILL -P $attach
    kill -KILL $attach 2>/dev/null
    wait $attach 2>/dev/null
    expect "a kill leaves the trace" more_instances || return 1
    # The next latlab takes away what is left.
    "$program" attach --out "$runs" --pid $loops --list >"$here/text" 2>&1 || return 1
    expect "the thread in the list" grep -q 'clock_nanosleep (until a time)' "$here/text" || return 1
    kill $loops
    wait $loops 2>/dev/null
    expect "the trace gone with the next latlab" [ "$(instances)" = "$before" ]
}

# Bad input is one line, and nothing is stored.
refusals() {
    local words before
    before=$(ls "$runs" | wc -l)
    refused() {
        words=$1
        shift
        "$program" attach --quiet --out "$runs" "$@" >"$here/text" 2>&1 && { echo "accepted: $*"; return 1; }
        expect "one line for $*" [ "$(wc -l <"$here/text")" = 1 ] || return 1
        expect "$words" grep -q -- "$words" "$here/text"
    }
    refused "needs a program" || return 1
    refused "no process 4194303" --pid 4194303 || return 1
    refused "no process or thread is called" --comm 'no-such-*' || return 1
    refused "thread of the kernel" --pid 2 || return 1
    refused "cannot find the program" -- /no/such/program || return 1
    refused "expected a system call" --activation fork -- /bin/sleep 1 || return 1
    refused "takes one of" --pid 1 --comm x || return 1
    sleep 60 &
    local sleeper=$!
    if command -v strace >/dev/null; then
        strace -o /dev/null -p $sleeper 2>/dev/null &
        local tracer=$!
        until_holds 10 "a tracer" grep -q '^TracerPid:[[:space:]]*[1-9]' /proc/$sleeper/status || return 1
        refused "is traced by process" --pid $sleeper || return 1
        kill $tracer
        wait $tracer 2>/dev/null
    fi
    kill $sleeper
    wait $sleeper 2>/dev/null
    expect "nothing stored" [ "$(ls "$runs" | wc -l)" = "$before" ]
}

# Threads that are born and die meanwhile, and another program in place of the first.
comings() {
    cat >"$here/busy.sh" <<SHELL
for n in \$(seq 40); do /bin/true; done
exec "$here/loops" abs 1000 1500 50 "$here/log"
SHELL
    rm -f "$here/log"
    "$program" attach --quiet --out "$runs" --name comings -- sh "$here/busy.sh" >"$here/text" 2>&1
    folder=$runs/$(ls "$runs" | grep "_comings$" | tail -n 1)
    expect "each cycle behind an exec" told "$same"
}

mkdir -p "$runs"
try "cycles of timers are those of the program's log" timers
try "cycles of other waits are those of the program's log" others
try "a thread with SCHED_DEADLINE" deadline
try "a longer request is not taken for the end of a cycle" decoys
try "a loop that is always late fails" always_late
try "two sleeps in a cycle are told" two_phases
try "planted faults are counted" faults
try "a clean loop has no fault" clean
try "lost events are no good cycles" losses
try "what cannot be is refused in a line" refusals
try "threads and programs come and go" comings
try "a kill leaves nothing" nothing_left
exit $status
