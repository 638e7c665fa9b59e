#!/usr/bin/env bash
# One thread wakes another, by each mechanism: every release is accounted for, nothing is left
# behind, and the figures have the magnitude of those of rt-tests.
# Invariant (instruments): handoff: an unanswered release is left out and counted; a failing waker ends the run.
. "$(dirname "$0")/common.bash"
rights_for "waking a thread"
cpu=$(tr ',-' '\n\n' </sys/devices/system/cpu/online | tail -1)
ways="futex pipe signal eventfd mq sysv"

handoff() {
    "$program" run --quiet --share --instrument handoff --out "$here/runs" --cpus "$cpu" \
        "${rights[@]}" "$@"
}

# Evaluates Python with the total of the run.
holds() { holds_in "$1" 'total = run["total"]' "$2"; }

# The smallest figure of a program of rt-tests, in microseconds, from its last lines.
smallest() {
    local found
    # On a busy machine they sometimes print nothing.
    for _ in 1 2 3; do
        found=$(timeout 30 "$@" 2>&1 | grep -o 'Min *[0-9]*' | tail -1 | tr -dc 0-9)
        [ -z "$found" ] || { echo "$found"; return; }
    done
    return 1
}

accounts() {
    handoff --wake "$1" --for 2s --warm-up 100ms --period 1ms --format json >"$here/$1.json" || return
    # A late last cycle moves the end, and adds overruns.
    holds "$here/$1.json" "2000 <= run['measured_ns'] // 10**6 and total['cycles'] > 1000 and \
        total['cycles'] + total['overruns'] - run['measured_ns'] // 10**6 in (0, 1)"
}

# A mechanism that costs a thousand times more than in rt-tests measures something else.
is_of_the_size_of() {
    local theirs ours
    theirs=$(smallest "${@:2}") || return
    ours=$(python3 -c "import json; print(json.load(open('$here/$1.json'))['total']['min_ns'])")
    echo "$1: smallest $ours ns here, $theirs us with ${*:2}"
    python3 -c "import sys; sys.exit(not $theirs / 20 < $ours / 1000 < ($theirs + 1) * 20)"
}

for way in $ways; do
    try "$way: every release is served or told" accounts "$way"
done
if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: wakings against those of rt-tests: needs root"
elif have "wakings against those of rt-tests" ptsematest svsematest pmqtest sigwaittest; then
    at="-a $cpu -t1 -p90 -i1000 -l500 -q"
    try "futex against ptsematest" is_of_the_size_of futex ptsematest $at
    try "sysv against svsematest" is_of_the_size_of sysv svsematest $at
    try "mq against pmqtest" is_of_the_size_of mq pmqtest $at
    try "signal against sigwaittest" is_of_the_size_of signal sigwaittest $at
fi

judged() {
    handoff --for 1s --warm-up 0 --deadline 100ns --format json >"$here/judged.json"
    expect "exit code 1" [ $? = 1 ] &&
        holds "$here/judged.json" "total['misses'] == total['cycles'] + total['overruns']"
}
try "a deadline is judged" judged

stopped() {
    local run
    handoff --for 3s --warm-up 0 --period 1ms --deadline 20ms --name "stop-$$" --format json \
        >"$here/stopped.json" 2>"$here/errors" &
    run=$!
    begun || return 1
    sleep 0.5
    kill -STOP "$agent"
    sleep 0.5
    kill -CONT "$agent"
    wait "$run"
    expect "exit code 1" [ $? = 1 ] &&
        holds "$here/stopped.json" "total['overruns'] > 300 and total['misses'] > 300"
}
try "a stall of both threads misses the deadline" stopped

interrupted() {
    # The first release is seconds away: there is nothing to store, and nothing may hang.
    timeout --preserve-status --kill-after=60 1 "$program" run --quiet --share --out "$here/runs" \
        --instrument handoff --wake pipe --period 10s --warm-up 0 "${rights[@]}"
    expect "an exit, not $?" [ $? -le 4 ]
}
try "the thread that waits for the other is ended as well" interrupted

nothing_is_left() {
    local before after
    before=$(ipcs -s | wc -l)
    for way in sysv mq; do
        handoff --wake "$way" --for 20s --name "left-$$" >"$here/out" 2>"$here/errors" &
        run=$!
        begun || return 1
        kill -KILL "$agent"
        wait "$run"
    done
    after=$(ipcs -s | wc -l)
    expect "$before lines of ipcs, not $after" [ "$before" = "$after" ]
}
if [ "$(id -u)" = 0 ]; then
    try "a killed agent leaves no semaphore" nothing_is_left
fi

unknown() {
    handoff --wake spam && return 1
    [ $? = 2 ] && handoff --wake spam 2>&1 | grep -q "futex, pipe, signal, eventfd, mq, sysv"
}
try "an unknown way is refused with those that there are" unknown
exit "$status"
