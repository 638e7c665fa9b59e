#!/usr/bin/env bash
# Places of labgrid as targets: `--target labgrid:PLACE`, with a real coordinator and exporter of labgrid on
# loopback. The boards are this machine, through an sshd.
# Invariant (boards): A place of labgrid is given back however latlab ends, also by kill -9.
. "$(dirname "$0")/../common.bash"
. tests/lab/board.bash
need_boards "places of labgrid"
have "places of labgrid" labgrid-coordinator labgrid-exporter labgrid-client || exit 0
export NO_COLOR=1 LATLAB_LAB=$here/lab
helpers=()
trap 'kill "${helpers[@]}" 2>/dev/null; rm -rf "$here"' EXIT
cd "$here" || exit 1

start_sshd >/dev/null
helpers+=("$sshd")
coordinator_port=$(free_port)
export LG_COORDINATOR=127.0.0.1:$coordinator_port LG_USERNAME=tester LG_HOSTNAME=here
mkdir coordinator
(cd coordinator && exec labgrid-coordinator -l "$LG_COORDINATOR") >coordinator.log 2>&1 &
helpers+=($!)
dead=$(free_port)
cat >exporter.yaml <<YAML
board-a:
  NetworkService: {address: 127.0.0.1, port: $port, username: $(id -un)}
board-b:
  NetworkService: {address: 127.0.0.1, port: $dead, username: $(id -un)}
YAML
answers() { labgrid-client resources >/dev/null 2>&1; }
until_holds 600 "a coordinator that answers" answers || exit 1
labgrid-exporter -n lab exporter.yaml >exporter.log 2>&1 &
helpers+=($!)
exports() { [ "$(labgrid-client resources 2>/dev/null | grep -c NetworkService)" = 2 ]; }
until_holds 600 "two boards" exports || exit 1
for name in a b; do
    labgrid-client -p "board-$name" create && labgrid-client -p "board-$name" add-match "lab/board-$name/*" &&
        labgrid-client -p "board-$name" set-tags arch=any "board=$name" || exit 1
done >/dev/null

# Short runs that every machine can make.
options=(--warm-up 0s --cpus 0 --share --period 1ms --telemetry off)
[ "$(id -u)" = 0 ] || options+=(--policy other --idle-states system)
measure() { "$program" run --target "$1" "${options[@]}" "${@:2}"; }

# Whether no place is acquired or reserved.
is_free() {
    ! labgrid-client -v places | grep -qE 'acquired: [^N]|reservation:' && [ -z "$(labgrid-client reservations)" ]
}
is_held() { labgrid-client -p board-a show | grep -q 'acquired: here/tester'; }
# Starts a run that continues, and waits for its journal: begin_run LENGTH
begin_run() {
    rm -rf "$LATLAB_RUNS"
    "$program" run --target labgrid:board-a "${options[@]}" --for "$1" >said 2>errors &
    run=$!
    until_holds 600 "a run that measures" stored || { cat said errors; return 1; }
    expect "the place is ours" is_held
}

# A run has released its place when it ends, unless it says that labgrid was too slow.
given_back() {
    is_free && return
    expect "given back at once, or a word of it" grep -q 'labgrid has not taken the place back yet' errors &&
        until_holds 600 "a place that is given back" is_free
}

by_name() {
    measure labgrid:board-a --for 500ms --format json >run.json 2>errors || { cat errors; return 1; }
    cat errors
    expect "where it is" grep -q "board-a is ssh://$(id -un)@127.0.0.1:$port" errors &&
        python3 "$tests/lab/boards.py" place "$port" && given_back
}
try "a place is reserved, measured and given back, and the run has its name, its tags and its board" by_name

# A client whose wait exceeds the first limit, and whose reservation is deleted meanwhile.
cat >slow-client <<'SH'
#!/bin/sh
case " $* " in *" wait "*)
    [ -e gone ] || {
        for token; do :; done
        labgrid-client cancel-reservation "$token" && touch gone
    }
    sleep 6
    ;;
esac
exec labgrid-client "$@"
SH
chmod +x slow-client
too_slow() {
    LATLAB_LABGRID=$here/slow-client measure labgrid:board-a --for 500ms --format json >run.json 2>errors ||
        { cat errors; return 1; }
    expect "that the reservation was gone" [ -e gone ] && given_back
}
try "a reservation that labgrid deleted is made again, by a slow client" too_slow

in_a_file() {
    printf '%s\n' '[first]' 'target = "labgrid:board=a"' '[dead]' 'target = "labgrid:board-b"' >boards.toml
    {
        printf '%s\n' '[defaults]' 'warm-up = "0s"' 'cpus = "0"' 'period = "1ms"' 'share = true' 'telemetry = "off"'
        [ "$(id -u)" = 0 ] || printf '%s\n' 'policy = "other"' 'idle-states = "system"'
        printf '%s\n' '[[scenario]]' 'name = "idle"' 'for = "500ms"'
    } >night.toml
    "$program" run night.toml --targets boards.toml --format json >table.json 2>errors
    local code=$?
    cat errors
    expect "exit code 4, not $code" [ "$code" = 4 ] && given_back &&
        expect "why" grep -q 'dead, repeat 1: nothing measured: ssh://.*Connection refused' errors &&
        python3 "$tests/lab/boards.py" first_is_done
}
try "--targets takes a place by its tags; a place whose board is dead is given back as well" in_a_file

after_a_signal() {
    begin_run 10min || return
    kill "-$1" "$run"
    wait "$run"
    given_back
}
try "SIGINT ends the run, and the place is given back" after_a_signal INT
try "SIGTERM ends the run, and the place is given back" after_a_signal TERM

after_a_kill() {
    begin_run 10min || return
    kill -9 "$run"
    wait "$run" 2>/dev/null
    until_holds 600 "a place that is given back" is_free
}
try "kill -9 of latlab, and the place is given back" after_a_kill

after_a_loss() {
    begin_run 10min || return
    # Kills the connections of ssh, but not its listener.
    kill $(pgrep -P "$sshd")
    wait "$run"
    cat errors
    given_back && expect "what became of it" grep -q 'board-lost' said &&
        expect "the link first" grep -q 'Try first \[board-lost\]' said
}
try "the board is lost, and the place is given back" after_a_loss

waits() {
    local waiting
    LG_USERNAME=other LG_HOSTNAME=there labgrid-client -p board-a acquire >/dev/null || return
    measure labgrid:board-a --for 500ms >said 2>errors &
    waiting=$!
    until_holds 600 "who has it" grep -qF 'waiting for labgrid: there/other has board-a' errors ||
        { cat errors; return 1; }
    LG_USERNAME=other LG_HOSTNAME=there labgrid-client -p board-a release >/dev/null
    wait "$waiting"
    expect "exit code 0, not $?" [ $? = 0 ] && given_back
}
try "a place that another user has is waited for, and the user is named" waits

gives_up() {
    LG_USERNAME=other LG_HOSTNAME=there labgrid-client -p board-a acquire >/dev/null || return
    fails() {
        LATLAB_LABGRID_WAIT=1s measure labgrid:board-a --for 1s >said 2>errors
        code=$?
        grep -v 'waiting for labgrid' errors >kept
        mv kept errors
    }
    refused 3 'waited for 1 s (there/other has board-a)' fails
    local result=$?
    cat errors
    LG_USERNAME=other LG_HOSTNAME=there labgrid-client -p board-a release >/dev/null
    expect "no client waits any more" is_free && return "$result"
}
try "the wait has an end, and nothing is left of it" gives_up

refuses() {
    fails() {
        measure "$@" --for 1s >said 2>errors
        code=$?
        cat errors
    }
    elsewhere() { LG_COORDINATOR=127.0.0.1:$dead fails labgrid:board-a; }
    missing() { LATLAB_LABGRID=no-such-labgrid-client fails labgrid:board-a; }
    refused 3 'labgrid has no such place: there are board-a, board-b' fails labgrid:board &&
        refused 3 'labgrid has no such place' fails labgrid:arch=none &&
        refused 3 "cannot be reached at 127.0.0.1:$dead: set LG_COORDINATOR" elsewhere &&
        refused 3 'there is no program `labgrid-client` here: install labgrid' missing &&
        refused 2 'expected labgrid:PLACE or labgrid:TAG=VALUE' fails 'labgrid:a b' &&
        expect "nothing is left" is_free
}
try "a place that does not exist, no coordinator, and no labgrid-client are told in one line each" refuses

exit $status
