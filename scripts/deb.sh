#!/usr/bin/env bash
# Packs one program for Debian. Usage: scripts/deb.sh PROGRAM ARCHITECTURE LICENCES FOLDER
#   ARCHITECTURE  Debian's name: amd64, arm64, armhf
#   LICENCES      the file with the licences of everything that is linked in
# Everything in the package has the time SOURCE_DATE_EPOCH and belongs to root.
set -euo pipefail
program=$(realpath "$1") architecture=$2 licences=$(realpath "$3") folder=$(realpath "$4")
. "$(dirname "$0")/env.sh"
: "${SOURCE_DATE_EPOCH:?}"
# xz with several threads packs differently.
export SOURCE_DATE_EPOCH DPKG_DEB_THREADS_MAX=1 LC_ALL=C
umask 022
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
from=packaging/deb
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
doc=$tree/usr/share/doc/latlab

put() { install -D -m "${3:-644}" "$1" "$tree/$2"; }

put "$program" usr/bin/latlab 755
put "$from/limits.conf" etc/security/limits.d/latlab.conf
put "$from/default" etc/default/latlab
put "$from/udev.rules" usr/lib/udev/rules.d/60-latlab.rules
put "$from/latlab-night.service" usr/lib/systemd/system/latlab-night.service
put "$from/latlab-night.timer" usr/lib/systemd/system/latlab-night.timer
put "$from/latlab-watch.service" usr/lib/systemd/system/latlab-watch.service
put packaging/prometheus/latlab.rules.yml usr/share/latlab/prometheus/latlab.rules.yml
put packaging/prometheus/scrape.yml usr/share/latlab/prometheus/scrape.yml
put packaging/grafana/latlab.json usr/share/latlab/grafana/latlab.json
put "$from/lintian" usr/share/lintian/overrides/latlab
# The sources that `latlab respond --simulate` builds are shipped as sources.
while read -r file; do
    put "$file" "usr/share/latlab/$file"
done < <(find responders -type f ! -path '*/build/*' | sort)

# Files generated from the program's description are in docs/reference.
generated() {
    local file files=(docs/reference/$1)
    [ -e "${files[0]}" ] || die "there is no docs/reference/$1: scripts/reference.sh makes it"
    for file in "${files[@]}"; do put "$file" "$2${3-/$(basename "$file")}"; done
}
generated 'man/*.1' usr/share/man/man1
generated completions/latlab.bash usr/share/bash-completion/completions /latlab
generated completions/_latlab usr/share/zsh/vendor-completions
generated completions/latlab.fish usr/share/fish/vendor_completions.d
generated '*.schema.json' usr/share/doc/latlab
[ ! -d "$tree/usr/share/man" ] || find "$tree/usr/share/man" -type f -exec gzip -n9 {} +

mkdir -p "$doc"
date=$(date -u -R -d "@$SOURCE_DATE_EPOCH")
maintainer=$(sed -n 's/^Maintainer: //p' "$from/control")
printf 'latlab (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$date" | gzip -n9 >"$doc/changelog.gz"
put CHANGELOG.md usr/share/doc/latlab/CHANGELOG.md
gzip -n9 "$doc/CHANGELOG.md"
put "$licences" usr/share/doc/latlab/licences.txt
gzip -n9 "$doc/licences.txt"
{
    echo "latlab is MIT OR Apache-2.0, at your choice."
    echo "The text of Apache-2.0 is in /usr/share/common-licenses/Apache-2.0, that of MIT below."
    echo "What is linked in, and under which licences, is in licences.txt.gz in this folder."
    echo "/usr/share/latlab/responders/arduino/sim is GPL-3.0-or-later: a separate program, of which"
    echo "this is the source. The text of GPL-3 is next to it and in /usr/share/common-licenses/GPL-3."
    echo "/usr/share/latlab/responders/kmod is GPL-2.0: sources of kernel modules, which are built where they"
    echo "are needed. The text of GPL-2 is next to them and in /usr/share/common-licenses/GPL-2."
    echo
    cat LICENSE-MIT
} >"$doc/copyright"

mkdir "$tree/DEBIAN"
# Like dpkg: each file in whole kibibytes, each folder one.
size=$(find "$tree" -mindepth 1 -path "$tree/DEBIAN" -prune -o \
    \( -type f -printf '%s\n' -o -printf '1\n' \) |
    awk '{ n += int(($1 + 1023) / 1024) } END { print n }')
sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$size/" \
    "$from/control" >"$tree/DEBIAN/control"
(cd "$tree" && find etc -type f | sort | sed 's,^,/,') >"$tree/DEBIAN/conffiles"
(cd "$tree" && find usr -type f | sort | xargs md5sum) >"$tree/DEBIAN/md5sums"
for script in postinst prerm postrm; do
    install -m 755 "$from/$script" "$tree/DEBIAN/$script"
done

find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# Packages for tests are compressed faster, and are larger.
dpkg-deb --root-owner-group -Zxz --build "$tree" \
    "$folder/latlab_${version}_$architecture.deb" >/dev/null
