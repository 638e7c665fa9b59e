#!/usr/bin/env bash
# Clocks that are set and slewed during a run.
# Invariant (kills): A clock that is set or slewed marks or ends a run as documented.
. "$(dirname "$0")/../../common.bash"
rights=()
export LATLAB_RUNS=$here/runs

# Shifts CLOCK_REALTIME by this number of seconds.
set_by() { python3 tests/lab/checks.py set_clock_by "$1"; }

stepped() {
    local clock=$1 expected=$2
    begin --for 4s --clock "$clock" --deadline 100s || return 1
    sleep 1.5
    set_by 30
    sleep 1.2
    set_by -30
    finish
    expect "exit code $expected, not $code" [ "$code" = "$expected" ] &&
        holds "set(codes) - {'negative-latency', 'interval-lost', 'thread-ended-early'} == {'clock-stepped'}" &&
        holds "run['total']['cycles'] > 0"
}
slewed() {
    begin --for 3s --clock "$1" --deadline 10s || return 1
    sleep 1
    python3 tests/lab/checks.py slew_clock
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] && holds "codes == []"
}
if [ -n "${KEEP_CLOCK:-}" ] || ! { [ "$(id -u)" = 0 ] && set_by 0; } 2>/dev/null; then
    echo "SKIPPED: clocks that are set: the right to set one is missing, or KEEP_CLOCK is set"
else
    try "a clock that is set is a warning where it was not used" stepped monotonic 0
    try "and makes a run on it invalid" stepped realtime 4
    try "a slewed clock is no finding" slewed monotonic
    try "nor for a run on it" slewed realtime
fi

exit $status
