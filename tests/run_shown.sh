#!/usr/bin/env bash
# What `latlab show`, `list` and others print about a stored run: for programs, for people, on a terminal, and into a
# closed pipe.
. "$(dirname "$0")/common.bash"
. tests/run_folder.bash

# Whether two JSON documents of a run are equivalent.
same_json() { python3 tests/documents.py same "$@"; }

rights_for "a run"
make_run 2s

# For programs

list_json() {
    "$program" list --format json >"$here/list.json" &&
        expect "this run alone" [ "$(field "$here/list.json" '[0]["id"]') $(field "$here/list.json" '.__len__()')" = \
            "$id 1" ] &&
        expect "finished" [ "$(field "$here/list.json" '[0]["state"]')" = finished ] &&
        expect "the cycles of run.json" [ "$(field "$here/list.json" '[0]["total"]["cycles"]')" = \
            "$(field "$run" '["total"]["cycles"]')" ]
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

# For people

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
    expect "no colours where no terminal is" \
        [ "$(grep -c $'\x1b' "$here/text" "$here/summary" | grep -vc ':0$')" = 0 ] &&
        expect "the same answer" cmp <(head -n 2 "$here/text") <(head -n 2 "$here/summary") &&
        expect "no more than a screen" [ "$(wc -l <"$here/text")" -le 24 ] &&
        expect "in the run no more than an answer and three causes" \
            [ "$(grep -cE '^  (error|warning|note) ' "$here/summary")" -le 3 ] &&
        expect "where it is stored" grep -q "^Stored in .*/$id\$" "$here/summary"
}
try "show prints what the run printed, without colours in a file" plain
everything() {
    "$program" show "$id" --all >"$here/text" && "$program" show "$id" -v | cmp - "$here/text" &&
        expect "each part" \
            [ "$(grep -cE '^(thread  cpu|Nothing was lost|No latency was lost|Cost of measuring|Repeat it)' \
                "$here/text")" = 4 ]
}
try "show --all prints everything" everything

for words in "show $id" "show $id --format json" "list" "report $id" "verify $id"; do
    try "${words/ $id/} | head -1 is no error" no_reader $words
done

exit $status
