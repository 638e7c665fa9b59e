#!/usr/bin/env python3
"""Kills latlab at random instants of each of its phases, and checks what is left.

usage: kill.py PROGRAM [--kills N] [--seed N] [--out DIR] [--long SECONDS]

Victims are the agent, the conductor and both; phases are

  preparing   from the start until an interval is in the journal
  measuring   until the threads have ended
  syncing     the same, on a disk that takes three seconds for each sync
  finishing   until run.json is complete; strace delays each sync, to make the phase last
  publishing  until the folder has its name, delayed in the same way
  recovering  of a killed run: here `latlab list` is killed, several times over

After each kill the next command must leave one complete run or, if nothing was counted yet, none;
at most one second may be lost, plus the time for which an ordinary writing program was stalled before
the kill; the kernel file that the run had changed has its old value; no process is left; and a run
on the same CPUs is not refused. One line is printed for each cell, and
with --out each kill is a row of DIR/kills.csv, summed up in DIR/table.md. --long makes instead one
run of up to this many seconds at 20 kHz, killed once.
"""
# Invariant (kills): A kill at any instant costs at most one second, and the next command finishes the run.

import argparse
import csv
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import read_run

CELLS = [(victim, phase) for phase in ("preparing", "measuring", "finishing")
         for victim in ("agent", "conductor", "both")]
# The agent has ended before publishing begins.
CELLS += [("both", "syncing"), ("conductor", "publishing"), ("list", "recovering")]
MOST_LOST = 1.0
PATIENCE = 60.0
IS_ROOT = os.geteuid() == 0
# A harmless file that nothing uses.
KERNEL_FILE = pathlib.Path("/proc/sys/vm/extfrag_threshold")
# What finishing waits for.
SLOW_CALLS = "fsync,?unlink,?unlinkat,?rename,?renameat,?renameat2"
SLOW = ["strace", "-D", "-f", "-q", "--seccomp-bpf", "-o", "/dev/null", "-e", f"trace={SLOW_CALLS}",
        "-e", f"inject={SLOW_CALLS}:delay_enter=60000:delay_exit=20000"]
SLOW_DISK = ["strace", "-D", "-f", "-q", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fdatasync",
             "-e", "inject=fdatasync:delay_enter=3000000"]
INTERVAL, PREPARED = 5, 4


class Wrong(Exception):
    """Something is wrong after a kill."""


def expect(holds, what):
    if not holds:
        raise Wrong(what)


def within(seconds, what, look):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(0.002)
    raise Wrong(f"waited in vain for {what}")


def frames(journal):
    """Kind and payload of the complete frames of a journal."""
    try:
        content = journal.read_bytes()
    except OSError:
        return
    at = 0
    while at + 12 <= len(content):
        length, kind, _ = struct.unpack_from("<III", content, at)
        if at + 12 + length > len(content):
            return
        yield kind, content[at + 12:at + 12 + length]
        at += 12 + length


def processes(mark):
    """Processes that were started with this word in their environment."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and mark in pathlib.Path("/proc", entry, "environ").read_bytes():
                yield int(entry), pathlib.Path("/proc", entry, "cmdline").read_bytes()
        except OSError:
            pass


def command_line(pid):
    """The first word of a process's command line."""
    try:
        return pathlib.Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


def is_gone(pid):
    try:
        return pathlib.Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def measures(agent):
    """Whether the agent has measuring threads."""
    names = pathlib.Path("/proc", str(agent), "task").glob("*/comm")
    try:
        return any(name.read_text().startswith("latlab/") for name in names)
    except OSError:
        return not is_gone(agent) and measures(agent)


class Witness:
    """Ordinary threads that write, one on each CPU: if one was stalled, latlab may have been stalled as long."""

    def __init__(self):
        self.begin()
        for cpu in self.last:
            threading.Thread(target=self.write, args=[cpu], daemon=True).start()

    def begin(self):
        """Forgets earlier pauses."""
        self.pause, self.last = 0.0, dict.fromkeys(os.sched_getaffinity(0), time.monotonic())

    def longest(self):
        """Seconds of the longest pause, including the current one."""
        return max(self.pause, time.monotonic() - min(self.last.values()) - 0.02)

    def write(self, cpu):
        os.sched_setaffinity(0, {cpu})
        with tempfile.TemporaryFile() as file:
            while True:
                time.sleep(0.02)
                file.write(b"here")
                file.flush()
                self.pause, self.last[cpu] = self.longest(), time.monotonic()


WITNESS = Witness()


def most_lost():
    """Seconds that a kill now may lose: those promised, plus the longest pause of the witness in this run."""
    return MOST_LOST + WITNESS.longest()


class Bench:
    """Folders for one kill, and the program started in them."""

    def __init__(self, program, folder, interval):
        self.program, self.runs, self.interval = str(program), folder / "runs", interval
        self.mark = f"LATLAB_KILLED={os.getpid()}-{time.monotonic_ns()}"
        name, value = self.mark.split("=")
        self.environment = {**os.environ, name: value, "LATLAB_RUNS": str(self.runs)}
        self.before = KERNEL_FILE.read_text()
        WITNESS.begin()

    def start(self, *words, before=()):
        return subprocess.Popen([*before, self.program, *words], env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def run(self, *words):
        return subprocess.run([self.program, *words], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def measure(self, length, period="200us", before=()):
        rights = ["--set", f"vm.extfrag_threshold={int(self.before) - 1}"]
        if not IS_ROOT:
            rights = ["--policy", "other", "--idle-states", "system", "--share"]
        return self.start("run", "-q", "--samples", "--name", "killed", "--warm-up", "100ms",
                          "--period", period, "--interval", self.interval, "--for", length, *rights,
                          before=before)

    def partial(self):
        return next(iter(self.runs.glob(".*.partial")), None) if self.runs.exists() else None

    def journal(self):
        folder = self.partial()
        return folder and folder / "journal"

    def has(self, kind):
        journal = self.journal()
        return journal and any(found == kind for found, _ in frames(journal))

    def agent(self):
        mark = self.mark.encode()
        return next((pid for pid, words in processes(mark) if b"\0agent\0" in words), None)

    def left(self):
        return [words for _, words in processes(self.mark.encode())]


def kill(*pids):
    """Kills them at once, and returns the time."""
    now = time.monotonic()
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return now


def wait_for(bench, conductor, victim, phase, chance):
    """Waits until a random instant of the phase; returns how far it has begun."""
    if phase == "preparing":
        if victim == "agent":
            within(PATIENCE, "the agent", bench.agent)
        spread = 0.6
    else:
        within(PATIENCE, "the first interval", lambda: bench.has(INTERVAL))
        spread = 4.5 if phase == "syncing" else 2.5
    if phase in ("finishing", "publishing"):
        agent = within(PATIENCE, "the agent", bench.agent)
        within(PATIENCE, "the end of the threads", lambda: not measures(agent))
        spread = 0.6
    if phase == "publishing":
        def whole():
            folder = bench.partial()
            try:
                return bench.runs.is_dir() and json.loads((folder / "run.json").read_text())
            except (OSError, ValueError, TypeError):
                return conductor.poll() is not None
        within(PATIENCE, "run.json", whole)
        spread = 0.4
    instant = chance.uniform(0, spread)
    time.sleep(instant)
    return instant


def phase_of(bench):
    """The phase as the folder shows it, after the kill."""
    folder = bench.partial()
    if folder is None:
        return "published" if bench.runs.exists() and any(bench.runs.iterdir()) else "nothing"
    try:
        json.loads((folder / "run.json").read_text())
        return "publishing"
    except (OSError, ValueError):
        return "finishing" if any(folder.glob("*.parquet")) else "measuring"


def lost(bench, kept, killed_at, journal):
    """Seconds of the longest unstored stretch before the kill, for intervals and samples."""
    if kept is None:
        prepared = [json.loads(payload) for kind, payload in journal if kind == PREPARED]
        firsts = [thread["first_release_ns"] for one in prepared for thread in one["threads"]]
        gone = max(0.0, killed_at - min(firsts) / 1e9) if firsts else 0.0
        return gone, gone
    import pyarrow.parquet
    folder, run = kept
    of = lambda name, columns: pyarrow.parquet.read_table(folder / name, columns=["thread", *columns])
    intervals = of("intervals.parquet", ["end_ns"]).to_pandas().groupby("thread").end_ns.max()
    samples = {}
    if "samples.parquet" in run["files"]:
        samples = of("samples.parquet", ["release_ns"]).to_pandas().groupby("thread").release_ns.max()
    worst = [0.0, 0.0]
    for thread in run["threads"]:
        if thread["end"]:
            continue
        number, first = thread["setup"]["thread"], thread["setup"]["first_release_ns"]
        for which, last in enumerate((intervals, samples)):
            until = int(last[number]) if number in last else first
            worst[which] = max(worst[which], killed_at - until / 1e9)
    return tuple(worst)


def check_folder(folder, run, may_lose=False):
    """Checks the sums of a folder without latlab; if it may lose data, losses must be reported."""
    import pyarrow.parquet
    try:
        read_run.check_files(folder, run)
        for thread, table in ((one, read_run.read_with_pandas(folder)) for one in run["threads"]):
            read_run.check_histogram(table["histogram"], thread)
            read_run.check_intervals(table["intervals"], thread, may_lose)
            # Samples of a lost interval are kept, and reported as uncounted.
            if not (may_lose and run["losses"]["cycles"]):
                read_run.check_spikes(table["spikes"], thread)
    except SystemExit as error:
        raise Wrong(str(error)) from None
    rows = {}
    if "samples.parquet" in run["files"]:
        table = pyarrow.parquet.read_table(folder / "samples.parquet", columns=["thread", "release_ns"])
        for number, of_thread in table.to_pandas().groupby("thread"):
            rows[number] = len(of_thread)
            expect(of_thread.release_ns.is_monotonic_increasing, "samples are out of order")
            expect(of_thread.release_ns.is_unique, "a release is there twice")
    missing = sum(max(0, thread["summary"]["cycles"] - rows.get(thread["setup"]["thread"], 0))
                  for thread in run["threads"])
    expect(missing == run["losses"]["samples"], f"{missing} samples miss, {run['losses']['samples']} are told")
    for thread in run["threads"]:
        if thread["end"] and not may_lose:
            expect(thread["end"]["cycles"] == rows.get(thread["setup"]["thread"], 0), "a sample is lost")


def the_run(bench):
    """Folder and document of the only run, if any."""
    folders = sorted(bench.runs.iterdir()) if bench.runs.exists() else []
    expect(len(folders) <= 1, f"more than one folder: {[folder.name for folder in folders]}")
    if not folders:
        return None
    expect(not folders[0].name.startswith("."), f"{folders[0].name} is left, "
           f"with {[file.name for file in folders[0].iterdir()]}")
    return folders[0], json.loads((folders[0] / "run.json").read_text())


def next_command(bench):
    """Runs the next command, which recovers what is left; returns its output."""
    told = bench.run("list", "--format", "json")
    expect(told.returncode == 0, f"list ended with {told.returncode}: {told.stderr}")
    expect("cannot finish" not in told.stderr, told.stderr)
    for entry in json.loads(told.stdout):
        expect(entry["state"] == "finished", f"list shows {entry}")
    return told.stderr


def kill_recoveries(bench, chance):
    """Kills `latlab list` several times while it recovers."""
    instants = []
    for _ in range(3):
        recovery = bench.start("list", before=SLOW)
        # strace hangs if its tracee dies before it has become the program.
        within(PATIENCE, "the recovering program", lambda: command_line(recovery.pid) == bench.program
               or is_gone(recovery.pid))
        instants.append(chance.uniform(0, 0.9))
        time.sleep(instants[-1])
        kill(recovery.pid)
        recovery.wait()
    return max(instants)


def one_kill(program, victim, phase, number, chance):
    """One run, one kill; returns its row of the table."""
    finishes = phase in ("finishing", "publishing")
    slow = SLOW if finishes else SLOW_DISK if phase == "syncing" else []
    length = "1500ms" if finishes else "60s"
    with tempfile.TemporaryDirectory(prefix="latlab-kill-") as folder:
        bench = Bench(program, pathlib.Path(folder), chance.choice(["1s", "10s"]))
        conductor = bench.measure(length, before=slow)
        instant = wait_for(bench, conductor, victim, phase, chance)
        agent, conducting = bench.agent(), victim != "agent"
        agents = [agent] if agent and victim != "conductor" else []
        killed_at = kill(*agents, *([conductor.pid] if conducting else []))
        may_lose = most_lost()
        journal = list(frames(bench.journal())) if bench.journal() else []
        shown, had_journal = phase_of(bench), bench.journal() and bench.journal().exists()
        if phase == "recovering":
            conductor.wait()
            instant = kill_recoveries(bench, chance)
            shown, had_journal = phase_of(bench), bench.journal() and bench.journal().exists()
        # A surviving conductor finishes the run itself; this is no wait after a kill.
        said = conductor.communicate(timeout=3 * PATIENCE)[1]
        told = next_command(bench)
        again = bench.run("run", "-q", "--policy", "other", "--idle-states", "system", "--cycles", "20",
                          "--warm-up", "0s", "--out", folder + "/again", *([] if IS_ROOT else ["--share"]))
        expect(again.returncode == 0, f"a run right after it is refused: {again.stderr}")
        within(PATIENCE, f"the end of {bench.left()}", lambda: not bench.left())
        gone_after = time.monotonic() - killed_at
        next_command(bench)
        expect(KERNEL_FILE.read_text() == bench.before, "the kernel file is still changed")
        kept = the_run(bench)
        if kept:
            check_folder(*kept)
            recovered = conducting and bool(had_journal)
            expect(kept[1]["recovered"] == recovered, f"recovered is {kept[1]['recovered']} for {shown}")
        elif shown != "nothing" and phase != "recovering":
            expect(re.search("nothing was measured|measured nothing", told + said), f"no word: {told} {said}")
        of_intervals, of_samples = lost(bench, kept, killed_at, journal)
        expect(max(of_intervals, of_samples) <= may_lose,
               f"{of_intervals:.3f} s of intervals and {of_samples:.3f} s of samples are lost, "
                f"not {may_lose:.3f} s at most")
        return {
            "victim": victim, "phase": phase, "number": number, "interval": bench.interval,
            "instant_s": f"{instant:.3f}", "folder_showed": shown,
            "outcome": "nothing" if not kept else "recovered" if kept[1]["recovered"] else "finished",
            "lost_s": f"{of_intervals:.3f}", "samples_lost_s": f"{of_samples:.3f}",
            "cycles": kept[1]["total"]["cycles"] if kept else 0, "gone_after_s": f"{gone_after:.1f}",
        }


def cell(program, victim, phase, kills, seed):
    """Kills one victim in one phase this many times; kills that came too late are repeated."""
    chance = random.Random(f"{seed} {victim} {phase}")
    rows, tries = [], 0
    while len(rows) < kills:
        tries += 1
        expect(tries <= 3 * kills + 3, f"only {len(rows)} of {tries - 1} kills were in the phase")
        try:
            row = one_kill(program, victim, phase, len(rows) + 1, chance)
        except Wrong as wrong:
            raise Wrong(f"kill {len(rows) + 1}: {wrong}") from None
        in_phase = phase not in ("finishing", "publishing") or victim == "agent" \
            or row["folder_showed"] == phase or (phase, row["folder_showed"]) == ("finishing", "measuring")
        if in_phase:
            rows.append(row)
    return rows


def all_at_once(program):
    """Several commands find the same unfinished run."""
    with tempfile.TemporaryDirectory(prefix="latlab-kill-") as folder:
        bench = Bench(program, pathlib.Path(folder), "1s")
        conductor = bench.measure("60s")
        within(PATIENCE, "the first interval", lambda: bench.has(INTERVAL))
        kill(bench.agent(), conductor.pid)
        conductor.wait()
        commands = [bench.start("list", before=SLOW if slow else []) for slow in (True, True, False, False)]
        said = [command.communicate(timeout=60)[1] for command in commands]
        expect(all(command.returncode == 0 for command in commands), said)
        expect(sum("recovered" in one for one in said) == 1, f"not one has recovered it: {said}")
        expect(not any("cannot" in one for one in said), said)
        check_folder(*the_run(bench))


def middle(rows, column):
    values = [float(row[column]) for row in rows]
    return f"{statistics.median(values):.2f} | {max(values):.2f}"


def write(out, rows, seed):
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "kills.csv", "w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    lines = ["| killed | while | kills | recovered | finished | nothing | seconds lost: median | most "
             "| samples: median | most |", "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for victim, phase in CELLS:
        these = [row for row in rows if (row["victim"], row["phase"]) == (victim, phase)]
        if these:
            count = lambda outcome: sum(row["outcome"] == outcome for row in these)
            lines.append(f"| {victim} | {phase} | {len(these)} | {count('recovered')} | {count('finished')} "
                         f"| {count('nothing')} | {middle(these, 'lost_s')} | {middle(these, 'samples_lost_s')} |")
    (out / "table.md").write_text("\n".join(lines) + f"\n\nSeed {seed}.\n")


def long(program, seconds, seed, out):
    """One run at 20 kHz with samples, killed at a random instant."""
    chance = random.Random(seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="latlab-kill-", dir=out))
    bench = Bench(program, folder, "1s")
    conductor = bench.measure(f"{seconds}s", period="50us")
    within(PATIENCE, "the first interval", lambda: bench.has(INTERVAL))
    instant = chance.uniform(0.5, 1) * seconds
    time.sleep(instant)
    killed_at = kill(bench.agent(), conductor.pid)
    may_lose = most_lost()
    conductor.wait()
    begun = time.monotonic()
    print(next_command(bench), end="")
    kept = the_run(bench)
    check_folder(*kept)
    of_intervals, of_samples = lost(bench, kept, killed_at, [])
    size = sum(file.stat().st_size for file in kept[0].iterdir())
    print(f"killed {instant:.3f} s after the first interval; finished {time.monotonic() - begun:.1f} s later")
    print(f"{kept[1]['total']['cycles']} cycles, {size} bytes; lost: {of_intervals:.3f} s of intervals, "
          f"{of_samples:.3f} s of samples")
    for finding in kept[1]["findings"]:
        print(json.dumps(finding))
    expect(max(of_intervals, of_samples) <= may_lose, "more than a second is lost")
    shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cells whose name holds this")
    parser.add_argument("--long", type=int)
    given = parser.parse_args()
    program = given.program.resolve()
    if given.long:
        return long(program, given.long, given.seed, given.out)
    rows, wrong = [], False
    tries = [(f"{victim} killed while {phase}", lambda v=victim, p=phase: cell(program, v, p, given.kills, given.seed))
             for victim, phase in CELLS]
    tries.append(("four commands recover one run at once", lambda: all_at_once(program) or []))
    for name, attempt in tries:
        if given.only not in name:
            continue
        try:
            rows += (found := attempt())
            most = max([float(row["lost_s"]) for row in found] or [0])
            print(f"ok {name}" + (f", {len(found)} times: at most {most:.2f} s lost" if found else ""), flush=True)
        except Wrong as reason:
            wrong = True
            print(f"not ok {name}: seed {given.seed}\n    {reason}", flush=True)
    if given.out and rows:
        write(given.out, rows, given.seed)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
