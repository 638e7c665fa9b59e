#!/usr/bin/env bash
# Runs that a board measures without the link: begun, asked about, brought home, after every end that
# either side can come to.
. "$(dirname "$0")/../common.bash"
. tests/lab/board.bash
need_boards "runs without the link"

folder=$cache/latlab/runs
detach() {
    "$program" run --detach --format json --target "$board" --cpus "${measured:-0}" -i "${period:-1ms}" --warm-up 0s "${rights[@]}" "$@" >"$here/begun.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    [ "$code" = 0 ] && id=$(id_of "$here/begun.json")
}
collect() {
    "$program" collect "$board" --format json "$@" >"$here/collected.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
}
# The run that was collected is in $here/run.json, if it is there.
is_collected() {
    local path
    path=$(python3 -c 'import json, sys
[one] = json.load(open(sys.argv[1]))
print(one["path"])' "$here/collected.json") && "$program" show "$path" --format json >"$here/run.json"
    "$program" verify "$path" >/dev/null && expect "no stream that is left there" [ ! -e "$folder/$id" ] &&
        expect "no stream that is left here" [ -z "$(ls -d "$LATLAB_RUNS"/.*.incoming "$LATLAB_RUNS"/.*.partial 2>/dev/null)" ]
}
agent_of() { agent=$(pgrep -f "^$cache/latlab/agents/agent-[0-9a-f]* $id" | head -n 1); }
measures() { agent_of && grep -qs latlab/ /proc/"$agent"/task/*/comm; }
ended() { [ -e "$folder/$id/end" ]; }
stream_of() { stat -c %s "$folder/$id/stream"; }

# What status says of the one run that is there.
status_is() {
    "$program" target status "$board" --format json >"$here/status.json"
    holds_in "$here/status.json" "" "[one['state'] for one in run['detached'] if one['id'] == '$id'] == ['$1']"
}

goes_on() {
    detach --for 8s --deadline 1s --name far "$@" || return 1
    expect "no connection that is left" [ -z "$(pgrep -P "$sshd")" ] && measures && status_is measures &&
        expect "a folder for its user alone" [ "$(stat -c %a "$folder" "$folder/$id" | sort -u)" = 700 ] &&
        expect "'without the link'" grep -q "bytes" "$here/begun.json" || return 1
    until_holds 60 "a run that ends by itself" ended && status_is ended
}
is_brought_home() {
    goes_on || return 1
    collect
    expect "exit code 0, not $code" [ "$code" = 0 ] && is_collected &&
        holds "run['id'] == '$id' and run['total']['cycles'] + run['total']['missed'] == 8000 and run['verdict']['word'] == 'pass' and run['ended'] == 'finished'
            and not run['recovered'] and 'board-traffic' not in codes and not any(one['what'] == 'ssh server' for one in run['applied']['settings'])
            and run['asked']['detached']['most_bytes'] > 0" || return 1
    collect
    expect "nothing more" [ "$code" = 0 -a "$(cat "$here/collected.json")" = "[]" ] &&
        expect "in words" [ "$("$program" collect "$board")" = "Nothing to collect on $board." ]
}
# Invariant (boards): A detached run restores the board at its end, without any link.
without_any_link() {
    local before=$(($(cat /proc/sys/vm/stat_interval)))
    detach --for 10s --set "vm.stat_interval=$((before + 1))" || return 1
    stop_sshd
    expect "the value of the run" [ "$(cat /proc/sys/vm/stat_interval)" = "$((before + 1))" ] &&
        until_holds 60 "a run that ends by itself" ended &&
        expect "the value from before" [ "$(cat /proc/sys/vm/stat_interval)" = "$before" ] || return 1
    refused 3 "does an ssh server run there" collect || return 1
    start_sshd "SetEnv XDG_CACHE_HOME=$cache"
    collect
    is_collected && holds "run['total']['cycles'] + run['total']['missed'] == 10_000"
}
# Invariant (boards): What a board measured until it went down is brought home, and the board is restored.
after_a_kill() {
    local before=$(($(cat /proc/sys/vm/stat_interval))) wrapper
    detach --for 10min --set "vm.stat_interval=$((before + 1))" || return 1
    measures && until_holds 60 "some seconds" has_counts "$folder/$id/stream" || return 1
    wrapper=$(pgrep -f "latlab-board detach .*$id")
    [ "$1" = agent ] || kill -9 $wrapper
    kill -9 "$agent"
    case $1 in
    agent) until_holds 60 "an end" ended && status_is ended ;;
    board) until_holds 60 "a run that was cut" status_is cut ;;
    esac || return 1
    collect
    expect "exit code 3, not $code" [ "$code" = 3 ] && is_collected &&
        holds "run['recovered'] and run['total']['cycles'] > 0 and 'stream-lost' in codes
            and any(one['code'] == 'board-lost' and '$2' in one['reason'] for one in run['findings'])" &&
        expect "the value from before" [ "$(cat /proc/sys/vm/stat_interval)" = "$before" ] &&
        expect "a word about it" grep -q "restored /proc/sys/vm/stat_interval" "$here/errors"
}
# Invariant (boards): A collect that was killed goes on where it stopped; no half of a run counts as one.
in_pieces() {
    period=100us detach --for 5s --samples --name pieces || return 1
    until_holds 60 "a run that ends by itself" ended || return 1
    local all
    all=$(stream_of)
    echo "ProxyCommand python3 $PWD/tests/lab/relay.py %h %p 0 40e3" >>"$here/ssh/config"
    # It has its own group of processes, as a shell gives it to each command.
    setsid "$program" collect "$board" >"$here/said-nothing" 2>&1 &
    local collector=$!
    part() { [ "$(stat -c %s "$LATLAB_RUNS/.$id.incoming/journal")" -gt 20000 ]; }
    until_holds 60 "a part of the stream" part && kill -9 -- -"$collector"
    wait "$collector" 2>/dev/null
    sed -i '/^ProxyCommand/d' "$here/ssh/config"
    local here_now
    here_now=$(stat -c %s "$LATLAB_RUNS/.$id.incoming/journal")
    expect "a part of it" [ "$here_now" -lt "$all" ] &&
        expect "no run" [ -z "$("$program" list --format json | grep "$id")" ] || return 1
    collect
    expect "exit code 0, not $code" [ "$code" = 0 ] && is_collected &&
        holds "run['total']['cycles'] + run['total']['missed'] == 50_000 and not run['losses']['samples'] and not run['recovered']"
}
# What lies here half collected and is not what the board has.
damaged_here() {
    detach --for 1s || return 1
    until_holds 60 "a run that ends by itself" ended || return 1
    mkdir -p "$LATLAB_RUNS/.$id.incoming"
    echo nonsense >"$LATLAB_RUNS/.$id.incoming/journal"
    collect
    expect "exit code 0, not $code" [ "$code" = 0 ] && is_collected && holds "run['total']['cycles'] > 0 and not run['recovered']"
}
is_here_already() {
    detach --for 1s || return 1
    until_holds 60 "a run that ends by itself" ended || return 1
    cp -r "$folder/$id" "$here/copy"
    collect
    cp -r "$here/copy" "$folder/$id"
    collect
    is_collected && expect "one run" [ "$(ls -d "$LATLAB_RUNS/$id"* | wc -l)" = 1 ]
}
is_ended() {
    detach -t 1 || return 1
    collect
    expect "exit code 4, not $code" [ "$code" = 4 ] && expect "that it measures" grep -q '"measures"' "$here/collected.json" || return 1
    "$program" collect "$board" "$id" | grep -qF "$id still measures (" || return 1
    refused 2 "no detached run 'x-y' is on $board; there are $id" collect x-y || return 1
    collect --stop
    expect "exit code 0, not $code" [ "$code" = 0 ] && is_collected && holds "run['ended'] == 'interrupted' and not run['recovered']"
}
by_name() {
    export XDG_CONFIG_HOME=$here/config
    mkdir -p "$here/other disk"
    "$program" target add pi "$board" --cpus 0 --board-folder "$here/other disk" >/dev/null &&
        "$program" run --detach --target pi --for 1s "${rights[@]}" >"$here/begun" 2>"$here/errors" || return 1
    id=$(basename "$here/other disk"/*Z_run)
    expect "the folder" grep -qF "measures $id for 1 s without the link, in $here/other disk there." "$here/begun" &&
        expect "the next command" grep -qx "Collect: latlab collect pi" "$here/begun" &&
        until_holds 60 "a run that ends" [ -e "$here/other disk/$id/end" ] &&
        expect "its state" grep -q "detached: $id has ended; collect it with .latlab collect pi" <("$program" target status pi) || return 1
    board=pi collect
    expect "a folder without it" [ -z "$(ls "$here/other disk")" ] && is_collected &&
        expect "a command that measures so again" grep -qF -- "--detach --board-folder '$here/other disk'" <("$program" show last --all)
}
in_memory() {
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=/proc/nowhere"
    folder=/dev/shm/latlab-$(id -u)
    detach --for 1s || return 1
    expect "that it is memory" grep -q "$folder (memory, which a restart empties)" "$here/errors" &&
        expect "a folder for its user alone" [ "$(stat -c %a "$folder" "$folder/$id" | sort -u)" = 700 ] || return 1
    until_holds 60 "a run that ends" ended
    collect
    is_collected && expect "an agent that is left" [ -z "$(ls -d /dev/shm/latlab.* 2>/dev/null)" ]
    local result=$?
    rmdir "$folder"
    folder=$cache/latlab/runs
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=$cache"
    return $result
}
by_busybox() {
    have "a detached run by busybox" busybox || return 0
    local line=$LATLAB_SSH url=$board
    mkdir -p "$here/fake"
    busybox --list | while read -r name; do ln -sf "$(command -v busybox)" "$here/fake/$name"; done
    answer_by "for last; do :; done; export XDG_CACHE_HOME=$cache; PATH=$here/fake:\$PATH exec busybox sh -c \"\$last\""
    board=ssh://busybox
    detach --for 1s && until_holds 60 "a run that ends" ended && collect
    local result=$?
    rm -rf "$here/fake"
    [ "$result" = 0 ] && is_collected && holds "run['total']['cycles'] > 0"
    result=$?
    export LATLAB_SSH=$line
    board=$url
    return $result
}

# A board that has so many kB left: with_room KB COMMAND...
with_room() {
    local line=$LATLAB_SSH url=$board left=$1
    shift
    mkdir -p "$here/fake"
    printf '%s\n' '#!/bin/sh' "echo; echo x 1 1 $left 9% /tiny" >"$here/fake/df"
    chmod 755 "$here/fake/df"
    answer_by "for last; do :; done; export XDG_CACHE_HOME=$cache; PATH=$here/fake:\$PATH exec sh -c \"\$last\""
    board=ssh://tiny
    "$@"
    local result=$?
    rm -rf "$here/fake"
    export LATLAB_SSH=$line
    board=$url
    return $result
}
no_room() {
    period=50us with_room 30000 refused 3 "ssh://tiny: 72 000 000 samples take up to " detach --samples --for 1h &&
        expect "the arithmetic" grep -qF "MB, but may use 23.0 MB of the 30.7 MB free in $folder (disk): make room there, " "$here/errors" &&
        with_room 1000 refused 3 "a run takes at least 1.0 MB, but may use 768.0 kB of the 1.0 MB free" detach --for 1s &&
        expect "nothing that is left" [ -z "$(ls "$folder")" ]
}
# Without an end, and with room for some 50 kB: the run ends there.
has_a_bound() {
    with_room 1500 detach --samples || return 1
    expect "the arithmetic" grep -q "a day takes up to .* MB; the run ends when it has used 1.2 MB of the 1.5 MB free" "$here/errors" &&
        until_holds 60 "a run that ends by itself" ended || return 1
    expect "a stream within its bound" [ "$(stream_of)" -lt 1152000 ] || return 1
    collect
    is_collected && holds "'detached-bound' in codes and run['ended'] == 'interrupted' and run['total']['cycles'] > 0"
}
is_refused() {
    measured=999 refused 2 "999" detach || return 1
    expect "nothing that is left" [ -z "$(ls "$folder")" ]
}
wrong_words() {
    code=0
    board=local refused 2 "--detach needs a board, such as --target ssh://pi@board" detach --for 1s &&
        refused 2 "--until-decided is decided here" detach --for 1s --deadline 1ms --limit 1/h --until-decided &&
        refused 2 "expected the whole path of a folder there" detach --for 1s --board-folder here || return 1
    printf '%s\n' '[defaults]' 'for = "1s"' '[[scenario]]' 'name = "idle"' >"$here/sheet.toml"
    "$program" run "$here/sheet.toml" --target "$board" --detach >"$here/said-nothing" 2>"$here/errors"
    code=$?
    refused 2 "--detach: the runs of a sheet follow each other from here" true || return 1
    sed -i '/for/a detach = true' "$here/sheet.toml"
    "$program" run "$here/sheet.toml" >"$here/said-nothing" 2>"$here/errors"
    expect "exit code 2" [ $? = 2 ] && expect "its line" grep -q "sheet.toml:3:1: --detach: the runs of a sheet follow" "$here/errors"
}

try "a board can be started on loopback" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "a detached run goes on without the link, and is brought home whole" is_brought_home
if [ "$(id -u)" = 0 ]; then
    try "it restores the board with no link at all" without_any_link
    try "one whose agent was killed is brought home as far as it came" after_a_kill agent "killed by signal 9"
    try "and so is one whose board went down" after_a_kill board "the board went down"
fi
try "a collect that was killed goes on where it stopped" in_pieces
try "what is damaged here is fetched again" damaged_here
try "what is here already is not stored twice" is_here_already
try "a run without an end is ended by collect" is_ended
try "a board remembers its folder" by_name
try "where nothing can be written it is in memory" in_memory
try "busybox is enough" by_busybox
try "without room there is one line with the arithmetic" no_room
try "a run without an end has a bound" has_a_bound
try "what cannot be measured is one line and leaves nothing" is_refused
try "wrong words are one line" wrong_words
expect "no agent that is left" [ -z "$(pgrep -f "$cache/latlab/agents")" ] || status=1
exit $status
