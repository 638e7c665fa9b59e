#!/usr/bin/env bash
# Kills at random instants of every phase; KILLS is the number for each, OUT a folder for the table,
# LONG the seconds of one run at 20 kHz that is killed instead.
# Invariant (kills): A kill at any instant costs at most one second, and the next command finishes the run.
. "$(dirname "$0")/common.bash"

have kills strace python:{pandas,pyarrow,duckdb} || exit 0
rights_for "kills of runs that change a kernel file, and of runs"
# A higher priority, so that the cost of a kill is latlab's and not that of other work.
first=()
[ "$(id -u)" != 0 ] || first=(nice -n -10)
"${first[@]}" python3 tests/kill.py "$program" --kills "${KILLS:-2}" ${SEED:+--seed "$SEED"} ${OUT:+--out "$OUT"} \
    ${LONG:+--long "$LONG"}
