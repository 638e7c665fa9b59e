#!/usr/bin/env bash
# Signals and terminals: closed and stopped terminals, the background of a shell, stops, and an end by
# the kernel for want of memory.
# Invariant (kills): Closed terminals, stops and lack of memory end or mark a run as documented.
# Invariant (kills): A run ends in time, and whenever it is asked to, though a load keeps its CPU busy for ever.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs TMUX_TMPDIR=$here LC_ALL=C.UTF-8
unset TMUX NO_COLOR
rights_for "signals to runs"
[ "$(id -u)" = 0 ] && [ "$OWN_MOUNTS" = no ] && rights=(--share)

clean_up() {
    tmux kill-server 2>/dev/null
    [ -z "${group:-}" ] || rmdir "$group" 2>/dev/null
    rm -rf "$here"
}
trap clean_up EXIT

# Waits for the run of this name to be published, without any command; leaves its document.
published() {
    until_holds 60 "a published run" eval "cp '$LATLAB_RUNS'/*_$1/run.json '$here/run.json'" ||
        { ls -A "$LATLAB_RUNS"; return 1; }
}

# Waits for a run of this name that goes on, and has measured something.
going_on() {
    local size="\$(cat '$LATLAB_RUNS'/.*_$1.partial/journal | wc -c)" head
    # The journal begins with the machine, in one piece; seconds of measuring come behind it.
    until_holds 60 "a run that has begun" eval "[ $size -gt 20000 ]" || return
    head=$(eval "echo $size")
    until_holds 60 "a run that goes on" eval "[ $size -gt $((head + 30000)) ]"
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

stopped_agent() {
    begin --for 4s --deadline 10s || return 1
    kill -STOP "$agent"
    sleep 1
    kill -CONT "$agent"
    finish
    holds "[f['times'] for f in run['findings'] if f['code'] == 'agent-stopped'] == [1]" &&
        holds "0.5e9 < next(f['length_ns'] for f in run['findings'] if f['code'] == 'agent-stopped') < 3e9" &&
        # What went on meanwhile made no such latency.
        holds "run['verdict']['word'] != 'pass' and not run['own_work']['largest'][0]['own_threads']"
}
try "an agent that was stopped says so, and does not pass" stopped_agent

agent_killed_with_hook() {
    # A time that no other process waits for.
    local mark=$here/hook.pid patience=300.$$
    begin --for 60s --spike-above 1us --on-spike "echo \$\$ >$mark; sleep $patience & sleep $patience; true" || return 1
    until_holds 60 "the command to be started" [ -s "$mark" ] || return 1
    kill -KILL "$agent"
    finish
    until_holds 60 "no process of the command" eval "! pgrep -f '^sleep $patience\$'"
}
try "a spike command and what it has started end with an agent that is killed" agent_killed_with_hook

closed_outputs() {
    "$program" run --for 1s --warm-up 0s --name mute "${rights[@]}" >&- 2>&- <&-
    code=$?
    expect "exit code 0, not $code" [ "$code" = 0 ] && published mute && holds "run['ended'] == 'finished'"
}
try "a run needs neither standard output nor error" closed_outputs

# A load that keeps a measured CPU busy at the highest priority once it measures; $1 are the measured CPUs.
starved() {
    local measured=$1 how=$2 since
    shift 2
    local hog="sleep 0.5; exec chrt -f 99 taskset -c $last sh -c ': ${here##*/}; while :; do :; done'"
    "$program" run --quiet --format json --warm-up 0s "${rights[@]}" --cpus "$measured" --deadline 1s \
        --load "command,run=$hog" "$@" >"$here/run.json" 2>"$here/errors" &
    run=$!
    begun || return 1
    if [ "$how" != time ]; then
        until_holds 30 "a busy CPU" pgrep -f ": ${here##*/};" || return 1
        sleep 2
        kill -"$how" "$(pgrep -P "$run" -f " run " || echo "$run")"
    fi
    since=$SECONDS
    finish
    expect "an end within 20 s" [ $((SECONDS - since)) -lt 20 ] &&
        expect "the load is ended" eval "! pgrep -f ': ${here##*/};'" &&
        holds "'thread-starved' in codes and run['verdict']['word'] in ('fail', 'invalid')" &&
        # Every release that was due until the end is told, most of them as overruns of the starved thread.
        holds "threads[-1]['end']['cycles'] + threads[-1]['end']['missed'] >= min(run['measured_ns'], run['asked']['duration_ns']) / 1e6 - 200" &&
        holds "threads[-1]['end']['missed'] > 1000"
}
read -r first last <<<"$(taskset -cp $$ | sed 's/.*: //; s/,/-/g; s/^\([0-9]*\).*-/\1 /')"
if [ "$(id -u)" = 0 ] && [ "$first" != "${last:=$first}" ] && have "busy CPUs" chrt taskset; then
    try "a run whose CPU a load keeps busy for ever ends in time" starved "$last" time --for 3s
    try "so does one that has no other CPU to end on" starved "$first,$last" time --for 3s
    try "so does one whose waking thread is kept from its CPU" starved "$last" time --for 3s --instrument handoff
    try "Ctrl-C ends it" starved "$last" INT --for 600s
    try "SIGTERM ends it" starved "$first,$last" TERM --for 600s
else
    echo "SKIPPED: runs whose CPU is kept busy: need root and two CPUs"
fi

# A client of labgrid that takes no signal and says nothing, or talks without end.
client() {
    printf '#!/bin/sh\ntrap "" INT TERM\n%s\n' "$1" >"$here/client"
    chmod +x "$here/client"
    LATLAB_LABGRID=$here/client "$program" run --target labgrid:x --for 1s >"$here/out" 2>&1 &
    run=$!
    until_holds 30 "a call of the client" pgrep -f "^/bin/sh $here/client" || return 1
    kill -INT "$(pgrep -P "$run" -f " run " || echo "$run")"
    until_holds 10 "an end within 10 s" has_ended "$run"
    local code=$?
    kill -KILL $(pgrep -f "$here/client")
    return $code
}
try "a labgrid client that hangs does not keep Ctrl-C from ending a run" client "sleep 600"
try "nor does one that talks for ever" client "while :; do echo more; done"

# Terminals

# A run on a terminal that nobody reads, which is full soon.
unread() {
    local end=$1
    shift
    python3 - "$LATLAB_RUNS" "$end" "$program" run --warm-up 0s "${rights[@]}" "$@" <<'PYTHON'
import glob, os, pty, signal, sys, time
runs, end, *command = sys.argv[1:]
name = command[command.index("--name") + 1]
pid, master = pty.fork()
if pid == 0:
    os.execv(command[0], command)
def wait_for(pattern, holds):
    until = time.monotonic() + 60
    while not any(map(holds, glob.glob(f"{runs}/{pattern}"))) and time.monotonic() < until:
        time.sleep(0.1)
wait_for(f".*_{name}.partial/journal", lambda file: os.path.getsize(file) > 20_000)
# Long enough to fill the terminal.
time.sleep(2)
if end == "TERM":
    os.kill(pid, signal.SIGTERM)
# Its terminal is open until the run is published.
wait_for(f"*_{name}/run.json", lambda file: True)
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
        type_in "$program run --quiet --samples --for 4s $flags --name paused" Enter
        going_on paused || return 1
        type_in C-z
        until_holds 60 "a stopped run" eval "tmux capture-pane -t shell -p | grep Stopped" ||
            { tmux capture-pane -t shell -p; tmux kill-session -t shell; return 1; }
        type_in "bg" Enter
        published paused && holds "codes == [] and run['losses'] == dict.fromkeys(run['losses'], 0)"
        code=$?
        tmux kill-session -t shell
        return $code
    }
    try "Ctrl-Z and bg cost nothing" suspended
fi

# Without memory

out_of_memory() {
    local hog
    bash -c 'echo $$ >'"$group"'/cgroup.procs; echo 1000 >/proc/self/oom_score_adj; exec "$@"' _ \
        "$program" run --quiet --warm-up 0s --for 60s --name hungry "${rights[@]}" >"$here/out" 2>"$here/errors" &
    run=$!
    begun || return 1
    echo "$agent" >"$root/cgroup.procs"
    until_holds 60 "an interval in the journal" has_interval hungry || return 1
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
has_interval() {
    python3 -B -c 'import pathlib, sys; sys.path.insert(0, "tests"); import kill
sys.exit(all(kind != kill.INTERVAL for kind, _ in kill.frames(pathlib.Path(sys.argv[1]))))' "$here"/runs/.*_"$1".partial/journal
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

exit $status
