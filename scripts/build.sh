#!/usr/bin/env bash
# Builds the release and links it to target/latlab.
set -euo pipefail
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build'"

target=$(scripts/target.sh)
variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")
case $target in
    *-musl)
        # Rust's own linker and start files: no C compiler for the target is needed.
        export "${variable}_LINKER=rust-lld" "${variable}_RUSTFLAGS=-C link-self-contained=yes"
        ;;
    *-gnu)
        # Static too, where the C library can be linked so.
        if [ "$(cc -print-file-name=libc.a)" != libc.a ]; then
            export "${variable}_RUSTFLAGS=-C target-feature=+crt-static"
        fi
        ;;
esac

cargo build --release --locked --target "$target" --package latlab
mkdir -p target
ln -sfr "${CARGO_TARGET_DIR:-target}/$target/release/latlab" target/latlab
