#!/usr/bin/env bash
# The scripts of the pages, without a browser: what Rust packed is unpacked, and no latency is lost.
. "$(dirname "$0")/common.bash"
if ! command -v node >/dev/null; then
    echo "SKIPPED: the scripts of the pages: node is missing"
    exit 0
fi
try "the scripts of the pages unpack columns and cut no bin" node --test web/test/*.test.js
exit $status
