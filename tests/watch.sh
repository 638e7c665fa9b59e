#!/usr/bin/env bash
# `latlab watch`: rounds within their budget, a rolling store, the hook, kills and a full disk.
# Invariant (watch): The runs of a watch take no more of the disk than it may have, also after kills and on a full disk.
. "$(dirname "$0")/common.bash"
. tests/lab/board.bash
export NO_COLOR=1
root=$PWD
rights_for "rounds"
cd "$here" || exit 1
watching=
trap 'kill -KILL $watching 2>/dev/null; rm -rf "$here"' EXIT

# Watches with short rounds: what it prints is in $here/lines, and $here/told.
watch() {
    "$program" watch --every 100ms --cycles 50 --warm-up 0s --telemetry off --threads 1 --cpu-budget 100% \
        --policy other "$@" >"$here/lines" 2>"$here/told"
}
runs() { ls "$1" | grep -c _watch; }

rounds() {
    watch --rounds 3 --deadline 10s --out "$here/three" || { cat told; return 1; }
    cat lines
    expect "a line for each" [ "$(grep -cE '^[0-9TZ]+_watch(-[0-9])?: pass, largest .*, 0 deadline misses in [0-9]+ releases; so far 0 bursts of misses in .*, at most [0-9 ]+ an hour .*; CPU .*, .* % in .*; [123] runs?, .* MB$' lines)" = 3 ] &&
        expect "three runs" [ "$(runs three)" = 3 ] &&
        "$program" verify --all --out "$here/three" >/dev/null || return
    watch --rounds 2 --deadline 10s --quiet --out "$here/three" &&
        expect "no line of what passes" [ ! -s lines ] || return
    # A round by itself fails here; a limit is about all of them.
    watch --rounds 1 --deadline 1ns --limit 100000/h --out "$here/three" && cat lines &&
        expect "a limit that is open" grep -q '_watch.*: inconclusive, .*; limit of 100 000 an hour: open;' lines
}
try "each round is stored and has a line with what it took" rounds

within() {
    # A budget that a round takes many times over: the second one would come after minutes.
    # The program itself, and no shell around it, is to get the signal.
    "$program" watch --every 100ms --cycles 50 --warm-up 0s --telemetry off --threads 1 --cpu-budget 0.01% \
        --policy other --rounds 2 --out "$here/dear" >lines 2>told &
    watching=$!
    until_holds 60 "a round" grep -q _watch: lines || return
    until_holds 10 "what it takes" grep -q 'cpu-budget 0.01 % gives one every .* not every 100 ms' told || return
    sleep 1
    expect "no second round yet" [ "$(runs dear)" = 1 ] || return
    kill -TERM "$watching"
    wait "$watching"
    expect "exit code 0 at once" [ $? = 0 ]
}
try "a round that took more than its share is waited for, and SIGTERM ends the wait" within

rolls() {
    local size
    size=$(du -s --block-size=1 three | cut -f1)
    # Runs of another name, and one that is wanted.
    "$program" run --cycles 50 --warm-up 0s --threads 1 --policy other --idle-states system --quiet --name other --out "$here/roll" >/dev/null
    watch --rounds 2 --name watch --out "$here/roll" || { cat told; return 1; }
    local first
    first=$(ls roll | grep _watch | head -n 1)
    touch "roll/$first/keep"
    watch --rounds 14 --keep 1M --samples --out "$here/roll" || { cat told; return 1; }
    cat told
    expect "removals that are told" grep -q '^latlab: removed .*_watch.* MB (--keep)$' told &&
        expect "the marked run told once" [ "$(grep -c "$first stays: it is marked" told)" = 1 ] &&
        expect "the marked run" [ -d "roll/$first" ] && expect "the other one" compgen -G 'roll/*_other' &&
        expect "at most 1 MB of the watch, not $(du -sc --apparent-size --block-size=1 roll/*_watch* | tail -n 1 | cut -f1)" \
            [ "$(du -sc --block-size=512 roll/*_watch*/* | tail -n 1 | cut -f1)" -le 1954 ] || return
    "$program" verify --all --out "$here/roll" >/dev/null
}
try "the oldest runs go, but for those that are marked or have another name" rolls

read_now() {
    local oldest
    watch --rounds 12 --keep 100M --out "$here/read" || return
    oldest=$(ls read | grep _watch | head -n 1)
    exec 7<"read/$oldest/run.json"
    watch --rounds 3 --keep 1M --out "$here/read"
    exec 7<&-
    cat told
    expect "that it is being read" grep -q "$oldest stays: .*run.json is being read" told && expect "it" [ -d "read/$oldest" ] || return
    watch --rounds 1 --keep 1M --out "$here/read"
    expect "it to go afterwards" [ ! -e "read/$oldest" ]
}
try "a run that somebody reads stays until it is read" read_now

warns() {
    watch --rounds 2 --deadline 1ns --on-fail 'cat >>alarms' --out "$here/bad" || return
    cat alarms
    python3 - "$root" <<'PYTHON'
import json, sys, jsonschema
schema = json.load(open(f"{sys.argv[1]}/docs/reference/watch-alarm.schema.json"))
alarms = [json.loads(line) for line in open("alarms")]
for alarm in alarms:
    jsonschema.validate(alarm, schema)
assert [alarm["failures"] for alarm in alarms] == [1, 2]
assert alarms[1]["run"]["verdict"]["word"] == "fail" and alarms[1]["run"]["path"].endswith(alarms[1]["run"]["id"])
PYTHON
    expect "an exit code of the command that is told" grep -q 'the command failed' \
        <(watch --rounds 1 --deadline 1ns --on-fail false --out "$here/bad"; cat told) || return
    rm alarms
    watch --rounds 1 --deadline 10s --on-fail 'cat >>alarms' --out "$here/bad"
    expect "no alarm of what passes" [ ! -e alarms ] &&
        expect "a line about a hook for nothing" grep -q -- '--on-fail needs --deadline' \
            <(watch --on-fail true --out "$here/bad"; cat told)
}
if have "what the command reads" python:jsonschema; then
    try "a failed round runs the command with the round as JSON" warns
fi

mistakes() {
    fails() {
        timeout 20 "$program" watch --cycles 50 --out "$here/wrong" "${@:3}" >said 2>errors
        code=$?
        refused "$1" "$2" true
    }
    : >file
    fails 2 "'--rounds <N>': expected 1 or more" --rounds 0 && fails 2 "--every must be more than 0" --every 0s &&
        fails 2 "is not a size of 1M or more" --keep 10 && fails 2 "is not a share between" --cpu-budget 101% &&
        fails 2 "--on-fail: no command is named" --deadline 1ms --on-fail ' ' &&
        fails 2 "contains a line break" --name $'a\nb' && expect "nothing made" [ ! -e wrong ] || return
    timeout 20 "$program" watch --cycles 50 --rounds 1 --out file >said 2>errors
    code=$?
    refused 2 "cannot read file: Not a directory" true
}
try "a wrong flag, and a folder that is none, are one line before anything is measured" mistakes

# Rounds without an answer neither warn nor end a row of failures; one whose agent dies is no round.
dies() {
    rm -f alarms
    "$program" watch --every 100ms --for 20s --warm-up 0s --telemetry off --threads 1 --policy other --cpu-budget 100% --rounds 1 \
        --deadline 10s --on-fail 'cat >>alarms' --out "$here/dies" >lines 2>told &
    watching=$!
    until_holds 60 "an agent that has measured" measuring || { cat told; return 1; }
    kill -KILL "$measures"
    wait "$watching"
    expect "exit code 0" [ $? = 0 ] || return
    cat lines told alarms
    expect "no pass" grep -q ': inconclusive' lines && expect "why" grep -q 'The agent, or the link to it, was lost' told &&
        expect "an alarm with run and reason" python3 -c 'import json
alarm = json.load(open("alarms"))
assert alarm["failures"] == 1 and "agent, or the link to it, was lost" in alarm["error"] and alarm["run"]["verdict"]["word"] == "inconclusive", alarm'
}
measuring() { measures=$(pgrep -P "$watching" -f ' agent ') && has_counts dies/.*.partial/journal; }
try "a round whose agent is killed warns" dies

# In the middle of a round, with a second watch on the same runs.
ends_in_a_round() {
    local first second
    watch --rounds 12 --share --keep 1M --out "$here/shared" &
    second=$!
    "$program" watch --every 100ms --for 60s --warm-up 0s --telemetry off --threads 1 --policy other --share --cpu-budget 100% --keep 1M \
        --deadline 10s --on-fail 'cat >>ended.alarms' --out "$here/shared" >first.lines 2>first.told &
    first=$!
    watching=$first
    until_holds 60 "an agent that has measured" ends_measuring && wait "$second" || { cat first.told told; return 1; }
    kill -TERM "$first"
    wait "$first"
    local code=$?
    cat first.lines first.told told
    expect "exit code 0, not $code" [ "$code" = 0 ] && expect "the round as far as it came" grep -q ': inconclusive, ' first.lines &&
        expect "no alarm" [ ! -e ended.alarms ] && expect "no agent" [ -z "$(pgrep -P "$first")" ] &&
        expect "nothing half done" [ "$(ls -A shared | grep -c '^[.].*partial\|removed')" = 0 ] &&
        expect "no run told twice" [ -z "$(grep -ho 'removed [^,]*' told first.told | sort | uniq -d)" ] &&
        "$program" verify --all --out "$here/shared" >/dev/null
}
ends_measuring() { pgrep -P "$watching" -f ' agent ' >/dev/null && has_counts shared/.*.partial/journal; }
try "SIGTERM in a round ends it and stores it, and two watches on one folder keep to their limit" ends_in_a_round

hangs() {
    "$program" watch --every 100ms --cycles 50 --warm-up 0s --telemetry off --threads 1 --policy other --cpu-budget 100% \
        --deadline 1ns --on-fail 'echo >begun; sleep 600' --out "$here/hangs" >lines 2>told &
    watching=$!
    until_holds 60 "a command that hangs" [ -e begun ] || { cat told; return 1; }
    kill -TERM "$watching"
    until_holds 20 "the end of the watch, before the 30 s of a command" has_ended "$watching" || { cat told; return 1; }
    wait "$watching"
    expect "exit code 0" [ $? = 0 ] && expect "that the command was ended" grep -q 'the command was ended with the watch' told
}
try "a command that hangs keeps no watch from its end" hangs

has_rounds() { [ "$(grep -c _watch: killed.lines)" -ge "$1" ]; }
killed() {
    local round left
    for round in 1 2 3; do
        "$program" watch --every 100ms --for 500ms --warm-up 0s --threads 1 --policy other --cpu-budget 100% --keep 1M \
            --out "$here/killed" >>killed.lines 2>&1 &
        watching=$!
        until_holds 60 "a round of start $round" has_rounds "$((round * 2 - 1))" || { cat killed.lines; return 1; }
        until_holds 60 "a round that goes on" compgen -G 'killed/.*.partial' >/dev/null
        kill -KILL "$watching"
        wait "$watching" 2>/dev/null
    done
    # Of a removal that was cut off something may be left, too.
    mkdir killed/.20260101T000000Z_watch.removed
    watch --rounds 1 --out "$here/killed" || { cat told; return 1; }
    left=$(find killed -maxdepth 1 -name '.*' ! -name .watch.order)
    expect "nothing half done, not $left" [ -z "$left" ] && "$program" verify --all --out "$here/killed" >/dev/null
}
try "a killed watch leaves whole runs, and the next one goes on" killed

full() {
    mkdir -p tiny && mount -t tmpfs -o size=4m tmpfs tiny || return
    watch --rounds 2 --out "$here/tiny" || { cat told; return 1; }
    # Somebody else fills the disk.
    cat /dev/zero >tiny/filler 2>/dev/null
    watch --rounds 3 --out "$here/tiny" --on-fail 'cat >>full.alarms' --deadline 10s
    local code=$?
    cat told
    expect "exit code 0, not $code" [ "$code" = 0 ] && expect "old runs that made room" grep -q 'the disk is full' told &&
        expect "that nothing was measured" grep -q 'nothing measured: .*free' told &&
        expect "an alarm with the reason" grep -q '"error":".*free' full.alarms || return
    rm tiny/filler
    watch --rounds 1 --deadline 10s --out "$here/tiny" && expect "rounds again" grep -q ': pass' lines
    mount -o remount,ro tiny && watch --rounds 3 --out "$here/tiny"
    code=$?
    cat told
    umount tiny
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "one line" [ "$(wc -l <told)" = 1 ] && grep -q 'Read-only file system' told
}
if [ "$(id -u)" = 0 ]; then
    try "on a full disk the oldest runs make room, rounds that cannot be stored are told, and it goes on; one that is read-only is refused" full
else
    echo "SKIPPED: a full disk: needs root"
fi

exit $status
