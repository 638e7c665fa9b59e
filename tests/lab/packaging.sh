#!/usr/bin/env bash
# Recipes for other systems: the flake of Nix, the layer of Yocto, the external tree of Buildroot. Their own tools
# need the network for hours; here parsers of their languages read the files, and their steps are executed.
. "$(dirname "$0")/../common.bash"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

# What nixpkgs would get, with a stub that builds nothing.
flake() {
    nix-instantiate --eval --strict --json --read-write-mode --store "$here/nix" --expr '
        let
          lib = { importTOML = file: builtins.fromTOML (builtins.readFile file); genAttrs = names: make:
            builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
            licenses = { mit = "MIT"; asl20 = "Apache-2.0"; }; };
          pkgs = { buildNpmPackage = given: "pages of ${given.version}";
            importNpmLock = { __functor = self: given: given; npmConfigHook = "hook"; };
            rustPlatform.buildRustPackage = given: { inherit (given) pname version cargoBuildFlags preBuild;
              lock = builtins.pathExists given.cargoLock.lockFile; };
            installShellFiles = "files"; mkShell = given: given;
            cargo = 1; rustc = 1; clippy = 1; rustfmt = 1; nodejs = 1; };
          system = { inherit lib; legacyPackages = { x86_64-linux = pkgs; aarch64-linux = pkgs; }; };
          made = (import '"$PWD"'/flake.nix).outputs { self = "sources"; nixpkgs = system; };
        in made.packages.aarch64-linux.default' >"$here/flake" 2>"$here/flake.errors" ||
            { cat "$here/flake.errors"; return 1; }
    local made="\"lock\":true,\"pname\":\"latlab\",\"preBuild\":\"cp -r pages of $version web/dist\""
    expect "the program of version $version with its pages" grep -q "$made,\"version\":\"$version\"" "$here/flake" ||
        { cat "$here/flake"; return 1; }
}
! have "the flake of Nix" nix-instantiate || try "the flake of Nix builds the program and its pages" flake

recipe() {
    local recipe=packaging/yocto/recipes-benchmark/latlab
    python3 packaging/yocto/crates.py | cmp - "$recipe/latlab-crates.inc" ||
        { echo "expected the crates of Cargo.lock: packaging/yocto/crates.py >$recipe/latlab-crates.inc"; return 1; }
    python3 tests/lab/recipes.py recipe "$PWD/$recipe/latlab_$version.bb"
}
! have "the recipe of Yocto" python:oelint_parser ||
    try "the recipe of Yocto has the crates of Cargo.lock and the licences" recipe

buildroot() {
    local tree=$PWD/packaging/buildroot
    BR2_EXTERNAL_LATLAB_PATH=$tree python3 tests/lab/recipes.py chosen_machine "$tree" || return 1
    # What Buildroot's make does with such a package: it has the folder in $(@D), and runs the commands.
    cat >"$here/stub.mk" <<STUB
BR2_EXTERNAL_LATLAB_PATH = $tree
BR2_aarch64 = y
BR2_PACKAGE_LATLAB_DIST = "$here/dist"
INSTALL = install
TARGET_DIR = $here/target
qstrip = \$(strip \$(subst ",,\$(1)))
include $tree/external.mk
\$(LATLAB_SITE)/.installed:
	\$(LATLAB_INSTALL_TARGET_CMDS)
	touch \$@
STUB
    mkdir -p "$here/dist"
    echo program >"$here/dist/latlab-$version-linux-arm64"
    (cd "$here/dist" && sha256sum latlab-* >SHA256SUMS)
    make -s -f "$here/stub.mk" "$here/dist/.installed" || return 1
    expect "the program of the chosen machine" grep -qx program "$here/target/usr/bin/latlab" || return 1
    rm -r "$here/target" "$here/dist/.installed"
    echo other >"$here/dist/latlab-$version-linux-arm64"
    ! make -s -f "$here/stub.mk" "$here/dist/.installed" 2>/dev/null &&
        expect "that nothing is installed of a changed file" [ ! -e "$here/target/usr/bin/latlab" ]
}
! have "the package of Buildroot" python:kconfiglib make ||
    try "the package of Buildroot installs the program of the chosen machine, if it is whole" buildroot

exit $status
