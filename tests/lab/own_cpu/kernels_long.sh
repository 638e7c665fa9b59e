#!/usr/bin/env bash
# Guests in virtual time, the long form (LATLAB_LONG=1): loads and more seeds on all machines, the ready-made sheets,
# faults, a custom kernel, and the host's time.
# Invariant (laboratory): One seed gives the same bytes, also while latlab is stopped or the CPU is shared.
. "$(dirname "$0")/../../common.bash"
[ -n "${LATLAB_LONG:-}" ] || skip "more seeds and loads in guests: LATLAB_LONG=1 takes an hour"
. tests/lab/kernels.bash

arm64=
if have "guests of arm64" qemu-system-aarch64; then
    if fetch arm64 stock-6.1 rt-6.1; then
        arm64=1
    else
        echo "SKIPPED: guests of arm64: the kernels cannot be had: $(tail -n 1 "$here/fetched")"
    fi
fi
machines=(x86-64 ${arm64:+arm64})
try "one seed twice on PREEMPT_RT under hackbench" twice busy-rt x86-64/rt --for 1s "${hackbench[@]}"
[ -z "$arm64" ] || for kernel in stock rt; do
    try "one seed twice on arm64 under hackbench, $kernel" \
        twice "arm-busy-$kernel" arm64/$kernel --for 1s "${hackbench[@]}"
done

# The real-time kernel stays below the stock one, and seeds are different samples.
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
# Twenty guests, each with its own seeds, are twenty rows of one campaign.
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
    python3 tests/lab/guests.py twenty_boards "$here"
    expect "all of them whole" "$lab" verify --all --out "$here"/runs/*_night/runs
}
try "twenty guests are the boards of one campaign" boards
noisy() {
    measure noisy x86-64/rt --realtime --smp 2 --for 1s
    expect "it is marked as noisy" grep -q guest-noisy "$(of noisy)/run.json"
}
try "a guest in the host's time is marked as noisy" noisy
hog() {
    measure hog x86-64/rt --fault fifo-hog@500ms:20ms --for 2s &&
        expect "its length as a latency" [ "$(maximum hog)" -gt 19000000 ] &&
        expect "that it was planted" grep -q planted-fault "$(of hog)/run.json"
}
try "a planted fault is found" hog
exit $status
