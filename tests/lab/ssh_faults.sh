#!/usr/bin/env bash
# Faults on the way to a board over ssh, on the board, and in its answers: each is one line.
. "$(dirname "$0")/../common.bash"
. tests/lab/ssh.bash
. tests/lab/ssh_fake.bash

# Faults on the way.
unknown_key() {
    : >"$here/ssh/known"
    refused 3 "its host key is not known: connect once with \`ssh -p $port 127.0.0.1\`" on_board --cycles 10
}
changed_key() {
    echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$here/ssh/key.pub")" >"$here/ssh/known"
    refused 3 "ssh-keygen -R '[127.0.0.1]:$port'" on_board --cycles 10
}
wrong_key() {
    : >"$here/ssh/authorized"
    refused 3 "Permission denied (publickey): install a key there with" on_board --cycles 10
    local result=$?
    cp "$here/ssh/key.pub" "$here/ssh/authorized"
    return $result
}
# Without a terminal ssh must not ask for a password, and nothing may wait.
password() {
    stop_sshd
    start_sshd_for_passwords || return
    LATLAB_SSH="setsid -w $LATLAB_SSH" refused 3 \
        "Permission denied (password): install a key there with \`ssh-copy-id -p $port " on_board --cycles 10
    local result=$?
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=$cache"
    return $result
}
# Waits until the server answers, if only by refusing.
start_sshd_for_passwords() {
    sshd_answers() {
        $LATLAB_SSH -o BatchMode=yes -p "$port" 127.0.0.1 true </dev/null 2>&1 | grep -q 'Permission denied'
    }
    start_sshd 'PasswordAuthentication yes' 'PubkeyAuthentication no'
    local result=$?
    sshd_answers() { $LATLAB_SSH -p "$port" "${listen:-127.0.0.1}" true </dev/null; }
    return $result
}
nobody_there() {
    board=ssh://127.0.0.1:$(free_port) refused 3 "does an ssh server run there" on_board --cycles 10
}
no_ssh() { LATLAB_SSH=no-such-program refused 3 "install OpenSSH's client" on_board --cycles 10; }
not_a_board() { board=ssh://-oProxyCommand=x refused 2 "expected ssh://[USER@]HOST[:PORT]" on_board --cycles 10; }

# Faults of a board.
unknown_machine() {
    fake_board
    fake uname 'echo pdp11'
    refused 3 "its machine is 'pdp11', for which this build has no agent (" on_board --cycles 10
    local result=$?
    rm "$here/fake/uname"
    return $result
}
wrong_machine() {
    [ "$(uname -m)" = x86_64 ] || return 0
    fake_board
    fake uname 'echo armv7l'
    rm -rf "$cache"
    # If an emulator for its programs is registered, it runs after all.
    on_board --cycles 10
    rm "$here/fake/uname"
    rm -rf "$cache"
    expect "a run or exit code 3, not $code" [ "$code" = 0 -o "$code" = 3 ] &&
        { [ "$code" = 0 ] || expect "one line" [ "$(wc -l <"$here/errors")" = 1 ]; }
}
without_rights() {
    answer_by 'for last; do :; done
        exec setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CACHE_HOME HOME=/nonexistent sh -c "$last"'
    board=ssh://me@fake
    "$program" run --quiet --target "$board" --cpus 0 --cycles 10 >"$here/said-nothing" 2>"$here/errors"
    code=$?
    local no_right="ssh://me@fake: no right to measure there"
    refused 3 "$no_right: there is no \`sudo\`: install it there, or connect as ssh://root@fake, or " true ||
        refused 3 "$no_right: its \`sudo\` asks for a password" true
}
no_room() {
    fake_board
    rm -rf "$cache"
    fake df 'echo Filesystem; echo "x 100 90 10 90% /"'
    refused 3 "or let it be written: $cache/latlab/agents: no space left for it, 10 kB free; /dev/shm: no space left" \
        on_board --cycles 10
    local result=$?
    rm "$here/fake/df"
    return $result
}
cut_copy() {
    fake_board
    rm -rf "$cache"
    fake head 'exec dd bs=1000 count=1 2>/dev/null'
    refused 3 "arrived damaged or was cut off: try again" on_board --cycles 10
    local result=$?
    rm "$here/fake/head"
    expect "no piece of it that is left" [ -z "$(ls "$cache/latlab/agents")" ] && return $result
}
other_clock() {
    fake_board
    fake date 'echo 86400'
    on_board --cycles 10
    rm "$here/fake/date"
    expect "a run" [ "$code" = 0 ] && holds "'board-clock-off' in codes and run['started'][:2] == '20'"
}
no_shell() {
    answer_by 'echo "This account is currently not available."; exit 1'
    refused 3 "its last line: This account is currently not available." on_board --cycles 10
}

# A hostile host: one line, and bounded memory.
bounded() { (ulimit -v 1500000 && refused "$@"); }
nonsense() {
    answer_by 'yes latlab'
    bounded 3 "more than 64 KiB" on_board --cycles 10
}
endless_line() {
    answer_by 'exec cat /dev/zero'
    bounded 3 "more than 64 KiB" on_board --cycles 10
}
# A board that greets correctly with an agent of this version, and then runs a command: greets VERSION COMMAND
greets() {
    answer_by "echo latlab-board hello $(uname -m) root \$(date +%s); read -r sum; echo latlab-board has-agent
        echo latlab-board start $1; $2"
}
hostile() { greets "$("$here/latlab-agent" --version)" "$1"; }
huge_frame() {
    hostile "printf '\\377\\377\\377\\177\\001\\000\\000\\000xxxx'; cat /dev/zero"
    bounded 3 "a frame has an impossible length of 2147483647 bytes" on_board --cycles 10
}
endless_noise() {
    hostile 'cat /dev/urandom'
    bounded 3 "what it sends is not the stream of an agent" on_board --cycles 10
}
endless_complaint() {
    answer_by 'yes complaint >&2 & sleep 1; kill $!; exit 255'
    bounded 3 "ssh://" on_board --cycles 10
}
other_agent() {
    greets 'latlab-agent 0.0.9' cat
    refused 3 "the agent there is 'latlab-agent 0.0.9' and not " on_board --cycles 10
}

try "a board can be started on loopback" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "an unknown host key is one line" unknown_key
try "a changed host key is one line" changed_key
echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$here/ssh/host.pub")" >"$here/ssh/known"
try "a key that is not accepted is one line" wrong_key
try "a password prompt without a terminal is one line" password
try "a host that does not listen is one line" nobody_there
try "no ssh is one line" no_ssh
try "a host is no option" not_a_board
if [ "$(id -u)" = 0 ]; then
    try "a user without rights learns what to do on the board" without_rights
fi
try "an unknown machine is one line" unknown_machine
try "an agent that the machine cannot run is one line" wrong_machine
try "a board without room is one line" no_room
try "a copy that stops is one line, and nothing of it is run" cut_copy
try "a clock of another decade is reported, and nothing is dated by it" other_clock
try "an account without a shell is one line" no_shell
try "nonsense is one line" nonsense
try "a line without an end is one line" endless_line
try "a frame of impossible length is one line" huge_frame
try "endless noise is one line" endless_noise
try "endless complaints are one line" endless_complaint
try "an agent of another version is one line" other_agent
exit $status
