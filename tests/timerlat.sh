#!/usr/bin/env bash
# The instrument timerlat on Debian's real-time kernels 6.1 and 6.12, each booted in QEMU in virtual
# time, beside rtla in the same guest: every activation is counted, the legs are in their order, and
# both tools see latencies of one size. 6.12 lets a thread in user space be measured, 6.1 does not.
# Takes two minutes, and some packages of rtla's once, which stay in target/lab.
# Invariant (instruments): timerlat: every activation, ordered legs, figures like those of rtla, settings restored.
. "$(dirname "$0")/common.bash"
. tests/guest.bash
guests "timerlat beside rtla" rt-6.1 rt-6.12
lab=$PWD/target/lab

# An apt of our own, which knows Debian 13 whatever this machine is, and installs nothing.
our_apt() {
    apt-get -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
        -o Dir::State::status=/dev/null -o Dir::State::lists="$lab/lists" -o Dir::Cache="$lab" \
        -o Dir::Etc::sourcelist="$lab/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o APT::Sandbox::User= "$@"
}

# Downloads a package, unless its newest version is there, and names its file.
package() {
    mkdir -p "$lab/$1"
    (cd "$lab/$1" && our_apt download "$1" >&2) && ls -t "$lab/$1"/*.deb | head -n 1
}

mkdir -p "$lab/lists/partial" "$lab/archives/partial"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
    grep -v security | head -n 1)
[ -n "$mirror" ] || skip "timerlat beside rtla: apt knows no mirror of Debian"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
    >"$lab/sources.list"
our_apt update >"$here/apt" 2>&1 ||
    skip "timerlat beside rtla: $mirror cannot be reached: $(tail -n 1 "$here/apt")"

# What both guests hold: rtla of 6.12 with its libraries, which knows older kernels as well.
mkdir -p "$guest"/usr/{bin,lib,lib64}
ln -s usr/lib "$guest/lib"
ln -s usr/lib64 "$guest/lib64"
for name in libc6 libgcc-s1 libtraceevent1 libtracefs1 rtla; do
    archive=$(package "$name") || skip "timerlat beside rtla: the package $name cannot be had"
    dpkg-deb --fsys-tarfile "$archive" |
        tar -x -C "$guest" --keep-directory-symlink --exclude='*/gconv/*' --exclude='./usr/share/*'
done
pack

export LIMIT=400
boot rt-6.1 rt-6.1 tests/guest/timerlat &
old=$!
try "6.12 boots and ends" boot rt-6.12 rt-6.12 tests/guest/timerlat
try "6.1 boots and ends" wait "$old"

# Python that knows the run, and rtla's figures in microseconds as rtla['Thr']['max'].
holds() {
    python3 - "$here/$kernel" "$1" <<'PYTHON'
import json, re, sys
said = open(sys.argv[1]).read()
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
for kernel in rt-6.1 rt-6.12; do
    of="on ${kernel#rt-}:"
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
kernel=rt-6.1
try "6.1 measures its own thread, and says so" holds \
    "settings['legs of timerlat'] == 'IRQ, kernel thread' and p50 == thread['p50_ns']"
kernel=rt-6.12
try "6.12 measures a thread in user space, which takes longer, and says so" holds \
    "settings['legs of timerlat'] == 'IRQ, thread, user' and p50 > thread['p50_ns']"
try "rtla sees user latencies of the same size" holds \
    "near(p50, rtla['Usr']['avg'], 2) and near(total['max_ns'], rtla['Usr']['max'], 4)"
exit $status
