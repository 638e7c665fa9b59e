#!/usr/bin/env bash
# Adds to the output of `make dist`: a container image for all architectures, the book, and the script that
# pipelines call. Usage: scripts/release.sh [FOLDER]
#   FOLDER  the folder of `make dist` [dist]
# The same sources give the same files: their times are that of the last commit (or SOURCE_DATE_EPOCH).
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")/../dist}")
. "$(dirname "$0")/env.sh"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} ||
    die "no commit to take the time from: set SOURCE_DATE_EPOCH"
export SOURCE_DATE_EPOCH
[ -e "$folder/SHA256SUMS" ] || die "$folder has no SHA256SUMS: run 'make dist' before"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An image for each program in the folder, under one name, as an archive that podman, docker and skopeo load.
image() {
    local name target debian machine rest program
    local stores=(--root "$work/images" --runroot "$work/run" --storage-driver vfs)
    buildah "${stores[@]}" manifest create latlab >/dev/null
    while read -r name target debian machine rest; do
        program=latlab-$version-linux-$name
        [ -e "$folder/$program" ] || continue
        buildah "${stores[@]}" build --quiet --isolation chroot --timestamp "$SOURCE_DATE_EPOCH" --manifest latlab \
            --platform "linux/$(sed 's,armhf,arm/v7,' <<<"$debian")" --file packaging/Containerfile \
            --build-arg "PROGRAM=$program" "$folder" >/dev/null
    done <<<"$architectures"
    buildah "${stores[@]}" manifest push --quiet --all latlab "oci:$work/oci:latlab:$version"
    pack "$work/oci" "$folder/latlab-$version-oci.tar"
}

# Packs a folder reproducibly: pack FOLDER FILE
pack() {
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@$SOURCE_DATE_EPOCH" \
        --format=gnu --directory "$1" --file "$2" .
}

rm -f "$folder"/latlab-"$version"-{oci,book}.tar* "$folder/latlab-pipeline.sh"
if command -v buildah >/dev/null; then
    say "making the image of a container"
    image
else
    say "WARNING: no image of a container: buildah is missing (apt-get install buildah)"
fi
say "making the book"
scripts/book.sh "$work/book"
pack "$work/book" "$work/book.tar"
xz -T1 -9 <"$work/book.tar" >"$folder/latlab-$version-book.tar.xz"
install -m 755 packaging/pipeline/pipeline.sh "$folder/latlab-pipeline.sh"

(cd "$folder" && rm SHA256SUMS && sha256sum * >SHA256SUMS)
find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
say "added to $folder:"
(cd "$folder" && ls -l *oci* *book* latlab-pipeline.sh 2>/dev/null | awk '{ printf "  %9d  %s\n", $5, $9 }') >&2
