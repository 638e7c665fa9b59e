#!/usr/bin/env bash
# Pins that answer pins: captures become runs like any other, with independently computed figures.
# Invariant (captures): Real captures have the figures that were computed elsewhere.
. "$(dirname "$0")/common.bash"
. tests/respond.bash
captures=fixtures/captures

look() {
    "$program" respond --from $captures/100khz_clock_2logic_1analog.sr --look >"$here/look" &&
        expect "channels" grep -q 'sigrok session, 9 channels, over 8.333 ms' "$here/look" &&
        "$program" respond --from $captures/scope_7_1.csv --look >"$here/look1" &&
        expect "one channel" grep -q 'CSV, 1 channel, over' "$here/look1" &&
        expect "a picture" grep -qE 'D0 +logic +[0-9]+ rising' "$here/look" &&
        expect "nothing stored" [ ! -e "$LATLAB_RUNS" ]
}
try "a look says what a capture holds, and stores nothing" look

unreadable() {
    local said
    said=$("$program" respond --from $captures/no-samplerate.sr --stimulus SCL --response SDA 2>&1)
    expect "exit code 2" [ $? = 2 ] && expect "one line" [ "$(wc -l <<<"$said")" = 1 ] &&
        expect "the reason" grep -q 'no-samplerate.sr, metadata: the session has no samplerate' <<<"$said" || return
    said=$("$program" respond --from $captures/scope_3.csv --stimulus 1 --response 2 --threshold 9V 2>&1)
    expect "the range" grep -q 'channel 1 does not cross the threshold' <<<"$said" || return
    mkfifo "$here/pipe"
    said=$(timeout 60 "$program" respond --from "$here/pipe" 2>&1)
    expect "a pipe" grep -q 'expected a regular file' <<<"$said" || return
    said=$("$program" respond --from $captures/scope_3.csv --stimulus 1 --response 9 2>&1)
    expect "the channels" grep -q 'the capture has 1, 2' <<<"$said" &&
        expect "nothing half-written" [ -z "$(ls -A "$LATLAB_RUNS" 2>/dev/null)" ]
}
try "what cannot be is refused in one line, and leaves nothing" unreadable

batch() {
    local said
    printf 'latency_ns\n1200\n1400\n1300\n' >"$here/good.csv"
    printf 'Dear reader,\nthis is a letter.\n' >"$here/bad.csv"
    "$program" respond --from "$here/bad.csv" "$here/good.csv" "$here/none.csv" "$here/good.csv" \
        --format json >"$here/out.json" 2>"$here/errors"
    expect "exit code 2" [ $? = 2 ] && expect "the good ones" holds 'len(run["runs"]) == 2' &&
        expect "the bad ones" grep -q 'bad.csv: .*no row of numbers' "$here/errors" &&
        expect "each once" [ "$(wc -l <"$here/errors")" = 3 ]
}
try "one bad file does not end a batch" batch
rm -rf "$LATLAB_RUNS"

# The verdict on a capture of fixtures/field with these arguments: its exit code and its first line.
judged() {
    "$program" respond --from "$@" >"$here/judged"
    echo "$? $(tr '\n' ' ' <"$here/judged")"
}
field() {
    local field=fixtures/field said
    "$program" respond --from $field/22.scanastudio.csv $field/24.unit-in-cells.csv --look >"$here/look" &&
        expect "two stimuli" grep -qE 'CH1 STIM +logic +2 rising' "$here/look" &&
        expect "times in the last column" grep -qE 'over 9.99 ms, times known to 10 us' "$here/look" || return
    said=$("$program" respond --from $field/23.decimal-comma-decoder.csv --look 2>&1)
    expect "exit code 2" [ $? = 2 ] &&
        expect "the reason" grep -q 'rows have 5 cells below a heading of 4' <<<"$said" || return
    local simultaneous="$field/26.simultaneous.csv --stimulus A --response B"
    expect "below the resolution" \
        grep -q '^0 PASS: none of 10 .* the largest took < 10 us' < <(judged $simultaneous --deadline 50us) &&
        expect "a deadline within it" \
            grep -q '^4 INCONCLUSIVE: .*less than the resolution' < <(judged $simultaneous --deadline 9us) &&
        expect "noise answers nothing" \
            grep -q '^1 FAIL: 9 of 9 .*its swing of 0.4 is 1 step of its converter (0.4)' < <(
            judged $field/27.noise-two-codes.csv --stimulus STIM --response RESP --deadline 900us)
}
try "captures that were misread once are read, or refused with the reason" field
damaged() {
    local whole=fixtures/field/26.simultaneous.csv wires="--stimulus A --response B --deadline 50us"
    head -c -3 $whole >"$here/cut.csv"
    sed '1200s/,/;/' $whole >"$here/row.csv"
    sed 1200d $whole >"$here/gap.csv"
    { echo "Record Length,100000"; cat $whole; } >"$here/stated.csv"
    expect "a cut end" \
        grep -q '^4 INCONCLUSIVE: .*line 2001: the file ends without a line end' < <(judged "$here/cut.csv" $wires) &&
        expect "a damaged row" \
            grep -q '^4 INCONCLUSIVE: .*1 row that may hold .*line 1200: ' < <(judged "$here/row.csv" $wires) &&
        expect "a missing sample" grep -q '^4 INCONCLUSIVE: .*line 1200: a sample before this row is missing' \
            < <(judged "$here/gap.csv" $wires) &&
        expect "a stated length" \
            grep -q '^4 INCONCLUSIVE: .*states 100000 samples and has 2000' < <(judged "$here/stated.csv" $wires) &&
        expect "a miss is one" grep -q '^1 FAIL: ' \
            < <(judged "$here/cut.csv" --stimulus A --response B --edge rising --response-edge falling --deadline 50us)
}
try "a capture that may lack an edge does not pass" damaged
rm -rf "$LATLAB_RUNS"

outliers() {
    python3 tests/respond.py write_outliers "$here"
    "$program" respond --from "$here/start.csv" "$here/spike.csv" --stimulus in --response out \
        --deadline 1ms --format json >"$here/out.json" &&
        holds '(runs["start"]["responses"]["stimuli"], runs["start"]["answered"]) == (10, 10)' &&
        holds '(runs["spike"]["responses"]["stimuli"], runs["spike"]["answered"]) == (100, 100)' &&
        holds '[(f["count"], f["channel"]) for f in found("spike", "values-outside")] == [(1, "out")]' &&
        holds 'near(runs["spike"]["responses"]["levels"][1]["threshold"], 1.66, 0.01)' || return
    "$program" respond --from "$here/spike.csv" --look >"$here/look" &&
        expect "the edges of the look" grep -qE 'out +analog +100 rising +9[0-9]+ falling' "$here/look"
}
try "values far outside of the levels hide no edge and make none" outliers
# Invariant (captures): Odd captures are read as they were made.
odd_captures() { python3 tests/odd_captures.py "$program" "$here/odd"; }
try "captures that are odd in one way each are read as they were made" odd_captures
rm -rf "$LATLAB_RUNS"

quick() {
    python3 tests/respond.py write_quick >"$here/quick.vcd"
    "$program" respond --from "$here/quick.vcd" --stimulus in --response out --format json >"$here/out.json" &&
        holds 'runs["quick"]["responses"]["figures"]["median_ns"] == 48.1' &&
        holds 'runs["quick"]["responses"]["resolution_ns"] == 0.1' &&
        "$program" plot last --range 36ns..50ns -o "$here/quick.svg" >/dev/null &&
        expect "all of them are drawn" grep -q 'data-drawn="500"' "$here/quick.svg" &&
        expect "in nanoseconds" grep -q 'Response time in ns' "$here/quick.svg"
}
# A tenth of a nanosecond survives in every output.
picoseconds() {
    python3 tests/respond.py quick_samples "$LATLAB_RUNS" || return
    "$program" show last --window +0s.. >"$here/shown" &&
        expect "the median of the window" grep -qE '^quick +500 +48\.0 +48\.1 +48\.1 ' "$here/shown" &&
        expect "the largest of the window" grep -qE '^ +48\.2 ' "$here/shown" &&
        "$program" show last --window +0s.. --format csv | cut -d, -f5 | sort | uniq -c >"$here/counted" &&
        expect "decimals in CSV" grep -qE '167 48\.1$' "$here/counted" &&
        "$program" export last --to csv -o "$here/exported.csv" >/dev/null 2>&1 &&
        expect "decimals in the export" grep -q ',48\.2$' "$here/exported.csv" &&
        "$program" show last --window +0s.. --format json >"$here/window.json" &&
        holds_in "$here/window.json" '' \
            'run["responses"]["max_ns"] == 48.2 and run["largest"][0]["latency_ps"] == 48200' &&
        "$program" verify last >/dev/null &&
        "$program" report last -o "$here/quick.html" >/dev/null &&
        expect "on the page" grep -q '48\.2' "$here/quick.html" || return
    # A deadline between two of them.
    "$program" respond --from "$here/quick.vcd" --stimulus in --response out --deadline 48ns \
        --format json >"$here/out.json"
    expect "the verdict is fail" [ $? = 1 ] && holds 'runs["quick"]["verdict"]["misses"] == 333'
}
try "a responder of 48 ns has its histogram" quick
try "picoseconds are kept in samples, windows, CSV, exports and pages" picoseconds
rm -rf "$LATLAB_RUNS"

made_up() {
    python3 tests/respond.py write_odd_answers >"$here/made_up.csv"
    "$program" respond --from "$here/made_up.csv" --stimulus in --response out --window 100us \
        --deadline 50us --format json >"$here/out.json"
    expect "the verdict is fail" [ $? = 1 ] || return
    holds 'runs["made_up"]["responses"]["stimuli"] == 40' &&
        holds '[runs["made_up"]["responses"][k] for k in ("missing", "late", "double", "spurious")] == [1, 1, 1, 0]' &&
        holds 'runs["made_up"]["answered"] == 38' &&
        holds 'near(runs["made_up"]["responses"]["figures"]["median_ns"], 15000, 1)' &&
        holds 'runs["made_up"]["verdict"]["misses"] == 2' || return
    "$program" respond --from "$here/made_up.csv" --stimulus out --response in --format json >"$here/out.json"
    expect "swapped probes are suspected" grep -q probes-swapped "$here/out.json" &&
        "$program" show last >"$here/shown" && "$program" verify last >/dev/null &&
        "$program" list | grep -q respond && "$program" report last -o "$here/one.html" >/dev/null &&
        "$program" plot last --kind phase --fold 1ms -o "$here/phase.png" >/dev/null
}
try "missing, late and double responses are counted, and swapped probes suspected" made_up

exit $status
