#!/usr/bin/env bash
# Generates docs/reference from the flags and types: man pages, completions, JSON Schemas.
set -euo pipefail
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build'"

LATLAB_WRITE_REFERENCE=1 cargo test --quiet --package latlab --bin latlab reference
