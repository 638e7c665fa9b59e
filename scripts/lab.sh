#!/usr/bin/env bash
# The tests that need QEMU, browsers, boards, packages, programs for other machines, or minutes of measuring.
# Usage: scripts/lab.sh [PART...], a part being a name in tests/lab, such as `replay` [all of them].
# LONG=1 is the long form, some three hours: `make test` in a fresh Debian, many more kills, every system call of a
# run failing in turn, ten minutes of samples, everything built twice, all kernels, a Spark cluster. Its additional
# parts are: clean_root, attacks. These set its length:
#   KILLS=20        kills of each victim in each phase
#   FAULTS=every    or the number of system calls of each kind that fail in the real program
#   CUT_PARTS=40    disks after a power cut at each call of the simulated disk
#   CASES=3000      damaged journals and folders of each kind
#   FUZZ=300        seconds of disordered streams, and of damaged captures for each reader
#   REPEATS=5       repetitions of the tests of ownership, hang-ups, lost settings and folders
#   SECONDS_EACH=600, FOR=10min    lengths of runs with samples, and of a run folder
set -uo pipefail
. "$(dirname "$0")/env.sh"
. scripts/steps.bash

parts=("$@")
# Whether a part was asked for.
wanted() { [ ${#parts[@]} = 0 ] || [[ " ${parts[*]} " = *" $1 "* ]]; }
# Puts the requested ones of some scripts into $files.
choose() {
    local file
    files=()
    for file; do ! wanted "$(basename "$file" .sh)" || files+=("$file"); done
    [ ${#files[@]} -gt 0 ]
}
for part in "${parts[@]}"; do
    [[ " clean_root attacks $(echo tests/lab/{,*/}*.sh) " =~ [\ /]"$part"(\.sh)?\  ]] ||
        die "no part '$part'; there are $(basename -s .sh tests/lab/{,*/}*.sh | sort | xargs)," \
            "and in the long form clean_root, attacks"
done

sets=(build test lab)
if [ -n "${LONG:-}" ]; then
    export KILLS=${KILLS:-20} SECONDS_EACH=${SECONDS_EACH:-600} FOR=${FOR:-10min} LATLAB_LONG=1
    sets+=(spark)
fi
step "setup of the laboratory" scripts/setup.sh "${sets[@]}" && find_rust || { closing; exit 1; }
if [ -n "${LONG:-}" ]; then
    ! wanted clean_root || step "make test in a clean root" scripts/clean_root.sh
fi
# Each program is linked for ten minutes: in the short form there is one, optimised crate by crate, with the agents of
# all machines.
[ -n "${LONG:-}" ] || export PROGRAMS=x86-64
step "programs for all machines" scripts/dist.sh dist &&
    ln -sfr "${CARGO_TARGET_DIR:-target}/$(scripts/target.sh)/release/latlab" target/latlab || { closing; exit 1; }
export LATLAB=$root/target/latlab LATLAB_DIST=$root/dist

if [ -n "${LONG:-}" ]; then
    ! wanted attacks || . scripts/attacks.bash
fi
! choose tests/lab/*.sh || step "scripts of the laboratory" scripts "${JOBS:-6}" "${files[@]}"
# Guests give the same bits only if each has its own CPU.
! choose tests/lab/own_cpu/*.sh ||
    step "guests with a CPU of their own" scripts "$(nproc)" --exec "tests/as_tap tests/own_cpu" "${files[@]}"
# These change the machine, or observe everything on it.
! choose tests/lab/alone/*.sh || step "scripts alone" scripts 1 "${files[@]}"
closing
