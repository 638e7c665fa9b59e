#!/usr/bin/env python3
"""Reads a run folder without latlab, with pandas and with DuckDB, and checks its sums.

usage: read_run.py RUN_DIR        needs: pandas, pyarrow, duckdb

For every thread the bins of the histogram, the cycles of the intervals and the cycles in
run.json must be the same number; minimum, maximum and mean must be exact; every file must have
its checksum. If samples are stored there must be one for every cycle, at releases of the thread,
and the figures of run.json must follow from them. One line is printed for each table; the exit code
is 1 at the first difference.
"""
# Invariant (old data): pandas and DuckDB read a run folder, and its sums agree.

import hashlib
import json
import lzma
import pathlib
import sys

import duckdb
import pandas
import pyarrow.parquet


def same(what, left, right):
    if left != right:
        sys.exit(f"{what}: {left!r} is not {right!r}")


def integer(value):
    return None if pandas.isna(value) else int(value)


def check_files(folder, run):
    for name, stored in run["files"].items():
        content = (folder / name).read_bytes()
        same(f"size of {name}", len(content), stored["bytes"])
        same(f"SHA-256 of {name}", hashlib.sha256(content).hexdigest(), stored["sha256"])
    others = {path.name for path in folder.iterdir()} - set(run["files"]) - {"run.json", "report.html"}
    # A journal that could not be read completely stays.
    others -= {"journal"} if run["losses"]["journal_bytes"] else set()
    same("files without a checksum", others, set())


def check_histogram(table, thread):
    number, summary = thread["setup"]["thread"], thread["summary"]
    rows = table[table.thread == number]
    same(f"bins of thread {number}", int(rows["count"].sum()), summary["cycles"])
    same(f"order of the bins of thread {number}", rows.low_ns.is_monotonic_increasing, True)
    same(f"overlaps of thread {number}", bool((rows.high_ns <= rows.low_ns.shift(-1))[:-1].all()), True)
    negative = int(rows[rows.low_ns < 0]["count"].sum())
    same(f"latencies below zero of thread {number}", negative, summary["underflow"])
    if summary["cycles"]:
        first, last = rows.iloc[0], rows.iloc[-1]
        same(f"bin of the minimum of thread {number}", first.low_ns <= summary["min_ns"] < first.high_ns, True)
        same(f"bin of the maximum of thread {number}", last.low_ns <= summary["max_ns"] < last.high_ns, True)


def check_intervals(table, thread, may_lose=False):
    number, summary = thread["setup"]["thread"], thread["summary"]
    rows = table[table.thread == number]
    recorded = rows[rows["count"] > 0]
    cycles = int(rows["count"].sum())
    same(f"intervals of thread {number}", cycles, summary["cycles"])
    if thread["end"] and not may_lose:
        same(f"cycles of the loop of thread {number}", cycles, thread["end"]["cycles"])
        same(f"overruns releases of the loop of thread {number}", int(rows.overruns.sum()), thread["end"]["overruns"])
    if summary["overruns"] is not None:
        same(f"overruns releases of thread {number}", int(rows.overruns.sum()), summary["overruns"])
    if summary["misses"] is not None:
        same(f"misses of thread {number}", int(rows.misses.sum()), summary["misses"])
    same(f"underflow of thread {number}", int(rows.underflow.sum()), summary["underflow"])
    same(f"minimum of thread {number}", integer(recorded.min_ns.min()), summary["min_ns"])
    same(f"maximum of thread {number}", integer(recorded.max_ns.max()), summary["max_ns"])
    if cycles:
        # The sum of an interval is an integer, to which its mean times its count rounds.
        total = sum(round(mean * count) for mean, count in zip(recorded.mean_ns, recorded["count"]))
        same(f"mean of thread {number}", total / cycles, summary["mean_ns"])
    coarse = sum(sum(counts) for counts in rows.coarse)
    same(f"coarse counts of thread {number}", int(coarse), cycles - summary["underflow"])
    same(f"order of the intervals of thread {number}", rows.start_ns.is_monotonic_increasing, True)


def check_spikes(table, thread):
    number, summary = thread["setup"]["thread"], thread["summary"]
    rows = table[table.thread == number]
    # After the last interval of a broken stream there may be a larger latency.
    if len(rows) and thread["end"]:
        same(f"spikes within the maximum of thread {number}", int(rows.latency_ns.max()) <= summary["max_ns"], True)
    if summary["max_at_ns"] is not None:
        largest = rows[rows.release_ns == summary["max_at_ns"]].latency_ns.max()
        same(f"spike of the maximum of thread {number}", int(largest), summary["max_ns"])
    same(f"number of spikes of thread {number}", len(rows) <= 4096, True)


def check_clocks(table, run):
    if run["clocks"]:
        first, last = run["clocks"]
        same("first reading of the clocks", {k: int(v) for k, v in table.iloc[0].items()}, first)
        same("last reading of the clocks", {k: int(v) for k, v in table.iloc[-1].items()}, last)
    else:
        same("readings of the clocks", len(table), 0)


def check_total(tables, run):
    total = run["total"]
    same("cycles of all threads", int(tables["intervals"]["count"].sum()), total["cycles"])
    same("bins of all threads", int(tables["histogram"]["count"].sum()), total["cycles"])
    if total["cycles"]:
        same("minimum of all threads", int(tables["intervals"].min_ns.min()), total["min_ns"])
        same("maximum of all threads", int(tables["intervals"].max_ns.max()), total["max_ns"])


def read_with_pandas(folder):
    names = ["histogram", "intervals", "spikes", "clocks"]
    return {name: pandas.read_parquet(folder / f"{name}.parquet", engine="pyarrow") for name in names}


def read_with_duckdb(folder):
    names = ["histogram", "intervals", "spikes", "clocks"]
    query = "select * from read_parquet(?)"
    with duckdb.connect() as database:
        return {name: database.execute(query, [str(folder / f"{name}.parquet")]).df() for name in names}


# Shares in parts per million, and the number of latencies from which on they are stored.
QUANTILES = {
    "p50_ns": (500_000, 1), "p90_ns": (900_000, 1), "p99_ns": (990_000, 1),
    "p99_9_ns": (999_000, 1_000), "p99_99_ns": (999_900, 10_000), "p99_999_ns": (999_990, 100_000),
}


def rank(count, share):
    """The place of a nearest-rank quantile in the sorted latencies, from 0."""
    return max(1, -(-count * share // 1_000_000)) - 1


def figures_with_pandas(folder, period):
    """For each thread: its sorted latencies by rank, sum, and its releases."""
    table = pandas.read_parquet(folder / "samples.parquet", engine="pyarrow")
    found = {}
    for number, rows in table.groupby("thread"):
        latencies, gaps = rows.latency_ns.sort_values().array, rows.release_ns.diff()[1:]
        found[number] = {
            "count": len(rows), "sum": int(rows.latency_ns.sum()), "at": lambda place, of=latencies: int(of[place]),
            "first": int(rows.release_ns.iloc[0]), "last_latency": int(rows.latency_ns.iloc[-1]),
            "least_gap": int(gaps.min()), "off_grid": int((gaps % period[number] != 0).sum()),
            "gaps": int((gaps // period[number] - 1).sum()), "cpus": set(rows.cpu.dropna().astype(int)),
        }
    return found


def figures_with_duckdb(folder, period):
    found = {}
    with duckdb.connect() as database:
        database.execute(f"create view samples as from read_parquet('{folder}/samples.parquet')")
        for (number,) in database.execute("select distinct thread from samples").fetchall():
            query = f"from samples where thread = {number}"
            gaps = f"(select release_ns - lag(release_ns) over (order by file_row_number) gap " \
                   f"from read_parquet('{folder}/samples.parquet', file_row_number=true) where thread = {number})"
            count, total, first = database.execute(
                f"select count(*), sum(latency_ns), min(release_ns) {query}").fetchone()
            step = period[number]
            least, off, overruns = database.execute(
                f"select min(gap), count(*) filter (gap % {step} <> 0), sum(gap // {step} - 1) from {gaps}").fetchone()
            (last,) = database.execute(f"select arg_max(latency_ns, release_ns) {query}").fetchone()
            cpus = {cpu for (cpu,) in database.execute(f"select distinct cpu {query}").fetchall() if cpu is not None}
            ordered = database.execute(f"select latency_ns {query} order by latency_ns").fetchnumpy()["latency_ns"]
            found[number] = {
                "count": count, "sum": int(total), "at": lambda place, of=ordered: int(of[place]), "first": first,
                "last_latency": last, "least_gap": least, "off_grid": off, "gaps": int(overruns), "cpus": cpus,
            }
    return found


def check_quantiles(number, summary, found):
    for name, (share, least) in QUANTILES.items():
        stored = summary["quantiles"][name]
        same(f"{name} of thread {number} is there", stored is not None, found["count"] >= least)
        if stored is not None:
            exact = found["at"](rank(found["count"], share))
            # The upper edge of the bin, or the maximum.
            width = 100 if exact < 1_000_000 else exact / 32
            same(f"{name} of thread {number}: {exact} in the bin below {stored}", 0 <= stored - exact < width, True)


def check_samples(run, thread, found):
    setup, summary = thread["setup"], thread["summary"]
    number = setup["thread"]
    same(f"samples of thread {number}", found["count"], summary["cycles"])
    same(f"minimum of the samples of thread {number}", found["at"](0), summary["min_ns"])
    same(f"maximum of the samples of thread {number}", found["at"](found["count"] - 1), summary["max_ns"])
    same(f"mean of the samples of thread {number}", found["sum"] / found["count"], summary["mean_ns"])
    same(f"CPUs of thread {number}", found["cpus"], {setup["cpu"]} - {None})
    check_quantiles(number, summary, found)
    same(f"releases of thread {number} rise", found["least_gap"] > 0, True)
    method = run["asked"]["method"]
    clock = method.get("releases", {"clock": "monotonic"})["clock"]
    if clock == "monotonic" and summary["overruns"] is not None:
        same(f"first release of thread {number}", found["first"], setup["first_release_ns"])
        same(f"releases of thread {number} off the grid", found["off_grid"], 0)
    if method.get("overruns", "skip") == "skip" and summary["overruns"] is not None:
        # After the last cycle no gap shows the overruns.
        behind = found["last_latency"] // setup["period_ns"]
        same(f"overruns releases of thread {number}", 0 <= summary["overruns"] - found["gaps"] <= behind, True)


def packed_by_xz(folder):
    latencies = pyarrow.parquet.read_table(folder / "samples.parquet").column("latency_ns").to_numpy()
    return len(lzma.compress(latencies.astype("<u4").tobytes()))


def check_all_samples(folder, run):
    periods = {thread["setup"]["thread"]: thread["setup"]["period_ns"] for thread in run["threads"]}
    same("samples lost", run["losses"]["samples"], 0)
    for reader, figures in ("pandas", figures_with_pandas), ("duckdb", figures_with_duckdb):
        found = figures(folder, periods)
        same("threads with samples", set(found), set(periods))
        for thread in run["threads"]:
            check_samples(run, thread, found[thread["setup"]["thread"]])
        rows, size = sum(one["count"] for one in found.values()), (folder / "samples.parquet").stat().st_size
        print(f"{reader:7} {'samples':10} {rows:9} rows, {size:9} bytes: ok, {size / rows:.3f} bytes a sample")
        if rows > 100_000:
            # Latencies of a busy machine vary more, which takes more bytes.
            ratio = size / packed_by_xz(folder)
            same("samples take at most a quarter more than their latencies packed by xz", ratio < 1.25, True)


def check_edges(folder, tables):
    notes = pyarrow.parquet.read_metadata(folder / "intervals.parquet").metadata
    edges = json.loads(notes[b"coarse_edges_ns"])
    same("order of the coarse edges", edges, sorted(set(edges)))
    same("length of the coarse counts", {len(counts) for counts in tables["intervals"].coarse} - {len(edges)}, set())


def check(folder, run, reader, tables):
    for thread in run["threads"]:
        check_histogram(tables["histogram"], thread)
        check_intervals(tables["intervals"], thread)
        check_spikes(tables["spikes"], thread)
    check_clocks(tables["clocks"], run)
    check_total(tables, run)
    check_edges(folder, tables)
    for name, table in tables.items():
        print(f"{reader:7} {name:10} {len(table):9} rows, {(folder / f'{name}.parquet').stat().st_size:9} bytes: ok")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    run = json.loads((folder / "run.json").read_text())
    check_files(folder, run)
    check(folder, run, "pandas", read_with_pandas(folder))
    check(folder, run, "duckdb", read_with_duckdb(folder))
    if "samples.parquet" in run["files"]:
        check_all_samples(folder, run)


if __name__ == "__main__":
    main()
