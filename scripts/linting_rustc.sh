#!/bin/sh
# rustc that also lints, and writes documentation into target/doc, each warning an error: for
# RUSTC_WORKSPACE_WRAPPER. All that rustdoc needs of other crates has just been compiled.
clippy-driver "$@" -D warnings || exit
case " $* " in
    *" --crate-type lib "*) private= ;;
    *" crates/cli/src/main.rs "*) private=--document-private-items ;;
    *) exit 0 ;;
esac
shift
before=
for word; do
    shift
    case $before$word in
        --emit=* | --test) continue ;;
        --out-dir?*) word=${CARGO_TARGET_DIR:-target}/doc ;;
    esac
    before=
    [ "$word" != --out-dir ] || before=$word
    set -- "$@" "$word"
done
exec rustdoc $private "$@" -D warnings
