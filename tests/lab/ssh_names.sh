#!/usr/bin/env bash
# The usual ways to reach boards over ssh: by a name with defaults, on a terminal, with dropbear, with busybox and with
# sudo; and a board's report on its live runs.
. "$(dirname "$0")/../common.bash"
. tests/lab/ssh.bash
. tests/lab/ssh_fake.bash

on_a_terminal() {
    have "a board on a terminal" tmux || return 0
    local socket=latlab-ssh-$$
    : >"$here/ssh/known"
    tmux -L "$socket" -u -f /dev/null new-session -d -x 100 -y 30 \
        "$(declare -p LATLAB_SSH LATLAB_RUNS); LATLAB_SSH+=' -o StrictHostKeyChecking=ask'
        '$program' run --target $board --cpus 0 --for 10min ${rights[*]}; echo code \$?; sleep 60"
    screen() { tmux -L "$socket" capture-pane -p; }
    shows() { screen | grep -Eq -- "$1"; }
    until_holds 30 "a question for the host key" shows 'continue connecting' &&
        tmux -L "$socket" send-keys yes Enter &&
        until_holds 60 "the live table" shows '[1-9][0-9 ]* cycles' &&
        tmux -L "$socket" send-keys C-c &&
        until_holds 30 "a run that ended" shows 'code 0' && expect "a stored run" shows 'Stored in'
    local result=$?
    [ "$result" = 0 ] || screen
    tmux -L "$socket" kill-server
    echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$here/ssh/host.pub")" >"$here/ssh/known"
    return $result
}
by_dropbear() {
    have "a board with dropbear" /usr/sbin/dropbear dropbearkey || return 0
    [ "$(id -u)" = 0 ] || return 0
    local line=$LATLAB_SSH
    dropbearkey -t ed25519 -f "$here/ssh/dropbear" >/dev/null 2>&1
    local port
    port=$(free_port)
    # dropbear takes its keys from the user's home, which is another folder here.
    mkdir -m 700 -p "$here/home/.ssh" && cp "$here/ssh/key.pub" "$here/home/.ssh/authorized_keys" &&
        chmod 600 "$here/home/.ssh/authorized_keys"
    sed "s#^root:.*#root:x:0:0:root:$here/home:/bin/sh#" /etc/passwd >"$here/passwd"
    unshare -m sh -c "mount --bind $here/passwd /etc/passwd && exec \"\$@\"" - /usr/sbin/dropbear -F -E \
        -r "$here/ssh/dropbear" -p "127.0.0.1:$port" -P "$here/ssh/dropbear.pid" 2>"$here/dropbear.log" &
    local dropbear=$!
    export LATLAB_SSH="$line -o StrictHostKeyChecking=no"
    board=ssh://root@127.0.0.1:$port
    until_holds 20 "a dropbear that listens" sshd_answers && on_board --cycles 500
    local result=$?
    kill "$dropbear"
    [ "$result" = 0 ] && expect "a run" [ "$code" = 0 ] &&
        { [ "$(nproc)" = 1 ] || expect "its server off the measured CPUs" holds "$moved"; } &&
        expect "an agent in the home there" [ -e "$here"/home/.cache/latlab/agents/agent-* ]
}
by_name() {
    export XDG_CONFIG_HOME=$here/config
    "$program" target add pi "$board" --cpus 0 --deadline 900ms >"$here/added" &&
        expect "where it is remembered" grep -q "^Stored in $here/config/latlab/targets.toml$" "$here/added" &&
        expect "a file for its user alone" [ "$(stat -c %a "$here/config/latlab/targets.toml")" = 600 ] || return 1
    "$program" run --quiet --format json --target pi --cycles 500 --warm-up 0s "${rights[@]}" >"$here/run.json" &&
        holds "run['asked']['on']['target'] == '$board' and run['asked']['who']['cpus'] == '0'
            and run['asked']['until']['deadline_ns'] == 900_000_000" &&
        "$program" run --quiet --format json --target pi --cycles 500 --warm-up 0s \
            --deadline 2s "${rights[@]}" >"$here/run.json" &&
        holds "run['asked']['until']['deadline_ns'] == 2_000_000_000" || return 1
    expect "its defaults in the list" grep -qE "^pi +$board +0 +900 ms$" <("$program" target list) || return 1
    "$program" loads --target pi >/dev/null && "$program" doctor --target pi >/dev/null &&
        "$program" target add again ssh://other >/dev/null && "$program" target remove again &&
        expect "one name" \
            [ "$("$program" target list --format json |
                python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" = 1 ] || return 1
    board=po refused 2 "no target 'po' (known: pi): add it with " on_board --cycles 10 || return 1
    echo 'colour = 1' >>"$here/config/latlab/targets.toml"
    board=pi refused 2 "$here/config/latlab/targets.toml:" on_board --cycles 10
    local result=$?
    sed -i '$d' "$here/config/latlab/targets.toml"
    return $result
}
# A responder there gets the defaults of the name, unless the command line says otherwise.
answers_by_name() {
    have "a responder by the name of its board" sigrok-cli || return 0
    "$program" target add answering "$board" --cpus 0 --deadline 900ms --load 'command,run=sleep 60' >/dev/null &&
        responds --target answering && answered 900_000_000 "run=sleep 60" &&
        responds --target answering --deadline 2s --load 'command,run=sleep 61' &&
        answered 2_000_000_000 "run=sleep 61" &&
        "$program" target remove answering
}
# The demo leaves stimuli unanswered, so it misses its deadline.
responds() {
    "$program" respond --logic demo --samplerate 1m --for 300ms --stimulus D0 --response D1 \
        --format json "$@" >"$here/wires.json"
    code=$?
    expect "a verdict, not exit code $code" [ "$code" -le 1 ]
}
answered() {
    holds_in "$(path_of "$here/wires.json")/run.json" "" \
        "run['asked']['on']['target'] == '$board' and run['asked']['until']['deadline_ns'] == $1
            and [one['name'] for one in run['asked']['on']['loads']] == ['command']
            and '$2' in run['asked']['on']['loads'][0]['words'] and '$board' in run['asked']['command']
            and '$2' in run['asked']['command']"
}
tells_what_runs() {
    begin_on_board || return 1
    "$program" target status pi >"$here/status"
    "$program" target status "$board" --format json >"$here/status.json"
    kill -INT "$run"
    finish
    local id
    id=$(id_of "$here/run.json")
    # Other tests measure on this board as well.
    holds_in "$here/status.json" "" \
        "run['machine'] == '$(uname -m)' and run['kernel'] == '$(uname \
            -r)' and run['has_agent'] and run['runs'].count('$id') == 1" &&
        expect "the run in words" grep -q "^  measuring: $id$" "$here/status" &&
        until_holds 10 "an agent that ends" gone && "$program" target status pi >"$here/status" &&
        expect "the agent without the run" grep -q 'the agent is there' "$here/status" &&
        expect "no word of a run that has ended" [ "$(grep -c "$id" "$here/status")" = 0 ]
}
with_sudo() {
    fake_board
    fake id 'echo 1000'
    fake sudo "printf '%s ' \"\$@\" >>$here/as-root; shift; exec \"\$@\""
    on_board --cycles 10
    rm "$here/fake/id" "$here/fake/sudo"
    expect "a run" [ "$code" = 0 ] &&
        expect "an agent by sudo -n" grep -q -- "-n $cache/latlab/agents/agent-[0-9a-f]* 2" "$here/as-root"
}
talking_shell() {
    fake_board
    answer_by "for last; do :; done; echo 'Welcome to the board!'; printf 'prompt> '; export XDG_CACHE_HOME=$cache
        exec sh -c \"\$last\""
    on_board --cycles 10
    expect "a run" [ "$code" = 0 ]
}
with_busybox() {
    have "a board with nothing but busybox" busybox || return 0
    fake_board "busybox sh"
    rm -rf "$cache"
    busybox --list | while read -r name; do ln -sf "$(command -v busybox)" "$here/fake/$name"; done
    on_board --cycles 10
    rm -rf "$here/fake"
    expect "a run" [ "$code" = 0 ]
}

try "a board can be started on loopback" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "on a terminal ssh asks, the table moves, and Ctrl-C ends the run" on_a_terminal
try "a board has a name and defaults" by_name
try "a responder takes the defaults of a name" answers_by_name
try "a board says what runs there" tells_what_runs
try "dropbear is enough" by_dropbear
if [ "$(id -u)" = 0 ]; then
    try "root's rights come from sudo without a password" with_sudo
fi
try "a shell that talks is listened through" talking_shell
try "busybox is enough" with_busybox
exit $status
