#!/usr/bin/env bash
# Responders on Linux in guests, the long form (LATLAB_LONG=1): all of them on both kernels, idle and under hackbench,
# on one page, two on arm64, and a wire between two lines of the i.MX board. LATLAB_KEEP=DIR keeps that page and its
# runs there.
. "$(dirname "$0")/../../common.bash"
[ -n "${LATLAB_LONG:-}" ] || skip "all responders on all kernels: LATLAB_LONG=1 takes an hour"
. tests/lab/responders.bash

# Both modules are rebuilt for all kernels; a warning is an error.
kernels() {
    local machine kernel
    cp -r responders "$here/anew"
    for kernel in kmod/responder.c kmod/pinpair/pinpair.c; do echo "/* $RANDOM$RANDOM */" >>"$here/anew/$kernel"; done
    for machine in x86-64 arm64; do
        [ $machine = x86-64 ] || have "modules on arm64" qemu-system-aarch64 aarch64-linux-gnu-gcc || return 0
        fetch $machine stock-6.1 rt-6.1 stock-6.12 rt-6.12 || return 1
        for kernel in stock-6.1 rt-6.1 stock-6.12 rt-6.12; do
            LATLAB_RESPONDERS=$here/anew KCFLAGS=-Werror \
                answer "built-$machine-$kernel" kmod-plain "$machine/$kernel" --edges 50 || return 1
            holds "runs['built-$machine-$kernel']['answered'] == 50" || return 1
            echo "$machine/$kernel: median $(python3 tests/lab/responders.py median_ns \
                "$here/built-$machine-$kernel.json") ns"
        done
    done
    rm -rf "$here"/built-*.json
}
try "the modules build without warnings on eight kernels, and answer there" kernels

# Invariant (captures): A published experiment is repeated by one command, its figures next to the published ones.
published() {
    # Its load is a shell in the guest, which does not come with the kernels.
    timeout 300 "$lab" lab fetch x86-64/stock-6.1 || return
    timeout 580 "$lab" respond --simulate published \
        --page "$here/published.html" >"$here/said.txt" 2>"$here/errors.txt" ||
        { cat "$here/said.txt" "$here/errors.txt"; return 1; }
    expect "eight published series and eight runs" [ \
        "$(grep -cE '^(Arduino|kernel module|C over sysfs|Python).* (published|simulated|virtual)' "$here/said.txt")" \
        -ge 16 ] &&
        expect "the published mean of the interrupt" \
            grep -qE 'Arduino, interrupt +published +idle +500 .* 9\.07 ' "$here/said.txt" &&
        expect "on the page" grep -q 'Beside the published figures' "$here/published.html" &&
        keep "$here/published.html"
}
if have "the published experiment" avr-gcc /usr/include/simavr/sim_avr.h /usr/share/arduino; then
    try "a published experiment is repeated by one command, on one page" published
fi

all=(kmod kmod-plain kmod-threaded c-sysfs c-gpiochip c-poll rust python python-gpiod1)
# Two guests at a time: every machine has the CPUs for that.
cell() {
    local responder=$1 kernel=$2 what=$3 load=()
    [ "$what" = idle ] || load=(--load hackbench,bytes=128,groups=1)
    answer "$responder-$kernel-$what" "$responder" "x86-64/$kernel" --edges 600 "${load[@]}"
}
matrix() {
    local responder kernel what begun=$SECONDS pids=() pid
    for what in idle busy; do
        for kernel in stock rt; do
            for responder in "${all[@]}"; do
                cell "$responder" "$kernel" "$what" & pids+=($!)
                [ $((${#pids[@]} % 2)) = 1 ] || for pid in "${pids[@]: -2}"; do wait "$pid" || return 1; done
            done
        done
    done
    local runs=() one
    for one in "$here"/runs/*-idle "$here"/runs/*-busy; do runs+=("$one"); done
    expect "36 runs" [ ${#runs[@]} = 36 ] && "$lab" report "${runs[@]}" -o "$here/responders.html" &&
        expect "kernels side by side" grep -q "Kernels side by side" "$here/responders.html" &&
        keep "$here/responders.html" "${runs[@]}" &&
        echo "$((SECONDS - begun)) s" || return 1
    local where
    for where in stock-idle rt-idle stock-busy rt-busy; do
        holds "median('kmod-$where') < median('kmod-threaded-$where') < median('c-gpiochip-$where')
            < median('python-$where')" ||
            return 1
    done
    # Slower at the median, tighter in the tail.
    holds 'median("c-gpiochip-stock-idle") < median("c-gpiochip-rt-idle")' &&
        holds 'maximum("c-gpiochip-rt-busy") - median("c-gpiochip-rt-busy")
            < maximum("c-gpiochip-stock-busy") - median("c-gpiochip-stock-busy")' &&
        holds 'cpu("c-poll-rt-idle") > 1000000'
}
try "all responders on both kernels, idle and busy, in one page" matrix
sleeper() {
    answer sleeper c-gpiochip x86-64/rt --edges 600 --policy other --load hackbench,bytes=128,groups=4 &&
        holds '0 < missing("sleeper") < 300 and maximum("sleeper") > 10 * maximum("c-gpiochip-rt-busy")'
}
try "a program that sleeps at the line leaves edges unanswered without real-time priority" sleeper
if have "responders on arm64" qemu-system-aarch64 aarch64-linux-gnu-gcc; then
    if fetch arm64 stock-6.1 rt-6.1; then
        arm64() {
            local kernel
            for kernel in stock rt; do
                answer "arm-kmod-$kernel" kmod "arm64/$kernel" --edges 600 & local first=$!
                answer "arm-chip-$kernel" c-gpiochip "arm64/$kernel" --edges 600 || return 1
                wait "$first" || return 1
                holds "median('arm-kmod-$kernel') < median('arm-chip-$kernel')" || return 1
                holds "runs['arm-kmod-$kernel']['responses']['resolution_ns'] == 16" || return 1
            done
        }
        try "a module and a program on arm64" arm64
    else
        echo "SKIPPED: responders on arm64: the kernels cannot be had: $(tail -n 1 "$here/fetched")"
    fi
fi
# The i.MX board has GPIO controllers with their driver in Debian's kernel, and a wire on the host.
board_wire() {
    local kernel
    for kernel in stock rt; do
        timeout 400 "$lab" respond --gpio gpiochip0:3 --loopback gpiochip0:5 --target "lab:imx8mp-evk/$kernel" \
            --name "mxc-$kernel" --count 600 --stimulus random:10ms..20ms --window 5ms --format json \
            >"$here/mxc-$kernel.json" 2>"$here/mxc.txt" || { cat "$here/mxc.txt"; return 1; }
        holds "runs['mxc-$kernel']['answered'] + runs['mxc-$kernel']['responses']['late']
            + missing('mxc-$kernel') == 600" &&
            holds "runs['mxc-$kernel']['answered'] > 500" &&
            expect "the finding" grep -q wire-by-host "$here/mxc-$kernel.json" &&
            expect "no host in the answer" wake_up_and_answer "mxc-$kernel" || return 1
    done
    keep "$here"/runs/*_mxc-*
}
# In virtual time both are alike except for the tick, whatever the host does; the event is not checked.
wake_up_and_answer() {
    python3 tests/lab/responders.py wake_up_and_answer "$(of "$1")"
}
# The time of the wires is up to the host, so only the fate of the edges is checked.
board_pins() {
    local responder
    for responder in kmod c-gpiochip; do
        answer "mxc-$responder" "$responder" imx8mp-evk/stock --board-pins --edges 100 --stimulus random:10ms..20ms ||
            return 1
        holds "runs['mxc-$responder']['answered'] + missing('mxc-$responder') == 100
            and missing('mxc-$responder') < 20" &&
            holds "runs['mxc-$responder']['responses'].get('cpu') is None" &&
            expect "the finding" grep -q 'from line 20 to line 21' "$here/mxc-$responder.json" || return 1
    done
}
if have "the GPIO driver of a board" qemu-system-aarch64 dpkg-deb; then
    if fetch imx8mp-evk stock-6.1 rt-6.1; then
        try "a wire between two lines of a board leads over the kernel's own driver" board_wire
        try "a module and a program answer on lines of a board's own driver" board_pins
    else
        echo "SKIPPED: the GPIO driver of a board: it cannot be had: $(tail -n 1 "$here/fetched")"
    fi
fi
exit $status
