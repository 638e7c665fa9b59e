"""Checks of responders in guests."""

import glob
import json
import sys


def holds(here, expression):
    """That an expression holds for the runs in a folder, which are available by name."""
    runs = {}
    for file in glob.glob(f"{here}/*.json"):
        for run in json.load(open(file))["runs"]:
            runs[run["name"]] = run
    median = lambda name: runs[name]["responses"]["figures"]["median_ns"]
    maximum = lambda name: runs[name]["responses"]["figures"]["max_ns"]
    missing = lambda name: runs[name]["responses"]["missing"]
    cpu = lambda name: sum(runs[name]["responses"]["cpu"].values())
    if not eval(f"({expression})", locals()):
        told = {name: (one["responses"]["figures"], one["responses"]["missing"]) for name, one in runs.items()}
        sys.exit(f"not so: {expression}\n{json.dumps(told, indent=1)}")


def median_ns(document):
    """Prints the median of the only run in a document."""
    print(json.load(open(document))["runs"][0]["responses"]["figures"]["median_ns"])


def parts_add_up(here, *names):
    """That the parts of an answer over a wire add up to the whole for every edge."""
    import pyarrow.parquet
    for name in names:
        [folder] = glob.glob(f"{here}/runs/*_{name}")
        read = lambda table: pyarrow.parquet.read_table(f"{folder}/{table}.parquet").to_pylist()
        run, spikes = json.load(open(f"{folder}/run.json")), read("spikes")
        whole = {row["release_ns"]: row["latency_ns"] for row in read("samples")}
        assert len(spikes) == len(whole) == 150, f"{len(spikes)} edges with breakdown, {len(whole)} samples"
        sums = {"event": 0, "wake-up": 0, "answer": 0}
        for row in spikes:
            breakdown = [row["irq_ns"], row["thread_ns"] - row["irq_ns"], row["latency_ns"] - row["thread_ns"]]
            assert all(part > 0 for part in breakdown) and sum(breakdown) == whole[row["release_ns"]], row
            sums = dict(zip(sums, (known + part for known, part in zip(sums.values(), breakdown))))
        [breakdown] = run["breakdown"]["threads"]
        for part, key in (("event", "irq"), ("wake-up", "wake_up"), ("answer", "answer")):
            figures = breakdown[key]
            assert figures["count"] == 150, (part, breakdown)
            assert figures["min_ns"] * 150 <= sums[part] <= figures["max_ns"] * 150, (part, breakdown)


def breakdown_after_a_kill(folder):
    """That a killed run of a wire has the parts of every answer that it counts."""
    import pyarrow.parquet
    read = lambda table: pyarrow.parquet.read_table(f"{folder}/{table}.parquet").to_pylist()
    run = json.load(open(f"{folder}/run.json"))
    whole = {row["release_ns"]: row["latency_ns"] for row in read("samples")}
    with_breakdown = [row for row in read("spikes") if row["irq_ns"] is not None]
    assert run["recovered"] and run["total"]["cycles"] >= 100, run["total"]
    assert run["verdict"]["word"] != "pass", run["verdict"]
    [breakdown] = run["breakdown"]["threads"]
    assert breakdown["tally"]["known"] >= run["total"]["cycles"], (breakdown, run["total"]["cycles"])
    assert len(with_breakdown) >= 0.9 * len(read("spikes")) > 0
    for row in with_breakdown:
        parts = [row["irq_ns"], row["thread_ns"] - row["irq_ns"], row["latency_ns"] - row["thread_ns"]]
        assert all(part > 0 for part in parts) and sum(parts) == whole.get(row["release_ns"], row["latency_ns"]), row


def wake_up_and_answer(folder):
    """That the parts after the event are those of virtual time."""
    [breakdown] = json.load(open(f"{folder}/run.json"))["breakdown"]["threads"]
    for part in "irq", "wake_up", "answer":
        print(part, breakdown[part]["min_ns"], breakdown[part]["max_ns"])
    assert breakdown["wake_up"]["min_ns"] > 1_000 and breakdown["answer"]["max_ns"] < 100_000, breakdown


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
