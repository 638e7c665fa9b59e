#!/usr/bin/env bash
# Loads that keep measured CPUs busy for ever, at a higher priority than all other threads.
# Invariant (kills): A run ends in time, and whenever it is asked to, though a load keeps its CPU busy for ever.
. "$(dirname "$0")/../common.bash"
export LATLAB_RUNS=$here/runs
rights_for "runs whose CPU is kept busy"
[ "$(id -u)" = 0 ] && [ "$OWN_MOUNTS" = no ] && rights=(--share)

# A load that keeps a measured CPU busy at the highest priority once it measures; $1 are the measured CPUs.
starved() {
    local measured=$1 how=$2
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
    # Unless latlab ends it, this run never ends.
    until_holds 120 "an end" has_ended "$run" || return 1
    finish
    expect "the load is ended" eval "! pgrep -f ': ${here##*/};'" &&
        holds "'thread-starved' in codes and run['verdict']['word'] in ('fail', 'invalid')" &&
        # Every release until the end is counted, most of them as overruns of the starved thread.
        holds "threads[-1]['end']['cycles'] + threads[-1]['end']['overruns']
            >= min(run['measured_ns'], run['asked']['until']['duration_ns']) / 1e6 - 200" &&
        holds "threads[-1]['end']['overruns'] > 1000"
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

exit $status
