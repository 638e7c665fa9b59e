#!/usr/bin/env bash
# The instrument spin against oslat on the same CPU, with a disturbance of known size: both count its
# gaps, and latlab says that another thread ran. If the kernel has a fair server, the time that it takes
# from a real-time spinner is named.
# Invariant (instruments): spin: each gap is found; intervals follow the clock and never exceed it.
. "$(dirname "$0")/common.bash"

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: spin: a planted real-time thread needs root"
    exit 0
fi
cpus=$(nproc)
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
if [ "$cpus" -lt 2 ]; then
    echo "SKIPPED: spin: needs two CPUs"
    exit 0
fi

# Takes the CPU from the spinning thread for 3 ms every 100 ms.
disturb() {
    chrt -f 95 taskset -c "$cpu" python3 tests/checks.py disturb "$here/disturbed"
}

# Runs a command while another one runs in the background.
beside() {
    "$1" &
    local other=$!
    shift
    "$@"
    local done=$?
    pkill -P "$other" 2>/dev/null
    kill "$other" 2>/dev/null
    wait "$other" 2>/dev/null
    return $done
}

spin() {
    "$program" run --instrument spin --cpus "$cpu" --share --quiet --out "$here/runs" "$@"
}

newest() { echo "$here/runs/$(ls "$here/runs" | tail -n 1)"; }

# Whether an expression holds for the last run and its only thread.
last() {
    holds_in "$(newest)/run.json" '
spun = run["threads"][0]["end"]["spun"]
codes = [finding["code"] for finding in run["findings"]]' "$1"
}

seen_by_latlab() {
    beside disturb spin --for 10s --name planted >/dev/null || return 1
    "$program" show planted --all --out "$here/runs" >"$here/text" || return 1
    expect "gaps of about 3 ms" last 'run["total"]["max_ns"] > 2_900_000' || return 1
    expect "each of them, as of another thread" \
        python3 tests/checks.py disturbed "$here/disturbed" "$(newest)/run.json" || return 1
    expect "its share of the time" last 'run["total"]["noise"]["sum_ns"] / run["total"]["noise"]["of_ns"] > 0.02' ||
        return 1
    expect "the word for it" has_words "$here/text" 'Other threads took' || return 1
    expect "no word of latencies" test "$(sed '/The doctor says/,$d' "$here/text" | grep -ci latenc)" = 0
}

computable() {
    python3 tests/checks.py noise "$(newest)"
}

# oslat has a bucket for each microsecond; the last one holds everything longer.
seen_by_oslat() {
    have "spin against oslat" oslat || return 0
    beside disturb oslat -c "$cpu" -C 0 -D 10 -b 1000 -z >"$here/oslat" || return 1
    local longest
    longest=$(sed -n 's/.*Maximum:[^0-9]*\([0-9]*\).*/\1/p' "$here/oslat")
    expect "oslat to see 3 ms as well" test "${longest:-0}" -ge 2900 || return 1
    local many
    many=$(sed -n 's/.*including overflows.*//; s/^ *1000 (us):[^0-9]*\([0-9]*\).*/\1/p' "$here/oslat")
    echo "oslat: $longest us, $many beyond 999 us"
}

fair_server() {
    beside ordinary spin --policy fifo --priority 1 --for 5s --name fair >"$here/text" || return 1
    expect "what the kernel takes back by its name" last '"reserve-taken" in codes'
}

ordinary() {
    taskset -c "$cpu" sh -c 'while :; do :; done'
}

# Whether the thread has spun for this many ticks since $spun.
spun=0
spins() { [ "$(stat_field "$(thread latlab/0)" 14)" -ge $((spun + $1)) ]; }
is_stopped() { [ "$(stat_field "$(thread latlab/0)" 3)" = T ]; }
# Stops a spinning run for two seconds, longer than a hypervisor ever pauses it, which looks like an interrupt.
stop_once() {
    spin --policy fifo --priority 1 --for 60s --warm-up 100ms --name stopped >"$here/text" 2>"$here/errors" &
    run=$!
    spun=0
    begun && until_holds 60 "a thread that has spun for half a second" spins 50 || return 1
    kill -STOP "$agent"
    # Another of its threads has to see the signal first, which takes long on a busy machine.
    until_holds 60 "the stop" is_stopped || return 1
    sleep 2
    kill -CONT "$agent"
    spun=$(stat_field "$(thread latlab/0)" 14)
    until_holds 60 "a thread that spins again" spins 20
    pkill -INT -P "$run"
    wait "$run"
}
# Stopping the thread counts as taking its CPU, though no other thread runs there; on a busy machine the stop may fall
# in one of its rests, in which nothing is taken from it.
stopped() {
    local tries
    for tries in 1 2 3 4 5; do
        stop_once || return 1
        last 'spun["rested_ns"] < 1_900_000_000' >/dev/null && break
    done
    expect "a gap in which it was off its CPU" \
        last 'spun["preempted"]["max_ns"] > 1_900_000_000' || return 1
    expect "no such gap among the interrupts" \
        last 'spun["interrupted"]["max_ns"] < 1_900_000_000'
}

ends() {
    timeout --signal INT --kill-after 60 4 "$program" run --instrument spin --cpus "$cpu" --share \
        --quiet --out "$here/runs" --name interrupted >"$here/text" 2>&1
    expect "a run that was kept" last 'run["ended"] == "interrupted"'
}

try "a thread that takes 3 ms every 100 ms is found by spin, and told as a thread" seen_by_latlab
try "the noise follows from intervals.parquet" computable
try "oslat finds the same on the same CPU" seen_by_oslat
try "a stopped thread was off its CPU, which is no interrupt" stopped
try "Ctrl-C ends a spinning run and keeps it" ends
kernel=$(uname -r | sed 's/^\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
read -r major minor <<<"$kernel"
if [ "$major" -gt 6 ] || { [ "$major" = 6 ] && [ "$minor" -ge 12 ]; }; then
    try "what the fair server takes from a real-time spinner is named" fair_server
else
    echo "SKIPPED: spin: kernel $major.$minor has no fair server"
fi
exit $status
