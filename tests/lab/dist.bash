# Shared by the scripts about `make dist`, to be sourced after common.bash: $dist is its output.
# LATLAB_DIST=DIR is the fresh output of `scripts/dist.sh DIR` for these sources, to save a build.
dist=$(realpath -m "${LATLAB_DIST:-$here/dist}")
. scripts/env.sh
find_rust || die "no Rust $rust_needed or newer"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

for target in $(cut -d' ' -f2 <<<"$architectures"); do
    has_std "$target" ||
        skip "make dist: the standard library for $target is missing (scripts/setup.sh installs it)"
done
have "make dist" arm-linux-gnueabihf-gcc dpkg-deb file || exit 0
[ -n "${LATLAB_DIST:-}" ] || try "make dist" scripts/dist.sh "$dist"
[ "$status" = 0 ] || exit 1

# Our name for this machine's architecture.
native() { awk -v machine="$(uname -m)" '$4 == machine { print $1 }' <<<"$architectures"; }
