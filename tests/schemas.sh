#!/usr/bin/env bash
# What the program prints and stores as JSON, against the schemas of docs/reference.
# Invariant (documents): Stored and printed JSON fits its schema, that of older runs too.
. "$(dirname "$0")/common.bash"
schemas=$PWD/docs/reference
export LATLAB_RUNS=$here/runs

have "the schemas" python:jsonschema || exit 0

# Whether documents fit a schema; Python code may spoil the document first.
fits() {
    python3 tests/documents.py fits "$schemas/$1.schema.json" "$2" "${3:-}"
}

refuses() { ! fits "$@" >/dev/null 2>&1; }

rights_for "a run"
"$program" run --for 1s --warm-up 0s --deadline 1ms --name judged --format json --quiet \
    "${rights[@]}" >"$here/run.json" 2>"$here/errors"
code=$?
case $code in
    0 | 1 | 4) ;;
    *)
        echo "not ok a run makes a document (exit code $code)"
        sed 's/^/    /' "$here/errors"
        exit 1
        ;;
esac
try "run --format json fits run.schema.json" fits run "$here/run.json"
try "run.json fits it" fits run "$here"/runs/*_judged/run.json

other_flags() {
    "$program" run --cycles 100 --warm-up 0s --threads 1 --policy other --idle-states system \
        --samples --note 'ä "quoted" note' --seed 18446744073709551615 --name plain --quiet \
        --spike-above 1ns --on-spike true --format json >"$here/plain.json" &&
        fits run "$here/plain.json"
}
try "a run with other flags, without a deadline, fits it" other_flags

show_json() { "$program" show --format json >"$here/show.json" && fits run "$here/show.json"; }
try "show --format json fits it" show_json

list_json() { "$program" list --format json >"$here/list.json" && fits list "$here/list.json"; }
try "list --format json fits list.schema.json" list_json

every_state() {
    mkdir -p "$here/states/20260101T000000Z_damaged"
    echo '{' >"$here/states/20260101T000000Z_damaged/run.json"
    # A folder with this lock counts as being measured.
    mkdir "$here/states/.20260102T000000Z_busy.partial"
    cp fixtures/schema-1/cut/.*.partial/journal "$here/states/.20260102T000000Z_busy.partial/"
    flock "$here/states/.20260102T000000Z_busy.partial/journal" \
        "$program" list --out "$here/states" --format json >"$here/states.json" 2>/dev/null
    expect "a damaged run and one that is measured" \
        [ "$(grep -c '"state": "\(damaged\|going-on\)"' "$here/states.json")" = 2 ] &&
        fits list "$here/states.json"
}
try "so does a list with a damaged run and one that goes on" every_state

report_json() {
    "$program" report -o "$here/page.html" --format json >"$here/report.json" &&
        fits report "$here/report.json"
}
respond_json() {
    local captures=fixtures/captures
    "$program" respond --from $captures/100khz_clock_2logic_1analog.sr $captures/100khz_clock_2logic_1analog.sr \
        --stimulus D0 --response A0 --deadline 1ms --format json >"$here/respond.json" &&
        fits respond "$here/respond.json" &&
        "$program" respond --from $captures/*.vcd $captures/scope_3.csv --look --format json >"$here/look.json" &&
        fits respond-look "$here/look.json"
}
try "respond --format json fits its schemas" respond_json
try "report --format json fits report.schema.json" report_json

window_json() {
    "$program" show plain --window +0s.. --format json >"$here/window.json" &&
        fits window "$here/window.json"
}
try "show --window --format json fits window.schema.json" window_json

verify_json() {
    "$program" verify --all --format json >"$here/verify.json" && fits verify "$here/verify.json" &&
        { "$program" verify --all --out "$here/states" --format json >"$here/bad.json"; [ $? = 1 ]; } &&
        fits verify "$here/bad.json" && grep -q '"whole": false' "$here/bad.json"
}
try "verify --format json fits verify.schema.json, with a damaged run as well" verify_json

doctor_json() {
    "$program" doctor --format json --save "$here/snapshot.json" >"$here/doctor.json" &&
        fits doctor "$here/doctor.json" && fits snapshot "$here/snapshot.json" &&
        fits snapshot "$here"/runs/*_judged/snapshot.json &&
        "$program" doctor --list --format json >"$here/doctor-list.json" &&
        fits doctor-list "$here/doctor-list.json"
}
try "doctor --format json, --list and --save fit their schemas" doctor_json

doctor_against_json() {
    sed 's/"proc\/cmdline": "/&planted /' "$here/snapshot.json" >"$here/planted.json"
    "$program" doctor --root "$here/planted.json" --against "$here/snapshot.json" --format json \
        >"$here/against.json" && fits doctor-against "$here/against.json" &&
        expect "the planted word" grep -q '"after": "planted"' "$here/against.json"
}
try "doctor --against --format json fits doctor-against.schema.json" doctor_against_json

loads_json() {
    "$program" loads --format json >"$here/loads.json" && fits loads "$here/loads.json" &&
        "$program" loads show hackbench --format json >"$here/load.json" &&
        fits load "$here/load.json"
}
try "loads --format json and loads show fit their schemas" loads_json

loaded_json() {
    "$program" run --for 2s --warm-up 0s --policy other --idle-states system --share --quiet \
        --load 'command,run=while :; do :; done' --name loaded --format json >"$here/loaded.json"
    expect "a load that ran" grep -q '"cpu_share"' "$here/loaded.json" && fits run "$here/loaded.json"
}
try "a run with a load fits run.schema.json" loaded_json

# A sheet is TOML, with the values of JSON.
sheet_json() {
    python3 tests/documents.py sheets_as_json "$here" scenarios/*.toml
    local file
    for file in "$here"/*.sheet.json; do
        fits sheet "$file" || { echo "$file"; return 1; }
    done
    "$program" scenarios --format json >"$here/scenarios.json" &&
        fits scenarios "$here/scenarios.json"
}
! have "the schema of sheets" python:tomllib ||
    try "every ready-made sheet fits sheet.schema.json, and their list its own" sheet_json

campaign_json() {
    printf '%s\n' '[defaults]' 'cycles = 100' 'warm-up = "0"' 'share = true' 'policy = "other"' \
        'idle-states = "system"' '[[scenario]]' 'name = "a"' 'deadline = "1s"' '[[scenario]]' 'name = "b"' \
        >"$here/sheet.toml"
    "$program" run "$here/sheet.toml" --dry-run --format json >"$here/dry.json" &&
        fits campaign-dry-run "$here/dry.json" || return 1
    "$program" run "$here/sheet.toml" --quiet --format json >"$here/made.json" 2>/dev/null
    fits campaign-run "$here/made.json" &&
        fits campaign "$here"/runs/*_sheet/campaign.json &&
        "$program" show sheet --format json >"$here/table.json" &&
        fits campaign-table "$here/table.json" &&
        "$program" report sheet --format json >"$here/reported.json" &&
        fits campaign-report "$here/reported.json" &&
        "$program" list --format json >"$here/list-all.json" && fits list "$here/list-all.json"
}
try "the documents of a campaign fit their schemas, from the dry run to the table" campaign_json

# An older document fits the schema as `latlab show` prints it.
stored() {
    local file folder
    for file in fixtures/schema-*/runs/*/run.json; do
        folder=$(dirname "$file")
        "$program" show --format json --out "$(dirname "$folder")" "$(basename "$folder")" \
            >"$here/stored.json" || { echo "$file"; return 1; }
        fits run "$here/stored.json" || { echo "$file"; return 1; }
    done
}
try "stored runs of every schema are printed as run.schema.json says" stored

# Documents that must not fit, as proof that the schemas check something.
wrong() {
    local spoil
    for spoil in \
        'document["measured_ns"] = "1 s"' \
        'document["verdict"]["word"] = "perhaps"' \
        'document["asked"]["who"]["policy"]["name"] = "fofo"' \
        'document["asked"]["who"]["cpus"] = [0, 1]' \
        'document["threads"][0]["summary"]["cycles"] = -1' \
        'document["clocks"].pop()' \
        'document["total"]["mean_ns"] = True' \
        'del document["findings"]'; do
        refuses run "$here/run.json" "$spoil" || { echo "it fits after $spoil"; return 1; }
    done
    refuses list "$here/list.json" 'del document[0]["total"]' || { echo "a list fits"; return 1; }
    refuses list "$here/list.json" 'document[0]["state"] = "gone"' || { echo "a list fits"; return 1; }
    refuses window "$here/window.json" 'document["largest"][0]["latency_ns"] = "1 us"' ||
        { echo "a window fits"; return 1; }
    refuses verify "$here/verify.json" 'document[0]["whole"] = 1' || { echo "a verify fits"; return 1; }
    refuses report "$here/report.json" 'document["bytes"] = 1.5' || { echo "a report fits"; return 1; }
    refuses doctor "$here/doctor.json" 'document["unreadable"] = []' || { echo "a doctor fits"; return 1; }
    refuses doctor-list "$here/doctor-list.json" 'document[0]["severity"] = "bad"' ||
        { echo "a catalogue fits"; return 1; }
    refuses doctor-against "$here/against.json" 'document["machine"][0]["after"] = 1' ||
        { echo "a comparison fits"; return 1; }
    refuses snapshot "$here/snapshot.json" 'document["files"]["proc/cmdline"] = 1' ||
        { echo "a snapshot fits"; return 1; }
    refuses loads "$here/loads.json" 'document[0]["name"] = 1' || { echo "a list of loads fits"; return 1; }
    refuses run "$here/loaded.json" 'document["loads"][0]["restarts"] = -1' ||
        { echo "a load fits"; return 1; }
    refuses campaign-table "$here/table.json" 'document["rows"][0]["cells"][0]["state"] = "gone"' ||
        { echo "a table fits"; return 1; }
    refuses campaign "$here"/runs/*_sheet/campaign.json 'document["order"] = "abab"' ||
        { echo "a campaign fits"; return 1; }
}
try "a document with a wrong type, word or gap does not fit" wrong

exit $status
