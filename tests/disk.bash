# A temporary disk that holds the runs, to be sourced after common.bash.

[ "$OWN_MOUNTS" = yes ] ||
    skip "full, read-only and slow disks: mounting needs root, and the right to a mount namespace"
disk=$here/disk
mkdir "$disk"
trap 'umount -l "$disk" 2>/dev/null; rm -rf "$here"' EXIT

# Starts a run in the background, in the folder of the disk; $run is its conductor, $agent its agent.
begin() {
    "$program" run --quiet --format json --warm-up 0s --samples --deadline 10s --out "$disk/runs" "$@" \
        >"$here/run.json" 2>"$here/errors" &
    run=$!
    until_holds 60 "a run that begins" has_begun || { cat "$here/errors"; return 1; }
    agent=$(pgrep -P "$run" -f ' agent ')
}
has_begun() { [ "$(cat "$disk"/runs/.*.partial/journal | wc -c)" -gt 20000 ]; }

# Recovers the run with the next command; leaves its document where the run itself would have.
recovered() {
    "$program" list --out "$disk/runs" >"$here/listed" 2>&1
    cat "$here/listed"
    expect "a recovered run" grep -q '^latlab: recovered' "$here/listed" &&
        cp "$disk"/runs/*/run.json "$here/run.json"
}

# Whether the journal has at least this many intervals.
has_intervals() { has_counts "$1" "$(journal)"; }

journal() { echo "$disk"/runs/.*.partial/journal; }
fill() { cat /dev/zero >"$disk/ballast" 2>/dev/null; }

new_disk() {
    umount -l "$disk" 2>/dev/null
    mount -t tmpfs -o "size=$1" none "$disk"
}
