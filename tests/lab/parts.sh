#!/usr/bin/env bash
# The program without guests, without pins, and without both: it builds without a warning and without their crates, its
# tests build, and a command that needs an absent part says so. LATLAB_LONG=1 builds it, in an empty folder, which takes
# minutes; otherwise only what would be compiled is looked at.
. "$(dirname "$0")/../common.bash"
have "the program without its parts" cargo || exit 0
export CARGO_TARGET_DIR=$here/target RUSTFLAGS="-D warnings"

# The crates of this program that were compiled for a list of features: compiled FEATURES
compiled() {
    cargo tree --package latlab --no-default-features --features "$1" --edges normal --prefix none --locked |
        sed -n 's/^latlab-\([a-z]*\) .*/\1/p' | sort -u
}

# leaves_out FEATURES ABSENT-CRATE...
leaves_out() {
    local features=$1 crate
    shift
    for crate; do expect "no $crate" [ -z "$(compiled "$features" | grep -x "$crate")" ] || return 1; done
}
try "without guests and pins" leaves_out "" lab capture
try "without guests" leaves_out pins lab
try "without pins" leaves_out guests capture
[ -n "${LATLAB_LONG:-}" ] || exit $status

builds() { cargo check --package latlab --no-default-features --features "$1" --locked --quiet; }
for features in "" pins guests; do
    try "it builds with the parts '$features'" builds "$features"
done

tests_of_the_rest() {
    cargo test --package latlab --no-default-features --locked --quiet >"$here/said" 2>&1 ||
        { cat "$here/said"; return 1; }
}
try "the tests of what is left" tests_of_the_rest

# refuses TEXT WORD...: the program without parts ends with 2 or 3 and this text.
refuses() {
    local text=$1
    shift
    "$CARGO_TARGET_DIR/debug/latlab" "$@" >"$here/said" 2>&1
    expect "a refusal" [ $? -ge 2 ] && expect "its text in $(cat "$here/said")" grep -q "$text" "$here/said" &&
        expect "one line" [ "$(wc -l <"$here/said")" = 1 ]
}
try "a guest is refused" refuses "built without guests" run --target lab:x86-64/rt --seed 1 --for 1s
try "kernels are refused" refuses "built without guests" lab kernels
try "captures are refused" refuses "built without measuring from pin to pin" respond --from capture.vcd
