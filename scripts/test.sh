#!/usr/bin/env bash
# Installs what the tests need and runs them: those of `make check`, then the program end to end on this machine.
# JOBS=8 sets how many scripts of tests/ run at a time. What cannot be tested here is named with its reason.
set -uo pipefail
. "$(dirname "$0")/env.sh"
. scripts/steps.bash

step "setup" scripts/setup.sh build lint test
find_rust || { closing; exit 1; }
step "scripts of the pages" scripts/web.sh
. scripts/checks.bash
step "building" build_tests || { closing; exit 1; }
export LATLAB=$root/target/debug/latlab

# Unless each script can have its own /run, latlab refuses a second run on the same CPUs.
[ "$(tests/own_mounts printenv OWN_MOUNTS)" = yes ] || JOBS=1
step_aside "scripts" scripts "${JOBS:-8}" tests/*.sh
checks
await_aside
# These change the machine, or observe everything on it.
step "scripts alone" scripts 1 tests/alone/*.sh
closing
