#!/usr/bin/env bash
# The scripts of the pages, without a browser: they unpack what Rust packed, and lose no latency.
. "$(dirname "$0")/common.bash"
have "the scripts of the pages" node || exit 0
try "the scripts of the pages unpack columns and cut no bin" node --test web/test/*.test.js
exit $status
