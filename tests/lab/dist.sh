#!/usr/bin/env bash
# The output of `make dist`: sizes, the programs for Arm under qemu, packages, wheels, the same bytes again.
# LATLAB_LONG=1 builds everything a second time, in another folder; otherwise one agent.
# LATLAB_DIST=DIR is the fresh output of `scripts/dist.sh DIR` for these sources, to save a build.
# Invariant (packages): Packages are small, static, reproducible, and install and remove cleanly.
# Invariant (packages): The agent program speaks what latlab agent speaks.
. "$(dirname "$0")/../common.bash"
root=$PWD clean=$here/clean
dist=$(realpath -m "${LATLAB_DIST:-$here/dist}")
. scripts/env.sh
find_rust || die "no Rust $rust_needed or newer"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

for target in $(cut -d' ' -f2 <<<"$architectures"); do
    if ! has_std "$target"; then
        echo "SKIPPED: make dist: the standard library for $target is missing (scripts/setup.sh installs it)"
        exit 0
    fi
done
have "make dist" arm-linux-gnueabihf-gcc dpkg-deb file || exit 0
[ -n "${LATLAB_DIST:-}" ] || try "make dist" scripts/dist.sh "$dist"
[ "$status" = 0 ] || exit 1

# The files

try "the checksums fit" bash -c 'cd "$1" && sha256sum --strict --quiet -c SHA256SUMS' - "$dist"

fits() {
    local file=$1 limit=$2
    ls -l "$file"
    expect "under $limit kB" [ "$(stat -c %s "$file")" -lt $((limit * 1000)) ] || return 1
    file "$file"
    expect "static" grep -Eq 'statically linked|static-pie linked' <(file "$file") &&
        expect "stripped" grep -q ', stripped' <(file "$file") &&
        expect "no path of this machine" [ "$(grep -acF -e "$root" -e "$HOME/" "$file")" = 0 ]
}

# Starts a program of an architecture.
emulated() {
    local qemu=$1 program=$2
    shift 2
    if [ "$qemu" = "$(uname -m)" ]; then "$program" "$@"; else "qemu-$qemu-static" "$program" "$@"; fi
}

# Starts a command where the kernel runs programs of this architecture in qemu: in a new namespace,
# so that nothing of the machine is changed.
where_it_runs() {
    local qemu=$1 magic class number
    shift
    if [ "$qemu" = "$(uname -m)" ]; then
        "$@"
        return
    fi
    # The head of an ELF file; class and machine tell the architectures apart.
    case $qemu in
        x86_64) class=02 number=3e ;;
        aarch64) class=02 number=b7 ;;
        arm) class=01 number=28 ;;
    esac
    magic=":latlab:M::\\x7fELF\\x$class\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
    magic+="\\x02\\x00\\x$number\\x00:"
    magic+='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    magic+=":$(command -v "qemu-$qemu-static"):F"
    unshare --user --map-root-user --mount bash -c '
        mount -t binfmt_misc latlab /proc/sys/fs/binfmt_misc &&
            printf %s "$1" >/proc/sys/fs/binfmt_misc/register || exit
        shift
        exec "$@"' - "$magic" "$@"
}

says_its_version() {
    local said
    said=$(emulated "$1" "$2" --version) && expect "$3 $version, not $said" [ "$said" = "$3 $version" ]
}

carries() {
    local own=$1 name target debian machine qemu
    while read -r name target debian machine qemu _; do
        emulated "$own" "$2" agent --write "$machine" -o "$here/agent" &&
            cmp "$here/agent" "$dist/latlab-agent-$version-linux-$name" &&
            expect "a program" [ -x "$here/agent" ] &&
            says_its_version "$qemu" "$here/agent" latlab-agent || return 1
    done <<<"$architectures"
    emulated "$own" "$2" agent --write pdp11 -o "$here/none" 2>"$here/errors" && return 1
    cat "$here/errors"
    expect "one line with what there is" grep -q "no agent for 'pdp11' (aarch64, armv7l, x86_64)" "$here/errors"
}

runs_are_stored() {
    local qemu=$1 program=$2 runs=$here/runs-$1 code
    where_it_runs "$qemu" "$program" run --quiet --for 2s --policy other --idle-states system \
        --deadline 1s --name emulated --out "$runs"
    code=$?
    expect "a verdict, not exit code $code" [ "$code" = 0 -o "$code" = 1 ] &&
        emulated "$qemu" "$program" show --all --out "$runs" >"$here/theirs" &&
        "$dist/latlab-$version-linux-$(native)" show --all --out "$runs" >"$here/ours" &&
        cmp "$here/theirs" "$here/ours" &&
        expect "cycles" grep -Eq 'in [0-9 ]{5,} activations over 2' "$here/ours" &&
        emulated "$qemu" "$program" report last --out "$runs" -o "$here/page.html" &&
        expect "a page" grep -q '</html>' "$here/page.html"
}

# Our name for this machine's architecture.
native() { awk -v machine="$(uname -m)" '$4 == machine { print $1 }' <<<"$architectures"; }

# An agent alone serves a plan, and its stream is a journal, which becomes a run here.
serves() {
    local qemu=$1 agent=$2 store=$here/served-$1 plan=$here/runs-x86_64
    local journal=$store/.20260101T000000Z_served.partial
    mkdir -p "$journal"
    python3 - "$journal/journal" "$(echo "$plan"/*/run.json)" \
        $([ "$qemu" = "$(uname -m)" ] || echo "qemu-$qemu-static") "$agent" <<'PYTHON' || return 1
import json, pathlib, re, struct, subprocess, sys

def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value ^ 0xffffffff

def frame(kind, content):
    payload = json.dumps(content).encode()
    head = struct.pack("<II", len(payload), kind)
    return head + struct.pack("<I", crc32c(head + payload)) + payload

journal, run, *agent = sys.argv[1:]
source = pathlib.Path("crates/model/src/frame.rs").read_text()
stream = int(re.search(r"STREAM_VERSION: u32 = (\d+)", source)[1])
plan = dict(json.load(open(run))["asked"], name="served")
hello = {"stream": stream, "latlab": "test", "id": "20260101T000000Z_served"}
with open(journal, "wb") as output:
    program = subprocess.Popen(agent, stdin=subprocess.PIPE, stdout=output)
    program.stdin.write(frame(1, hello) + frame(2, plan))
    program.stdin.flush()
    sys.exit(program.wait(timeout=60))
PYTHON
    "$dist/latlab-$version-linux-$(native)" show served --all --out "$store" >"$here/show" &&
        expect "cycles" grep -Eq 'in [0-9 ]{5,} activations over 2' "$here/show"
}

package() {
    local architecture=$1 program=$2 deb=$dist/latlab_${version}_$1.deb tree=$here/deb-$1
    dpkg-deb --info "$deb" && dpkg-deb --extract "$deb" "$tree" || return 1
    expect "for $architecture" [ "$(dpkg-deb --field "$deb" Architecture)" = "$architecture" ] &&
        expect "version $version" [ "$(dpkg-deb --field "$deb" Version)" = "$version" ] &&
        cmp "$tree/usr/bin/latlab" "$program" &&
        expect "all of root" [ -z "$(dpkg-deb --contents "$deb" | grep -v ' root/root ')" ] &&
        (cd "$tree" && find etc -type f | sort | sed 's,^,/,') >"$here/etc" &&
        dpkg-deb --info "$deb" conffiles | cmp - "$here/etc" &&
        expect "licences" grep -q '^rustix ' <(zcat "$tree/usr/share/doc/latlab/licences.txt.gz") &&
        diff -r --exclude=build responders "$tree/usr/share/latlab/responders" &&
        expect "the licence of the simulator" grep -q 'GPL-3.0' "$tree/usr/share/doc/latlab/copyright"
}

wheel() {
    local machine=$1 program=$2 tree=$here/wheel-$1
    local tag=manylinux_2_17_$machine.manylinux2014_$machine.musllinux_1_1_$machine
    python3 -m zipfile -e "$dist/latlab-$version-py3-none-$tag.whl" "$tree" &&
        cmp "$tree/latlab-$version.data/scripts/latlab" "$program" &&
        cmp "$tree/latlab-$version.dist-info/licenses/licences.txt" "$dist/licences.txt" &&
        diff -r --exclude=__pycache__ python/src/latlab "$tree/latlab"
}

while read -r name target debian machine qemu _; do
    program=$dist/latlab-$version-linux-$name agent=$dist/latlab-agent-$version-linux-$name
    try "$name: the agent is under 2.1 MB, and the same" fits "$agent" 2100
    try "$name: the program is under 16 MB, static, stripped, without our paths" fits "$program" 16000
    try "$name: the package holds what it says" package "$debian" "$program"
    try "$name: so does the wheel" wheel "$machine" "$program"
    [ "$qemu" = "$(uname -m)" ] || have "$name: programs that are started" "qemu-$qemu-static" || continue
    try "$name: the program says its version" says_its_version "$qemu" "$program" latlab
    try "$name: it carries the three agents, bit for bit, and they run" carries "$qemu" "$program"
    if ! where_it_runs "$qemu" true 2>"$here/errors"; then
        echo "SKIPPED: $name: a whole run: $(tail -n1 "$here/errors")"
        continue
    fi
    try "$name: latlab run stores a run that it and we read alike" runs_are_stored "$qemu" "$program"
    try "$name: the agent alone serves a plan" serves "$qemu" "$agent"
    ! have "$name: the tables" python:{pandas,pyarrow,duckdb} ||
        try "$name: pandas and DuckDB find every cycle of the run" \
            python3 tests/read_run.py "$(echo "$here/runs-$qemu"/*_emulated)"
done <<<"$architectures"

bill() {
    python3 - "$dist/sbom.cdx.json" <<'PYTHON'
import json, sys
bill = json.load(open(sys.argv[1]))
names = {part["name"]: part for part in bill["components"]}
assert bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5", bill["bomFormat"]
linked = {"rustix", "parquet", "clap", "latlab-agent", "musl", "glibc", "dejavu-fonts", "uplot"}
assert linked <= set(names), sorted(names)
assert not {"proptest", "insta", "windows-sys"} & set(names), "what is not linked in"
without = [name for name, part in names.items() if not part["licenses"][0]["expression"]]
assert not without, f"without a licence: {without}"
references = {part["bom-ref"] for part in [*bill["components"], bill["metadata"]["component"]]}
for one in bill["dependencies"]:
    assert {one["ref"], *one["dependsOn"]} <= references, one
PYTHON
}
try "the bill of materials names what is linked in, with licences, and nothing else" bill

# The same again

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
agent_again() {
    elsewhere && LATLAB_AGENT_ONLY=x86-64 scripts/dist.sh "$here/second" &&
        cmp "$here/second/latlab-agent-$version-linux-x86-64" \
            "$dist/latlab-agent-$version-linux-x86-64"
}
if [ -n "${LATLAB_LONG:-}" ]; then
    try "everything built in another folder has the same checksums" everything_again
else
    try "the agent for x86-64 built in another folder is the same" agent_again
fi

# The package in a clean root

[ "$(id -u)" = 0 ] || { echo "SKIPPED: the package in a clean root: needs root"; exit $status; }
have "the package in a clean root" debootstrap || exit $status
. scripts/debian.bash
if ! fresh_debian "$clean" >"$here/errors" 2>&1; then
    echo "SKIPPED: the package in a clean root: debootstrap: $(tail -n1 "$here/errors")"
    exit $status
fi
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
