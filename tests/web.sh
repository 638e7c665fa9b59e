#!/usr/bin/env bash
# The scripts of the pages, without a browser: what Rust packed is unpacked, and no latency is lost.
. "$(dirname "$0")/common.bash"
have "the scripts of the pages" node || exit 0
try "the scripts of the pages unpack columns and cut no bin" node --test web/test/*.test.js
exit $status
