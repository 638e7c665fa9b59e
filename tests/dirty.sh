#!/usr/bin/env bash
# The program inside Debian's kernels, in QEMU, from starts that no test machine has: a trace that
# others use, throttling and the fair server, SCHED_DEADLINE used up, files that are missing or
# read-only. LATLAB_LONG=1 takes all kernels, unplugs CPUs, and reboots a campaign from the stock
# kernel into the real-time one.
# Invariant (undo): In Debian's kernels, traces and settings of others are left as they were.
. "$(dirname "$0")/common.bash"
. tests/guest.bash
long=${LATLAB_LONG:-}
guests "dirty starts" rt-6.1 ${long:+stock-6.1 stock-6.12 rt-6.12}
if [ -n "$long" ]; then
    command -v mke2fs >/dev/null || skip "dirty starts: needs mke2fs (e2fsprogs)"
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

# A guest that does a job: job JOB KERNEL [OPTION]...
job() { boot "$1-$2" "$2" "tests/guest/$1" "${@:3}"; }

# Prints what it has tried, and the last of its console where it did not come to its end.
told() {
    local name=$1-$2
    try "$1 of $2 comes to its end" grep -q "^== end" "$here/$name"
    grep -v "^== end" "$here/$name"
    grep -q "^not ok" "$here/$name" && status=1
    grep -q "^== end" "$here/$name" || tail -n 20 "$here/$name.console" "$here/$name.qemu"
}

# The stock kernel measures its row, and the real-time kernel finds the same disk.
campaign() {
    local kernel
    for kernel in stock-6.1 rt-6.1; do
        modules $kernel "$here/campaign-$kernel.files/modules" virtio virtio_ring \
            virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk crc16 mbcache jbd2 \
            crc32c_generic ext4
        job campaign $kernel -smp 1 -drive "file=$here/disk,format=raw,if=virtio"
    done
}

# Two at a time; those with two CPUs alone, since their time is that of the host.
if [ -z "$long" ]; then
    job machine rt-6.1 & job tracefs rt-6.1
    wait
else
    { job machine rt-6.1; job tracefs rt-6.12; campaign; } &
    job tracefs rt-6.1
    for kernel in rt-6.12 stock-6.1 stock-6.12; do job machine $kernel; done
    wait
    for kernel in rt-6.1 rt-6.12; do job unplug $kernel -smp 2; done
fi
told machine rt-6.1
told tracefs rt-6.1
if [ -n "$long" ]; then
    told tracefs rt-6.12
    for kernel in rt-6.12 stock-6.1 stock-6.12; do told machine $kernel; done
    for kernel in rt-6.1 rt-6.12; do told unplug $kernel; done
    for kernel in stock-6.1 rt-6.1; do told campaign $kernel; done
fi
exit $status
