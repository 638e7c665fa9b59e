#!/usr/bin/env bash
# What one waits for at each change: format, lints, and the tests that need neither root, nor a
# network, nor a quiet machine. The modules `end_to_end` of the crates' tests start real runs: they
# and the scripts of tests/ are left to `make test`.
set -uo pipefail
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build lint'"
. scripts/steps.bash

step main one "format" cargo fmt --all --check
step main one "licences" scripts/licences.py
lint_and_build_tests
step main cargo "cargo test" "${cargo_test[@]}" --no-fail-fast -- --skip end_to_end::
closing
