#!/usr/bin/env bash
# The Debian package in a clean root: it installs, measures, and leaves nothing but runs.
# Invariant (packages): Packages are small, static, reproducible, and install and remove cleanly.
. "$(dirname "$0")/../common.bash"
. tests/lab/dist.bash
clean=$here/clean

[ "$(id -u)" = 0 ] || skip "the package in a clean root: needs root"
have "the package in a clean root" debootstrap || exit 0
. scripts/debian.bash
fresh_debian "$clean" >"$here/errors" 2>&1 ||
    skip "the package in a clean root: debootstrap: $(tail -n1 "$here/errors")"
debian=$(dpkg --print-architecture)
cp "$dist/latlab_${version}_$debian.deb" "$clean/latlab.deb"

# A command in the clean root, with its own /proc.
inside() {
    unshare --mount --pid --fork bash -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' \
        - "$clean" "$@"
}

# All files except the bookkeeping of dpkg and groupadd.
listing() {
    (cd "$clean" && find . -mindepth 1 \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/log \) \
        -prune -o ! -path './etc/group-' ! -path './etc/gshadow-' -print | sort)
}
listing >"$here/before"

installs() { inside dpkg --install /latlab.deb; }
try "the package can be installed" installs
try "it can be installed again" installs

is_there() {
    expect "the version" [ "$(inside latlab --version)" = "latlab $version" ] &&
        expect "the group" inside getent group latlab &&
        expect "a system group" [ "$(inside getent group latlab | cut -d: -f3)" -lt 1000 ] &&
        expect "one group" [ "$(grep -c '^latlab:' "$clean/etc/group")" = 1 ] &&
        expect "the limits" grep -q '^@latlab - rtprio 99$' "$clean/etc/security/limits.d/latlab.conf" &&
        expect "the rule" grep -q 'GROUP="latlab"' "$clean/usr/lib/udev/rules.d/60-latlab.rules" &&
        expect "the timer is not enabled" [ -z "$(find "$clean/etc/systemd" -name 'latlab*')" ]
}
try "the program, the group, its limits and its device are there" is_there

measures() {
    inside latlab run --quiet --for 1s --policy other --idle-states system --out /tmp/runs &&
        inside latlab show last --out /tmp/runs && rm -r "$clean/tmp/runs"
}
try "it measures there" measures

night() {
    local code
    inside sh -c '. /etc/default/latlab && LATLAB_RUNS=/var/lib/latlab/runs exec latlab run --quiet \
        $LATLAB_NIGHT_OPTIONS --cycles 100 --policy other --idle-states system'
    code=$?
    expect "a result, not exit code $code" grep -qw "$code" <<<"0 1 4" &&
        expect "a stored run" compgen -G "$clean/var/lib/latlab/runs/*_night/run.json"
}
try "the options of the nightly run are understood" night

if have "the units of the package" systemd-analyze; then
    # Together with this machine's units, since the clean root has none.
    units() {
        mkdir -p "$here/units"
        sed "s,/usr/bin/latlab,$dist/latlab-$version-linux-$(native)," \
            "$clean/usr/lib/systemd/system/latlab-night.service" >"$here/units/latlab-night.service"
        cp "$clean/usr/lib/systemd/system/latlab-night.timer" "$here/units"
        systemd-analyze verify --man=no "$here/units/latlab-night.service" \
            "$here/units/latlab-night.timer" >"$here/complaints" 2>&1
        cat "$here/complaints"
        # Proves that the check works here.
        printf '[Service]\nExecStart=relative/latlab\n' >"$here/units/wrong.service"
        expect "a complaint about a wrong unit" grep -q wrong.service \
            <(systemd-analyze verify --man=no "$here/units/wrong.service" 2>&1) || return 1
        expect "no complaint" [ "$(grep -c latlab-night "$here/complaints")" = 0 ]
    }
    try "systemd understands its units" units
fi

manual() {
    local page
    for page in "$clean"/usr/share/man/man1/latlab*.1.gz; do
        MANWIDTH=80 man --warnings --local-file "$page" >"$here/page" 2>"$here/errors" || return 1
        cat "$here/errors"
        expect "a page without warnings: $page" [ ! -s "$here/errors" ] &&
            expect "a name and an option" [ "$(grep -Ec '^NAME|^ +(-|latlab)' "$here/page")" -ge 2 ] ||
            return 1
    done
}
! have "the manual pages" man || try "the manual pages can be read" manual

leaves() {
    inside dpkg --remove latlab || return 1
    expect "the settings after removal" [ -e "$clean/etc/default/latlab" ] || return 1
    inside dpkg --purge latlab >"$here/purge" || return 1
    cat "$here/purge"
    expect "the runs, and a word of them" grep -q 'latlab/runs are kept' "$here/purge" || return 1
    expect "the run" compgen -G "$clean/var/lib/latlab/runs/*_night/run.json" || return 1
    # A reboot empties /run.
    rm -rf "$clean/var/lib/latlab" "$clean/run/latlab" "$clean"/run/lock/latlab-*
    listing | diff "$here/before" -
}
try "a purge leaves the runs and the group, and nothing else" leaves
exit $status
