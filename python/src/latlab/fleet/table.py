"""A fleet: the tables of many runs, which can be rebuilt from the run folders at any time.

Delta Lake makes a change of one table atomic. A run has rows in six, so `runs` is written last: rows of the others
count only if their batch is in `runs`. One process changes a fleet at a time; what a killed one left behind is
removed before the next change.
"""

import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable, Field, Schema, WriterProperties, write_deltalake
from deltalake.exceptions import DeltaError
from deltalake.schema import PrimitiveType

from latlab.fleet.columns import DETAILS, PARTITIONS, RUNS, TABLES
from latlab.fleet.engine import connect, damaged, delta_scan, first_line
from latlab.fleet.folders import find_runs, checksum_of
from latlab.fleet.rows import Names, Read, choose, read_runs, rows_of, rows_of_runs
from latlab.program import LatlabError

# Runs of one append.
_BATCH = 500
_FORMAT = 1
# The exit code for tables of a later format.
_LATER = 2
_DELTA_TYPES = {"VARCHAR": "string", "BIGINT": "long", "INTEGER": "integer", "DOUBLE": "double", "BOOLEAN": "boolean"}
# Every engine reads zstd, and Spark's snappy fails if musl is installed.
_WRITER = WriterProperties(compression="ZSTD", compression_level=3)


@dataclass
class Added:
    """The outcome of adding run folders."""

    added: int = 0
    """Runs that are in the table now."""
    known: int = 0
    """Runs that were in it before."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Folders that are not in it, each with the reason."""


@dataclass
class Verified:
    """The outcome of verifying tables and run folders."""

    runs: int = 0
    """Runs that were looked at."""
    wrong: list[str] = field(default_factory=list)
    """What is not as it should be, in sentences."""
    unread: list[str] = field(default_factory=list)
    """What could not be compared."""


class Fleet:
    """The tables of many runs, in a folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        """Its folder."""

    @property
    def exists(self) -> bool:
        """Whether it has been created."""
        return self._mark.exists()

    @property
    def _mark(self) -> Path:
        return self.path / "fleet.json"

    @property
    def _pending(self) -> Path:
        return self.path / "pending.json"

    def table(self, name: str) -> Path:
        """The folder of one of its tables."""
        return self.path / name

    def require(self) -> None:
        """Raises an error unless it has been created."""
        if not self.exists:
            raise LatlabError(f"no tables in {str(self.path)!r}: `latlab fleet add` makes them of run folders", 2)
        try:
            found = json.loads(self._mark.read_text())["format"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LatlabError(f"cannot read {self._mark}: {error}", 3) from error
        if found > _FORMAT:
            raise LatlabError(f"{self.path} was made by a later latlab (format {found}, known is {_FORMAT})", _LATER)

    # Changes

    def add(self, folders: Iterable[Path], board: str | None = None, tags: str = "") -> Added:
        """Adds the runs of these folders, each once."""
        done = Added()
        self._add(list(find_runs(folders)), {}, board, tags, done)
        return done

    def _add(
        self,
        runs: Sequence[Path],
        named: Names,
        board: str | None,
        tags: str,
        done: Added,
    ) -> None:
        known = self._known()
        new = [run for run in runs if checksum_of(run) not in known]
        done.known += len(runs) - len(new)
        for start in range(0, len(new), _BATCH):
            part = new[start : start + _BATCH]
            names = {str(folder): named.get(str(folder), (board, tags)) for folder in part}
            with read_runs(part, names) as read:
                done.left_out += read.damaged
                if read.runs:
                    with self._changing():
                        self._append(read, done)

    def _known(self) -> dict[str, tuple[str, str]]:
        """Board and id of each run in the table, by its checksum."""
        if not self.exists:
            return {}
        return {checksum: (board, run) for checksum, board, run in self._select("checksum, board, run")}

    def _select(self, columns: str) -> list[tuple[Any, ...]]:
        """Columns of the table of runs."""
        try:
            with connect() as database:
                return database.sql(f"SELECT {columns} FROM {delta_scan(self.table('runs'))}").fetchall()
        except duckdb.Error as error:
            raise damaged(self.path, error) from error

    def _delta(self, name: str) -> DeltaTable:
        try:
            return DeltaTable(str(self.table(name)))
        except DeltaError as error:
            raise damaged(self.path, error) from error

    def _append(self, read: Read, done: Added) -> None:
        known = self._known()
        checksums, names = set(known), {name: checksum for checksum, name in known.items()}
        chosen = []
        for folder, checksum, board, run in read.runs:
            if checksum in checksums:
                done.known += 1
            elif (board, run) in names:
                done.left_out.append(
                    (folder, f"another run with the id {run} of board {board} is in the table: name the board with --board")
                )
            else:
                checksums.add(checksum)
                names[board, run] = checksum
                chosen.append(folder)
        if not chosen:
            return
        batch = self._begin()
        choose(read, batch, chosen)
        for table in DETAILS:
            rows = rows_of(read, table)
            if rows is not None:
                self._write(table, rows)
        self._write("runs", rows_of_runs(read))
        self._end()
        done.added += len(chosen)

    def _write(self, table: str, rows: duckdb.DuckDBPyRelation) -> None:
        write_deltalake(
            str(self.table(table)),
            rows,
            mode="append",
            schema_mode="merge",
            partition_by=list(PARTITIONS),
            writer_properties=_WRITER,
        )

    def _begin(self) -> int:
        """The number of a new batch, which is written to the disk before any of its rows."""
        batch = max((int(batch) for (batch,) in self._select("DISTINCT batch")), default=0) + 1
        _write_whole(self._pending, json.dumps({"batch": batch}))
        return batch

    def _end(self) -> None:
        self._pending.unlink()

    @contextmanager
    def _changing(self, anew: bool = False) -> Iterator[None]:
        """Locks the tables for a change, and first removes what a killed process left, unless they are rebuilt."""
        lock = self.path.with_name(self.path.name + ".lock")
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LatlabError(f"cannot write {lock}: {error.strerror}", 3) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._recover(anew)
            yield
        finally:
            os.close(file)

    def _recover(self, anew: bool) -> None:
        before, new = self._before, self._new
        if before.exists() and not self.path.exists():
            before.rename(self.path)
        for left in (before, new):
            shutil.rmtree(left, ignore_errors=True)
        if not self.exists:
            self._create()
            return
        try:
            self.require()
        except LatlabError as error:
            # Tables of a later latlab are not replaced.
            if not anew or error.exit_code == _LATER:
                raise
        if not anew and self._pending.exists():
            self._undo(_batch_of(self._pending))
            self._end()

    def _undo(self, batch: int | None) -> None:
        """Removes the rows of an unfinished append."""
        if batch is None:
            raise LatlabError(f"cannot read {self._pending}: `latlab fleet rebuild` rebuilds the tables", 3)
        if (batch,) not in self._select("DISTINCT batch"):
            for table in DETAILS:
                self._delta(table).delete(f"batch = {batch}", writer_properties=_WRITER)

    def _create(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        for name, columns in TABLES.items():
            path = str(self.table(name))
            if not DeltaTable.is_deltatable(path):
                fields = [Field(column, PrimitiveType(_DELTA_TYPES[type])) for column, type in columns.items()]
                DeltaTable.create(path, Schema(fields), partition_by=list(PARTITIONS), name=name)
        _write_whole(self._mark, json.dumps({"format": _FORMAT}) + "\n")

    def compact(self) -> tuple[int, int]:
        """Merges many small files into few large ones; returns both numbers."""
        self.require()
        before = after = 0
        with self._changing():
            for name in TABLES:
                table = self._delta(name)
                before += len(table.file_uris())
                table.optimize.compact(writer_properties=_WRITER)
                table.create_checkpoint()
                after += len(table.file_uris())
        return before, after

    def vacuum(self, keep_hours: int) -> int:
        """Deletes files that no version of the tables in the last hours needs; returns their number."""
        self.require()
        deleted = 0
        with self._changing():
            for name in TABLES:
                table = self._delta(name)
                gone = table.vacuum(keep_hours, dry_run=False, enforce_retention_duration=False, full=True)
                table.cleanup_metadata()
                deleted += len(gone)
        return deleted

    @property
    def _new(self) -> Path:
        return self.path.with_name(self.path.name + ".new")

    @property
    def _before(self) -> Path:
        return self.path.with_name(self.path.name + ".before")

    def rebuild(self, folders: Sequence[Path], without_missing: bool = False) -> Added:
        """Rebuilds the tables from their run folders and from further ones, and replaces the old ones."""
        done = Added()
        with self._changing(anew=True):
            named = self._sources(bool(folders))
            missing = [folder for folder in named if not Path(folder, "run.json").is_file()]
            if missing and not without_missing:
                raise LatlabError(
                    f"{len(missing)} of {len(named)} run folders are not there any more, such as {missing[0]}: bring them "
                    "back, or leave them out with --without-missing",
                    3,
                )
            done.left_out += [(folder, "it is not there any more") for folder in missing]
            there = [Path(folder) for folder in named if folder not in set(missing)]
            runs = list(dict.fromkeys([*there, *find_runs(folders)]))
            new = Fleet(self._new)
            with new._changing():
                pass
            new._add(runs, named, None, "", done)
            self.path.rename(self._before)
            new.path.rename(self.path)
            shutil.rmtree(self._before, ignore_errors=True)
            new.path.with_name(new.path.name + ".lock").unlink(missing_ok=True)
        return done

    def _sources(self, others: bool) -> Names:
        """The folders of all runs with their boards and tags; empty if unknown but others are named."""
        try:
            rows = self._select("started_ns, board, run, folder, tags")
        except LatlabError as error:
            if not others:
                why = first_line(error.__cause__ or error)
                raise LatlabError(f"{why}: name the folders of the runs: `latlab fleet rebuild FOLDER...`", 3) from error
            print(
                "latlab: the table of runs cannot be read: only the folders that are named are added, without what --board and "
                "--tag once said of them",
                file=sys.stderr,
            )
            return {}
        return {folder: (board, tags or "") for _, board, _, folder, tags in sorted(rows, key=lambda row: row[:4])}

    # Checks

    def verify(self) -> Verified:
        """Compares the tables with the run folders, and with each other."""
        self.require()
        found = Verified()
        with self._changing():
            try:
                self._verify(found)
            except duckdb.Error as error:
                found.wrong.append(f"the tables cannot be read: {first_line(error)}")
            except LatlabError as error:
                found.wrong.append(str(error))
        return found

    def _verify(self, found: Verified) -> None:
        for name in TABLES:
            table = self._delta(name)
            gone = [uri for uri in table.file_uris() if not Path(uri.removeprefix("file://")).exists()]
            found.wrong += [f"a file of {name} is missing: {uri}" for uri in gone]
        if found.wrong:
            return
        with connect() as database:
            for name in TABLES:
                database.execute(f"CREATE TEMP VIEW {name} AS FROM {delta_scan(self.table(name))}")
            for board, run, times in database.sql(
                "SELECT board, run, count(*) FROM runs GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL"
            ).fetchall():
                found.wrong.append(f"{run} of {board} is {times} times in the table")
            for name in DETAILS:
                lost = database.execute(f"SELECT count(*) FROM {name} WHERE batch NOT IN (SELECT batch FROM runs)").fetchone()
                if lost and lost[0]:
                    found.wrong.append(f"{lost[0]} rows of {name} belong to no run")
            for name in ("histogram", "intervals"):
                sums = (
                    f"SELECT r.board, r.run, r.cycles, coalesce(s.cycles, 0) FROM runs r LEFT JOIN (SELECT month, board, run, "
                    f"sum(cycles) AS cycles FROM {name} GROUP BY ALL) s USING (month, board, run) "
                    "WHERE r.cycles <> coalesce(s.cycles, 0) ORDER BY ALL"
                )
                if name == "intervals":
                    # An imported run has no sums.
                    sums = sums.replace("WHERE", "WHERE s.cycles IS NOT NULL AND")
                for board, run, cycles, has in database.sql(sums).fetchall():
                    found.wrong.append(f"{run} of {board} has {cycles} cycles, and {has} in {name}")
            stored = database.sql(f"SELECT {', '.join(RUNS)} FROM runs ORDER BY started_ns, board, run").fetchall()
        self._compare(found, [dict(zip(RUNS, row)) for row in stored])

    def _compare(self, found: Verified, stored: list[dict[str, object]]) -> None:
        """Compares rows of runs with their folders."""
        found.runs = len(stored)
        there = [row for row in stored if Path(str(row["folder"]), "run.json").exists()]
        found.unread += [f"{row['folder']} is not there any more" for row in stored if row not in there]
        for start in range(0, len(there), _BATCH):
            part = {str(row["folder"]): row for row in there[start : start + _BATCH]}
            named: Names = {folder: (str(row["board"]), str(row["tags"] or "")) for folder, row in part.items()}
            with read_runs([Path(folder) for folder in part], named) as read:
                found.wrong += [f"{folder}: {reason}" for folder, reason in read.damaged]
                today = read.database.sql(f"SELECT {', '.join(RUNS)} FROM runs").fetchall()
            for values in today:
                now = dict(zip(RUNS, values))
                before = part[str(now["folder"])]
                differs = [name for name in RUNS if name != "batch" and now[name] != before[name]]
                if "checksum" in differs:
                    found.wrong.append(f"{now['folder']} has another checksum than the run in the table")
                elif differs:
                    found.wrong.append(f"{now['folder']} and the table differ in {', '.join(differs)}")


def watch(
    fleet: Fleet, folders: Sequence[Path], board: str | None, tags: str, every: float, say: Callable[[Added], None]
) -> None:
    """Adds new runs in the folders until interrupted."""
    told: set[tuple[str, str]] = set()
    while True:
        done = fleet.add(folders, board, tags)
        done.left_out = [one for one in done.left_out if one not in told]
        told.update(done.left_out)
        if done.added or done.left_out:
            # Do not report known runs each time.
            done.known = 0
            say(done)
        time.sleep(every)


def _batch_of(pending: Path) -> int | None:
    try:
        return int(json.loads(pending.read_text())["batch"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_whole(path: Path, text: str) -> None:
    """Writes a small file atomically, and syncs it."""
    draft = path.with_name(path.name + ".draft")
    with open(draft, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
