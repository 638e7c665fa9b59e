"""Whether expressions hold for a run of `latlab attach` and the log of the program: told.py RUN LOG EXPRESSION..."""

import bisect
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet

folder, log, *expressions = sys.argv[1:]
run = json.loads((Path(folder) / "run.json").read_text())
log = json.loads(Path(log).read_text())
codes = [finding["code"] for finding in run["findings"]]
threads = {found["name"]: found for found in run["attached"]["threads"]}
thread = threads["loops"] if "loops" in threads else next(iter(threads.values()))
rows = pyarrow.parquet.read_table(Path(folder) / "cycles.parquet").to_pylist()
PARTS = ("wake_up_ns", "execution_ns", "preempted_ns", "blocked_ns")
cycles = [
    {"release": row["release_ns"], "parts": [row[part] for part in PARTS]}
    for row in rows
    if row["thread"] == thread["thread"]
]
faults = thread["report"]["faults"]
median = statistics.median


def releases():
    """Pairs of reported and logged releases, if the program knows them."""
    if all(due < 0 for due, _, _ in log["cycles"]):
        return []
    both = zip(cycles, log["cycles"], strict=True)
    return [(cycle["release"], due) for cycle, (due, _, _) in both if due >= 0]


def lies_within():
    """Whether each logged cycle, which is slightly shorter, lies within the reported one."""
    for cycle, (_, start, end) in zip(cycles, log["cycles"], strict=False):
        begun = cycle["release"] + cycle["parts"][0]
        yield begun <= start <= end <= cycle["release"] + sum(cycle["parts"])


def share(holds):
    """The share for which it holds."""
    holds = list(holds)
    return sum(holds) / len(holds) if holds else 1


def releases_told():
    """The number of releases in the run: cycles, overruns, and those not followed."""
    return len(cycles) + thread["report"]["overruns"] + thread["report"]["unseen"]


def span_in_periods(period_ns):
    """From the first release to the last, in periods."""
    return round((cycles[-1]["release"] - cycles[0]["release"]) / period_ns)


def periods_over(period_ns):
    """How many periods the cycles took beyond their own."""
    return sum(sum(cycle["parts"]) // period_ns for cycle in cycles)


def fault(kind, call=None):
    """The number of faults found of a kind."""
    return sum(one["count"] for one in faults if one["kind"] == kind and call in (None, one["call"]))


def longest(kind):
    """The longest fault of a kind."""
    return max((one["longest_ns"] for one in faults if one["kind"] == kind), default=0)


def in_cycles(kind):
    """The number of cycles with a fault of a kind."""
    return sum(one["cycles"] for one in faults if one["kind"] == kind)


def planted(kind):
    """The number of planted faults."""
    return log["planted"][kind]


def sites(kind):
    """The call sites of faults of a kind."""
    return [site for one in faults if one["kind"] == kind for site in one["sites"]]


def places(kind):
    """The lines of this program at which faults of a kind were found."""
    return {line(site) for site in sites(kind)} - {None}


def line(site):
    """The innermost line of the program in a call chain."""
    lines = [frame["line"] for frame in site["frames"] if frame["module"].endswith("/loops")]
    return next((line for line in lines if line), None)


def leads_to_line(kind, program):
    """Whether each call chain of a kind leads to its line, by the program before it was stripped."""
    expected = f"loops.c:{log['lines'][kind]}"
    for site in sites(kind):
        offsets = [hex(frame["offset"] - (kind != "page-fault")) for frame in site["frames"]]
        told = subprocess.run(["addr2line", "-e", program, *offsets], capture_output=True, text=True, check=True)
        if not any(line.split(" ")[0].endswith(expected) for line in told.stdout.splitlines()):
            return False
    return True


def object(kind):
    """The object of a fault of a kind."""
    return next((one["object"] for one in faults if one["kind"] == kind), None)


def delayed(how, kind, name):
    """Whether each cycle that was delayed this way, and is among the longest, has that cause for most of 3 ms."""
    longest = {long["release_ns"]: long for long in thread["longest"]}
    planted = [cycles[number]["release"] for number, planted in log["delayed"] if planted == how]
    told = [longest[release] for release in planted if release in longest]
    cause = {"kind": kind, "name": name}
    took = [
        sum(part["to_ns"] - part["from_ns"] for part in long["parts"] if part["cause"] == cause)
        for long in told
    ]
    return len(took) > 0 and all(time >= 2_000_000 for time in took)


def one_chain():
    """The chain of threads that was found."""
    return run["attached"]["chains"][0]


def longest_chains(count):
    """The logged chains that took longest: release and end."""
    return sorted(log["chains"], key=lambda chain: chain[0] - chain[1])[:count]


def own_longest():
    """Release and length of the logged chain that took longest."""
    due, end = longest_chains(1)[0]
    return due, end - due


def arrivals(name, window_ms):
    """The smallest and the largest number of releases of a thread in a window; None without a curve."""
    curve = threads[name]["arrivals"]
    return next(((one["least"], one["most"]) for one in curve if one["window_ns"] == window_ms * 1_000_000), None)


def counted_arrivals(name, window_ms):
    """The same from the cycles: windows that begin just after a release have least, those that end at one most."""
    window = window_ms * 1_000_000
    releases = [row["release_ns"] for row in rows if row["thread"] == threads[name]["thread"]]
    after = [bisect.bisect_right(releases, at + window) - n - 1 for n, at in enumerate(releases) if at + window < releases[-1]]
    until = [n + 1 - bisect.bisect_right(releases, at - window) for n, at in enumerate(releases)]
    return min(after), max(until)


def adds_up(long):
    """Whether the parts of a long cycle follow each other from its release to its end."""
    at = 0
    for part in long["parts"]:
        if part["from_ns"] != at or part["to_ns"] <= at:
            return False
        at = part["to_ns"]
    return at == long["latency_ns"]


for expression in expressions:
    if not eval(expression):
        print(f"{expression} does not hold: {len(cycles)} cycles of {len(log['cycles'])}, codes {codes}")
        print(json.dumps(thread["activation"]), thread["period_ns"], log["planted"])
        print(json.dumps(faults, indent=1))
        print(json.dumps(thread["longest"][:2]))
        sys.exit(1)
