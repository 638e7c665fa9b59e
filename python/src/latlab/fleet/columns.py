"""The tables of a fleet and their columns, with types that DuckDB, Delta Lake and Spark share.

A row of a table belongs to a run by `month`, `board` and `run`, and counts only if its `batch` is in `runs`, which is
written last.
"""

import json
from importlib.resources import files

PARTITIONS = ("month", "board")

# Columns of every table: month (UTC) and board of the run, the append that added it, and its id.
COMMON = {"month": "VARCHAR", "board": "VARCHAR", "batch": "BIGINT", "run": "VARCHAR"}

# What the program prints about a run (`latlab fleet-rows`): a file that `make reference` writes.
OF_PROGRAM: dict[str, str] = json.loads(files("latlab.fleet").joinpath("runs.json").read_text())

FINDING = {
    "code": "VARCHAR",
    "severity": "VARCHAR",
    "effect": "VARCHAR",
    "at_ns": "BIGINT",
    "thread": "BIGINT",
    "text": "VARCHAR",
    "remedy": "VARCHAR",
}

# In addition the day of its start, that time in ns since 1970, its folder, and its tags.
RUNS = {
    **COMMON,
    "day": "VARCHAR",
    "started_ns": "BIGINT",
    "folder": "VARCHAR",
    "tags": "VARCHAR",
    **OF_PROGRAM,
}

# The other tables.
DETAILS = {
    "histogram": {
        **COMMON,
        "thread": "INTEGER",
        "cpu": "INTEGER",
        "low_ns": "BIGINT",
        "high_ns": "BIGINT",
        "cycles": "BIGINT",
    },
    "intervals": {
        **COMMON,
        "thread": "INTEGER",
        "cpu": "INTEGER",
        "start_ns": "BIGINT",
        "end_ns": "BIGINT",
        "cycles": "BIGINT",
        "overruns": "BIGINT",
        "misses": "BIGINT",
        "min_ns": "BIGINT",
        "mean_ns": "DOUBLE",
        "p50_ns": "BIGINT",
        "p99_ns": "BIGINT",
        "p99_9_ns": "BIGINT",
        "max_ns": "BIGINT",
    },
    "spikes": {
        **COMMON,
        "thread": "INTEGER",
        "cpu": "INTEGER",
        "release_ns": "BIGINT",
        "latency_ns": "BIGINT",
        "irq_ns": "BIGINT",
        "thread_ns": "BIGINT",
    },
    "findings": {**COMMON, **FINDING},
    "telemetry": {
        **COMMON,
        "metric": "VARCHAR",
        "subject": "VARCHAR",
        "unit": "VARCHAR",
        "kind": "VARCHAR",
        "readings": "BIGINT",
        "first_value": "BIGINT",
        "last_value": "BIGINT",
        "min_value": "BIGINT",
        "mean_value": "DOUBLE",
        "max_value": "BIGINT",
    },
}

TABLES = {"runs": RUNS, **DETAILS}

# The number of largest latencies of each thread of a run in `spikes`.
MOST_SPIKES = 100
