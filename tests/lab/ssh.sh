#!/usr/bin/env bash
# A board over ssh: this machine, by an sshd of its own on loopback; what goes wrong on the way, each in
# one line; and what is left on the board after that.
. "$(dirname "$0")/../common.bash"
. tests/lab/board.bash
need_boards "boards over ssh"

# Runs for a second or so on the board: on_board FLAG...; $code is what it ends with.
on_board() {
    "$program" run --quiet --format json --target "$board" --cpus "${measured:-0}" -i 1ms --warm-up 0s "${rights[@]}" "$@" >"$here/run.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
}

# Answers as a board whose programs are those in $here/fake before all others, and whose shell is $1.
fake_board() {
    mkdir -p "$here/fake"
    answer_by "for last; do :; done; export XDG_CACHE_HOME=$cache; PATH=$here/fake:\$PATH exec ${1:-sh} -c \"\$last\""
    board=ssh://fake
}
fake() {
    printf '%s\n' '#!/bin/sh' "$2" >"$here/fake/$1"
    chmod 755 "$here/fake/$1"
}

gone() { ! pgrep -f "^$cache/latlab/agents" >"$here/left" || { cat "$here/left"; return 1; }; }
agent_of_board() { agent=$(pgrep -f "^$cache/latlab/agents/agent-[0-9a-f]* 2" | head -n 1) && grep -qs latlab/ /proc/"$agent"/task/*/comm; }
begin_on_board() {
    "$program" run --quiet --format json --target "$board" --cpus 0 --for 10min --warm-up 0s "${rights[@]}" "$@" >"$here/run.json" 2>"$here/errors" &
    run=$!
    until_holds 60 "an agent that measures on the board" agent_of_board || { cat "$here/errors"; return 1; }
    until_holds 60 "a second that is stored" stored
}
a_run() {
    on_board --cycles 1000 --deadline 1s --name board
    expect "a run that passes" [ "$code" = 0 ] &&
        holds "run['asked']['target'] == '$board' and threads[0]['summary']['cycles'] >= 1000 and run['verdict']['word'] == 'pass'
            and 'stream-lost' not in codes and run['conditions']" &&
        expect "an agent that only its user may read" [ "$(stat -c %a "$cache"/latlab "$cache"/latlab/agents "$cache"/latlab/agents/agent-* | sort -u)" = 700 ] &&
        until_holds 10 "nothing that is left running" gone
}
# Invariant (boards): A run over ssh has the method, the settings and the tables of a local one.
beside_a_local_one() {
    "$program" run --quiet --format json --cpus 0 -i 1ms --warm-up 0s --cycles 1000 --deadline 1s "${rights[@]}" --name local >"$here/local.json" 2>"$here/errors"
    python3 - "$LATLAB_RUNS" "$here/local.json" "$here/run.json" <<'PYTHON' || return
import json, sys
import pyarrow.parquet
runs = sys.argv[1]
local, board = (json.load(open(name)) for name in sys.argv[2:])
assert local["machine"] == board["machine"], (local["machine"], board["machine"])
assert {**local["asked"], "target": 0, "seed": 0, "name": 0} == {**board["asked"], "target": 0, "seed": 0, "name": 0}, board["asked"]
settings = lambda run: [{key: one[key] for key in ("name", "asked", "applied") if key in one} for one in run["applied"]["settings"] if one["what"] != "ssh server"]
assert settings(local) == settings(board), (settings(local), settings(board))
assert set(local["files"]) == set(board["files"]), board["files"]
for run in local, board:
    bins = pyarrow.parquet.read_table(f"{runs}/{run['id']}/histogram.parquet").to_pylist()
    assert sum(one["count"] for one in bins) == run["total"]["cycles"] >= 1000, (run["id"], bins)
PYTHON
    "$program" compare local -- board >"$here/compared" && expect "the two side by side" grep -q 'board' "$here/compared" || return
    expect "no other method" [ "$(grep -c 'other method' "$here/compared")" = 0 ] &&
        "$program" plot local board --kind overlay -o "$here/both.svg" >/dev/null &&
        expect "both in one picture" [ "$(grep -oE '>(local|board)' "$here/both.svg" | sort -u | wc -l)" = 2 ] &&
        "$program" report local board -o "$here/both.html" >/dev/null && expect "both on a page" grep -q 'board' "$here/both.html"
}
high_water() { awk '/^VmHWM/ { print $2 }' "/proc/$agent/status"; }
# Invariant (boards): The agent takes no more memory on a board than here.
takes_the_memory_of_a_local_one() {
    local there
    begin_on_board && there=$(high_water) || return
    kill -INT "$run"
    finish
    until_holds 10 "an agent that ends" gone && begin --cpus 0 --for 10min && until_holds 60 "a second that is stored" stored || return
    local here_too
    here_too=$(high_water)
    kill -INT "$run"
    finish
    echo "VmHWM of the agent: $there kB on the board, $here_too kB here"
    expect "at most a tenth more" [ "$((there * 10))" -le "$((here_too * 11))" ]
}
moved="any(one['what'] == 'ssh server' and one['applied'] == one['asked'] != '0' for one in run['applied']['settings'])"
is_off_the_measured_cpus() {
    [ "$(nproc)" -gt 1 ] || return 0
    on_board --for 5s
    holds "$moved and 'board-traffic' in codes
        and [one['per_second'] for one in run['findings'] if one['code'] == 'board-interrupts' for one in one['cpus']]" &&
        expect "a listener on all CPUs" [ "$(taskset -cp "$sshd" | sed 's/.*: //')" = "$(taskset -cp $$ | sed 's/.*: //')" ]
}
# As inetd and systemd start it, a server for each connection.
by_a_server_of_its_own() {
    [ "$(nproc)" -gt 1 ] || return 0
    { cat "$here/ssh/config" && echo "ProxyCommand /usr/sbin/sshd -i -f $here/ssh/sshd_config"; } >"$here/ssh/inetd"
    LATLAB_SSH="ssh -F $here/ssh/inetd" on_board --cycles 500
    expect "a run" [ "$code" = 0 ] && holds "$moved"
}
is_not_copied_again() {
    local before
    before=$(stat -c %y "$cache"/latlab/agents/agent-*)
    on_board --cycles 10
    expect "the same copy" [ "$(stat -c %y "$cache"/latlab/agents/agent-*)" = "$before" ]
}
# Invariant (boards): The agent on a board is verified before each start.
half_copies_go() {
    local place=$cache/latlab/agents
    : >"$place/agent-0f.123"
    : >"$place/agent-0f.124"
    touch -d '2 days ago' "$place/agent-0f.123"
    on_board --cycles 10
    # The younger one may be a copy that goes on.
    expect "a run" [ "$code" = 0 ] && expect "no old piece of a copy" [ ! -e "$place/agent-0f.123" ] && expect "the young one" rm "$place/agent-0f.124"
}
is_verified() {
    local agent
    agent=$(echo "$cache"/latlab/agents/agent-*)
    printf '%s\n' '#!/bin/sh' "touch $here/was-run; echo 'latlab-agent 0.1.0'" >"$agent"
    on_board --cycles 10
    expect "a run" [ "$code" = 0 ] && expect "a copy that is not started" [ ! -e "$here/was-run" ]
}
in_memory() {
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=/proc/nowhere" || return 1
    on_board --cycles 10
    expect "a run" [ "$code" = 0 ] && expect "nothing that is left" [ -z "$(ls -d /dev/shm/latlab.* /tmp/latlab.* 2>/dev/null)" ]
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=$cache"
}
restores_when_killed() {
    begin_on_board --set kernel.panic_on_oops=$((1 - before)) || return 1
    kill -9 "$agent"
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] && holds "'board-lost' in codes and threads[0]['summary']['cycles'] > 0" &&
        expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ] &&
        expect "a word about it" grep -q "$board: restored /proc/sys/kernel/panic_on_oops" "$here/errors"
}
ends_with_the_link() {
    begin_on_board --set kernel.panic_on_oops=$((1 - before)) || return 1
    # The child of sshd that holds the connection.
    pkill -9 -P "$sshd"
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] && holds "'board-lost' in codes and threads[0]['summary']['cycles'] > 0" &&
        until_holds 30 "an agent that ends" gone &&
        expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ]
}
# Whoever is killed: with the conductor alone the agent restores at once, with both the next run on the board.
restores_after_kills() {
    # A board with records of its own: else the latlab of this machine would be the one that restores.
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
    until_holds 30 "an agent that ends" gone && expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ] || return
    begin_on_board --set kernel.panic_on_oops=$((1 - before)) || return 1
    kill -9 "$agent" "$run"
    wait "$run" 2>/dev/null
    until_holds 30 "an agent that is gone" gone && expect "a value that is left" [ "$(cat /proc/sys/kernel/panic_on_oops)" != "$before" ] || return
    on_board --cycles 10
    cat "$here/errors"
    expect "a run" [ "$code" = 0 ] && expect "the value from before" [ "$(cat /proc/sys/kernel/panic_on_oops)" = "$before" ] &&
        expect "a word about it" grep -q "$board: restored /proc/sys/kernel/panic_on_oops" "$here/errors"
}
ends_with_the_conductor() {
    begin_on_board || return 1
    kill -9 "$run"
    wait "$run" 2>/dev/null
    until_holds 30 "an agent that ends" gone
}
is_stopped() {
    begin_on_board || return 1
    kill -INT "$run"
    finish
    holds "run['ended'] == 'interrupted' and 'board-lost' not in codes" && until_holds 10 "an agent that ends" gone
}
is_examined() {
    "$program" doctor --target "$board" --format json >"$here/doctor.json" && "$program" doctor --format json >"$here/local.json" &&
        python3 -c 'import json, sys
one, other = ({f["code"] for f in json.load(open(name))["findings"]} for name in sys.argv[1:])
assert one and one == other, one ^ other' "$here/doctor.json" "$here/local.json" &&
        "$program" doctor --target "$board" --restore | grep -qx 'Nothing to restore.'
}
tells_its_loads() {
    diff <("$program" loads) <("$program" loads --target "$board")
}

with_all_that_runs_here() {
    have "a load on a board" hackbench || return 0
    on_board --for 3s --load hackbench,groups=1 --samples --tune rt-throttling=off --deadline 1s
    expect "a run that passes" [ "$code" = 0 ] &&
        holds "run['loads'][0]['evidence'] and not run['losses']['samples'] and 'samples.parquet' in run['files']
            and any(one['what'] == 'tuning rt-throttling' and one['applied'] == '-1' for one in run['applied']['settings'])" &&
        expect "throttling as before" [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$throttling" ]
}
in_a_sheet() {
    printf '%s\n' 'repeats = 1' '[defaults]' 'for = "1s"' 'warm-up = "0s"' 'cpus = "0"' 'period = "1ms"' \
        '[matrix]' "target = [\"local\", \"$board\", \"ssh://127.0.0.1:1\"]" '[[scenario]]' 'name = "idle"' >"$here/sheet.toml"
    [ "$(id -u)" = 0 ] || sed -i '/^cpus/a policy = "other"\nidle-states = "system"' "$here/sheet.toml"
    "$program" run "$here/sheet.toml" --quiet --format json >"$here/table.json" 2>"$here/errors"
    holds_in "$here/table.json" "table = run['table']; rows = {row['target']: row for row in table['rows']}" \
        "rows['local']['cells'][0]['run'] and rows['$board']['cells'][0]['run'] and not rows['ssh://127.0.0.1:1']['cells'][0]['run']"
}
on_a_terminal() {
    have "a board on a terminal" tmux || return 0
    local socket=latlab-ssh-$$
    : >"$here/ssh/known"
    tmux -L "$socket" -u -f /dev/null new-session -d -x 100 -y 30 \
        "$(declare -p LATLAB_SSH LATLAB_RUNS); LATLAB_SSH+=' -o StrictHostKeyChecking=ask'; '$program' run --target $board --cpus 0 --for 10min ${rights[*]}; echo code \$?; sleep 60"
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
    # It takes its keys from the home of the user, which is another one for it.
    mkdir -m 700 -p "$here/home/.ssh" && cp "$here/ssh/key.pub" "$here/home/.ssh/authorized_keys" && chmod 600 "$here/home/.ssh/authorized_keys"
    sed "s#^root:.*#root:x:0:0:root:$here/home:/bin/sh#" /etc/passwd >"$here/passwd"
    unshare -m sh -c "mount --bind $here/passwd /etc/passwd && exec /usr/sbin/dropbear -F -E -r $here/ssh/dropbear -p 127.0.0.1:$port -P $here/ssh/dropbear.pid" 2>"$here/dropbear.log" &
    local dropbear=$!
    export LATLAB_SSH="$line -o StrictHostKeyChecking=no"
    board=ssh://root@127.0.0.1:$port
    until_holds 20 "a dropbear that listens" sshd_answers && on_board --cycles 500
    local result=$?
    kill "$dropbear"
    [ "$result" = 0 ] && expect "a run" [ "$code" = 0 ] && { [ "$(nproc)" = 1 ] || expect "its server off the measured CPUs" holds "$moved"; } &&
        expect "an agent in the home there" [ -e "$here"/home/.cache/latlab/agents/agent-* ]
}

by_name() {
    export XDG_CONFIG_HOME=$here/config
    "$program" target add pi "$board" --cpus 0 --deadline 900ms >"$here/added" &&
        expect "where it is remembered" grep -q "^Stored in $here/config/latlab/targets.toml$" "$here/added" &&
        expect "a file for its user alone" [ "$(stat -c %a "$here/config/latlab/targets.toml")" = 600 ] || return 1
    "$program" run --quiet --format json --target pi --cycles 500 --warm-up 0s "${rights[@]}" >"$here/run.json" &&
        holds "run['asked']['target'] == '$board' and run['asked']['cpus'] == '0' and run['asked']['deadline_ns'] == 900_000_000" &&
        "$program" run --quiet --format json --target pi --cycles 500 --warm-up 0s --deadline 2s "${rights[@]}" >"$here/run.json" &&
        holds "run['asked']['deadline_ns'] == 2_000_000_000" || return 1
    expect "its defaults in the list" grep -qE "^pi +$board +0 +900 ms$" <("$program" target list) || return 1
    "$program" loads --target pi >/dev/null && "$program" doctor --target pi >/dev/null &&
        "$program" target add again ssh://other >/dev/null && "$program" target remove again &&
        expect "one name" [ "$("$program" target list --format json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" = 1 ] || return 1
    board=po refused 2 "no target 'po' (known: pi): add it with " on_board --cycles 10 || return 1
    echo 'colour = 1' >>"$here/config/latlab/targets.toml"
    board=pi refused 2 "$here/config/latlab/targets.toml:" on_board --cycles 10
    local result=$?
    sed -i '$d' "$here/config/latlab/targets.toml"
    return $result
}
# A responder there has the defaults of the name, unless the command line says otherwise.
answers_by_name() {
    have "a responder by the name of its board" sigrok-cli || return 0
    "$program" target add answering "$board" --cpus 0 --deadline 900ms --load 'command,run=sleep 60' >/dev/null &&
        responds --target answering && answered 900_000_000 "run=sleep 60" &&
        responds --target answering --deadline 2s --load 'command,run=sleep 61' && answered 2_000_000_000 "run=sleep 61" &&
        "$program" target remove answering
}
# The demo leaves stimuli without an answer, so that it fails its deadline.
responds() {
    "$program" respond --logic demo --samplerate 1m --for 300ms --stimulus D0 --response D1 --format json "$@" >"$here/wires.json"
    code=$?
    expect "a verdict, not exit code $code" [ "$code" -le 1 ]
}
answered() {
    holds_in "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["runs"][0]["path"])' "$here/wires.json")/run.json" "" \
        "run['asked']['target'] == '$board' and [one['name'] for one in run['asked']['loads']] == ['command'] and run['asked']['deadline_ns'] == $1
            and '$2' in run['asked']['loads'][0]['words'] and '$board' in run['asked']['command'] and '$2' in run['asked']['command']"
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
    holds_in "$here/status.json" "" "run['machine'] == '$(uname -m)' and run['kernel'] == '$(uname -r)' and run['has_agent'] and run['runs'].count('$id') == 1" &&
        expect "the run in words" grep -q "^  measuring: $id$" "$here/status" &&
        until_holds 10 "an agent that ends" gone && "$program" target status pi >"$here/status" &&
        expect "the agent without the run" grep -q 'the agent is there' "$here/status" &&
        expect "no word of a run that has ended" [ "$(grep -c "$id" "$here/status")" = 0 ]
}

# The faults of the way there.
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
# Without a terminal nobody can type a password, so that ssh does not ask, and nothing waits.
password() {
    stop_sshd
    start_sshd_for_passwords || return
    LATLAB_SSH="setsid -w $LATLAB_SSH" refused 3 "Permission denied (password): install a key there with \`ssh-copy-id -p $port " on_board --cycles 10
    local result=$?
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=$cache"
    return $result
}
# It answers as soon as it refuses.
start_sshd_for_passwords() {
    sshd_answers() { $LATLAB_SSH -o BatchMode=yes -p "$port" 127.0.0.1 true </dev/null 2>&1 | grep -q 'Permission denied'; }
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

# The faults of a board.
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
    # Where the emulator of programs is registered it runs after all.
    on_board --cycles 10
    rm "$here/fake/uname"
    rm -rf "$cache"
    expect "a run or exit code 3, not $code" [ "$code" = 0 -o "$code" = 3 ] && { [ "$code" = 0 ] || expect "one line" [ "$(wc -l <"$here/errors")" = 1 ]; }
}
without_rights() {
    answer_by 'for last; do :; done; exec setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CACHE_HOME HOME=/nonexistent sh -c "$last"'
    board=ssh://me@fake
    "$program" run --quiet --target "$board" --cpus 0 --cycles 10 >"$here/said-nothing" 2>"$here/errors"
    code=$?
    refused 3 "ssh://me@fake: no right to measure there: there is no \`sudo\`: install it there, or connect as ssh://root@fake, or " true ||
        refused 3 "ssh://me@fake: no right to measure there: its \`sudo\` asks for a password" true
}
with_sudo() {
    fake_board
    fake id 'echo 1000'
    fake sudo "printf '%s ' \"\$@\" >>$here/as-root; shift; exec \"\$@\""
    on_board --cycles 10
    rm "$here/fake/id" "$here/fake/sudo"
    expect "a run" [ "$code" = 0 ] && expect "an agent by sudo -n" grep -q -- "-n $cache/latlab/agents/agent-[0-9a-f]* 2" "$here/as-root"
}
no_room() {
    fake_board
    rm -rf "$cache"
    fake df 'echo Filesystem; echo "x 100 90 10 90% /"'
    refused 3 "or let it be written: $cache/latlab/agents: no space left for it, 10 kB free; /dev/shm: no space left" on_board --cycles 10
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
talking_shell() {
    fake_board
    answer_by "for last; do :; done; echo 'Welcome to the board!'; printf 'prompt> '; export XDG_CACHE_HOME=$cache; exec sh -c \"\$last\""
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
no_shell() {
    answer_by 'echo "This account is currently not available."; exit 1'
    refused 3 "its last line: This account is currently not available." on_board --cycles 10
}

# A host that answers what it likes: one line, and no memory without a bound.
bounded() { (ulimit -v 1500000 && refused "$@"); }
nonsense() {
    answer_by 'yes latlab'
    bounded 3 "more than 64 KiB" on_board --cycles 10
}
endless_line() {
    answer_by 'exec cat /dev/zero'
    bounded 3 "more than 64 KiB" on_board --cycles 10
}
# A board that greets as one should, and then sends something else: hostile COMMAND
hostile() {
    answer_by "echo latlab-board hello $(uname -m) root \$(date +%s); read -r sum; echo latlab-board has-agent; echo latlab-board start $("$here/latlab-agent" --version); $1"
}
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
    answer_by "echo latlab-board hello $(uname -m) root \$(date +%s); read -r sum; echo latlab-board has-agent; echo latlab-board start latlab-agent 0.0.9; cat"
    refused 3 "the agent there is 'latlab-agent 0.0.9' and not " on_board --cycles 10
}

before=$(cat /proc/sys/kernel/panic_on_oops)
try "a board can be started on loopback" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "a run on a board is one like any other" a_run
try "it has what a local run has" beside_a_local_one
if [ "$(id -u)" = 0 ]; then
    try "its ssh server is off the measured CPUs, and the report says what the link carried and how often it interrupted" is_off_the_measured_cpus
    try "so is one that was started for the connection" by_a_server_of_its_own
fi
try "its agent takes the memory of a local one" takes_the_memory_of_a_local_one
try "an agent that is there is not copied again" is_not_copied_again
try "a piece of a copy that a power cut left there goes after a day" half_copies_go
try "one that was changed there is not started" is_verified
try "where nothing can be written, it is in memory and leaves nothing" in_memory
try "a run on a board is stopped as a local one" is_stopped
try "without its conductor the agent ends" ends_with_the_conductor
if [ "$(id -u)" = 0 ]; then
    try "what a killed agent changed is restored" restores_when_killed
    [ "$OWN_MOUNTS" = no ] || try "what is left tuned when latlab or both are killed is restored, at the latest by the next run there" restores_after_kills
    try "a lost link keeps what was measured, and restores the board" ends_with_the_link
fi
try "a board is examined as this machine is" is_examined
try "the loads of a board are listed" tells_its_loads
throttling=$(cat /proc/sys/kernel/sched_rt_runtime_us)
try "loads, samples and tunings are as here" with_all_that_runs_here
try "a sheet measures boards, and notes one that cannot be reached" in_a_sheet
try "on a terminal ssh asks, the table moves, and Ctrl-C ends the run" on_a_terminal
try "a board has a name and defaults" by_name
try "a responder takes the defaults of a name" answers_by_name
try "a board says what runs there" tells_what_runs
try "an unknown host key is one line" unknown_key
try "a changed host key is one line" changed_key
echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$here/ssh/host.pub")" >"$here/ssh/known"
try "dropbear is enough" by_dropbear
board=ssh://127.0.0.1:$port
try "a key that is not accepted is one line" wrong_key
try "a password that nobody can type is one line" password
try "nobody who listens is one line" nobody_there
try "no ssh is one line" no_ssh
try "a host is no option" not_a_board
if [ "$(id -u)" = 0 ]; then
    try "a user without rights is told what to do on the board" without_rights
    try "root's rights come from sudo without a password" with_sudo
fi
try "an unknown machine is one line" unknown_machine
try "an agent that the machine cannot run is one line" wrong_machine
try "a board without room is one line" no_room
try "a copy that stops is one line, and nothing of it is run" cut_copy
try "a clock of another decade is told, and nothing is dated by it" other_clock
try "a shell that talks is listened through" talking_shell
try "busybox is enough" with_busybox
try "an account without a shell is one line" no_shell
try "nonsense is one line" nonsense
try "a line without an end is one line" endless_line
try "a frame of impossible length is one line" huge_frame
try "endless noise is one line" endless_noise
try "endless complaints are one line" endless_complaint
try "an agent of another version is one line" other_agent
exit $status
