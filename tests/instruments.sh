#!/usr/bin/env bash
# Instruments that latlab queries: a simulated oscilloscope with SCPI on a socket.
. "$(dirname "$0")/common.bash"
. tests/respond.bash

# Starts a simulated instrument: $resource is its address, $instrument its process.
instrument() {
    rm -f "$here/list" "$here/log" "$here/port" "$here/input"
    mkfifo "$here/input"
    python3 tests/scpi_instrument.py --list "$here/list" --log "$here/log" "$@" <"$here/input" >"$here/port" &
    instrument=$!
    exec 8>"$here/input"
    until_holds 20 "an instrument" test -s "$here/port" &&
        resource=TCPIP::127.0.0.1::$(cat "$here/port")::SOCKET
}
end_instrument() {
    exec 8>&-
    wait "$instrument"
}

# Compares the readings of the last run with those that the instrument counted.
compare_with_list() {
    python3 tests/respond.py same_readings "$here" "$1"
}

# Invariant (captures): A series of an oscilloscope equals the instrument's own list; censored readings and
# time-outs are counted, and an answer that comes too late is taken for no other reading.
series() {
    instrument --censor 3 --silent 7 --late 0.6 || return
    "$program" respond --scope "$resource" --count 40 --timeout 400ms --deadline 1ms --format json >"$here/out.json"
    expect "an inconclusive verdict" [ $? = 4 ] || return
    end_instrument
    compare_with_list 40 &&
        holds_one '(responses["stimuli"], one["answered"], responses["censored"], responses["timed_out"])
            == (40, 38, 1, 1)' &&
        holds_one 'codes == ["response-not-measured", "response-timed-out"]
            and one["verdict"]["word"] == "inconclusive"' &&
        expect "the commands of its maker" grep -q 'MEASure:DELay? CHANnel1,CHANnel2' "$here/log" &&
        "$program" show last --all >"$here/shown" && cat "$here/shown" &&
        expect "both are told" grep -q '1 of 40 not measured, 1 of 40 timed out' "$here/shown" &&
        "$program" verify last >/dev/null && "$program" report last -o "$here/page.html" >/dev/null &&
        expect "which instrument" grep -q 'MSO-X 3024T' "$here/page.html" &&
        expect "the kept list can be read again" again
}
again() {
    "$program" respond --from "$LATLAB_RUNS"/*oscilloscope*/original-readings.txt --unit s \
        --format json >"$here/out.json" &&
        holds_one '(one["answered"], responses["censored"]) == (38, 2)'
}
try "a series of an oscilloscope equals the instrument's own list, with a censored reading and a time-out" series

untriggered() {
    instrument --untriggered 2 || return
    "$program" respond --scope "$resource" --count 6 --timeout 200ms --stimulus 3 --response 4 --edge falling \
        --format json >"$here/out.json" || return
    end_instrument
    holds_one '(responses["timed_out"], one["answered"]) == (1, 5)' &&
        expect "the channels" grep -q 'MEASure:DELay? CHANnel3,CHANnel4' "$here/log" &&
        expect "the edges" grep -q 'DEFine DELay,-1,-1' "$here/log"
}
try "a trigger that does not come is a time-out" untriggered

mistakes() {
    rm -rf "$LATLAB_RUNS"
    instrument && end_instrument
    refused 3 'cannot open .*refused' --scope "$resource" || return
    refused 3 'cannot open /dev/usbtmc77' --scope /dev/usbtmc77 || return
    "$program" respond --scope TCPIP::127.0.0.1::INSTR 2>"$here/errors"
    expect "exit code 2" [ $? = 2 ] && expect "the port" grep -q 'the port is 5025 on most' "$here/errors" || return
    instrument --identity 'HTTP/1.1 400 Bad Request' || return
    refused 3 "'\*IDN?' with 'HTTP/1.1 400 Bad Request', expected MAKER,MODEL" --scope "$resource" || return
    end_instrument
    instrument --identity 'ACME,Scope 1,0,1.0' || return
    refused 2 "no commands for 'ACME,Scope 1,0,1.0'" --scope "$resource" || return
    end_instrument
    instrument $(printf -- '--untriggered %s ' 0 1 2 3 4 5) || return
    refused 3 'measured nothing: each of 5 readings timed out' --scope "$resource" --timeout 100ms || return
    end_instrument
    instrument --endless 0 || return
    refused 3 'has no end: 65536 bytes' --scope "$resource" || return
    end_instrument
    nothing_stored
}
try "no instrument, a wrong one, time-outs alone and endless data are refused in one line each" mistakes

cut_off() {
    instrument --close-at 12 || return
    "$program" respond --scope "$resource" --count 40 --deadline 1ms --format json >"$here/out.json"
    expect "no pass" [ $? = 4 ] || return
    end_instrument
    holds_one 'one["answered"] == 12 and "instrument-ended" in codes' || return
    instrument --endless 5 || return
    "$program" respond --scope "$resource" --count 40 --format json >"$here/out.json" || return
    end_instrument
    holds_one 'one["answered"] == 5 and "instrument-ended" in codes'
}
try "what was measured is kept when the instrument goes away, or says no end of data" cut_off

interrupted() {
    local pid before
    instrument || return
    "$program" respond --scope "$resource" --count 1000000 --format json >"$here/out.json" &
    pid=$!
    until_holds 20 "readings" eval '[ "$(wc -l <"$here/list")" -gt 20 ]' || return
    kill -INT $pid
    wait $pid || return
    end_instrument
    holds_one 'one["answered"] >= 20 and not codes' || return
    before=$(ls "$LATLAB_RUNS")
    instrument || return
    "$program" respond --scope "$resource" --count 1000000 >/dev/null &
    pid=$!
    until_holds 20 "readings on the disk" eval 'cat "$LATLAB_RUNS"/.*.partial/journal | wc -c | grep -qE "[0-9]{5}"' ||
        return
    kill -KILL $pid
    wait $pid
    end_instrument
    "$program" list >"$here/listed" 2>&1 || return
    expect "one more run" [ "$(ls "$LATLAB_RUNS" | wc -w)" = $(($(wc -w <<<"$before") + 1)) ] &&
        "$program" show last >"$here/shown" && "$program" show last --format json >"$here/last.json" &&
        holds_in "$here/last.json" '' 'run["recovered"] and run["total"]["cycles"] >= 20'
}
try "a series that is interrupted or killed is a run of what was measured" interrupted

# The machine that answers, here this one, about which an instrument knows nothing.
machine_that_answers() {
    instrument || return
    "$program" respond --scope "$resource" --count 150 --target local --name beside --format json \
        --load 'command,run=while :; do :; done' >"$here/out.json" 2>"$here/errors" || { cat "$here/errors"; return 1; }
    end_instrument
    compare_with_list 150 && "$program" show last --format json >"$here/last.json" &&
        holds_in "$here/last.json" '' \
            'run["conditions"] and run["doctor"] and run["machine"]["kernel"] and run["agent"]["helpers_cpu_ns"] > 0' &&
        holds_in "$here/last.json" '' \
            '[one["name"] for one in run["loads"]] == ["command"] and run["loads"][0]["cpu_share"] != 0' &&
        holds_in "$here/last.json" '' \
            'run["total"]["cycles"] == 150 and not {f["code"] for f in run["findings"]}
                & {"machine-lost", "interval-lost", "counts-differ"}' &&
        "$program" show last --all >"$here/shown" &&
        expect "the load" grep -q 'while :; do :; done' "$here/shown" &&
        expect "how to repeat it" grep -q -- "--scope $resource .*--target local --load" "$here/shown" &&
        "$program" verify last >/dev/null && "$program" report last -o "$here/page.html" >/dev/null &&
        until_holds 10 "no load is left" eval '! pgrep -f "while :; do :; done"' || return
    refused 2 'instrument measures no guest' --scope "$resource" --target lab:x86-64/rt || return
    refused 2 'the responder runs by itself' --scope "$resource" --target local --priority 5
}
try "loads, conditions and the doctor of the machine that answers are in the run of an oscilloscope" \
    machine_that_answers

own_commands() {
    local generator generator_port
    cat >"$here/acme.toml" <<'TOML'
identities = ["ACME,"]
arm = ":SINGle"
state = ":OPERegister:CONDition?"
state-mask = 8
done = ["0"]
read = ":MEASure:DELay? {stimulus},{response}"
halt = ":STOP"
TOML
    instrument --identity 'ACME,Generator,0,1.0' && generator=$instrument generator_port=$resource || return
    python3 tests/scpi_instrument.py --identity 'ACME,Scope 1,0,1.0' \
        --log "$here/scope.log" <"$here/input" >"$here/port2" 8>&- &
    instrument=$!
    until_holds 20 "an instrument" test -s "$here/port2" || return
    "$program" respond --scope "TCPIP::localhost::$(cat "$here/port2")::SOCKET" --scope-commands "$here/acme.toml" \
        --generator "$generator_port" --count 5 --format json >"$here/out.json" || return
    exec 8>&-
    wait "$instrument" "$generator"
    holds_one 'one["answered"] == 5' && expect "a trigger each" [ "$(grep -c '^\*TRG$' "$here/log")" = 5 ]
}
try "an unknown oscilloscope with commands of one's own, and a generator that is triggered" own_commands

exit $status
