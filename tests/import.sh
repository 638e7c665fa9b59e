#!/usr/bin/env bash
# Files of other tools become runs like any other: shown, drawn, judged, verified; other files are
# refused in one line.
# Invariant (imports): An imported run claims nothing that its file does not say.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs NO_COLOR=1 COLUMNS=160
recordings=fixtures/recordings

histogram() {
    "$program" import $recordings/ct24_h40.txt --deadline 1ms --format json >"$here/out.json" || return
    holds_in "$here/out.json" '
one = run["runs"][0]
over = [finding for finding in one["findings"] if finding["code"] == "import-overflow"]' \
        'one["total"]["cycles"] == 4000 and one["total"]["max_ns"] == 286000
and [thread["cycles"] for thread in one["threads"]] == [2000, 2000]
and one["verdict"]["word"] == "pass" and len(over) == 2 and over[1]["largest_ns"] == 286000' || return
    cmp "$LATLAB_RUNS"/*/original-ct24_h40.txt $recordings/ct24_h40.txt || return
    "$program" show last --all >"$here/shown" &&
        expect "the format" grep -q 'import of cyclictest histogram' "$here/shown" &&
        expect "the overflow" grep -q 'The histogram ends at 40 us: 13 latencies lie beyond' "$here/shown" &&
        expect "no claim of overruns" [ -z "$(grep -i overrun "$here/shown")" ] &&
        expect "no claim of a clock" [ -z "$(grep -i 'clock' "$here/shown")" ]
}
try "a histogram of cyclictest becomes a run that keeps the original" histogram

verdicts() {
    "$program" import $recordings/ct24_h40.txt --deadline 20us >"$here/shown"
    expect "fail" [ $? = 1 ] || return
    "$program" import $recordings/ct24_q_summary.txt --deadline 10ms >"$here/shown" ||
        { echo "a maximum within the deadline is a pass"; return 1; }
    grep -v '^#' $recordings/ct24_h40.txt >"$here/rows.csv"
    "$program" import "$here/rows.csv" --deadline 50us >"$here/shown"
    expect "inconclusive" [ $? = 4 ] &&
        expect "the reason" grep -q 'does not say how many latencies it leaves out' "$here/shown"
}
try "a verdict is given only where the file decides" verdicts

others() {
    rm -rf "$LATLAB_RUNS"
    "$program" import $recordings/*.txt $recordings/*.json $recordings/*.csv >"$here/table" 2>"$here/errors" ||
        { cat "$here/errors"; return 1; }
    expect "a table" grep -qE 'ct24_v.txt +cyclictest samples +[0-9]+' "$here/table" || return
    "$program" verify --all >"$here/verified" || { cat "$here/verified"; return 1; }
    "$program" list >"$here/list" && expect "all runs" [ "$(grep -c ' import ' "$here/list")" -ge 30 ] || return
    local run
    for run in "$LATLAB_RUNS"/*; do
        "$program" show "$run" >"$here/shown" && "$program" report "$run" -o "$here/page.html" >/dev/null ||
            { echo "$run"; return 1; }
    done
    "$program" plot ct24_h40 ct24_v ct24_q_summary --kind ccdf -o "$here/plot.svg"
}
try "all formats are shown, reported, listed and verified" others

streams() {
    gzip -c $recordings/ct24_h40.txt >"$here/packed.txt.gz" &&
        python3 -c 'import lzma, sys; lzma.open(sys.argv[2], "w").write(open(sys.argv[1], "rb").read())' \
            $recordings/ct24_h40.txt "$here/packed.xz" ||
        return
    for file in "$here/packed.txt.gz" "$here/packed.xz"; do
        "$program" import "$file" --format json >"$here/out.json" &&
            holds_in "$here/out.json" 'one = run["runs"][0]' 'one["total"]["cycles"] == 4000' || return
    done
    "$program" import - --name piped --format json <$recordings/ct24_h40.txt >"$here/out.json" &&
        holds_in "$here/out.json" 'one = run["runs"][0]' \
            'one["name"] == "piped" and one["total"]["cycles"] == 4000'
}
try "compressed files and standard input are read" streams

breakdown() {
    printf '%s\n' '# RTLA timerlat histogram' '# Time unit is microseconds (us)' '# Duration:   0 00:00:01' \
        'Index   IRQ-000   Thr-000' '0          1000         0' '3             0       900' \
        '5             0       100' 'over:         0         0' 'count:     1000      1000' \
        'min:          0         3' 'avg:          0         3' 'max:          0         5' >"$here/breakdown.txt"
    "$program" import "$here/breakdown.txt" >"$here/shown" || return
    local command
    command=$(sed -n 's/^Side by side: latlab //p' "$here/shown")
    expect "a command" [ -n "$command" ] || return
    # shellcheck disable=SC2086
    "$program" $command -o "$here/breakdown.html" >/dev/null &&
        expect "both on one page" [ "$(grep -oE 'breakdown-(irq|thread)' "$here/breakdown.html" | sort -u | wc -l)" = 2 ] &&
        "$program" show breakdown-irq --all >"$here/shown" &&
        expect "the other run" grep -q 'The same file gave the run breakdown-thread' "$here/shown"
}
try "the breakdown of one recording are runs that name each other, and one page" breakdown

refused() {
    local before said
    before=$(ls -A "$LATLAB_RUNS" | wc -l)
    head -c 5000 /dev/zero >"$here/binary"
    : >"$here/empty"
    for file in "$here/binary" "$here/empty" README.md "$here/none"; do
        said=$("$program" import "$file" 2>&1)
        expect "exit code 2 for $file" [ $? = 2 ] && expect "one line for $file" [ "$(wc -l <<<"$said")" = 1 ] &&
            expect "the name of $file" grep -q "$(basename "$file")" <<<"$said" || return
    done
    expect "nothing half-written" [ "$(ls -A "$LATLAB_RUNS" | wc -l)" = "$before" ] || return
    said=$("$program" import "$here/empty" $recordings/ct24_h40.txt 2>&1)
    expect "exit code 2" [ $? = 2 ] && expect "the other file" grep -q 'Stored in' <<<"$said"
}
try "what is no recording is refused in one line, and the others are imported" refused

side_by_side() {
    local number
    printf 'lat_us\n10\n20\n30\n' >"$here/beside.csv"
    for number in $(seq 40); do
        "$program" import --out "$here/beside" "$here/beside.csv" >"$here/beside.$number" 2>&1 &
    done
    wait
    expect "40 runs" [ "$(ls "$here/beside" | wc -l)" = 40 ] &&
        expect "none that another has finished" [ -z "$(grep -h recovered "$here"/beside.*)" ]
}
try "imports into one folder at the same time do not recover each other" side_by_side

exit $status
