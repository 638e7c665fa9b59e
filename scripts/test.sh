#!/usr/bin/env bash
# Runs every check and every test, and closes with the counts alone on a line.
# Nothing is left out in silence: what cannot be run prints "SKIPPED: why", again at the end.
set -uo pipefail
. "$(dirname "$0")/env.sh"

mkdir -p target
log=$root/target/test.log
: >"$log"
passed=0 failed=0 failures=()

# Runs a command, shows what it prints, keeps it in $log, and names the step with its time.
run() {
    local name=$1 start=$SECONDS status
    shift
    printf '\n== %s\n' "$name"
    "$@" 2>&1 | tee "$log.step"
    status=${PIPESTATUS[0]}
    cat "$log.step" >>"$log"
    printf '== %s: %s, %s s\n' "$name" "$([ "$status" = 0 ] && echo done || echo FAILED)" \
        $((SECONDS - start))
    return "$status"
}

# A step that counts as one test.
check() {
    if run "$@"; then passed=$((passed + 1)); else fail "$1"; fi
}

fail() {
    failed=$((failed + 1))
    failures+=("$1")
}

# The sum of the numbers that this pattern finds in the last step's output.
sum() {
    sed -nE "s/$1/\1/p" "$log.step" | awk '{ n += $1 } END { print n + 0 }'
}

cargo_tests() {
    local status=0 bad ignored
    run "cargo test" cargo test --workspace --locked --no-fail-fast -- --show-output || status=1
    passed=$((passed + $(sum '^test result: .* ([0-9]+) passed;.*')))
    bad=$(sum '^test result: .* ([0-9]+) failed;.*')
    ignored=$(sum '^test result: .* ([0-9]+) ignored;.*')
    if [ "$bad" -gt 0 ]; then
        failed=$((failed + bad))
        failures+=("cargo test ($bad)")
    elif [ "$status" != 0 ]; then
        fail "cargo test"
    fi
    [ "$ignored" = 0 ] || echo "SKIPPED: $ignored tests marked as ignored" | tee -a "$log"
}

# The advisories' database comes from the network; without one the rest is still checked.
deny() {
    check "cargo deny" cargo deny --workspace check licenses bans sources
    if cargo deny fetch db >/dev/null 2>&1; then
        check "cargo deny advisories" cargo deny check advisories
    else
        echo "SKIPPED: the advisories' database cannot be fetched from here" | tee -a "$log"
    fi
}

# A script of tests/ prints "ok ..." or "not ok ..." for each thing it tries.
script() {
    local status=0 good bad
    run "$1" timeout --kill-after=10 900 "$1" || status=$?
    good=$(grep -c '^ok ' "$log.step")
    bad=$(grep -c '^not ok ' "$log.step")
    passed=$((passed + good))
    if [ "$bad" -gt 0 ]; then
        failed=$((failed + bad))
        failures+=("$1 ($bad)")
    elif [ "$status" != 0 ] || { [ "$good" = 0 ] && ! grep -q '^SKIPPED: ' "$log.step"; }; then
        fail "$1"
    fi
}

# What `make dist` has printed beside the checks of the sources, and how it ended.
built() {
    cat target/dist.log
    return "$dist_status"
}

check "setup" scripts/setup.sh build test
if find_rust; then
    # Here and not in tests/dist.sh, which has a limit of time and finds it built. The program that
    # is given away is the one that is tested.
    export LATLAB_QUICK=1
    # Beside the checks of the sources, since its last steps use one CPU alone.
    scripts/dist.sh >target/dist.log 2>&1 &
    dist=$!
    check "format" cargo fmt --all --check
    check "clippy" cargo clippy --workspace --all-targets --locked -- -D warnings
    check "documentation" env RUSTDOCFLAGS="-D warnings" \
        cargo doc --workspace --no-deps --locked
    deny
    wait "$dist"
    dist_status=$?
    check "make dist" built
    check "release build" env LATLAB_AGENTS="$root/target/agents" scripts/build.sh
    cargo_tests
    export LATLAB=$root/target/latlab PATH=$root/.venv/bin:$PATH
    for file in tests/*.sh; do
        [ ! -x "$file" ] || script "$file"
    done
fi
rm -f "$log.step"

echo
grep -h '^SKIPPED: ' "$log"
[ ${#failures[@]} = 0 ] || printf 'FAILED: %s\n' "${failures[@]}"
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
