#!/usr/bin/env bash
# Packs every crate as crates.io takes it, and installs the program from the packages alone, as
# `cargo install latlab` does. Usage: scripts/crates.sh FOLDER
#   FOLDER  output folder of the packages and of the program, bin/latlab
set -euo pipefail
folder=$(realpath -m "${1:?usage: scripts/crates.sh FOLDER}")
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh build'"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# Outside of the repository, where a package would be taken for a crate of this workspace.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=$work/target

# The package of `report` carries the scripts of the pages.
scripts/web.sh
# Pack uncommitted files as well, so that a change can be tried.
cargo package --workspace --locked --allow-dirty --no-verify --quiet
mkdir -p "$folder"
rm -f "$folder"/*.crate
mv "$work"/target/package/*.crate "$folder"

# Use these packages instead of the registry, where they need not exist.
patches=()
for package in "$folder"/*.crate; do
    tar -xzf "$package" -C "$work"
    name=$(basename "$package" "-$version.crate")
    [ "$name" = latlab ] || patches+=(--config "patch.crates-io.$name.path='$work/$name-$version'")
done
cargo install --quiet --debug --path "$work/latlab-$version" --root "$folder" --no-track "${patches[@]}"
