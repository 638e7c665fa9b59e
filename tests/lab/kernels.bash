# What the tests of guests in virtual time share, to be sourced after common.bash.
have "the laboratory" qemu-system-x86_64 dpkg-deb || exit 0
. tests/lab/laboratory.bash
laboratory "the laboratory"

fetch x86-64 stock-6.1 rt-6.1 ||
    skip "the laboratory: the kernels cannot be had: $(tail -n 1 "$here/fetched")"

# The PREEMPT_RT image for PCs, in place of a custom kernel.
image() {
    local kernels=${LATLAB_LAB:-$HOME/.cache/latlab/lab}/kernels
    find "$kernels/amd64/rt-6.1" -name 'vmlinuz-*' | head -n 1
}

# A run of a guest: measure NAME KERNEL [OPTION]...
measure() {
    local name=$1 kernel=$2
    shift 2
    timeout 280 "$lab" run --target "lab:$kernel" --name "$name" --out "$here/runs" -q "$@" \
        >"$here/$name.txt" 2>&1 || { cat "$here/$name.txt"; return 1; }
}
of() { echo "$here"/runs/*_"$1"; }
# What must be the same: every sample, every count, and the kernel's messages.
bits() { (cd "$(of "$1")" && sha256sum ./*.parquet console.txt); }
maximum() { grep -om1 '"max_ns": [0-9]*' "$(of "$1")/run.json" | tr -dc 0-9; }

# Makes a run twice in parallel: twice NAME KERNEL [OPTION]...
twice() {
    local name=$1
    shift
    measure "$name-a" "$@" --seed 1 --samples & local first=$!
    measure "$name-b" "$@" --seed 1 --samples || return 1
    wait "$first" || return 1
    same "$name-a" "$name-b"
}
same() {
    bits "$1" >"$here/a" && bits "$2" >"$here/b" || return 1
    expect "samples among the tables" grep -q samples.parquet "$here/a" || return 1
    if cmp -s "$here/a" "$here/b"; then
        "$lab" compare --out "$here/runs" "$1" -- "$2" >"$here/compared"
        expect "compare to say so, not: $(head -3 "$here/compared")" grep -q 'Identical: the same bits' "$here/compared"
        return
    fi
    # A run with this finding need not be reproducible.
    if grep -q '"host-crowded"' "$(of "$1")/run.json" "$(of "$2")/run.json"; then
        echo "SKIPPED: the bits of $1 and $2: this machine was too busy to give each guest its own CPU"
        return
    fi
    echo "expected the same bits: $(paste "$here/a" "$here/b")"
    return 1
}
hackbench=(--load hackbench,bytes=128,groups=1)
