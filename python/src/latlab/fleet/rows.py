"""The rows of runs: from the program, which checks each folder, and from the tables in the folders.

Values are part of a statement's text: to bind them DuckDB would import pandas, which takes longer than a query.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from latlab.fleet.columns import COMMON, DETAILS, FINDING, MOST_SPIKES, OF_PROGRAM, RUNS
from latlab.fleet.engine import memory, quoted
from latlab.program import pipe

Names = dict[str, tuple[str | None, str]]
"""Of each folder the board, if it is not that of the run, and the tags."""


@dataclass
class Read:
    """What was read from some run folders; the rows themselves are in a database in memory."""

    database: duckdb.DuckDBPyConnection
    runs: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Folder, checksum, board and id of each."""
    damaged: list[tuple[str, str]] = field(default_factory=list)
    """Folder, and what is wrong with it."""


@contextmanager
def read_runs(folders: Sequence[Path], named: Names) -> Iterator[Read]:
    """Reads run folders."""
    with tempfile.TemporaryDirectory(prefix="latlab-fleet-") as scratch, memory() as database:
        said = Path(scratch, "rows.jsonl")
        with open(said, "wb") as file:
            pipe("fleet-rows", given="".join(json.dumps(str(folder)) + "\n" for folder in folders), into=file)
        given = Path(scratch, "named.jsonl")
        given.write_text("".join(_line(str(folder), *named[str(folder)]) for folder in folders))
        yield _load(database, said, given)


def _line(folder: str, board: str | None, tags: str) -> str:
    return json.dumps({"path": folder, "board": board, "tags": tags}) + "\n"


def _load(database: duckdb.DuckDBPyConnection, said: Path, given: Path) -> Read:
    run = ", ".join(f"{name} {type}" for name, type in OF_PROGRAM.items())
    finding = ", ".join(f"{name} {type}" for name, type in FINDING.items())
    columns = (
        f"{{path: 'VARCHAR', damaged: 'VARCHAR', run: 'STRUCT({run})', findings: 'STRUCT({finding})[]', "
        "tables: 'VARCHAR[]'}"
    )
    database.execute(
        f"CREATE TABLE said AS FROM read_json({quoted(str(said))}, format='newline_delimited', columns={columns}, "
        "maximum_object_size=268435456)"
    )
    database.execute(
        f"CREATE TABLE named AS FROM read_json({quoted(str(given))}, format='newline_delimited', "
        "columns={path: 'VARCHAR', board: 'VARCHAR', tags: 'VARCHAR'})"
    )
    values = {
        "month": "substr(run.started, 1, 7)",
        "board": "coalesce(named.board, nullif(regexp_replace(run.hostname, '[^A-Za-z0-9._-]+', '-', 'g'), ''), 'unknown')",
        "batch": "CAST(NULL AS BIGINT)",
        "day": "substr(run.started, 1, 10)",
        "started_ns": "epoch_ns(CAST(run.started AS TIMESTAMP_NS))",
        "folder": "path",
        "tags": "named.tags",
        "settings": "substr(sha256(run.settings), 1, 16)",
    }
    rows = ", ".join(f"{values.get(name, f'run.{name}')} AS {name}" for name in RUNS)
    database.execute(f"CREATE TABLE runs AS SELECT {rows} FROM said JOIN named USING (path) WHERE said.damaged IS NULL")
    return Read(
        database,
        database.execute("SELECT folder, checksum, board, run FROM runs ORDER BY started_ns, board, run").fetchall(),
        database.execute("SELECT path, damaged FROM said WHERE damaged IS NOT NULL ORDER BY path").fetchall(),
    )


def choose(read: Read, batch: int, folders: Iterable[str]) -> None:
    """Assigns the batch to the runs that will be added."""
    chosen = ", ".join(quoted(folder) for folder in folders)
    read.database.execute(f"CREATE OR REPLACE TABLE chosen AS FROM runs WHERE folder IN ({chosen})")
    read.database.execute(f"UPDATE chosen SET batch = {batch}")


def rows_of_runs(read: Read) -> duckdb.DuckDBPyRelation:
    """The rows of the table `runs`."""
    return read.database.sql(f"SELECT {', '.join(RUNS)} FROM chosen ORDER BY month, board, run")


def rows_of(read: Read, table: str) -> duckdb.DuckDBPyRelation | None:
    """The rows of another table; None if no run has any."""
    if table == "findings":
        fields = ", ".join(f"found.{name}" for name in FINDING)
        return read.database.sql(
            f"SELECT c.month, c.board, c.batch, c.run, {fields} FROM chosen c JOIN said ON said.path = c.folder, "
            "unnest(said.findings) AS one(found) ORDER BY c.month, c.board, c.run"
        )
    stored = read.database.execute(
        f"SELECT c.folder FROM chosen c JOIN said ON said.path = c.folder WHERE list_contains(said.tables, {quoted(table)})"
    ).fetchall()
    if not stored:
        return None
    files = ", ".join(quoted(_without_patterns(f"{folder}/{table}.parquet")) for (folder,) in stored)
    return read.database.sql(_SELECT[table](f"read_parquet([{files}], filename=true)"))


def _without_patterns(path: str) -> str:
    """The path, escaped for a reader that interprets patterns."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _joined(rows: str, table: str, order: str) -> str:
    own = [name for name in DETAILS[table] if name not in COMMON]
    names = ", ".join("t.count AS cycles" if name == "cycles" else f"t.{name}" for name in own)
    return (
        f"SELECT c.month, c.board, c.batch, c.run, {names} FROM {rows} AS t "
        f"JOIN chosen c ON t.filename = c.folder || '/{table}.parquet' ORDER BY c.month, c.board, c.run, {order}"
    )


def _histogram(rows: str) -> str:
    return _joined(rows, "histogram", "t.thread, t.low_ns")


def _intervals(rows: str) -> str:
    return _joined(rows, "intervals", "t.thread, t.start_ns")


def _spikes(rows: str) -> str:
    largest = (
        f"(FROM {rows} QUALIFY row_number() OVER (PARTITION BY filename, thread ORDER BY latency_ns DESC, release_ns) "
        f"<= {MOST_SPIKES})"
    )
    return _joined(largest, "spikes", "t.thread, t.release_ns")


def _telemetry(rows: str) -> str:
    # Values between rows are interpolated, so a mean weighs each piece by its length.
    pieces = (
        f"(SELECT *, lead(time_ns) OVER series - time_ns AS length, lead(value) OVER series AS next FROM {rows} "
        "WINDOW series AS (PARTITION BY filename, metric, subject ORDER BY time_ns))"
    )
    series = (
        "(SELECT filename, metric, subject, any_value(unit) AS unit, any_value(kind) AS kind, count(value) AS readings, "
        "arg_min(value, time_ns) AS first_value, arg_max(value, time_ns) AS last_value, min(value) AS min_value, "
        "coalesce(sum((CAST(value AS DOUBLE) + next) / 2 * length) / nullif(sum(CASE WHEN value + next IS NOT NULL "
        "THEN length END), 0), avg(value)) AS mean_value, max(value) AS max_value "
        f"FROM {pieces} GROUP BY filename, metric, subject)"
    )
    return _joined(series, "telemetry", "t.metric, t.subject")


_SELECT = {"histogram": _histogram, "intervals": _intervals, "spikes": _spikes, "telemetry": _telemetry}
