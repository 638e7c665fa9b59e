#!/usr/bin/env python3
"""Measures how fast recordings are read, compared with wc -l and pandas, and the memory of each.

usage: benches/imports.py [--megabytes 1000] [--bins 1000000] [--threads 128] [--repeats 3] [--out DIR]

A log of cyclictest -v and a histogram are generated. The exit code is 1 if reading the log takes more
than three times the time of wc -l or a tenth of that of pandas, or 64 MB or more, or if the
histogram takes 2 s or more. CPU time is measured as well, which other programs affect less. With
--out the figures are written there as imports.json.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LATLAB = Path(os.environ.get("LATLAB", ROOT / "target/latlab"))
PANDAS = """import pandas, sys
frame = pandas.read_csv(sys.argv[1], sep=":", comment="#", skiprows=6, header=None,
    names=["thread", "cycle", "latency"])
print(frame.groupby("thread")["latency"].agg(["count", "min", "mean", "max"]))"""


def write_log(path: Path, megabytes: int) -> None:
    """Four threads with latencies of 2 to 60 us, as cyclictest -v prints them."""
    generator = random.Random(1)
    head = "Max CPUs = 4\nOnline CPUs = 4\n# /dev/cpu_dma_latency set to 0us\n"
    head += "".join(f"Thread {number} Interval: {1000 + 500 * (number + 1)}\n" for number in range(3))
    with path.open("w") as file:
        file.write(head)
        cycle = 0
        while file.tell() < megabytes * 1_000_000:
            block = []
            for _ in range(25_000):
                for thread in range(4):
                    latency = int(2 + 58 * generator.random() ** 6)
                    block.append(f"{thread:8d}:{cycle:8d}:{latency:8d}\n")
                cycle += 1
            file.write("".join(block))


def write_histogram(path: Path, bins: int, threads: int) -> None:
    """Mostly zeros, like the histogram of a second."""
    zeros = "\t".join(["000000"] * threads)
    with path.open("w") as file:
        file.write("# Histogram\n")
        for number in range(bins):
            row = zeros if number % 1000 > 20 else "\t".join(["000007"] * threads)
            file.write(f"{number:06d} {row}\n")
        file.write("# Histogram Overflows: " + " ".join(["00000"] * threads) + "\n")


def measure(command: list[str], repeats: int, written: Path | None = None) -> dict:
    """Seconds and CPU seconds of a command, medians of several runs, and its largest memory. Its output is
    removed each time: copies of a large log fill a disk."""
    seconds, cpu, memory = [], [], 0
    for _ in range(repeats):
        if written:
            shutil.rmtree(written, ignore_errors=True)
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.execvp(command[0], command)
        _, status, usage = os.wait4(child, 0)
        seconds.append(time.monotonic() - began)
        cpu.append(usage.ru_utime + usage.ru_stime)
        memory = max(memory, usage.ru_maxrss)
        if status:
            sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return {
        "seconds": round(statistics.median(seconds), 3),
        "cpu_seconds": round(statistics.median(cpu), 3),
        "memory_mb": round(memory / 1024, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--bins", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    program, figures, broken = str(LATLAB), {}, []
    with tempfile.TemporaryDirectory() as folder:
        log, histogram = Path(folder) / "log.txt", Path(folder) / "histogram.txt"
        write_log(log, asked.megabytes)
        figures["log_mb"] = round(log.stat().st_size / 1e6)
        commands = {
            "wc": ["wc", "-l", str(log)],
            "latlab import --look": [program, "import", str(log), "--look"],
            "latlab import": [program, "import", str(log), "--out", f"{folder}/runs"],
            "pandas": [sys.executable, "-c", PANDAS, str(log)],
        }
        for name, command in commands.items():
            figures[name] = measure(command, asked.repeats, Path(folder) / "runs")
            print(f"{name}: {figures[name]}", flush=True)
        shutil.rmtree(Path(folder) / "runs", ignore_errors=True)
        log.unlink()
        write_histogram(histogram, asked.bins, asked.threads)
        figures["histogram_mb"] = round(histogram.stat().st_size / 1e6)
        command = [program, "import", str(histogram), "--look"]
        figures["histogram"] = measure(command, asked.repeats)
        print(f"histogram: {figures['histogram']}", flush=True)
    read = figures["latlab import --look"]
    for kept, what in [
        (read["seconds"] <= 3 * figures["wc"]["seconds"], "three times wc -l"),
        (read["seconds"] <= figures["pandas"]["seconds"] / 10, "a tenth of pandas"),
        (read["memory_mb"] < 64, "64 MB"),
        (figures["histogram"]["seconds"] < 2, "2 s for the histogram"),
    ]:
        if not kept:
            broken.append(f"limit: {what}")
    print("\n".join(broken) or "all limits are kept")
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "imports.json").write_text(json.dumps(figures, indent=2) + "\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
