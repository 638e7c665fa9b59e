#!/usr/bin/env bash
# Prints the target that the release is built for: static musl wherever it can be had.
# Where it cannot, the host's own target, and one line on stderr says so.
# LATLAB_TARGET overrides the choice.
set -euo pipefail
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build'"

if [ -n "${LATLAB_TARGET:-}" ]; then
    echo "$LATLAB_TARGET"
    exit
fi

host=$(rustc -vV | sed -n 's/^host: //p')
case $host in
    x86_64-*-linux-* | aarch64-*-linux-*) musl=${host%%-*}-unknown-linux-musl ;;
    *)
        say "no static build is known for $host; building for that"
        echo "$host"
        exit
        ;;
esac

if ! has_std "$musl" && command -v rustup >/dev/null; then
    rustup target add "$musl" >/dev/null 2>&1 || true
fi
if has_std "$musl"; then
    echo "$musl"
else
    say "this Rust has no standard library for $musl; building for $host"
    echo "$host"
fi
