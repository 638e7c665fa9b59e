# What the tests of loads share, to be sourced after common.bash.
export LATLAB_RUNS=$here/runs
# --share: a second run on the same CPUs is no problem here.
ordinary=(--policy other --idle-states system --share --quiet --warm-up 200ms)
rights=(--policy other --idle-states system --share)

have loads hackbench stressapptest stress-ng || exit 0

# Makes a run with these flags, to $here/run.json; returns its exit code.
measure() { "$program" run "${ordinary[@]}" --format json "$@" >"$here/run.json" 2>"$here/errors"; }

# Whether an expression holds for `run`, the last one.
holds() {
    holds_in "$here/run.json" '
codes = [finding["code"] for finding in run["findings"]]
loads = run["loads"]' "$1"
}

# Whether other work leaves a load less CPU time than its definition requires.
crowded() { awk -v cpus="$(nproc)" '{ exit !($1 > 3 * cpus) }' /proc/loadavg; }
too_crowded() {
    crowded && echo "SKIPPED: $1: the load average is $(cut -d' ' -f1 /proc/loadavg) on $(nproc) CPUs"
}

# Only this script's scratch folders.
export TMPDIR=$here/scratch
mkdir "$TMPDIR"

# The supervisors and the processes they started: by their folder, which few leave, or by a mark and
# kernel objects of the load.
export LATLAB_TEST_MARK=$here
ours() {
    python3 tests/lab/loads.py ours "$here" "${1:-}"
}

none_of_ours() { [ -z "$(ours)" ]; }
nothing_left() {
    until_holds 60 "nothing of the load is left" none_of_ours && return
    for pid in $(ours); do tr '\0' ' ' <"/proc/$pid/cmdline"; done
    return 1
}

# Whether a process of a load with these words exists.
some_of_ours() { [ -n "$(ours "$1")" ]; }
wait_for() { until_holds 60 "a process with '$1'" some_of_ours "$1"; }
mkdir "$here/own"
