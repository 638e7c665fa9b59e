#!/usr/bin/env bash
# The tests in their long form, some three hours: `make test` in a fresh Debian, many more kills, every
# system call of a run failing in turn, ten minutes of samples and of a run folder, everything built
# twice, real-time kernels in QEMU, many runs on a cluster of Spark. These change how long:
#   KILLS=20        kills of each victim in each phase
#   FAULTS=every    or how many system calls of each kind fail in the real program
#   CUT_PARTS=40    disks after a power cut at each call of the simulated disk
#   CASES=3000      damaged journals and folders of each kind
#   FUZZ=300        seconds of disordered streams, and of damaged captures for each reader
#   REPEATS=5       how often the tests of ownership, hang-ups, lost settings and folders run
#   SECONDS_EACH=600, FOR=10min    lengths of runs with samples, and of a run folder
set -uo pipefail
. "$(dirname "$0")/env.sh"
export KILLS=${KILLS:-20} SECONDS_EACH=${SECONDS_EACH:-600} FOR=${FOR:-10min} LATLAB_LONG=1

. scripts/steps.bash
step main one "setup" scripts/setup.sh build test spark && find_rust || { closing; exit 1; }
if [ "$(id -u)" = 0 ]; then
    step main one "make test in a clean root" scripts/clean_root.sh
else
    step main none "make test in a clean root" echo "SKIPPED: make test in a clean root: needs root"
fi
step main one "release build" scripts/build.sh && step main one "make dist" scripts/dist.sh ||
    { closing; exit 1; }
step main one "the program from its packages" scripts/crates.sh target/crates
export LATLAB=$root/target/latlab PATH=$root/.venv/bin:$PATH

# Attacks. What a test cannot try here it says in a line that begins with SKIPPED, and the end repeats it.
: "${FAULTS:=every}" "${CUT_PARTS:=40}" "${CASES:=3000}" "${FUZZ:=300}" "${REPEATS:=5}"
attack() {
    local name=$1 crate=$2 tests=$3
    shift 3
    step main cargo "$name" env "$@" cargo test --locked --package "latlab-$crate" --test it "$tests" -- --show-output
}
attack "power cuts, $CUT_PARTS disks after each call" store faults LATLAB_CUT_PARTS="$CUT_PARTS"
attack "damaged journals and folders, $CASES of each kind" store recover PROPTEST_CASES="$CASES"
attack "disordered streams, $FUZZ s" digest hostile LATLAB_FUZZ_SECONDS="$FUZZ"
attack "damaged captures, $FUZZ s for each reader" capture fuzz LATLAB_FUZZ_SECONDS="$FUZZ"
attack "damaged recordings, $FUZZ s for each reader" import fuzz LATLAB_FUZZ_SECONDS="$FUZZ"
step main cargo "what a hostile board says, $FUZZ s" env LATLAB_FUZZ_SECONDS="$FUZZ" \
    cargo test --locked --package latlab-conduct --lib fuzz -- --show-output
# The locks of records have 64-bit offsets in a 32-bit program.
armv7=armv7-unknown-linux-gnueabihf
if command -v qemu-arm-static >/dev/null; then
    use_target $armv7
    step main cargo "records and locks on ARMv7" env CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_RUNNER=qemu-arm-static \
        cargo test --locked --package latlab-sys --lib --target $armv7
else
    step main none "records and locks on ARMv7" echo \
        "SKIPPED: records and locks on ARMv7: qemu-arm-static is missing (scripts/setup.sh test installs it)"
fi
[ "$(id -u)" = 0 ] || step main none "attacks as root" echo \
    "SKIPPED: other owners, namespaces, lost priorities and settings: they need root"
step main script "tests/faults.sh, $FAULTS" env FAULTS="$FAULTS" tests/faults.sh
for number in $(seq "$REPEATS"); do
    for name in ownership hangup lost_settings folders; do
        step main script "tests/$name.sh, time $number" "tests/$name.sh"
    done
done

for name in samples run_folder kill disk signals dist book fleet guests lab responders culprits replay ssh_line ssh_guest; do
    step main script "tests/$name.sh" "tests/$name.sh"
done
closing
