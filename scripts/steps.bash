# Steps of `make check`, `make test` and `make lab`, to be sourced after env.sh: each prints its name and its
# output, and adds a row to target/steps.tsv with its seconds and its CPU seconds.

table=$root/target/steps.tsv
mkdir -p target
printf 'step\tseconds\tcpu_s\tresult\n' >"$table"
printf 'script\tseconds\tcpu_s\n' >target/scripts.tsv
begun=$EPOCHREALTIME
TIMEFORMAT='%R %U %S'

# Runs a command as a step: step NAME COMMAND...
step() {
    local name=$1 result=done times
    shift
    printf '\n== %s\n' "$name"
    times=$(mktemp)
    # In a shell of its own, so that a step aside which ends meanwhile is not counted with it.
    (time "$@" 1>&3 2>&4) 3>&1 4>&2 2>"$times" || result=FAILED
    tail -n 1 "$times" |
        awk -v name="$name" -v result=$result '{ printf "%s\t%.1f\t%.1f\t%s\n", name, $1, $2 + $3, result }' |
        tee -a "$table" | awk -F '\t' '{ printf "== %s: %s, %s s, %s s of CPU\n", $1, $4, $2, $3 }'
    rm "$times"
    [ $result = done ]
}

# Runs a step next to those that follow: step_aside NAME COMMAND... It is for what waits more than it computes.
step_aside() {
    aside_output=$(mktemp)
    set -m
    step "$@" >"$aside_output" 2>&1 </dev/null &
    aside=$!
    set +m
    trap 'kill -- -$aside 2>/dev/null; rm -f "$aside_output"' EXIT
}

# Waits for the step aside, and prints its output.
await_aside() {
    wait $aside
    cat "$aside_output"
}

# Runs the Rust tests, and shows failures, skips and counts; the rest is in a log of this name in target. Properties
# are tried on fewer cases than `cargo test` and the long form of `make lab` do:
# rust_tests NAME [WORD...]; the words are arguments of the test programs.
rust_tests() {
    local log=target/$1.log status=0
    shift
    PROPTEST_CASES=${PROPTEST_CASES:-64} cargo test --workspace --tests --locked --no-fail-fast -- \
        --show-output "$@" >"$log" 2>&1 || status=$?
    grep -a '^SKIPPED: ' "$log" | sort -u
    # If it does not compile there is no result.
    [ $status = 0 ] || sed -n '/^failures:$/,/^test result:/p' "$log"
    grep -q '^test result:' "$log" || cat "$log"
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
        END { print passed + 0 " passed, " failed + 0 " failed, " ignored + 0 " ignored" }' "$log"
    return $status
}

# Runs scripts of tests/, this many at a time: scripts JOBS [OPTION...] FILE...
scripts() {
    local jobs=$1
    shift
    prove --exec tests/as_tap --jobs "$jobs" --timer --failures --comments --directives "$@"
}

# Prints the table of steps and what failed; succeeds if nothing has.
closing() {
    awk "BEGIN { printf \"all\t%.1f\t\t\n\", $EPOCHREALTIME - $begun }" >>"$table"
    echo
    awk -F '\t' '{ printf "%-40s %10s %10s  %s\n", $1, $2, $3, $4 }' "$table"
    ! awk -F '\t' '$4 == "FAILED" { print "FAILED: " $1 }' "$table" | grep .
}
