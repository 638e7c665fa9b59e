#!/usr/bin/env bash
# A board of another architecture: an arm64 guest with Debian's kernel and dropbear, measured over ssh by the
# program for x86-64 alone. QEMU forwards one port of 127.0.0.1; no service of the system is touched.
# The guest is switched off in the middle of a detached run, which is collected after it is on again.
# Only in the long form (LATLAB_LONG=1), since it takes minutes.
. "$(dirname "$0")/../common.bash"
[ -n "${LATLAB_LONG:-}" ] || { echo "ok the arm64 guest over ssh belongs to the long form"; exit 0; }
have "an arm64 guest over ssh" qemu-system-aarch64 dpkg-deb ssh ssh-keygen dropbearkey mkfs.ext4 busybox || exit 0
. tests/lab/board.bash
. tests/lab/laboratory.bash
laboratory "an arm64 guest over ssh"
program=$lab
export LATLAB_RUNS=$here/runs
fetch arm64 stock-6.1 || skip "an arm64 guest over ssh: its kernel cannot be had: $(tail -n 1 "$here/fetched")"

cache=${LATLAB_LAB:-$HOME/.cache/latlab/lab}
kernel=$cache/kernels/arm64/stock-6.1
guest=$here/guest

# Debian's packages for the guest, from the package lists that `latlab lab fetch` has made.
packages() {
    local apt=$cache/apt/arm64
    local options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::status=/dev/null
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt" -o "Dir::Etc::sourcelist=$apt/sources.list"
        -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=)
    mkdir -p "$here/packages" "$guest"
    (
        cd "$here/packages" && flock "$apt/lock" sh -c 'apt-get -qq "$@" update && apt-get -qq "$@" download \
            dropbear-bin libtomcrypt1 libtommath1 libgmp10 libcrypt1 zlib1g libc6 busybox-static' sh "${options[@]}"
    ) && for package in "$here"/packages/*.deb; do dpkg-deb -x "$package" "$guest" || return 1; done
}

lay_out() {
    local name number=10
    # The symbolic links of Debian's root folder.
    rm -rf "$guest/usr/share" && mkdir -p "$guest"/{proc,sys,dev,run,tmp,root/.ssh,etc/dropbear,modules,disk}
    # In the order of their dependencies.
    for name in failover net_failover virtio_mmio virtio_net virtio_blk crc16 crc32c_generic libcrc32c mbcache jbd2 \
        ext4; do
        cp "$(find "$kernel/lib/modules" -name "$name.ko" | head -n 1)" "$guest/modules/$((number += 1))-$name.ko" ||
            return 1
    done
    dropbearkey -t ed25519 -f "$guest/etc/dropbear/key" >/dev/null 2>&1
    ssh-keygen -q -t ed25519 -N '' -f "$here/key"
    cp "$here/key.pub" "$guest/root/.ssh/authorized_keys"
    chmod 700 "$guest/root" "$guest/root/.ssh" && chmod 600 "$guest/root/.ssh/authorized_keys"
    echo 'root:x:0:0:root:/root:/bin/sh' >"$guest/etc/passwd"
    echo /bin/sh >"$guest/etc/shells"
    cat >"$guest/init" <<'INIT'
#!/bin/busybox sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root
/bin/busybox mkdir -p /sbin /usr/sbin
/bin/busybox --install -s
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs run /run
for module in /modules/*; do insmod "$module"; done
until [ -e /dev/vda ]; do sleep 1; done
mount -t ext4 /dev/vda /disk && mkdir -p /disk/cache && ln -s /disk/cache /root/.cache
ifconfig lo 127.0.0.1 up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
echo ready
dropbear -F -E -s -r /etc/dropbear/key -p 22 &
while :; do wait; sleep 1; done
INIT
    chmod 755 "$guest/init"
    (cd "$guest" && find . | busybox cpio -o -H newc -R 0:0 2>/dev/null | gzip -1) >"$here/guest.cpio.gz"
    truncate -s 64M "$here/disk" && mkfs.ext4 -q "$here/disk"
}

switch_on() {
    qemu-system-aarch64 -machine virt,gic-version=3 -cpu cortex-a53 -smp 2 -m 512 -nodefaults -display none -no-reboot \
        -kernel "$kernel"/boot/vmlinuz-* -initrd "$here/guest.cpio.gz" -append "console=ttyAMA0 quiet panic=-1" \
        -netdev "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" -device virtio-net-device,netdev=net \
        -drive "file=$here/disk,format=raw,if=none,id=disk,cache=writethrough" -device virtio-blk-device,drive=disk \
        -serial "file:$here/console" </dev/null >"$here/qemu" 2>&1 &
    qemu=$!
    until_holds 180 "a guest that answers" answers || { cat "$here/qemu"; tail -n 20 "$here/console"; return 1; }
}
answers() { kill -0 "$qemu" && timeout 20 $LATLAB_SSH -p "$port" root@127.0.0.1 true </dev/null; }

status_holds() {
    "$program" target status "$board" --format json >"$here/status.json" && holds_in "$here/status.json" "" "$1"
}
is_told_apart() {
    status_holds "run['machine'] == 'aarch64' and run['cpus'] == 2 and run['right'] == 'root'
        and not run['has_agent']"
}
is_measured() {
    "$program" run --quiet --format json --target "$board" --cpus 1 -i 2ms --for 10s --deadline 100ms \
        --name arm64 >"$here/run.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "a run" [ "$code" = 0 ] &&
        holds "run['machine']['architecture'] == 'aarch64' and run['machine']['kernel'].endswith('-arm64')
            and run['total']['cycles'] > 3000 and run['conditions']
            and all(one['asked'] == one['applied'] for one in run['applied']['settings'] if one['what'] == 'ssh server')
            and any(one['what'] == 'ssh server' for one in run['applied']['settings'])" &&
        "$program" show last --all >"$here/shown" && cat "$here/shown" &&
        status_holds "run['has_agent'] and not run['runs']"
}
is_examined() { "$program" doctor --target "$board" --format json >"$here/doctor.json" && [ -s "$here/doctor.json" ]; }
goes_on_without_the_link() {
    "$program" run --detach --format json --target "$board" --cpus 1 -i 2ms --for 5s --name far >"$here/begun.json" &&
        until_holds 60 "a run that ends" \
        status_holds "[one['state'] for one in run['detached']] == ['ended']" || return 1
    "$program" collect "$board" --format json >"$here/collected.json" && collected &&
        holds "run['total']['cycles'] + run['total']['overruns'] == 2500 and run['asked']['on']['detached']" &&
        status_holds "not run['detached']"
}
collected() { "$program" show \
    "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0]["path"])' "$here/collected.json")" \
    --format json >"$here/run.json"; }
# Invariant (boards): A run is brought home after the board lost its power.
after_a_power_cut() {
    "$program" run --detach --format json --target "$board" --cpus 1 -i 2ms --set kernel.panic_on_oops=1 \
        --name cut >"$here/begun.json" || return 1
    # Longer than the interval between syncs of the stream.
    sleep 20
    # Like a power cut.
    kill -9 "$qemu"
    { wait "$qemu"; } 2>/dev/null
    "$program" collect "$board" >"$here/said-nothing" 2>"$here/errors"
    expect "exit code 3" [ $? = 3 ] && expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] && cat "$here/errors"
    switch_on && status_holds "[one['state'] for one in run['detached']] == ['cut']" || return 1
    "$program" collect "$board" --format json >"$here/collected.json" 2>"$here/errors"
    cat "$here/errors"
    collected && holds "run['recovered'] and run['total']['cycles'] > 2500
        and any(one['code'] == 'board-lost' and 'the board went down' in one['reason'] for one in run['findings'])" &&
        python3 tests/lab/boards.py measured "$here/run.json" &&
        status_holds "not run['detached']"
}

port=$(free_port)
board=ssh://root@127.0.0.1:$port
try "Debian's packages for arm64 can be had" packages
try "a guest is laid out" lay_out
printf '%s\n' "IdentityFile $here/key" "IdentitiesOnly yes" "UserKnownHostsFile $here/known" \
    'GlobalKnownHostsFile /dev/null' 'StrictHostKeyChecking accept-new' >"$here/config"
export LATLAB_SSH="ssh -F $here/config"
qemu=
trap '[ -z "$qemu" ] || kill -9 "$qemu" 2>/dev/null; rm -rf "$here"' EXIT
try "it answers over ssh" switch_on
[ "$status" = 0 ] || exit 1
try "its machine is found out" is_told_apart
try "it is measured with the agent for arm64 that the program carries" is_measured
[ -z "${LATLAB_SHOW:-}" ] || cat "$here/shown"
try "it is examined" is_examined
try "it measures without the link, and is collected" goes_on_without_the_link
try "a run that lost its power is collected after the next start" after_a_power_cut
[ -z "${LATLAB_SHOW:-}" ] || cat "$here/tried"
exit $status
