"""The engines that answer queries: DuckDB on this machine, Spark on a cluster. Both take the same SQL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import duckdb

from latlab.fleet.columns import TABLES
from latlab.program import LatlabError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# With Spark 4.2 and later its Delta reader fails.
SPARK_JARS = "io.delta:delta-spark_4.1_2.13:4.4.0"

Rows = tuple[list[str], list[list[Any]]]
"""The names of the columns, and the rows."""


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def delta_scan(table: Path) -> str:
    """The expression by which DuckDB reads a Delta table."""
    return f"delta_scan({quoted(str(table.absolute()))})"


def damaged(folder: Path, error: Exception) -> LatlabError:
    """The error of tables that cannot be read, with what to do."""
    why = first_line(error)
    return LatlabError(f"the tables in {str(folder)!r} cannot be read: {why}: `latlab fleet rebuild` rebuilds them", 3)


@contextmanager
def captured_stderr() -> Iterator[IO[str]]:
    """Captures what a library prints about a failure, which can be pages."""
    with open(os.memfd_create("stderr"), "w+") as said:
        own = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(own, 2)
            os.close(own)


@contextmanager
def memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory."""
    with _without_progress(duckdb.connect()) as database:
        yield database


@contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that reads Delta tables; create only temporary objects, since the process shares the database."""
    with _without_progress(_database(os.getpid()).cursor()) as database:
        yield database


def _without_progress(database: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A connection that draws no progress into the output."""
    return database.execute("SET enable_progress_bar = false")


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """A process's database in memory, with the extension for Delta tables.

    The extension comes as a package, so no network is needed. The threads of a database do not survive a fork.
    """
    wanted = f"pip install 'duckdb-extension-delta=={duckdb.__version__}'"
    try:
        import duckdb_extension_delta
    except ModuleNotFoundError as error:
        raise LatlabError(f"duckdb-extension-delta is not installed: {wanted}", 3) from error
    version = "v" + duckdb.__version__
    path = Path(duckdb_extension_delta.__path__[0], "extensions", version, "delta.duckdb_extension")
    if not path.exists():
        raise LatlabError(f"duckdb-extension-delta is not that of DuckDB {duckdb.__version__}: {wanted}", 3)
    # DuckDB would hash 78 MB to check the signature, which takes longer than a query; its package is trusted like
    # this one. A user's statement cannot load an unsigned extension.
    database = duckdb.connect(config={"allow_unsigned_extensions": True})
    database.execute(f"LOAD {quoted(str(path))}")
    return database.execute("SET allow_unsigned_extensions = false")


def views(where: str) -> Mapping[str, str]:
    """The text of each view of a query: runs for which a condition holds, and the rows of complete runs."""
    whole = "batch IN (SELECT batch FROM runs_stored)"
    texts = {"runs": f"SELECT * FROM runs_stored{where and f' WHERE {where}'}"}
    texts |= {name: f"SELECT * FROM {name}_stored WHERE {whole}" for name in TABLES if name != "runs"}
    return texts


def ask_duckdb(folder: Path, sql: str, where: str) -> Rows:
    """Asks DuckDB."""
    with connect() as database:
        try:
            for name in TABLES:
                database.execute(f"CREATE TEMP VIEW {name}_stored AS FROM {delta_scan(folder / name)}")
        except duckdb.Error as error:
            raise damaged(folder, error) from error
        for name, text in views(where).items():
            database.execute(f"CREATE TEMP VIEW {name} AS {text}")
        try:
            statements = database.extract_statements(sql)
            if len(statements) != 1:
                raise LatlabError(f"expected one statement of SQL, found {len(statements)}", 2)
            asked = database.execute(statements[0])
            columns = [name for name, *_ in asked.description or []]
            return columns, [[_plain(value) for value in row] for row in asked.fetchall()]
        except duckdb.Error as error:
            if str(folder.absolute()) in str(error):
                raise damaged(folder, error) from error
            raise LatlabError(f"DuckDB: {first_line(error)}", 2) from error


def ask_spark(folder: Path, sql: str, where: str, master: str | None) -> Rows:
    """Asks Spark, on a cluster if one is named, else in this process."""
    from pyspark.errors import PySparkException

    spark = _spark(master)
    try:
        for name in TABLES:
            spark.read.format("delta").load(str((folder / name).absolute())).createOrReplaceTempView(f"{name}_stored")
        for name, text in views(where).items():
            spark.sql(text).createOrReplaceTempView(name)
        answer = spark.sql(sql.rstrip().removesuffix(";"))
        return answer.columns, [[_plain(value) for value in row] for row in answer.collect()]
    except PySparkException as error:
        raise LatlabError(f"Spark: {first_line(error)}", 2) from error
    finally:
        spark.stop()


def _spark(master: str | None) -> SparkSession:
    if find_spec("pyspark") is None:
        raise LatlabError("Spark is not installed: pip install './python[spark]' in a clone of latlab, and a Java runtime of version 17 or later", 3)
    from pyspark.sql import SparkSession

    settings = Path(__file__).with_name("log4j2.properties")
    builder = (
        SparkSession.Builder()
        .appName("latlab fleet")
        .master(master or os.environ.get("LATLAB_SPARK") or "local[*]")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={settings}")
    )
    # A cluster may have them already, configured by SPARK_CONF_DIR.
    jars = os.environ.get("LATLAB_SPARK_JARS", SPARK_JARS)
    if jars:
        builder = builder.config("spark.jars.packages", jars)
    with captured_stderr() as said:
        try:
            return builder.getOrCreate()
        except Exception as error:
            said.seek(0)
            thrown = [line.split(": ", 1)[-1] for line in said if line.startswith("Exception in thread")]
            why = thrown[0].strip() if thrown else first_line(error)
            raise LatlabError(f"Spark does not start: {why[:300]}", 3) from error


def _plain(value: Any) -> Any:
    """A value for JSON: both engines return decimals for sums of integers."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value)


def first_line(error: BaseException) -> str:
    """The first line of an error."""
    said = str(error).strip().splitlines()
    return said[0] if said else type(error).__name__
