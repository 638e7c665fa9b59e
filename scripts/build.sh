#!/usr/bin/env bash
# Builds the release and links it to target/latlab. LATLAB_QUICK=1 builds the profile `quick`, for tests.
set -euo pipefail
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build'"

scripts/web.sh
target=$(scripts/target.sh)
profile=${LATLAB_QUICK:+quick}
profile=${profile:-release}
use_target "$target"
# Both packages, as scripts/dist.sh: what they share has the same features then, and is built once.
cargo build --profile "$profile" --locked --target "$target" --package latlab --package latlab-agent \
    --bin latlab
mkdir -p target
ln -sfr "${CARGO_TARGET_DIR:-target}/$target/$profile/latlab" target/latlab
