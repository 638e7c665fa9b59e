#!/usr/bin/env bash
# The output of `make dist`: sizes, the programs for Arm under qemu, packages, wheels.
# Invariant (packages): Packages are small, static, reproducible, and install and remove cleanly.
# Invariant (packages): The agent program speaks what latlab agent speaks.
. "$(dirname "$0")/../common.bash"
. tests/lab/dist.bash

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
        expect "cycles" grep -Eq 'of [0-9 ]{5,} releases' "$here/ours" &&
        emulated "$qemu" "$program" report last --out "$runs" -o "$here/page.html" &&
        expect "a page" grep -q '</html>' "$here/page.html"
}

# An agent alone serves a plan, and its stream is a journal, which becomes a run here.
serves() {
    local qemu=$1 agent=$2 store=$here/served-$1 plan=$here/runs-x86_64
    local journal=$store/.20260101T000000Z_served.partial
    mkdir -p "$journal"
    python3 tests/lab/dist.py serve "$journal/journal" "$(echo "$plan"/*/run.json)" \
        $([ "$qemu" = "$(uname -m)" ] || echo "qemu-$qemu-static") "$agent" || return 1
    "$dist/latlab-$version-linux-$(native)" show served --all --out "$store" >"$here/show" &&
        expect "cycles" grep -Eq 'of [0-9 ]{5,} releases' "$here/show"
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

# What is tried of a program and its packages; the short form of the laboratory builds those of one architecture.
as_packed() {
    # What is only for tests is not optimised as a whole.
    local most=16
    [ -z "${PROGRAMS:-}" ] || most=40
    try "$name: the program is under $most MB, static, stripped, without our paths" fits "$program" ${most}000
    try "$name: the package holds what it says" package "$debian" "$program"
    try "$name: so does the wheel" wheel "$machine" "$program"
}
as_started() {
    try "$name: the program says its version" says_its_version "$qemu" "$program" latlab
    try "$name: it carries the three agents, bit for bit, and they run" carries "$qemu" "$program"
}
as_measuring() {
    try "$name: latlab run stores a run that it and we read alike" runs_are_stored "$qemu" "$program"
    ! have "$name: the tables" python:{pandas,pyarrow,duckdb} ||
        try "$name: pandas and DuckDB find every cycle of the run" \
            python3 tests/read_run.py "$(echo "$here/runs-$qemu"/*_emulated)"
}

while read -r name target debian machine qemu _; do
    program=$dist/latlab-$version-linux-$name agent=$dist/latlab-agent-$version-linux-$name
    try "$name: the agent is under 2.1 MB, and the same" fits "$agent" 2100
    [ ! -e "$program" ] || as_packed
    [ "$qemu" = "$(uname -m)" ] || have "$name: programs that are started" "qemu-$qemu-static" || continue
    [ ! -e "$program" ] || as_started
    if ! where_it_runs "$qemu" true 2>"$here/errors"; then
        echo "SKIPPED: $name: a whole run: $(tail -n1 "$here/errors")"
        continue
    fi
    [ ! -e "$program" ] || as_measuring
    try "$name: the agent alone serves a plan" serves "$qemu" "$agent"
done <<<"$architectures"

try "the bill of materials names what is linked in, with licences, and nothing else" \
    python3 tests/lab/dist.py bill "$dist/sbom.cdx.json"
exit $status
