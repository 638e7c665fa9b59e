#!/usr/bin/env bash
# Two sides of runs against each other: the answers of `latlab compare`, and the exit codes of its gate.
# The runs are made from lists of readings, so they are the same each time.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs COLUMNS=120
schemas=$PWD/docs/reference

made() {
    readings base 5 100 1 && readings same 5 100 1 && readings slower 5 130 1 &&
        readings near 5 104.2 1 && readings noisy 5 101 40 && readings few 1 130 1
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
try "the same is no regression" compare 0 '^NO REGRESSION: p99.9 x1.00.*; a slowdown of 5 % is excluded' base -- same
try "what is slower has regressed" compare 1 '^REGRESSED: p99.9 x1.30 (95 %: 1.2' base -- slower
try "what was slower is better by a factor" compare 0 'better by a factor of 1.30' slower -- base
try "what is just below the limit asks for more runs" compare 4 \
    '^CHANGED: .*each side needs at least [0-9]* more' base -- near
try "a wider limit decides" compare 0 '^NO REGRESSION' --margin 10% base -- near
try "noisy runs are inconclusive" compare 4 '^INCONCLUSIVE: .*this machine varies' base -- noisy
try "one run says what it cannot tell" compare 4 \
    '^CANNOT TELL: too few runs; each side needs at least 4 more runs. p99.9 x1.29, 5 and 1 runs' base -- few
try "and is shown all the same" compare 4 'p50 .*x1.29' base -- few
try "a run is not on both sides" compare 2 'is on both sides' base -- base
try "a flag behind -- is named" compare 2 'put options before --' base -- same --gate
try "an unknown run is one line" compare 2 'no such run\|no run' base -- unknown
try "a wrong limit is one line" compare 2 'is not a share' --margin 5 base -- same

# Ids of the runs of a name.
ids() { (cd "$LATLAB_RUNS" && echo ./*_"$1" ./*_"$1"-[0-9]*) | tr ' ' '\n' | sed -n 's,^\./\([^*]*\)$,\1,p'; }
every_run() {
    local id
    compare 1 'named below' base -- slower || return 1
    for id in $(ids base) $(ids slower); do expect "the run $id" grep -q "$id" <(tr -d '\n ' <"$here/text") ||
        return 1; done
    "$program" compare --format markdown base -- slower | grep -q '^<details><summary>All runs</summary>'
}
try "all runs of a side are named" every_run

side_by_side() {
    local runs
    mapfile -t runs < <(ids base; ids slower)
    "$program" show "${runs[@]}" | tr -s ' \n' ' ' >"$here/text" &&
        "$program" compare --format json base -- slower >"$here/compared.json" &&
        expect "the judgement of compare" \
            grep -q "$(python3 tests/documents.py judgement "$here/compared.json")" "$here/text"
}
try "show says of several runs what compare says" side_by_side

without_gate() { "$program" compare base -- slower >"$here/text" && grep -q '^REGRESSED' "$here/text"; }
try "without --gate the exit code is that of the command" without_gate

formats() {
    "$program" compare --format markdown base -- slower >"$here/text.md" &&
        expect "a table" grep -q '^| p99\.9 |.* x1\.30 |' "$here/text.md" &&
        "$program" compare --format junit base -- slower >"$here/junit.xml" &&
        python3 tests/documents.py failed_percentiles "$here/junit.xml"
}
try "Markdown and JUnit say the same" formats

if have "the schema of comparisons" python:jsonschema; then
    document() {
        local other
        for other in same slower noisy few; do
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
        compare 2 'is not a rate such as' --limit 0.1 base -- same &&
        compare 2 '--limit: no runs of both sides that have a deadline and releases' --limit 0.1/h base -- same
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
        --format json >"$here/bad.json"
    expect "exit code 1" [ $? = 1 ] &&
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

planned() {
    "$program" plan --deadline 125us --limit 0.1/h >"$here/text" &&
        grep -q '^30 h without a miss of the 125 us deadline show, with 95 % confidence, fewer than 0.1 bursts' \
            "$here/text" &&
        grep -q '  latlab run --deadline 125us --limit 0.1/h --for 107847s' "$here/text" &&
        "$program" plan --limit 1/h >"$here/text" && grep -q 'fewer than 1 burst of misses an hour' "$here/text" &&
        grep -q '  latlab run --deadline TIME --limit 1/h --for 10785s' "$here/text" &&
        "$program" plan --limit 1/week --confidence 99% --format json >"$here/plan.json" &&
        holds_in "$here/plan.json" "" "abs(run['plans'][0]['fixed_ns'] / 3.6e12 - 4.605170186 * 168) < 1e-3"
}
try "plan says how long a run must be" planned
no_rate() { ! "$program" plan --limit 0.1 2>&1 | grep -v "is not a rate such as"; }
try "a rate without a time is one line" no_rate

exit $status
