#!/usr/bin/env bash
# Installs what the tests need and runs them: what `make check` does, then the program end to end on this machine.
# JOBS=8 is how many scripts of tests/ run at a time. What cannot be tried here is named with its reason.
set -uo pipefail
. "$(dirname "$0")/env.sh"
. scripts/steps.bash

step "setup" scripts/setup.sh build lint test
find_rust || { closing; exit 1; }
step "scripts of the pages" scripts/web.sh
. scripts/checks.bash
export LATLAB=$root/target/debug/latlab

# Where each cannot have its own /run, one latlab would refuse to measure beside another.
[ "$(tests/own_mounts printenv OWN_MOUNTS)" = yes ] || JOBS=1
step "scripts" scripts "${JOBS:-8}" tests/*.sh
# These change the machine or look at all that goes on there.
step "scripts alone" scripts 1 tests/alone/*.sh
closing
