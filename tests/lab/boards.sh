#!/usr/bin/env bash
# A sheet on many boards at once: `latlab run SHEET --targets FILE`; and how such a campaign waits, ends and resumes.
# Invariant (boards): One dead board keeps no other from being measured, and what it lacks can be measured later.
. "$(dirname "$0")/../common.bash"
. tests/lab/boards.bash

measures() { has_counts 3 runs/*_night/runs/.*board-c-1.partial/journal; }
one_dies() {
    "$program" run night.toml --targets boards.toml --format json >table.json 2>lines &
    local campaign=$! code
    until_holds 120 "board c to measure" measures || { cat lines; return 1; }
    # The board goes down: its listener, and its connection.
    kill "${sshds[2]}" $(pgrep -P "${sshds[2]}")
    wait "$campaign"
    code=$?
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "five at once, not $(at_once)" [ "$(at_once)" = 5 ] &&
        expect "why" grep -q 'board-c, repeat 2.*: nothing measured: ssh://127.0.0.1' lines &&
        table 'all(made[f"board-{name}"] == 2 for name in "abde") and made["board-c"] == 0' &&
        table '[name for name in "abcde" if rows[f"board-{name}"]["verdict"] == "pass"] == list("abde")'
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
    flock "lab/boards/127.0.0.1:${ports[0]}" \
        sh -c 'echo "other campaign, process 1" >"$0"; exec sleep 600' "lab/boards/127.0.0.1:${ports[0]}" &
    holder=$!
    until_holds 20 "the lock" grep -q other "lab/boards/127.0.0.1:${ports[0]}" || return
    "$program" run night.toml --targets boards.toml --scale 500ms --repeats 1 --format json >table.json 2>lines &
    campaign=$!
    until_holds 60 "a line" \
        grep -q 'board-a, repeat 1: waiting for its board, which has other campaign, process 1' lines &&
        until_holds 60 "the others" has_stored 4
    local result=$?
    # The sleep has inherited the lock.
    kill $(pgrep -P "$holder") "$holder"
    wait "$campaign"
    expect "exit code 0" [ $? = 0 ] && expect "all five" has_stored 5 && return "$result"
}
has_stored() { [ "$(grep -c ': observed maximum' lines)" = "$1" ]; }
try "a board that another campaign measures is waited for, while the others are measured" waits

is_killed() {
    "$program" run night.toml --targets two.toml --scale 2s >/dev/null 2>lines &
    local campaign=$!
    until_holds 60 "a run that is stored" grep -q ': observed maximum' lines &&
        until_holds 60 "a second one" has_counts_in runs "?-2" || { cat lines; return 1; }
    kill -KILL "$campaign"
    wait "$campaign" 2>/dev/null
    cat lines
    # A run that was complete when the campaign was killed is stored by the second one, not measured again.
    local stored
    stored=$(sed -n 's/: observed maximum.*//p' lines)
    measure --resume
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] && table 'all(count == 2 for count in made.values())' &&
        expect "what was stored once only" [ "$(grep -cF "$stored" lines)" = 0 ] &&
        expect "no try of it to count as failed" python3 "$tests/lab/boards.py" none_failed
}
try "after kill -9 of a campaign --resume makes what is missing, and nothing twice" is_killed

two_at_once() {
    "$program" run once.toml --targets two.toml --scale 8s --repeats 1 --quiet >/dev/null 2>first &
    local campaign=$!
    until_holds 60 "a board that measures" has_counts_of board-a || { cat first; return 1; }
    measure once.toml --targets two.toml --scale 500ms --repeats 1
    cat lines
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "a line of each board" [ "$(grep -c 'waiting for its board' lines)" = 2 ] || return
    wait "$campaign"
    expect "exit code 0 of the first" [ $? = 0 ]
}
try "two campaigns over the same boards measure them one after the other" two_at_once

ends_on_request() {
    "$program" run once.toml --targets two.toml --scale 20s --repeats 1 --format json >table.json 2>lines &
    local campaign=$!
    until_holds 60 "a board that measures" has_counts_of board-a && until_holds 60 "the other" has_counts_of board-b ||
        { cat lines; return 1; }
    kill -INT "$campaign"
    wait "$campaign"
    code=$?
    cat lines
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "how to go on" grep -q 'campaign incomplete; continue with' lines &&
        attempts 'all(cell[name]["state"] == "missing" for name in cell)
            and tries["board-a"] == [(1, True, "it was interrupted")]' &&
        expect "no agent that measures" no_agents
}
no_agents() { ! pgrep -f "$cache/latlab/agents/agent-[0-9a-f]* .*board-[ab]"; }
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
        printf '[a]\ntarget = "ssh://a"\n[a]\ntarget = "ssh://b"\n' >twice.toml &&
        fails "twice.toml:3: duplicate key" night.toml --targets twice.toml &&
        printf '[a]\ntarget = "ssh://a"\n[b]\ntarget = "ssh://root@A"\n' >same.toml &&
        fails "same.toml:3: 'b' is at ssh://root@A, as 'a' is" night.toml --targets same.toml &&
        printf '[a]\ntarget = "ssh://a"\nport = 22\n' >key.toml &&
        fails "key.toml:3: unknown field \`port\`" night.toml --targets key.toml &&
        printf '[a]\ntarget = "local"\n' >local.toml &&
        fails "local.toml:1: 'local': expected ssh://" night.toml --targets local.toml || return
    printf '%s\n' '[[scenario]]' 'name = "x"' 'for = "1s"' 'target = "local"' >own.toml
    "$program" run own.toml --targets boards.toml >said 2>errors
    expect "exit code 2" [ $? = 2 ] &&
        expect "its place" grep -q '^own.toml:4:10: target: --targets says what is measured' errors &&
        expect "nothing new" [ "$before" = "$(ls runs)" ]
}
try "a file without boards, and a sheet with targets, are refused before anything is measured" refuses

on_a_terminal() {
    have "boards on a terminal" tmux || return 0
    local socket=latlab-boards-$$ result
    tmux -L "$socket" -u -f /dev/null new-session -d -x 110 -y 30 \
        "$(declare -p LATLAB_SSH LATLAB_RUNS \
            LATLAB_LAB); '$program' run night.toml --targets boards.toml --repeats 1 --scale 20s; sleep 60"
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
