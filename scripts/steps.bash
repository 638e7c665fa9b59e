# Steps of `make check` and `make test`, to be sourced after env.sh: each has a log in target/steps,
# a row in target/steps.tsv, and its time and counts in the closing table.
# LATLAB_STRICT=1, as the continuous integration has it, counts what is skipped for want of a program
# as failed.

steps=$root/target/steps
table=$root/target/steps.tsv
rm -rf "$steps"
mkdir -p "$steps"
printf 'step\tlane\tstart_s\twall_s\tcpu_s\tpassed\tfailed\tskipped\tmissing\n' >"$table"
begun=$EPOCHREALTIME
TIMEFORMAT=$'real %R\nuser %U\nsys %S'

# No example in the documentation is a test (a test of crates/cli sees to it), so none is looked for.
cargo_test=(cargo test --workspace --locked --tests)

# Linting and documenting apart from the tests compile what they need another time. The continuous
# integration does so, since its tests are built with checks of pointers that clippy leaves out.
[ -n "${LATLAB_CI:-}" ] ||
    cargo_test=(env "RUSTC_WORKSPACE_WRAPPER=$root/scripts/linting_rustc.sh" "${cargo_test[@]}")

# What a script prints when a program is not there that scripts/setup.sh would have installed.
is_missing='^SKIPPED: .* is missing \(scripts/setup\.sh '

# Runs a command as a step: step LANE KIND NAME COMMAND...
#   LANE  `main` shows what the command prints at once; a step of any other lane may run beside
#         others, and shows it when it has ended
#   KIND  how its tests are counted. one: the command is one test; cargo: by the lines `test result:`;
#         script: by the lines `ok ...` and `not ok ...`; none: it has no test, but may fail
step() {
    local lane=$1 kind=$2 name=$3 start=$EPOCHREALTIME status=0 passed=0 failed=0 log word
    shift 3
    log=$steps/${name//[^A-Za-z0-9.]/-}.log
    if [ "$lane" = main ]; then
        printf '\n== %s\n' "$name"
        { time { "$@" 2>&1 | tee "$log"; status=${PIPESTATUS[0]}; }; } 2>"$log.time"
    else
        { time "$@" >"$log" 2>&1 || status=$?; } 2>"$log.time"
    fi
    count
    # One line, written at once, so that steps side by side do not mix.
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$lane" \
        "$(awk "BEGIN { printf \"%.1f\", $start - $begun }")" \
        "$(awk '/^real/ { printf "%.1f", $2 }' "$log.time")" \
        "$(awk '/^(user|sys)/ { sum += $2 } END { printf "%.1f", sum }' "$log.time")" \
        "$passed" "$failed" "$skipped" "$missing" >>"$table"
    rm "$log.time"
    [ "$failed" = 0 ] && word=done || word=FAILED
    {
        flock 9
        [ "$lane" = main ] || { printf '\n== %s\n' "$name"; cat "$log"; }
        printf '== %s: %s, %s s\n' "$name" "$word" "$(tail -n +2 "$table" |
            awk -F '\t' -v name="$name" '$1 == name { print $4 }')"
    } 9>>"$steps/print"
    [ "$failed" = 0 ]
}

# Lints the workspace, documents it, and builds its tests.
lint_and_build_tests() {
    local name="building, lints, documentation"
    if [ -n "${LATLAB_CI:-}" ]; then
        name="building of tests"
        step main one "clippy" cargo clippy --workspace --all-targets --locked -- -D warnings
        step main one "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
    fi
    step main one "$name" "${cargo_test[@]}" --no-run
}

# Counts the tests of a step by its $kind, $log and $status.
count() {
    local ignored
    case $kind in
        one) [ "$status" = 0 ] && passed=1 || failed=1 ;;
        none) [ "$status" = 0 ] || failed=1 ;;
        cargo)
            passed=$(sum '^test result: .* ([0-9]+) passed;.*')
            failed=$(sum '^test result: .* ([0-9]+) failed;.*')
            ignored=$(sum '^test result: .* ([0-9]+) ignored;.*')
            [ "$ignored" = 0 ] || echo "SKIPPED: $ignored tests that are marked as ignored" >>"$log"
            [ "$status" = 0 ] || [ "$failed" != 0 ] || failed=1
            ;;
        script)
            passed=$(grep -c '^ok ' "$log")
            failed=$(grep -c '^not ok ' "$log")
            # A script that says nothing of what it tried, or breaks off, has failed.
            if [ "$failed" = 0 ] &&
                { [ "$status" != 0 ] || { [ "$passed" = 0 ] && ! grep -q '^SKIPPED: ' "$log"; }; }; then
                failed=1
            fi
            ;;
    esac
    skipped=$(grep -c '^SKIPPED: ' "$log")
    missing=$(grep -Ec "$is_missing" "$log")
    [ -z "${LATLAB_STRICT:-}" ] || failed=$((failed + missing))
}

# The sum of the numbers that a pattern finds in a step's log.
sum() { sed -nE "s/$1/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'; }

# Names each failed step with what its log says of it: the failed tests with the reasons below them,
# or the last lines of a step that broke off.
failures() {
    local name number log
    awk -F '\t' 'NR > 1 && $7 > 0 { print $1 "\t" $7 }' "$table" | while IFS=$'\t' read -r name number; do
        printf 'FAILED: %s (%s)\n' "$name" "$number"
        log=$steps/${name//[^A-Za-z0-9.]/-}.log
        awk '/^ok / { left = 0 } /^not ok / { left = 20 } /panicked at|^error/ { left = 5 }
                left-- > 0 { print "    " $0; any = 1 } END { exit !any }' "$log" |
            head -90 | cut -c1-400 | grep -a . || tail -15 "$log" | sed 's/^/    /'
    done
}

# Prints the table of steps, what was skipped, what failed, and the counts alone on the last line;
# succeeds when nothing has failed.
closing() {
    local passed failed
    awk "BEGIN { printf \"total\t\t0.0\t%.1f\t\t\t\t\t\n\", $EPOCHREALTIME - $begun }" >>"$table"
    echo
    awk -F '\t' 'NR == 1 { printf "%-30s %-7s %8s %8s %8s %7s %7s %7s\n", $1, $2, "begun", "seconds", "of CPU", $6, $7, $8; next }
        { printf "%-30s %-7s %8s %8s %8s %7s %7s %7s\n", $1, $2, $3, $4, $5, $6, $7, $8 }' "$table"
    echo
    grep -h '^SKIPPED: ' "$steps"/*.log
    failures
    awk -F '\t' 'NR > 1 { skipped += $8; missing += $9 }
        END { printf "%d skipped: %d for want of a program, %d for another reason that is named above\n",
            skipped, missing, skipped - missing }' "$table"
    read -r passed failed < <(awk -F '\t' 'NR > 1 { p += $6; f += $7 } END { print p + 0, f + 0 }' "$table")
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
}
