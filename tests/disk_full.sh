#!/usr/bin/env bash
# Disks that are too small, full or read-only: an impossible run is refused before it measures, the measurement
# continues, stored data stays, and losses are reported.
# Invariant (losses): A full, slow, read-only or removed disk costs what it did not take, and the run says so.
. "$(dirname "$0")/common.bash"
. tests/disk.bash

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
    # Inodes for the disk itself, the folder of the runs and that of the run.
    mount -t tmpfs -o size=64m,nr_inodes=3 none "$disk" || return 1
    "$program" run --cpus 0 --for 1s --out "$disk/runs" >"$here/out" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        expect "what to look at" grep -q 'cannot begin a run.*df -i' "$here/errors"
}
try "a disk without inodes is reported before anything is measured" no_inodes

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
    begin --for 60s || return 1
    fill
    # An interval has a thousand.
    more_cycles 1500 || return 1
    rm "$disk/ballast"
    more_cycles 3000 || return 1
    end_run
    expect "exit code 4 for invalid, not $code" [ "$code" = 4 ] &&
        expect "one line while it went on" [ "$(grep -c 'cannot write' "$here/errors")" = 1 ] &&
        holds "run['ended'] == 'interrupted' and {'journal-not-written', 'interval-lost'} <= set(codes)" &&
        holds "all(t['end']['cycles'] > t['summary']['cycles'] > 1500 for t in threads)" &&
        holds "run['losses']['cycles'] == sum(t['end']['cycles'] - t['summary']['cycles'] for t in threads)"
}
try "a disk that is full for a while costs that while, and the run says so" full

full_to_the_end() {
    local sum
    new_disk 8m
    # The journal begins with the conditions; the data to recover comes after them.
    begin --for 60s && until_holds 60 "an interval in the journal" has_intervals 2 || return 1
    fill
    end_run
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

# Whether no thread of the agent measures any more.
has_measured() { ! grep -qs ^latlab/ /proc/"$agent"/task/*/comm; }
full_for_the_tables() {
    local left
    new_disk 8m
    begin --for 3s && until_holds 60 "an interval in the journal" has_intervals 2 || return 1
    kill -STOP "$run"
    # What may still reach the journal is in the pipe and in the agent; the tables need three times as much.
    fill
    truncate -s -64K "$disk/ballast"
    until_holds 60 "an agent that has measured" has_measured || return 1
    kill -CONT "$run"
    finish
    expect "exit code 3, not $code" [ "$code" = 3 ] || return 1
    left=$(ls "$(dirname "$(journal)")")
    expect "the journal alone, not $left" [ "$left" = journal ] || return 1
    rm "$disk/ballast"
    recovered && holds "run['ended'] in ('finished', 'lost') and run['total']['cycles'] > 4000"
}
try "tables that have no room leave the journal alone in its folder" full_for_the_tables

limit() {
    new_disk 8m
    prlimit --fsize=200000 "$program" run --quiet --format json --warm-up 0s --samples --period 200us --for 3s \
        --out "$disk/runs" >"$here/run.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "an exit, not an end by a signal ($code)" [ "$code" -lt 128 ] &&
        expect "the reason" grep -q 'File too large' "$here/errors" || return 1
    [ -s "$here/run.json" ] || recovered || return 1
    holds "run['total']['cycles'] > 1000"
}
try "a limit on the size of files (RLIMIT_FSIZE) ends nothing" limit

exit $status
