# What the tests of `latlab watch` share, to be sourced after common.bash.
. tests/lab/board.bash
export NO_COLOR=1
root=$PWD
rights_for "rounds"
cd "$here" || exit 1
watching=
trap 'kill -KILL $watching 2>/dev/null; rm -rf "$here"' EXIT

# Watches with short rounds: its output is in $here/lines and $here/told.
watch() {
    "$program" watch --every 100ms --cycles 50 --warm-up 0s --telemetry off --threads 1 --cpu-budget 100% \
        --policy other "$@" >"$here/lines" 2>"$here/told"
}
runs() { ls "$1" | grep -c _watch; }
