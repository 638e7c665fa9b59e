#!/usr/bin/env python3
"""Whether latlab's records of its own work agree with the kernel: for each of the largest latencies of runs
on this machine, which of latlab's threads overlapped it according to the run and to `sched_switch`.

usage: benches/marks.py [--rounds 5] [--for 5s] [OPTION OF latlab run...]
       benches/marks.py --target lab:x86-64/stock [--rounds 5] [--for 1s] [OPTION OF latlab run...]
needs: root, tracefs; LATLAB names the program. The kernel's events are recorded in a private
instance, so that no other tracing is disturbed. Guests have a round for each seed, which is
replayed: a table says what had the CPU according to its instructions.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LATLAB = os.environ.get("LATLAB", str(ROOT / "target" / "latlab"))
INSTANCE = pathlib.Path("/sys/kernel/tracing/instances/latlab-marks")
SWITCH = re.compile(r"\[(\d+)\] .* (\d+)\.(\d+): sched_switch: .* prev_pid=(\d+) .* next_pid=(\d+) ")


class Recorder:
    """Records which thread each CPU switches to, on CLOCK_MONOTONIC."""

    def __enter__(self):
        INSTANCE.mkdir()
        self.write("trace_clock", "mono")
        self.write("buffer_size_kb", "32768")
        self.write("events/sched/sched_switch/enable", "1")
        return self

    def __exit__(self, *_):
        INSTANCE.rmdir()

    def write(self, name: str, value: str) -> None:
        (INSTANCE / name).write_text(value)

    def switches(self) -> dict[int, list[tuple[int, int, int]]]:
        """For each CPU: time, previous thread, next thread."""
        self.write("tracing_on", "0")
        found = collections.defaultdict(list)
        for line in (INSTANCE / "trace").read_text(errors="replace").splitlines():
            if match := SWITCH.search(line):
                cpu, seconds, micros, before, after = map(int, match.groups())
                found[cpu].append((seconds * 10**9 + micros * 1000, before, after))
        for cpu in INSTANCE.glob("per_cpu/cpu*/stats"):
            lost = re.search(r"overrun: (\d+)", cpu.read_text())
            if lost and int(lost[1]):
                sys.exit(f"{cpu.parent.name}: {lost[1]} events were lost: take a shorter time")
        return found


def descendants(of: int) -> set[int]:
    """The threads of a process and its descendants, except those that measure."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(entry)] = int(stat[1])
    processes = {of}
    while grown := {child for child, parent in parents.items() if parent in processes} - processes:
        processes |= grown
    threads = set()
    for process in processes:
        for task in pathlib.Path(f"/proc/{process}/task").glob("*"):
            try:
                if not (task / "comm").read_text().startswith("latlab/"):
                    threads.add(int(task.name))
            except OSError:
                continue
    return threads


def ran_in(switches: list[tuple[int, int, int]], own: set[int], begin: int, end: int) -> int:
    """How long latlab's threads had the CPU in this time, in nanoseconds."""
    total, running, since = 0, None, begin
    for at, before, after in switches:
        if at < begin:
            running = after
            continue
        # Without an earlier switch, the first one in the window names the previous thread.
        running = before if running is None else running
        until = min(at, end)
        total += until - since if running in own else 0
        running, since = after, until
        if at >= end:
            break
    return total


def compare(options: list[str], length: str) -> list[dict]:
    """The largest latencies of one run, each according to latlab's records and to the kernel."""
    with tempfile.TemporaryDirectory() as folder, Recorder() as recorder:
        line = [LATLAB, "run", "--quiet", "--out", folder, "--name", "marks", "--for", length, *options]
        started, own = subprocess.Popen(line, stdout=subprocess.DEVNULL), set()
        while started.poll() is None:
            own |= descendants(started.pid)
            time.sleep(0.2)
        switches = recorder.switches()
        run = json.loads(next(pathlib.Path(folder).glob("*/run.json")).read_text())
    found = []
    for one in run["self_interference"]["largest"]:
        begin = one["release_ns"]
        ran = ran_in(switches[one["cpu"]], own, begin, begin + one["latency_ns"])
        found.append({"latency_us": one["latency_ns"] / 1000, "marks": one["own_threads"], "kernel_us": ran / 1000})
    return found


def replayed(target: str, seed: int, options: list[str], length: str) -> list[dict]:
    """The largest latencies of a guest, each according to latlab's records and to its instructions."""
    with tempfile.TemporaryDirectory() as folder:
        guest = ["--target", target, "--seed", str(seed), "--for", length]
        line = [LATLAB, "run", "--quiet", "--out", folder, "--name", "marks", *guest, *options]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        run = json.loads(next(pathlib.Path(folder).glob("*/run.json")).read_text())
        line = [LATLAB, "explain", "marks", "--replay", "--top", "20", "--format", "json", "--out", folder]
        told = json.loads(subprocess.run(line, check=True, capture_output=True).stdout)["latencies"]
    by_release, found = {one["release_ns"]: one for one in told}, []
    for one in run["self_interference"]["largest"]:
        again = by_release.get(one["release_ns"])
        if again is not None:
            found.append({"seed": seed, "latency_us": one["latency_ns"] / 1000, "marks": one["own_threads"],
                          "kernel_us": again["own_ns"] / 1000, "says": again["sentence"].split(": ", 1)[1]})
    return found


def print_guests(found: list[dict]) -> None:
    print("| seed | latency | own marks | own threads had the CPU, by instructions | what the replay says |")
    print("| --- | ---: | --- | ---: | --- |")
    for one in found:
        if one["marks"] or one["kernel_us"]:
            print(f"| {one['seed']} | {one['latency_us']:.3f} us | {', '.join(one['marks']) or 'none'} "
                  f"| {one['kernel_us']:.3f} us | {one['says']} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--for", dest="length", default="5s")
    parser.add_argument("--target")
    arguments, options = parser.parse_known_args()
    if arguments.target:
        seeds = range(1, arguments.rounds + 1)
        found = [one for seed in seeds for one in replayed(arguments.target, seed, options, arguments.length)]
        print_guests(found)
    else:
        found = [one for _ in range(arguments.rounds) for one in compare(options, arguments.length)]
        for one in found:
            print(f"{one['latency_us']:10.1f} us  kernel {one['kernel_us']:8.1f} us  marks {', '.join(one['marks']) or '-'}")
    counts = collections.Counter((bool(one["marks"]), one["kernel_us"] > 0) for one in found)
    print(f"{len(found)} latencies: in both {counts[True, True]}, in neither {counts[False, False]}, "
          f"in the marks alone {counts[True, False]}, by the kernel alone {counts[False, True]}")


if __name__ == "__main__":
    main()
