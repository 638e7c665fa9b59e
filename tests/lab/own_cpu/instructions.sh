#!/usr/bin/env bash
# The cost of a cycle: memory, system calls and instructions, as `make bench` counts them. With samples the
# instructions depend on how much latencies differ, so other work on the CPU changes them.
# Invariant (loop): A cycle takes at most 80 user instructions, one system call and no page fault.
. "$(dirname "$0")/../../common.bash"

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: what a cycle costs: real-time priority and locked memory need root"
    exit 0
fi

# Prints the result of one part of the bench for latlab alone, with or without --samples.
bench() {
    python3 tests/lab/checks.py bench "$program" "$@"
}

# The bench's limit is 80; with fewer cycles, rare work weighs more.
cycle=84 samples=125

! have "system calls of a cycle" strace ||
    try "one system call each cycle" bench syscalls latlab 0.995 1.005
! have "instructions of a cycle" valgrind ||
    try "less than $cycle instructions of user space each cycle, $samples with every sample" \
        bench instructions latlab 1 $cycle "latlab --samples" 1 $samples "latlab cyclictest" 1 $cycle

memory() {
    "$program" run --quiet --for 1s --format json --out "$here/runs" >"$here/run.json" &&
        holds_in "$here/run.json" "" '0 < run["agent"]["agent_peak_rss_bytes"] < 10 * 2**20'
}
try "the agent stays under 10 MiB" memory

exit $status
