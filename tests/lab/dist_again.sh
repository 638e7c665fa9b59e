#!/usr/bin/env bash
# The output of `make dist` is the same bytes again. LATLAB_LONG=1 builds everything a second time, in another folder.
# Invariant (packages): Packages are small, static, reproducible, and install and remove cleanly.
. "$(dirname "$0")/../common.bash"
. tests/lab/dist.bash

again() {
    local wheel
    mkdir -p "$here/again"
    while read -r name target debian machine _; do
        [ -e "$dist/latlab-$version-linux-$name" ] || continue
        wheel=$(scripts/wheel.sh "$dist/latlab-$version-linux-$name" "$machine" "$dist/licences.txt" "$here/again") &&
            cmp "$wheel" "$dist/${wheel##*/}" || return 1
        scripts/deb.sh "$dist/latlab-$version-linux-$name" "$debian" "$dist/licences.txt" \
            "$here/again" && cmp "$here/again/latlab_${version}_$debian.deb" \
            "$dist/latlab_${version}_$debian.deb" || return 1
    done <<<"$architectures"
}
# At another second, were a time in what is packed.
sleep 1
try "packages and wheels that are packed again are the same" again

# The sources as they are, in a folder of another name and depth.
elsewhere() {
    mkdir -p "$here/some/where/else"
    git ls-files -z --cached --others --exclude-standard |
        tar --create --null --files-from=- --ignore-failed-read | tar --extract -C "$here/some/where/else"
    cd "$here/some/where/else" || return 1
    unset CARGO_TARGET_DIR
}
everything_again() {
    elsewhere && scripts/dist.sh "$here/second" && diff "$dist/SHA256SUMS" "$here/second/SHA256SUMS"
}
[ -z "${LATLAB_LONG:-}" ] || try "everything built in another folder has the same checksums" everything_again
exit $status
