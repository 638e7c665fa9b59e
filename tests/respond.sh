#!/usr/bin/env bash
# Pins that answer pins: captures become runs like any other, with the figures that were computed
# elsewhere.
# Invariant (captures): Real captures have the figures that were computed elsewhere.
. "$(dirname "$0")/common.bash"
. tests/respond.bash
captures=fixtures/captures
data=../shared/data
[ -d $data/avian2 ] || data=../../shared/data

look() {
    "$program" respond --from $captures/100khz_clock_2logic_1analog.sr --look >"$here/look" &&
        expect "channels" grep -q 'sigrok session, 9 channels, over 8.333 ms' "$here/look" &&
        "$program" respond --from $captures/scope_7_1.csv --look >"$here/look1" && expect "one channel" grep -q 'CSV, 1 channel, over' "$here/look1" &&
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
    said=$(timeout 5 "$program" respond --from "$here/pipe" 2>&1)
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

# The verdict of a capture of fixtures/field with these arguments: its exit code and its first line.
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
    expect "below the resolution" grep -q '^0 PASS: none of 10 .* the largest took < 10 us' < <(judged $simultaneous --deadline 50us) &&
        expect "a deadline within it" grep -q '^4 INCONCLUSIVE: .*less than the resolution' < <(judged $simultaneous --deadline 9us) &&
        expect "noise answers nothing" grep -q '^1 FAIL: 9 of 9 .*its swing of 0.4 is 1 step of its converter (0.4)' < <(
            judged $field/27.noise-two-codes.csv --stimulus STIM --response RESP --deadline 900us)
}
try "captures that were misread once are read, or refused with the reason" field
damaged() {
    local whole=fixtures/field/26.simultaneous.csv wires="--stimulus A --response B --deadline 50us"
    head -c -3 $whole >"$here/cut.csv"
    sed '1200s/,/;/' $whole >"$here/row.csv"
    sed 1200d $whole >"$here/gap.csv"
    { echo "Record Length,100000"; cat $whole; } >"$here/stated.csv"
    expect "a cut end" grep -q '^4 INCONCLUSIVE: .*line 2001: the file ends without a line end' < <(judged "$here/cut.csv" $wires) &&
        expect "a damaged row" grep -q '^4 INCONCLUSIVE: .*1 row that may hold .*line 1200: ' < <(judged "$here/row.csv" $wires) &&
        expect "a missing sample" grep -q '^4 INCONCLUSIVE: .*line 1200: a sample before this row is missing' < <(judged "$here/gap.csv" $wires) &&
        expect "a stated length" grep -q '^4 INCONCLUSIVE: .*states 100000 samples and has 2000' < <(judged "$here/stated.csv" $wires) &&
        expect "a miss is one" grep -q '^1 FAIL: ' < <(judged "$here/cut.csv" --stimulus A --response B --edge rising --response-edge falling --deadline 50us)
}
try "a capture that may lack an edge does not pass" damaged
rm -rf "$LATLAB_RUNS"

outliers() {
    python3 - "$here" <<'PYTHON'
import sys
def write(name, rows):
    with open(f"{sys.argv[1]}/{name}.csv", "w") as file:
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
PYTHON
    "$program" respond --from "$here/start.csv" "$here/spike.csv" --stimulus in --response out \
        --deadline 1ms --format json >"$here/out.json" &&
        holds '(runs["start"]["responses"]["stimuli"], runs["start"]["answered"]) == (10, 10)' &&
        holds '(runs["spike"]["responses"]["stimuli"], runs["spike"]["answered"]) == (100, 100)' &&
        holds '[(f["count"], f["channel"]) for f in runs["spike"]["findings"] if f["code"] == "values-outside"] == [(1, "out")]' &&
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
    python3 - >"$here/quick.vcd" <<'PYTHON'
print("$timescale 100 ps $end $var wire 1 ! in $end $var wire 1 ? out $end $enddefinitions $end")
print("#0\n0!\n0?")
at = 0
for number in range(500):
    at += 20000 + number * 7 % 1000
    print(f"#{at}\n1!\n#{at + 480 + number % 3}\n1?\n#{at + 5000}\n0!\n0?")
PYTHON
    "$program" respond --from "$here/quick.vcd" --stimulus in --response out --format json >"$here/out.json" &&
        holds 'runs["quick"]["responses"]["figures"]["median_ns"] == 48.1' &&
        holds 'runs["quick"]["responses"]["resolution_ns"] == 0.1' &&
        "$program" plot last --range 36ns..50ns -o "$here/quick.svg" >/dev/null &&
        expect "all of them are drawn" grep -q 'data-drawn="500"' "$here/quick.svg" &&
        expect "in nanoseconds" grep -q 'Response time in ns' "$here/quick.svg"
}
# A tenth of a nanosecond stays one on every way out.
picoseconds() {
    python3 - "$LATLAB_RUNS" <<'PYTHON' || return
import glob, sys
import pyarrow.parquet
[table] = glob.glob(f"{sys.argv[1]}/*_quick/samples.parquet")
rows = pyarrow.parquet.read_table(table).to_pydict()
expected = [48_000 + number % 3 * 100 for number in range(500)]
assert rows["latency_ps"] == expected, rows["latency_ps"][:9]
assert rows["latency_ns"] == [48] * 500, set(rows["latency_ns"])
PYTHON
    "$program" show last --window +0s.. >"$here/shown" &&
        expect "the median of the window" grep -qE '^quick +500 +48\.0 +48\.1 +48\.1 ' "$here/shown" &&
        expect "the largest of the window" grep -qE '^ +48\.2 ' "$here/shown" &&
        "$program" show last --window +0s.. --format csv | cut -d, -f5 | sort | uniq -c >"$here/counted" &&
        expect "decimals in CSV" grep -qE '167 48\.1$' "$here/counted" &&
        "$program" export last --to csv -o "$here/exported.csv" >/dev/null 2>&1 &&
        expect "decimals in the export" grep -q ',48\.2$' "$here/exported.csv" &&
        "$program" show last --window +0s.. --format json >"$here/window.json" &&
        holds_in "$here/window.json" '' 'run["responses"]["max_ns"] == 48.2 and run["largest"][0]["latency_ps"] == 48200' &&
        "$program" verify last >/dev/null &&
        "$program" report last -o "$here/quick.html" >/dev/null && expect "on the page" grep -q '48\.2' "$here/quick.html" || return
    # A deadline between two of them.
    "$program" respond --from "$here/quick.vcd" --stimulus in --response out --deadline 48ns --format json >"$here/out.json"
    expect "the verdict is fail" [ $? = 1 ] && holds 'runs["quick"]["verdict"]["misses"] == 333'
}
try "a responder of 48 ns has its histogram" quick
try "picoseconds are kept in samples, windows, CSV, exports and pages" picoseconds
rm -rf "$LATLAB_RUNS"

made_up() {
    python3 - >"$here/made_up.csv" <<'PYTHON'
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
PYTHON
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

avian2() {
    "$program" respond --from $data/avian2/*.out --format json >"$here/out.json" &&
        holds 'len(runs) == 8' &&
        holds '(runs["01_rpi_c_userspace_busy"]["answered"], runs["01_rpi_c_userspace_busy"]["responses"]["censored"]) == (499, 1)' &&
        holds 'near(runs["01_arduino_irq"]["responses"]["figures"]["mean_ns"], 9067.2686, 1e-3)' &&
        holds 'runs["01_rpi_c_kmod_busy"]["responses"]["figures"]["max_ns"] == 16119.3' &&
        holds 'near(pairs["01_rpi_python", "01_rpi_c_userspace"]["quicker"], 0.954, 5e-4)' &&
        holds 'pairs["01_arduino_polling", "01_arduino_irq"]["quicker_than_all"] == 299' &&
        holds 'pairs["01_rpi_python_busy", "01_rpi_python"]["shift_ns"] < -30000' || return
    local ids
    mapfile -t ids < <(python3 -c 'import json,sys; [print(r["id"]) for r in json.load(open(sys.argv[1]))["runs"]]' "$here/out.json")
    "$program" report "${ids[@]}" -o "$here/all.html" >/dev/null &&
        expect "the pairs on the page" grep -q '0.954' "$here/all.html" &&
        expect "idle and busy" grep -q 'Idle and under load' "$here/all.html" &&
        "$program" plot "${ids[@]}" --range 0..50us -o "$here/zoomed.png" >/dev/null &&
        "$program" plot "${ids[@]}" --range 0..50us -o "$here/zoomed.svg" >/dev/null &&
        expect "no empty panel in a zoom" [ "$(grep -o 'Count per bin (bins of 200 ns)<' "$here/zoomed.svg" | wc -l)" = 4 ] &&
        expect "what is not in it" grep -q 'Outside of this range lies all of 01_rpi_c_userspace (500), .* 01_rpi_python_busy (500)' "$here/zoomed.svg" &&
        "$program" plot "${ids[@]}" --kind boxes -o "$here/boxes.svg" >/dev/null &&
        expect "the median of the samples" grep -q '01_rpi_c_kmod_busy: 4.761 us to 16.12 us, half of them 7.1 us to 8.3 us, median 7.824 us' "$here/boxes.svg" &&
        expect "a censored reading keeps from pass" censored "${ids[0]}"
}
censored() {
    "$program" respond --from $data/avian2/01_rpi_c_userspace_busy.out --deadline 1ms >/dev/null
    [ $? = 4 ]
}
koenichiwa() {
    "$program" respond --from $data/koenichiwa/*RT6__read_interval_0.csv --format json >"$here/out.json" &&
        holds 'runs["RT6__read_interval_0"]["answered"] == 9998' &&
        holds 'runs["RT6__read_interval_0"]["responses"]["impossible"] == 1' &&
        holds '[(f["readings"][0]["number"], f["first_meant_ns"]) for f in runs["RT6__read_interval_0"]["findings"] if f["code"] == "response-impossible"] == [(8465, 28073)]' &&
        holds '(runs["NO_RT6__read_interval_0"]["responses"]["missing"], runs["NO_RT6__read_interval_0"]["responses"]["stimuli"]) == (1, 9999)'
}
# What the program knows of the publication is what its readings say.
published_figures() {
    python3 - $data/avian2 crates/report/src/sections/published.rs <<'PYTHON'
import re, statistics, sys
folder, source = sys.argv[1:]
text = open(source).read()
named = {"UnoPolling": "arduino_polling", "UnoInterrupt": "arduino_irq", "Module": "rpi_c_kmod",
         "Program": "rpi_c_userspace", "Python": "rpi_python"}
seen = 0
for name, numbers in re.findall(r"(\w+) => of\((?:\d+, )?\[([0-9_., ]+)\]\)", text):
    known = [float(number.replace("_", "")) for number in numbers.split(",")]
    is_busy = text.index(numbers) > text.index("fn busy")
    file = f"{folder}/01_{named[name]}{'_busy' if is_busy else ''}.out"
    values = sorted(float(line.split()[1]) * 1e9 for line in open(file))
    values = [value for value in values if value < 1e30]
    p99 = values[-(-99 * len(values) // 100) - 1]
    true = [values[0], statistics.median(values), statistics.fmean(values), p99, values[-1]]
    assert all(abs(one - other) <= 0.06 for one, other in zip(known, true)), (file, known, true)
    seen += 1
assert seen == 8, seen
PYTHON
}
if [ -d $data/avian2 ]; then
    try "the published figures that the program knows are those of the readings" published_figures
    try "eight published series have their figures, and are compared" avian2
    try "a list with its author's mistakes is read without them" koenichiwa
else
    echo "SKIPPED: published series: they are not in ../shared/data"
fi

exit $status
