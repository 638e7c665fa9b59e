#!/usr/bin/env python3
"""The cost of reading the settings of a run again each second: calls, bytes and CPU time of the
thread that does it, in two runs with the same flags, one of them under strace.

usage: settings.py PROGRAM [FLAGS OF latlab run]        needs: root, strace
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SECONDS = 20


def agent_of(conductor):
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()
            words = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(stat[1]) == conductor and b"agent" in words:
            return int(entry)
    return None


def waits_in_poll(task):
    """Only this thread waits in poll(2), for its next second or for a writer."""
    number = (task / "syscall").read_text().split()[0]
    return number in ("7", "271", "73", "336", "168")


def measure(program, flags, attempt):
    """Runs the program, and attempt(agent) once its threads measure."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen([program, "run", "--quiet", "--warm-up", "0s", "--for", f"{SECONDS + 10}s",
                                "--out", folder, *flags], stdout=subprocess.DEVNULL)
        while not (agent := agent_of(run.pid)):
            time.sleep(0.05)
        time.sleep(4)
        found = attempt(pathlib.Path("/proc", str(agent), "task"))
        run.terminate()
        run.wait()
        return found


def monitor_of(tasks):
    threads = [task for task in tasks.iterdir() if waits_in_poll(task)]
    while len(threads) != 1:
        time.sleep(0.05)
        threads = [task for task in tasks.iterdir() if waits_in_poll(task)]
    return threads[0]


def cpu_time(tasks):
    task = monitor_of(tasks)
    used = lambda: int((task / "schedstat").read_text().split()[0])
    before = used()
    time.sleep(SECONDS)
    return (used() - before) / SECONDS


def calls(tasks):
    task = monitor_of(tasks)
    with tempfile.NamedTemporaryFile("r") as log:
        strace = subprocess.Popen(["strace", "-qq", "-o", log.name, "-p", task.name])
        time.sleep(SECONDS)
        strace.terminate()
        strace.wait()
        return log.read().splitlines()


def main():
    program, flags = os.path.realpath(sys.argv[1]), sys.argv[2:]
    print(f"latlab run {' '.join(flags)}".rstrip() + f", {os.cpu_count()} CPUs, {SECONDS} s")
    lines = measure(program, flags, calls)
    names = collections.Counter(line.split("(")[0] for line in lines if "(" in line)
    read = sum(int(match[1]) for line in lines if (match := re.match(r"(?:read|pread64)\(.* = (\d+)", line)))
    for name, count in names.most_common():
        print(f"  {name:20} {count / SECONDS:8.2f} a second")
    print(f"  all calls            {sum(names.values()) / SECONDS:8.2f} a second")
    print(f"  bytes read           {read / SECONDS:8.0f} a second")
    nanoseconds = measure(program, flags, cpu_time)
    print(f"  CPU time             {nanoseconds / 1e3:8.1f} us a second, {nanoseconds / 1e7:.4f} % of one CPU")


if __name__ == "__main__":
    main()
