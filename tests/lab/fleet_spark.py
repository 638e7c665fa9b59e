#!/usr/bin/env python3
"""Every query on DuckDB and on a Spark cluster of this machine, row by row. Usage: tests/lab/fleet_spark.py FOLDER

FOLDER is created. A master and a worker of Spark run as processes on loopback. $LATLAB is the program; the Python
package and the requirements of its extras `fleet` and `spark` are in PYTHONPATH.
"""

import json
import math
import os
import pathlib
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))
import fleet as simulated  # noqa: E402

HERE = pathlib.Path(sys.argv[1])
QUERIES = ["board-tail", "worst", "trend", "matrix", "changed", "coverage"]
OWN = """
SELECT r.board, i.thread, count(*) AS seconds, CAST(sum(i.cycles) AS BIGINT) AS cycles, max(s.latency_ns) AS spike_ns,
    count(DISTINCT f.code) AS findings, count(DISTINCT t.metric) AS metrics, max(r.mean_ns) AS mean_ns
FROM runs r
JOIN intervals i ON i.month = r.month AND i.board = r.board AND i.run = r.run AND i.start_ns = r.start_ns
JOIN spikes s ON s.month = r.month AND s.board = r.board AND s.run = r.run AND s.thread = i.thread
LEFT JOIN findings f ON f.month = r.month AND f.board = r.board AND f.run = r.run
LEFT JOIN (SELECT DISTINCT month, board, run, metric FROM telemetry WHERE metric < 'd') t
    ON t.month = r.month AND t.board = r.board AND t.run = r.run
GROUP BY r.board, i.thread
ORDER BY r.board, i.thread
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def cluster(spark):
    """Starts a master and a worker; returns the address of the master, and both processes."""
    port = free_port()
    environment = {**os.environ, "SPARK_HOME": str(spark), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "512m"}
    begin = lambda name, *words: subprocess.Popen(
        [str(spark / "bin/spark-class"), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0", *words],
        env=environment, stdout=open(HERE / f"{name}.log", "w"), stderr=subprocess.STDOUT, cwd=HERE)
    url = f"spark://127.0.0.1:{port}"
    processes = [begin("master.Master", "--port", str(port))]
    wait_for(lambda: "I have been elected leader" in (HERE / "master.Master.log").read_text(), "a master")
    processes.append(begin("worker.Worker", "-c", "2", "-m", "2g", url))
    wait_for(lambda: "Successfully registered with master" in (HERE / "worker.Worker.log").read_text(), "a worker")
    return url, processes


def wait_for(holds, what):
    end = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < end, f"expected in time: {what}"
        time.sleep(0.5)


def ask(table, *words):
    process = subprocess.run([os.environ["LATLAB"], "fleet", "--table", str(table), "query", *map(str, words), "--format", "json"],
                             capture_output=True, text=True, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"})
    assert process.returncode == 0, process.stderr[-3000:]
    answer = json.loads(process.stdout)
    return answer["columns"], answer["rows"]


def is_alike(one, other):
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return one == other and type(one) is type(other)


def compare(table, url, *words):
    columns, rows = ask(table, *words)
    other_columns, other_rows = ask(table, *words, "--engine", "spark", "--master", url)
    assert columns == other_columns, (columns, other_columns)
    assert len(rows) == len(other_rows) > 0, (len(rows), len(other_rows))
    for number, (row, other) in enumerate(zip(rows, other_rows)):
        for name, one, two in zip(columns, row, other):
            assert is_alike(one, two), f"row {number}, {name}: DuckDB says {one!r}, Spark {two!r}"
    return len(rows)


def main():
    import pyspark

    HERE.mkdir()
    lab, table = HERE / "lab", HERE / "fleet"
    simulated.lab(lab, 180, 5)
    for folders in [lab], [ROOT / "fixtures/schema-1/runs"]:
        subprocess.run([os.environ["LATLAB"], "fleet", "--table", str(table), "add", *map(str, folders)], check=True,
                       stdout=subprocess.DEVNULL)
    own = HERE / "own.sql"
    own.write_text(OWN)
    url, processes = cluster(pathlib.Path(pyspark.__path__[0]))
    failed = 0
    try:
        for words in [[query] for query in QUERIES] + [["--sql", own], ["worst", "--board", "board-02", "--since", "2026-02-01"]]:
            what = f"{' '.join(pathlib.Path(word).name for word in map(str, words))}: DuckDB and a Spark cluster answer the same"
            try:
                begin = time.monotonic()
                rows = compare(table, url, *words)
                print(f"ok {what}, {rows} rows, {time.monotonic() - begin:.0f} s", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"not ok {what}\n    {error}", flush=True)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
