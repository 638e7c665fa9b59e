#!/usr/bin/env bash
# Stored runs in the formats of other tools: exact formats come back exact, and third-party readers
# accept the files.
# Invariant (exports): What a format cannot carry is said, and everything else comes back.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs NO_COLOR=1
recordings=fixtures/recordings
mkdir "$here/runs" && cp -r fixtures/schema-1/runs/*_traced "$here/runs"
own=$(basename "$here"/runs/*)

have "the readers of other people" python:hdrh python:prometheus_client python:perfetto python:pandas \
    python:pyarrow || exit 0

# Exports a run into $here/FILE; messages go to $here/notes.
export_to() { "$program" export "$1" --to "$2" -o "$here/$3" "${@:4}" 2>"$here/notes"; }

# The bins and the figures of a run.
figures() {
    "$program" export "$1" --to csv --table histogram | cut -d, -f1,3- &&
        "$program" show "$1" --format json | python3 tests/documents.py figures
}

# Checks an exported file against the document of the run with a function of tests/export.py.
reads() {
    "$program" show "$own" --format json >"$here/document.json" &&
        python3 tests/export.py "$1" "$here" "$here/runs/$own"
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
    # As in OSADL's script: rows without comments, two columns for each CPU, a plot.
    local max cores column
    max=$(grep "Max Latencies" "$here/hist.txt" | tr " " "\n" | sort -n | tail -1 | sed 's/^0*//')
    grep -v -e "^#" -e "^$" "$here/hist.txt" | tr " " "\t" >"$here/histogram"
    cores=$(($(head -n 1 "$here/histogram" | wc -w) - 1))
    for column in $(seq 1 "$cores"); do
        cut -f1,$((column + 1)) "$here/histogram" >"$here/histogram$column"
    done
    reads histograms && expect "the largest" [ "$max" = "$(reads maximum_us)" ] || return
    if have "OSADL's plot" gnuplot; then
        gnuplot -e "set terminal svg; set output '$here/plot.svg'; set logscale y" \
            -e "plot '$here/histogram1' with histeps" &&
            grep -q '<path' "$here/plot.svg"
    fi
}
try "a histogram is drawn as OSADL draws it" drawn

documents() {
    export_to "$own" jitterdebugger jd.json && export_to "$own" cyclictest-json ct.json &&
        export_to "$own" osadl osadl.json --bins 50 || { cat "$here/notes"; return 1; }
    expect "what OSADL's dataset lacks" grep -q '50 us or more: not in the histogram' "$here/notes" || return
    reads documents
}
try "jitterplot's way and the RT Dataset have every latency" documents

hdr() {
    export_to "$own" hdr log.hlog || { cat "$here/notes"; return 1; }
    reads hdr || return
    "$program" import "$here/log.hlog" --format json >"$here/out.json" &&
        holds_in "$here/out.json" 'one = run["runs"][0]' \
            'one["total"]["cycles"] == '"$(reads cycles)"
}
try "a log of HdrHistogram is read by its own library, and back" hdr

metrics() {
    export_to "$own" prometheus run.prom && export_to "$own" openmetrics run.om &&
        export_to "$own" openmetrics-native run.native || { cat "$here/notes"; return 1; }
    reads metrics
}
try "Prometheus and OpenMetrics are read by the parsers of their client" metrics

tables() {
    export_to "$own" csv samples.csv && export_to "$own" parquet samples.parquet &&
        export_to "$own" parquet bins.parquet --table histogram &&
        export_to "$own" csv bins.csv --table histogram || { cat "$here/notes"; return 1; }
    reads tables
}
try "pandas reads CSV and Parquet of samples and bins" tables

trace() {
    export_to "$own" perfetto trace.perfetto || { cat "$here/notes"; return 1; }
    reads trace
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
    reads suites
}
try "verdicts are results of KTAP, JUnit and LAVA" verdicts

losses() {
    export_to "$own" cyclictest short.txt --bins 20 || return
    expect "the overflows" grep -q '20 us or more: counted as overflows' "$here/notes" &&
        expect "the same as a comment" grep -q '^# latlab: .*20 us or more: counted as overflows' "$here/short.txt" &&
        expect "20 rows" [ "$(grep -c '^[0-9]' "$here/short.txt")" = 20 ] || return
    "$program" import "$here/short.txt" --name short --format json >"$here/out.json" &&
        holds_in "$here/out.json" 'one = run["runs"][0]' \
            'one["total"]["cycles"] == '"$(reads cycles)"
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
