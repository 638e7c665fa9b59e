# The steps of `make check`, which `make test` has as well, to be sourced after steps.bash.

# cargo-deny checks more than scripts/licences.py; its database of advisories comes from the network.
licences() {
    scripts/licences.py || return 1
    if ! cargo deny --version >/dev/null 2>&1; then
        echo "SKIPPED: known vulnerabilities (advisories): they need cargo-deny (cargo install --locked cargo-deny)"
    else
        cargo deny --workspace check licenses bans sources || return 1
        ! cargo deny fetch db >/dev/null 2>&1 || cargo deny check advisories
    fi
}

# What the tests of all kinds run.
build_tests() { cargo test --workspace --tests --locked --quiet --no-run; }

checks() {
    step "format" cargo fmt --all --check
    step "licences" licences
    step "lints" cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
    step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
    step "tests in Rust" rust_tests rust-tests --skip end_to_end::
}
