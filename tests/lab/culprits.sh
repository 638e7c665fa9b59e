#!/usr/bin/env bash
# Culprits that delay a measured thread, planted in guests and named by --explain: threads, softirqs,
# disabled interrupts, timers, workers, printing, page faults and others; ten of them, each once, on
# a stock kernel. LATLAB_LONG=1 plants all on each kernel in 20 runs, and with two CPUs also those that
# need them, and asks rtla as well; LATLAB_ONLY="WHAT..." and LATLAB_KERNELS="KERNEL..." limit that,
# LATLAB_REPEATS=N sets the number of runs, and LATLAB_KEEP=DIR keeps the results of each there, for
# benches/explain.py. LATLAB_QEMU=FILE selects another QEMU; from 10 on, two CPUs have virtual time with it,
# in which the host's other work does not show.
# Invariant (instruments): explain: each planted culprit is named as the first cause of its run.
. "$(dirname "$0")/../common.bash"
. tests/lab/guest.bash
have "planted culprits" gcc make || exit 0
. tests/lab/laboratory.bash
. tests/lab/rtla.bash
laboratory "planted culprits"
kernels=(${LATLAB_KERNELS:-stock-6.1 ${LATLAB_LONG:+rt-6.1 rt-6.12}})
guests "planted culprits" "${kernels[@]}"
[ -z "${LATLAB_LONG:-}" ] || export LIMIT=7200

# The guest's fault builds a module, for which it gets the kernel's headers.
module() {
    local kernel=$1 folder=$here/$1.files release headers
    "$lab" run --target "lab:x86-64/$kernel" --fault irqs-off@200ms:2ms --explain --spike-above 1ms --for 500ms \
        --seed 1 --format json --out "$here/runs" -q >"$here/$kernel.json" || return 1
    release=$(basename "$(unpacked "$kernel")"/boot/vmlinuz-* | sed 's/^vmlinuz-//')
    headers=$(find "${LATLAB_LAB:-$HOME/.cache/latlab/lab}/headers/amd64" -type d \
        -path "*/usr/src/linux-headers-$release" | head -n 1)
    mkdir -p "$folder" "$here/$kernel.module"
    cp tests/lab/culprits/culprit_module.c "$here/$kernel.module/culprit.c"
    echo "obj-m := culprit.o" >"$here/$kernel.module/Kbuild"
    env -u MAKEFLAGS -u MAKELEVEL \
        make -s -C "$headers" M="$here/$kernel.module" CONFIG_DEBUG_INFO_BTF_MODULES= modules &&
        cp "$here/$kernel.module/culprit.ko" "$folder/"
}
for kernel in "${kernels[@]}"; do
    try "$kernel: its headers build a module of culprits" module "$kernel"
    [ -e "$here/$kernel.files/culprit.ko" ] || exit 1
    try "$kernel: interrupts that a fault keeps off are the first cause" holds_in "$here/$kernel.json" \
        'causes = run["explanation"]["causes"]' 'causes[0]["cause"]["kind"] == "interrupts-off"'
    echo "${LATLAB_REPEATS:-$([ -z "${LATLAB_LONG:-}" ] && echo 1 || echo 20)}" >"$here/$kernel.files/repeats"
    only=${LATLAB_ONLY:-${LATLAB_LONG:+all}}
    [ -n "$only" ] || case $kernel in
        stock*) only="fifo irqs-off faults flood printk timer work nmi stop overwritten" ;;
        rt*) only="deadline preempt-off hrtimer irq irq-thread stop-machine freeze throttling disturbed" ;;
    esac
    [ "$only" = all ] || tr ' ' '\n' <<<"$only" >"$here/$kernel.files/only"
done
gcc -O1 -Wall -Wextra -static -pthread -o "$guest/bin/culprit" tests/lab/culprits/culprit.c || exit 1
[ -z "${LATLAB_LONG:-}" ] || rtla_in_guest "culprits against rtla"
pack

# Stops a guest as a hypervisor does, for as long as it asks for.
pauses() {
    local guest_id
    while sleep 0.08; do
        guest_id=$(pgrep -f "^qemu.*:$here/$1.console") ||
            { [ -e "$here/$1.ended" ] || [ ! -d "$here" ] && return; continue; }
        [ "$(tail -n 1 "$here/$1" 2>/dev/null | tr -d '\r')" = "== pauses" ] || continue
        kill -STOP "$guest_id"
        sleep 0.02
        kill -CONT "$guest_id"
    done
}

plant() {
    boot "$1" "${1%-two}" tests/lab/guest/culprits "${@:2}"
    : >"$here/$1.ended"
    grep -v '^== ' "$here/$1"
    grep -q "^== end" "$here/$1" ||
        { echo "not ok $1 comes to its end"; tail -n 20 "$here/$1.console" "$here/$1.qemu"; return 1; }
    [ -z "${LATLAB_KEEP:-}" ] || tr -d '\r' <"$here/$1" >>"$LATLAB_KEEP/$1.txt"
    ! grep -q "^not ok" "$here/$1"
}
running=()
for kernel in "${kernels[@]}"; do plant "$kernel" & running+=($!); done
for one in "${running[@]}"; do wait "$one" || status=1; done
[ -n "${LATLAB_LONG:-}" ] || exit $status
for kernel in "${kernels[@]}"; do
    cp -r "$here/$kernel.files" "$here/$kernel-two.files"
    if [ -n "${LATLAB_QEMU:-}" ]; then : >"$here/$kernel-two.files/virtual"; else pauses "$kernel-two" & fi
    plant "$kernel-two" -smp 2 || status=1
done
exit $status
