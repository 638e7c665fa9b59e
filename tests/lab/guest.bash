# A script's guests in QEMU: kernels that `latlab lab fetch` gets, with busybox, the program and a
# shell script as their job; to be sourced after common.bash. $guest is the folder that
# becomes their file system; tests/lab/guest/init is their first process.
guest=$here/guest

# Checks what guests need, gets kernels, and lays out the file system: guests NAME KERNEL...
guests() {
    local name=$1 kernel
    shift
    have "$name" qemu-system-x86_64 busybox file dpkg-deb || exit 0
    command -v apt-get >/dev/null || skip "$name: needs apt-get, which gets the kernels"
    file -bL "$program" | grep -q 'x86-64.*static' ||
        skip "$name: $program is no static program for x86-64"
    for kernel; do
        [ -n "$(image "$kernel")" ] ||
            timeout 600 "$program" lab fetch "x86-64/$kernel" >"$here/fetched" 2>&1 ||
            skip "$name: the kernel $kernel cannot be had: $(tail -n 1 "$here/fetched")"
    done
    mkdir -p "$guest"/{bin,dev,proc,run,sys,tmp}
    cp "$(command -v busybox)" "$guest/bin/busybox"
    cp "$(realpath "$program")" "$guest/bin/latlab"
    cp tests/lab/guest/init "$guest/init"
}

# Where a kernel was unpacked, and its image; an uncompressed image, if there is one, boots in half the time.
unpacked() { echo "${LATLAB_LAB:-$HOME/.cache/latlab/lab}/kernels/amd64/$1"; }
image() { ls "$(unpacked "$1")"/boot/vmlinu[xz]* 2>/dev/null | head -n 1; }

# Copies those of these modules that are not built into a kernel to a folder, numbered in this order:
# modules KERNEL FOLDER NAME...
modules() {
    local kernel=$1 folder=$2 name file number=10
    shift 2
    mkdir -p "$folder"
    for name; do
        file=$(find "$(unpacked "$kernel")/lib/modules" -name "$name.ko*" | head -n 1)
        case $file in
            *.xz) xz -dc "$file" >"$folder/$((number += 1))-$name.ko" ;;
            *.ko) cp "$file" "$folder/$((number += 1))-$name.ko" ;;
        esac
    done
}

archive() { (cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null); }

# Packs the finished file system.
pack() { archive "$guest" >"$here/guest.cpio"; }

# Boots a kernel with a job, at a slightly lower priority than the rest of the host, and in virtual time unless
# QEMU's options set the number of CPUs; with LATLAB_QEMU, a QEMU from 10 on, two CPUs also have virtual time,
# in turns: boot NAME KERNEL JOB [OPTION]... The output of the job is then in $here/NAME, that of the kernel in
# $here/NAME.console; the files in $here/NAME.files are in this guest alone.
boot() {
    local name=$1 kernel=$2 job=$3 time=(-smp 1 -icount shift=0,sleep=off) threads=single
    shift 3
    # CPUs that take turns on one of the host would each pause for a tenth of a second.
    case "${LATLAB_QEMU:-none} $* " in "none "*" -smp "* | "none -smp "*) time=() threads=multi ;; esac
    mkdir -p "$here/$name.files"
    cp "$job" "$here/$name.files/job"
    archive "$here/$name.files" | cat "$here/guest.cpio" - >"$here/$name.cpio"
    timeout --kill-after=5 "${LIMIT:-2700}" nice -n "${LATLAB_NICE:-2}" "${LATLAB_QEMU:-qemu-system-x86_64}" \
        -accel "tcg,thread=$threads" "${time[@]}" \
        -cpu max,-rdrand,-rdseed,-erms,-fsrm -m 512 -nodefaults -no-reboot -display none -seed 1 \
        -rtc base=2020-01-01,clock=vm -serial "file:$here/$name.console" -serial "file:$here/$name" \
        -kernel "$(image "$kernel")" -initrd "$here/$name.cpio" "$@" \
        -append "console=ttyS0 quiet panic=-1 nokaslr norandmaps" </dev/null >"$here/$name.qemu" 2>&1
}
