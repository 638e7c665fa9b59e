#!/usr/bin/env bash
# The checks for each change: format, licences, lints, documentation, and the tests that need neither root, nor a
# network, nor a quiet machine. The modules `end_to_end` of the crates' tests start real runs: they and the scripts of
# tests/ are left to `make test`.
set -uo pipefail
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build lint'"
. scripts/steps.bash
. scripts/checks.bash
step "building" build_tests
checks
closing
