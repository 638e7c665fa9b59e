#!/usr/bin/env bash
# Builds the distribution for all three architectures: programs, agents, Debian packages, wheels.
# Usage: scripts/dist.sh [FOLDER]
#   FOLDER  output folder [dist]
# ARCH=arm64 builds only for that architecture: x86-64, arm64 or armv7.
# PROGRAMS=x86-64 builds the agents of all, and what is made of the program only for that one, optimised crate by
# crate: for tests, not to be given away.
# The same sources and tools give the same files, wherever and whenever they are built: they contain no
# path of this machine, and the time is that of the last commit (or SOURCE_DATE_EPOCH).
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")/../dist}")
. "$(dirname "$0")/env.sh"
find_rust || die "no Rust $rust_needed or newer: run 'scripts/setup.sh dist'"
umask 022
export LC_ALL=C TZ=UTC CARGO_INCREMENTAL=0
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS LATLAB_AGENTS
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} ||
    die "no commit to take the time from: set SOURCE_DATE_EPOCH"
export SOURCE_DATE_EPOCH
# Keeps the architectures whose name matches.
only() {
    architectures=$(grep "^$1 " <<<"$architectures") || die "'$1': expected x86-64, arm64 or armv7"
    targets=($(cut -d' ' -f2 <<<"$architectures"))
}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
build=${CARGO_TARGET_DIR:-$root/target}
agents=$build/agents
only "${ARCH:-.*}"

scripts/web.sh
[ -e web/dist/page.js ] ||
    die "what is given away has pages that can be zoomed: npm is needed (scripts/setup.sh dist)"
for target in "${targets[@]}"; do use_target "$target"; done

# Builds one program for all targets. Both packages are named, so that their dependencies have the same
# features and are built once.
build() {
    cargo build --release --locked "${targets[@]/#/--target=}" --package latlab --package latlab-agent --bin "$1"
}

# Copies a program without the names of its functions, which only a profiler needs.
bare() {
    install -m 755 "$1" "$2"
    "$3-strip" "$2"
}

# The xz filters that pack a program for this machine smallest: for its branches and its alignment.
packing() {
    case $1 in
        x86_64) echo --x86 --lzma2=preset=9e ;;
        armv7l) echo --armthumb --lzma2=preset=9e,lc=2,lp=2 ;;
        *) echo --lzma2=preset=9e,lc=2,lp=2 ;;
    esac
}

mkdir -p "$folder" "$agents"
# Remove only what an earlier build left.
rm -f "$folder"/latlab[-_]* "$folder"/{SHA256SUMS,licences.txt,sbom.cdx.json}
[ -z "${ARCH:-}" ] || rm -f "$agents"/latlab-agent-*
say "building latlab-agent for ${targets[*]}"
build latlab-agent
while read -r name target debian machine _ tools; do
    program=$folder/latlab-agent-$version-linux-$name
    bare "$build/$target/release/latlab-agent" "$program" "$tools"
    packed=$agents/latlab-agent-$machine.xz
    # shellcheck disable=SC2086 # each is a word
    xz --threads=1 --check=crc32 $(packing "$machine") <"$program" >"$packed.new"
    # An unchanged file keeps its time, so that cargo does not rebuild.
    if cmp -s "$packed.new" "$packed"; then rm "$packed.new"; else mv "$packed.new" "$packed"; fi
done <<<"$architectures"

# Whole-program optimisation of the program takes one CPU ten minutes.
[ -z "${PROGRAMS:-}" ] ||
    { only "$PROGRAMS" && export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16; }
say "building latlab, with the agents, for ${targets[*]}"
export LATLAB_AGENTS=$agents
build latlab
python3 packaging/inventory.py "$folder" "${targets[@]}"
while read -r name target debian machine _ tools; do
    program=$folder/latlab-$version-linux-$name
    bare "$build/$target/release/latlab" "$program" "$tools"
    scripts/deb.sh "$program" "$debian" "$folder/licences.txt" "$folder"
    scripts/wheel.sh "$program" "$machine" "$folder/licences.txt" "$folder" >/dev/null
done <<<"$architectures"

(cd "$folder" && sha256sum * >SHA256SUMS)
find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
say "made $folder:"
(cd "$folder" && ls -l | awk 'NR > 1 { printf "  %9d  %s\n", $5, $9 }') >&2
