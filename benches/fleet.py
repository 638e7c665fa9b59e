#!/usr/bin/env python3
"""Simulates the runs of a lab of boards from a real run, and measures what its tables cost.

usage: fleet.py simulate FOLDER [--runs N] [--boards 40] [--from 2025-11-24] [--days 365] [--seed 1]
       fleet.py figures FOLDER [--runs 1000 ...]
       fleet.py nights FOLDER [--boards 40] [--from 2025-11-24] [--days 365]

simulate    makes run folders with checksums like latlab: nights spread over the days, each with three scenarios on
            each board. Each board has a level and three kernels over the time; a few have steps, which are written
            to FOLDER/steps.json.
figures     makes such folders, adds them to tables, runs each query, compacts, and prints a line of JSON for each
            step, with its time and the largest memory of its processes.
nights      adds the runs of each day by a separate command, as a lab does, and prints what queries cost before and
            after a compaction.

needs: numpy, pyarrow, and except for simulate the program ($LATLAB) and the Python package with its extra `fleet`
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy
import pyarrow
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parent.parent
[BASE] = ROOT.glob("fixtures/schema-1/runs/*_plain")
SCENARIOS = {"idle": 1.0, "hackbench": 2.2, "network": 1.5}
KERNELS = ["6.6.58-rt45", "6.12.8-rt5", "6.18.2-rt3"]
MODELS = ["Raspberry Pi 5 Model B Rev 1.0", "NXP i.MX8MPlus EVK board", "BeagleBoard.org BeaglePlay", "AMD Ryzen 7 7840U"]
SECONDS = 60
DEADLINE_NS = 8_000_000
# Additional runs share the tables of this many, whose levels differ by a few thousandths.
MOST_SHAPES = 1000
QUANTILES = {
    "p50_ns": (500_000, 1), "p90_ns": (900_000, 1), "p99_ns": (990_000, 1),
    "p99_9_ns": (999_000, 1_000), "p99_99_ns": (999_900, 10_000), "p99_999_ns": (999_990, 100_000),
}


def edges():
    """The lower edges of latlab's bins: 100 ns up to 1 ms, then 32 in each doubling."""
    fine = numpy.arange(0, 1_000_000, 100)
    octaves = [(1 << octave) + sub * (1 << (octave - 5)) for octave in range(19, 36) for sub in range(32)]
    return numpy.concatenate([fine, [1_000_000], [edge for edge in octaves if edge > 1_000_000]]).astype(numpy.int64)


EDGES = edges()


class Base:
    """A real run, from which others are made."""

    def __init__(self, folder=BASE):
        self.document = json.loads((folder / "run.json").read_text())
        self.tables = {name: pyarrow.parquet.read_table(folder / f"{name}.parquet")
                       for name in ("histogram", "intervals", "spikes", "clocks")}
        self.telemetry = (folder / "telemetry.parquet").read_bytes()
        notes = self.tables["intervals"].schema.metadata
        self.coarse_edges = numpy.array(json.loads(notes[b"coarse_edges_ns"]), dtype=numpy.int64)
        self.threads = []
        for thread in self.document["threads"]:
            number = thread["setup"]["thread"]
            rows = self.tables["histogram"].to_pydict()
            of = [at for at, one in enumerate(rows["thread"]) if one == number]
            low, high, count = (numpy.array([rows[name][at] for at in of]) for name in ("low_ns", "high_ns", "count"))
            shares = count / count.sum()
            # The largest hundredth is too few to draw from: beyond it latencies fall off at the average rate there.
            edge = int(numpy.searchsorted(numpy.cumsum(shares), 0.99))
            excess = float((shares[edge:] * (low[edge:] - low[edge])).sum() / shares[edge:].sum())
            self.threads.append((low, high, shares, low[edge], max(excess, 1000.0)))


def quantile(values_high, up_to, share, least, most):
    place = max(1, -(-int(up_to[-1]) * share // 1_000_000))
    return int(min(max(values_high[numpy.searchsorted(up_to, place)] - 1, least), most))


def summary(latencies, deadline, first, period):
    """The figures of latencies as latlab computes them; `latencies` are in the order of time."""
    counts = numpy.bincount(numpy.searchsorted(EDGES, latencies, side="right") - 1, minlength=len(EDGES))
    bins = numpy.flatnonzero(counts)
    up_to, high = numpy.cumsum(counts[bins]), EDGES[bins + 1]
    least, most = int(latencies.min()), int(latencies.max())
    quantiles = {name: quantile(high, up_to, share, least, most) if len(latencies) >= needed else None
                 for name, (share, needed) in QUANTILES.items()}
    return {
        "cycles": len(latencies), "releases": len(latencies), "overruns": 0,
        "misses": int((latencies > deadline).sum()), "underflow": 0, "min_ns": least,
        "mean_ns": float(latencies.sum() / len(latencies)), "quantiles": quantiles, "max_ns": most,
        "max_at_ns": int(first + period * int(latencies.argmax())), "noise": None,
    }, bins, counts[bins]


def table(path, rows, schema):
    columns = [pyarrow.array(rows[field.name], type=field.type) for field in schema]
    pyarrow.parquet.write_table(pyarrow.table(columns, schema=schema), path, compression="none")


class Shape:
    """The tables of a simulated one-minute run in a folder, and the parts of its document about them."""

    def __init__(self, base, folder, factor, random):
        """Latencies are drawn from those of the base run, times a factor."""
        folder.mkdir(parents=True)
        self.folder, self.factor = folder, factor
        rows = {name: {field.name: [] for field in base.tables[name].schema} for name in ("histogram", "intervals", "spikes")}
        self.threads = json.loads(json.dumps(base.document["threads"]))
        everything, firsts = [], []
        for thread, (low, high, shares, edge, excess) in zip(self.threads, base.threads):
            setup, number = thread["setup"], thread["setup"]["thread"]
            cycles, period, first = SECONDS * 1003, setup["period_ns"], setup["first_release_ns"]
            chosen = random.choice(len(shares), cycles, p=shares)
            spread = numpy.exp(random.normal(0.0, 0.02, cycles))
            latencies = low[chosen] + random.random(cycles) * (high - low)[chosen]
            beyond = latencies >= edge
            latencies = numpy.where(beyond, edge + random.exponential(excess, cycles), latencies)
            latencies = numpy.maximum(latencies * factor * spread, 100).astype(numpy.int64)
            thread["summary"], bins, counts = summary(latencies, DEADLINE_NS, first, period)
            thread["end"] |= {"cycles": cycles, "overruns": 0}
            everything.append(latencies)
            firsts.append(first)
            histogram = {"thread": [number] * len(bins), "cpu": [setup["cpu"]] * len(bins), "low_ns": EDGES[bins],
                         "high_ns": EDGES[bins + 1], "count": counts}
            for column, values in histogram.items():
                rows["histogram"][column].extend(values)
            each = latencies.reshape(SECONDS, -1)
            coarse_places = numpy.searchsorted(base.coarse_edges, each, side="right") - 1
            width = len(base.coarse_edges)
            coarse = numpy.zeros((SECONDS, width), dtype=numpy.int32)
            numpy.add.at(coarse, (numpy.repeat(numpy.arange(SECONDS), each.shape[1]), coarse_places.ravel()), 1)
            rising = numpy.sort(each, axis=1)
            starts = first + period * each.shape[1] * numpy.arange(SECONDS)
            at = lambda share: rising[:, max(1, -(-each.shape[1] * share // 1_000_000)) - 1]
            intervals = {
                "thread": [number] * SECONDS, "cpu": [setup["cpu"]] * SECONDS, "start_ns": starts,
                "end_ns": starts + period * each.shape[1], "count": [each.shape[1]] * SECONDS, "overruns": [0] * SECONDS,
                "misses": (each > DEADLINE_NS).sum(axis=1), "underflow": [0] * SECONDS, "min_ns": each.min(axis=1),
                "mean_ns": each.mean(axis=1), "p50_ns": at(500_000), "p99_ns": at(990_000), "p99_9_ns": at(999_000),
                "max_ns": each.max(axis=1), "coarse": list(coarse),
            }
            for column, values in intervals.items():
                rows["intervals"][column].extend(values)
            largest = numpy.sort(numpy.argsort(latencies, kind="stable")[-100:])
            spikes = {"thread": [number] * 100, "cpu": [setup["cpu"]] * 100, "release_ns": first + period * largest,
                      "latency_ns": latencies[largest], "irq_ns": [None] * 100, "thread_ns": [None] * 100}
            # The summary has the first of equal maxima.
            spikes["release_ns"][numpy.argmax(spikes["latency_ns"])] = thread["summary"]["max_at_ns"]
            for column, values in spikes.items():
                rows["spikes"][column].extend(values)
        together = numpy.concatenate(everything)
        total, _, _ = summary(together, DEADLINE_NS, 0, 0)
        largest = max((thread["summary"] for thread in self.threads), key=lambda one: one["max_ns"])
        self.total = total | {"max_at_ns": largest["max_at_ns"]}
        self.first_ns = min(firsts)
        for of in rows:
            table(folder / f"{of}.parquet", rows[of], base.tables[of].schema)
        (folder / "telemetry.parquet").write_bytes(base.telemetry)
        self.files = {file.name: described(file) for file in sorted(folder.iterdir())}


def described(file):
    return {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def publish(base, shape, folder, run, random):
    """Makes a run folder of a shape; its tables are links, unless the shape was made in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in shape.files:
        if folder != shape.folder:
            os.link(shape.folder / name, folder / name)
    total = shape.total
    overruns = total["misses"]
    offset = int(run["started"].timestamp()) * 1_000_000_000 - shape.first_ns
    clocks = [{"monotonic_ns": at, "boottime_ns": at, "realtime_ns": at + offset, "tai_ns": at + offset}
              for at in (shape.first_ns - 1_000_000, shape.first_ns + SECONDS * 1_000_000_000)]
    rows = {field.name: [reading[field.name] for reading in clocks] for field in base.tables["clocks"].schema}
    table(folder / "clocks.parquet", rows, base.tables["clocks"].schema)
    asked = base.document["asked"]
    checksum(folder / "run.json", base.document | {
        "id": folder.name, "started": f"{run['started']:%Y-%m-%dT%H:%M:%S}Z", "measured_ns": SECONDS * 1_000_000_000,
        "threads": shape.threads, "total": total, "clocks": clocks, "self_interference": None,
        "findings": [{"code": "not-realtime-kernel", "at_ns": None, "thread": None, "severity": "info",
                      "text": "A finding of a simulated run.", "remedy": None, "effect": "none"}] if overruns else [],
        "verdict": {"word": "fail" if overruns else "pass", "deadline_ns": DEADLINE_NS, "misses": overruns,
                    "releases": total["releases"], "at_most_share": None if overruns else 2.996 / total["releases"]},
        "asked": asked | {"name": run["scenario"], "note": "simulated", "seed": int(random.integers(1 << 62)),
                          "until": asked["until"] | {"deadline_ns": DEADLINE_NS, "duration_ns": SECONDS * 1_000_000_000}},
        "machine": base.document["machine"] | {
            "hostname": run["board"], "board": run["model"], "kernel": run["kernel"], "preemption": "PREEMPT_RT",
            "kernel_version": "#1 SMP PREEMPT_RT", "boot_id": f"{int(random.integers(1 << 62)):016x}"},
        "files": shape.files | {"clocks.parquet": described(folder / "clocks.parquet")},
    })


def checksum(path, document):
    """Writes run.json with its checksum: the SHA-256 of all lines before it."""
    fields = [f'  "{name}": {json.dumps(value, ensure_ascii=False)},\n' for name, value in document.items() if name != "checksum"]
    before = "{\n" + "".join(fields)
    path.write_text(f'{before}  "checksum": "{hashlib.sha256(before.encode()).hexdigest()}"\n}}\n')


def planted_steps(boards, seed):
    """Steps of the level: board, scenario, relative time from 0 to 1, and the factor."""
    random = numpy.random.default_rng(seed)
    places = [(boards[int(at)], list(SCENARIOS)[int(at) % 3]) for at in random.choice(len(boards), min(6, len(boards)), replace=False)]
    factors = [1.5, 1.35, 1.25, 0.7, 1.8, 0.8]
    # In the middle of a kernel's time, so that the series shows it.
    return [{"board": board, "scenario": scenario, "place": (at % 3 + 0.5) / 3, "factor": factor}
            for at, ((board, scenario), factor) in enumerate(zip(places, factors))]


def lab(folder, runs, boards=40, begin="2025-11-24", days=365, seed=1, say=lambda made: None):
    """Makes this many runs of a lab."""
    base, random = Base(), numpy.random.default_rng(seed)
    steps = planted_steps(names_of(boards), seed)
    planned = plan(runs, boards, begin, days, steps, random)
    pool = []
    if runs > MOST_SHAPES:
        factors = [run["factor"] for run in planned]
        scratch = folder / ".shapes"
        pool = [Shape(base, scratch / str(number), factor, random)
                for number, factor in enumerate(numpy.geomspace(min(factors), max(factors), MOST_SHAPES))]
        grid = numpy.array([shape.factor for shape in pool])
    for made, run in enumerate(planned):
        path = folder / run["board"] / f"{run['started']:%Y%m%dT%H%M%SZ}_{run['scenario']}"
        shape = pool[int(numpy.argmin(abs(grid - run["factor"])))] if pool else Shape(base, path, run["factor"], random)
        publish(base, shape, path, run, random)
        say(made + 1)
    if pool:
        shutil.rmtree(scratch)
    return steps


def names_of(boards):
    return [f"board-{number:02}" for number in range(1, boards + 1)]


def plan(runs, boards, begin, days, steps, random):
    """What is measured when, and the level of its latencies."""
    names = names_of(boards)
    levels = {name: float(numpy.exp(random.normal(0.0, 0.35))) for name in names}
    # As with real regressions, neither machine nor plan shows the cause of a new level.
    of_kernel = {(name, kernel): float(numpy.exp(random.normal(0.0, 0.08))) for name in names for kernel in KERNELS}
    nights = -(-runs // (boards * len(SCENARIOS)))
    first = datetime.datetime.fromisoformat(begin).replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(hours=1)
    planned = []
    for night in range(nights):
        place = night / nights
        # With more nights than days, there are several runs a day.
        begun = first + datetime.timedelta(hours=int(place * days * 24) if nights > days else int(place * days) * 24)
        kernel = KERNELS[int(place * len(KERNELS))]
        for at, board in enumerate(names):
            for number, (scenario, load) in enumerate(SCENARIOS.items()):
                factor = levels[board] * load * of_kernel[board, kernel] * float(numpy.exp(random.normal(0.0, 0.02)))
                for step in steps:
                    if (step["board"], step["scenario"]) == (board, scenario) and place >= step["place"]:
                        factor *= step["factor"]
                planned.append({
                    "board": board, "model": MODELS[at % len(MODELS)], "kernel": kernel, "scenario": scenario, "factor": factor,
                    "started": begun + datetime.timedelta(minutes=2 * number, seconds=at)})
    return planned[:runs]


def make(folder, args):
    folder.mkdir(parents=True, exist_ok=True)
    steps = lab(folder, args.runs[0], args.boards, args.begin, args.days, args.seed,
                lambda made: made % 100 or print(f"\r{made} runs", end="", file=sys.stderr))
    print(file=sys.stderr)
    (folder / "steps.json").write_text(json.dumps(steps, indent=1) + "\n")


# Figures

def size(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files), len(files)


def timed(words):
    """Runs a command; returns its seconds, CPU seconds, and the largest memory of its processes in MB."""
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status not in (0, 256):
        sys.exit(f"{words} ended with {status}")
    return round(time.monotonic() - begin, 2), round(used.ru_utime + used.ru_stime, 2), used.ru_maxrss // 1024


QUERIES = ["board-tail", "worst", "trend", "matrix", "changed", "coverage"]


class Tables:
    """Fresh tables of runs, and the cost of each command on them, as a line of JSON."""

    def __init__(self, path, runs):
        self.path, self.runs = path, runs
        shutil.rmtree(path, ignore_errors=True)
        self.fleet = [os.environ.get("LATLAB", str(ROOT / "target/latlab")), "fleet", "--table", str(path)]

    def time(self, what, *words):
        seconds, cpu, memory = timed([*self.fleet, *map(str, words)])
        held, files = size(self.path)
        say(runs=self.runs, what=what, s=seconds, cpu_s=cpu, mb=memory, bytes=held, files=files)

    def ask(self, how, *words):
        for query in QUERIES:
            self.time(f"{query}, {how}", "query", query, "--format", "json", *words)

    def compact(self):
        self.time("compact", "compact")
        self.time("vacuum", "vacuum", "--keep", "0h")


def say(**figures):
    print(json.dumps(figures), flush=True)


def figures(folder, args):
    for runs in args.runs:
        here = folder / f"runs-{runs}"
        shutil.rmtree(here, ignore_errors=True)
        lab(here, runs, args.boards, args.begin, args.days, args.seed)
        held, files = size(here)
        say(runs=runs, what="run folders", bytes=held, files=files)
        tables = Tables(folder / f"fleet-{runs}", runs)
        tables.time("add", "add", here)
        tables.ask("duckdb, as added")
        tables.compact()
        tables.ask("duckdb")
        one = folder / "one"
        shutil.rmtree(one, ignore_errors=True)
        lab(one, 1, 1, "2026-11-30", 1, 99)
        tables.time("add one more", "add", one)
        tables.time("add with nothing new", "add", here)
        tables.time("trend as a page", "query", "trend", "-o", folder / f"trend-{runs}.html")
        if args.spark:
            tables.ask("spark", "--engine", "spark")
        tables.time("verify", "verify")
        if not args.keep:
            shutil.rmtree(here)


def nights(folder, args):
    each = args.boards * len(SCENARIOS)
    tables = Tables(folder / "fleet-nights", each * args.days)
    begin = datetime.date.fromisoformat(args.begin)
    for day in range(args.days):
        here = folder / "nights" / str(day)
        shutil.rmtree(here, ignore_errors=True)
        lab(here, each, args.boards, str(begin + datetime.timedelta(days=day)), 1, args.seed + day)
        tables.time(f"add night {day + 1}", "add", here)
    tables.ask("duckdb, as added")
    tables.compact()
    tables.ask("duckdb")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=["simulate", "figures", "nights"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, nargs="+", default=[1000])
    parser.add_argument("--boards", type=int, default=40)
    parser.add_argument("--from", dest="begin", default="2025-11-24")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    {"simulate": make, "figures": figures, "nights": nights}[args.what](args.folder, args)


if __name__ == "__main__":
    main()
