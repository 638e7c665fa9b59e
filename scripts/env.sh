# Sourced by the other scripts (bash): goes to the root of the repository and finds Rust.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD

say() { printf 'latlab: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The oldest Rust that the workspace builds with, and the one it is developed with.
rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rust_pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)

# Whether the rustc and cargo that PATH leads to are there and recent enough.
rust_is_recent() {
    local found
    command -v cargo >/dev/null || return 1
    found=$(RUSTUP_AUTO_INSTALL=0 rustc --version 2>/dev/null | cut -d' ' -f2)
    [ -n "$found" ] || return 1
    [ "$(printf '%s\n' "$rust_needed" "$found" | sort -V | head -n1)" = "$rust_needed" ]
}

# Finds a Rust that is recent enough and puts it first; fails when there is none.
# Where rustup lacks the pinned toolchain, a newer one that it has is as good.
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

# Whether the Rust that was found can build for a target.
has_std() {
    ls "$(rustc --print target-libdir --target "$1" 2>/dev/null)"/libstd-*.rlib >/dev/null 2>&1
}

# What `make dist` builds: our name of an architecture, the target, Debian's name, what `uname -m`
# says there, qemu's name, and how Debian's tools for it begin.
architectures="\
x86-64 x86_64-unknown-linux-musl amd64 x86_64 x86_64 x86_64-linux-gnu
arm64 aarch64-unknown-linux-musl arm64 aarch64 aarch64 aarch64-linux-gnu
armv7 armv7-unknown-linux-gnueabihf armhf armv7l arm arm-linux-gnueabihf"

# Tells cargo how a target is linked: statically, where that can be, and with no path of this
# machine inside.
use_target() {
    local target=$1 variable sources
    variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")
    # The folder of the crates' sources is known when they are there.
    cargo fetch --locked --quiet
    # Nothing unwinds a program whose panics end it, so the tables for that are left out.
    set -- -C force-unwind-tables=no --remap-path-prefix="$root=/latlab"
    # Where the sources of the standard library are installed, rustc names them instead of this.
    set -- "$@" --remap-path-prefix="$(rustc --print sysroot)/lib/rustlib/src/rust=/rustc/$(
        rustc --version --verbose | sed -n 's/^commit-hash: //p')"
    for sources in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
        set -- "$@" --remap-path-prefix="${sources%/}=/crates"
    done
    case $target in
        *-musl)
            # Rust's own linker and start files: no C compiler for the target is needed.
            export "${variable}_LINKER=rust-lld"
            # Functions with the same code are one, relocations are packed, and backtraces are left out with
            # their tables: what is given away has no names of functions. The path of the script is relative,
            # since it is part of what cargo takes as the identity of a build.
            set -- -C link-self-contained=yes -C link-arg=--icf=all \
                -C link-arg=--pack-dyn-relocs=relr -C link-arg=--no-eh-frame-hdr \
                -C link-arg=-Tscripts/no_unwinding.ld "$@"
            ;;
        armv7-*-gnueabihf)
            # Rust's musl for it brings no standard library everywhere; Debian's glibc is there.
            export "${variable}_LINKER=arm-linux-gnueabihf-gcc"
            # Every ARMv7 has the shorter instructions.
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

# npm, or where there is none the one that scripts/setup.sh has unpacked.
npm_unpacked=$root/target/tools/npm/bin/npm-cli.js
has_npm() { command -v npm >/dev/null || [ -e "$npm_unpacked" ]; }
run_npm() {
    if command -v npm >/dev/null; then npm "$@"; else node "$npm_unpacked" "$@"; fi
}
