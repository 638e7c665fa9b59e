#!/usr/bin/env bash
# Builds the release and links it to target/latlab. LATLAB_PROFILE=first builds the profile `first`
# unless a release was built before.
set -euo pipefail
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build'"

scripts/web.sh
target=$(scripts/target.sh)
profile=${LATLAB_PROFILE:-release}
if [ "$profile" = first ]; then
    case $(readlink target/latlab || true) in
        */release/latlab) profile=release ;;
        *)
            say "building for a first run, in the profile 'first'; 'make' and 'make dist' build the release"
            version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
            export LATLAB_VERSION=$version+first
            ;;
    esac
fi
use_target "$target"
# Both packages, as in scripts/dist.sh: their shared dependencies then have the same features and are built once.
# A first run needs only the agent inside the program.
packages=(--package latlab --package latlab-agent)
[ "$profile" = release ] || packages=(--package latlab)
cargo build --profile "$profile" --locked --target "$target" "${packages[@]}" --bin latlab
mkdir -p target
ln -sfr "${CARGO_TARGET_DIR:-target}/$target/$profile/latlab" target/latlab
