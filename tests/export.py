"""Checks of exported files with third-party readers: export.py CHECK HERE FOLDER

HERE has the exported files and the run as document.json, FOLDER the run as it is stored.
"""

import json
import re
import sys
from xml.etree import ElementTree


class Run:
    """The exported run."""

    def __init__(self, here, folder):
        self.here, self.folder = here, folder
        self.document = json.load(open(f"{here}/document.json"))
        self.threads = self.document["threads"]
        self.cycles = [thread["summary"]["cycles"] for thread in self.threads]

    def __getitem__(self, name):
        return self.document[name]

    def json(self, name):
        return json.load(open(f"{self.here}/{name}"))


def cycles(run):
    """Prints the number of all cycles."""
    print(sum(run.cycles))


def maximum_us(run):
    """Prints the largest latency in whole microseconds."""
    print(run["total"]["max_ns"] // 1000)


def histograms(run):
    """That the histogram of each thread, in a file of two columns, has a row for each microsecond and all cycles."""
    for number, thread in enumerate(run.threads, 1):
        rows = [line.split() for line in open(f"{run.here}/histogram{number}")]
        assert [int(row[0]) for row in rows] == list(range(len(rows)))
        assert sum(int(row[1]) for row in rows) == thread["summary"]["cycles"]


def documents(run):
    """That the documents of jitterdebugger, cyclictest and OSADL have every latency."""
    import pandas
    jd, ct, osadl = run.json("jd.json"), run.json("ct.json"), run.json("osadl.json")
    assert osadl["format"] == {"name": "RT Dataset", "version": "1.0"}
    cores = osadl["latency"]["cores"]
    assert cores[0] == list(range(50)) and all(len(row) == 50 for row in cores)
    number = 0
    # Like jitterplot: threads from 0 on, with bins and counts.
    while str(number) in jd["cpu"]:
        data = jd["cpu"][str(number)]
        frame = pandas.DataFrame({"us": [int(one) for one in data["histogram"]],
                                  "count": list(data["histogram"].values())})
        assert frame["us"].is_monotonic_increasing
        assert frame["count"].sum() == data["count"] == run.cycles[number]
        assert frame["us"].max() == data["max"] and frame["us"].min() == data["min"]
        assert ct["thread"][str(number)]["histogram"] == data["histogram"]
        within = frame[frame["us"] < 50]
        assert sum(cores[number + 1]) == within["count"].sum()
        number += 1
    assert number == len(run.cycles) == ct["num_threads"] == len(osadl["latency"]["maxima"])


def hdr(run):
    """That the library of HdrHistogram reads the figures of the run from its log."""
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader
    reference = HdrHistogram(1, 10_000_000_000, 4)
    log = HistogramLogReader(f"{run.here}/log.hlog", reference)
    whole = log.get_next_interval_histogram()
    assert whole.get_total_count() == sum(run.cycles)
    total = run["total"]
    for got, stored in ((whole.get_max_value(), total["max_ns"]), (whole.get_min_value(), total["min_ns"])):
        assert abs(got - stored) <= stored * 1e-4 + 1, (got, stored)
    p50, p99 = total["quantiles"]["p50_ns"], total["quantiles"]["p99_ns"]
    # Quantiles of latlab are upper edges of bins, those of the log lower ones.
    assert 0 <= p50 - whole.get_value_at_percentile(50) <= max(100, p50 / 31)
    assert 0 <= p99 - whole.get_value_at_percentile(99) <= max(100, p99 / 31)
    tagged = [line for line in open(f"{run.here}/log.hlog") if line.startswith("Tag=")]
    assert len(tagged) == (len(run.cycles) if len(run.cycles) > 1 else 0)
    for line, count in zip(tagged, run.cycles):
        assert HdrHistogram.decode(line.strip().rsplit(",", 1)[1]).get_total_count() == count


def metrics(run):
    """That the parsers of Prometheus's client read the figures of the run."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as classic
    for read, name in ((classic, "run.prom"), (openmetrics, "run.om")):
        families = {family.name: family for family in read(open(f"{run.here}/{name}").read())}
        latency = families["latlab_latency_seconds"]
        assert latency.type == "histogram"
        of = lambda name: [one for one in latency.samples if one.name.endswith(name)]
        assert [one.value for one in of("_count")] == run.cycles
        infinite = [one.value for one in of("_bucket") if one.labels["le"] == "+Inf"]
        assert infinite == run.cycles
        for thread, total in zip(run.threads, of("_sum")):
            mean = thread["summary"]["mean_ns"]
            assert abs(total.value * 1e9 / thread["summary"]["cycles"] - mean) < 1
        largest = [one.value for one in families["latlab_latency_max_seconds"].samples]
        assert largest == [thread["summary"]["max_ns"] / 1e9 for thread in run.threads]
        if run["verdict"]:
            word = [one.labels["latlab_verdict"] for one in families["latlab_verdict"].samples if one.value]
            assert word == [run["verdict"]["word"]]
    text = open(f"{run.here}/run.native").read()
    native = {family.name: family for family in openmetrics(text)}
    for sample, count in zip(native["latlab_latency_seconds"].samples, run.cycles):
        histogram = sample.native_histogram
        assert histogram.count_value == count and histogram.schema == 5
        counts, value = [], 0
        for delta in histogram.pos_deltas:
            value += delta
            counts.append(value)
        assert min(counts) > 0 and sum(counts) + histogram.zero_count == count
    # The parser of this version drops spans that begin below 1 s, so their lengths are counted here.
    both = re.findall(r"positive_spans:\[(.*?)\],positive_deltas:\[(.*?)\]", text)
    for (spans, deltas), _ in zip(both, run.cycles):
        assert sum(int(span.split(":")[1]) for span in spans.split(",")) == len(deltas.split(","))


def tables(run):
    """That pandas reads samples and bins from CSV and Parquet as they are stored."""
    import pandas
    stored = pandas.read_parquet(f"{run.folder}/samples.parquet").sort_values(["thread", "release_ns"])
    lines = pandas.read_csv(f"{run.here}/samples.csv", parse_dates=["time"])
    rows = pandas.read_parquet(f"{run.here}/samples.parquet")
    for got in (lines, rows):
        got = got.sort_values(["thread", "release_ns"])
        for column in ("thread", "release_ns", "latency_ns"):
            assert (got[column].to_numpy() == stored[column].to_numpy()).all(), column
    assert (lines["time"].to_numpy() == rows["time"].to_numpy()).all()
    assert str(rows["time"].dtype).startswith("datetime64[ns") and set(rows["run"]) == {run["id"]}
    stored = pandas.read_parquet(f"{run.folder}/histogram.parquet")
    for got in (pandas.read_csv(f"{run.here}/bins.csv"), pandas.read_parquet(f"{run.here}/bins.parquet")):
        for column in ("thread", "low_ns", "high_ns", "count"):
            assert (got[column].to_numpy() == stored[column].to_numpy()).all(), column


def trace(run):
    """That Perfetto's schema knows every message of the trace, which has the spikes and counters of the run."""
    import pandas
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    data = open(f"{run.here}/trace.perfetto", "rb").read()
    trace = Trace()
    trace.ParseFromString(data)
    # Drops fields that the schema does not know.
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == len(data)
    tracks = {packet.track_descriptor.uuid: packet.track_descriptor for packet in trace.packet
              if packet.HasField("track_descriptor")}
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    assert all(event.track_event.track_uuid in tracks for event in events)
    begun = {event.timestamp for event in events
             if event.track_event.type == TrackEvent.TYPE_SLICE_BEGIN}
    spikes = pandas.read_parquet(f"{run.folder}/spikes.parquet")
    assert begun == set(spikes["release_ns"])
    ended = [event for event in events if event.track_event.type == TrackEvent.TYPE_SLICE_END]
    assert len(ended) == len(spikes)
    counters = [event for event in events if event.track_event.type == TrackEvent.TYPE_COUNTER]
    telemetry = pandas.read_parquet(f"{run.folder}/telemetry.parquet")
    intervals = pandas.read_parquet(f"{run.folder}/intervals.parquet")
    figures = intervals[["p50_ns", "p99_ns", "max_ns", "overruns", "misses"]].notna().sum().sum()
    assert len(counters) == telemetry["value"].notna().sum() + figures
    largest = max(event.track_event.counter_value for event in counters
                  if tracks[event.track_event.track_uuid].name.endswith("maximum"))
    assert largest == run["total"]["max_ns"]
    clocks = [packet.clock_snapshot for packet in trace.packet if packet.HasField("clock_snapshot")]
    assert len(clocks) == 2 and clocks[0].primary_trace_clock == 3


def suites(run):
    """That the JUnit XML of three verdicts states its number of results correctly."""
    for name, kind in (("failed", "failures"), ("passed", None), ("plain", "skipped")):
        suite = ElementTree.parse(f"{run.here}/{name}.xml").getroot()
        cases = suite.findall("testcase")
        assert suite.tag == "testsuite" and int(suite.get("tests")) == len(cases) >= 2
        for one in ("failures", "errors", "skipped"):
            found = sum(len(case.findall({"failures": "failure", "errors": "error"}.get(one, one))) for case in cases)
            assert int(suite.get(one)) == found and (found > 0) == (one == kind), (name, one, found)


if __name__ == "__main__":
    globals()[sys.argv[1]](Run(*sys.argv[2:]))
