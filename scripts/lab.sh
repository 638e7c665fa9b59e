#!/usr/bin/env bash
# The tests in their long form, some two hours: many more kills, ten minutes of samples and of a
# run folder, everything built twice, real-time kernels in QEMU. KILLS, SECONDS_EACH and
# FOR change how long.
set -uo pipefail
. "$(dirname "$0")/env.sh"
export KILLS=${KILLS:-20} SECONDS_EACH=${SECONDS_EACH:-600} FOR=${FOR:-10min} LATLAB_LONG=1

scripts/setup.sh build test lab && find_rust && scripts/build.sh && scripts/dist.sh || exit 1
export LATLAB=$root/target/latlab PATH=$root/.venv/bin:$PATH
status=0
for file in samples run_folder kill disk signals dist timerlat dirty lab; do
    printf '\n== tests/%s.sh\n' "$file"
    "tests/$file.sh" || status=1
done
exit $status
