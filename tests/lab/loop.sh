#!/usr/bin/env bash
# The measuring loop: no page faults, and the largest latencies are complete.
# Invariant (loop): A cycle takes at most 80 user instructions, one system call and no page fault.
. "$(dirname "$0")/../common.bash"

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: page faults of cycles: real-time priority and locked memory need root"
    exit 0
fi

# Makes a run, and leaves its JSON in $here/NAME.json.
run() {
    local name=$1
    shift
    "$program" run --quiet --format json --out "$here/runs" --name "$name" "$@" >"$here/$name.json"
}

# Runs Python with `run`, the document of a run, and further arguments.
judge() {
    local name=$1 code=$2
    shift 2
    python3 -c "import json, sys; run = json.load(open(sys.argv[1])); $code" "$here/$name.json" "$@"
}

# Page faults, in normal runs on all CPUs

no_page_faults() {
    local name=$1
    shift
    run "$name" --for 1s "$@" && judge "$name" '
assert run["threads"] and all(thread["summary"]["cycles"] for thread in run["threads"]), "no cycles"
faults = [thread["end"]["page_faults"] for thread in run["threads"]]
assert not any(faults), f"page faults of each thread: {faults}"'
}

for mechanism in nanosleep relative timerfd posix-timer; do
    for missed in skip catch-up; do
        # A relative sleep has no releases to catch up with.
        [ "$mechanism $missed" != "relative catch-up" ] || continue
        try "$mechanism, $missed: no page fault after the warm-up" \
            no_page_faults "$mechanism-$missed" --mechanism "$mechanism" --overruns "$missed"
    done
done

# The largest latencies

if have "the table of the largest latencies" python:pyarrow; then
    # The cycles are either too many for the table, or all in it.
    spikes() {
        local cycles=$1
        run "spikes-$cycles" --cycles "$cycles" --period 200us && judge "spikes-$cycles" '
import pathlib, pyarrow.parquet
folder = pathlib.Path(sys.argv[2]) / run["id"]
table = pyarrow.parquet.read_table(folder / "spikes.parquet").to_pylist()
for thread in run["threads"]:
    number, summary = thread["setup"]["thread"], thread["summary"]
    rows = [row for row in table if row["thread"] == number]
    latencies = [row["latency_ns"] for row in rows]
    print("thread", number, "spikes", len(rows), "cycles", summary["cycles"],
          "lost", thread["end"]["spikes_lost"])
    assert summary["cycles"] == int(sys.argv[3]), "not as many cycles as asked for"
    assert len(rows) == min(4096, summary["cycles"]), "not as many spikes as there can be"
    assert max(latencies) == summary["max_ns"], [max(latencies), summary["max_ns"]]
    assert len({row["release_ns"] for row in rows}) == len(rows), "a release twice"
    # If all cycles of a thread are here, its mean is known as well.
    if len(rows) == summary["cycles"]:
        assert sum(latencies) / len(rows) == summary["mean_ns"], "another mean"
        assert min(latencies) == summary["min_ns"], "another minimum"' "$here/runs" "$cycles"
    }
    try "of 6000 cycles the 4096 largest are kept, with the observed maximum" spikes 6000
    try "of 1000 cycles all are kept" spikes 1000
fi

exit $status
