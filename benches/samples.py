#!/usr/bin/env python3
"""Measures with --samples for a long time, watches the agent's memory, and counts what is in the folder.

usage: benches/samples.py [--seconds 600] [--period 50us] [--kill [SEED]] [--out DIR] [--page FILE]

--kill ends agent and conductor by SIGKILL at a random instant of the second half, and lets the next
command finish the run. The exit code is 1 if samples are missing, memory grows by more than
256 kB after the first tenth of the time, or a sample takes two bytes or more and a quarter more
than the entropy of its latencies: on a busy machine, where these spread, both grow.
"""

import argparse
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import pyarrow.parquet

ROOT = Path(__file__).resolve().parent.parent
LATLAB = Path(os.environ.get("LATLAB", ROOT / "target/latlab"))
SETTLED = 8
KINDS = {5: "intervals", 6: "spikes", 12: "samples"}


def agent_of(conductor: int) -> int:
    """The process that measures; a busy machine may start it late."""
    for _ in range(1200):
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                if f"\nPPid:\t{conductor}\n" in status.read_text():
                    return int(status.parent.name)
            except OSError:
                pass
        time.sleep(0.05)
    sys.exit("the agent did not start")


def resident_kb(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def watch(run: subprocess.Popen, agent: int, seconds: int, kill_after: float | None) -> dict:
    """Reads the memory sixty times, until the run has ended or must be killed."""
    began, memory, killed = time.monotonic(), [], None
    while run.poll() is None:
        elapsed = time.monotonic() - began
        if kill_after is not None and elapsed >= kill_after:
            killed = time.monotonic_ns()
            os.kill(agent, signal.SIGKILL)
            run.kill()
            run.wait()
            break
        if len(memory) < elapsed * 60 / seconds:
            try:
                memory.append((round(elapsed, 1), resident_kb(agent), resident_kb(run.pid)))
            except OSError:
                pass
        time.sleep(0.01)
    return {"memory": memory, "killed_at_ns": killed}


def journal_bytes(journal: Path) -> dict:
    """Bytes of the frames of each kind."""
    sizes = dict.fromkeys([*KINDS.values(), "other"], 0)
    with journal.open("rb") as file:
        while len(header := file.read(12)) == 12:
            length, kind = int.from_bytes(header[:4], "little"), int.from_bytes(header[4:8], "little")
            sizes[KINDS.get(kind, "other")] += 12 + length
            file.seek(length, os.SEEK_CUR)
    return sizes


def count(folder: Path, run: dict) -> dict:
    """Reads samples.parquet group by group, and recomputes the figures of each thread."""
    table = pyarrow.parquet.ParquetFile(folder / "samples.parquet")
    threads = {}
    for group in range(table.num_row_groups):
        rows = table.read_row_group(group, columns=["thread", "release_ns", "latency_ns"])
        number = rows["thread"][0].as_py()
        latency, release = rows["latency_ns"].to_numpy(), rows["release_ns"].to_numpy()
        seen = threads.setdefault(number, {
            "rows": 0, "sum": 0, "min": None, "max": None, "last_release_ns": 0, "values": {}, "exact": {}, "gaps": {},
        })
        assert (numpy.diff(release) > 0).all() and release[0] > seen["last_release_ns"], "order"
        seen["rows"] += len(latency)
        seen["sum"] += int(latency.sum())
        low, high = int(latency.min()), int(latency.max())
        seen["min"] = low if seen["min"] is None else min(low, seen["min"])
        seen["max"] = high if seen["max"] is None else max(high, seen["max"])
        seen["last_release_ns"] = int(release[-1])
        # Overruns make the distances of releases differ.
        for what, values in (("exact", latency), ("gaps", numpy.diff(release))):
            for value, times in zip(*(part.tolist() for part in numpy.unique(values, return_counts=True))):
                seen[what][value] = seen[what].get(value, 0) + times
        # Quantiles are known to a bin of 100 ns below 1 ms.
        bins, counts = numpy.unique(numpy.minimum(latency, 1_000_000) // 100, return_counts=True)
        for bin_, times in zip(bins.tolist(), counts.tolist()):
            seen["values"][bin_] = seen["values"].get(bin_, 0) + times
    return threads


def quantile(values: dict, rows: int, share: float) -> int | None:
    """Upper edge of the bin of the nearest rank; None beyond the fine bins."""
    rank, total = -(-rows * share // 1), 0
    for bin_ in sorted(values):
        total += values[bin_]
        if total >= rank:
            return bin_ * 100 + 99 if bin_ < 10_000 else None
    return None


def entropy_bytes(counted: dict) -> float:
    """The entropy of a latency and of the distance to the release before it: no encoding is smaller on average."""
    bits = 0.0
    for thread in counted.values():
        for what in ("exact", "gaps"):
            counts = numpy.array(list(thread[what].values()), dtype=float)
            bits -= (counts * numpy.log2(counts / counts.sum())).sum()
    return bits / sum(thread["rows"] for thread in counted.values()) / 8


def compare(run: dict, counted: dict) -> list[str]:
    """The differences between run.json and the samples; a killed run may have a few more samples."""
    wrong = []
    for thread in run["threads"]:
        number, summary = thread["setup"]["thread"], thread["summary"]
        seen = counted[number]
        if not thread["end"]:
            continue
        mean = seen["sum"] / seen["rows"]
        pairs = {
            "rows": (seen["rows"], summary["cycles"]),
            "minimum": (seen["min"], summary["min_ns"]),
            "maximum": (seen["max"], summary["max_ns"]),
            "mean": (mean, summary["mean_ns"]),
        }
        for name, share in [("p50_ns", 0.5), ("p99_ns", 0.99), ("p99_9_ns", 0.999)]:
            value = quantile(seen["values"], seen["rows"], share)
            if value is not None:
                pairs[name] = (min(value, seen["max"]), summary["quantiles"][name])
        wrong += [f"thread {number}: {what} {left} is not {right}"
                  for what, (left, right) in pairs.items() if left != right]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--period", default="50us")
    parser.add_argument("--kill", nargs="?", type=int, const=1, metavar="SEED")
    parser.add_argument("--flags", default="", help="further flags of latlab run")
    parser.add_argument("--out", type=Path, default=None, help="keep the run in this folder")
    parser.add_argument("--page", type=Path, help="write the figures into this JSON file")
    args = parser.parse_args()
    temporary = tempfile.TemporaryDirectory()
    runs = args.out or Path(temporary.name)
    command = (f"latlab run --samples --period {args.period} --for {args.seconds}s --quiet "
               f"--format json --name samples {args.flags}").strip()
    words = [str(LATLAB), *shlex.split(command)[1:], "--out", str(runs)]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    kill_after = None
    if args.kill is not None:
        kill_after = random.Random(args.kill).uniform(args.seconds / 2, args.seconds)
    seen = watch(run, agent_of(run.pid), args.seconds, kill_after)
    journals = list(runs.glob(".*.partial/journal"))
    figures = {"command": command, "kill_after_s": kill_after, **seen}
    if journals:
        figures["journal"] = journal_bytes(journals[0])
    began = time.monotonic()
    listed = subprocess.run([LATLAB, "list", "--out", runs], capture_output=True, text=True)
    figures["finished_in_s"] = round(time.monotonic() - began, 2) if journals else None
    figures["said"] = listed.stderr.strip().replace(str(runs), "RUNS")
    folder = max(runs.glob("*_samples"))
    document = json.loads((folder / "run.json").read_text())
    counted = count(folder, document)
    rows = sum(one["rows"] for one in counted.values())
    size = (folder / "samples.parquet").stat().st_size
    ends = [one["last_release_ns"] for one in counted.values()]
    figures |= {
        "rows": rows,
        "cycles": document["total"]["cycles"],
        "losses": document["losses"],
        "table_bytes_per_sample": size / rows,
        "entropy_bytes_per_sample": entropy_bytes(counted),
        "journal_bytes_per_sample":
            figures["journal"]["samples"] / rows if journals else None,
        "findings": document["findings"],
        "lost_s": (seen["killed_at_ns"] - min(ends)) / 1e9 if seen["killed_at_ns"] else 0,
    }
    wrong = compare(document, counted)
    # During the first seconds the list of the largest latencies fills up.
    settled = max(args.seconds / 10, SETTLED)
    memory = [kb for elapsed, kb, _ in seen["memory"] if elapsed >= settled] or [0]
    figures["memory_grown_kb"] = memory[-1] - memory[0]
    if memory[-1] - memory[0] > 256:
        wrong.append(f"the agent grew from {memory[0]} to {memory[-1]} kB")
    losses = {what: count for what, count in document["losses"].items() if count}
    told = sum(finding["count"] for finding in document["findings"] if finding["code"] == "spikes-lost")
    if told != document["losses"]["spikes"]:
        wrong.append(f"{told} lost spikes were told of {document['losses']['spikes']}")
    # A slow or busy machine causes more spikes than there is room for; the samples have them all.
    losses.pop("spikes", None)
    if losses:
        wrong.append(f"losses: {losses}")
    if figures["table_bytes_per_sample"] >= max(2, figures["entropy_bytes_per_sample"] * 1.25):
        wrong.append(f"{figures['table_bytes_per_sample']:.3f} bytes a sample")
    if figures["lost_s"] > 1:
        wrong.append(f"{figures['lost_s']:.3f} s were lost")
    figures["wrong"] = wrong
    text = json.dumps(figures, indent=1)
    print(text)
    if args.page:
        args.page.write_text(text + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
