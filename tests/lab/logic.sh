#!/usr/bin/env bash
# sigrok's demo driver in place of a logic analyser.
. "$(dirname "$0")/../common.bash"
. tests/respond.bash
have "a logic analyser" sigrok-cli || exit 0

logic() {
    "$program" respond --logic demo --samplerate 1m --for 300ms --stimulus D0 --response D1 --name wires --format json \
        >"$here/out.json" || return
    holds_one 'responses["format"] == "sigrok session" and responses["stimuli"] > 100 and one["answered"] > 100' &&
        holds_one 'responses["resolution_ns"] == 1000' || return
    local kept
    kept=$(path_of "$here/out.json")/original-demo.sr
    expect "the capture is kept" [ -s "$kept" ] && cp "$here/out.json" "$here/first.json" &&
        "$program" respond --from "$kept" --stimulus D0 --response D1 --format json >"$here/out.json" || return
    python3 tests/respond.py same_responses "$here/first.json" "$here/out.json"
}
logic_beside() {
    "$program" respond --logic demo --samplerate 1m --for 1500ms --stimulus D0 --response D1 --name idle \
        --target local \
        >/dev/null &&
        "$program" respond --logic demo --samplerate 1m --for 1500ms --stimulus D0 --response D1 --name idle_busy \
            --load 'command,run=while :; do :; done' >/dev/null || return
    "$program" show last --format json >"$here/last.json" &&
        holds_in "$here/last.json" '' \
            'run["conditions"] and run["doctor"] and [one["name"] for one in run["loads"]] == ["command"]' &&
        "$program" report idle idle_busy -o "$here/page.html" >/dev/null &&
        expect "idle and busy on one page" grep -q 'Idle and under load' "$here/page.html"
}
logic_mistakes() {
    rm -rf "$LATLAB_RUNS"
    refused 3 'sigrok-cli captured nothing: No devices found' --logic fx2lafw --stimulus D0 --response D1 &&
        refused 3 "captured nothing: Driver nosuch not found" --logic nosuch --stimulus D0 --response D1 &&
        refused 3 "captured nothing: unknown channel 'D99'" --logic demo --stimulus D0 --response D99 &&
        nothing_stored || return
    PATH=/nowhere "$program" respond --logic demo --stimulus D0 --response D1 2>"$here/errors"
    expect "exit code 3" [ $? = 3 ] && expect "what is missing" grep -q 'cannot start sigrok-cli' "$here/errors"
}
logic_interrupted() {
    "$program" respond --logic demo --samplerate 1m --for 10min --stimulus D0 --response D1 \
        --format json >"$here/out.json" &
    local pid=$!
    until_holds 20 "a capture" eval 'pgrep -P '$pid' sigrok-cli' || return
    sleep 1
    kill -INT $pid
    wait $pid || return
    holds_one 'one["answered"] > 100'
}
try "a capture of a logic analyser is kept with the run, and read as any capture" logic
try "loads and conditions of the machine that answers are in the run of a logic analyser" logic_beside
try "a logic analyser that is not there, and one that captures nothing, are refused in one line" logic_mistakes
try "a capture that is interrupted is as long as it is" logic_interrupted

exit $status
