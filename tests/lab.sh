#!/usr/bin/env bash
# Guests in virtual time: Debian's kernels, stock and PREEMPT_RT, measured in QEMU. The same seed
# gives the same tables, the run says what it is, loads run in the guest, and nothing is left of one
# that is killed. LATLAB_LONG=1 adds loads on both kernels, the sheet, and arm64.
. "$(dirname "$0")/common.bash"
skip() {
    echo "SKIPPED: the laboratory: $*"
    exit 0
}
for tool in apt-get dpkg-deb qemu-system-x86_64; do
    command -v "$tool" >/dev/null || skip "needs $tool (scripts/setup.sh lab)"
done
# Only what `make dist` builds carries the agents that guests need.
for candidate in "$program" dist/latlab-*-linux-x86-64; do
    [ -x "$candidate" ] && "$candidate" agent --write x86_64 -o "$here/agent" >/dev/null 2>&1 &&
        lab=$(realpath "$candidate")
done
[ -n "${lab:-}" ] || skip "$program carries no agents: scripts/dist.sh makes one that does"
timeout 300 "$lab" lab fetch x86-64/stock x86-64/rt >"$here/fetched" 2>&1 ||
    skip "the kernels cannot be had: $(tail -n 1 "$here/fetched")"

# A run of a guest: measure NAME KERNEL [OPTION]...
measure() {
    local name=$1 kernel=$2
    shift 2
    timeout 280 "$lab" run --target "lab:$kernel" --name "$name" --out "$here/runs" -q "$@" \
        >"$here/$name.txt" 2>&1 || { cat "$here/$name.txt"; return 1; }
}
of() { echo "$here"/runs/*_"$1"; }
# What must be the same: everything that was counted, and what the kernel said.
bits() { (cd "$(of "$1")" && sha256sum histogram.parquet intervals.parquet spikes.parquet console.txt); }

twice() {
    measure "$1-a" "$2" --seed 1 --for 1s & measure "$1-b" "$2" --seed 1 --for 1s
    wait $! || return 1
    bits "$1-a" >"$here/a" && bits "$1-b" >"$here/b" || return 1
    expect "the same bits: $(paste "$here/a" "$here/b")" cmp -s "$here/a" "$here/b"
}
try "one seed twice on stock: the same to the last bit" twice stock x86-64/stock
try "one seed twice on PREEMPT_RT: the same to the last bit" twice rt x86-64/rt

says() {
    expect "virtual time in $1" grep -q "virtual time" "$here/$1.txt" &&
        expect "how to repeat it" grep -q -- "--target lab:x86-64/$2-6.1 .*--seed 1" "$here/$1.txt" &&
        expect "the name of the guest" grep -q "lab:x86-64/$2-6.1" "$(of "$1")/run.json" &&
        expect "the console among the files" grep -q '"console.txt"' "$(of "$1")/run.json" &&
        expect "no archive" test ! -e "$(of "$1")/initrd" && "$lab" verify "$(of "$1")"
}
try "a run of a guest says what it is and is whole" says rt-a rt

guests() { pgrep -f "qemu-system-x86_64.*file:$here/" >/dev/null; }
gone() {
    "$lab" run --target lab:x86-64/rt --out "$here/runs" -q --for 1h >/dev/null 2>&1 &
    local pid=$! waited=0
    until guests || [ $((waited += 1)) -gt 200 ]; do sleep 0.1; done
    expect "a guest" guests || return 1
    kill -KILL "$pid"
    waited=0
    while guests && [ $((waited += 1)) -lt 100 ]; do sleep 0.1; done
    if guests; then echo "expected: no guest is left"; return 1; fi
}
try "a killed latlab leaves no guest behind" gone

kept() {
    measure cut x86-64/rt --seed 1 --for 1h & local pid=$!
    until [ -n "$(find "$here"/runs -path '*cut*' -name journal -size +40k 2>/dev/null)" ]; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.2
    done
    pkill -INT -P "$pid" timeout
    wait "$pid"
    expect "an interrupted run" grep -q '"ended": "interrupted"' "$(of cut)/run.json"
}
try "Ctrl-C keeps what a guest has measured" kept

if [ -n "${LATLAB_LONG:-}" ]; then
    loaded() {
        measure "load-$1" "x86-64/$1" --seed 1 --for 2s --load hackbench,groups=1 &&
            expect "context switches" grep -q "context-switches" "$(of "load-$1")/run.json"
    }
    try "hackbench runs in a stock guest" loaded stock
    try "hackbench runs in a real-time guest" loaded rt
    sheet() { "$lab" lab stress-five --out "$here/runs" -q | tee "$here/table" | grep -q hackbench; }
    try "five loads on both kernels end in a table" sheet
    arm() {
        "$lab" lab fetch arm64/stock arm64/rt >/dev/null && twice arm arm64/stock &&
            twice arm-rt arm64/rt
    }
    try "one seed twice on arm64: the same to the last bit" arm
fi
exit $status
