#!/usr/bin/env bash
# A run with every sample: its windows, by time of the run and of the day, and its verification.
# Invariant (old data): pandas and DuckDB read a run folder, and its sums agree.
. "$(dirname "$0")/common.bash"
. tests/run_folder.bash

rights_for "a run with samples"
"$program" run --for "${FOR:-10s}" --period "${PERIOD:-100us}" --samples --name samples --quiet \
    "${rights[@]}" >"$here/summary" 2>"$here/errors" ||
    { echo "not ok a run with samples: exit code $?"; status=1; }
sampled=$(echo "$runs"/*_samples)
if [ -f "$sampled/samples.parquet" ]; then
    if have "the samples of a run" python:{pandas,pyarrow,duckdb}; then
        try "pandas and DuckDB find a sample for every cycle, and the figures follow from them" \
            python3 tests/read_run.py "$sampled"
        sed -n 's/^pandas  samples/     samples:/p' "$here/tried"
    fi
else
    echo "not ok a run with samples stores them"
    sed 's/^/    /' "$here/errors"
    status=1
fi

# A run without samples in the same folder.
"$program" run --cycles 100 --warm-up 0s --name without --quiet "${rights[@]}" >/dev/null 2>"$here/errors"
id=$(basename "$runs"/*_without)

whole_window() {
    "$program" show "$sampled" --window .. --format json >"$here/window.json" &&
        python3 tests/documents.py same_figures "$sampled/run.json" "$here/window.json"
}
try "show --window over the whole run has the figures of run.json" whole_window

csv_lines() {
    local window cycles
    for window in .. +1s..+2s +2.0005s.. ; do
        cycles=$("$program" show "$sampled" --window "$window" --format json |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["total"]["cycles"])')
        "$program" show "$sampled" --window "$window" --format csv >"$here/csv" || return 1
        expect "$cycles lines and a head of $window" [ "$(wc -l <"$here/csv")" = $((cycles + 1)) ] || return 1
    done
    head -3 "$here/csv"
    expect "the head" [ "$(head -1 "$here/csv")" = time,thread,cpu,release_ns,latency_ns ] &&
        expect "nanoseconds of UTC" grep -qE '^20..-..-..T..:..:..\.[0-9]{9}Z,0,' "$here/csv"
}
try "csv has a line for every cycle that json counts" csv_lines

by_the_clock() {
    local from to
    from=$("$program" show "$sampled" --window +1s..+2s --format json |
        python3 -c 'import json, sys; w = json.load(sys.stdin); print(w["from"], w["to"])')
    to=${from#* } from=${from% *}
    "$program" show "$sampled" --window "$from..$to" --format json >"$here/window.json" &&
        "$program" show "$sampled" --window "$(cut -c12-19 <<<"$from")..$(cut -c12-19 <<<"$to")" >"$here/text" &&
        # Printed times have microseconds, so an edge may move by less than one.
        expect "a second by the clock" [ "$(field "$here/window.json" '["to_ns"]')" \
            -gt "$(field "$here/window.json" '["from_ns"]')" ] &&
        expect "its beginning" [ "$(field "$here/window.json" '["from"]' | cut -c1-25)" = "$(cut -c1-25 <<<"$from")" ]
}
try "a window is found by its time of day and by its date" by_the_clock

if have "text at 80 columns" script; then
    try "show --window has no line wider than a terminal of 80 columns" \
        narrow "$program" show "$sampled" --window +1s..+2s
fi
for words in "show $sampled --window .." "show $sampled --window .. --format csv"; do
    try "${words/ $sampled/} | head -1 is no error" no_reader $words
done
samples_line() {
    "$program" show "$sampled" --all >"$here/text"
    expect "how many samples are stored" grep -qE '^[0-9 ]+ samples stored, in [0-9]\.[0-9]+ bytes each' "$here/text"
}
try "show says how many samples are stored, in how many bytes" samples_line
try "csv without a window is wrong usage" mistake 2 "$program" show "$sampled" --format csv
try "a window of a run without samples is refused" mistake 2 "$program" show "$id" --window ..
try "a window outside of the run is refused" mistake 2 "$program" show "$sampled" --window +9999h..

# Verification

all_whole() {
    "$program" verify --all >"$here/text" &&
        expect "a line for each run" [ "$(grep -c ': ok, ' "$here/text")" = "$(ls "$runs" | wc -l)" ]
}
try "verify --all finds every run whole" all_whole

damage() {
    local name code
    for name in samples clocks histogram; do
        rm -rf "$here/damaged"
        cp -r "$sampled" "$here/damaged"
        printf '\xff\xfe\xfd' | dd of="$here/damaged/$name.parquet" bs=1 seek=100 conv=notrunc status=none
        "$program" verify "$here/damaged" >"$here/text"
        code=$?
        cat "$here/text"
        expect "exit code 1, not $code" [ "$code" = 1 ] &&
            expect "the file" grep -q "DAMAGED: $name.parquet: wrong SHA-256" "$here/text" || return 1
        # `show` does not read the samples: there may be too many.
        [ "$name" != samples ] || continue
        "$program" show "$here/damaged" >"$here/text" 2>"$here/errors"
        code=$?
        cat "$here/errors"
        expect "exit code 2 of show, not $code" [ "$code" = 2 ] &&
            expect "the figures, which have a checksum of their own" grep -q '^ *p50 ' "$here/text" &&
            expect "the file" grep -q "$name.parquet was changed after it was stored" "$here/errors" || return 1
    done
    mistake 2 "$program" report "$here/damaged" -o "$here/none.html" &&
        expect "no page" [ ! -e "$here/none.html" ]
}
try "verify names a damaged file, and nothing is made from it" damage

exit $status
