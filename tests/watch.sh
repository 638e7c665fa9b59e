#!/usr/bin/env bash
# `latlab watch`: rounds within their budget, the hook, and how it ends.
. "$(dirname "$0")/common.bash"
. tests/watch.bash

rounds() {
    watch --rounds 3 --deadline 10s --out "$here/three" || { cat told; return 1; }
    cat lines
    local line='^[0-9TZ]+_watch(-[0-9])?: pass, largest .*, 0 deadline misses in [0-9 ]+ releases'
    line+='; so far 0 bursts of misses in .*, at most [0-9 ]+ an hour .*; CPU .*, .* % in .*; [123] runs?, .* MB$'
    expect "a line for each" [ "$(grep -cE "$line" lines)" = 3 ] &&
        expect "three runs" [ "$(runs three)" = 3 ] &&
        "$program" verify --all --out "$here/three" >/dev/null || return
    watch --rounds 2 --deadline 10s --quiet --out "$here/three" &&
        expect "no line of what passes" [ ! -s lines ] || return
    # Each round fails by itself here; a limit is about all of them.
    watch --rounds 1 --deadline 1ns --limit 100000/h --out "$here/three" && cat lines &&
        expect "a limit that is open" grep -q '_watch.*: inconclusive, .*; limit of 100 000 an hour: open;' lines
}
try "each round is stored and has a line with what it took" rounds

within() {
    # A round takes many times this budget: the second one would start after minutes.
    # The signal must reach the program itself, not a shell around it.
    "$program" watch --every 100ms --cycles 50 --warm-up 0s --telemetry off --threads 1 --cpu-budget 0.01% \
        --policy other --rounds 2 --out "$here/expensive" >lines 2>told &
    watching=$!
    until_holds 60 "a round" grep -q _watch: lines || return
    until_holds 10 "what it takes" grep -q 'cpu-budget 0.01 % gives one every .* not every 100 ms' told || return
    sleep 1
    expect "no second round yet" [ "$(runs expensive)" = 1 ] || return
    kill -TERM "$watching"
    wait "$watching"
    expect "exit code 0 at once" [ $? = 0 ]
}
try "a round that took more than its share is waited for, and SIGTERM ends the wait" within

warns() {
    watch --rounds 2 --deadline 1ns --on-fail 'cat >>alarms' --out "$here/bad" || return
    cat alarms
    python3 "$tests/documents.py" alarms "$root/docs/reference/watch-alarm.schema.json" alarms
    expect "a reported exit code of the command" grep -q 'the command failed' \
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
        timeout 60 "$program" watch --cycles 50 --out "$here/wrong" "${@:3}" >said 2>errors
        code=$?
        refused "$1" "$2" true
    }
    : >file
    fails 2 "'--rounds <N>': expected 1 or more" --rounds 0 && fails 2 "--every must be more than 0" --every 0s &&
        fails 2 "is not a size of 1M or more" --keep 10 && fails 2 "is not a share between" --cpu-budget 101% &&
        fails 2 "--on-fail: no command is named" --deadline 1ms --on-fail ' ' &&
        fails 2 "contains a line break" --name $'a\nb' && expect "nothing made" [ ! -e wrong ] || return
    timeout 60 "$program" watch --cycles 50 --rounds 1 --out file >said 2>errors
    code=$?
    refused 2 "cannot read file: Not a directory" true
}
try "a wrong flag, and a folder that is none, are one line before anything is measured" mistakes

# Undecided rounds neither warn nor end a row of failures; one whose agent dies is no round.
dies() {
    rm -f alarms
    "$program" watch --every 100ms --for 20s --warm-up 0s --telemetry off --threads 1 --policy other --cpu-budget 100% \
        --rounds 1 \
        --deadline 10s --on-fail 'cat >>alarms' --out "$here/dies" >lines 2>told &
    watching=$!
    until_holds 60 "an agent that has measured" measuring || { cat told; return 1; }
    kill -KILL "$measures"
    wait "$watching"
    expect "exit code 0" [ $? = 0 ] || return
    cat lines told alarms
    expect "no pass" grep -q ': inconclusive' lines &&
        expect "why" grep -q 'The agent, or the link to it, was lost' told &&
        expect "an alarm with run and reason" python3 "$tests/documents.py" alarm_of_lost_agent alarms
}
measuring() { measures=$(pgrep -P "$watching" -f ' agent ') && has_counts 3 dies/.*.partial/journal; }
try "a round whose agent is killed warns" dies

# In the middle of a round, with a second watch on the same runs.
ends_in_a_round() {
    local first second
    watch --rounds 12 --share --keep 1M --out "$here/shared" &
    second=$!
    "$program" watch --every 100ms --for 60s --warm-up 0s --telemetry off --threads 1 --policy other --share \
        --cpu-budget 100% --keep 1M \
        --deadline 10s --on-fail 'cat >>ended.alarms' --out "$here/shared" >first.lines 2>first.told &
    first=$!
    watching=$first
    until_holds 60 "an agent that has measured" ends_measuring && wait "$second" || { cat first.told told; return 1; }
    kill -TERM "$first"
    wait "$first"
    local code=$?
    cat first.lines first.told told
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "the round as far as it came" grep -q ': inconclusive, ' first.lines &&
        expect "no alarm" [ ! -e ended.alarms ] && expect "no agent" [ -z "$(pgrep -P "$first")" ] &&
        expect "nothing half done" [ "$(ls -A shared | grep -c '^[.].*partial\|removed')" = 0 ] &&
        expect "no run told twice" [ -z "$(grep -ho 'removed [^,]*' told first.told | sort | uniq -d)" ] &&
        "$program" verify --all --out "$here/shared" >/dev/null
}
ends_measuring() { pgrep -P "$watching" -f ' agent ' >/dev/null && has_counts 3 shared/.*.partial/journal; }
try "SIGTERM in a round ends it and stores it, and two watches on one folder keep to their limit" ends_in_a_round

hangs() {
    "$program" watch --every 100ms --cycles 50 --warm-up 0s --telemetry off --threads 1 --policy other \
        --cpu-budget 100% \
        --deadline 1ns --on-fail 'echo >begun; sleep 600' --out "$here/hangs" >lines 2>told &
    watching=$!
    until_holds 60 "a command that hangs" [ -e begun ] || { cat told; return 1; }
    kill -TERM "$watching"
    until_holds 120 "the end of the watch" has_ended "$watching" || { cat told; return 1; }
    wait "$watching"
    expect "exit code 0" [ $? = 0 ] &&
        expect "that the command was ended" grep -q 'the command was ended with the watch' told
}
try "a command that hangs keeps no watch from its end" hangs

exit $status
