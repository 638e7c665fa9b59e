#!/usr/bin/env bash
# The live page of `latlab serve` in a real browser. Its screenshots are left in target/serve-*.png.
. "$(dirname "$0")/../common.bash"
. tests/serve.bash
browser=$(command -v chromium-browser || command -v google-chrome || command -v chromium)
[ -n "$browser" ] || have "the live page in a browser" chromium || exit 0
start
browses() {
    measure browsed 1h || return 1
    timeout 240 python3 tests/lab/serve.py "$browser" "$here" "$url/live/$id" target/serve "$measuring"
    local good=$?
    # A working browser ends the run itself.
    kill -INT "$measuring" 2>/dev/null
    wait "$measuring"
    return $good
}
if [ -z "$(get "$url/assets/live.js" | head -c 1)" ]; then
    echo "SKIPPED: the live page in a browser: this program was built without npm"
else
    try "the live page draws a run in a browser, which complains of nothing" browses
fi
exit $status
