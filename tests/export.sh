#!/usr/bin/env bash
# Stored runs in the formats of other tools: what is exact comes back exact, and the readers of other
# people read what was written.
# Invariant (exports): What a format cannot carry is said, and everything else comes back.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs NO_COLOR=1
recordings=fixtures/recordings
cp -r fixtures/schema-5/runs "$here/runs"
own=$(basename "$here"/runs/*)

have "the readers of other people" python:hdrh python:prometheus_client python:perfetto python:pandas \
    python:pyarrow || exit 0

# Exports a run into $here/FILE; what is said of it lies in $here/notes.
export_to() { "$program" export "$1" --to "$2" -o "$here/$3" "${@:4}" 2>"$here/notes"; }

# The bins and the figures of a run.
figures() {
    "$program" export "$1" --to csv --table histogram | cut -d, -f1,3- &&
        "$program" show "$1" --format json |
        python3 -c 'import json, sys
for thread in json.load(sys.stdin)["threads"]:
    print([thread["summary"][name] for name in ("cycles", "min_ns", "max_ns")])'
}

# Whether Python code holds, with the document of the run as `run`.
reads() {
    "$program" show "$own" --format json >"$here/document.json" &&
        python3 - "$here" "$here/runs/$own" "$1" <<'PYTHON'
import json, sys
here, folder, code = sys.argv[1:]
run = json.load(open(f"{here}/document.json"))
cycles = [thread["summary"]["cycles"] for thread in run["threads"]]
exec(code)
PYTHON
}

round_trips() {
    local file format extra name
    while read -r file format extra; do
        name=$file-$format
        "$program" import $recordings/"$file" --name "first-$name" --format json >/dev/null || return
        # shellcheck disable=SC2086
        export_to "first-$name" "$format" "$name" $extra || { cat "$here/notes"; return 1; }
        "$program" import "$here/$name" --name "second-$name" --format json >/dev/null || return
        figures "first-$name" >"$here/first" && figures "second-$name" >"$here/second" || return
        diff "$here/first" "$here/second" || { echo "$file as $format"; return 1; }
    done <<'FILES'
ct24_h40.txt cyclictest
ct10_h40.txt cyclictest
ct210_h40.txt cyclictest
ct24_json_h100.json cyclictest-json
ct24_v.txt cyclictest
ct24_v.txt osadl
jd_results.json jitterdebugger
FILES
}
try "what came from cyclictest and jitterdebugger goes back without a change" round_trips

same_bytes() {
    grep -E '^([0-9]|# (Total|Min|Avg|Max|Histogram Overflows))' $recordings/ct24_h40.txt >"$here/expected"
    grep -E '^([0-9]|# (Total|Min|Avg|Max|Histogram Overflows))' "$here/ct24_h40.txt-cyclictest" >"$here/got"
    diff "$here/expected" "$here/got"
}
try "rows and footer are those that cyclictest had printed" same_bytes

drawn() {
    export_to "$own" cyclictest hist.txt || { cat "$here/notes"; return 1; }
    # As OSADL's script does it: rows without comments, two columns for each CPU, a plot.
    local max cores column
    max=$(grep "Max Latencies" "$here/hist.txt" | tr " " "\n" | sort -n | tail -1 | sed 's/^0*//')
    grep -v -e "^#" -e "^$" "$here/hist.txt" | tr " " "\t" >"$here/histogram"
    cores=$(($(head -n 1 "$here/histogram" | wc -w) - 1))
    for column in $(seq 1 "$cores"); do
        cut -f1,$((column + 1)) "$here/histogram" >"$here/histogram$column"
    done
    reads '
for number, thread in enumerate(run["threads"], 1):
    rows = [line.split() for line in open(f"{here}/histogram{number}")]
    assert [int(row[0]) for row in rows] == list(range(len(rows)))
    assert sum(int(row[1]) for row in rows) == thread["summary"]["cycles"]
' && expect "the largest" [ "$max" = "$(reads 'print(run["total"]["max_ns"] // 1000)')" ] || return
    if have "OSADL's plot" gnuplot; then
        gnuplot -e "set terminal svg; set output '$here/plot.svg'; set logscale y; plot '$here/histogram1' with histeps" &&
            grep -q '<path' "$here/plot.svg"
    fi
}
try "a histogram is drawn as OSADL draws it" drawn

documents() {
    export_to "$own" jitterdebugger jd.json && export_to "$own" cyclictest-json ct.json &&
        export_to "$own" osadl osadl.json --bins 50 || { cat "$here/notes"; return 1; }
    expect "what OSADL's dataset lacks" grep -q '50 us or more: not in the histogram' "$here/notes" || return
    reads '
import pandas
jd = json.load(open(f"{here}/jd.json"))
ct = json.load(open(f"{here}/ct.json"))
osadl = json.load(open(f"{here}/osadl.json"))
assert osadl["format"] == {"name": "RT Dataset", "version": "1.0"}
cores = osadl["latency"]["cores"]
assert cores[0] == list(range(50)) and all(len(row) == 50 for row in cores)
number = 0
# As jitterplot does: threads from 0 on, bins and counts side by side.
while str(number) in jd["cpu"]:
    data = jd["cpu"][str(number)]
    frame = pandas.DataFrame({"us": [int(one) for one in data["histogram"]],
                              "count": list(data["histogram"].values())})
    assert frame["us"].is_monotonic_increasing
    assert frame["count"].sum() == data["count"] == cycles[number]
    assert frame["us"].max() == data["max"] and frame["us"].min() == data["min"]
    assert ct["thread"][str(number)]["histogram"] == data["histogram"]
    within = frame[frame["us"] < 50]
    assert sum(cores[number + 1]) == within["count"].sum()
    number += 1
assert number == len(cycles) == ct["num_threads"] == len(osadl["latency"]["maxima"])
'
}
try "jitterplot's way and the RT Dataset have every latency" documents

hdr() {
    export_to "$own" hdr log.hlog || { cat "$here/notes"; return 1; }
    reads '
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
reference = HdrHistogram(1, 10_000_000_000, 4)
log = HistogramLogReader(f"{here}/log.hlog", reference)
whole = log.get_next_interval_histogram()
assert whole.get_total_count() == sum(cycles)
total = run["total"]
for got, stored in ((whole.get_max_value(), total["max_ns"]), (whole.get_min_value(), total["min_ns"])):
    assert abs(got - stored) <= stored * 1e-4 + 1, (got, stored)
p50, p99 = total["quantiles"]["p50_ns"], total["quantiles"]["p99_ns"]
# Quantiles of latlab are upper edges of bins, those of the log lower ones.
assert 0 <= p50 - whole.get_value_at_percentile(50) <= max(100, p50 / 31)
assert 0 <= p99 - whole.get_value_at_percentile(99) <= max(100, p99 / 31)
tagged = [line for line in open(f"{here}/log.hlog") if line.startswith("Tag=")]
assert len(tagged) == (len(cycles) if len(cycles) > 1 else 0)
for line, count in zip(tagged, cycles):
    assert HdrHistogram.decode(line.strip().rsplit(",", 1)[1]).get_total_count() == count
' || return
    "$program" import "$here/log.hlog" --format json >"$here/out.json" &&
        holds_in "$here/out.json" 'one = run["runs"][0]' \
            'one["total"]["cycles"] == '"$(reads 'print(sum(cycles))')"
}
try "a log of HdrHistogram is read by its own library, and back" hdr

metrics() {
    export_to "$own" prometheus run.prom && export_to "$own" openmetrics run.om &&
        export_to "$own" openmetrics-native run.native || { cat "$here/notes"; return 1; }
    reads '
from prometheus_client.parser import text_string_to_metric_families as classic
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
for read, name in ((classic, "run.prom"), (openmetrics, "run.om")):
    families = {family.name: family for family in read(open(f"{here}/{name}").read())}
    latency = families["latlab_latency_seconds"]
    assert latency.type == "histogram"
    of = lambda name: [one for one in latency.samples if one.name.endswith(name)]
    assert [one.value for one in of("_count")] == cycles
    infinite = [one.value for one in of("_bucket") if one.labels["le"] == "+Inf"]
    assert infinite == cycles
    for thread, total in zip(run["threads"], of("_sum")):
        mean = thread["summary"]["mean_ns"]
        assert abs(total.value * 1e9 / thread["summary"]["cycles"] - mean) < 1
    largest = [one.value for one in families["latlab_latency_max_seconds"].samples]
    assert largest == [thread["summary"]["max_ns"] / 1e9 for thread in run["threads"]]
    if run["verdict"]:
        word = [one.labels["latlab_verdict"] for one in families["latlab_verdict"].samples if one.value]
        assert word == [run["verdict"]["word"]]
native = {family.name: family for family in openmetrics(open(f"{here}/run.native").read())}
for sample, count in zip(native["latlab_latency_seconds"].samples, cycles):
    histogram = sample.native_histogram
    assert histogram.count_value == count and histogram.schema == 5
    counts, value = [], 0
    for delta in histogram.pos_deltas:
        value += delta
        counts.append(value)
    assert min(counts) > 0 and sum(counts) + histogram.zero_count == count
# The parser of this version drops spans that begin below 1 s, so their lengths are counted here.
import re
for line, count in zip(re.findall("positive_spans:\\[(.*?)\\],positive_deltas:\\[(.*?)\\]", open(f"{here}/run.native").read()), cycles):
    spans, deltas = line
    assert sum(int(span.split(":")[1]) for span in spans.split(",")) == len(deltas.split(","))
'
}
try "Prometheus and OpenMetrics are read by the parsers of their client" metrics

tables() {
    export_to "$own" csv samples.csv && export_to "$own" parquet samples.parquet &&
        export_to "$own" parquet bins.parquet --table histogram &&
        export_to "$own" csv bins.csv --table histogram || { cat "$here/notes"; return 1; }
    reads '
import pandas
stored = pandas.read_parquet(f"{folder}/samples.parquet").sort_values(["thread", "release_ns"])
lines = pandas.read_csv(f"{here}/samples.csv", parse_dates=["time"])
rows = pandas.read_parquet(f"{here}/samples.parquet")
for got in (lines, rows):
    got = got.sort_values(["thread", "release_ns"])
    for column in ("thread", "release_ns", "latency_ns"):
        assert (got[column].to_numpy() == stored[column].to_numpy()).all(), column
assert (lines["time"].to_numpy() == rows["time"].to_numpy()).all()
assert str(rows["time"].dtype).startswith("datetime64[ns") and set(rows["run"]) == {run["id"]}
stored = pandas.read_parquet(f"{folder}/histogram.parquet")
for got in (pandas.read_csv(f"{here}/bins.csv"), pandas.read_parquet(f"{here}/bins.parquet")):
    for column in ("thread", "low_ns", "high_ns", "count"):
        assert (got[column].to_numpy() == stored[column].to_numpy()).all(), column
'
}
try "pandas reads CSV and Parquet of samples and bins" tables

trace() {
    export_to "$own" perfetto trace.perfetto || { cat "$here/notes"; return 1; }
    reads '
import pandas
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
trace = Trace()
trace.ParseFromString(open(f"{here}/trace.perfetto", "rb").read())
# What the schema does not know would be dropped here.
trace.DiscardUnknownFields()
assert trace.ByteSize() == len(open(f"{here}/trace.perfetto", "rb").read())
tracks = {packet.track_descriptor.uuid: packet.track_descriptor for packet in trace.packet
          if packet.HasField("track_descriptor")}
events = [packet for packet in trace.packet if packet.HasField("track_event")]
assert all(event.track_event.track_uuid in tracks for event in events)
begun = {event.timestamp for event in events
         if event.track_event.type == TrackEvent.TYPE_SLICE_BEGIN}
spikes = pandas.read_parquet(f"{folder}/spikes.parquet")
assert begun == set(spikes["release_ns"])
ended = [event for event in events if event.track_event.type == TrackEvent.TYPE_SLICE_END]
assert len(ended) == len(spikes)
counters = [event for event in events if event.track_event.type == TrackEvent.TYPE_COUNTER]
telemetry = pandas.read_parquet(f"{folder}/telemetry.parquet")
intervals = pandas.read_parquet(f"{folder}/intervals.parquet")
figures = intervals[["p50_ns", "p99_ns", "max_ns", "missed", "misses"]].notna().sum().sum()
assert len(counters) == telemetry["value"].notna().sum() + figures
largest = max(event.track_event.counter_value for event in counters
              if tracks[event.track_event.track_uuid].name.endswith("maximum"))
assert largest == run["total"]["max_ns"]
clocks = [packet.clock_snapshot for packet in trace.packet if packet.HasField("clock_snapshot")]
assert len(clocks) == 2 and clocks[0].primary_trace_clock == 3
'
}
try "a trace has the messages of Perfetto's schema" trace

verdicts() {
    "$program" import $recordings/ct24_h40.txt --name failed --deadline 20us >/dev/null
    "$program" import $recordings/ct24_q_summary.txt --name passed --deadline 10ms >/dev/null
    "$program" import $recordings/ct24_h40.txt --name plain >/dev/null
    local name
    for name in failed passed plain; do
        export_to "$name" ktap "$name.ktap" && export_to "$name" junit "$name.xml" &&
            export_to "$name" lava "$name.lava" || { cat "$here/notes"; return 1; }
    done
    expect "KTAP of a fail" grep -qx 'not ok 1 failed' "$here/failed.ktap" &&
        expect "its threads" grep -qx '  not ok 2 thread 1.*' "$here/failed.ktap" &&
        expect "KTAP of a pass" grep -qx 'ok 1 passed' "$here/passed.ktap" &&
        expect "KTAP without a deadline" grep -qx 'ok 1 plain # SKIP no deadline was given' "$here/plain.ktap" &&
        expect "LAVA" grep -qx '<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=t0-deadline RESULT=fail>' "$here/failed.lava" &&
        expect "its figures" grep -q 'TEST_CASE_ID=t1-max-latency RESULT=pass MEASUREMENT=286.000 UNITS=us' \
            "$here/failed.lava" || return
    python3 - "$here" <<'PYTHON'
import sys
from xml.etree import ElementTree
for name, kind in (("failed", "failures"), ("passed", None), ("plain", "skipped")):
    suite = ElementTree.parse(f"{sys.argv[1]}/{name}.xml").getroot()
    cases = suite.findall("testcase")
    assert suite.tag == "testsuite" and int(suite.get("tests")) == len(cases) >= 2
    for one in ("failures", "errors", "skipped"):
        found = sum(len(case.findall({"failures": "failure", "errors": "error"}.get(one, one))) for case in cases)
        assert int(suite.get(one)) == found and (found > 0) == (one == kind), (name, one, found)
PYTHON
}
try "verdicts are results of KTAP, JUnit and LAVA" verdicts

losses() {
    export_to "$own" cyclictest short.txt --bins 20 || return
    expect "the overflows" grep -q '20 us or more: counted as overflows' "$here/notes" &&
        expect "the same as a comment" grep -q '^# latlab: .*20 us or more: counted as overflows' "$here/short.txt" &&
        expect "20 rows" [ "$(grep -c '^[0-9]' "$here/short.txt")" = 20 ] || return
    "$program" import "$here/short.txt" --name short --format json >"$here/out.json" &&
        holds_in "$here/out.json" 'one = run["runs"][0]' \
            'one["total"]["cycles"] == '"$(reads 'print(sum(cycles))')"
}
try "what lies beyond the bins is an overflow, and said" losses

refused() {
    local before code
    before=$(ls -A "$here" | wc -l)
    echo mine >"$here/short.txt"
    export_to "$own" cyclictest short.txt
    expect "exit code 2 for a file that exists" [ $? = 2 ] &&
        expect "it is untouched" [ "$(cat "$here/short.txt")" = mine ] || return
    export_to passed cyclictest none.txt
    expect "exit code 2 for a run without a histogram" [ $? = 2 ] &&
        expect "one line" [ "$(wc -l <"$here/notes")" = 1 ] &&
        expect "the reason" grep -q 'no histogram, only figures' "$here/notes" || return
    export_to "$own" none none.txt
    expect "exit code 2 for an unknown format" [ $? = 2 ] || return
    export_to "$own" csv missing/none.txt
    code=$?
    expect "exit code 2 for a folder that is not there" [ $code = 2 ] || { cat "$here/notes"; return 1; }
    expect "nothing half-written" [ "$(ls -A "$here" | wc -l)" = "$before" ] || { ls -A "$here"; return 1; }
    "$program" export "$own" --to csv | head -n 1 >"$here/said.csv"
    expect "no complaint about a reader that has seen enough" [ "${PIPESTATUS[0]}" = 0 ]
}
try "what cannot be written is refused in one line, and nothing is left" refused

exit $status
