# Installs Rust; sourced by setup.sh.

# rustup from its site, with its checksum; it leaves the shell's start files alone.
install_rustup() {
    local triple folder url
    triple=$(uname -m)-unknown-linux-gnu
    url=https://static.rust-lang.org/rustup/dist/$triple
    folder=$(mktemp -d)
    (
        trap 'rm -rf "$folder"' EXIT
        cd "$folder"
        download -O "$url/rustup-init" -O "$url/rustup-init.sha256" || exit 1
        [ "$(sha256sum <rustup-init | cut -d' ' -f1)" = "$(cut -d' ' -f1 rustup-init.sha256)" ] ||
            exit 1
        chmod +x rustup-init
        ./rustup-init -y -q --no-modify-path --profile minimal --default-toolchain none
    ) >/dev/null 2>&1
}

# The pinned toolchain with its components, as rust-toolchain.toml says.
install_pinned() {
    local components targets
    components=$(sed -n 's/^components = \[\(.*\)\]/\1/p' rust-toolchain.toml | tr -d '" ')
    targets=$(sed -n 's/^targets = \[\(.*\)\]/\1/p' rust-toolchain.toml | tr -d '" ')
    rustup toolchain install "$rust_pinned" --profile minimal --no-self-update \
        ${components:+--component "$components"} ${targets:+--target "$targets"} >/dev/null 2>&1
}

# The pinned Rust if rustup can install it, else any recent enough, else Debian's.
install_rust() {
    export PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    if command -v rustup >/dev/null; then
        rustup run "$rust_pinned" rustc --version >/dev/null 2>&1 && return
    elif find_rust; then
        return
    else
        say "installing rustup"
        install_rustup || true
    fi
    if command -v rustup >/dev/null; then
        say "installing Rust $rust_pinned"
        install_pinned && return
    fi
    find_rust && return
    say "rustup's toolchain cannot be had; taking Debian's"
    install_packages rustc-web cargo-web
    find_rust || die "Rust $rust_needed or newer is needed; see https://rustup.rs"
}
