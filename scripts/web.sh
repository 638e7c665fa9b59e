#!/usr/bin/env bash
# Builds web/dist, the scripts and styles that pages carry: npm fetches what web/package-lock.json
# pins, and esbuild bundles it. Without npm it does nothing, and pages have only static pictures.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd web

if ! has_npm; then
    rm -rf dist
    say "npm is missing: pages will have static pictures only (scripts/setup.sh build installs it)"
    exit 0
fi
# Install only if the lock file has changed since the last time.
if ! cmp -s package-lock.json node_modules/.locked; then
    # No page needs a package's install script.
    if ! run_npm ci --ignore-scripts --no-audit --no-fund --silent; then
        rm -rf dist
        say "npm cannot fetch what web/package-lock.json pins: pages will have static pictures only"
        exit 0
    fi
    cp package-lock.json node_modules/.locked
fi
# In a temporary folder, since cargo rebuilds when something in this one changes.
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
./bundle.sh "$new"
# Unchanged files keep their time, so that cargo does not rebuild.
mkdir -p dist
for file in "$new"/*; do
    cmp -s "$file" "dist/${file##*/}" || cp "$file" dist/
done
