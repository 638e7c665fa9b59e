#!/usr/bin/env bash
# The program inside Debian's kernels, in QEMU, for what no test machine has:
# - the instrument timerlat on real-time kernels against rtla in the same guest: every release is
#   counted, the parts are in order, and both tools see latencies of one magnitude; 6.12 can measure
#   a thread in user space, 6.1 cannot;
# - threads that another program changes while they measure, kernel threads included;
# - starts that are not clean: a trace in use, throttling and the fair server, SCHED_DEADLINE
#   exhausted, files that are missing or read-only.
# One boot of a kernel does all its jobs. LATLAB_LONG=1 tests all kernels, unplugs CPUs, and reboots a
# campaign from the stock kernel into the real-time one. Some packages of rtla are kept in target/lab.
# Invariant (instruments): timerlat: every activation, ordered breakdown, figures like those of rtla, settings restored.
# Invariant (undo): In Debian's kernels, traces and settings of others are left as they were.
. "$(dirname "$0")/../common.bash"
. tests/lab/guest.bash
long=${LATLAB_LONG:-}
guests "guests with jobs" rt-6.1 rt-6.12 ${long:+stock-6.1 stock-6.12}
. tests/lab/rtla.bash

rtla_in_guest "guests with jobs"

if [ -n "$long" ]; then
    have "a campaign that reboots" mke2fs || exit 1
    release() { basename "$(unpacked "$1")"/boot/vmlinuz-* | sed 's/^vmlinuz-//'; }
    cat >"$guest/kernels.toml" <<SHEET
[defaults]
for = "300ms"
warm-up = "0"
[matrix]
kernel = ["$(release stock-6.1)", "$(release rt-6.1)"]
[[scenario]]
name = "idle"
SHEET
    mke2fs -q -t ext2 "$here/disk" 32M >/dev/null
fi
pack

# A guest that does jobs one after the other: jobs NAME KERNEL JOB... [-- OPTION...]
jobs_of() {
    local name=$1 kernel=$2 job
    shift 2
    : >"$here/$name.job"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        # Each begins in the same folder.
        { echo "cd /"; cat "tests/lab/guest/$1"; } >>"$here/$name.job"
        shift
    done
    [ $# = 0 ] || shift
    boot "$name" "$kernel" "$here/$name.job" "$@"
}

# Prints the results of a guest, and the end of its console if it did not finish.
told() {
    try "$1 comes to its end" grep -q "^== end" "$here/$1"
    # The output of timerlat and rtla is checked below.
    sed '/^== run/,/^== done/d' "$here/$1" | grep -v '^== end'
    grep -q "^not ok" "$here/$1" && status=1
    grep -q "^== end" "$here/$1" || tail -n 20 "$here/$1.console" "$here/$1.qemu"
}

# The stock kernel measures its row, and the real-time kernel gets the same disk.
campaign() {
    local kernel
    for kernel in stock-6.1 rt-6.1; do
        modules $kernel "$here/campaign-$kernel.files/modules" virtio virtio_ring \
            virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk crc16 mbcache jbd2 \
            crc32c_generic ext4
        jobs_of "campaign-$kernel" $kernel campaign -- -smp 1 -drive "file=$here/disk,format=raw,if=virtio"
    done
}

# Two at a time; those with two CPUs run alone, since they use the host's time.
jobs_of rt-6.1 rt-6.1 throttling timerlat lost tracefs machine &
jobs_of rt-6.12 rt-6.12 ${long:+throttling} timerlat lost ${long:+tracefs machine}
wait
all=(rt-6.1 rt-6.12)
if [ -n "$long" ]; then
    campaign &
    for kernel in stock-6.1 stock-6.12; do jobs_of $kernel $kernel throttling machine; done
    wait
    for kernel in rt-6.1 rt-6.12; do jobs_of "unplug-$kernel" $kernel unplug -- -smp 2; done
    all+=(stock-6.1 stock-6.12 unplug-rt-6.1 unplug-rt-6.12 campaign-stock-6.1 campaign-rt-6.1)
fi
for name in "${all[@]}"; do told "$name"; done

# Evaluates Python with the run, and rtla's figures in microseconds as rtla['Thr']['max'].
holds() {
    python3 tests/lab/guests.py holds "$here/$kernel" "$1"
}
for kernel in rt-6.1 rt-6.12; do
    of="on ${kernel#rt-}:"
    try "$of every activation is counted, none is lost" holds \
        "end['cycles'] + end['overruns'] == 5000 == total['cycles'] + total['overruns']
         and breakdown['tally']['known'] == breakdown['tally']['traced'] == total['cycles']
         and breakdown['tally']['events_lost'] == breakdown['tally']['unsound'] == run['losses']['cycles'] == 0"
    try "$of the run is whole, and the tracer's settings are as before" holds \
        "after.startswith(' 0\n') and ': ok' in after and 'settings restored' in said"
    try "$of the interrupt comes before the thread, and both before the latency" holds \
        "0 <= irq['min_ns'] and irq['p50_ns'] <= thread['p50_ns'] <= p50
         and thread['max_ns'] <= total['max_ns'] and all(
             l['breakdown']['irq_ns'] <= l['breakdown']['thread_ns'] <= l['latency_ns'] for l in breakdown['largest'])"
    try "$of rtla sees thread latencies of the same size" holds \
        "near(thread['p50_ns'], rtla['Thr']['avg'], 2) and near(thread['max_ns'], rtla['Thr']['max'], 4)"
done
kernel=rt-6.1
try "6.1 measures its own thread, and says so" holds \
    "settings['breakdown of timerlat'] == 'IRQ, kernel thread' and p50 == thread['p50_ns']"
kernel=rt-6.12
try "6.12 measures a thread in user space, which takes longer, and says so" holds \
    "settings['breakdown of timerlat'] == 'IRQ, thread, user' and p50 > thread['p50_ns']"
try "rtla sees user latencies of the same size" holds \
    "near(p50, rtla['Usr']['avg'], 2) and near(total['max_ns'], rtla['Usr']['max'], 4)"
exit $status
