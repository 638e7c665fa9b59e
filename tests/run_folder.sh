#!/usr/bin/env bash
# A real run, and everything that can be said of its folder, with and without latlab.
# FOR is how long it measures (10 s where every sample is stored), PERIOD the distance of those.
# Invariant (old data): pandas and DuckDB read a run folder, and its sums agree.
. "$(dirname "$0")/common.bash"
runs=$here/runs
export LATLAB_RUNS=$runs
unset NO_COLOR

# A field of a JSON file, as Python indexes it.
field() {
    python3 -c 'import json, sys; print(eval("run" + sys.argv[2], {"run": json.load(open(sys.argv[1]))}))' "$@"
}

# Whether two JSON documents say the same, to the last digit, but for what is made when a run is
# shown (the sentences of findings and verdict, the largest latencies, the statistics) and what belongs to the stored bytes (the seal).
same_json() {
    python3 - "$@" <<'PYTHON'
import json, sys

def stored(document):
    if isinstance(document, dict) and "findings" in document:
        document.pop("seal", None)
        document.pop("largest", None)
        document.pop("statistics", None)
        (document["verdict"] or {}).pop("sentence", None)
        for finding in document["findings"]:
            for made in ("severity", "text", "remedy", "effect"):
                finding.pop(made, None)
    return document

left, right = (stored(json.load(open(name), parse_float=str)) for name in sys.argv[1:])
sys.exit(None if left == right else "the documents differ")
PYTHON
}

# A command's output on a terminal of 80 columns, its colours left in.
on_terminal() {
    script -qec "stty cols 80 rows 24; exec $*" /dev/null </dev/null | tr -d '\r'
}

without_colour() { sed 's/\x1b\[[0-9;]*m//g'; }

rights_for "a run"
"$program" run --for "${FOR:-5s}" --deadline 1ms --name folder "${rights[@]}" \
    >"$here/summary" 2>"$here/errors"
code=$?
folder=$(echo "$runs"/*_folder)
run=$folder/run.json
if [ ! -f "$run" ]; then
    echo "not ok a run makes a folder with run.json (exit code $code)"
    sed 's/^/    /' "$here/errors"
    exit 1
fi
id=${folder##*/}

# The exit code

exit_code() {
    local word
    word=$(field "$run" '["verdict"]["word"]')
    case $word in pass) expected=0 ;; fail) expected=1 ;; *) expected=4 ;; esac
    expect "exit code $expected for $word, not $code" [ "$code" = "$expected" ] &&
        expect "the word $word in the summary" grep -q "^${word^^}: " "$here/summary"
}
try "the exit code is that of the verdict" exit_code

# The folder, without latlab

if have "the tables of a run" python:{pandas,pyarrow,duckdb}; then
    try "pandas and DuckDB find every cycle in the bins and in the intervals" \
        python3 tests/read_run.py "$folder"
fi

sums() {
    python3 - "$run" >"$here/sums" <<'PYTHON'
import json, sys
for name, file in json.load(open(sys.argv[1]))["files"].items():
    print(f"{file['sha256']}  {name}")
PYTHON
    cat "$here/sums"
    expect "four tables" [ "$(wc -l <"$here/sums")" -ge 4 ] &&
        (cd "$folder" && sha256sum --strict -c "$here/sums")
}
try "sha256sum agrees with the checksums" sums

seal() {
    expect "the seal of the lines before it" \
        [ "$(head -n -2 "$run" | sha256sum)" = "$(field "$run" '["seal"]')  -" ]
}
try "sha256sum agrees with the seal of run.json" seal

leftovers() {
    expect "nothing but the run in the folder of runs" [ "$(ls -A "$runs")" = "$id" ] &&
        expect "no journal" [ ! -e "$folder/journal" ]
}
try "nothing is left beside the finished run" leftovers

# What is printed for programs

list_json() {
    "$program" list --format json >"$here/list.json" &&
        expect "this run alone" [ "$(field "$here/list.json" '[0]["id"]') $(field "$here/list.json" '.__len__()')" = "$id 1" ] &&
        expect "finished" [ "$(field "$here/list.json" '[0]["state"]')" = finished ] &&
        expect "the cycles of run.json" [ "$(field "$here/list.json" '[0]["total"]["cycles"]')" = "$(field "$run" '["total"]["cycles"]')" ]
}
try "list --format json names the run and its cycles" list_json

show_json() {
    local name
    for name in last "$id" "${id%_folder}" "$folder"; do
        "$program" show "$name" --format json >"$here/show.json" &&
            same_json "$run" "$here/show.json" || { echo "show $name"; return 1; }
    done
}
try "show --format json is run.json, by every name of the run" show_json

report_json() {
    local page="$here/the page.html"
    "$program" report --format json -o "$page" >"$here/report.json" &&
        expect "the size of the page" [ "$(field "$here/report.json" '["bytes"]')" = "$(stat -c %s "$page")" ] &&
        expect "the run's id" [ "$(field "$here/report.json" '["runs"][0]')" = "$id" ]
}
try "report --format json says what it wrote" report_json

run_json() {
    "$program" run --for 1s --warm-up 0s --name second --format json --quiet "${rights[@]}" \
        >"$here/second.json" || { echo "exit code $?"; return 1; }
    same_json "$here/second.json" "$runs"/*_second/run.json
}
try "run --format json prints its run.json, and ends with 0 without a deadline" run_json

newest_first() {
    "$program" list --format json >"$here/list.json"
    "$program" show --format json >"$here/show.json"
    expect "the second run first in the list" \
        [ "$(field "$here/list.json" '[0]["name"]') $(field "$here/list.json" '[1]["name"]')" = "second folder" ] &&
        expect "the second run as last" [ "$(field "$here/show.json" '["asked"]["name"]')" = second ]
}
try "the newest run is the first of the list, and the last one" newest_first

# What is printed for people

narrow() {
    local wide
    on_terminal "$@" >"$here/text"
    expect "some text" [ -s "$here/text" ] || return 1
    without_colour <"$here/text" >"$here/plain"
    cat "$here/plain"
    # The command that repeats a run is one line, to be copied.
    wide=$(grep -Ev '^(  latlab run |Try first)' "$here/plain" | LC_ALL=C.UTF-8 wc -L)
    expect "no line wider than 80, the widest has $wide" [ "$wide" -le 80 ]
}
if have "text at 80 columns" script; then
    try "show has no line wider than a terminal of 80 columns" narrow "$program" show "$id"
    try "nor has show --all" narrow "$program" show "$id" --all
    try "list has no line wider than a terminal of 80 columns" narrow "$program" list
    colours() {
        on_terminal "$program" show "$id" >"$here/text"
        expect "colours on a terminal" grep -q $'\x1b\[' "$here/text" || return 1
        on_terminal env NO_COLOR=1 "$program" show "$id" >"$here/text"
        expect "no colours under NO_COLOR" [ "$(grep -c $'\x1b' "$here/text")" = 0 ] &&
            expect "the same text" [ "$(wc -l <"$here/text")" -gt 10 ]
    }
    try "a terminal has colours, unless NO_COLOR says otherwise" colours
fi

plain() {
    "$program" show "$id" >"$here/text"
    expect "no colours where no terminal is" [ "$(grep -c $'\x1b' "$here/text" "$here/summary" | grep -vc ':0$')" = 0 ] &&
        expect "the same answer" cmp <(head -n 2 "$here/text") <(head -n 2 "$here/summary") &&
        expect "no more than a screen" [ "$(wc -l <"$here/text")" -le 24 ] &&
        expect "in the run no more than an answer" [ "$(wc -l <"$here/summary")" -le 16 ] &&
        expect "where it is stored" grep -q "^Stored in .*/$id\$" "$here/summary"
}
try "show prints what the run printed, without colours in a file" plain
everything() {
    "$program" show "$id" --all >"$here/text" && "$program" show "$id" -v | cmp - "$here/text" &&
        expect "each part" [ "$(grep -cE '^(thread  cpu|Nothing was lost|No latency was lost|Cost of measuring|Verdict: |Repeat it)' "$here/text")" = 5 ]
}
try "show --all prints everything" everything

# A reader that goes away

no_reader() {
    local code
    "$program" "$@" 2>"$here/errors" | head -n 1 >/dev/null
    code=${PIPESTATUS[0]}
    expect "exit code 0 before head, not $code" [ "$code" = 0 ] || return 1
    # Here nobody reads by the time that it writes.
    { sleep 0.2; "$program" "$@" 2>>"$here/errors"; echo $? >"$here/code"; } | :
    cat "$here/errors"
    expect "exit code 0 without a reader, not $(<"$here/code")" [ "$(<"$here/code")" = 0 ] &&
        expect "no word about it" [ ! -s "$here/errors" ]
}
for words in "show $id" "show $id --format json" "list" "report $id" "verify $id"; do
    try "${words/ $id/} | head -1 is no error" no_reader $words
done

# The page

page() {
    local page=$here/page.html
    "$program" report "$id" -o "$page" >"$here/text" &&
        expect "the name of the page" [ "$(<"$here/text")" = "$page" ] &&
        expect "a whole page" grep -q '</html>' "$page" &&
        expect "the run's id" grep -q "$id" "$page" &&
        expect "no draft" [ -z "$(find "$here" -name '*.draft')" ]
}
try "report -o writes the page" page

# As /dev/stdout is where standard output is a file that was deleted meanwhile.
page_without_a_name() {
    ln -s /proc/self/fd/9 "$here/link"
    (
        exec 9>"$here/gone" && rm "$here/gone"
        "$program" report "$id" -o "$here/link" >/dev/null && expect "a page" [ -s /proc/self/fd/9 ]
    ) && expect "the link is there yet" [ -L "$here/link" ]
}
try "a link to what has no name is written into, and stays" page_without_a_name

twice() {
    "$program" report "$id" >/dev/null && cp "$folder/report.html" "$here/first.html" &&
        "$program" report "$id" >/dev/null && cmp "$folder/report.html" "$here/first.html" &&
        cmp "$folder/report.html" "$here/page.html" &&
        (cd "$folder" && sha256sum --quiet --strict -c "$here/sums")
}
try "report can be made again, is the same, and changes nothing else" twice

# Mistakes

mistake() {
    local expected=$1 code
    shift
    "$@" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code $expected, not $code" [ "$code" = "$expected" ] &&
        expect "a word about it" [ -s "$here/errors" ] &&
        expect "nothing on standard output" [ ! -s "$here/text" ]
}
try "an unknown run is wrong input" mistake 2 "$program" show no-such-run
try "a page that cannot be written is named" mistake 2 "$program" report "$id" -o "$here/none/page.html"

hint() {
    local words
    words=$(sed -n 's/^As a page: latlab //p' "$here/summary")
    expect "a command that makes the page" [ -n "$words" ] &&
        (cd "$here" && "$program" $words)
}
try "the command named below the summary makes the page" hint

# Every sample

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

whole_window() {
    "$program" show "$sampled" --window .. --format json >"$here/window.json" &&
        python3 - "$sampled/run.json" "$here/window.json" <<'PYTHON'
import json, sys
run, window = (json.load(open(name), parse_float=str) for name in sys.argv[1:])
summaries = lambda of: [of["total"]] + [thread["summary"] for thread in of["threads"]]
if summaries(run) != summaries(window):
    sys.exit(f"not the same:\n{summaries(run)}\n{summaries(window)}")
if window["largest"][0]["latency_ns"] != run["total"]["max_ns"]:
    sys.exit("the largest latency is not the maximum")
PYTHON
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
    from=$("$program" show "$sampled" --window +1s..+2s --format json | python3 -c 'import json, sys; w = json.load(sys.stdin); print(w["from"], w["to"])')
    to=${from#* } from=${from% *}
    "$program" show "$sampled" --window "$from..$to" --format json >"$here/window.json" &&
        "$program" show "$sampled" --window "$(cut -c12-19 <<<"$from")..$(cut -c12-19 <<<"$to")" >"$here/text" &&
        # What is printed has microseconds, so that an edge may move by less than one.
        expect "a second by the clock" [ "$(field "$here/window.json" '["to_ns"]')" -gt "$(field "$here/window.json" '["from_ns"]')" ] &&
        expect "its beginning" [ "$(field "$here/window.json" '["from"]' | cut -c1-25)" = "$(cut -c1-25 <<<"$from")" ]
}
try "a window is found by its time of day and by its date" by_the_clock

if command -v script >/dev/null; then # else told above
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
try "a window of a run without samples is told" mistake 2 "$program" show "$id" --window ..
try "a window outside of the run is told" mistake 2 "$program" show "$sampled" --window +9999h..

# Whether it is as it was stored

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
        # Samples may be too many to be read for a look at the figures.
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
