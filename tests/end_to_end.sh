#!/usr/bin/env bash
# The Rust tests that start real runs: the modules `end_to_end`.
. "$(dirname "$0")/common.bash"
cargo test --workspace --test it --locked --no-fail-fast -- --show-output end_to_end:: >"$here/log" 2>&1
status=$?
sed -n 's/^test \(.*\) \.\.\. ok$/ok \1/p; s/^test \(.*\) \.\.\. FAILED$/not ok \1/p; /^SKIPPED: /p' "$here/log"
[ $status = 0 ] || sed -n '/^failures:$/,/^test result:/p' "$here/log"
grep -q '^test result:' "$here/log" || cat "$here/log"
exit $status
