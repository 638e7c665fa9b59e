#!/usr/bin/env bash
# Sheets: mistakes are reported with their place, and a dry run says what it would do.
. "$(dirname "$0")/common.bash"
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
try "options of a single run are refused with a sheet" others

exit $status
