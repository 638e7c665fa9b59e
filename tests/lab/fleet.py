#!/usr/bin/env python3
"""Tests of the tables of many runs. Usage: tests/lab/fleet.py FOLDER [CASE...]

FOLDER is created. CASE is a part of a name. $LATLAB is the program; the Python package and the requirements of its
extra `fleet` are in PYTHONPATH.
"""

import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import duckdb_extension_delta
import numpy
import pyarrow.parquet
from cases import passes

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))
import fleet as simulated  # noqa: E402
import latlab.fleet as tables  # noqa: E402

HERE = pathlib.Path(sys.argv[1])
LAB, FIXTURES = HERE / "lab", HERE / "fixtures"
QUERIES = ["board-tail", "worst", "trend", "matrix", "changed", "coverage"]
BOARDS, NIGHTS = 3, 4
RUNS = BOARDS * NIGHTS * len(simulated.SCENARIOS)
LONG = bool(os.environ.get("LATLAB_LONG"))
# Kills of adders and compactions.
KILLS = int(os.environ.get("KILLS", "2")) * (6 if LONG else 1)
# The tables during whose writing an append or a compaction is killed.
KILLED_AT = range(6) if LONG else (3,)


def same(what, found, expected):
    assert found == expected, f"{what}: {found!r}, not {expected!r}"


def fleet(table, *words, code=0, environment=None):
    """The output of `latlab fleet`, standard output and errors."""
    process = subprocess.run(
        [os.environ["LATLAB"], "fleet", "--table", str(table), *map(str, words)],
        capture_output=True, text=True, cwd=HERE, env={**os.environ, **(environment or {})},
    )
    assert process.returncode == code, f"{words}: exit code {process.returncode}, not {code}: {process.stdout}{process.stderr}"
    return process.stdout + process.stderr


def ask(table, *words):
    """The rows of an answer as dictionaries."""
    answer = json.loads(fleet(table, "query", *words, "--format", "json"))
    return [dict(zip(answer["columns"], row)) for row in answer["rows"]]


def answers(table):
    """The answers of all queries, without a process for each."""
    return {query: tables.ask(tables.Fleet(table), query).records() for query in QUERIES}


def sql(table, text):
    file = HERE / "own.sql"
    file.write_text(text)
    return tables.ask(tables.Fleet(table), file).rows


def made(name):
    """Tables of all simulated runs, copied from tables that are made once."""
    whole = HERE / "whole"
    if not whole.exists():
        same("what is said", fleet(whole, "add", LAB), f"{RUNS} runs added\n")
    shutil.copytree(whole, HERE / name)
    return HERE / name


def run_folders():
    return sorted(path.parent for path in LAB.rglob("run.json"))


def stored_runs_are_added_each_once():
    table = HERE / "stored"
    said = fleet(table, "add", FIXTURES, code=0)
    same("what is said", said, "3 runs added\n")
    same("said the second time", fleet(table, "add", FIXTURES, FIXTURES), "0 runs added, 3 in the table already\n")
    for row in sql(table, "SELECT run, checksum, run_schema, cycles, max_ns, p99_ns, verdict, folder FROM runs"):
        run, checksum, schema, cycles, largest, p99, verdict, folder = row
        document = json.loads(pathlib.Path(folder, "run.json").read_text())
        total = document["total"]
        same(f"figures of {run}", (schema, cycles, largest, p99, verdict), (
            document["schema"], total["cycles"], total["max_ns"], total["quantiles"]["p99_ns"],
            document["verdict"] and document["verdict"]["word"]))
        same(f"checksum of {run}", checksum, document["checksum"])
        for name, column in ("histogram", "cycles"), ("intervals", "cycles"), ("spikes", "latency_ns"):
            stored = pyarrow.parquet.read_table(pathlib.Path(folder, f"{name}.parquet"))
            [[rows, total]] = sql(table, f"SELECT count(*), CAST(sum({column}) AS BIGINT) FROM {name} WHERE run = '{run}'")
            if name != "spikes":
                same(f"{name} of {run}", (rows, total), (stored.num_rows, sum(stored["count"].to_pylist())))
            else:
                of = [[latency for latency, its in zip(stored["latency_ns"].to_pylist(), stored["thread"].to_pylist())
                       if its == thread] for thread in set(stored["thread"].to_pylist())]
                largest = [latency for each in of for latency in sorted(each)[-100:]]
                same(f"spikes of {run}", (rows, total), (len(largest), sum(largest)))
    found = sql(table, "SELECT severity, text FROM findings WHERE code = 'period-aliases-tick'")
    same("findings", [row[0] for row in found], ["warning"])
    assert "Releases every 2 ms" in found[0][1], found
    [[readings]] = sql(table, "SELECT count(*) FROM telemetry WHERE run LIKE '%traced' AND min_value <= mean_value "
                              "AND mean_value <= max_value AND readings > 0")
    stored = pyarrow.parquet.read_table(next(FIXTURES.glob("*traced")) / "telemetry.parquet").to_pylist()
    same("series of telemetry", readings, len({(row["metric"], row["subject"]) for row in stored
                                               if row["value"] is not None}))


def a_damaged_run_is_told_and_left_out():
    folder, table = HERE / "damaged", HERE / "of-damaged"
    shutil.copytree(LAB / "board-01", folder)
    first, second, third, *_ = sorted(folder.iterdir())
    with open(first / "histogram.parquet", "r+b") as file:
        file.seek(200)
        file.write(b"\xff\xff")
    (second / "spikes.parquet").unlink()
    text = (third / "run.json").read_text()
    (third / "run.json").write_text(text.replace('"misses": 0', '"misses": 1', 1).replace('"policy": "fifo', '"policy": "rr', 1))
    said = fleet(table, "add", folder, code=1)
    for run, why in (first, "SHA-256"), (second, "spikes.parquet"), (third, "checksum"):
        [line] = [line for line in said.splitlines() if run.name in line]
        assert line.startswith("latlab: ") and "is left out" in line and why in line, line
    assert said.startswith(f"{RUNS // BOARDS - 3} runs added, 3 left out\n"), said
    same("rows of runs", sql(table, "SELECT count(*) FROM runs"), [[RUNS // BOARDS - 3]])


def two_runs_of_one_name_and_board_are_told_apart_by_a_name():
    table, other = made("namesakes"), HERE / "namesake"
    run = run_folders()[0]
    shutil.copytree(run, other / run.name)
    document = json.loads((other / run.name / "run.json").read_text())
    document["machine"]["boot_id"] = "another"
    simulated.checksum(other / run.name / "run.json", document)
    assert "name the board with --board" in fleet(table, "add", other, code=1)
    fleet(table, "add", other, "--board", "board-99", "--tag", "rack=3", "--tag", "place=cellar")
    same("the board", sql(table, "SELECT board, tags FROM runs WHERE tags <> ''"), [["board-99", "place=cellar rack=3"]])
    fleet(table, "verify")


def quantiles_are_those_of_all_latencies_together():
    table = made("tail")
    bins, runs = {}, {}
    for folder in run_folders():
        document = json.loads((folder / "run.json").read_text())
        key = (document["machine"]["hostname"], document["machine"]["kernel"], document["asked"]["name"])
        runs.setdefault(key, []).append(document)
        rows = pyarrow.parquet.read_table(folder / "histogram.parquet").to_pydict()
        for high, count in zip(rows["high_ns"], rows["count"]):
            bins.setdefault(key, {}).setdefault(high, 0)
            bins[key][high] += count
    rows = ask(table, "board-tail")
    same("groups", {(row["board"], row["kernel"], row["scenario"]) for row in rows}, set(bins))
    for row in rows:
        key = (row["board"], row["kernel"], row["scenario"])
        high = numpy.array(sorted(bins[key]))
        up_to = numpy.cumsum([bins[key][edge] for edge in high])
        largest = max(document["total"]["max_ns"] for document in runs[key])
        for name, (share, _) in simulated.QUANTILES.items():
            if name in row:
                same(f"{name} of {key}", row[name], simulated.quantile(high, up_to, share, 0, largest))
        same(f"sums of {key}", (row["runs"], row["cycles"], row["max_ns"], row["misses"]), (
            len(runs[key]), int(up_to[-1]), largest, sum(document["total"]["misses"] for document in runs[key])))
    # For a single run they are those that latlab stored.
    one = HERE / "single"
    fleet(one, "add", run_folders()[0])
    [row] = ask(one, "board-tail")
    quantiles = json.loads((run_folders()[0] / "run.json").read_text())["total"]["quantiles"]
    same("of a single run", [row[name] for name in quantiles if name in row], [quantiles[name] for name in quantiles if name in row])


def every_query_answers_what_it_says():
    table = made("queries")
    [largest, *_] = ask(table, "worst")
    documents = [json.loads((folder / "run.json").read_text()) for folder in run_folders()]
    worst = max(documents, key=lambda document: document["total"]["max_ns"])
    same("worst", (largest["max_ns"], largest["run"]), (worst["total"]["max_ns"], worst["id"]))
    at = max(worst["threads"], key=lambda thread: thread["summary"]["max_ns"])
    same("its CPU", largest["cpu"], at["setup"]["cpu"])
    same("points of the trend", len(ask(table, "trend")), RUNS)
    matrix = ask(table, "matrix")
    same("cells", len(matrix), BOARDS * len(simulated.SCENARIOS))
    for row in matrix:
        of = sorted((one for one in documents if one["machine"]["hostname"] == row["board"] and one["asked"]["name"] == row["scenario"]),
                    key=lambda one: one["started"])
        same("newest", (row["started"], row["verdict"]), (of[-1]["started"], of[-1]["verdict"]["word"]))
        same("judged", (row["runs"], row["passed"], row["failed"]), (
            len(of), *(sum(one["verdict"]["word"] == word for one in of) for word in ("pass", "fail"))))
    changed = ask(table, "changed")
    kernels = sorted({document["machine"]["kernel"] for document in documents}, key=simulated.KERNELS.index)
    same("kernels", {(row["kernel_before"], row["kernel"]) for row in changed}, {tuple(kernels[-2:])})
    assert [row["ratio"] for row in changed] == sorted((row["ratio"] for row in changed), reverse=True)
    same("settings", {row["settings"] for row in changed}, {"same"})
    # A scenario that only one board has.
    fleet(table, "add", next(FIXTURES.glob("*traced")))
    lacking = [row for row in ask(table, "coverage") if row["runs"] == 0]
    same("what is not covered", len(lacking), BOARDS + len(simulated.SCENARIOS))


def a_selection_leaves_out_the_rest():
    table = made("selected")
    same("boards", {row["board"] for row in ask(table, "board-tail", "--board", "board-02", "--board", "board-03")},
         {"board-02", "board-03"})
    same("scenarios", {row["scenario"] for row in ask(table, "matrix", "--scenario", "idle")}, {"idle"})
    started = sorted(row["started"] for row in ask(table, "trend"))
    middle = started[len(started) // 2]
    same("since", sorted(row["started"] for row in ask(table, "trend", "--since", middle)), [one for one in started if one >= middle])
    same("until", sorted(row["started"] for row in ask(table, "trend", "--until", middle)), [one for one in started if one < middle])
    same("nothing", fleet(table, "query", "worst", "--board", "it's none"), "No row: no run fits.\n")


def an_answer_is_printed_in_each_format():
    table = made("formats")
    rows = ask(table, "board-tail")
    read = list(csv.DictReader(fleet(table, "query", "board-tail", "--format", "csv").splitlines()))
    same("csv", [{name: str(value) for name, value in row.items()} for row in rows], read)
    text = fleet(table, "query", "board-tail", environment={"COLUMNS": "200"})
    same("lines", len(text.splitlines()), len(rows) + 1)
    assert "p99.9" in text and " us" in text + " ms", text
    for query in QUERIES:
        svg = fleet(table, "query", query, "--format", "svg")
        assert svg.startswith("<svg") and "board-01" in svg, svg[:200]
        fleet(table, "query", query, "-o", HERE / f"{query}.html")
        page = (HERE / f"{query}.html").read_text()
        assert page.startswith("<!DOCTYPE html>") and "board-01" in page and "<script src" not in page, page[:200]


def mistakes_are_one_line():
    table = made("mistakes")
    broken = HERE / "broken.sql"
    broken.write_text("SELECT nonsense FROM runs")
    (HERE / "none-in-it.sql").write_text("-- only a comment\n")
    (HERE / "two.sql").write_text("SELECT 1; SELECT 2;")
    (HERE / "odd.sql").write_bytes(b"SELECT '\xff'")
    (HERE / "empty").mkdir()
    # Its last 256 bytes are its signature.
    unsigned, load = HERE / "unsigned.duckdb_extension", HERE / "load.sql"
    signed = next(pathlib.Path(duckdb_extension_delta.__path__[0]).rglob("delta.duckdb_extension"))
    unsigned.write_bytes(signed.read_bytes()[:-256] + bytes(256))
    load.write_text(f"LOAD '{unsigned}'")
    for words, code, expected in [
        (["query", "--sql", HERE / "none.sql"], 2, "cannot read"),
        (["query", "--sql", broken], 2, "nonsense"),
        (["query", "--sql", HERE / "none-in-it.sql"], 2, "expected one statement of SQL, found 0"),
        (["query", "--sql", HERE / "two.sql"], 2, "expected one statement of SQL, found 2"),
        (["query", "--sql", HERE / "odd.sql"], 2, "expected SQL in UTF-8"),
        (["query", "--sql", load], 2, "signature"),
        (["add", HERE / "nowhere"], 2, "no folder"),
        (["add", HERE / "empty"], 2, "no run in"),
        (["query", "worst", "--board", "a\\b"], 2, "backslash"),
    ]:
        said = fleet(table, *words, code=code)
        assert expected in said and said.startswith("latlab: ") and said.count("\n") == 1, said
    said = fleet(HERE / "no-table", "query", "worst", code=2)
    assert "latlab fleet add" in said and not (HERE / "no-table").exists(), said


def compaction_changes_no_answer():
    table = HERE / "compacted"
    for run in sorted((LAB / "board-01").iterdir())[:4]:
        fleet(table, "add", run)
    before, files = answers(table), len(list(table.rglob("*.zstd.parquet")))
    said = fleet(table, "compact")
    many, few = [int(word) for word in said.split() if word.isdigit()]
    assert few < many == files, (said, files)
    same("answers after compaction", answers(table), before)
    fleet(table, "vacuum", "--keep", "0h")
    same("files after the vacuum", len(list(table.rglob("*.zstd.parquet"))), few)
    same("answers after the vacuum", answers(table), before)
    fleet(table, "verify")


def a_vacuum_keeps_what_is_young():
    table = made("young")
    fleet(table, "compact")
    before = len(list(table.rglob("*.parquet")))
    same("deleted", fleet(table, "vacuum"), "0 files deleted\n")
    same("files", len(list(table.rglob("*.parquet"))), before)


def what_is_not_as_it_was_is_found():
    table = made("verified")
    same("a whole table", fleet(table, "verify"), f"ok, {RUNS} runs\n")
    copies = HERE / "copies"
    shutil.copytree(LAB, copies)
    table = HERE / "of-copies"
    fleet(table, "add", copies)
    first, second, third, *_ = sorted(path.parent for path in copies.rglob("run.json"))
    document = json.loads((first / "run.json").read_text())
    document["total"]["max_ns"] += 1
    simulated.checksum(first / "run.json", document)
    (second / "histogram.parquet").write_bytes(b"nothing")
    shutil.rmtree(third)
    said = fleet(table, "verify", code=1)
    assert f"DAMAGED: {first} has another checksum" in said, said
    assert f"DAMAGED: {second}: " in said and f"NOT READ: {third} is not there any more" in said, said
    shutil.rmtree(first)
    shutil.rmtree(second)
    fleet(table, "verify", code=3)
    table = made("holes")
    next((table / "histogram").rglob("*.parquet")).unlink()
    assert "a file of histogram is missing" in fleet(table, "verify", code=1)
    fleet(table, "rebuild")
    same("after the rebuilding", fleet(table, "verify"), f"ok, {RUNS} runs\n")


def damaged_tables_lose_no_run():
    """Garbage in the newest log entry of a table makes it unreadable."""
    board, table = LAB / "board-01", HERE / "unreadable"
    fleet(table, "add", board)
    before = answers(table)
    for name, folders in ("histogram", []), ("runs", [board]):
        record = sorted((table / name / "_delta_log").glob("*.json"))[-1]
        record.write_text("garbage\n")
        said = fleet(table, "query", "board-tail", code=3)
        assert "cannot be read" in said and "latlab fleet rebuild" in said and said.count("\n") == 1, said
        assert "cannot be read" in fleet(table, "verify", code=1)
        (table / "pending.json").write_text("garbage")
        if folders:
            said = fleet(table, "rebuild", code=3)
            assert "latlab fleet rebuild FOLDER" in said and said.count("\n") == 1, said
        fleet(table, "rebuild", *folders)
        same("answers", answers(table), before)
    (table / "fleet.json").write_text('{"format": 99}')
    assert "later latlab" in fleet(table, "rebuild", code=2)


def links_pipes_and_devices_keep_no_run_out():
    odd = HERE / "odd"
    odd.mkdir()
    shutil.copytree(run_folders()[0], odd / "run")
    (odd / "up").symlink_to(odd)
    (odd / "round").symlink_to("round")
    (odd / "again").symlink_to("run")
    os.mkfifo(odd / "pipe")
    for name in "fifo", "device":
        (odd / name).mkdir()
    os.mkfifo(odd / "fifo" / "run.json")
    (odd / "device" / "run.json").symlink_to("/dev/zero")
    for counted in "1 run added, 2 left out\n", "0 runs added, 1 in the table already, 2 left out\n":
        said = fleet(HERE / "of-odd", "add", odd, code=1)
        assert said.startswith(counted) or said.endswith(counted), said
        assert f"{odd}/fifo/run.json cannot be read: not a regular file" in said, said
        assert f"{odd}/device/run.json cannot be read: it is a link" in said, said


def a_full_disk_is_one_line():
    disk = HERE / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", disk], capture_output=True).returncode:
        print("SKIPPED: tables on a full disk: nothing can be mounted here")
        return
    try:
        said = fleet(disk / "tables", "add", LAB, code=3)
        assert "No space left" in said and said.startswith("latlab: ") and said.count("\n") == 1, said
        same("what is whole", fleet(disk / "tables", "verify"), "ok, 0 runs\n")
        # If even the first table has no room, the library prints the cause on a separate line.
        shutil.rmtree(disk / "tables")
        (disk / "filler").write_bytes(bytes(384 << 10))
        said = fleet(disk / "tables", "add", LAB, code=3)
        assert "No space left" in said and said.count("\n") == 1, said
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        said = fleet(disk / "tables", "add", LAB, code=3)
        assert "Read-only file system" in said and said.count("\n") == 1, said
    finally:
        subprocess.run(["umount", disk], check=True)


def rebuilding_gives_the_same_answers():
    table = made("rebuilt")
    board = sorted(FIXTURES.iterdir())
    fleet(table, "add", board[0], "--board", "named", "--tag", "a=b")
    before = answers(table)
    said = fleet(table, "rebuild", board[1])
    same("what is said", said, f"{RUNS + 2} runs added\n")
    same("names", sql(table, "SELECT board, tags FROM runs WHERE board = 'named'"), [["named", "a=b"]])
    after = {query: [row for row in rows if row.get("scenario") != "sampled"] for query, rows in answers(table).items()}
    for query in "board-tail", "trend", "matrix", "changed":
        same(query, after[query], before[query])
    copies = HERE / "moved"
    shutil.copytree(LAB / "board-01", copies)
    table = HERE / "of-moved"
    fleet(table, "add", copies)
    gone = sorted(copies.iterdir())[0]
    shutil.rmtree(gone)
    said = fleet(table, "rebuild", code=3)
    assert str(gone) in said and "--without-missing" in said, said
    same("runs after a refusal", sql(table, "SELECT count(*) FROM runs"), [[RUNS // BOARDS]])
    fleet(table, "rebuild", "--without-missing", code=1)
    same("runs without it", sql(table, "SELECT count(*) FROM runs"), [[RUNS // BOARDS - 1]])


def a_later_column_is_empty_in_older_rows():
    table = HERE / "evolved"
    earlier = ("from latlab.fleet import columns, Fleet; import pathlib, sys\n"
               "del columns.RUNS['policy'], columns.RUNS['p50_ns']\n"
               "Fleet(sys.argv[1]).add([pathlib.Path(sys.argv[2])])")
    first, second, *_ = run_folders()
    environment = {**os.environ, "LATLAB_PROGRAM": os.environ["LATLAB"]}
    subprocess.run([sys.executable, "-c", earlier, str(table), str(first)], check=True, env=environment)
    fleet(table, "add", second)
    document = json.loads((second / "run.json").read_text())
    same("the columns", sql(table, "SELECT p50_ns, policy FROM runs ORDER BY started"),
         [[None, None], [document["total"]["quantiles"]["p50_ns"], document["threads"][0]["setup"]["policy"]]])
    fleet(table, "compact")
    same("the points", len(ask(table, "trend")), 2)


# Kills

# Kills itself when one of these functions was called this many times.
KILLED = """
import os, pathlib, signal, sys
from latlab.fleet import table
place, number, path, *folders = sys.argv[1:]
owner, name = {"write": (table.Fleet, "_write"), "compact": (table.DeltaTable, "create_checkpoint"),
               "rename": (pathlib.Path, "rename")}[place]
real, left = getattr(owner, name), [int(number)]
def counted(*args, **kwargs):
    if place == "rename" and not str(args[1]).startswith(path):
        return real(*args, **kwargs)
    if place == "rename" and str(args[0]).endswith(".draft"):
        return real(*args, **kwargs)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return real(*args, **kwargs)
setattr(owner, name, counted)
fleet = table.Fleet(path)
if place == "write":
    fleet.add([pathlib.Path(folder) for folder in folders])
elif place == "compact":
    fleet.compact()
else:
    fleet.rebuild([])
"""


def killed(place, number, table, *folders):
    process = subprocess.run([sys.executable, "-c", KILLED, place, str(number), str(table), *map(str, folders)],
                             capture_output=True, text=True, env={**os.environ, "LATLAB_PROGRAM": os.environ["LATLAB"]})
    return process.returncode == -signal.SIGKILL


# Invariant (fleet): An append is there whole or not at all, wherever it is killed.
def an_append_that_is_killed_leaves_nothing_and_can_be_repeated():
    first, *others = sorted(LAB.iterdir())
    others = [one for one in others if one.is_dir()]
    start = HERE / "start"
    fleet(start, "add", first)
    before = answers(start)
    expected = None
    for number in KILLED_AT:
        table = HERE / f"killed-{number}"
        shutil.copytree(start, table)
        assert killed("write", number, table, *others), f"it wrote fewer than {number + 1} tables"
        assert (table / "pending.json").exists()
        same(f"answers after {number} tables", answers(table), before)
        same("rows that count", sql(table, "SELECT count(DISTINCT batch) FROM histogram"), [[1]])
        fleet(table, "add", *others)
        assert not (table / "pending.json").exists()
        same("verified", fleet(table, "verify"), f"ok, {RUNS} runs\n")
        expected = expected or answers(table)
        same("answers after the repetition", answers(table), expected)


# Invariant (fleet): A compaction that is killed changes no answer.
def a_compaction_that_is_killed_changes_nothing():
    table = made("half-compacted")
    fleet(table, "add", FIXTURES)
    before = answers(table)
    for number in KILLED_AT:
        assert killed("compact", number, table)
        same(f"answers after {number} tables", answers(table), before)
    fleet(table, "compact")
    fleet(table, "vacuum", "--keep", "0h")
    same("answers in the end", answers(table), before)
    fleet(table, "verify")


# Invariant (fleet): A rebuilding that is killed leaves the tables of before.
def a_rebuilding_that_is_killed_leaves_the_tables_of_before():
    for number in range(2):
        table = made(f"half-rebuilt-{number}")
        assert killed("rename", number, table)
        same("added", fleet(table, "add", FIXTURES), "3 runs added\n")
        same("verified", fleet(table, "verify"), f"ok, {RUNS + 3} runs\n")
        left = [path.name for path in HERE.glob(f"half-rebuilt-{number}.*") if path.suffix != ".lock"]
        same("what is left", left, [])


# Invariant (fleet): Concurrent adders, some of them killed, put each run into the table exactly once.
def ten_adders_and_kills_lose_nothing_and_double_nothing():
    table = HERE / "contended"
    runs = run_folders()
    dice = random.Random(27)
    command = [os.environ["LATLAB"], "fleet", "--table", str(table)]

    def start(*words):
        return subprocess.Popen([*command, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def adder(number):
        # Several of them add each run.
        return start("add", *[run for at, run in enumerate(runs) if at % 10 == number or at % 7 == number % 7])

    working = [adder(number) for number in range(10)]
    for _ in range(KILLS):
        time.sleep(dice.uniform(0.1, 1.0))
        at = dice.randrange(len(working))
        working[at].kill()
        working[at].communicate()
        working[at] = start("compact") if table.joinpath("fleet.json").exists() and dice.random() < 0.4 else adder(dice.randrange(10))
    for process in working:
        _, said = process.communicate()
        assert process.returncode == 0, said
    fleet(table, "add", LAB)
    same("verified", fleet(table, "verify"), f"ok, {RUNS} runs\n")
    same("runs", sql(table, "SELECT count(*), count(DISTINCT checksum) FROM runs"), [[RUNS, RUNS]])
    same("answers", answers(table), answers(made("uncontended")))


def what_comes_is_added_while_it_watches():
    folder, table = HERE / "coming", HERE / "watched"
    folder.mkdir()
    first, second, *_ = run_folders()
    shutil.copytree(first, folder / first.name)
    process = subprocess.Popen([os.environ["LATLAB"], "fleet", "--table", str(table), "add", "--watch", "--every", "200ms", str(folder)],
                               stdout=subprocess.PIPE, text=True)
    try:
        same("the first", process.stdout.readline(), "1 run added\n")
        # A run folder appears by one rename.
        shutil.copytree(second, folder / f".{second.name}")
        (folder / f".{second.name}").rename(folder / second.name)
        same("the second", process.stdout.readline(), "1 run added\n")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    same("runs", sql(table, "SELECT count(*) FROM runs"), [[2]])


CASES = [
    stored_runs_are_added_each_once,
    a_damaged_run_is_told_and_left_out,
    two_runs_of_one_name_and_board_are_told_apart_by_a_name,
    quantiles_are_those_of_all_latencies_together,
    every_query_answers_what_it_says,
    a_selection_leaves_out_the_rest,
    an_answer_is_printed_in_each_format,
    mistakes_are_one_line,
    compaction_changes_no_answer,
    a_vacuum_keeps_what_is_young,
    what_is_not_as_it_was_is_found,
    damaged_tables_lose_no_run,
    links_pipes_and_devices_keep_no_run_out,
    a_full_disk_is_one_line,
    rebuilding_gives_the_same_answers,
    a_later_column_is_empty_in_older_rows,
    an_append_that_is_killed_leaves_nothing_and_can_be_repeated,
    a_compaction_that_is_killed_changes_nothing,
    a_rebuilding_that_is_killed_leaves_the_tables_of_before,
    ten_adders_and_kills_lose_nothing_and_double_nothing,
    what_comes_is_added_while_it_watches,
]


def main():
    HERE.mkdir()
    FIXTURES.mkdir()
    for path in ROOT.glob("fixtures/schema-*/runs/*"):
        shutil.copytree(path, FIXTURES / path.name)
    simulated.lab(LAB, RUNS, BOARDS)
    asked = [case for case in CASES if not sys.argv[2:] or any(part in case.__name__ for part in sys.argv[2:])]
    return not all([passes(case.__name__.replace("_", " "), case) for case in asked])


if __name__ == "__main__":
    sys.exit(main())
