#!/usr/bin/env bash
# Campaigns: they survive a kill and an interrupt, wait for their kernel, and report what failed or was damaged.
# Invariant (campaigns): A campaign continues with the next missing run and waits for its kernel.
. "$(dirname "$0")/common.bash"
rights_for "a campaign"
flags=()
[ ${#rights[@]} = 0 ] || flags=(policy='"other"' idle-states='"system"')
export LATLAB_RUNS=$here/runs NO_COLOR=1

{
    printf 'repeats = 2\n[defaults]\nfor = "3s"\nwarm-up = "200ms"\nshare = true\n'
    for flag in "${flags[@]}"; do echo "$flag"; done
    printf '%s\n' '[[scenario]]' 'name = "judged"' 'deadline = "1s"' \
        '[[scenario]]' 'name = "plain"' 'period-step = "1ms"' 'threads = 2'
} >"$here/small.toml"

second_goes_on() {
    [ "$(ls -d "$LATLAB_RUNS"/*_small/runs/2* | wc -l)" = 1 ] &&
        has_counts 1 "$LATLAB_RUNS"/*_small/runs/.*.partial/journal
}
# The killed run is measured again; finished ones are unchanged.
killed() {
    "$program" run "$here/small.toml" --quiet >/dev/null 2>&1 &
    local campaign=$!
    until_holds 120 "a run that is made, and a second one that goes on" second_goes_on || return
    kill -9 "$campaign"
    wait "$campaign" 2>/dev/null
    (cd "$LATLAB_RUNS" && find . -path './*_small/runs/2*' -type f -exec sha256sum {} +) >"$here/sums"
    expect "a run that was made" [ -s "$here/sums" ] &&
        "$program" list 2>/dev/null | grep '1 of 4 measured' &&
        "$program" run --resume --dry-run 2>/dev/null | grep -q '^3 runs in order' &&
        "$program" run --resume --quiet --format json >"$here/resumed.json" || return
    (cd "$LATLAB_RUNS" && sha256sum --quiet -c "$here/sums") || return
    # On a busy machine the second may have ended before the kill.
    expect "four whole runs" \
        [ "$(grep -l '"ended": *"finished"' "$LATLAB_RUNS"/*_small/runs/2*/run.json | wc -l)" = 4 ]
}
try "a campaign that was killed goes on with the next missing run" killed

nothing_left() { ! "$program" run --resume 2>"$here/out" && grep -q 'is unfinished' "$here/out"; }
try "then nothing is left to resume" nothing_left

cells() {
    "$program" report small --format csv >"$here/table.csv" &&
        "$program" report small --format junit >"$here/junit.xml" &&
        python3 tests/documents.py cells "$LATLAB_RUNS"/*_small "$here"
}
try "the cells are the runs' own figures, and JUnit is XML" cells

# Whether each of the four cells of a page links to the page of its run, relative to its folder.
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
    "$program" report small -o "$here/pages/" >"$here/out" &&
        "$program" report small -o "$here/alone.html" >/dev/null &&
        expect "the page is named" grep -qx "$here/pages/index.html" "$here/out" &&
        mv "$here/pages" "$here/elsewhere" &&
        leads_to_runs "$here/elsewhere/index.html" &&
        expect "no link of a page alone" [ -z "$(grep -o 'href="[^#"]*"' "$here/alone.html")" ] &&
        expect "no path of this machine" \
            [ -z "$(grep -o "$(realpath "$LATLAB_RUNS")" "$here/elsewhere/index.html" "$here/alone.html")" ]
}
try "a folder of pages can be moved, and a page alone has no link and no path" travels

# Rows for another kernel wait; the rest is measured meanwhile.
kernels() {
    printf '%s\n' '[defaults]' 'for = "1s"' 'warm-up = "0"' 'share = true' "${flags[@]}" \
        '[matrix]' "kernel = [\"0.0.0-none\", \"$(uname -r)\"]" '[[scenario]]' 'name = "a"' >"$here/kernels.toml"
    "$program" run "$here/kernels.toml" --quiet >"$here/out" 2>&1
    expect "exit code 4" [ $? = 4 ] &&
        expect "what to boot" grep -q "1 runs\? waits\? for a kernel '0.0.0-none'" "$here/out" &&
        "$program" list | grep 'kernels: campaign, 1 of 2 measured'
}
try "a row of another kernel is put off" kernels

# The conductor leaves the measured CPUs during a run, but not during later runs.
same_cpu() {
    local last
    last=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    printf '%s\n' 'repeats = 2' '[defaults]' 'for = "1s"' 'warm-up = "0"' "cpus = \"$last\"" 'share = true' \
        "${flags[@]}" '[[scenario]]' 'name = "a"' >"$here/same.toml"
    "$program" run "$here/same.toml" --quiet >"$here/out" 2>&1 || { cat "$here/out"; return 1; }
}
try "one CPU is measured by one run after another" same_cpu

interrupted() {
    "$program" run "$here/small.toml" --quiet --out "$here/interrupted" >/dev/null 2>"$here/out" &
    local campaign=$!
    until_holds 60 "a run that goes on" compgen -G "$here/interrupted/*_small/runs/.*.partial" >/dev/null
    kill -INT "$campaign"
    wait "$campaign"
    expect "exit code 4" [ $? = 4 ] && expect "how to go on" grep -q -- '--resume' "$here/out"
}
try "an interrupt ends a campaign cleanly" interrupted

# A sheet with these rows, one second each, without special rights.
tiny() {
    printf '%s\n' 'retries = 0' '[defaults]' 'for = "1s"' 'warm-up = "0"' 'policy = "other"' \
        'idle-states = "system"' 'threads = 1' 'share = true'
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
try "an invalid run without a deadline is reported everywhere" invalid

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

catalogue() {
    "$program" run stress-five --scale 5s --repeats 2 --dry-run --out "$here/none" >"$here/dry" 2>&1 &&
        expect "ten runs" grep -q '^10 runs in order sequential .*: 50 s in all, 60 s with warm-ups' "$here/dry" &&
        expect "the scale" grep -q 'scaled by --scale 5 s' "$here/dry" &&
        expect "nothing begun" [ ! -e "$here/none" ]
}
try "a dry run of a sheet that comes with latlab says all runs and the time" catalogue

exit $status
