#!/usr/bin/env python3
"""Makes one system call of the real program fail at a time, and checks what is left and printed.

usage: faults.py PROGRAM [--every] [--samples N] [--for TIME] [--seed N] [--only WORDS] [--out DIR]

strace fails the N-th call of a kind on a file of the run with EIO, counted for each thread. Three
forms:

  recording  `latlab run`, from the folder of the run to its last rename
  finishing  `latlab list`, which finishes a killed run
  reading    `latlab list`, `show`, `verify`, `report` and `plot` of a stored run

After a recording the next command must leave one complete run, or no run if nothing was measured;
after a finishing it must have the figures of the journal. A reading prints the same as without a
fault, or an error. No process panics or remains. With --every, N is each number in turn, else
some at random. One line is printed for each kind of call, and with --out the counts are in
DIR/faults.json.
"""
# Invariant (losses): Whatever system call of the program fails, no half-written run is taken for a whole one.

import argparse
import collections
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from kill import INTERVAL, Wrong, check_folder, expect, frames, processes

# Including the names on other architectures.
CALLS = {
    "mkdir": "?mkdir,?mkdirat",
    "openat": "?open,openat",
    "read": "read,?pread64",
    "write": "write,?writev",
    "fsync": "fsync",
    "fdatasync": "fdatasync",
    "rename": "?rename,?renameat,?renameat2",
    "unlink": "?unlink,?unlinkat,?rmdir",
    "ftruncate": "?ftruncate,?ftruncate64",
}
TABLES = ["clocks", "histogram", "intervals", "samples", "spikes", "telemetry"]
FILES = ["journal", "run.json", "snapshot.json", *(f"{table}.parquet" for table in TABLES)]
IS_ROOT = os.geteuid() == 0
ORDINARY = [] if IS_ROOT else ["--policy", "other", "--idle-states", "system"]
# Seconds within which a run that is started now gets its name.
PATIENCE = 12
# From this number of frames in its journal on, a run has measured something.
MEASURES = 12


class Bench:
    """A folder for one try, and the program started in it."""

    def __init__(self, program, folder):
        self.program, self.folder, self.runs = str(program), folder, folder / "runs"
        self.log = folder / "calls"
        self.mark = f"LATLAB_FAULTS={os.getpid()}-{time.monotonic_ns()}"
        name, value = self.mark.split("=")
        self.environment = {**os.environ, name: value, "LATLAB_RUNS": str(self.runs), "NO_COLOR": "1"}

    def run(self, *words, before=()):
        """Runs the program to its end."""
        done = subprocess.run([*before, self.program, *words], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120, errors="replace")
        expect("panicked" not in done.stderr, f"a panic: {done.stderr}")
        expect(done.returncode >= 0 and done.returncode < 100, f"exit code {done.returncode}: {done.stderr}")
        return done

    def strace(self, calls, number, paths):
        """strace that makes a call fail; without a number it only counts."""
        self.log.unlink(missing_ok=True)
        told = ["strace", "-f", "-qq", "-y", "--seccomp-bpf", "-o", str(self.log), "-e", f"trace={calls},write"]
        for path in paths:
            told += ["-P", str(path)]
        return told + (["-e", f"inject={calls}:error=EIO:when={number}"] if number else [])

    def calls(self):
        """The calls that strace saw, as pairs of thread and text."""
        if isinstance(self.log, list):
            return self.log
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return [line.split(None, 1) for line in lines if "(" in line]

    def injected(self):
        return sum("(INJECTED)" in text for _, text in self.calls())

    def most(self, calls):
        """The largest number of these calls of one name that a thread made."""
        names = [name.lstrip("?") for name in calls.split(",")]
        seen = collections.Counter((thread, text.split("(")[0]) for thread, text in self.calls())
        return max([count for (_, name), count in seen.items() if name in names] or [0])

    def finished(self):
        """Folder and document of the only run, if any, as the next command leaves it."""
        listed = self.run("list", "--format", "json")
        expect(listed.returncode == 0, f"list ended with {listed.returncode}: {listed.stderr}")
        expect("cannot finish" not in listed.stderr, listed.stderr)
        entries = json.loads(listed.stdout)
        expect(all(entry["state"] == "finished" for entry in entries), f"list shows {entries}")
        folders = sorted(self.runs.iterdir()) if self.runs.exists() else []
        expect(len(folders) == len(entries) <= 1, f"{[one.name for one in folders]} and {len(entries)} runs")
        if not folders:
            return None
        checked = self.run("verify", "--all")
        expect(checked.returncode == 0, f"verify: {checked.stdout} {checked.stderr}")
        run = json.loads((folders[0] / "run.json").read_text())
        check_folder(folders[0], run, may_lose=True)
        ends = [thread["end"]["cycles"] - thread["summary"]["cycles"] for thread in run["threads"] if thread["end"]]
        expect(sum(ends) == run["losses"]["cycles"], f"{ends} cycles are missing, {run['losses']} are told")
        return folders[0], run

    def nothing_left(self):
        end = time.monotonic() + 30
        while left := [words for _, words in processes(self.mark.encode())]:
            expect(time.monotonic() < end, f"processes are left: {left}")
            time.sleep(0.02)


def lines_of(done):
    lines = [line for line in done.stderr.splitlines() if line]
    expect(all(line.startswith("latlab: ") for line in lines), f"not in the program's words: {done.stderr}")
    return lines


def names_from_now(bench, name):
    """All paths of a run that begins within the next seconds."""
    begun = datetime.datetime.now(datetime.timezone.utc)
    paths = [bench.runs]
    for second in range(PATIENCE):
        run = f"{begun + datetime.timedelta(seconds=second):%Y%m%dT%H%M%SZ}_{name}"
        partial = bench.runs / f".{run}.partial"
        paths += [partial, bench.runs / run, *(partial / file for file in FILES)]
    return paths


def recording(bench, calls, number, length):
    """The outcome of one run with a fault."""
    done = bench.run("run", "--for", length, "--warm-up", "0s", "--samples", "--period", "500us", "--share",
                     "--quiet", "--format", "json", "--name", "faulty", *ORDINARY,
                     before=bench.strace(calls, number, names_from_now(bench, "faulty")))
    bench.nothing_left()
    lines = lines_of(done)
    expect(done.returncode in (0, 3, 4), f"exit code {done.returncode}: {done.stderr}")
    expect(len(lines) >= (done.returncode == 3) and len(lines) <= 3, f"{len(lines)} lines: {done.stderr}")
    measured = sum("/journal>" in text and text.startswith("write(") and "INJECTED" not in text
                   for _, text in bench.calls()) > MEASURES
    kept = bench.finished()
    if kept is None:
        expect(done.returncode == 3 and not measured, f"a run is lost; exit code {done.returncode}: {done.stderr}")
        return "refused"
    if done.returncode == 3:
        return "exit code 3, and finished by the next command"
    printed = json.loads(done.stdout)
    expect(printed["id"] == kept[1]["id"], "what is printed is not what is stored")
    invalid = any(finding["effect"] == "invalid" for finding in printed["findings"])
    expect(invalid == (done.returncode == 4), f"exit code {done.returncode} for {printed['findings']}")
    losses = kept[1]["losses"]
    expect(not losses["cycles"] and not losses["samples"] or invalid, f"{losses}, and the run is not invalid")
    return "stored, and called invalid" if invalid else "stored whole"


def counts_of(run):
    """The figures that must not depend on how often the journal had to be finished."""
    return [(thread["summary"], thread["end"]) for thread in run["threads"]], run["losses"]


def plant(bench, journal):
    """Puts the journal of a killed run into its folder; returns all its paths."""
    shutil.rmtree(bench.runs, ignore_errors=True)
    partial = bench.runs / ".20260101T000000Z_killed.partial"
    partial.mkdir(parents=True)
    (partial / "journal").write_bytes(journal)
    final = bench.runs / "20260101T000000Z_killed"
    return [bench.runs, partial, final, *(partial / file for file in FILES)]


def finishing(bench, calls, number, journal, expected):
    """The outcome of one finishing with a fault."""
    paths = plant(bench, journal)
    done = bench.run("list", before=bench.strace(calls, number, paths))
    lines_of(done)
    expect(done.returncode in (0, 3), f"exit code {done.returncode}: {done.stderr}")
    at_once = "recovered" in done.stderr
    kept = bench.finished()
    expect(kept is not None, f"the run is lost: {done.stderr}")
    same = counts_of(kept[1]) == expected
    expect(same or kept[1]["losses"]["journal_bytes"] > 0, "other figures than those of the journal")
    expect(same or (kept[0] / "journal").exists(), "a journal that was not read whole is gone")
    return "finished at once" if at_once else "finished by the next command"


def outcome_of(bench, words, before):
    """Exit code, standard output and page of a reading command."""
    page = bench.folder / "page"
    page.unlink(missing_ok=True)
    done = bench.run(*words, before=before)
    lines_of(done)
    return done.returncode, done.stdout, page.read_bytes() if page.exists() else b""


def reading(bench, calls, number, words, paths):
    """The outcome of one reading with a fault, compared with the one without."""
    expected = outcome_of(bench, words, ())
    found = outcome_of(bench, words, bench.strace(calls, number, paths))
    if found == expected:
        return "read"
    code, text, page = found
    said = code != 0 or re.search(r"cannot|damaged|DAMAGED|NOT READ|\(os error 5\)", text)
    expect(said, f"other output, and no error: {text[:2000]}")
    # An unfinished page would be taken for a complete one.
    expect(code == 0 or not page, "a page was written all the same")
    return "an error"


def numbers(most, samples, chance):
    """The calls to fail: each, or some, including the first and the last."""
    if samples is None:
        return range(1, most + 1)
    some = {1, most} if samples > 1 else set()
    while len(some) < min(samples, most):
        some.add(chance.randint(1, most))
    return sorted(some - {0})


class Tries:
    """All faults with their outcomes."""

    def __init__(self, given):
        self.given, self.chance = given, random.Random(given.seed)
        self.results, self.wrong = [], False

    def each(self, form, call, samples, attempt):
        """Counts the calls of a kind, and makes some of them fail: attempt(calls, number) returns the outcome
        and its bench."""
        name = f"{form}: {call} fails"
        if not name.startswith(self.given.only):
            return
        outcomes, number = collections.Counter(), 0
        try:
            most = attempt(CALLS[call], 0)[1].most(CALLS[call])
            for number in numbers(most, None if self.given.every else samples, self.chance):
                outcome, bench = attempt(CALLS[call], number)
                # A call that was not made is no fault.
                outcomes[outcome] += bench.injected() > 0
        except (Wrong, subprocess.TimeoutExpired) as reason:
            self.wrong = True
            print(f"not ok {name}: call {number}, seed {self.given.seed}\n    {reason}", flush=True)
            return
        outcomes = {outcome: count for outcome, count in sorted(outcomes.items()) if count}
        faults = sum(outcomes.values())
        self.results.append({"form": form, "call": call, "calls": most, "faults": faults, "outcomes": outcomes})
        told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "none came"
        print(f"ok {name}, {faults} of {most} calls: {told}", flush=True)


def in_a_new_folder(program, attempt):
    """Makes an attempt in a temporary folder, and keeps the log of its calls."""
    def once(calls, number):
        with tempfile.TemporaryDirectory(prefix="latlab-faults-") as folder:
            bench = Bench(program, pathlib.Path(folder).resolve())
            outcome = attempt(bench, calls, number)
            bench.log = bench.calls()
            return outcome, bench
    return once


def killed_journal(program):
    """The journal of a killed run, and its figures."""
    with tempfile.TemporaryDirectory(prefix="latlab-faults-") as folder:
        bench = Bench(program, pathlib.Path(folder).resolve())
        run = subprocess.Popen([bench.program, "run", "--for", "60s", "--warm-up", "0s", "--samples", "--share",
                                "--quiet", *ORDINARY], env=bench.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        journals = lambda: list(bench.runs.glob(".*.partial/journal"))
        end = time.monotonic() + 60
        while sum(kind == INTERVAL for one in journals() for kind, _ in frames(one)) < 4:
            expect(time.monotonic() < end, "no run to be killed")
            time.sleep(0.05)
        run.kill()
        run.wait()
        bench.nothing_left()
        journal = journals()[0].read_bytes()
        plant(bench, journal)
        return journal, counts_of(bench.finished()[1])


def add_to(path, results):
    """Writes results to a file, replacing earlier ones of the same forms and calls."""
    path.parent.mkdir(parents=True, exist_ok=True)
    earlier = json.loads(path.read_text()) if path.exists() else []
    key = lambda one: (one["form"], one["call"])
    new = {key(one) for one in results}
    kept = [one for one in earlier if key(one) not in new] + results
    path.write_text(json.dumps(kept, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--for", dest="length", default="600ms")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--only", default="", help="tries whose name begins so, such as 'recording: write'")
    parser.add_argument("--out", type=pathlib.Path)
    given = parser.parse_args()
    program, tries = given.program.resolve(), Tries(given)
    wanted = given.only.split(":")[0]

    if "recording".startswith(wanted):
        attempt = in_a_new_folder(program, lambda bench, calls, number: recording(bench, calls, number, given.length))
        for call in CALLS:
            tries.each("recording", call, given.samples, attempt)
    if "finishing".startswith(wanted):
        journal, expected = killed_journal(program)
        attempt = in_a_new_folder(
            program, lambda bench, calls, number: finishing(bench, calls, number, journal, expected))
        for call in CALLS:
            tries.each("finishing", call, given.samples, attempt)
    if wanted == "" or wanted.startswith("reading"):
        with tempfile.TemporaryDirectory(prefix="latlab-faults-") as folder:
            bench = Bench(program, pathlib.Path(folder).resolve())
            bench.run("run", "--for", "600ms", "--warm-up", "0s", "--samples", "--share", "--quiet", *ORDINARY)
            kept, _ = bench.finished()
            page = str(bench.folder / "page")
            paths = [bench.runs, kept, *(kept / file for file in FILES)]
            for words in (["list", "--format", "json"], ["show", "last"], ["verify", "last"],
                          ["report", "last", "-o", page], ["plot", "last", "-o", page],
                          ["show", "last", "--window", "..+100ms", "--format", "csv"]):
                attempt = lambda calls, number: (reading(bench, calls, number, words, paths), bench)
                for call in ("openat", "read"):
                    tries.each(f"reading by latlab {words[0]}", call, given.samples, attempt)
    if given.out and tries.results:
        add_to(given.out / "faults.json", tries.results)
    return tries.wrong


if __name__ == "__main__":
    sys.exit(main())
