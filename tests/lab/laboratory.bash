# The laboratory's program and kernels, to be sourced after common.bash.

# Finds a program with agents, $lab, and writes an agent to $here/agent: laboratory WHAT
laboratory() {
    local candidate
    command -v apt-get >/dev/null || skip "$1: needs apt-get, which gets the kernels"
    # Only the programs of `make dist` carry the agents that guests need.
    for candidate in "$program" dist/latlab-*-linux-x86-64; do
        [ -x "$candidate" ] && "$candidate" agent --write x86_64 -o "$here/agent" >/dev/null 2>&1 &&
            lab=$(realpath "$candidate") && return
    done
    skip "$1: $program carries no agents: scripts/dist.sh makes one that does"
}

# Downloads the kernels of a machine that are missing: fetch MACHINE KERNEL...
fetch() {
    local machine=$1 kernel
    shift
    for kernel; do
        "$lab" lab kernels | grep "lab:$machine/$kernel " | grep -qv "not downloaded" ||
            timeout 600 "$lab" lab fetch "$machine/$kernel" >"$here/fetched" 2>&1 || return 1
    done
}
