#!/usr/bin/env bash
# A board behind a bad line: slow, with a long delay, and one whose packets vanish. LATLAB_LONG=1 also copies
# the agent over 1 Mbit/s.
. "$(dirname "$0")/../common.bash"
. tests/lab/board.bash
need_boards "boards behind a bad line"

# Reaches the board by a line with this delay in seconds each way, and this many bytes a second.
line() {
    sed '/^ProxyCommand/d' -i "$here/ssh/config"
    echo "ProxyCommand python3 $PWD/tests/lab/relay.py %h %p $1 $2" >>"$here/ssh/config"
}
measure() {
    "$program" run --quiet --format json --target "$board" --cpus 0 \
        --warm-up 0s "${rights[@]}" "$@" >"$here/run.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
}
far_away() {
    local tries
    line 0.1 10e6
    # A busy machine also causes overruns: then try again.
    for tries in 1 2 3; do
        measure -i 1ms --for 2s
        expect "a run" [ "$code" = 0 ] || return 1
        holds "'board-lost' not in codes and run['total']['cycles'] >= 1900" && return
    done
    return 1
}
# 20 kHz over 10 Mbit/s: no sample is lost.
many_samples() {
    line 0 1.25e6
    measure -i 50us --samples --for 4s
    expect "a run" [ "$code" = 0 ] && holds "run['losses']['samples'] == 0 and run['losses']['intervals_merged'] == 0"
}
slow_copy() {
    rm -rf "$cache"
    line 0 125e3
    measure -i 1ms --for 2s
    expect "a run" [ "$code" = 0 ]
}
# Invariant (boards): A link that is dead without an end ends the run on both sides, and the board is restored.
vanishing() {
    local before settings=()
    before=$(cat /proc/sys/vm/page-cluster)
    [ "$(id -u)" != 0 ] || settings=(--set "vm.page-cluster=$((before + 1))")
    line 0 10e6
    "$program" run --quiet --format json --target "$board" --cpus 0 -i 1ms --for 10min \
        --warm-up 0s "${rights[@]}" "${settings[@]}" >"$here/run.json" 2>"$here/errors" &
    run=$!
    until_holds 60 "a run whose counts are stored" stored &&
        relay=$(pgrep -f "relay.py 127.0.0.1 $port") && kill -STOP "$relay" || return 1
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        holds "run['total']['cycles'] > 0 and any(one['code'] == 'board-lost' and 'not responding' in one['reason']
            for one in run['findings'])" &&
        until_holds 60 "an agent that ends" ended &&
        expect "the value from before" [ "$(cat /proc/sys/vm/page-cluster)" = "$before" ]
    local result=$?
    kill -KILL "$relay" 2>/dev/null
    return $result
}
ended() { ! pgrep -f "$cache/latlab/agents" >/dev/null; }

try "a board behind a line can be started" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "a line of 200 ms delays nothing but the start" far_away
try "20 kHz of samples fit through 10 Mbit/s" many_samples
try "packets that vanish end the run here and there" vanishing
[ -z "${LATLAB_LONG:-}" ] || try "the agent is copied over 1 Mbit/s" slow_copy
exit $status
