#!/usr/bin/env python3
"""Tests of the Python package. Usage: tests/lab/python.py FOLDER pandas|polars runs|tables

FOLDER is created; `latlab` of PATH imports and measures there. `tables` reads only frames, `runs` tests everything.
"""

import glob
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import warnings

import latlab
from cases import passes

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE, FRAME = pathlib.Path(sys.argv[1]), sys.argv[2]
RUNS = HERE / "runs"
ORDINARY = {"policy": "other", "idle_states": "system", "warm_up": "0s", "share": True}


def same(what, found, expected):
    assert found == expected, f"{what}: {found!r}, not {expected!r}"


def fails(words, act, code=...):
    """That a call raises an error with these words, on one line, and this exit code."""
    try:
        act()
    except latlab.LatlabError as error:
        assert all(word in str(error) for word in words), f"{words} are not in: {error}"
        assert "\n" not in str(error), error
        assert code is ... or error.exit_code == code, (error.exit_code, error)
    else:
        raise AssertionError(f"no error with {words}")


def columns(frame):
    """The columns as lists, with either library."""
    return frame.to_dict(orient="list") if FRAME == "pandas" else frame.to_dict(as_series=False)


def is_missing(value):
    return value is None or type(value).__name__ == "NAType"


def stored_runs():
    """The fixtures: without samples, with samples, with samples and a trace."""
    return [one for name in ("plain", "sampled", "traced") for one in RUNS.glob(f"*_{name}")]


def every_stored_run_has_the_figures_of_its_document():
    for path in stored_runs():
        run, stored = latlab.open(path), json.loads((path / "run.json").read_text())
        total = stored["total"]
        for name in ["cycles", "overruns", "misses", "min_ns", "mean_ns", "max_ns"]:
            same(f"{name} of {path.name}", getattr(run, name), total[name])
        quantiles = {f"p{share}": total["quantiles"][f"p{share.replace('.', '_')}_ns"] for share in "50 90 99 99.9".split()}
        same(f"quantiles of {path.name}", run.quantiles, quantiles)
        same("maxima", run.maxima, {one["setup"]["thread"]: one["summary"]["max_ns"] for one in stored["threads"]})
        same("word", run.verdict and run.verdict.word, stored["verdict"] and stored["verdict"]["word"])
        same("findings", [one.code for one in run.findings], [one["code"] for one in stored["findings"]])
        same("kernel", run.machine["kernel"], stored["machine"]["kernel"])
        same("deadline", run.deadline_ns, stored["asked"]["until"]["deadline_ns"])
        same("instrument", run.plan["method"]["instrument"], "cyclic")
        same("name", (run.name, run.id, run.path), (stored["asked"]["name"], path.name, path))
        same("start", run.started.isoformat()[:19], stored["started"][:19])
        if run.largest:
            first = run.largest[0]
            same("largest", first["latency_ns"], run.max_ns)
            same("since the start", first["release_ns"] - run.start_ns, first["since_start_ns"])
        assert run.id in repr(run) and f"{run.cycles} cycles" in repr(run), run


def every_table_adds_up_to_the_figures():
    for path in stored_runs():
        run = latlab.open(path)
        bins, intervals = columns(run.histogram(FRAME)), columns(run.intervals(FRAME))
        same("cycles in bins", sum(bins["count"]), run.cycles)
        same("cycles in intervals", sum(intervals["count"]), run.cycles)
        same("overruns in intervals", sum(intervals["overruns"]), run.overruns)
        same("maximum of intervals", max(intervals["max_ns"]), run.max_ns)
        same("largest spike", max(columns(run.spikes(FRAME))["latency_ns"]), run.max_ns)
        same("edges of coarse", len(run.intervals.notes()["coarse_edges_ns"]), len(intervals["coarse"][0]))
        same("samples are stored", run.samples.is_stored, (path / "samples.parquet").exists())
        if run.samples.is_stored:
            samples = columns(run.samples(FRAME))
            latencies = samples["latency_ns"]
            same("samples", len(latencies), run.cycles)
            same("figures", (min(latencies), max(latencies)), (run.min_ns, run.max_ns))
            same("mean", sum(latencies) / len(latencies), run.mean_ns)
            same("threads", set(samples["thread"]), {thread.number for thread in run.threads})
        else:
            fails(["no samples", "samples=True"], run.samples)
        if run.telemetry.is_stored:
            telemetry = columns(run.telemetry(FRAME))
            assert {"cpu_busy_time", "temperature", "cpu_time"} & set(telemetry["metric"]) or telemetry["metric"]
            same("columns", list(telemetry), ["time_ns", "metric", "subject", "unit", "kind", "value"])
        same("clocks", columns(run.clocks(FRAME))["realtime_ns"][0], run.document["clocks"][0]["realtime_ns"])


def numbers_that_may_be_missing_stay_whole():
    run = latlab.open(stored_runs()[-1])
    for name in ["samples", "spikes", "histogram", "intervals"]:
        cells = columns(getattr(run, name)(FRAME))
        for column, values in cells.items():
            if column.endswith("_ns") and column != "mean_ns" or column in ("thread", "cpu", "count"):
                wrong = [one for one in values if not is_missing(one) and int(one) != one or isinstance(one, float)]
                assert not wrong, (name, column, wrong[:3])
    breakdown = [one for one in columns(run.spikes(FRAME))["irq_ns"] if not is_missing(one)]
    assert breakdown and all(isinstance(one, int) for one in breakdown), breakdown[:3]


def an_imported_run_says_what_it_does_not_know():
    subprocess.run(
        ["latlab", "import", ROOT / "fixtures/recordings/ct24_h40.txt", "--deadline", "1ms", "--name", "imported", "--out", RUNS],
        check=True, stdout=subprocess.DEVNULL,
    )
    run = latlab.open(RUNS / "imported")
    same("figures", (run.cycles, run.max_ns, run.overruns, run.verdict.word), (4000, 286000, None, "pass"))
    assert any(finding.code == "import-overflow" and "40 us" in finding.text for finding in run.findings)
    bins = columns(run.histogram(FRAME))
    assert sum(bins["count"]) >= run.cycles - sum(1 for _ in bins["count"]) and set(bins["thread"]) == {0, 1}
    fails(["no samples"], run.samples)
    fails(["no telemetry"], run.telemetry)


def a_run_is_found_by_last_by_name_and_by_part():
    same("newest", latlab.open(RUNS / "last").id, latlab.runs(RUNS)[0].id)
    plain, sampled, _ = stored_runs()
    same("name", latlab.open(RUNS / "sampled").id, sampled.name)
    same("part", latlab.open(RUNS / plain.name[8:16]).name, "plain")
    same("its document", latlab.open(plain / "run.json").name, "plain")
    fails([plain.name[:8], "ambiguous"], lambda: latlab.open(RUNS / plain.name[:8]), 2)
    fails(["no run 'nothing'"], lambda: latlab.open(RUNS / "nothing"), 2)
    fails(["no folder"], lambda: latlab.open(HERE / "none/last"))
    fails(["no folder"], lambda: latlab.runs(HERE / "none"))
    fails(["is no run", f"{RUNS}/last"], lambda: latlab.open(RUNS))


def copy_of(run, name):
    copy = HERE / "damaged" / name / run.name
    shutil.rmtree(copy.parent, ignore_errors=True)
    shutil.copytree(run, copy)
    return copy


def damage_is_one_clear_error():
    traced = stored_runs()[-1]
    flipped = copy_of(traced, "table")
    data = bytearray((flipped / "samples.parquet").read_bytes())
    data[100] ^= 1
    (flipped / "samples.parquet").write_bytes(data)
    fails(["samples.parquet", "changed after it was stored"], lambda: latlab.open(flipped).samples(FRAME))
    missing = copy_of(traced, "missing")
    run = latlab.open(missing)
    (missing / "intervals.parquet").unlink()
    fails(["cannot read", "intervals.parquet"], lambda: run.intervals(FRAME))
    for stored in stored_runs():
        document = copy_of(stored, "document")
        text = (document / "run.json").read_text()
        (document / "run.json").write_text(text[: len(text) // 2])
        fails(["run.json"], lambda: latlab.open(document), 2)
    sealed = copy_of(traced, "sealed")
    text = (sealed / "run.json").read_text()
    (sealed / "run.json").write_text(text.replace(f'"max_ns": {run.max_ns}', f'"max_ns": {run.max_ns - 1}'))
    fails(["run.json", "checksum"], lambda: latlab.open(sealed), 2)
    newer = copy_of(traced, "newer")
    (newer / "run.json").write_text(text.replace('"schema": 1', '"schema": 99'))
    fails(["schema 99", "use the latlab that wrote it"], lambda: latlab.open(newer), 2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        same("runs next to a damaged one", latlab.runs(newer.parent), [])
    assert any("is left out" in str(one.message) for one in said), said


def an_unknown_frame_is_named():
    run = latlab.open(stored_runs()[0])
    fails(["no frame 'arrow'", "pandas", "polars"], lambda: run.spikes("arrow"))
    same("the usual frame", type(run.spikes()).__module__.split(".")[0], "pandas")


def a_measurement_gives_its_run():
    run = latlab.run(for_="1s", deadline="10s", name="measured", samples=True, out=RUNS, **ORDINARY)
    same("run", (run.name, run.verdict.word, run.ended), ("measured", "pass", "finished"))
    same("samples", len(run.samples(FRAME)), run.cycles)
    same("folder", run.path.parent, RUNS)
    failed = latlab.run(for_="200ms", deadline="1ns", out=RUNS, cpus=0, **ORDINARY)
    same("a run that fails is no error", (failed.verdict.word, len(failed.threads)), ("fail", 1))


def a_mistake_has_the_message_of_the_program():
    fails(["--perod"], lambda: latlab.run(perod="1ms", out=RUNS), 2)
    fails(["for", "soon"], lambda: latlab.run(for_="soon", out=RUNS), 2)


def an_interrupt_keeps_the_run():
    code = "import latlab, sys; latlab.run(name='stopped', out=sys.argv[1], policy='other', idle_states='system', warm_up='0s', share=True)"
    stopped = subprocess.Popen([sys.executable, "-c", code, str(RUNS)], stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not any(path.stat().st_size > 20_000 for path in RUNS.glob(".*_stopped.partial/journal")):
        assert time.monotonic() < end and stopped.poll() is None, "no run that measures"
        time.sleep(0.1)
    stopped.send_signal(signal.SIGINT)
    said = stopped.communicate(timeout=60)[1]
    assert "KeyboardInterrupt: stored in " in said, said
    run = latlab.open(RUNS / "stopped")
    same("it ended", run.ended, "interrupted")
    assert run.cycles > 0 and str(run.path) in said, said


def a_notebook_shows_the_top_of_the_page():
    run = latlab.open(stored_runs()[0])
    page = run._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "&lt;svg" in page and "PASS" in page, page[:200]
    assert "&lt;script" not in page and "href=" not in page.partition("&lt;main")[2], "only the top, without links into the rest"
    assert len(page) < 200_000, len(page)


TABLES = [
    every_table_adds_up_to_the_figures,
    numbers_that_may_be_missing_stay_whole,
]
ALL = [
    every_stored_run_has_the_figures_of_its_document,
    *TABLES,
    an_imported_run_says_what_it_does_not_know,
    a_run_is_found_by_last_by_name_and_by_part,
    damage_is_one_clear_error,
    an_unknown_frame_is_named,
    a_measurement_gives_its_run,
    a_mistake_has_the_message_of_the_program,
    an_interrupt_keeps_the_run,
    a_notebook_shows_the_top_of_the_page,
]


def main():
    RUNS.mkdir(parents=True)
    for path in glob.glob(str(ROOT / "fixtures/schema-*/runs/*")):
        shutil.copytree(path, RUNS / pathlib.Path(path).name)
    library = __import__(FRAME)
    warnings.simplefilter("error")
    # Debian 12's pandas and current pyarrow warn about future changes.
    warnings.filterwarnings("default", category=DeprecationWarning)
    warnings.filterwarnings("default", category=FutureWarning)
    cases = ALL if sys.argv[3] == "runs" else TABLES
    of = f"{FRAME} {library.__version__}:"
    return not all([passes(f"{of} {case.__name__.replace('_', ' ')}", case) for case in cases])


if __name__ == "__main__":
    sys.exit(main())
