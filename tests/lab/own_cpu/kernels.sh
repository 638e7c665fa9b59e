#!/usr/bin/env bash
# Guests in virtual time: Debian's kernels, stock and PREEMPT_RT, measured in QEMU. The same seed
# gives the same tables to the last bit, idle and under load, the run says that it is virtual, and a
# killed one leaves nothing; arm64 boots both kernels.
# Invariant (laboratory): One seed gives the same bytes, also while latlab is stopped or the CPU is shared.
. "$(dirname "$0")/../../common.bash"
. tests/lab/kernels.bash

# A guest has no source of randomness; the agent makes its random generator ready.
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

try "one seed twice on stock: the same to the last bit" twice stock x86-64/stock --for 1s
try "one seed twice on stock under hackbench: the same to the last bit" \
    twice busy x86-64/stock --for 1s "${hackbench[@]}"

# Whether a guest of this script, or of one run, exists: guests [NAME]
guests() { pgrep -f "qemu-system-x86_64.*file:$here/${1:+.*_$1}" >/dev/null; }

# The guest sends more than an unread pipe would hold, and must still finish.
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

# If other programs use the CPU, the run says that it may not be reproducible.
crowded() {
    local cpu hogs=()
    for cpu in $(python3 -c 'import os; print(*os.sched_getaffinity(0))'); do
        # With the niceness of this script they would starve the guest.
        timeout 100 taskset -c "$cpu" sh -c 'renice -n 0 -p $$ >/dev/null 2>&1; while :; do :; done' &
        hogs+=($!)
    done
    measure crowded x86-64/rt --seed 1 --for 200ms
    kill "${hogs[@]}"
    expect "a word of it" grep -q '"host-crowded"' "$(of crowded)/run.json" || return 1
    ! grep -q host-crowded "$(of read)/run.json" ||
        echo "SKIPPED: no word of it where a guest is alone: this machine was too busy"
}
try "a guest that shares its CPU is reported" crowded

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

# Whether options are refused in one line with exit code 2: refused WORDS OPTION...
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
# QEMU itself detects a truncated kernel, and our line quotes its message.
cut_off() {
    head -c 600 "$(image)" >"$here/bzImage"
    "$lab" run --out "$here/refused" -q --target lab:x86-64 --kernel "$here/bzImage" >"$here/said" 2>&1
    expect "exit code 3" [ $? = 3 ] && expect "one line" [ "$(wc -l <"$here/said")" = 1 ] &&
        expect "the emulator's words" grep -q "QEMU: .*the console is empty" "$here/said" &&
        expect "no empty console" [ -z "$(find "$here/refused" -name '*console*')" ]
}
try "the emulator's message about a damaged kernel is quoted" cut_off
try "an unknown fault is refused" refused "expected irqs-off" \
    --target lab:x86-64/rt --fault earthquake

if ! have "guests of arm64" qemu-system-aarch64; then
    :
elif ! fetch arm64 stock-6.1 rt-6.1; then
    echo "SKIPPED: guests of arm64: the kernels cannot be had: $(tail -n 1 "$here/fetched")"
else
    try "one seed twice on arm64, stock: the same to the last bit" \
        twice arm-stock arm64/stock --for 1s
    try "one seed twice on arm64, PREEMPT_RT: the same to the last bit" twice arm-rt arm64/rt --for 1s
fi

exit $status
