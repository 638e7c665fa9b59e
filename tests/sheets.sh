#!/usr/bin/env bash
# Sheets and campaigns: what is wrong with a sheet is told, and a campaign survives a kill.
# Invariant (campaigns): A campaign continues with the next missing run and waits for its kernel.
. "$(dirname "$0")/common.bash"
rights_for "a campaign"
flags=()
[ ${#rights[@]} = 0 ] || flags=(policy='"other"' idle-states='"system"')
export LATLAB_RUNS=$here/runs NO_COLOR=1

cat >"$here/wrong.toml" <<'SHEET'
repeats = 0
order = "abab"
[defaults]
priod = "200us"
for = "10s"
[[scenario]]
name = "idle"
deadline = 125
[[scenario]]
name = "load"
mechanism = "nanosleap"
out = "elsewhere"
SHEET
mistakes() {
    "$program" run "$here/wrong.toml" >"$here/out" 2>"$here/wrong"
    expect "exit code 2" [ $? = 2 ] || return
    local place
    for place in "1:11: repeats" "2:9: order.*'abba'" "4:1: .*'period'" "8:12: deadline.*no unit" \
        "11:13: mechanism.*'nanosleep'" "12:1: 'out'"; do
        grep -q "wrong.toml:$place" "$here/wrong" || { echo "no $place"; cat "$here/wrong"; return 1; }
    done
    expect "six mistakes" [ "$(grep -c 'wrong.toml:[0-9]' "$here/wrong")" = 6 ] &&
        expect "the word underlined" grep -q '^      | ^^^^^$' "$here/wrong" &&
        expect "nothing begun" [ ! -e "$LATLAB_RUNS" ]
}
try "six mistakes are told at their places" mistakes

dry_run() {
    "$program" run stress-five --scale 5s --repeats 2 --dry-run >"$here/dry" 2>&1 &&
        expect "ten runs" grep -q '^10 runs in order sequential .*: 50 s in all, 60 s with warm-ups' "$here/dry" &&
        expect "the scale" grep -q 'scaled by --scale 5 s' "$here/dry" &&
        expect "nothing begun" [ ! -e "$LATLAB_RUNS" ]
}
try "a dry run says all runs and the time" dry_run

effects() {
    cat >"$here/effects.toml" <<'SHEET'
[defaults]
for = "1s"
set = "/proc/sys/vm/stat_interval=10"
tune = "rt-throttling=off"
on-spike = "logger late"
spike-above = "1ms"
[[scenario]]
name = "own"
load = "command,run=sleep 9"
SHEET
    local line
    "$program" run "$here/effects.toml" --dry-run >"$here/dry" || return 1
    for line in "changes: /proc/sys/vm/stat_interval = 10" "changes: tuning rt-throttling=off" \
        "for a spike: logger late" "as load: sh -c 'sleep 9'"; do
        expect "$line" grep -qxF "  $line" "$here/dry" || return 1
    done
}
try "a dry run says what a sheet changes and executes" effects

others() {
    "$program" run quick --period 1ms >"$here/out" 2>&1
    expect "exit code 2" [ $? = 2 ] && expect "the option named" grep -q -- '--period' "$here/out"
}
try "options of a single run are refused beside a sheet" others

{
    printf 'repeats = 2\n[defaults]\nfor = "3s"\nwarm-up = "200ms"\nshare = true\n'
    for flag in "${flags[@]}"; do echo "$flag"; done
    printf '[[scenario]]\nname = "judged"\ndeadline = "1s"\n[[scenario]]\nname = "plain"\nperiod-step = "1ms"\nthreads = 2\n'
} >"$here/small.toml"

# The run that was killed is measured again; those that were made are what they were.
killed() {
    "$program" run "$here/small.toml" --quiet >/dev/null 2>&1 &
    local campaign=$!
    for _ in $(seq 300); do
        # The first is made, and the second goes on.
        [ "$(ls -d "$LATLAB_RUNS"/*_small/runs/2* 2>/dev/null | wc -l)" = 1 ] &&
            ls -d "$LATLAB_RUNS"/*_small/runs/.*.partial >/dev/null 2>&1 && break
        sleep 0.1
    done
    sleep 1.5
    kill -9 "$campaign"
    wait "$campaign" 2>/dev/null
    (cd "$LATLAB_RUNS" && find . -path './*_small/runs/2*' -type f -exec sha256sum {} +) >"$here/sums"
    expect "a run that was made" [ -s "$here/sums" ] &&
        "$program" list 2>/dev/null | grep '1 of 4 measured' &&
        "$program" run --resume --dry-run 2>/dev/null | grep -q '^3 runs in order' &&
        "$program" run --resume --quiet --format json >"$here/resumed.json" || return
    (cd "$LATLAB_RUNS" && sha256sum --quiet -c "$here/sums") || return
    expect "a cut run beside four whole ones" [ "$(ls -d "$LATLAB_RUNS"/*_small/runs/2* | wc -l)" = 5 ]
}
try "a campaign that was killed goes on with the next missing run" killed

nothing_left() { ! "$program" run --resume 2>"$here/out" && grep -q 'is unfinished' "$here/out"; }
try "then nothing is left to resume" nothing_left

cells() {
    "$program" report small --format csv >"$here/table.csv" &&
        "$program" report small --format junit >"$here/junit.xml" &&
        python3 - "$LATLAB_RUNS"/*_small "$here" <<'PYTHON'
import csv, json, sys, xml.etree.ElementTree as tree
campaign, here = sys.argv[1:]
rows = list(csv.DictReader(open(f"{here}/table.csv")))
assert len(rows) == 4 and all(row["state"] == "done" for row in rows), rows
for row in rows:
    run = json.load(open(f"{campaign}/runs/{row['run']}/run.json"))
    total = run["total"]
    assert (run["asked"]["cell"]["row"], run["asked"]["cell"]["repeat"]) == (row["row"], int(row["repeat"]))
    assert int(row["cycles"]) == total["cycles"] and int(row["max_ns"]) == total["max_ns"], row
    assert row["p99_9_ns"] == str(total["quantiles"]["p99_9_ns"] or ""), row
    assert row["verdict"] == (run["verdict"] or {"word": ""})["word"], row
suite = tree.parse(f"{here}/junit.xml").getroot()
assert [case.get("name") for case in suite.iter("testcase")] == ["judged", "plain"]
PYTHON
}
try "the cells are the runs' own figures, and JUnit is XML" cells

# Whether each of the four cells of a page leads to the page of its run, seen from its folder.
leads_to_runs() {
    local links link
    links=$(grep -o 'href="runs/[^"]*"' "$1" | cut -d'"' -f2)
    for link in $links; do
        [ -s "$(dirname "$1")/$link" ] || { echo "no $link"; return 1; }
    done
    expect "four links" [ "$(wc -l <<<"$links")" = 4 ]
}
page() { "$program" report small >/dev/null && leads_to_runs "$LATLAB_RUNS"/*_small/report.html; }
try "each cell leads to its run" page

travels() {
    "$program" report small -o "$here/pages/" >"$here/out" && "$program" report small -o "$here/alone.html" >/dev/null &&
        expect "the page is named" grep -qx "$here/pages/index.html" "$here/out" && mv "$here/pages" "$here/elsewhere" &&
        leads_to_runs "$here/elsewhere/index.html" &&
        expect "no link of a page alone" [ -z "$(grep -o 'href="[^#"]*"' "$here/alone.html")" ] &&
        expect "no path of this machine" [ -z "$(grep -o "$(realpath "$LATLAB_RUNS")" "$here/elsewhere/index.html" "$here/alone.html")" ]
}
try "a folder of pages can be moved, and a page alone has no link and no path" travels

# Another kernel is waited for, and the rest is measured meanwhile.
kernels() {
    printf '[defaults]\nfor = "1s"\nwarm-up = "0"\nshare = true\n%s\n[matrix]\nkernel = ["0.0.0-none", "%s"]\n[[scenario]]\nname = "a"\n' \
        "$(printf '%s\n' "${flags[@]}")" "$(uname -r)" >"$here/kernels.toml"
    "$program" run "$here/kernels.toml" --quiet >"$here/out" 2>&1
    expect "exit code 4" [ $? = 4 ] &&
        expect "what to boot" grep -q "1 runs\? waits\? for a kernel '0.0.0-none'" "$here/out" &&
        "$program" list | grep 'kernels: campaign, 1 of 2 measured'
}
try "a row of another kernel is put off" kernels

# The conductor leaves the measured CPUs for a run, and not for those that come after it.
same_cpu() {
    local last
    last=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    printf 'repeats = 2\n[defaults]\nfor = "1s"\nwarm-up = "0"\ncpus = "%s"\nshare = true\n%s\n[[scenario]]\nname = "a"\n' \
        "$last" "$(printf '%s\n' "${flags[@]}")" >"$here/same.toml"
    "$program" run "$here/same.toml" --quiet >"$here/out" 2>&1 || { cat "$here/out"; return 1; }
}
try "one CPU is measured by one run after another" same_cpu

interrupted() {
    "$program" run "$here/small.toml" --quiet >/dev/null 2>"$here/out" &
    local campaign=$!
    sleep 2
    kill -INT "$campaign"
    wait "$campaign"
    expect "exit code 4" [ $? = 4 ] && expect "how to go on" grep -q -- '--resume' "$here/out"
}
try "an interrupt ends a campaign cleanly" interrupted

# A sheet whose runs are named here, one second each and with the rights that everybody has.
tiny() {
    printf 'retries = 0\n[defaults]\nfor = "1s"\nwarm-up = "0"\npolicy = "other"\nidle-states = "system"\nthreads = 1\nshare = true\n'
    cat
}

failed() {
    printf '[[scenario]]\nname = "refused"\nset = ["/proc/sys/kernel/none=1"]\n' | tiny >"$here/failed.toml"
    "$program" run "$here/failed.toml" --quiet >"$here/out" 2>&1
    expect "exit code 3" [ $? = 3 ] &&
        expect "what failed" grep -q '0 of 1 measured, 1 failed' "$here/out" &&
        expect "a resume tries again" grep -q 'try 2' <("$program" run --resume failed --quiet 2>&1)
}
[ "$(id -u)" != 0 ] || try "a row that cannot be measured is no run that was made" failed

invalid() {
    printf '[[scenario]]\nname = "short"\nload = ["command,run=sleep 0.2"]\n' | tiny >"$here/invalid.toml"
    "$program" run "$here/invalid.toml" --quiet >"$here/out" 2>&1
    expect "exit code 4" [ $? = 4 ] && expect "the word" grep -q '^short  *invalid' "$here/out" &&
        "$program" report invalid >"$here/page" &&
        expect "its colour" grep -q '<td class="invalid"' "$(cat "$here/page")" &&
        expect "its reason" grep -q 'message="repeat 1: invalid: The load' \
            <("$program" report invalid --format junit)
}
try "an invalid run without a deadline is told everywhere" invalid

damaged() {
    printf '[[scenario]]\nname = "first"\n[[scenario]]\nname = "second"\n' | tiny >"$here/hurt.toml"
    "$program" run "$here/hurt.toml" --quiet >/dev/null 2>&1 || return
    expect "its runs verified" [ "$("$program" verify hurt | grep -c ': ok')" = 2 ] &&
        expect "a run by its name" "$program" verify first-1 >/dev/null || return
    echo junk >"$(ls -d "$LATLAB_RUNS"/*_hurt/runs/*_first-1)/histogram.parquet"
    "$program" show hurt >"$here/out" && "$program" report hurt >/dev/null &&
        expect "the damage" grep -q '1 of 2 measured, 1 damaged' "$here/out" || return
    echo junk >"$(ls -d "$LATLAB_RUNS"/*_hurt/runs/*_first-1)/run.json"
    "$program" show hurt | grep -q '1 of 2 measured, 1 damaged'
}
try "a damaged run hides no other" damaged

exit $status
