#!/usr/bin/env bash
# Every sample at 20 kHz on every CPU: none lost, constant memory, about as small as their entropy, and the
# figures of run.json recomputed from them; then the same with a kill at a random instant.
# SECONDS_EACH is the length (10, and 600 in `make lab`).
. "$(dirname "$0")/../../common.bash"

have samples python:{numpy,pyarrow} || exit 0
rights_for "samples"
seconds=${SECONDS_EACH:-10}

# The output of benches/samples.py, without the memory readings.
measure() {
    local code
    rm -f "$here/page.json"
    LATLAB=$program python3 benches/samples.py --seconds "$seconds" --flags="${rights[*]}" \
        --page "$here/page.json" "$@" >"$here/all" 2>&1
    code=$?
    [ -e "$here/page.json" ] || { cat "$here/all"; return 1; }
    python3 tests/lab/telemetry.py without_memory "$here/page.json" || cat "$here/all"
    return $code
}

try "$seconds s at 20 kHz: no sample lost, memory flat, as small as they can be, and the sums agree" measure
try "killed at a random instant: at most a second is lost, and the rest is finished" \
    measure --kill "${SEED:-$RANDOM}"

exit $status
