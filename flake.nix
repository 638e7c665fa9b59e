{
  description = "Measures how late Linux wakes a real-time thread, says why, and judges it against a deadline";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      inherit ((nixpkgs.lib.importTOML ./Cargo.toml).workspace.package) version;
      # The scripts that pages carry.
      pages = pkgs: pkgs.buildNpmPackage {
        pname = "latlab-pages";
        inherit version;
        src = ./web;
        npmDeps = pkgs.importNpmLock { npmRoot = ./web; };
        npmConfigHook = pkgs.importNpmLock.npmConfigHook;
        buildPhase = "sh bundle.sh dist";
        installPhase = "cp -r dist $out";
      };
      # Without the agents for boards and guests, which `make dist` builds for three architectures.
      latlab = pkgs: pkgs.rustPlatform.buildRustPackage {
        pname = "latlab";
        inherit version;
        src = self;
        cargoLock.lockFile = ./Cargo.lock;
        cargoBuildFlags = [ "--package" "latlab" "--bin" "latlab" ];
        # The tests need root, a quiet machine and some hundred programs: `make test` runs them.
        doCheck = false;
        preBuild = "cp -r ${pages pkgs} web/dist";
        nativeBuildInputs = [ pkgs.installShellFiles ];
        postInstall = ''
          installManPage docs/reference/man/*
          installShellCompletion docs/reference/completions/latlab.{bash,fish} docs/reference/completions/_latlab
        '';
        meta = {
          description = "Real-time latency of Linux, measured and judged against a deadline";
          license = with nixpkgs.lib.licenses; [ mit asl20 ];
          platforms = systems;
          mainProgram = "latlab";
        };
      };
    in
    {
      packages = forEach (pkgs: { default = latlab pkgs; });
      devShells = forEach (pkgs: {
        default = pkgs.mkShell { packages = with pkgs; [ cargo rustc clippy rustfmt nodejs ]; };
      });
    };
}
