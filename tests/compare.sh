#!/usr/bin/env bash
# Two sides of runs against each other, as far as it takes real runs, a page or published recordings; the answers and
# exit codes for lists of readings are golden (crates/cli/tests/it/golden.rs).
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs COLUMNS=120
schemas=$PWD/docs/reference

made() {
    readings base 5 100 1 && readings slower 5 130 1 && readings few 1 130 1
}
try "runs of lists" made

# compare CODE WORDS FLAGS-AND-SIDES...
compare() {
    local expected=$1 words=$2 code
    shift 2
    # Keep sentences on one line, for grep.
    local -x COLUMNS=400
    "$program" compare --gate "$@" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/text" "$here/errors"
    expect "exit code $expected, not $code" [ "$code" = "$expected" ] &&
        expect "the words '$words'" grep -q -- "$words" "$here/text" "$here/errors"
}

if have "the schema of comparisons" python:jsonschema; then
    document() {
        local other
        for other in slower few; do
            "$program" compare --format json base -- $other >"$here/compared.json" || return 1
            python3 tests/documents.py fits "$schemas/compare.schema.json" "$here/compared.json" || return 1
        done
        holds_in "$here/compared.json" "" \
            "run['word'] == 'refused' and run['scenarios'][0]['remarks'][0]['code'] == 'too-few-runs'"
    }
    try "compare --format json fits compare.schema.json" document
fi

# Runs of threads that need no rights. On a busy machine late releases come in clumps, and the larger the clumps, the
# longer a run must be for a limit. With so few releases, even a single clump of all of them keeps this limit.
few_releases=(--policy other --warm-up 0 --period 50ms --deadline 900ms)
limited() {
    local name
    for name in first second; do
        "$program" run -q "${few_releases[@]}" --for 600ms --limit 1000000/h --name "$name" --format json \
            >"$here/$name.json" || return 1
    done
    holds_in "$here/first.json" "" "run['verdict']['word'] == 'pass' and run['verdict']['limit']['per_hour'] == 1e6" &&
        compare 4 'That keeps the limit of 1 000 000 in an hour' --limit 1000000/h first -- second &&
        compare 4 'The limit is 0.1 in an hour:' --limit 0.1/h first -- second &&
        compare 2 '--limit: no runs of both sides that have a deadline and releases' --limit 0.1/h base -- few
}
try "a limit of bursts is kept, or needs more time" limited

other_kinds() {
    compare 4 '^CANNOT TELL: responses of the base cannot be compared with latencies of the candidate' base -- first &&
        expect "no ratio in the answer" test -z "$(sed -n '1{/x[0-9]/p}' "$here/text")" &&
        "$program" trend --by run --gate base first >"$here/text"
    expect "exit code 4" [ $? = 4 ] && grep -q 'the runs recorded different things' "$here/text"
}
try "responses and latencies cannot be compared" other_kinds

shown() {
    "$program" show first --limit 0.1/h >"$here/text" &&
        grep -q '^INCONCLUSIVE: the run is too short to show that there are at most 0.1 bursts' "$here/text" &&
        ! "$program" show few --limit 0.1/h 2>"$here/errors" | grep . && grep -q -- '--limit: run' "$here/errors"
}
try "a stored run is judged by a limit" shown

decided() {
    "$program" run -q "${few_releases[@]}" --for 60s --limit 100000/h --until-decided --name decided \
        --format json >"$here/decided.json" &&
        holds_in "$here/decided.json" "" "run['ended'] == 'decided' and run['measured_ns'] < 30e9"
    "$program" run -q --policy other --warm-up 0 --for 60s --deadline 1us --limit 1/h --until-decided --name bad \
        --format json >"$here/bad.json" 2>"$here/errors"
    local code=$?
    cat "$here/errors"
    expect "exit code 1, not $code" [ "$code" = 1 ] &&
        holds_in "$here/bad.json" "" "run['verdict']['word'] == 'fail' and run['measured_ns'] < 30e9"
}
try "--until-decided ends a run when it is decided" decided

page() {
    "$program" compare -o "$here/page.html" base -- slower &&
        expect "the answer first" grep -q '<h1 class="headline"[^>]*>REGRESSED: p99.9 x1.30' "$here/page.html" &&
        expect "the ratios with their band" grep -q 'data-band="' "$here/page.html" &&
        expect "both tails" grep -q 'data-line="candidate"' "$here/page.html" &&
        expect "the source of a number" grep -q 'title="Hodges and Lehmann, 5 and 5 runs"' "$here/page.html" &&
        "$program" compare --format html base -- slower | cmp - "$here/page.html"
}
try "the page has answer, pictures and sources" page

# Stock against RT of the same board, as their author published them; the licence is Apache-2.0.
recorded() {
    local kind
    for kind in std:4.14.21 rt:4.14.21-rt17; do
        "$program" import "$data/lemariva/seed_histogram_${kind%:*}kernel_${kind#*:}.csv" --name "pi-${kind%:*}" \
            >/dev/null || return 1
    done
    compare 4 'candidate recorded 7.4 % fewer latencies (if both were measured equally long)' pi-std -- pi-rt &&
        expect "the maxima" grep -q 'base 295 us; candidate 147 us' "$here/text" &&
        expect "what one run cannot tell" \
            grep -q '^CANNOT TELL: too few runs; each side needs at least 4 more runs' "$here/text"
    for kind in idle hackbench memory non-rt; do
        "$program" import "$data/cactus-rt/$kind-cyclictest.log" --name "pi4-$kind" >/dev/null || return 1
    done
    for kind in idle hackbench memory; do
        compare 4 '^CANNOT TELL: too few runs' "pi4-$kind" -- pi4-non-rt || return 1
    done
}
data=../shared/data
[ -d $data/lemariva ] || data=../../shared/data
if [ -d $data/lemariva ]; then
    try "published histograms are compared, and one run says what it cannot tell" recorded
else
    echo "SKIPPED: published histograms: they are not in ../shared/data"
fi

exit $status
