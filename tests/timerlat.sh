#!/usr/bin/env bash
# The instrument timerlat on Debian's real-time kernels 6.1 and 6.12, each booted in QEMU in virtual
# time, beside rtla in the same guest: every activation is counted, the legs are in their order, and
# both tools see latencies of one size. 6.12 lets a thread in user space be measured, 6.1 does not.
# Takes two minutes, and 200 MB of packages once, which stay in target/lab.
. "$(dirname "$0")/common.bash"
skip() {
    echo "SKIPPED: timerlat in real-time kernels: $*"
    exit 0
}
lab=$PWD/target/lab
for tool in apt-get dpkg-deb qemu-system-x86_64 busybox file; do
    command -v "$tool" >/dev/null || skip "needs $tool (scripts/setup.sh test lab)"
done
file -bL "$program" | grep -q 'x86-64.*static' || skip "$program is no static program for x86-64"

# An apt of our own, which knows both releases whatever this machine is, and installs nothing.
our_apt() {
    local command=$1
    shift
    "$command" -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
        -o Dir::State::status=/dev/null -o Dir::State::lists="$lab/lists" -o Dir::Cache="$lab" \
        -o Dir::Etc::sourcelist="$lab/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o APT::Sandbox::User= "$@"
}

# Downloads a package, unless its newest version is there, and names its file.
package() {
    mkdir -p "$lab/$1"
    (cd "$lab/$1" && our_apt apt-get download "$1" >&2) && ls -t "$lab/$1"/*.deb | head -n 1
}

# The newest kernel of a series.
kernel() {
    our_apt apt-cache pkgnames linux-image-"$1" | grep -E "^linux-image-$1[0-9.+a-z-]*-rt-amd64$" |
        sort -V | tail -n 1
}

mkdir -p "$lab/lists/partial" "$lab/archives/partial"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
    grep -v security | head -n 1)
[ -n "$mirror" ] || skip "apt knows no mirror of Debian"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
for release in bookworm trixie; do
    echo "deb [signed-by=$keys] $mirror $release main"
done >"$lab/sources.list"
our_apt apt-get update >"$here/apt" 2>&1 || skip "$mirror cannot be reached: $(tail -n 1 "$here/apt")"

# What both guests hold: rtla of 6.12 with its libraries, which knows older kernels as well.
guest=$here/guest
mkdir -p "$guest"/{bin,dev,proc,run,sys,tmp,usr/lib,usr/lib64,usr/bin}
ln -s usr/lib "$guest/lib"
ln -s usr/lib64 "$guest/lib64"
for name in libc6 libgcc-s1 libtraceevent1 libtracefs1 rtla; do
    archive=$(package "$name") || skip "the package $name cannot be had"
    dpkg-deb --fsys-tarfile "$archive" |
        tar -x -C "$guest" --keep-directory-symlink --exclude='*/gconv/*' --exclude='./usr/share/*'
done
cp "$(command -v busybox)" "$guest/bin/busybox"
strip -o "$guest/bin/latlab" "$program" 2>/dev/null || cp "$(realpath "$program")" "$guest/bin/latlab"
cat >"$guest/init" <<'GUEST'
#!/bin/busybox sh
export PATH=/bin:/sbin:/usr/bin HOME=/tmp
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /tmp; mount -t tmpfs tmpfs /run; mkdir -p /run/lock
mount -t tracefs tracefs /sys/kernel/tracing; cd /sys/kernel/tracing/osnoise
settings() { grep -s . cpus options print_stack stop_* timerlat_period_us; ls ../instances; }
legs=-k; [ -e per_cpu/cpu0/timerlat_fd ] && legs=-u
before=$(settings)
echo "== run"
latlab run --quiet --instrument timerlat -i 1ms --for 5s --format json --out /tmp/runs
echo "== exit $?"
latlab verify --out /tmp/runs last
echo "== rtla $legs"
[ "$before" = "$(settings)" ] && echo "settings restored"
rtla timerlat hist $legs -c 0 -P f:90 -p 1000 -d 5s 2>&1
echo "== end"
poweroff -f
GUEST
chmod +x "$guest/init"
(cd "$guest" && find . | busybox cpio -o -H newc 2>/dev/null) >"$here/initramfs"

for series in 6.1. 6.12.; do
    archive=$(package "$(kernel "$series")") || skip "the kernel $series* cannot be had"
    mkdir -p "$here/$series"
    dpkg-deb --fsys-tarfile "$archive" |
        tar -x -C "$here/$series" --wildcards './boot/vmlinuz-*'
done

# Boots a kernel; what the guest says goes to a file.
boot() {
    timeout 400 qemu-system-x86_64 -accel tcg -icount shift=0,sleep=off -cpu max,-rdrand,-rdseed \
        -m 512 -smp 1 -nodefaults -no-reboot -display none -seed 1 -rtc base=2020-01-01,clock=vm \
        -serial stdio -kernel "$here/$1"/boot/vmlinuz-* -initrd "$here/initramfs" \
        -append "console=ttyS0 quiet panic=-1 nokaslr norandmaps" </dev/null >"$here/said-$1" 2>&1
}
boot 6.1. &
old=$!
try "6.12 boots and ends" boot 6.12.
try "6.1 boots and ends" wait "$old"

# Python that knows the run, and rtla's figures in microseconds as rtla['Thr']['max'].
holds() {
    python3 - "$here/said-$kernel" "$1" <<'PYTHON'
import json, re, sys
said = open(sys.argv[1]).read().replace("\r", "")
part = lambda start, end: said.split("== " + start, 1)[1].split("== " + end, 1)[0]
run = json.loads(part("run\n", "exit"))
after = part("exit", "rtla")
rows = {line.split()[0].rstrip(":"): line.split()[1:] for line in part("rtla", "end").splitlines()
        if re.match(r"Index|count:|min:|avg:|max:", line)}
rtla = {column.split("-")[0]: {row: int(rows[row][at]) for row in ("count", "min", "avg", "max")}
        for at, column in enumerate(rows["Index"])}
end, total, legs = run["threads"][0]["end"], run["total"], run["legs"]
irq, thread = legs["threads"][0]["irq"], legs["threads"][0]["thread_leg"]
settings = {one["what"]: one["applied"] for one in run["applied"]["settings"]}
p50 = total["quantiles"]["p50_ns"]
# rtla cuts to whole microseconds; one sample each, so that maxima are of one size only.
near = lambda ns, us, factor: us / factor - 1 <= ns / 1000 <= (us + 1) * factor
figures = [end, total, irq, thread, rtla, settings, legs["tally"], run["losses"], after]
sys.exit(0 if eval(f"({sys.argv[2]})") else json.dumps(figures))
PYTHON
}
for kernel in 6.1. 6.12.; do
    of="on ${kernel%.}:"
    try "$of every activation is counted, none is lost" holds \
        "end['cycles'] + end['missed'] == 5000 == total['cycles'] + total['missed']
         and legs['tally']['known'] == legs['tally']['traced'] == total['cycles']
         and legs['tally']['events_lost'] == legs['tally']['unsound'] == run['losses']['cycles'] == 0"
    try "$of the run is whole, and the tracer's settings are as before" holds \
        "after.startswith(' 0\n') and ': ok' in after and 'settings restored' in said"
    try "$of the interrupt comes before the thread, and both before the latency" holds \
        "0 <= irq['min_ns'] and irq['p50_ns'] <= thread['p50_ns'] <= p50
         and thread['max_ns'] <= total['max_ns'] and all(
             l['legs']['irq_ns'] <= l['legs']['thread_ns'] <= l['latency_ns'] for l in legs['largest'])"
    try "$of rtla sees thread latencies of the same size" holds \
        "near(thread['p50_ns'], rtla['Thr']['avg'], 2) and near(thread['max_ns'], rtla['Thr']['max'], 4)"
done
kernel=6.1.
try "6.1 measures its own thread, and says so" holds \
    "settings['legs of timerlat'] == 'IRQ, kernel thread' and p50 == thread['p50_ns']"
kernel=6.12.
try "6.12 measures a thread in user space, which takes longer, and says so" holds \
    "settings['legs of timerlat'] == 'IRQ, thread, user' and p50 > thread['p50_ns']"
try "rtla sees user latencies of the same size" holds \
    "near(p50, rtla['Usr']['avg'], 2) and near(total['max_ns'], rtla['Usr']['max'], 4)"
exit $status
