#!/usr/bin/env bash
# Kills at random instants of every phase; KILLS is how many of each, OUT a folder for the table,
# LONG the seconds of one run at 20 kHz that is killed instead.
# Invariant (kills): A kill at any instant costs at most one second, and the next command finishes the run.
. "$(dirname "$0")/alone.bash"
. "$(dirname "$0")/common.bash"

if ! python3 -c 'import pandas, pyarrow, duckdb' 2>/dev/null; then
    echo "SKIPPED: kills: pandas, pyarrow or duckdb is missing (scripts/setup.sh test)"
    exit 0
fi
if ! command -v strace >/dev/null; then
    echo "SKIPPED: kills: strace is missing"
    exit 0
fi
rights_for "kills of runs that change a kernel file, and of runs"
python3 tests/kill.py "$program" --kills "${KILLS:-2}" ${SEED:+--seed "$SEED"} ${OUT:+--out "$OUT"} \
    ${LONG:+--long "$LONG"}
