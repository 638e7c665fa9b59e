#!/usr/bin/env bash
# Makes web/dist, the scripts and styles that pages carry: npm fetches what web/package-lock.json
# pins, and esbuild bundles it. Without npm nothing is made, and pages have static pictures only.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd web

if ! has_npm; then
    rm -rf dist
    say "npm is missing: pages will have static pictures only (scripts/setup.sh build installs it)"
    exit 0
fi
# What npm put there last time is still what the lock file pins.
if ! cmp -s package-lock.json node_modules/.locked; then
    # A page needs no program that a package would run while it is installed.
    if ! run_npm ci --ignore-scripts --no-audit --no-fund --silent; then
        rm -rf dist
        say "npm cannot fetch what web/package-lock.json pins: pages will have static pictures only"
        exit 0
    fi
    cp package-lock.json node_modules/.locked
fi
# Elsewhere, since cargo builds anew when something in this folder changes.
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
./bundle.sh "$new"
# Files that are the same keep their time, so that cargo need not build anything anew.
mkdir -p dist
for file in "$new"/*; do
    cmp -s "$file" "dist/${file##*/}" || cp "$file" dist/
done
