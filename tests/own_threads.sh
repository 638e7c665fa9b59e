#!/usr/bin/env bash
# latlab's own threads stay off the measured CPUs if there are others, and a run proves it; if there are
# none, telemetry reads long files only before and after the run, and losses are reported.
# Invariant (conditions): A run says which of its largest latencies lie in the work of latlab's own threads.
. "$(dirname "$0")/common.bash"

have "latlab's own threads" python3 || exit 0
rights_for "latlab's own threads"
cpus=($(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))'))

# Makes a run and checks its document: looked NAME PYTHON OPTION...
looked() {
    local name=$1 asserted=$2
    shift 2
    "$program" run "${rights[@]}" --for 2s --warm-up 200ms --quiet --name "$name" --out "$here/runs" "$@" \
        >"$here/$name.txt" 2>&1 && "$program" show --all --out "$here/runs" "$name" >>"$here/$name.txt" 2>&1 ||
        { cat "$here/$name.txt"; return 1; }
    python3 tests/checks.py own_threads "$here"/runs/*_"$name"/run.json "$asserted"
}

# The number of an agent's threads with FIFO priority 1, which drainer, stream and telemetry need. Each sets
# it when it starts, so keep counting until the run ends.
raised() {
    local expected=$1 found most=0
    shift
    begin --for 2s --out "$here/raised" "$@" || return 1
    until has_ended "$run"; do
        found=$(for task in /proc/"$agent"/task/*; do chrt -p "${task##*/}" 2>&1 | tr '\n' ' '; echo; done |
            grep -c "SCHED_FIFO.*priority: 1 *$")
        [ "$found" -le "$most" ] || most=$found
    done
    finish
    expect "$expected threads with FIFO priority 1, not $most" [ "$most" = "$expected" ]
}

if [ ${#cpus[@]} -ge 2 ]; then
    try "where a CPU is left, no own thread ran on a measured one" looked apart \
        'ran == 0 and affected == 0 and run["conditions"]["at_ends_only"] == []
            and all(one["allowed"] == run["applied"]["helpers_on"] for one in work["threads"])' \
        --cpus "${cpus[-1]}" --helpers-on "${cpus[0]}"
    try "the result says that they were elsewhere" \
        grep -q "none of it on measured CPUs; none of the 20 largest" "$here/apart.txt"
else
    echo "SKIPPED: own threads on CPUs of their own: one CPU"
fi
try "where every CPU is measured, long files are read at the ends of the run" looked gentle \
    'ran > 0 and "telemetry" in kinds and run["conditions"]["at_ends_only"] == ["interrupts", "pages", "softirqs"]'
if [ "$(id -u)" = 0 ]; then
    try "there drainer, stream and telemetry are above all ordinary programs" raised 3
    try "and not with ordinary measuring threads" raised 0 --policy other
else
    echo "SKIPPED: the priority of own threads: needs root"
fi
try "and without releases between which there is time, all that holds a CPU for more than 5 us" looked relative \
    '{"cpu_time", "interrupts", "memory", "tasks", "thread_cpu_time"} <= set(run["conditions"]["at_ends_only"])' \
    --mechanism relative
try "and the result names the option that reads them each time" grep -q -- "--telemetry full" "$here/gentle.txt"
try "with --telemetry full they are read each time" looked full \
    'run["conditions"]["at_ends_only"] == []' --telemetry full,500ms
try "the command that repeats it says so" grep -q -- "--telemetry full,500ms" "$here/full.txt"
try "without telemetry there is none" looked off '"telemetry" not in kinds' --telemetry off
exit $status
