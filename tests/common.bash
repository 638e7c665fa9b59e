# What the scripts of tests/ share; to be sourced first. $program is what is tested, $here the script's
# temporary folder, $status its exit code.
set -u
# The caller may ignore signals, as `nohup` does, which a shell cannot undo by itself.
[ -n "${OWN_MOUNTS:-}" ] ||
    exec env --default-signal "$(dirname "${BASH_SOURCE[0]}")/own_mounts" "$(realpath "$0")" "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
tests=$PWD/tests
program=$(realpath "${LATLAB:-target/debug/latlab}")
export PATH=$PWD/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0

# Runs a command, silently if it succeeds, but prints what it skips. Its output goes to $here/tried, a name
# that no script writes to.
try() {
    local what=$1
    shift
    if "$@" >"$here/tried" 2>&1; then
        echo "ok $what"
    else
        echo "not ok $what"
        tail -n 60 "$here/tried" | sed 's/^/    /'
        status=1
    fi
    grep '^SKIPPED: ' "$here/tried"
}

# Ends the script with a reason.
skip() {
    echo "SKIPPED: $*"
    exit 0
}

# Whether programs exist, and Python packages as `python:NAME`: have WHAT NEED...
# tests/as_tap knows this message: in continuous integration nothing may be skipped that
# scripts/setup.sh installs.
have() {
    local what=$1 need
    shift
    for need; do
        case $need in
            python:*) python3 -c "import ${need#python:}" 2>/dev/null ;;
            /*) [ -e "$need" ] ;;
            *) command -v "$need" >/dev/null ;;
        esac || { echo "SKIPPED: $what: $need is missing (scripts/setup.sh installs it)"; return 1; }
    done
}

# Prints what is not as it should be, and fails.
expect() {
    local what=$1
    shift
    "$@" || { echo "expected: $what"; return 1; }
}

# Whether a text has these words, wherever its lines break: has_words FILE PATTERN.
has_words() { tr -s '[:space:]' ' ' <"$1" | grep -q -- "$2"; }

# Waits until a command succeeds, trying every tenth of a second: until_holds SECONDS WHAT COMMAND...
# The seconds are patience for a busy machine, never an assertion.
until_holds() {
    local what=$2 end=$((SECONDS + $1))
    shift 2
    type "$1" >/dev/null || return
    until "$@" 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ] || { echo "expected in time: $what"; return 1; }
        sleep 0.1
    done
}

# Whether a process that this script has started is gone: has_ended ID.
has_ended() { ! kill -0 "$1" 2>/dev/null; }

# A free port.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# The id of a run, from its document or from the output of `run --detach`: id_of FILE.
id_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["id"])' "$1"; }

# The folder of the first run in a document with runs: path_of FILE.
path_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["runs"][0]["path"])' "$1"; }

# Starts a run in the background with $rights, and waits until it measures: $run is its conductor,
# $agent its agent. On a busy machine a short run may end before it is seen: then try again.
begin() {
    local tries
    for tries in 1 2 3; do
        "$program" run --quiet --format json --warm-up 0s "${rights[@]}" "$@" >"$here/run.json" 2>"$here/errors" &
        run=$!
        begun && return
        has_ended "$run" || return 1
    done
    return 1
}
begun() { until_holds 60 "a run that measures" begun_or_ended && ! has_ended "$run" ||
    { cat "$here/errors"; return 1; }; }
begun_or_ended() { begun_now || has_ended "$run"; }
begun_now() {
    # A function in the background is a shell, whose child is the conductor.
    agent=$(pgrep -P "$run" -f ' agent ' || pgrep -P "$(pgrep -P "$run" | head -n 1)" -f ' agent ') &&
        has_cycles "$agent"
}
# Whether a measuring thread of an agent has done some cycles, or spins: a thread that exists may not have begun.
has_cycles() {
    local thread times
    thread=$(grep -ls ^latlab/ /proc/"$1"/task/*/comm | head -n 1 | cut -d/ -f5)
    times=$(slept "$thread" 2>/dev/null)
    [ "${times:-0}" -ge 8 ] || [ "$(stat_field "$thread" 14 2>/dev/null)" -ge 10 ] 2>/dev/null
}

# Whether journals together have at least this many frames of counts: has_counts NUMBER JOURNAL...
has_counts() { python3 "$tests/checks.py" has_counts "$@"; }

# The id of an agent's thread, by its name.
thread() { (cd "/proc/$agent/task" && grep -lx "$1" */comm | cut -d/ -f1); }
# How often a thread has slept: slept ID.
slept() { sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/status"; }
has_slept() { [ "$(slept "$1")" -ge "$2" ]; }
# Waits until the run has measured this many more cycles, in each of which its first thread sleeps once.
more_cycles() {
    local first
    first=$(thread latlab/0) &&
        until_holds 60 "$1 more cycles" has_slept "$first" $(($(slept "$first") + $1))
}
# A field of the statistics of a process or thread, numbered as in proc(5): stat_field ID NUMBER.
stat_field() { awk -v field="$2" '{ sub(/.*\) /, ""); print $(field - 2) }' "/proc/$1/stat"; }

# Waits for the background run $run; $code is its exit code.
finish() {
    wait "$run"
    code=$?
    cat "$here/errors"
}

# Ends the background run, whose length is more than any machine needs to get here, and waits for it.
end_run() {
    kill -TERM "$run"
    finish
}

# Waits until the run of this name is published, without running latlab; leaves its document.
published() {
    until_holds 60 "a published run" eval "cp '$LATLAB_RUNS'/*_$1/run.json '$here/run.json'" ||
        { ls -A "$LATLAB_RUNS"; return 1; }
}

# Whether a Python expression holds for the JSON document in a file, which is `run` there. The second
# argument is Python that defines names for its parts.
holds_in() { python3 "$tests/holds.py" "$@"; }

# The same for a run, by default $here/run.json, with its threads and the codes of its findings, except
# those that depend on the machine.
holds() {
    holds_in "${2:-$here/run.json}" "
threads = run['threads']
its_own = '''page-faults throttled frequency-changed temperature-drift steal swapped competing-thread
    load-changed other-work memory-taken smi kernel-event telemetry-cost telemetry-gap telemetry-lost frequent-overruns
    own-threads-in-largest early-maximum'''.split()
codes = [one['code'] for one in run['findings'] if one['code'] not in its_own]" "$1"
}

# Flags for a run without rights, if this user has none; prints what that leaves untested.
rights_for() {
    rights=()
    if [ "$(id -u)" != 0 ]; then
        echo "SKIPPED: $1 with real-time priority: needs root"
        rights=(--policy other --idle-states system)
    fi
}

# Makes runs of one name: readings NAME RUNS MICROSECONDS PERCENT. Runs differ from each other by this
# share, each with another tail.
readings() {
    local run
    for ((run = 0; run < $2; run++)); do
        awk -v run="$run" -v scale="$3" -v varies="$4" 'BEGIN {
            scale *= 1 + varies / 100 * ((run * 7) % 5 - 2) / 2
            for (at = 0; at < 5000; at++)
                printf "%d\t%.9f\n", at + 1, scale * (1 - 0.3 * log(1 - (at + 0.5) / 5000)) / 1e6
        }' >"$here/list.txt"
        "$program" respond --from "$here/list.txt" --unit s --deadline 1ms --name "$1" \
            --out "${LATLAB_RUNS:-$here/runs}" --format json >"$here/said.json" 2>"$here/errors" ||
            { cat "$here/errors"; return 1; }
    done
}
