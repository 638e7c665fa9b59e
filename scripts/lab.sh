#!/usr/bin/env bash
# The tests in their long form, some two hours: `make test` in a fresh Debian, many more kills, ten
# minutes of samples and of a run folder, everything built twice, real-time kernels in QEMU. KILLS,
# SECONDS_EACH and FOR change how long.
set -uo pipefail
. "$(dirname "$0")/env.sh"
export KILLS=${KILLS:-20} SECONDS_EACH=${SECONDS_EACH:-600} FOR=${FOR:-10min} LATLAB_LONG=1

. scripts/steps.bash
step main one "setup" scripts/setup.sh build test && find_rust || { closing; exit 1; }
if [ "$(id -u)" = 0 ]; then
    step main one "make test in a clean root" scripts/clean_root.sh
else
    step main none "make test in a clean root" echo "SKIPPED: make test in a clean root: needs root"
fi
step main one "release build" scripts/build.sh && step main one "make dist" scripts/dist.sh ||
    { closing; exit 1; }
export LATLAB=$root/target/latlab PATH=$root/.venv/bin:$PATH
for name in samples run_folder kill disk signals dist guests lab; do
    step main script "tests/$name.sh" "tests/$name.sh"
done
closing
