#!/usr/bin/env bash
# Attaches to a program that logs when each of its cycles was due, started and ended. latlab must report the same:
# each cycle, and each release of a timer to the nanosecond.
# Invariant (instruments): attach: cycles, releases and faults of a program are those of its log.
. "$(dirname "$0")/common.bash"
. tests/attach.bash

# Each way of waiting: the call that is found, each cycle, the releases if the log has them, and the period:
# waits KIND CALL CYCLES [NS], where NS is how far the period may be from 2 ms.
waits() {
    local all=("thread['activation']['call'] == '$2'" "$3"
        "thread['period_ns'] and abs(thread['period_ns'] - 2e6) < ${4:-100}"
        "all(part >= 0 for cycle in cycles for part in cycle['parts'])"
        'all(told == due for told, due in releases())')
    # Two cycles that merge into one change the order.
    [ "$3" != "$same" ] || all+=('share(lies_within()) > 0.99')
    loop "waits-$1" "$1" 2000 400 150
    expect "what the log of $1 says" told "${all[@]}"
}

# A queue over a futex makes no call if work is waiting, so two cycles merge into one.
at_most='0.9 * len(log["cycles"]) <= len(cycles) <= len(log["cycles"])'

timers() {
    waits abs clock_nanosleep "$same" &&
        waits timerfd read "$same" &&
        waits epoll epoll_wait "$same" &&
        waits sigwait rt_sigtimedwait "$same" &&
        waits pause pause "$same"
}

others() {
    # Their periods are those of the thread that feeds them, or grow by their own work.
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

# The job sleeps longer in a request to another thread than on its timer.
decoys() {
    local kind
    for kind in decoy-abs:clock_nanosleep decoy-timerfd:read; do
        loop "${kind%:*}" "${kind%:*}" 3000 500 100
        expect "${kind%:*}: the timer ends a cycle, not the request, in which it is blocked" told "$same" \
            "thread['activation']['call'] == '${kind#*:}' and thread['activation']['file'] in (None, 'timerfd')" \
            "median(cycle['parts'][3] for cycle in cycles) > 1_500_000" || return 1
    done
}

# A loop that starts twenty periods late and never sleeps again.
always_late() {
    loop always-late late 1000 500 1050
    expect "a failed verdict" [ "$code" = 1 ] || return 1
    expect "each cycle and release of it, and all of it missed" told "$same" \
        'all(told == due for told, due in releases())' "thread['misses'] >= 500"
}

# A loop that takes another period at half time. Its releases are no overruns of the first period; a busy machine may
# cause some of its own.
changes() {
    loop changes change 2000 1200 100
    expect "no pass by a deadline that it has no more" [ "$code" != 0 ] || return 1
    expect "each cycle of it, both periods, the change as a finding, and no overrun by it" told "$same" \
        'all(told == due for told, due in releases())' "abs(thread['period_ns'] - 2e6) < 100" \
        "abs(thread['report']['rhythm_change']['period_ns'] - 3e6) < 30_000" "'rhythm-changed' in codes" \
        "thread['report']['overruns'] <= periods_over(2_000_000)"
}

# Two sleeps in one cycle are reported as such, not judged as two cycles.
two_phases() {
    more=(--deadline 20ms)
    loop two-phases two 9000 300 50
    more=()
    expect "no verdict that could be wrong" [ "$code" = 4 ] || return 1
    expect "the ambiguity" told "thread['ambiguous_with'] and 'activation-ambiguous' in codes"
}

try "cycles of timers are those of the program's log" timers
try "cycles of other waits are those of the program's log" others
try "a thread with SCHED_DEADLINE" deadline
try "a longer request is not taken for the end of a cycle" decoys
try "a loop that is always late fails" always_late
try "another period at half time is told" changes
try "two sleeps in a cycle are told" two_phases
exit $status
