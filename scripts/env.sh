# Sourced by the other scripts (bash): goes to the root of the repository and finds Rust.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD

say() { printf 'latlab: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The oldest Rust that builds the workspace, and the pinned one.
rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rust_pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)

# Whether rustc and cargo in PATH exist and are recent enough.
rust_is_recent() {
    local found
    command -v cargo >/dev/null || return 1
    found=$(RUSTUP_AUTO_INSTALL=0 rustc --version 2>/dev/null | cut -d' ' -f2)
    [ -n "$found" ] || return 1
    [ "$(printf '%s\n' "$rust_needed" "$found" | sort -V | head -n1)" = "$rust_needed" ]
}

# Puts a Rust that is recent enough first in PATH; fails if there is none.
# If rustup lacks the pinned toolchain, a newer installed one will do.
find_rust() {
    local bin=${CARGO_HOME:-$HOME/.cargo}/bin toolchain path
    rust_is_recent && return
    for path in "$bin:$PATH" "/usr/bin:$PATH"; do
        PATH=$path rust_is_recent && export PATH=$path && return
    done
    PATH=$bin:$PATH
    command -v rustup >/dev/null || return 1
    for toolchain in $(rustup toolchain list 2>/dev/null | grep -v nightly | cut -d' ' -f1); do
        if RUSTUP_TOOLCHAIN=$toolchain rust_is_recent; then
            say "Rust $rust_pinned is not installed; using $toolchain"
            export PATH RUSTUP_TOOLCHAIN=$toolchain
            return
        fi
    done
    return 1
}

# Whether this Rust can build for a target.
has_std() {
    ls "$(rustc --print target-libdir --target "$1" 2>/dev/null)"/libstd-*.rlib >/dev/null 2>&1
}

# What `make dist` builds: our name of an architecture, the target, Debian's name, that of `uname -m`,
# qemu's name, and the prefix of Debian's tools for it.
architectures="\
x86-64 x86_64-unknown-linux-musl amd64 x86_64 x86_64 x86_64-linux-gnu
arm64 aarch64-unknown-linux-musl arm64 aarch64 aarch64 aarch64-linux-gnu
armv7 armv7-unknown-linux-gnueabihf armhf armv7l arm arm-linux-gnueabihf"

# Makes cargo link a target statically, if possible, and without paths of this machine inside.
use_target() {
    local target=$1 variable sources
    variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")
    # The folder of the crates' sources is known only after they are fetched.
    cargo fetch --locked --quiet
    # Panics abort, so unwind tables are left out.
    set -- -C force-unwind-tables=no --remap-path-prefix="$root=/latlab"
    # If the sources of the standard library are installed, rustc uses their path instead of this one.
    set -- "$@" --remap-path-prefix="$(rustc --print sysroot)/lib/rustlib/src/rust=/rustc/$(
        rustc --version --verbose | sed -n 's/^commit-hash: //p')"
    for sources in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
        set -- "$@" --remap-path-prefix="${sources%/}=/crates"
    done
    case $target in
        *-musl)
            # Rust's own linker and start files: no C compiler for the target is needed.
            export "${variable}_LINKER=rust-lld"
            # Merge functions with the same code, pack relocations, and leave out backtraces with their tables:
            # the shipped program has no function names. The path of the linker script is relative, since cargo
            # makes it part of a build's identity.
            set -- -C link-self-contained=yes -C link-arg=--icf=all \
                -C link-arg=--pack-dyn-relocs=relr -C link-arg=--no-eh-frame-hdr \
                -C link-arg=-Tscripts/no_unwinding.ld "$@"
            ;;
        armv7-*-gnueabihf)
            # Rust's musl standard library for it is not available everywhere; Debian's glibc is.
            export "${variable}_LINKER=arm-linux-gnueabihf-gcc"
            # Every ARMv7 has Thumb instructions, which are shorter.
            set -- -C target-feature=+crt-static,+thumb-mode "$@"
            ;;
        *-gnu)
            if [ "$(cc -print-file-name=libc.a)" != libc.a ]; then
                set -- -C target-feature=+crt-static "$@"
            fi
            ;;
    esac
    export "${variable}_RUSTFLAGS=$*"
}

# npm, or else the one that scripts/setup.sh has unpacked.
npm_unpacked=$root/target/tools/npm/bin/npm-cli.js
has_npm() { command -v npm >/dev/null || [ -e "$npm_unpacked" ]; }
run_npm() {
    if command -v npm >/dev/null; then npm "$@"; else node "$npm_unpacked" "$@"; fi
}
