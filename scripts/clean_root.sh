#!/usr/bin/env bash
# Runs `make test` as on a newcomer's machine: in a fresh Debian, made by debootstrap, that has only git and
# make, on a clone of the last commit. Needs root.
# Usage: scripts/clean_root.sh [FOLDER [COMMAND...]]
#   FOLDER   where to make the root, which is kept [a temporary folder]
#   COMMAND  what to run instead of `make test`
# The table of steps is then in target/clean-root.tsv.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. scripts/debian.bash
[ "$(id -u)" = 0 ] || die "a clean root takes root"
command -v debootstrap >/dev/null || die "debootstrap is missing (scripts/setup.sh lab installs it)"
[ -z "$(git status --porcelain)" ] || say "what is not committed is left out"

clean=${1:-}
shift || true
[ $# -gt 0 ] || set -- make test
if [ -z "$clean" ]; then
    clean=$(mktemp -d)
    trap 'rm -rf --one-file-system "$clean"' EXIT
fi
say "making a root in $clean"
fresh_debian "$clean" >/dev/null
git clone --quiet --no-hardlinks . "$clean/root/latlab"

# Network settings are this machine's: name servers, proxies, and certificates.
cp -L /etc/resolv.conf "$clean/etc/resolv.conf"
mkdir -p "$clean/usr/local/share/ca-certificates"
cp -r /usr/local/share/ca-certificates/. "$clean/usr/local/share/ca-certificates" 2>/dev/null || true
ways=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY LATLAB_CI JOBS; do
    [ -z "${!name:-}" ] || ways+=("$name=${!name}")
done

# Runs a command in the root, with its own mounts and processes, and this machine's devices.
inside() {
    unshare --mount --pid --fork bash -c '
        clean=$1
        shift
        mount --bind "$clean" "$clean" && mount -t proc proc "$clean/proc" &&
            mount --rbind /sys "$clean/sys" && mount --rbind /dev "$clean/dev" &&
            mount -t tmpfs tmpfs "$clean/run" && mkdir "$clean/run/lock" &&
            exec chroot "$clean" "$@"' - "$clean" \
        env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "TERM=${TERM:-dumb}" LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${ways[@]}" "$@"
}

say "installing git and make, and nothing else"
inside apt-get -qq update
inside apt-get -qq install --no-install-recommends git make >/dev/null
status=0
inside sh -c 'cd /root/latlab && exec "$@"' - "$@" || status=$?
mkdir -p target
cp "$clean/root/latlab/target/steps.tsv" target/clean-root.tsv 2>/dev/null || true
exit "$status"
