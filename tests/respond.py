"""Captures that tests/respond.sh makes, and checks of runs of responders."""

import glob
import json
import pathlib
import statistics
import sys
import tomllib


def same_readings(here, count):
    """That the readings of the run stored last are those of the instrument's list."""
    import pyarrow.parquet
    here, count = pathlib.Path(here), int(count)
    run = json.load(open(here / "out.json"))["runs"][0]
    measured = [line.split("\t")[1] for line in open(here / "list").read().splitlines()]
    assert len(measured) == count, f"the instrument measured {len(measured)} of {count}"
    kept = [line.split("\t")[1] for line in open(pathlib.Path(run["path"]) / "original-readings.txt")]
    kept = [text.strip() for text in kept]
    assert kept == [text if text != "timed out" else "nan" for text in measured], (kept, measured)
    samples = pyarrow.parquet.read_table(pathlib.Path(run["path"]) / "samples.parquet").to_pydict()
    values = [float(text) for text in measured if text != "timed out" and float(text) < 1e37]
    assert [round(value * 1e12) for value in values] == samples["latency_ps"], "samples differ"
    figures = run["responses"]["figures"]
    mean = sum(values) / len(values)
    assert abs(figures["max_ns"] - max(values) * 1e9) < 1e-3 and abs(figures["mean_ns"] - mean * 1e9) < 1e-3


def write_outliers(folder):
    """Writes two captures with values far outside of their levels."""
    def write(name, rows):
        with open(f"{folder}/{name}.csv", "w") as file:
            print("Time [s],in,out", file=file)
            for at, (one, other) in enumerate(rows):
                print(f"{at}e-5,{one},{other}", file=file)
    square = lambda at, period, start: 3.3 if at % period >= start else 0.02
    start = [(square(at, 100, 50), square(at, 100, 52)) for at in range(1000)]
    start[:4] = [(8.4, 0.02)] * 4
    write("start", start)
    spike = [(square(at, 200, 100), square(at, 200, 103)) for at in range(20000)]
    spike[10150] = (3.3, 50)
    write("spike", spike)


def write_quick():
    """Prints a capture of a responder that takes some 48 ns, at 100 ps."""
    print("$timescale 100 ps $end $var wire 1 ! in $end $var wire 1 ? out $end $enddefinitions $end")
    print("#0\n0!\n0?")
    at = 0
    for number in range(500):
        at += 20000 + number * 7 % 1000
        print(f"#{at}\n1!\n#{at + 480 + number % 3}\n1?\n#{at + 5000}\n0!\n0?")


def quick_samples(runs):
    """That each tenth of a nanosecond of the quick responder is in its samples."""
    import pyarrow.parquet
    [table] = glob.glob(f"{runs}/*_quick/samples.parquet")
    rows = pyarrow.parquet.read_table(table).to_pydict()
    expected = [48_000 + number % 3 * 100 for number in range(500)]
    assert rows["latency_ps"] == expected, rows["latency_ps"][:9]
    assert rows["latency_ns"] == [48] * 500, set(rows["latency_ns"])


def write_odd_answers():
    """Prints a capture with a missing, a late and a double response."""
    print("Time [s],in,out")
    events = [(0, 0, 0)]
    for number in range(1, 41):
        at = number * 1000
        if number == 39:
            delays = []
        else:
            delays = [12, 30] if number == 7 else [900] if number == 9 else [15]
        events.append((at, 1, 0))
        for delay in delays:
            events += [(at + delay, None, 1), (at + delay + 5, None, 0)]
        events.append((at + 950, 0, 0))
    level = 0
    for at, stimulus, response in events:
        level = level if stimulus is None else stimulus
        print(f"{at / 1e6:.6f},{level},{response}")


def published_figures(folder, source):
    """That the published figures in the source are those of the readings."""
    seen = 0
    for responder in tomllib.load(open(source, "rb"))["responder"]:
        for kind in "idle", "busy":
            if kind not in responder:
                continue
            file = f"{folder}/01_{responder['readings']}{'_busy' if kind == 'busy' else ''}.out"
            values = sorted(float(line.split()[1]) * 1e6 for line in open(file))
            values = [value for value in values if value < 1e30]
            p99 = values[-(-99 * len(values) // 100) - 1]
            true = [values[0], statistics.median(values), statistics.fmean(values), p99, values[-1]]
            known = responder[kind]
            assert known["n"] == len(values), (file, known)
            assert all(abs(one - other) <= 0.0001 for one, other in zip(known["us"], true)), (file, known, true)
            seen += 1
    assert seen == 8, seen


def ids(document):
    """Prints the ids of runs."""
    for run in json.load(open(document))["runs"]:
        print(run["id"])


def same_responses(*documents):
    """That two runs have the same responses."""
    first, again = (json.load(open(name))["runs"][0] for name in documents)
    assert first["responses"] == again["responses"], (first, again)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
