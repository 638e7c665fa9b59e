#!/usr/bin/env bash
# Runs every check and every test, and closes with the counts alone on a line.
# Nothing is left out in silence: what cannot be run prints "SKIPPED: why", again at the end.
#   LATLAB_CI=1  as the continuous integration: builds the programs for all architectures, and what
#                is skipped for want of a program has failed
#   BESIDE=8     how many scripts run side by side
set -uo pipefail
. "$(dirname "$0")/env.sh"
[ -z "${LATLAB_CI:-}" ] || export LATLAB_STRICT=1
# The programs for other machines take minutes to link, and so does what is given away. Their agents
# are always built.
# Each reader of damaged input gets a second; the continuous integration gives more, `make fuzz` a minute.
[ -n "${LATLAB_CI:-}" ] || export LATLAB_QUICK=1 "LATLAB_FUZZ_SECONDS=${LATLAB_FUZZ_SECONDS:-1}"
. scripts/steps.bash

# The lane of a script of tests/, from its head: `beside` others, `pinned` to a CPU, or `alone`.
lane() { sed -n 's/^# Lane: \([a-z]*\).*/\1/p' "$1" | head -n 1; }

# A script of tests/, in its lane. Those that need a quiet machine, or a CPU for themselves, come before
# what else goes on there, where root may say so.
script() {
    local first=()
    [ "$1" = beside ] || [ "$(id -u)" != 0 ] || first=(nice -n -15)
    [ "$1" != pinned ] || first+=(taskset --cpu-list "$cpu")
    step "$1" script "$2" "${first[@]}" timeout --kill-after=10 3600 "$2"
}

# Those of a lane, in the order of their names, and the longest before the others, so that none of them
# goes on alone at the end; one that names no lane runs alone.
scripts() {
    local file found longest=() others=()
    for file in tests/*.sh; do
        [ -x "$file" ] || continue
        found=$(lane "$file")
        [ "${found:-alone}" = "$1" ] || continue
        if grep -q '^# Lane: .*among the longest' "$file"; then longest+=("$file"); else others+=("$file"); fi
    done
    printf '%s\n' "${longest[@]}" "${others[@]}" | sed '/^$/d'
}

# All scripts that bear it, so many at a time.
side_by_side() {
    local file
    for file in $(scripts beside); do
        while [ "$(jobs -rp | wc -l)" -ge "$BESIDE" ]; do wait -n; done
        script beside "$file" &
    done
    wait
}

# The first of a list of files that nobody has taken.
take() { (flock 9 && head -n 1 "$1" && sed -i 1d "$1") 9>>"$1.lock"; }

# All scripts that bear one other beside them on each further CPU, each on one CPU.
pinned() {
    local waiting=$steps/pinned cpu file
    scripts pinned >"$waiting"
    for cpu in $(python3 -c 'import os; print(*os.sched_getaffinity(0))'); do
        while file=$(take "$waiting") && [ -n "$file" ]; do script pinned "$file"; done &
    done
    wait
}

# cargo-deny knows more than scripts/licences.py does; its database of advisories comes from the network.
deny() {
    local skipped="SKIPPED: known vulnerabilities (advisories), and the texts of licences"
    if ! cargo deny --version >/dev/null 2>&1; then
        echo "$skipped: they need cargo-deny, which takes minutes to compile: cargo install --locked cargo-deny"
        return
    fi
    cargo deny --workspace check licenses bans sources || return 1
    if cargo deny fetch db >/dev/null 2>&1; then
        cargo deny check advisories
    else
        echo "$skipped: the advisories' database cannot be fetched from here"
    fi
}
licences() { scripts/licences.py && deny; }

# What is not to be given away is not put where that is expected.
programs=dist
[ -z "${LATLAB_QUICK:-}" ] || programs=target/dist

step main one "setup" scripts/setup.sh build lint dist
find_rust || { closing; exit 1; }
# First, since what is built takes the scripts of the pages in.
step main one "scripts of the pages" scripts/web.sh

# Building takes all CPUs: the programs, whose last steps use one CPU alone, beside the rest. So does
# what only the tests need, most of which waits for the network and the disk.
step build one "setup of tests" scripts/setup.sh test &
step build one "programs" scripts/dist.sh "$programs" &
step main one "format" cargo fmt --all --check
step main one "licences" licences
lint_and_build_tests
wait
# In the continuous integration the program that is given away is the one that is tested.
step main one "program" env LATLAB_AGENTS="$root/target/agents" scripts/build.sh
export LATLAB=$root/target/latlab LATLAB_DIST=$root/$programs PATH=$root/.venv/bin:$PATH

# Where each cannot have its own /run, one latlab would refuse to measure beside another.
[ "$(tests/own_mounts printenv OWN_MOUNTS)" = yes ] || BESIDE=1
: "${BESIDE:=8}"
if [ "$BESIDE" = 1 ]; then
    step main cargo "cargo test" "${cargo_test[@]}" --no-fail-fast -- --show-output
    side_by_side
else
    step beside cargo "cargo test" env RUST_TEST_THREADS=4 tests/own_mounts \
        "${cargo_test[@]}" --no-fail-fast -- --show-output &
    side_by_side
    wait
fi
pinned
for file in $(scripts alone); do script alone "$file"; done
closing
