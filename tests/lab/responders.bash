# What the tests of responders in guests share, to be sourced after common.bash.
have "responders in guests" qemu-system-x86_64 dpkg-deb gcc make || exit 0
. tests/lab/laboratory.bash
laboratory "responders in guests"
export LATLAB_RUNS=$here/runs NO_COLOR=1 COLUMNS=160 LATLAB_RESPONDERS=$PWD/responders

fetch x86-64 stock-6.1 rt-6.1 ||
    skip "responders in guests: the kernels cannot be had: $(tail -n 1 "$here/fetched")"

# Makes a run with document $here/NAME.json: answer NAME RESPONDER TARGET [OPTION]...
answer() {
    local name=$1 responder=$2 target=$3
    shift 3
    timeout 500 "$lab" respond --simulate "linux:$responder" --target "lab:$target" --name "$name" --format json \
        "$@" >"$here/$name.json" 2>"$here/$name.txt" || { cat "$here/$name.txt"; return 1; }
}
# Copies files to LATLAB_KEEP, if it is set.
keep() {
    [ -n "${LATLAB_KEEP:-}" ] || return 0
    mkdir -p "$LATLAB_KEEP" && cp -r "$@" "$LATLAB_KEEP"
}
# Whether this holds for the runs, which are available by name.
holds() { python3 tests/lab/responders.py holds "$here" "$1"; }
of() { echo "$here"/runs/*_"$1"; }
bits() { (cd "$(of "$1")" && sha256sum ./*.parquet); }
