#!/usr/bin/env python3
"""How soon `latlab cyclictest` measures, and in how much memory, compared with cyclictest.

usage: benches/startup.py [--repeats N] [--latlab PROGRAM]
Both are started in turns with -m -S. The kernel's trace says when the
program began (sched_process_exec) and when one of its measuring threads first started the timer of
a sleep (hrtimer_start). The exit code is 1 if latlab is later or larger.
"""
# Invariant (command line): latlab cyclictest starts earlier, and in less memory, than cyclictest.

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools import LATLAB

TRACE = Path("/sys/kernel/tracing/instances/latlab-startup")
EVENTS = ("sched/sched_process_exec", "sched/sched_process_fork", "timer/hrtimer_start")
LINE = re.compile(r"^ *(?P<comm>.+)-(?P<tid>\d+) +\[\d+\] \S+ +(?P<at>\d+\.\d+): (?P<event>\w+): ")
OPTIONS = ["-m", "-S", "-p90", "-q"]


def first_timer(line: list[str], measures: str) -> float:
    """Milliseconds from the start of the program to the first timer of a measuring thread."""
    (TRACE / "trace").write_text("")
    (TRACE / "tracing_on").write_text("1")
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.wait()
    (TRACE / "tracing_on").write_text("0")
    began, own = None, {process.pid}
    for text in (TRACE / "trace").read_text().splitlines():
        if not (found := LINE.match(text)) or int(found["tid"]) not in own:
            continue
        tid, event = int(found["tid"]), found["event"]
        # Other timers are the scheduler's; this one wakes a sleeping thread.
        sleeps = "function=hrtimer_wakeup" in text and found["comm"].strip().startswith(measures)
        if event == "sched_process_exec":
            began = float(found["at"])
        elif event == "sched_process_fork":
            own.add(int(re.search(r"child_pid=(\d+)", text)[1]))
        elif began and tid != process.pid and sleeps:
            return (float(found["at"]) - began) * 1e3
    raise RuntimeError(f"{line[0]} started no timer")


def memory(line: list[str]) -> int:
    """The largest resident memory of the program in kB, read until it has ended."""
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        except OSError:
            break
        peak = max(peak, int(found[1])) if found else peak
        time.sleep(0.002)
    process.wait()
    return peak


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--latlab", default=str(LATLAB))
    options = parser.parse_args()
    if os.geteuid() != 0 or not TRACE.parent.is_dir():
        print("SKIPPED: the start of a run: it needs root and tracefs", file=sys.stderr)
        return 3
    folder = tempfile.TemporaryDirectory()
    os.environ["LATLAB_RUNS"] = folder.name
    tools = {
        "cyclictest": (["cyclictest"], "cyclictest"),
        "latlab cyclictest": ([os.path.realpath(options.latlab), "cyclictest"], "latlab/"),
    }
    starts = {tool: [] for tool in tools}
    peaks = {tool: [] for tool in tools}
    TRACE.mkdir(exist_ok=True)
    try:
        (TRACE / "trace_clock").write_text("mono")
        for event in EVENTS:
            (TRACE / "events" / event / "enable").write_text("1")
        for _ in range(options.repeats):
            for tool, (line, measures) in tools.items():
                starts[tool].append(first_timer([*line, *OPTIONS, "-l20"], measures))
    finally:
        TRACE.rmdir()
    for _ in range(5):
        for tool, (line, _) in tools.items():
            peaks[tool].append(memory([*line, *OPTIONS, "-D", "2"]))
    print(f"| {options.repeats} repeats in turn | first timer, ms: median [range] | VmHWM, MiB |")
    print("| --- | --- | --- |")
    for tool in tools:
        ms, kilobytes = starts[tool], max(peaks[tool])
        print(f"| {tool} | {statistics.median(ms):.2f} [{min(ms):.2f} to {max(ms):.2f}] "
              f"| {kilobytes / 1024:.1f} |")
    ours, theirs = "latlab cyclictest", "cyclictest"
    good = (statistics.median(starts[ours]) < statistics.median(starts[theirs])
            and max(peaks[ours]) < min(peaks[theirs]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
