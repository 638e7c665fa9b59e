#!/usr/bin/env bash
# The cost of a cycle: memory, system calls and instructions, as `make bench` counts them. With samples the
# instructions depend on how much latencies differ, so other work on the CPU changes them.
# In the short form only the agents are optimised as a whole, so it is the agent for boards that is counted; in the
# long form the program as well, which is its own agent on this machine.
# Invariant (loop): A cycle takes at most 80 user instructions, one system call and no page fault.
. "$(dirname "$0")/../../common.bash"

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: what a cycle costs: real-time priority and locked memory need root"
    exit 0
fi
. tests/lab/board.bash
. tests/lab/ssh_fake.bash
need_boards "what a cycle costs"
fake_board
targets=("$board")
# Callgrind knows the loop by its name, which the agents that are given away no longer have.
name_functions() {
    "$program" run --quiet --target "$board" --cycles 1 --warm-up 0s --out "$here/runs" || return 1
    local agent
    agent=$(echo "$cache"/latlab/agents/agent-*)
    fake sha256sum "cat >/dev/null; echo ${agent##*-}"
    cp "$(dirname "$(realpath "$program")")/latlab-agent" "$agent"
}
[ -z "${LATLAB_LONG:-}" ] || targets+=(local)

# Prints the result of one part of the bench for latlab alone, with or without --samples.
bench() {
    python3 tests/lab/checks.py bench "$program" "$@"
}

# The bench's limit is 80; with fewer cycles, rare work weighs more.
cycle=84 samples=125

memory() {
    "$program" run --quiet --for 1s --format json --target "$1" --out "$here/runs" >"$here/run.json" &&
        holds_in "$here/run.json" "" '0 < run["agent"]["agent_peak_rss_bytes"] < 10 * 2**20'
}

for target in "${targets[@]}"; do
    by=
    [ "$target" = local ] || by=" of a board"
    ! have "system calls of a cycle" strace ||
        try "one system call each cycle$by" bench "$target" syscalls latlab 0.995 1.005
    try "the agent$by stays under 10 MiB" memory "$target"
    [ "$target" = local ] || try "an agent with names" name_functions
    ! have "instructions of a cycle" valgrind ||
        try "less than $cycle instructions of user space each cycle$by, $samples with every sample" \
            bench "$target" instructions latlab 1 $cycle "latlab --samples" 1 $samples
done
if [ -z "${LATLAB_LONG:-}" ]; then
    echo "SKIPPED: instructions of a cycle as cyclictest: the program is optimised as a whole in LATLAB_LONG=1"
else
    ! have "instructions of a cycle" valgrind ||
        try "less than $cycle instructions of user space each cycle as cyclictest" \
            bench local instructions "latlab cyclictest" 1 $cycle
fi

exit $status
