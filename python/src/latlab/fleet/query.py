"""Queries: their texts, their answers, and the printing of these."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from latlab.fleet.engine import ask_duckdb, ask_spark, quoted
from latlab.fleet.table import Fleet
from latlab.program import LatlabError, pipe

QUERIES = ("board-tail", "worst", "trend", "matrix", "changed", "coverage")
"""The queries that come with the package."""


@dataclass(frozen=True)
class Answer:
    """The answer of an engine."""

    query: str
    """The name of the query, or of its file."""
    columns: list[str]
    rows: list[list[Any]]

    def document(self) -> dict[str, Any]:
        """The answer as `--format json` prints it."""
        return {"query": self.query, "columns": self.columns, "rows": self.rows}

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, from which pandas and Polars make frames."""
        return [dict(zip(self.columns, row)) for row in self.rows]

    def csv(self) -> str:
        """The answer as comma-separated values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def print(self, format: str, output: str | None) -> None:
        """Prints the answer, or writes it to a file; the program draws it, with the code of its reports."""
        options = [f"--output={output}"] if output else []
        given = self.csv() if format == "csv" else json.dumps(self.document())
        pipe("fleet-draw", "--format", format, *options, given=given)


@dataclass(frozen=True)
class Selection:
    """Which runs a query is about."""

    boards: Sequence[str] = ()
    """Names of boards."""
    scenarios: Sequence[str] = ()
    """Names of scenarios."""
    since: str | None = None
    """The earliest start: a day, or a time of a day, in UTC."""
    until: str | None = None
    """Only runs that began before this."""

    def condition(self) -> str:
        """The same in SQL; empty for all runs."""
        parts = []
        for column, names in ("board", self.boards), ("scenario", self.scenarios):
            if names:
                parts.append(f"{column} IN ({', '.join(_on_both(name) for name in names)})")
        if self.since:
            # The month is a partition, so that older rows are not read.
            parts.append(f"month >= {_on_both(self.since[:7])} AND started >= {_on_both(self.since)}")
        if self.until:
            parts.append(f"month <= {_on_both(self.until[:7])} AND started < {_on_both(self.until)}")
        return " AND ".join(parts)


def _on_both(text: str) -> str:
    """A text as a literal in the SQL of both engines."""
    if "\\" in text:
        # An escape for Spark, but not for DuckDB.
        raise LatlabError(f"{text!r}: names of boards and scenarios have no backslash here", 2)
    return quoted(text)


def sql_of(query: str) -> str:
    """The text of a query that comes with the package."""
    if query not in QUERIES:
        raise LatlabError(f"no query {query!r}: there are {', '.join(QUERIES)}", 2)
    return files("latlab.fleet").joinpath("queries", f"{query}.sql").read_text()


def ask(
    fleet: Fleet,
    query: str | Path,
    engine: str = "duckdb",
    selection: Selection = Selection(),
    master: str | None = None,
) -> Answer:
    """Runs one of the queries, or a file with SQL."""
    fleet.require()
    if isinstance(query, Path):
        try:
            sql = query.read_text()
        except OSError as error:
            raise LatlabError(f"cannot read {query}: {error.strerror}", 2) from error
        except UnicodeDecodeError as error:
            raise LatlabError(f"cannot read {query}: expected SQL in UTF-8", 2) from error
    else:
        sql = sql_of(query)
    name = query.stem if isinstance(query, Path) else query
    condition = selection.condition()
    match engine:
        case "duckdb":
            columns, rows = ask_duckdb(fleet.path, sql, condition)
        case "spark":
            columns, rows = ask_spark(fleet.path, sql, condition, master)
        case _:
            raise LatlabError(f"no engine {engine!r}: there are duckdb and spark", 2)
    return Answer(name, columns, rows)
