#!/usr/bin/env bash
# Makes each kind of system call on the files of a run fail, in the real program: while it records, while it
# finishes a killed run, and while it reads. FAULTS is the number of calls of each kind, or `every`.
# Invariant (losses): Whatever system call of the program fails, no half-written run is taken for a whole one.
. "$(dirname "$0")/common.bash"

have "system calls that fail" strace python:{pandas,pyarrow,duckdb} || exit 0
rights_for "system calls that fail in runs"
case ${FAULTS:-1} in
    every) how=(--every --for 1s) ;;
    *) how=(--samples "${FAULTS:-1}") ;;
esac
python3 tests/faults.py "$program" "${how[@]}" ${SEED:+--seed "$SEED"} ${OUT:+--out "$OUT"} ${ONLY:+--only "$ONLY"}
