#!/usr/bin/env bash
# Disks that are slow or fail, and files that are missing or wrong: the measurement continues, stored data stays,
# and losses are reported.
# Invariant (losses): A full, slow, read-only or removed disk costs what it did not take, and the run says so.
. "$(dirname "$0")/common.bash"
. tests/disk.bash

# Slow

frozen() {
    begin --for 7s --period 200us || return 1
    fsfreeze -f "$disk"
    sleep 4
    fsfreeze -u "$disk"
    finish
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        holds "set(codes) <= {'period-aliases-tick'} and run['losses']['samples'] == 0" &&
        holds "all(t['summary']['releases'] == 35000 for t in threads)"
}
shut_down() {
    # The first second is on the disk when the second one is written.
    begin --for 60s && until_holds 60 "two seconds in the journal" has_intervals 4 || return 1
    echo 1 >/sys/fs/ext4/"$(basename "$(findmnt -no SOURCE "$disk")")"/trigger_fs_error
    end_run
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "one line for the writing" [ "$(grep -c 'cannot write' "$here/errors")" = 1 ] || return 1
    umount "$disk" && mount -o loop "$here/image" "$disk" || return 1
    recovered && holds "run['recovered'] and run['measured_ns'] > 5e8"
}
# A disk with its own file system.
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
# A sufficiently long stall takes minutes.
[ -z "${LATLAB_LONG:-}" ] ||
    try "a disk that is too slow for samples loses no count, and says which samples" slow_for_samples

# Deleted and replaced

replaced() {
    local what=$1
    new_disk 8m
    begin --for 60s || return 1
    [ "$what" = runs ] && what=$disk/runs || what=$(dirname "$(journal)")
    # Stopped, so that latlab sees one change: it would recreate a missing folder.
    kill -STOP "$run"
    rm -r "$what"
    echo "a file" >"$what"
    kill -CONT "$run"
    end_run
    # A run that is ended early decides nothing.
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "the file as it was" [ "$(<"$what")" = "a file" ] &&
        holds "run['verdict']['word'] == 'inconclusive' and codes == ['folder-deleted']" &&
        holds "all(t['end']['cycles'] == t['summary']['cycles'] for t in threads)" &&
        holds "run['losses']['samples'] == 0" &&
        expect "the run in another folder" [ "$(ls "$disk/runs.rescued")" = "$(id_of "$here/run.json")" ]
}
try "a run whose folder is replaced by a file is stored next to it, whole" replaced folder
try "and so is one whose folder of runs is replaced" replaced runs

pipes() {
    local folder
    new_disk 8m
    begin --for 60s || return 1
    folder=$(dirname "$(journal)")
    mkfifo "$folder/intervals.parquet"
    echo "another user's" >"$disk/other"
    ln -s "$disk/other" "$folder/histogram.parquet"
    ln -s "$disk/other" "$folder/run.json"
    end_run
    expect "exit code 4, not $code" [ "$code" = 4 ] &&
        expect "what a link led to is as it was" [ "$(<"$disk/other")" = "another user's" ] &&
        holds "run['verdict']['word'] == 'inconclusive' and codes == []" || return 1
    python3 -c 'import pandas, pyarrow, duckdb' 2>/dev/null || return 0
    python3 tests/read_run.py "$disk"/runs/*
}
try "pipes in place of tables are not waited for, and links not followed" pipes

pipe_as_journal() {
    new_disk 8m
    mkdir -p "$disk/runs/.20260101T000000Z_pipe.partial"
    mkfifo "$disk/runs/.20260101T000000Z_pipe.partial/journal"
    timeout 60 "$program" list --out "$disk/runs" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/text" "$here/errors"
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "a word about it" grep -q 'not a regular file' "$here/errors"
}
try "a pipe in place of a journal is not waited for" pipe_as_journal

exit $status
