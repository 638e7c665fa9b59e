#!/usr/bin/env bash
# Runs, campaigns and comparisons as test results: JUnit XML, KTAP, LAVA, and the exit codes.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs NO_COLOR=1
root=$PWD
cd "$here" || exit 1

# A short measurement; later flags override these.
little=(--cycles 200 --warm-up 0s --telemetry off --threads 1 --policy other --idle-states system --quiet)
# Parses a file as test systems do.
read_as() { python3 "$root/tests/results.py" "$1" "$2"; }
# Whether a command exits with a code: ends CODE COMMAND...
ends() {
    local wanted=$1 code=0
    shift
    "$@" || code=$?
    expect "exit code $wanted, not $code" [ "$code" = "$wanted" ]
}

single() {
    ends 0 "$program" run "${little[@]}" --deadline 10s --name fast --junit fast.xml --ktap=fast.ktap \
        --lava=fast.lava >said.fast &&
        expect "the text as well" grep -q '^PASS' said.fast &&
        expect "JUnit" grep -qx 'pass verdict' <(read_as junit fast.xml) &&
        expect "KTAP" grep -qx 'ok fast' <(read_as ktap fast.ktap) &&
        expect "LAVA's figures" grep -qE '^pass t0-max-latency [0-9.]+$' <(read_as lava fast.lava) &&
        ends 1 "$program" run "${little[@]}" --deadline 1ns --name slow --ktap >slow.ktap &&
        expect "KTAP and nothing else" grep -qx 'not ok slow' <(read_as ktap slow.ktap) &&
        ends 0 "$program" run "${little[@]}" --name plain --lava --junit plain.xml >plain.lava &&
        expect "LAVA and nothing else" grep -q '^skip verdict' <(read_as lava plain.lava) &&
        expect "a skipped test" grep -qx 'skipped verdict' <(read_as junit plain.xml) &&
        "$program" export fast --to junit | cmp - fast.xml
}
try "a run is written as JUnit XML, KTAP and LAVA in addition to its text, or instead of it" single

nothing() {
    ends 2 "$program" run "${little[@]}" --cpus 4000 --junit none.xml --ktap=none.ktap 2>errors &&
        expect "why, as an error" grep -q '<error message="--cpus 4000: CPU 4000 is not online' none.xml &&
        expect "KTAP" grep -qx 'not ok run ERROR' <(read_as ktap none.ktap)
}
try "what could not be measured is an error of the test, with its reason" nothing

refused() {
    ends 2 "$program" run "${little[@]}" --ktap --lava 2>errors &&
        ends 2 "$program" run "${little[@]}" --junit missing/x.xml 2>>errors &&
        ends 2 "$program" run "${little[@]}" --ktap --format json 2>>errors &&
        expect "a line for each" [ "$(wc -l <errors)" = 3 ] && expect "nothing was measured" [ ! -e runs/*_run ]
}
try "two results for one output, and a folder that is not there, are refused before anything is measured" refused

odd_names() {
    local long odd='a"b<c>&d]]>e\f # SKIP'
    long=$(printf 'x%.0s' {1..10000})
    printf '%s\n' '[defaults]' 'cycles = 20' 'warm-up = "0s"' 'telemetry = "off"' 'threads = 1' 'policy = "other"' \
        'deadline = "10s"' '[[scenario]]' "name = '$odd'" '[[scenario]]' 'name = "é😀"' \
        '[[scenario]]' 'name = "ö"' '[[scenario]]' "name = '$long'" >odd.toml
    ends 0 "$program" run odd.toml --quiet --junit odd.xml --ktap=odd.ktap --lava >odd.lava || return
    cut -c1-200 odd.ktap odd.lava
    expect "each as it is in JUnit" [ "$(read_as junit odd.xml)" = "$(printf 'pass %s\n' "$odd" é😀 ö "$long")" ] &&
        expect "no directive in KTAP" grep -qFx "  ok 1 ${odd/\#/_}" odd.ktap && read_as ktap odd.ktap >/dev/null &&
        expect "four names in LAVA" [ "$(read_as lava odd.lava | cut -d' ' -f2 | sort -u | wc -l)" = 4 ] &&
        ends 2 "$program" run "${little[@]}" --name $'a\xff' 2>errors &&
        ends 2 "$program" run "${little[@]}" --name $'a\nb' 2>>errors &&
        expect "a line for each" [ "$(wc -l <errors)" = 2 ]
}
try "names with quotes, marks of XML and of KTAP, other letters or 10 000 of them are results like others" odd_names

campaign() {
    printf '%s\n' 'repeats = 2' '[defaults]' 'cycles = 100' 'warm-up = "0s"' 'telemetry = "off"' 'threads = 1' \
        'policy = "other"' '[[scenario]]' 'name = "kept deadline"' 'deadline = "10s"' \
        '[[scenario]]' 'name = "missed: deadline"' 'deadline = "1ns"' >sheet.toml
    ends 1 "$program" run sheet.toml --quiet --junit sheet.xml --ktap=sheet.ktap --lava >sheet.lava || return
    expect "rows as test cases" \
        [ "$(read_as junit sheet.xml | paste -sd,)" = "pass kept deadline,failure missed: deadline" ] &&
        expect "KTAP, with the campaign as the test" grep -qx 'not ok sheet' <(read_as ktap sheet.ktap) &&
        expect "LAVA, with the largest latency" grep -qE '^fail missed-deadline [0-9.]+$' <(read_as lava sheet.lava) &&
        "$program" report sheet --format junit | cmp - sheet.xml
}
try "a campaign has a test for each row" campaign

compared() {
    readings base 4 20 0.5 && readings same 4 20 0.5 && readings slower 4 40 0.5 || return
    ends 0 "$program" compare --gate --junit same.xml --ktap=same.ktap base -- same >said.same &&
        expect "the text" grep -q '^NO REGRESSION' said.same &&
        expect "metrics" grep -qx 'pass p50' <(read_as junit same.xml) &&
        expect "KTAP" grep -qx 'ok latlab compare' <(read_as ktap same.ktap) &&
        ends 1 "$program" compare --gate --lava base -- slower >slower.lava &&
        expect "LAVA with both sides" grep -qE '^pass p50-candidate [0-9.]+$' <(read_as lava slower.lava) &&
        expect "the failure" grep -qx 'fail p50' <(read_as lava slower.lava) &&
        ends 2 "$program" compare --ktap --format json base -- same 2>errors &&
        ends 4 "$program" trend --gate --by run --ktap base >trend.ktap &&
        expect "no answer" grep -qx 'not ok latlab trend ERROR' <(read_as ktap trend.ktap)
}
try "comparisons and series have tests for their answers, and the gate is the exit code" compared

exit $status
