#!/usr/bin/env bash
# How a run on a board over ssh ends: like a local one, and it leaves nothing there, whichever side is killed or lost.
. "$(dirname "$0")/../common.bash"
. tests/lab/ssh.bash

is_stopped() {
    begin_on_board || return 1
    kill -INT "$run"
    finish
    holds "run['ended'] == 'interrupted' and 'board-lost' not in codes" && until_holds 10 "an agent that ends" gone
}
ends_with_the_conductor() {
    begin_on_board || return 1
    kill -9 "$run"
    wait "$run" 2>/dev/null
    until_holds 30 "an agent that ends" gone
}
restores_when_killed() {
    begin_on_board --set kernel.panic_on_oops=$((1 - before)) || return 1
    kill -9 "$agent"
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        holds "'board-lost' in codes and threads[0]['summary']['cycles'] > 0" &&
        expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ] &&
        expect "a word about it" grep -q "$board: restored /proc/sys/kernel/panic_on_oops" "$here/errors"
}
ends_with_the_link() {
    begin_on_board --set kernel.panic_on_oops=$((1 - before)) || return 1
    # The child of sshd that holds the connection.
    pkill -9 -P "$sshd"
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        holds "'board-lost' in codes and threads[0]['summary']['cycles'] > 0" &&
        until_holds 30 "an agent that ends" gone &&
        expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ]
}
# If the conductor is killed, the agent restores at once; if both are, the next run on the board does.
restores_after_kills() {
    # A board with separate lock files: else the latlab of this machine would restore.
    stop_sshd
    printf '%s\n' 'mount -t tmpfs -o mode=755 none /run/latlab && exec "$@"' >"$here/own_records"
    in_board="unshare -m sh $here/own_records"
    start_sshd "SetEnv XDG_CACHE_HOME=$cache" || return 1
    in_board=
    by_whom
    local result=$?
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=$cache" && return $result
}
by_whom() {
    begin_on_board --set kernel.panic_on_oops=$((1 - before)) || return 1
    kill -9 "$run"
    wait "$run" 2>/dev/null
    until_holds 30 "an agent that ends" gone &&
        expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ] || return
    begin_on_board --set kernel.panic_on_oops=$((1 - before)) || return 1
    kill -9 "$agent" "$run"
    wait "$run" 2>/dev/null
    until_holds 30 "an agent that is gone" gone &&
        expect "a value that is left" [ "$(cat /proc/sys/kernel/panic_on_oops)" != "$before" ] || return
    on_board --cycles 10
    cat "$here/errors"
    expect "a run" [ "$code" = 0 ] &&
        expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ] &&
        expect "a word about it" grep -q "$board: restored /proc/sys/kernel/panic_on_oops" "$here/errors"
}

before=$(cat /proc/sys/kernel/panic_on_oops)
try "a board can be started on loopback" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "a run on a board is stopped as a local one" is_stopped
try "without its conductor the agent ends" ends_with_the_conductor
if [ "$(id -u)" = 0 ]; then
    try "what a killed agent changed is restored" restores_when_killed
    [ "$OWN_MOUNTS" = no ] ||
        try "what is left tuned when latlab or both are killed is restored, at the latest by the next run there" \
            restores_after_kills
    try "a lost link keeps what was measured, and restores the board" ends_with_the_link
fi
exit $status
