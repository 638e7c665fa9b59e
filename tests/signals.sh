#!/usr/bin/env bash
# Signals, terminals and clocks: closed and stopped terminals, the background of a shell, stops,
# an end by the kernel for want of memory, and clocks that are set.
# Invariant (kills): Closed terminals, stops, lack of memory and set clocks end or mark a run as documented.
. "$(dirname "$0")/alone.bash"
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs TMUX_TMPDIR=$here LC_ALL=C.UTF-8
unset TMUX NO_COLOR
rights_for "signals to runs"
[ "$(id -u)" = 0 ] && [ -z "${ALONE:-}" ] && rights=(--share)

clean_up() {
    tmux kill-server 2>/dev/null
    [ -z "${group:-}" ] || rmdir "$group" 2>/dev/null
    rm -rf "$here"
}
trap clean_up EXIT

# A run in the background that measures; $run is its conductor, $agent its agent.
begin() {
    "$program" run --quiet --format json --warm-up 0s "${rights[@]}" "$@" >"$here/run.json" 2>"$here/errors" &
    run=$!
    begun
}

begun() {
    local tries
    for tries in {1..100}; do
        agent=$(pgrep -P "$run" -f ' agent ')
        [ -n "$agent" ] && grep -qs latlab/ /proc/"$agent"/task/*/comm && return
        sleep 0.05
    done
    echo "the run does not begin"; cat "$here/errors"
    return 1
}

# Waits for the run of this name to be published, without any command; leaves its document.
published() {
    local tries
    for tries in {1..150}; do
        cp "$LATLAB_RUNS"/*_"$1"/run.json "$here/run.json" 2>/dev/null && return
        sleep 0.1
    done
    echo "not published: $(ls -A "$LATLAB_RUNS")"
    return 1
}

# Signals

to_the_agent() {
    begin --for 60s || return 1
    sleep 1
    kill "-$1" "$agent"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        holds "run['ended'] == 'interrupted' and all(t['end']['cycles'] == t['summary']['cycles'] > 0 for t in threads)"
}
try "SIGTERM to the agent ends the run cleanly" to_the_agent TERM
try "SIGINT to the agent ends the run cleanly" to_the_agent INT

stopped() {
    begin --for 5s --samples --deadline 10s || return 1
    kill -STOP "$run"
    sleep 3
    kill -CONT "$run"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        holds "codes == [] and run['losses'] == dict.fromkeys(run['losses'], 0)"
}
try "a conductor that is stopped for seconds loses nothing" stopped

agent_killed_with_hook() {
    local mark=$here/hook.pid tries
    begin --for 60s --spike-above 1us --on-spike "echo \$\$ >$mark; sleep 300 & sleep 301; true" || return 1
    for tries in {1..60}; do [ -s "$mark" ] && break; sleep 0.1; done
    expect "the command to be started" [ -s "$mark" ] || return 1
    kill -KILL "$agent"
    finish
    for tries in {1..40}; do
        pgrep -f '^sleep 30[01]$' >"$here/left" || return 0
        sleep 0.1
    done
    echo "still there: $(ps -o args= -p "$(paste -sd, "$here/left")")"
    return 1
}
try "a spike command and what it has started end with an agent that is killed" agent_killed_with_hook

closed_outputs() {
    "$program" run --for 1s --warm-up 0s --name mute "${rights[@]}" >&- 2>&- <&-
    code=$?
    expect "exit code 0, not $code" [ "$code" = 0 ] && published mute && holds "run['ended'] == 'finished'"
}
try "a run needs neither standard output nor error" closed_outputs

# Terminals

# A run on a terminal that nobody reads, which is full soon.
unread() {
    local end=$1
    shift
    python3 - "$end" "$program" run --warm-up 0s "${rights[@]}" "$@" <<'PYTHON'
import os, pty, signal, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
time.sleep(3)
if sys.argv[1] == "TERM":
    os.kill(pid, signal.SIGTERM)
# Alive, and its terminal open, until the run should have been published.
time.sleep(4)
os.close(master)
PYTHON
}
terminal_stands_still() {
    unread - --for 4s --samples --name still && published still &&
        holds "run['ended'] == 'finished' and run['losses'] == dict.fromkeys(run['losses'], 0)"
}
try "a terminal that takes nothing holds nothing up" terminal_stands_still
terminated_on_it() { unread TERM --for 60s --name ended && published ended && holds "run['ended'] == 'interrupted'"; }
try "and a run on it ends when it is asked to" terminated_on_it

if command -v tmux >/dev/null; then
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
        type_in "exec $program run --for 4s $flags --name closed-$ended $*" Enter
        sleep 2.5
        tmux kill-session -t shell
        published "closed-$ended" && holds "run['ended'] == '$ended' and codes == []"
    }
    try "a terminal that is closed ends its run cleanly" closed_terminal interrupted
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
        type_in "$program run --quiet --samples --for 4s $flags --name paused" Enter
        sleep 2
        type_in C-z
        sleep 1
        tmux capture-pane -t shell -p
        tmux capture-pane -t shell -p | grep -q Stopped || { echo "not stopped"; tmux kill-session -t shell; return 1; }
        type_in "bg" Enter
        published paused && holds "codes == [] and run['losses'] == dict.fromkeys(run['losses'], 0)"
        code=$?
        tmux kill-session -t shell
        return $code
    }
    try "Ctrl-Z and bg cost nothing" suspended
else
    echo "SKIPPED: closed terminals and the background of a shell: tmux is missing"
fi

# Without memory

out_of_memory() {
    local hog
    bash -c 'echo $$ >'"$group"'/cgroup.procs; echo 1000 >/proc/self/oom_score_adj; exec "$@"' _ \
        "$program" run --quiet --warm-up 0s --for 60s --name hungry "${rights[@]}" >"$here/out" 2>"$here/errors" &
    run=$!
    begun || return 1
    echo "$agent" >"$root/cgroup.procs"
    sleep 2
    echo 64M >"$limit"
    # They take all there is, each little, until the kernel has ended the one that it shall end first.
    bash -c 'echo $$ >'"$group"'/cgroup.procs; exec python3 -c "
import os, sys, time
for _ in range(3):
    os.fork()
taken = []
while open(\"/proc/%s/stat\" % sys.argv[1]).read().rsplit(\")\", 1)[1].split()[0] not in \"ZX\" and len(taken) < 200:
    taken.append(bytearray(b\"x\") * (1 << 20))
    time.sleep(0.005)
" '"$run" 2>"$here/hog" &
    hog=$!
    wait "$run"
    code=$?
    wait "$hog"
    expect "an end by SIGKILL, not $code" [ "$code" = 137 ] || return 1
    "$program" list >"$here/text" 2>"$here/errors"
    expect "a recovered run" grep -q '^latlab: recovered' "$here/errors" && published hungry &&
        holds "run['recovered'] and run['measured_ns'] > 1e9"
}
root=/sys/fs/cgroup/memory
limit=memory.limit_in_bytes
[ -d "$root" ] || root=/sys/fs/cgroup limit=memory.max
group=$root/latlab-test-$$
if [ "$(id -u)" = 0 ] && mkdir "$group" 2>/dev/null && [ -w "$group/$limit" ]; then
    limit=$group/$limit
    try "a conductor that the kernel ends for want of memory is recovered" out_of_memory
else
    echo "SKIPPED: want of memory: no memory cgroup can be made here"
fi

# Clocks

# Sets CLOCK_REALTIME by so many seconds.
set_by() { python3 -c 'import sys, time; time.clock_settime(time.CLOCK_REALTIME, time.time() + float(sys.argv[1]))' "$1"; }

stepped() {
    local clock=$1 expected=$2
    begin --for 4s --clock "$clock" --deadline 100s || return 1
    sleep 1.5
    set_by 30
    sleep 1.2
    set_by -30
    finish
    expect "exit code $expected, not $code" [ "$code" = "$expected" ] &&
        holds "set(codes) - {'negative-latency', 'interval-lost', 'thread-ended-early'} == {'clock-stepped'}" &&
        holds "run['total']['cycles'] > 0"
}
slewed() {
    begin --for 3s --clock "$1" --deadline 10s || return 1
    sleep 1
    python3 - <<'PYTHON'
import ctypes
class Timex(ctypes.Structure):
    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("rest", ctypes.c_long * 40)]
# As `adjtime` does it: 1 ms, by a slew that the kernel ends by itself.
timex = Timex(modes=0x8001, offset=1000)
if ctypes.CDLL(None).adjtimex(ctypes.byref(timex)) < 0:
    raise SystemExit("the clock cannot be slewed")
PYTHON
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] && holds "codes == []"
}
if [ -n "${KEEP_CLOCK:-}" ] || ! { [ "$(id -u)" = 0 ] && set_by 0; } 2>/dev/null; then
    echo "SKIPPED: clocks that are set: the right to set one is missing, or KEEP_CLOCK is set"
else
    try "a clock that is set is a warning where it was not used" stepped monotonic 0
    try "and makes a run on it invalid" stepped realtime 4
    try "a slewed clock is no finding" slewed monotonic
    try "nor for a run on it" slewed realtime
fi

exit $status
