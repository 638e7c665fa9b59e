#!/usr/bin/env bash
# Runs of two sides against each other: what `latlab compare` says of them, and the exit codes of its gate.
# The runs are made of lists of readings, so that they are the same each time.
# Lane: beside
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs COLUMNS=120
schemas=$PWD/docs/reference

# Makes runs of one name: readings NAME RUNS MICROSECONDS PERCENT. Each run differs from the others by
# this share, with a tail of its own.
readings() {
    local run
    for ((run = 0; run < $2; run++)); do
        awk -v run="$run" -v scale="$3" -v varies="$4" 'BEGIN {
            scale *= 1 + varies / 100 * ((run * 7) % 5 - 2) / 2
            for (at = 0; at < 5000; at++)
                printf "%d\t%.9f\n", at + 1, scale * (1 - 0.3 * log(1 - (at + 0.5) / 5000)) / 1e6
        }' >"$here/list.txt"
        "$program" respond --from "$here/list.txt" --unit s --deadline 1ms --name "$1" --format json \
            >"$here/said.json" 2>"$here/errors" || { cat "$here/errors"; return 1; }
    done
}

made() {
    readings base 5 100 1 && readings same 5 100 1 && readings slower 5 130 1 &&
        readings near 5 104.2 1 && readings noisy 5 101 40 && readings few 1 130 1
}
try "runs of lists" made

# compare CODE WORDS FLAGS-AND-SIDES...
compare() {
    local expected=$1 words=$2 code
    shift 2
    "$program" compare --gate "$@" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/text" "$here/errors"
    expect "exit code $expected, not $code" [ "$code" = "$expected" ] &&
        expect "the words '$words'" grep -q -- "$words" "$here/text" "$here/errors"
}
try "the same is no regression" compare 0 '^NO REGRESSION: none above 5 % (proven): p99.9 x1.00' base -- same
try "what is slower has regressed" compare 1 '^REGRESSED: p99.9 x1.30 (95 %: 1.2' base -- slower
try "what was slower is better by a factor" compare 0 'better by a factor of 1.30' slower -- base
try "what is just below the limit asks for more runs" compare 4 '^CHANGED: .*more runs\? a side to decide' base -- near
try "a wider limit decides" compare 0 '^NO REGRESSION' --care 10% base -- near
try "noisy runs are inconclusive" compare 4 '^INCONCLUSIVE: .*this machine varies' base -- noisy
try "one run says what it cannot tell" compare 4 '^CANNOT TELL: too few runs. p99.9 x1.29, 5 and 1 runs' base -- few
try "and is shown all the same" compare 4 'p50 .*x1.29' base -- few
try "a run is not on both sides" compare 2 'is on both sides' base -- base
try "a flag behind -- is named" compare 2 'flags stand before --' base -- same --gate
try "an unknown run is one line" compare 2 'no such run\|no run' base -- nobody
try "a wrong limit is one line" compare 2 'is not a share' --care 5 base -- same

without_gate() { "$program" compare base -- slower >"$here/text" && grep -q '^REGRESSED' "$here/text"; }
try "without --gate the exit code is that of the command" without_gate

formats() {
    "$program" compare --format markdown base -- slower >"$here/text.md" &&
        expect "a table" grep -q '^| p99\.9 |.* x1\.30 |' "$here/text.md" &&
        "$program" compare --format junit base -- slower >"$here/junit.xml" &&
        python3 - "$here/junit.xml" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()
cases = {case.get("name"): [part.tag for part in case] for case in suite}
failed = {name for name, parts in cases.items() if "failure" in parts}
assert {"p50", "p99", "p99.9"} <= failed and suite.get("failures") == str(len(failed)), cases
PYTHON
}
try "Markdown and JUnit say the same" formats

if have "the schema of comparisons" python:jsonschema; then
    document() {
        local other
        for other in same slower noisy few; do
            "$program" compare --format json base -- $other >"$here/compared.json" || return 1
            python3 - "$schemas/compare.schema.json" "$here/compared.json" <<'PYTHON' || return 1
import json, sys
import jsonschema
schema, document = (json.load(open(name)) for name in sys.argv[1:3])
jsonschema.Draft202012Validator(schema).validate(document)
PYTHON
        done
        holds_in "$here/compared.json" "" "run['word'] == 'refused' and run['scenarios'][0]['remarks'][0]['code'] == 'too-few-runs'"
    }
    try "compare --format json fits compare.schema.json" document
fi

planned() {
    "$program" plan --deadline 125us --limit 0.1/h >"$here/text" &&
        grep -q '^30 h without a miss of the 125 us deadline show, with 95 % confidence, fewer than 0.1 bursts' "$here/text" &&
        grep -q '  latlab run --deadline 125000ns --for 107847s' "$here/text" &&
        "$program" plan --limit 1/week --confidence 99% --format json >"$here/plan.json" &&
        holds_in "$here/plan.json" "" "abs(run['plans'][0]['fixed_ns'] / 3.6e12 - 4.605170186 * 168) < 1e-3"
}
try "plan says how long a run must be" planned
try "a rate without a time is one line" bash -c '! "$0" plan --limit 0.1 2>&1 | grep -v "is not a rate such as"' "$program"

exit $status
