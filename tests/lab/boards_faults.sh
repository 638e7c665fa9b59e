#!/usr/bin/env bash
# Boards that fail in a campaign: at the first try, halfway, with another key, by silence, and for lack of space.
# The others are measured, and the table says what became of each.
# Invariant (boards): One dead board keeps no other from being measured, and what it lacks can be measured later.
. "$(dirname "$0")/../common.bash"
. tests/lab/boards.bash

# The first connection to board-a fails, as if its sshd started late.
flaky() {
    rm -f failed
    printf '%s\n' '#!/bin/sh' "[ -e $here/failed ] || case \" \$* \" in" \
        "*\" -p ${ports[0]} \"*) : >$here/failed; echo 'ssh: connect to host: Connection refused' >&2; exit 255 ;;" \
        esac \
        "exec ssh -F $here/ssh/config \"\$@\"" >flaky
    chmod 755 flaky
}
tries() {
    flaky
    LATLAB_SSH=$here/flaky measure night.toml --targets two.toml --scale 500ms --repeats 1
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "its second try" grep -q 'board-a, repeat 1, try 2' lines &&
        attempts 'tries["board-a"][0][:2] == (1, False) and "refused" in tries["board-a"][0][2]
            and tries["board-a"][1] == (2, True, None)' &&
        attempts 'tries["board-b"] == [(1, True, None)] and set(verdict.values()) == {"pass"}' || return
    flaky
    LATLAB_SSH=$here/flaky measure once.toml --targets two.toml --scale 500ms --repeats 1
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "how to go on" grep -q 'to retry failed runs: `latlab run --resume' lines &&
        attempts 'cell["board-a"]["state"] == "failed" and len(tries["board-a"]) == 1
            and verdict["board-b"] == "pass"' || return
    "$program" run --resume once >text 2>lines
    code=$?
    cat lines text
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "the tries in words" grep -q \
            'board-a, repeat 1: measured at try 2; try 1: ssh://127.0.0.1:.*refused' <(tr '\n' ' ' <text | tr -s ' ')
}
try "a board whose first try fails is measured as often as retries say, and the tries are told" tries

loses() {
    "$program" run once.toml --targets two.toml --scale 6s --repeats 1 --format json >table.json 2>lines &
    local campaign=$!
    until_holds 60 "a board that measures" has_counts_of board-a || { cat lines; return 1; }
    kill $(pgrep -P "${sshds[0]}")
    wait "$campaign"
    code=$?
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        attempts '"or the link to it, was lost: " in cell["board-a"]["reason"]
            and tries["board-a"][0][:2] == (1, True)' &&
        attempts 'verdict["board-a"] == "invalid" and verdict["board-b"] == "pass"' || return
    measure --resume
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        attempts 'len(tries["board-a"]) == 2 and len(tries["board-b"]) == 1'
}
try "a board that is lost while it measures has no verdict of a whole run, and is made again later" loses

wrong_key() {
    cp ssh/known known.kept
    sed -i "s|^\(\[127.0.0.1\]:${ports[0]} \).*|\1$(ssh-keygen -q -t ed25519 -N '' -f other -C '' &&
        cut -d' ' -f1,2 other.pub)|" ssh/known
    measure once.toml --targets two.toml --scale 500ms --repeats 1
    cp known.kept ssh/known
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "a line" [ "$(grep -c 'its host key has changed' lines)" = 1 ] &&
        attempts 'cell["board-a"]["state"] == "failed" and verdict["board-b"] == "pass"'
}
try "a board with another host key is not measured, and the others are" wrong_key

hangs() {
    # It accepts connections and sends nothing.
    python3 "$tests/lab/boards.py" say_nothing >silent &
    local silent=$!
    until_holds 20 "a listener" [ -s silent ] || return
    { cat two.toml; printf '[silent]\ntarget = "ssh://127.0.0.1:%s"\n' "$(cat silent)"; } >three.toml
    LATLAB_SSH="$LATLAB_SSH -o ConnectTimeout=3" measure once.toml --targets three.toml --scale 500ms --repeats 1
    kill "$silent"
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "why" grep -q 'silent, repeat 1.*: nothing measured: .*timed out' lines &&
        attempts 'verdict["board-a"] == verdict["board-b"] == "pass" and tries["silent"][0][1] == False'
}
try "a board that takes a connection and says nothing is given up" hangs

# A board whose file systems are full or read-only: each place for the agent is a small one.
cat >no_place <<'SHELL'
mkdir -p "$2/cache" /run/latlab/kept && mount --bind "$2" /run/latlab/kept || exit
for place in /tmp /dev/shm /run/user/0; do
    [ ! -d "$place" ] || mount -t tmpfs -o size=100k none "$place" || exit
done
mkdir -p "$2" && mount --bind /run/latlab/kept "$2" && mount -t tmpfs -o size=100k none "$2/cache" || exit
for place in /tmp /dev/shm /run/user/0 "$2/cache"; do
    [ "$1" = full ] || [ ! -d "$place" ] || mount -o remount,bind,ro "$place" || exit
done
exec "${@:3}"
SHELL
has_no_place() {
    local how words why before=$board kept_sshd=$sshd
    cp ssh/known known.kept
    for how in full ro; do
        in_board="unshare -m bash $here/no_place $how $here"
        start_sshd "SetEnv XDG_CACHE_HOME=$here/cache" || return
        cat known.kept >>ssh/known
        { head -n 3 two.toml; printf '[%s]\ntarget = "%s"\n' "$how" "$board"; } >three.toml
        in_board=
        measure once.toml --targets three.toml --scale 500ms --repeats 1
        stop_sshd
        cat lines
        words='no space left for it'
        [ $how = full ] || words='Read-only file system'
        why="nothing measured: .*no place for the agent .*/cache/latlab/agents: $words.*/dev/shm: $words"
        expect "exit code 4, not $code" [ "$code" = 4 ] &&
            expect "why" [ "$(grep -c "$how, repeat 1.*: $why" lines)" = 1 ] &&
            attempts 'verdict["board-a"] == "pass" and "no place" in tries["'$how'"][0][2]' || return
    done
    cp known.kept ssh/known
    board=$before sshd=$kept_sshd
}
[ "$OWN_MOUNTS" = no ] ||
    try "a board whose disks are full or cannot be written says so, and the others are measured" has_no_place

# The disk of the runs fills up while two boards measure; the rest is done once there is space.
fills_up() {
    mkdir -p small && mount -t tmpfs -o size=8m none small || return
    LATLAB_RUNS=$here/small "$program" run night.toml --targets two.toml --format json >table.json 2>lines &
    local campaign=$! result
    until_holds 60 "a board that measures" has_counts_in small b-1 || { cat lines; umount small; return 1; }
    cat /dev/zero >small/filler 2>/dev/null
    wait "$campaign"
    code=$?
    cat lines
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "its last line" \
            grep -q 'No space left on device .*; continue with `latlab run --resume' <(tail -n 1 lines) &&
        expect "no second repeat" [ "$(grep -c 'repeat 2' lines)" = 0 ] && rm small/filler &&
        LATLAB_RUNS=$here/small measure --resume &&
        expect "exit code 0, not $code" [ "$code" = 0 ] && table 'all(count == 2 for count in made.values())' &&
        "$program" verify --all --out small/*_night/runs
    result=$?
    umount small
    return $result
}
[ "$OWN_MOUNTS" = no ] ||
    try "a disk that fills up ends the campaign in one line, and what was measured is kept" fills_up

exit $status
