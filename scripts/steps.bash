# Steps of `make check`, `make test` and `make lab`, to be sourced after env.sh: each prints its name and its
# output, and adds a row to target/steps.tsv with its seconds and its CPU seconds.

table=$root/target/steps.tsv
mkdir -p target
printf 'step\tseconds\tcpu_s\tresult\n' >"$table"
begun=$EPOCHREALTIME
failed=()
TIMEFORMAT='%R %U %S'

# Runs a command as a step: step NAME COMMAND...
step() {
    local name=$1 result=done times
    shift
    printf '\n== %s\n' "$name"
    times=$(mktemp)
    { time "$@" 1>&3 2>&4 || { result=FAILED; failed+=("$name"); }; } 3>&1 4>&2 2>"$times"
    tail -n 1 "$times" |
        awk -v name="$name" -v result=$result '{ printf "%s\t%.1f\t%.1f\t%s\n", name, $1, $2 + $3, result }' |
        tee -a "$table" | awk -F '\t' '{ printf "== %s: %s, %s s, %s s of CPU\n", $1, $4, $2, $3 }'
    rm "$times"
    [ $result = done ]
}

# Runs the Rust tests, and shows failures, skips and counts; the rest is in a log of this name in target:
# rust_tests NAME [WORD...]; the words are arguments of the test programs.
rust_tests() {
    local log=target/$1.log status=0
    shift
    cargo test --workspace --tests --locked --no-fail-fast -- --show-output "$@" >"$log" 2>&1 || status=$?
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
    local name
    awk "BEGIN { printf \"all\t%.1f\t\t\n\", $EPOCHREALTIME - $begun }" >>"$table"
    echo
    awk -F '\t' '{ printf "%-40s %10s %10s  %s\n", $1, $2, $3, $4 }' "$table"
    for name in "${failed[@]}"; do echo "FAILED: $name"; done
    [ ${#failed[@]} = 0 ]
}
