#!/usr/bin/env bash
# Detached runs on a board: started, queried and collected, after every way in which either side can end.
. "$(dirname "$0")/../common.bash"
. tests/lab/detach.bash

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
        holds "run['id'] == '$id' and run['total']['cycles'] + run['total']['overruns'] == 8000
            and run['verdict']['word'] == 'pass' and run['ended'] == 'finished'
            and not run['recovered'] and 'board-traffic' not in codes
            and not any(one['what'] == 'ssh server' for one in run['applied']['settings'])
            and run['asked']['on']['detached']['most_bytes'] > 0" || return 1
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
    is_collected && holds "run['total']['cycles'] + run['total']['overruns'] == 10_000"
}
# Invariant (boards): What a board measured until it went down is brought home, and the board is restored.
after_a_kill() {
    local before=$(($(cat /proc/sys/vm/stat_interval))) wrapper
    detach --for 10min --set "vm.stat_interval=$((before + 1))" || return 1
    measures && until_holds 60 "some seconds" has_counts 3 "$folder/$id/stream" || return 1
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
    # In its own process group, as a shell runs each command.
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
        holds "run['total']['cycles'] + run['total']['overruns'] == 50_000 and not run['losses']['samples']
            and not run['recovered']"
}
# A partial copy here that differs from the board's file.
damaged_here() {
    detach --for 1s || return 1
    until_holds 60 "a run that ends by itself" ended || return 1
    mkdir -p "$LATLAB_RUNS/.$id.incoming"
    echo nonsense >"$LATLAB_RUNS/.$id.incoming/journal"
    collect
    expect "exit code 0, not $code" [ "$code" = 0 ] && is_collected &&
        holds "run['total']['cycles'] > 0 and not run['recovered']"
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
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "that it measures" grep -q '"measures"' "$here/collected.json" || return 1
    "$program" collect "$board" "$id" | grep -qF "$id still measures (" || return 1
    refused 2 "no detached run 'x-y' is on $board; there are $id" collect x-y || return 1
    collect --stop
    expect "exit code 0, not $code" [ "$code" = 0 ] && is_collected &&
        holds "run['ended'] == 'interrupted' and not run['recovered']"
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
expect "no agent that is left" [ -z "$(pgrep -f "$cache/latlab/agents")" ] || status=1
exit $status
