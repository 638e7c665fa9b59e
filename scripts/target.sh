#!/usr/bin/env bash
# Prints the target of the release build: static musl if it is available, else the host's target and a
# line on stderr that says so. LATLAB_TARGET overrides the choice.
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
