# What the tests of ownership share, to be sourced after common.bash: runs that set a kernel file. $name is its sysctl
# name: a harmless file that nothing uses, another one for each script, since they run in parallel.

[ "$(id -u)" = 0 ] && [ "$OWN_MOUNTS" = yes ] || skip "ownership: need root and a mount namespace"
# Restores this machine whatever fails below.
clean_up() {
    "$program" doctor --restore >/dev/null 2>&1
    echo "$first" >"$file"
    kill $(jobs -p) 2>/dev/null
    rm -rf "$here"
}
trap clean_up EXIT

export LATLAB_RUNS=$here/runs TMPDIR=$here/scratch
mkdir "$TMPDIR"
records=/run/latlab
file=/proc/sys/${name//.//}
first=$(cat $file)
one=$((first + 1))
two=$((first + 2))
ordinary=(--policy other --idle-states system --share --quiet --warm-up 0s)

# Processes of the loads of this script.
named_as_load() { pgrep -f "^([^ ]*/)?(sh|setsid|env) .*: ${here##*/};"; }
# Without what a shell forks and has not replaced by its command yet.
of_load() { local first; first=$(named_as_load) && sleep 0.2 && grep -xF "$first" <<<"$(named_as_load)"; }
# Whether all threads of processes have ended. As long as one lives, their locks hold, even if the process
# has no command line any more, or its first thread is a zombie.
all_gone() {
    local pid
    for pid in "$@"; do
        ! cat /proc/"$pid"/task/*/stat 2>/dev/null | grep -qv ') [ZX] ' || return 1
    done
}
# Processes of the program started here, by their command line.
ours() {
    local pid
    for pid in $(pgrep -f "^$program ${1:-}"); do
        grep -qsz "^LATLAB_RUNS=$here/runs$" "/proc/$pid/environ" && echo "$pid"
    done
    return 0
}
value() { cat $file; }
is() { [ "$(value)" = "$1" ]; }
records_are() { [ "$(find $records -name 'undo-*' -o -name 'load-*' | wc -l)" = "$1" ]; }

# Starts a run that sets the file, with the flags in $with and the given words before the command, and
# waits until it measures: ${run_of[NAME]} is the process, ${agent_of[NAME]} its agent.
declare -A run_of agent_of
with=()
start() {
    local which=$1 set=$2
    shift 2
    "$@" "$program" run "${ordinary[@]}" --name "$which" --for 600s --set "$name=$set" "${with[@]}" \
        >"$here/$which" 2>&1 &
    run_of[$which]=$!
    until_holds 60 "a run that measures" measures "$which" || { cat "$here/$which"; return 1; }
    agent_of[$which]=$(agent "$which")
}
agent() { ours "agent .*_$1\$"; }
conductor() { ours "run .*--name $1 "; }
supervisor() { ours "load-supervisor command"; }
measures() { has_cycles "$(agent "$1")"; }

# Stops or kills a run.
stop() {
    kill -INT "$(conductor "$1")"
    wait "${run_of[$1]}"
    local code=$?
    [ $code = 0 ] || { cat "$here/$1"; echo "$1 ended with $code"; return 1; }
}
murder() {
    kill -KILL "$(conductor "$1")" "${agent_of[$1]}"
    wait "${run_of[$1]}" 2>/dev/null
    until_holds 30 "the end of the agent" [ ! -e "/proc/${agent_of[$1]}" ]
}

# Runs one case, and cleans up for the next.
attempt() {
    try "$@"
    {
        kill -KILL $(ours) $(of_load) $(jobs -p)
        wait
    } 2>/dev/null
    echo "$first" >$file
    rm -rf "${records:?}"/* "$here/runs" "${TMPDIR:?}"/*
}

restore() {
    "$program" doctor --restore >"$here/restored" 2>&1
    code=$?
    cat "$here/restored"
}

# Runs a command with a read-only /proc/sys.
read_only() { unshare -m bash -c 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && "$@"' \
    - "$@"; }
