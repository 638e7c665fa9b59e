#!/usr/bin/env bash
# Faults and delays planted in an attached program, in numbers that only its log knows.
# Invariant (instruments): attach: cycles, releases and faults of a program are those of its log.
. "$(dirname "$0")/common.bash"
. tests/attach.bash

faults() {
    loop faults abs 2000 1500 100 $RANDOM page-fault heap write sync sleep open yield inversion
    local fault all=("$same" "fault('page-fault') >= planted('page-fault')" "object('inversion') == 'holder'"
        # A lock that is released at once makes no call.
        "0.7 * planted('inversion') <= fault('inversion') <= planted('inversion')"
        "in_cycles('sleep') == planted('sleep') + planted('inversion')")
    for fault in heap:munmap write:write sync:fsync open:openat yield:sched_yield; do
        all+=("fault('${fault%:*}', '${fault#*:}') == planted('${fault%:*}')")
    done
    expect "each cycle, and as many faults as were planted" told "${all[@]}"
}

# Each fault that is placed is placed in its line. Stacks are sampled once it is known how a thread waits, so the
# first second has none.
places() {
    local kinds=(page-fault heap write sync open yield inversion) kind
    loop places abs 2000 5000 100 $RANDOM sleep "${kinds[@]}"
    local all=("sum(bool(places(kind)) for kind in log['lines']) >= 5"
        # The call that ends its cycles is made within them as well.
        "places('sleep') and places('sleep') <= {log['lines']['sleep'], log['lines']['inversion'] - 1}"
        "line(thread['report']['activation_site']) == log['waits_at']")
    for kind in "${kinds[@]}"; do all+=("places('$kind') <= {log['lines']['$kind']}"); done
    expect "the line of each kind, and where it waits" told "${all[@]}" || return 1
    expect "the place in the sentence" has_words "$here/text" "at loops.c:[0-9]* (plant)"
}

# Without symbols and libraries, each function of the call chain is a place in the file.
stripped() {
    gcc -g -O3 -static -pthread -o "$here/loops-full" tests/attach/loops.c -lrt || return 1
    mkdir -p "$here/static"
    strip -o "$here/static/loops" "$here/loops-full" || return 1
    "$program" attach --quiet --out "$runs" --name stripped -- \
        "$here/static/loops" abs 2000 5000 100 "$here/log" $RANDOM page-fault heap write yield >"$here/text" 2>&1
    folder=$runs/$(ls "$runs" | grep "_stripped$" | tail -n 1)
    local kind all=()
    for kind in page-fault heap write yield; do
        all+=("not places('$kind')" "leads_to_line('$kind', '$here/loops-full')")
    done
    expect "the place of each kind, and no line" told "${all[@]}" || return 1
    expect "places in the file" has_words "$here/text" "loops+0x[0-9a-f]* from loops+0x"
}

# Faults of how a thread is released and scheduled: as many as were planted.
scheduling() {
    loop tick abs 20000 300 100 $RANDOM tick
    expect "as many time limits as were planted, each as long as a tick" told \
        "fault('tick-timeout', 'recvfrom') == planted('tick')" "longest('tick-timeout') > 1_000_000" || return 1
    loop throttle deadline 40000 200 100 $RANDOM throttle
    expect "each time that it was throttled, and its length" told \
        "planted('throttle') <= fault('throttled') <= planted('throttle') + 2" \
        "longest('throttled') > 1_000_000" || return 1
    loop share abs 5000 400 100 $RANDOM share
    expect "each time that the other thread had its CPU" told "fault('shared-cpu') >= planted('share')" \
        "object('shared-cpu') == 'hog'" || return 1
    loop low pipe 2000 600 100 $RANDOM low
    expect "each release by a less urgent thread" told \
        "fault('released-by-lower-priority') == planted('low')" \
        "object('released-by-lower-priority') == 'irq/99-low'"
}

# A loop without faults: nothing is reported but what it is.
clean() {
    loop clean abs 2000 600 100
    expect "no fault" told "not thread['report']['faults']" || return 1
    # How a thread is set up is known with its rhythm.
    UNLOCKED=1 loop unlocked rel 2000 4000 100
    expect "what is true of it" told \
        "sorted(one['kind'] for one in thread['report']['faults']) == ['relative-sleep', 'unlocked-memory']"
}

# Cycles that are delayed for 3 ms, by threads whose names are swapped in the second run: the cause of each is
# told, with and without the events of all of its CPU.
causes() {
    local names
    for names in holder:hog hog:holder; do
        export HOLDER=${names%:*} HOG=${names#*:}
        loop "causes-$HOG" abs 10000 300 100 $RANDOM hold hog stop || return 1
        unset HOLDER HOG
        all_causes "${names%:*}" "${names#*:}" || return 1
        expect "the lock in the explanation" explains "lock that ${names%:*}" || return 1
    done
    more=(--explain)
    loop causes-explained abs 10000 300 100 $RANDOM hold hog stop
    more=()
    all_causes holder hog || return 1
    expect "recorded cycles" told "run['explanation']['explained'] > 0" \
        "all(adds_up(long) for long in run['explanation']['largest'])" || return 1
    expect "causes over the run" explains "Causes of the spikes"
}

all_causes() {
    expect "who held the lock, who had the CPU, and that it was stopped" told "$same" \
        "all(adds_up(long) for long in thread['longest'])" "delayed('hold', 'lock', '$1')" \
        "delayed('hog', 'thread', '$2')" "delayed('stop', 'own-sleep', 'stopped by a signal')"
}

explains() { "$program" explain --top 16 "$folder" >"$here/text" && has_words "$here/text" "$1"; }

try "planted faults are counted" faults
try "faults are placed in the lines of the program" places
try "faults of a stripped program are placed in its file" stripped
try "faults of releases and scheduling are counted" scheduling
try "a clean loop has no fault" clean
try "the causes of long cycles are those that were planted" causes
exit $status
