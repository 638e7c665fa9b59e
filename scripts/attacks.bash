# Attacks of the long form of `make lab`, sourced by it.
: "${FAULTS:=every}" "${CUT_PARTS:=40}" "${CASES:=3000}" "${FUZZ:=300}" "${REPEATS:=5}"

# Runs some tests of a crate for longer than `make test` does: attack NAME CRATE TESTS VARIABLE=VALUE
attack() { step "$1" env "$4" cargo test --locked --package "latlab-$2" --test it "$3" -- --show-output; }
PROPTEST_CASES=1000 step "properties, 1000 cases of each" rust_tests properties --skip end_to_end::
attack "power cuts, $CUT_PARTS disks after each call" store faults LATLAB_CUT_PARTS="$CUT_PARTS"
attack "damaged journals and folders, $CASES of each kind" store recover PROPTEST_CASES="$CASES"
attack "disordered streams, $FUZZ s" digest hostile LATLAB_FUZZ_SECONDS="$FUZZ"
attack "damaged captures, $FUZZ s for each reader" capture fuzz LATLAB_FUZZ_SECONDS="$FUZZ"
attack "damaged recordings, $FUZZ s for each reader" formats fuzz LATLAB_FUZZ_SECONDS="$FUZZ"
attack "recordings with damaged lines" formats mutation LATLAB_LONG=1
attack "captures with damaged lines" capture mutations LATLAB_MUTATIONS=300
attack "streams with impossible contents" digest hostile LATLAB_LONG=1
attack "journals that are cut or read at every byte" store every LATLAB_LONG=1
step "what a hostile board says, $FUZZ s" env LATLAB_FUZZ_SECONDS="$FUZZ" \
    cargo test --locked --package latlab-conduct --lib fuzz -- --show-output
# Lock files need 64-bit offsets in a 32-bit program.
armv7=armv7-unknown-linux-gnueabihf
use_target $armv7
step "records and locks on ARMv7" env CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_RUNNER=qemu-arm-static \
    cargo test --locked --package latlab-sys --lib --target $armv7

export FAULTS
step "kills, full disks, signals and system calls that fail" scripts 1 \
    tests/{faults,kill,disk,disk_full,signals,terminals,run_folder,run_samples}.sh
for ((time = 1; time <= REPEATS; time++)); do
    step "ownership, time $time" scripts 1 \
        tests/{ownership,undo_steps,load_processes,hangup,lost_settings,folders}.sh
done
