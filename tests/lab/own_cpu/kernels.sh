#!/usr/bin/env bash
# Guests in virtual time: Debian's kernels, stock and PREEMPT_RT, measured in QEMU. The same seed
# gives the same tables to the last bit, idle and under load, the run says what it is, and nothing
# is left of one that is killed; arm64 boots both kernels. LATLAB_LONG=1 adds loads and more seeds on
# all machines, the ready-made sheets, faults, a kernel of one's own, and the host's time.
# Invariant (laboratory): One seed gives the same bytes, also while latlab is stopped or the CPU is shared.
. "$(dirname "$0")/../../common.bash"
have "the laboratory" qemu-system-x86_64 dpkg-deb || exit 0
. tests/lab/laboratory.bash
laboratory "the laboratory"

fetch x86-64 stock-6.1 rt-6.1 ||
    skip "the laboratory: the kernels cannot be had: $(tail -n 1 "$here/fetched")"

# The image of PREEMPT_RT for PCs, as one's own kernel would be.
image() {
    local kernels=${LATLAB_LAB:-$HOME/.cache/latlab/lab}/kernels
    find "$kernels/amd64/rt-6.1" -name 'vmlinuz-*' | head -n 1
}

# The random generator of a guest has no source of its own, and is ready once the agent has booted it.
random() (
    . tests/lab/guest.bash
    mkdir -p "$guest"/{bin,lab,before/dev,before/proc}
    cp "$(command -v busybox)" "$guest/bin/busybox"
    install -m 755 "$here/agent" "$guest/agent"
    cp tests/lab/guest/random "$guest/init"
    echo 1f >"$guest/lab/seed"
    pack
    boot random stock-6.1 /dev/null
    local before after
    before=$(sed -n 's/^before //p' "$here/random" | tr -dc 0-9)
    after=$(sed -n 's/^after //p' "$here/random" | tr -dc 0-9)
    expect "fewer than 256 bits before, not '$before'" [ "${before:-256}" -lt 256 ] &&
        expect "256 bits behind the agent, not '$after'" [ "${after:-0}" = 256 ] ||
        { cat "$here/random.console" "$here/random.qemu"; return 1; }
)
! have "the random generator of a guest" busybox || try "a guest's random generator is ready" random

# A run of a guest: measure NAME KERNEL [OPTION]...
measure() {
    local name=$1 kernel=$2
    shift 2
    timeout 280 "$lab" run --target "lab:$kernel" --name "$name" --out "$here/runs" -q "$@" \
        >"$here/$name.txt" 2>&1 || { cat "$here/$name.txt"; return 1; }
}
of() { echo "$here"/runs/*_"$1"; }
# What must be the same: every sample, everything that was counted, and what the kernel said.
bits() { (cd "$(of "$1")" && sha256sum ./*.parquet console.txt); }
maximum() { grep -om1 '"max_ns": [0-9]*' "$(of "$1")/run.json" | tr -dc 0-9; }

# A run, twice, side by side: twice NAME KERNEL [OPTION]...
twice() {
    local name=$1
    shift
    measure "$name-a" "$@" --seed 1 --samples & local first=$!
    measure "$name-b" "$@" --seed 1 --samples || return 1
    wait "$first" || return 1
    same "$name-a" "$name-b"
}
same() {
    bits "$1" >"$here/a" && bits "$2" >"$here/b" || return 1
    expect "samples among the tables" grep -q samples.parquet "$here/a" || return 1
    cmp -s "$here/a" "$here/b" && return
    # A run that says so of itself need not be the same again.
    if grep -q '"host-crowded"' "$(of "$1")/run.json" "$(of "$2")/run.json"; then
        echo "SKIPPED: the bits of $1 and $2: this machine was too busy for a CPU of its own for each guest"
        return
    fi
    echo "expected the same bits: $(paste "$here/a" "$here/b")"
    return 1
}
hackbench=(--load hackbench,bytes=128,groups=1)
try "one seed twice on stock: the same to the last bit" twice stock x86-64/stock --for 1s
try "one seed twice on stock under hackbench: the same to the last bit" \
    twice busy x86-64/stock --for 1s "${hackbench[@]}"

# Whether there is a guest of ours, or of one run: guests [NAME]
guests() { pgrep -f "qemu-system-x86_64.*file:$here/${1:+.*_$1}" >/dev/null; }

# More comes than a pipe would hold while nobody reads it, and the guest must come to its end.
unread() {
    local fast=(x86-64/rt -i 50us --for 2s) waited=0
    measure read "${fast[@]}" --seed 1 --samples & local first=$!
    "$lab" run --target "lab:${fast[0]}" "${fast[@]:1}" --name pend --out "$here/runs" -q --seed 1 \
        --samples >"$here/pend.txt" 2>&1 & local pid=$!
    until guests pend || [ $((waited += 1)) -gt 200 ]; do sleep 0.1; done
    kill -STOP "$pid"
    while guests pend && [ $((waited += 1)) -lt 1500 ]; do sleep 0.1; done
    kill -CONT "$pid"
    expect "a guest that does not wait" [ "$waited" -lt 1500 ] || return 1
    wait "$pid" || { cat "$here/pend.txt"; return 1; }
    wait "$first" && same read pend
}
try "one seed twice on PREEMPT_RT, once in a latlab that is held up for seconds: the same to the last bit" unread

# Where others take the CPU as well, the run says that its bits need not be the same again.
crowded() {
    local cpu hogs=()
    for cpu in $(python3 -c 'import os; print(*os.sched_getaffinity(0))'); do
        # With the niceness of this script they would leave the guest nothing.
        timeout 100 taskset -c "$cpu" sh -c 'renice -n 0 -p $$ >/dev/null 2>&1; while :; do :; done' &
        hogs+=($!)
    done
    measure crowded x86-64/rt --seed 1 --for 200ms
    kill "${hogs[@]}"
    expect "a word of it" grep -q '"host-crowded"' "$(of crowded)/run.json" || return 1
    ! grep -q host-crowded "$(of read)/run.json" ||
        echo "SKIPPED: no word of it where a guest is alone: this machine was too busy"
}
try "a guest that shares its CPU is told" crowded

says() {
    "$lab" show "$1" --out "$here/runs" >"$here/$1.txt" || return 1
    expect "virtual time above all else in $1" grep -q "virtual time" <(head -n 3 "$here/$1.txt") || return 1
    "$lab" show "$1" --all --out "$here/runs" >"$here/$1.txt" &&
        expect "virtual time in $1" grep -q "virtual time" "$here/$1.txt" &&
        expect "how to repeat it" grep -q -- "--target lab:x86-64/$2-6.1 .*--seed 1" "$here/$1.txt" &&
        expect "the name of the guest" grep -q "lab:x86-64/$2-6.1" "$(of "$1")/run.json" &&
        expect "the console among the files" grep -q '"console.txt"' "$(of "$1")/run.json" &&
        expect "no archive" test ! -e "$(of "$1")/initrd" && "$lab" verify "$(of "$1")"
}
try "a run of a guest says what it is and is whole" says read rt

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
    "$lab" run --target lab:x86-64/rt --name cut --out "$here/runs" -q --seed 1 --for 1h \
        >/dev/null 2>&1 &
    local pid=$!
    until [ -n "$(find "$here/runs" -path '*cut*' -name journal -size +40k 2>/dev/null)" ]; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.2
    done
    kill -INT "$pid"
    wait "$pid"
    expect "an interrupted run" grep -q '"ended": "interrupted"' "$(of cut)/run.json"
}
try "Ctrl-C keeps what a guest has measured" kept

# What is refused, in one line, and with exit code 2: refused WORDS OPTION...
refused() {
    local words=$1
    shift
    "$lab" run --out "$here/refused" -q "$@" >"$here/said" 2>&1
    expect "exit code 2" [ $? = 2 ] && expect "'$words'" grep -q -- "$words" "$here/said" &&
        expect "one line" [ "$(wc -l <"$here/said")" = 1 ]
}
try "two CPUs in virtual time are refused" refused "virtual time requires one CPU" \
    --target lab:x86-64/rt --smp 2
try "a target without a kernel is refused" refused "lab:MACHINE/KERNEL" --target lab:x86-64
echo "no kernel" >"$here/notes"
try "a kernel that is none is refused" refused "is not a kernel for x86-64: expected a bzImage" \
    --target lab:x86-64 --kernel "$here/notes"
try "a folder in the place of a kernel is refused" refused "no file" \
    --target lab:x86-64 --kernel "$here"
# QEMU finds out by itself that the kernel is cut off, and what it says comes in our line.
cut_off() {
    head -c 600 "$(image)" >"$here/bzImage"
    "$lab" run --out "$here/refused" -q --target lab:x86-64 --kernel "$here/bzImage" >"$here/said" 2>&1
    expect "exit code 3" [ $? = 3 ] && expect "one line" [ "$(wc -l <"$here/said")" = 1 ] &&
        expect "the emulator's words" grep -q "QEMU: .*the console is empty" "$here/said" &&
        expect "no empty console" [ -z "$(find "$here/refused" -name '*console*')" ]
}
try "what the emulator says of a damaged kernel is told" cut_off
try "a fault that nobody knows is refused" refused "expected irqs-off" \
    --target lab:x86-64/rt --fault earthquake

arm64=
if ! have "guests of arm64" qemu-system-aarch64; then
    :
elif ! fetch arm64 stock-6.1 rt-6.1; then
    echo "SKIPPED: guests of arm64: the kernels cannot be had: $(tail -n 1 "$here/fetched")"
else
    arm64=1
    try "one seed twice on arm64, stock: the same to the last bit" \
        twice arm-stock arm64/stock --for 1s
    try "one seed twice on arm64, PREEMPT_RT: the same to the last bit" twice arm-rt arm64/rt --for 1s
fi

[ -n "${LATLAB_LONG:-}" ] || exit $status

machines=(x86-64 ${arm64:+arm64})
try "one seed twice on PREEMPT_RT under hackbench" twice busy-rt x86-64/rt --for 1s "${hackbench[@]}"
[ -z "$arm64" ] || for kernel in stock rt; do
    try "one seed twice on arm64 under hackbench, $kernel" \
        twice "arm-busy-$kernel" arm64/$kernel --for 1s "${hackbench[@]}"
done

# Real-time stays below stock, and seeds are different samples.
below() {
    local seed kernel
    for seed in 1 2 3; do
        for kernel in stock rt; do
            measure "$1-$kernel-$seed" "$1/$kernel" --seed "$seed" --for 3s "${hackbench[@]}" || return
        done
        expect "RT below stock, seed $seed" \
            [ "$(maximum "$1-rt-$seed")" -lt "$(maximum "$1-stock-$seed")" ] || return
    done
    expect "other seeds, other samples" [ "$(bits "$1-stock-1")" != "$(bits "$1-stock-2")" ]
}
for machine in "${machines[@]}"; do
    try "PREEMPT_RT below stock under hackbench on $machine" below "$machine"
done

sheet() { "$lab" lab "$1" --out "$here/runs" -q | tee "$here/table" | grep -q "$2"; }
try "five loads on both kernels end in a table" sheet stress-five hackbench
try "one thread and sixteen on both kernels end in a table" sheet threads M:1

own() {
    local kernel
    kernel=$(image)
    "$lab" run --target lab:x86-64 --kernel "$kernel" --modules "${kernel%/boot/*}/lib/modules" \
        --seed 1 --for 1s --name own --out "$here/runs" -q >"$here/own.txt" 2>&1 &&
        expect "its file is named" grep -q "vmlinuz" "$(of own)/run.json"
}
try "a kernel of one's own measures" own
# Twenty guests, each with seeds of its own, are twenty rows of one campaign.
boards() {
    local kernel number
    for kernel in stock rt; do
        for number in $(seq -w 10); do
            printf '[%s]\ntarget = "lab:x86-64/%s"\n' "$kernel-$number" "$kernel"
        done
    done >"$here/boards.toml"
    printf '[[scenario]]\nname = "idle"\nfor = "500ms"\n' >"$here/night.toml"
    timeout 800 "$lab" run "$here/night.toml" --targets "$here/boards.toml" --out "$here/runs" --format json \
        >"$here/table.json" 2>"$here/lines" || { cat "$here/lines"; return 1; }
    python3 - "$here" <<'PYTHON'
import collections, glob, json, sys
rows = json.load(open(f"{sys.argv[1]}/table.json"))["table"]["rows"]
made = [row["target"] for row in rows for cell in row["cells"] if cell["state"] == "done"]
assert len(set(made)) == 20, made
runs = [json.load(open(file)) for file in glob.glob(f"{sys.argv[1]}/runs/*_night/runs/*/run.json")]
assert len(runs) == 20, len(runs)
streams = {run["guest_stream"]["sha256"] for run in runs}
assert len(streams) == 20, "each guest with a seed of its own"
kernels = collections.Counter(run["machine"]["kernel"].split("-")[2] for run in runs)
assert kernels == {"amd64": 10, "rt": 10}, kernels
PYTHON
    expect "all of them whole" "$lab" verify --all --out "$here"/runs/*_night/runs
}
try "twenty guests are the boards of one campaign" boards
noisy() {
    measure noisy x86-64/rt --realtime --smp 2 --for 1s
    expect "it is told to be noisy" grep -q guest-noisy "$(of noisy)/run.json"
}
try "a guest in the host's time is told to be noisy" noisy
hog() {
    measure hog x86-64/rt --fault fifo-hog@500ms:20ms --for 2s &&
        expect "its length as a latency" [ "$(maximum hog)" -gt 19000000 ] &&
        expect "that it was planted" grep -q planted-fault "$(of hog)/run.json"
}
try "a planted fault is found" hog
exit $status
