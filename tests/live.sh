#!/usr/bin/env bash
# What is shown during a run: on a terminal a table, after which the terminal is restored; else a line.
# Invariant (command line): The live table fits 80 and 160 columns, and the terminal is restored.
. "$(dirname "$0")/common.bash"
socket=latlab-test-$$
export LATLAB_RUNS=$here/runs TMUX_TMPDIR=$here LC_ALL=C.UTF-8
line= look=
unset TMUX NO_COLOR

clean_up() {
    tmux -L "$socket" kill-server 2>/dev/null
    [ -z "$line" ] || kill "$line" "$look" 2>/dev/null
    wait
    rm -rf "$here"
}
trap clean_up EXIT

rights_for "the live view of a run"
# The run without a terminal shares the CPUs with the others.
rights+=(--share)

# Without a terminal: started here, checked below.

"$program" run --for 12s --name line "${rights[@]}" >"$here/line.out" 2>"$here/line.err" </dev/null &
line=$!
# Its first line of progress comes half-way.
has_progress() { [ -s "$here/line.err" ] || has_ended "$line"; }
(until_holds 60 "a line of progress" has_progress
    wc -c <"$here/line.out" >"$here/line.bytes") &
look=$!

# On a terminal

type_in() { tmux -L "$socket" send-keys "$@"; }
screen() { tmux -L "$socket" capture-pane -p; }
in_other_screen() { [ "$(tmux -L "$socket" display-message -p '#{alternate_on}')" = "$1" ]; }

# Waits until the screen shows a pattern; fails after a minute, and shows what it shows instead.
wait_for() {
    local tries
    for tries in {1..300}; do
        screen >"$here/screen"
        grep -Eq -- "$1" "$here/screen" && return
        sleep 0.2
    done
    echo "expected on the screen: $1"
    cat "$here/screen"
    return 1
}

# The digits of the column of cycles, as one number.
cycles() { screen | grep -Eo '^[0-9 ]+ cycles' | tr -dc 0-9; }

# A fresh shell on a terminal of this size.
open_terminal() {
    socket=latlab-test-$$-$1
    tmux -L "$socket" -u -f /dev/null new-session -d -x "$1" -y "$2" \
        "PS1='here> ' HISTFILE= exec bash --norc --noprofile" &&
        tmux -L "$socket" set-option -g history-limit 5000 &&
        wait_for '^here>'
}

table() {
    wait_for '^ *thread .*overruns.* max' || return 1
    wait_for '[0-9] cycles, ' || return 1
    wait_for '^ +0 .*[0-9]' || return 1
    cat "$here/screen"
    expect "the alternate screen" in_other_screen 1 &&
        expect "all threads" [ "$(grep -Ec '^ +[0-9]+  ' "$here/screen")" -ge 2 ] &&
        expect "how it is ended" grep -q 'Ctrl-C' "$here/screen"
}

grows() {
    local first second tries
    first=$(cycles)
    for tries in {1..300}; do
        sleep 0.2
        second=$(cycles)
        [ "${second:-0}" -gt "${first:-0}" ] && return
    done
    screen
    echo "still $second cycles, $first before"
    return 1
}

resized() {
    tmux -L "$socket" resize-window -x "$1" -y "$2" &&
        wait_for "^latlab run.* left *$|^latlab run.* elapsed *$" || return 1
    until_holds 60 "one head, one table, and the last line of the view" whole_view || { cat "$here/screen"; return 1; }
}
whole_view() {
    screen >"$here/screen"
    [ "$(grep -c '^latlab run' "$here/screen")/$(grep -Ec '^ *thread ' "$here/screen")" = 1/1 ] &&
        grep -q 'Ctrl-C' "$here/screen"
}

interrupted() {
    type_in 'lost words'
    sleep 0.3
    screen >"$here/screen"
    expect "nothing of what is typed meanwhile" [ "$(grep -c 'lost words' "$here/screen")" = 0 ] || return 1
    type_in C-c
    wait_for "^ended with $1\$" || return 1
    tmux -L "$socket" capture-pane -p -S -500 >"$here/screen"
    cat "$here/screen"
    expect "the first screen" in_other_screen 0 &&
        expect "what was there before" grep -qx 'before' "$here/screen" &&
        expect "the summary" grep -q '^Latency: .*max ' "$here/screen" &&
        expect "where it is stored" grep -q '^Stored in' "$here/screen" &&
        expect "nothing left of the table" [ "$(grep -c 'Ctrl-C ends' "$here/screen")" = 0 ] &&
        expect "what was typed meanwhile thrown away" [ "$(grep -c 'lost words' "$here/screen")" = 0 ]
}

stored() {
    "$program" show "$1" --format json >"$here/run.json" &&
        expect "ended as interrupted" grep -q '"ended": "interrupted"' "$here/run.json" &&
        expect "some cycles" grep -Eq '"cycles": [1-9]' "$here/run.json"
}

# The cursor and the echo are back: typed text appears once, and is executed.
usable() {
    type_in "stty -a | tr ' ' '\\n' | grep -E '^-?(echo|icanon|isig)\\b;?$' | xargs" Enter
    wait_for '^isig icanon echo$' || return 1
    type_in 'printf "%s-%s\n" typed again'
    wait_for '^here> printf .* typed again$' || return 1
    type_in Enter
    wait_for '^typed-again$' &&
        expect "a cursor" [ "$(tmux -L "$socket" display-message -p '#{cursor_flag}')" = 1 ]
}

# Closing the terminal ends the run, which is kept.
hung_up() {
    type_in "$program run --name hangup ${rights[*]}" Enter
    wait_for '[0-9] cycles, ' || return 1
    tmux -L "$socket" kill-server
    until_holds 60 "a stored run" eval "[ -f '$here'/runs/*_hangup/run.json ]" && stored _hangup
}

on_terminal() {
    local width=$1 height=$2 code=$3 name=size-$1
    shift 3
    try "a terminal of ${width}x$height is opened" open_terminal "$width" "$height"
    type_in "clear; echo before; $program run --name $name $* ${rights[*]}; echo ended with \$?" Enter
    try "${width}x$height: the table shows threads, overruns and maxima" table
    cp "$here/screen" "target/live-${width}x$height.txt"
    try "${width}x$height: the cycles grow" grows
    [ "$width" != 80 ] || try "the table follows the size of the terminal" resized 120 30
    try "${width}x$height: Ctrl-C ends the run and gives the screen back" interrupted "$code"
    try "${width}x$height: the interrupted run is stored" stored "_$name"
    try "${width}x$height: the terminal is as it was" usable
}

if have "the live table" tmux; then
    mkdir -p target
    on_terminal 80 24 0 --for 1h
    tmux -L "$socket" kill-server
    # Nothing can miss this deadline, but the run is shorter than requested.
    on_terminal 160 50 4 --for 1h --deadline 1h
    try "a terminal that goes away leaves a stored run" hung_up
fi

# Without a terminal

progress() {
    wait "$line" || { cat "$here/line.err"; return 1; }
    wait "$look"
    cat "$here/line.err"
    expect "nothing on standard output meanwhile" [ "$(<"$here/line.bytes")" = 0 ] &&
        expect "one line of progress in ten seconds" [ "$(grep -c '^0:1' "$here/line.err")" = 1 ] &&
        expect "its time and the cycles" \
            grep -Eq '^0:1[0-9] elapsed, 0:0[0-9] left: [0-9 ]+ cycles, ' "$here/line.err" &&
        expect "no codes of a terminal" [ "$(cat "$here/line.err" "$here/line.out" | grep -c $'\x1b')" = 0 ] &&
        expect "the summary" grep -q '^Latency: .*max ' "$here/line.out"
}

try "without a terminal there is one line after ten seconds, and nothing before the summary" progress

exit $status
