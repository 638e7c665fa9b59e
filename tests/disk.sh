#!/usr/bin/env bash
# Disks that are full, read-only, slow or gone, and files that are not what they should be: the
# measuring goes on, what was stored stays, and what was lost is told.
# Invariant (losses): A full, slow, read-only or removed disk costs what it did not take, and the run says so.
. "$(dirname "$0")/common.bash"

[ "$OWN_MOUNTS" = yes ] ||
    skip "full, read-only and slow disks: mounting needs root, and the right to a mount namespace"
disk=$here/disk
mkdir "$disk"
trap 'umount -l "$disk" 2>/dev/null; rm -rf "$here"' EXIT

# A run in the background, in the folder of the disk; $run is its process.
begin() {
    "$program" run --quiet --format json --warm-up 0s --samples --deadline 10s --out "$disk/runs" "$@" \
        >"$here/run.json" 2>"$here/errors" &
    run=$!
    local tries
    for tries in {1..100}; do
        [ "$(cat "$disk"/runs/.*.partial/journal 2>/dev/null | wc -c)" -gt 20000 ] && return
        sleep 0.05
    done
    echo "the run does not begin"; cat "$here/errors"
    return 1
}

# The run as the next command finds it; leaves its document where the run itself would have.
recovered() {
    "$program" list --out "$disk/runs" >"$here/listed" 2>&1
    cat "$here/listed"
    expect "a recovered run" grep -q '^latlab: recovered' "$here/listed" &&
        cp "$disk"/runs/*/run.json "$here/run.json"
}

journal() { echo "$disk"/runs/.*.partial/journal; }
fill() { cat /dev/zero >"$disk/ballast" 2>/dev/null; }

new_disk() {
    umount -l "$disk" 2>/dev/null
    mount -t tmpfs -o "size=$1" none "$disk"
}

# Too small from the start

too_small() {
    new_disk 50m
    "$program" run --samples --cpus 0 --period 50us --for 8h --out "$disk/runs" >"$here/out" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        expect "the samples of 8 hours at 20 kHz" grep -q '^latlab: 576 000 000 samples' "$here/errors" &&
        expect "what is free" grep -q 'only 52.4 MB are free' "$here/errors" &&
        expect "no folder" [ ! -e "$disk/runs" ]
}
try "a run that the disk cannot hold is refused with the arithmetic" too_small

no_inodes() {
    umount -l "$disk" 2>/dev/null
    # For the disk itself, the folder of the runs and that of the run.
    mount -t tmpfs -o size=64m,nr_inodes=3 none "$disk" || return 1
    "$program" run --cpus 0 --for 1s --out "$disk/runs" >"$here/out" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        expect "what to look at" grep -q 'cannot begin a run.*df -i' "$here/errors"
}
try "a disk without inodes is told before anything is measured" no_inodes

read_only() {
    new_disk 8m && mount -o remount,ro "$disk"
    "$program" run --for 1s --out "$disk/runs" >"$here/out" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "one line with a remedy" [ "$(grep -c -- --out "$here/errors")/$(wc -l <"$here/errors")" = 1/1 ]
}
try "a read-only folder is one line before anything is measured" read_only

# Full during the run

full() {
    new_disk 8m
    begin --for 4s || return 1
    fill
    sleep 1.5
    rm "$disk/ballast"
    finish
    expect "exit code 4 for invalid, not $code" [ "$code" = 4 ] &&
        expect "one line while it went on" [ "$(grep -c 'cannot write' "$here/errors")" = 1 ] &&
        holds "run['ended'] == 'finished' and {'journal-not-written', 'interval-lost'} <= set(codes)" &&
        holds "all(t['end']['cycles'] > t['summary']['cycles'] > 1500 for t in threads)" &&
        holds "run['losses']['cycles'] == sum(t['end']['cycles'] - t['summary']['cycles'] for t in threads)"
}
try "a disk that is full for a while costs that while, and the run says so" full

full_to_the_end() {
    local sum
    new_disk 8m
    begin --for 4s || return 1
    # The journal begins with the conditions; what is to be recovered comes after them.
    sleep 1.5
    fill
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "a remedy" grep -q 'free some space' "$here/errors" || return 1
    sum=$(sha256sum "$(journal)")
    "$program" list --out "$disk/runs" >/dev/null 2>"$here/errors"
    expect "nothing is finished without room" grep -q 'cannot finish interrupted run' "$here/errors" &&
        expect "the journal as it was" [ "$(sha256sum "$(journal)")" = "$sum" ] || return 1
    rm "$disk/ballast"
    recovered && holds "run['recovered'] and run['total']['cycles'] > 500"
}
try "a disk that stays full keeps the journal, and the next command with room finishes it" full_to_the_end

full_for_the_tables() {
    local left
    new_disk 8m
    begin --for 3s --period 100us || return 1
    sleep 1.7
    kill -STOP "$run"
    # What the journal may still grow by is in the pipe and in the agent; the tables are more.
    fill
    truncate -s -64K "$disk/ballast"
    sleep 1.5
    kill -CONT "$run"
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] || return 1
    left=$(ls "$(dirname "$(journal)")")
    expect "the journal alone, not $left" [ "$left" = journal ] || return 1
    rm "$disk/ballast"
    recovered && holds "run['ended'] in ('finished', 'lost') and run['total']['cycles'] > 10000"
}
try "tables that have no room leave the journal alone in its folder" full_for_the_tables

limit() {
    new_disk 8m
    prlimit --fsize=200000 "$program" run --quiet --format json --warm-up 0s --samples --period 200us --for 3s \
        --out "$disk/runs" >"$here/run.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "an end of its own, not by a signal ($code)" [ "$code" -lt 128 ] &&
        expect "the reason" grep -q 'File too large' "$here/errors" || return 1
    [ -s "$here/run.json" ] || recovered || return 1
    holds "run['total']['cycles'] > 1000"
}
try "a limit on the size of files (RLIMIT_FSIZE) ends nothing" limit

# Slow

frozen() {
    begin --for 7s --period 200us || return 1
    fsfreeze -f "$disk"
    sleep 4
    fsfreeze -u "$disk"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        holds "set(codes) <= {'stroboscope'} and run['losses']['samples'] == 0" &&
        holds "all(t['summary']['activations'] == 35000 for t in threads)"
}
shut_down() {
    begin --for 4s || return 1
    sleep 1.5
    echo 1 >/sys/fs/ext4/"$(basename "$(findmnt -no SOURCE "$disk")")"/trigger_fs_error
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "one line for the writing" [ "$(grep -c 'cannot write' "$here/errors")" = 1 ] || return 1
    umount "$disk" && mount -o loop "$here/image" "$disk" || return 1
    recovered && holds "run['recovered'] and run['measured_ns'] > 5e8"
}
# A disk with a file system of its own.
block_disk() {
    umount -l "$disk" 2>/dev/null
    truncate -s 64M "$here/image" && mkfs.ext4 -q -F "$here/image" &&
        mount -o loop,errors=remount-ro "$here/image" "$disk"
}
if block_disk 2>"$here/mounted"; then
    try "a disk that answers nothing for seconds costs nothing" frozen
    if [ -w /sys/fs/ext4/"$(basename "$(findmnt -no SOURCE "$disk")")"/trigger_fs_error ] && block_disk; then
        try "a disk that turns read-only during the run keeps what it has" shut_down
    else
        echo "SKIPPED: a disk that turns read-only: this kernel cannot be asked for it"
    fi
else
    echo "SKIPPED: slow disks and those that turn read-only: $(tail -1 "$here/mounted")"
fi

slow_for_samples() {
    new_disk 64m
    begin --for 75s --period 20us || return 1
    kill -STOP "$run"
    sleep 70
    kill -CONT "$run"
    finish
    expect "exit code 4 for invalid, not $code" [ "$code" = 4 ] &&
        holds "'samples-lost' in codes and run['verdict']['word'] == 'invalid'" &&
        holds "run['losses']['samples'] == sum(t['end']['samples_lost'] for t in threads) > 0" &&
        holds "all(t['end']['cycles'] == t['summary']['cycles'] for t in threads)" &&
        holds "all(f['at_ns'] and f['thread'] is not None for f in run['findings'] if f['code'] == 'samples-lost')"
}
# A stall that is long enough takes minutes.
[ -z "${LATLAB_LONG:-}" ] ||
    try "a disk that is too slow for samples loses no count, and says which samples" slow_for_samples

# Deleted and replaced

replaced() {
    local what=$1
    new_disk 8m
    begin --for 4s || return 1
    [ "$what" = runs ] && what=$disk/runs || what=$(dirname "$(journal)")
    # At once, as far as latlab can see: it makes a folder that is gone anew.
    kill -STOP "$run"
    rm -r "$what"
    echo "a file" >"$what"
    kill -CONT "$run"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "the file as it was" [ "$(<"$what")" = "a file" ] &&
        holds "codes == ['folder-deleted'] and all(t['end']['cycles'] == t['summary']['cycles'] for t in threads)" &&
        holds "run['losses']['samples'] == 0" &&
        expect "the run beside it" [ "$(ls "$disk/runs.rescued")" = "$(id_of "$here/run.json")" ]
}
try "a run whose folder is replaced by a file is stored beside it, whole" replaced folder
try "and so is one whose folder of runs is replaced" replaced runs

pipes() {
    local folder
    new_disk 8m
    begin --for 3s || return 1
    folder=$(dirname "$(journal)")
    mkfifo "$folder/intervals.parquet"
    echo "somebody else's" >"$disk/other"
    ln -s "$disk/other" "$folder/histogram.parquet"
    ln -s "$disk/other" "$folder/run.json"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "what a link led to is as it was" [ "$(<"$disk/other")" = "somebody else's" ] &&
        holds "codes == []" || return 1
    python3 -c 'import pandas, pyarrow, duckdb' 2>/dev/null || return 0
    python3 tests/read_run.py "$disk"/runs/*
}
try "pipes and links in place of tables are waited for and followed by nobody" pipes

pipe_as_journal() {
    new_disk 8m
    mkdir -p "$disk/runs/.20260101T000000Z_pipe.partial"
    mkfifo "$disk/runs/.20260101T000000Z_pipe.partial/journal"
    timeout 10 "$program" list --out "$disk/runs" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/text" "$here/errors"
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "a word about it" grep -q 'not a regular file' "$here/errors"
}
try "a pipe in place of a journal is waited for by nobody" pipe_as_journal

exit $status
