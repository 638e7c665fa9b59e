#!/usr/bin/env bash
# A sheet on many boards at once: `latlab run SHEET --targets FILE`. The boards are this machine, by five sshds.
# Invariant (boards): One dead board keeps no other from being measured, and what it lacks can be measured later.
. "$(dirname "$0")/../common.bash"
. tests/lab/board.bash
need_boards "many boards"
export NO_COLOR=1 LATLAB_LAB=$here/lab
sshds=() ports=() known=()
trap 'kill "${sshds[@]}" 2>/dev/null; rm -rf "$here"' EXIT

for name in a b c d e; do
    start_sshd >/dev/null
    sshds+=("$sshd") ports+=("$port") known+=("$(cat "$here/ssh/known")")
    cp "$here/ssh/sshd_config" "$here/ssh/config.$name"
    printf '%s\n' "[board-$name]" "target = \"$board\"" 'deadline = "20s"' >>"$here/boards.toml"
done
printf '%s\n' "${known[@]}" >"$here/ssh/known"
{
    # The boards are one machine, whose CPUs only one measures at a time unless it shares them.
    printf '%s\n' 'repeats = 2' 'retries = 1' '[defaults]' 'warm-up = "0s"' 'cpus = "0"' 'period = "1ms"' 'share = true' 'telemetry = "off"'
    [ "$(id -u)" = 0 ] || printf '%s\n' 'policy = "other"' 'idle-states = "system"'
    printf '%s\n' '[[scenario]]' 'name = "idle"' 'for = "3s"'
} >"$here/night.toml"
cd "$here" || exit 1

# Runs the sheet: $code, $here/table.json, $here/lines.
measure() {
    "$program" run "$@" --format json >table.json 2>lines
    code=$?
}
table() { python3 - "$@" <<'PYTHON'
import json, sys
table = json.load(open("table.json"))["table"]
rows = {row["target"]: row for row in table["rows"]}
made = {name: sum(cell["state"] == "done" for cell in row["cells"]) for name, row in rows.items()}
assert eval(sys.argv[1]), (made, {name: row["verdict"] for name, row in rows.items()})
PYTHON
}
# How many runs were made at once at most.
at_once() {
    python3 - <<'PYTHON'
import re
now = most = 0
for line in open("lines"):
    if re.match(r"run \d+ of", line):
        now += -1 if ": observed maximum" in line else 1
        most = max(most, now)
    elif "nothing measured" in line:
        now -= 1
print(most)
PYTHON
}

measures() { has_counts runs/*_night/runs/.*board-c-1.partial/journal; }
one_dies() {
    "$program" run night.toml --targets boards.toml --format json >table.json 2>lines &
    local campaign=$! code
    until_holds 120 "board c to measure" measures || { cat lines; return 1; }
    # The board goes down: its listener, and the connection to it.
    kill "${sshds[2]}" $(pgrep -P "${sshds[2]}")
    wait "$campaign"
    code=$?
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "five at once, not $(at_once)" [ "$(at_once)" = 5 ] &&
        expect "why" grep -q 'board-c, repeat 2.*: nothing measured: ssh://127.0.0.1' lines &&
        table 'all(made[f"board-{name}"] == 2 for name in "abde") and made["board-c"] == 0' &&
        table 'all(rows[f"board-{name}"]["verdict"] == "pass" for name in "abde") and rows["board-c"]["verdict"] != "pass"'
}
try "a board that dies keeps the others from nothing, and the table says what it lacks" one_dies

comes_back() {
    /usr/sbin/sshd -D -f "$here/ssh/config.c" -E "$here/ssh/log" &
    sshds[2]=$!
    port=${ports[2]}
    until_holds 20 "an sshd that listens" sshd_answers || return
    measure --resume night
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] && table 'all(count == 2 for count in made.values())' &&
        expect "only what was missing" [ "$(grep -c ': observed maximum' lines)" = 2 ]
}
try "once it is back, --resume measures what it lacks and nothing else" comes_back

some_at_once() {
    measure night.toml --targets boards.toml --scale 500ms --repeats 1 --jobs 2
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] && expect "two at once, not $(at_once)" [ "$(at_once)" = 2 ]
}
try "--jobs limits how many boards are measured at once" some_at_once

waits() {
    local holder campaign
    flock "lab/boards/127.0.0.1:${ports[0]}" sh -c 'echo "other campaign, process 1" >"$0"; exec sleep 600' "lab/boards/127.0.0.1:${ports[0]}" &
    holder=$!
    until_holds 20 "the lock" grep -q other "lab/boards/127.0.0.1:${ports[0]}" || return
    "$program" run night.toml --targets boards.toml --scale 500ms --repeats 1 --format json >table.json 2>lines &
    campaign=$!
    until_holds 60 "a line" grep -q 'board-a, repeat 1: waiting for its board, which has other campaign, process 1' lines &&
        until_holds 60 "the others" has_stored 4
    local result=$?
    # The lock is that of the sleep, too.
    kill $(pgrep -P "$holder") "$holder"
    wait "$campaign"
    expect "exit code 0" [ $? = 0 ] && expect "all five" has_stored 5 && return "$result"
}
has_stored() { [ "$(grep -c ': observed maximum' lines)" = "$1" ]; }
try "a board that another campaign measures is waited for, while the others are measured" waits

# Two of the boards.
head -n 6 boards.toml >two.toml

# The first connection to board-a fails, as one does to an sshd that starts late.
flaky() {
    rm -f failed
    printf '%s\n' '#!/bin/sh' "[ -e $here/failed ] || case \" \$* \" in" \
        "*\" -p ${ports[0]} \"*) : >$here/failed; echo 'ssh: connect to host: Connection refused' >&2; exit 255 ;; esac" \
        "exec ssh -F $here/ssh/config \"\$@\"" >flaky
    chmod 755 flaky
}
attempts() { python3 - "$1" <<'PYTHON'
import json, sys
rows = {row["target"]: row for row in json.load(open("table.json"))["table"]["rows"]}
cell = {name: row["cells"][0] for name, row in rows.items()}
tries = {name: [(one["attempt"], one["run"] is not None, one["reason"]) for one in cell[name]["attempts"]] for name in cell}
verdict = {name: row["verdict"] for name, row in rows.items()}
assert eval(sys.argv[1]), (tries, verdict, cell)
PYTHON
}
tries() {
    flaky
    LATLAB_SSH=$here/flaky measure night.toml --targets two.toml --scale 500ms --repeats 1
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] && expect "its second try" grep -q 'board-a, repeat 1, try 2' lines &&
        attempts 'tries["board-a"][0][:2] == (1, False) and "refused" in tries["board-a"][0][2] and tries["board-a"][1] == (2, True, None)' &&
        attempts 'tries["board-b"] == [(1, True, None)] and set(verdict.values()) == {"pass"}' || return
    sed 's/retries = 1/retries = 0/' night.toml >once.toml
    flaky
    LATLAB_SSH=$here/flaky measure once.toml --targets two.toml --scale 500ms --repeats 1
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] && expect "how to go on" grep -q 'to retry failed runs: `latlab run --resume' lines &&
        attempts 'cell["board-a"]["state"] == "failed" and len(tries["board-a"]) == 1 and verdict["board-b"] == "pass"' || return
    "$program" run --resume once >text 2>lines
    code=$?
    cat lines text
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "the tries in words" grep -q 'board-a, repeat 1: measured at try 2; try 1: ssh://127.0.0.1:.*refused' <(tr '\n' ' ' <text | tr -s ' ')
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
        attempts '"or the link to it, was lost: " in cell["board-a"]["reason"] and tries["board-a"][0][:2] == (1, True)' &&
        attempts 'verdict["board-a"] == "invalid" and verdict["board-b"] == "pass"' || return
    measure --resume
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] && attempts 'len(tries["board-a"]) == 2 and len(tries["board-b"]) == 1'
}
has_counts_of() { has_counts runs/*/runs/.*"$1"-1.partial/journal; }
try "a board that is lost while it measures has no verdict of a whole run, and is made again later" loses

wrong_key() {
    cp ssh/known known.kept
    sed -i "s|^\(\[127.0.0.1\]:${ports[0]} \).*|\1$(ssh-keygen -q -t ed25519 -N '' -f other -C '' && cut -d' ' -f1,2 other.pub)|" ssh/known
    measure once.toml --targets two.toml --scale 500ms --repeats 1
    cp known.kept ssh/known
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] && expect "a line" [ "$(grep -c 'its host key has changed' lines)" = 1 ] &&
        attempts 'cell["board-a"]["state"] == "failed" and verdict["board-b"] == "pass"'
}
try "a board with another host key is not measured, and the others are" wrong_key

hangs() {
    # It takes connections and says nothing.
    python3 -c 'import socket, sys, time
one = socket.create_server(("127.0.0.1", 0)); print(one.getsockname()[1], flush=True); time.sleep(600)' >silent &
    local silent=$!
    until_holds 20 "a listener" [ -s silent ] || return
    { cat two.toml; printf '[silent]\ntarget = "ssh://127.0.0.1:%s"\n' "$(cat silent)"; } >three.toml
    LATLAB_SSH="$LATLAB_SSH -o ConnectTimeout=3" measure once.toml --targets three.toml --scale 500ms --repeats 1
    kill "$silent"
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] && expect "why" grep -q 'silent, repeat 1.*: nothing measured: .*timed out' lines &&
        attempts 'verdict["board-a"] == verdict["board-b"] == "pass" and tries["silent"][0][1] == False'
}
try "a board that takes a connection and says nothing is given up" hangs

# A board whose file systems have no room, or take no write: each place for the agent is a small one.
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
    local how words before=$board kept_sshd=$sshd
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
        expect "exit code 4, not $code" [ "$code" = 4 ] && expect "why" [ "$(grep -c "$how, repeat 1.*: nothing measured: .*no place for the agent .*/cache/latlab/agents: $words.*/dev/shm: $words" lines)" = 1 ] &&
            attempts 'verdict["board-a"] == "pass" and "no place" in tries["'$how'"][0][2]' || return
    done
    cp known.kept ssh/known
    board=$before sshd=$kept_sshd
}
[ "$OWN_MOUNTS" = no ] || try "a board whose disks are full or cannot be written says so, and the others are measured" has_no_place

# The disk of the runs is filled while two boards measure; what is left to do is done once there is room.
fills_up() {
    mkdir -p small && mount -t tmpfs -o size=8m none small || return
    LATLAB_RUNS=$here/small "$program" run night.toml --targets two.toml --format json >table.json 2>lines &
    local campaign=$! result
    until_holds 60 "a board that measures" has_counts_in small b-1 || { cat lines; umount small; return 1; }
    cat /dev/zero >small/filler 2>/dev/null
    wait "$campaign"
    code=$?
    cat lines
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "its last line" grep -q 'No space left on device .*; continue with `latlab run --resume' <(tail -n 1 lines) &&
        expect "no second repeat" [ "$(grep -c 'repeat 2' lines)" = 0 ] && rm small/filler && LATLAB_RUNS=$here/small measure --resume &&
        expect "exit code 0, not $code" [ "$code" = 0 ] && table 'all(count == 2 for count in made.values())' &&
        "$program" verify --all --out small/*_night/runs
    result=$?
    umount small
    return $result
}
# The names are looked for at each try.
has_counts_in() { has_counts "$1"/*_night*/runs/.*board-$2.partial/journal; }
[ "$OWN_MOUNTS" = no ] || try "a disk that fills up ends the campaign in one line, and what was measured is kept" fills_up

is_killed() {
    "$program" run night.toml --targets two.toml --scale 2s >/dev/null 2>lines &
    local campaign=$!
    until_holds 60 "a run that is stored" grep -q ': observed maximum' lines &&
        until_holds 60 "a second one" has_counts_in runs "?-2" || { cat lines; return 1; }
    kill -KILL "$campaign"
    wait "$campaign" 2>/dev/null
    cat lines
    # A run that had come to its end when the campaign was killed is stored by the second one, and not measured again.
    local stored
    stored=$(sed -n 's/: observed maximum.*//p' lines)
    measure --resume
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] && table 'all(count == 2 for count in made.values())' &&
        expect "what was stored once only" [ "$(grep -cF "$stored" lines)" = 0 ] &&
        expect "no try of it to count as failed" python3 - <<'PYTHON'
import json
for row in json.load(open("table.json"))["table"]["rows"]:
    for cell in row["cells"]:
        assert all(one["reason"] in (None, "latlab was killed, or its disk was full") for one in cell["attempts"]), cell
PYTHON
}
try "after kill -9 of a campaign --resume makes what is missing, and nothing twice" is_killed

two_at_once() {
    "$program" run once.toml --targets two.toml --scale 8s --repeats 1 --quiet >/dev/null 2>first &
    local campaign=$!
    until_holds 60 "a board that measures" has_counts_of board-a || { cat first; return 1; }
    measure once.toml --targets two.toml --scale 500ms --repeats 1
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] && expect "a line of each board" [ "$(grep -c 'waiting for its board' lines)" = 2 ] || return
    wait "$campaign"
    expect "exit code 0 of the first" [ $? = 0 ]
}
try "two campaigns over the same boards measure them one after the other" two_at_once

ends_on_request() {
    "$program" run once.toml --targets two.toml --scale 20s --repeats 1 --format json >table.json 2>lines &
    local campaign=$!
    until_holds 60 "a board that measures" has_counts_of board-a && until_holds 60 "the other" has_counts_of board-b || { cat lines; return 1; }
    kill -INT "$campaign"
    wait "$campaign"
    code=$?
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] && expect "how to go on" grep -q 'campaign incomplete; continue with' lines &&
        attempts 'all(cell[name]["state"] == "missing" for name in cell) and tries["board-a"] == [(1, True, "it was interrupted")]' &&
        expect "no agent that measures" no_agents
}
no_agents() { ! pgrep -f "$HOME/.cache/latlab/agents/agent-[0-9a-f]* .*board-[ab]"; }
try "Ctrl-C ends all runs of a campaign at once; they are stored and made anew" ends_on_request

refuses() {
    local before
    before=$(ls runs)
    fails() {
        "$program" run "${@:2}" >said 2>errors
        code=$?
        refused 2 "$1" true
    }
    fails "cannot read none.toml" night.toml --targets none.toml &&
        : >empty.toml && fails "empty.toml has no board: expected [NAME]" night.toml --targets empty.toml &&
        printf '[a]\ntarget = "ssh://a"\n[a]\ntarget = "ssh://b"\n' >twice.toml && fails "twice.toml:3: duplicate key" night.toml --targets twice.toml &&
        printf '[a]\ntarget = "ssh://a"\n[b]\ntarget = "ssh://root@A"\n' >same.toml &&
        fails "same.toml:3: 'b' is at ssh://root@A, as 'a' is" night.toml --targets same.toml &&
        printf '[a]\ntarget = "ssh://a"\nport = 22\n' >key.toml && fails "key.toml:3: unknown field \`port\`" night.toml --targets key.toml &&
        printf '[a]\ntarget = "local"\n' >local.toml && fails "local.toml:1: 'local': expected ssh://" night.toml --targets local.toml || return
    printf '%s\n' '[[scenario]]' 'name = "x"' 'for = "1s"' 'target = "local"' >own.toml
    "$program" run own.toml --targets boards.toml >said 2>errors
    expect "exit code 2" [ $? = 2 ] && expect "its place" grep -q '^own.toml:4:10: target: --targets says what is measured' errors &&
        expect "nothing new" [ "$before" = "$(ls runs)" ]
}
try "a file without boards, and a sheet with targets of its own, are refused before anything is measured" refuses

on_a_terminal() {
    have "boards on a terminal" tmux || return 0
    local socket=latlab-boards-$$ result
    tmux -L "$socket" -u -f /dev/null new-session -d -x 110 -y 30 \
        "$(declare -p LATLAB_SSH LATLAB_RUNS LATLAB_LAB); '$program' run night.toml --targets boards.toml --repeats 1 --scale 20s; sleep 60"
    screen() { tmux -L "$socket" capture-pane -p; }
    shows() { [ "$(screen | grep -cE "$1")" -ge "$2" ]; }
    until_holds 60 "a line of each board" shows 'idle, board-[a-e]  .*s of 20 s in [0-9]+ s, observed maximum' 5 &&
        tmux -L "$socket" send-keys C-c && until_holds 60 "its end" shows 'campaign incomplete' 1
    result=$?
    screen
    tmux -L "$socket" kill-server
    return $result
}
try "a terminal shows a line for each board that measures" on_a_terminal

exit $status
