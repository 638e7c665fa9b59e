#!/usr/bin/env bash
# Terminals that are not read or are closed, and shells that keep a run in the background or stop it.
# Invariant (kills): Closed terminals, stops and lack of memory end or mark a run as documented.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs TMUX_TMPDIR=$here LC_ALL=C.UTF-8
unset TMUX NO_COLOR
rights_for "runs on terminals"
[ "$(id -u)" = 0 ] && [ "$OWN_MOUNTS" = no ] && rights=(--share)

clean_up() {
    tmux kill-server 2>/dev/null
    rm -rf "$here"
}
trap clean_up EXIT

# Waits for a live run of this name that has measured something.
going_on() {
    local size="\$(cat '$LATLAB_RUNS'/.*_$1.partial/journal | wc -c)" head
    # The journal begins with the machine, in one piece; measured seconds come after it.
    until_holds 60 "a run that has begun" eval "[ $size -gt 20000 ]" || return
    head=$(eval "echo $size")
    until_holds 60 "a run that goes on" eval "[ $size -gt $((head + 30000)) ]"
}

# A run on a terminal that is not read, which soon blocks.
unread() {
    local end=$1
    shift
    python3 tests/terminals.py unread "$LATLAB_RUNS" "$end" "$program" run --warm-up 0s "${rights[@]}" "$@"
}
terminal_stands_still() {
    unread - --for 4s --samples --name still && published still &&
        holds "run['ended'] == 'finished' and run['losses'] == dict.fromkeys(run['losses'], 0)"
}
try "a terminal that takes nothing holds nothing up" terminal_stands_still
terminated_on_it() { unread TERM --for 60s --name ended && published ended && holds "run['ended'] == 'interrupted'"; }
try "and a run on it ends when it is asked to" terminated_on_it

if have "closed terminals and the background of a shell" tmux; then
    type_in() { tmux send-keys -t shell "$@"; }
    terminal() {
        tmux -u -f /dev/null new-session -d -s shell -x 100 -y 30 \
            "PS1='here> ' HISTFILE= exec bash --norc --noprofile"
    }
    flags="--warm-up 0s ${rights[*]}"

    closed_terminal() {
        local ended=$1
        shift
        terminal
        type_in "exec $program run --for ${length:-60s} $flags --name closed-$ended $*" Enter
        going_on "closed-$ended" || return 1
        tmux kill-session -t shell
        published "closed-$ended" && holds "run['ended'] == '$ended' and codes == []"
    }
    try "a terminal that is closed ends its run cleanly" closed_terminal interrupted
    length=4s
    try "with --keep-going it goes on to its end" closed_terminal finished --keep-going

    background() {
        terminal
        type_in "stty tostop; $program run --for 2s $flags --name back &" Enter
        published back && holds "run['ended'] == 'finished' and run['measured_ns'] > 1.9e9"
        code=$?
        tmux kill-session -t shell
        return $code
    }
    try "a run in the background of a shell is not stopped by its terminal" background

    suspended() {
        terminal
        type_in "$program run --quiet --samples --for 600s $flags --name paused" Enter
        going_on paused || return 1
        type_in C-z
        until_holds 60 "a stopped run" eval "tmux capture-pane -t shell -p | grep Stopped" ||
            { tmux capture-pane -t shell -p; tmux kill-session -t shell; return 1; }
        type_in "bg" Enter
        going_on paused && type_in "kill %1" Enter
        published paused && holds "codes == [] and run['losses'] == dict.fromkeys(run['losses'], 0)"
        code=$?
        tmux kill-session -t shell
        return $code
    }
    try "Ctrl-Z and bg cost nothing" suspended
fi

exit $status
