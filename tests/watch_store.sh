#!/usr/bin/env bash
# The store of `latlab watch`: it removes the oldest, nothing that is marked or being read, and survives kills and a
# full disk.
# Invariant (watch): The runs of a watch take no more of the disk than it may have, also after kills and on a full disk.
. "$(dirname "$0")/common.bash"
. tests/watch.bash

rolls() {
    local size
    size=$(du -s --block-size=1 three | cut -f1)
    # Runs of another name, and a kept one.
    "$program" run --cycles 50 --warm-up 0s --threads 1 --policy other --idle-states system --quiet --name other \
        --out "$here/roll" >/dev/null
    watch --rounds 2 --name watch --out "$here/roll" || { cat told; return 1; }
    local first
    first=$(ls roll | grep _watch | head -n 1)
    touch "roll/$first/keep"
    watch --rounds 14 --keep 1M --samples --out "$here/roll" || { cat told; return 1; }
    cat told
    expect "removals that are told" grep -q '^latlab: removed .*_watch.* MB (--keep)$' told &&
        expect "the marked run told once" [ "$(grep -c "$first stays: it is marked" told)" = 1 ] &&
        expect "the marked run" [ -d "roll/$first" ] && expect "the other one" compgen -G 'roll/*_other' &&
        expect "at most 1 MB of the watch, not $(du -sc --apparent-size --block-size=1 roll/*_watch* | tail -n 1 |
            cut -f1)" \
            [ "$(du -sc --block-size=512 roll/*_watch*/* | tail -n 1 | cut -f1)" -le 1954 ] || return
    "$program" verify --all --out "$here/roll" >/dev/null
}
try "the oldest runs go, but for those that are marked or have another name" rolls

read_now() {
    local oldest
    watch --rounds 12 --keep 100M --out "$here/read" || return
    oldest=$(ls read | grep _watch | head -n 1)
    exec 7<"read/$oldest/run.json"
    watch --rounds 3 --keep 1M --out "$here/read"
    exec 7<&-
    cat told
    expect "that it is being read" grep -q "$oldest stays: .*run.json is being read" told &&
        expect "it" [ -d "read/$oldest" ] || return
    # Rounds differ in size: one may still find room.
    watch --rounds 3 --keep 1M --out "$here/read"
    expect "it to go afterwards" [ ! -e "read/$oldest" ]
}
try "a run that is being read stays until it is read" read_now

has_rounds() { [ "$(grep -c _watch: killed.lines)" -ge "$1" ]; }
killed() {
    local round left
    for round in 1 2 3; do
        "$program" watch --every 100ms --for 500ms --warm-up 0s --threads 1 --policy other --cpu-budget 100% --keep 1M \
            --out "$here/killed" >>killed.lines 2>&1 &
        watching=$!
        until_holds 60 "a round of start $round" has_rounds "$((round * 2 - 1))" || { cat killed.lines; return 1; }
        until_holds 60 "a round that goes on" compgen -G 'killed/.*.partial' >/dev/null
        kill -KILL "$watching"
        wait "$watching" 2>/dev/null
    done
    # An interrupted removal may leave something, too.
    mkdir killed/.20260101T000000Z_watch.removed
    watch --rounds 1 --out "$here/killed" || { cat told; return 1; }
    left=$(find killed -maxdepth 1 -name '.*' ! -name .watch.order)
    expect "nothing half done, not $left" [ -z "$left" ] && "$program" verify --all --out "$here/killed" >/dev/null
}
try "a killed watch leaves whole runs, and the next one goes on" killed

full() {
    mkdir -p tiny && mount -t tmpfs -o size=4m tmpfs tiny || return
    watch --rounds 2 --out "$here/tiny" || { cat told; return 1; }
    # Another process fills the disk.
    cat /dev/zero >tiny/filler 2>/dev/null
    watch --rounds 3 --out "$here/tiny" --on-fail 'cat >>full.alarms' --deadline 10s
    local code=$?
    cat told
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "old runs that made room" grep -q 'the disk is full' told &&
        expect "that nothing was measured" grep -q 'nothing measured: .*free' told &&
        expect "an alarm with the reason" grep -q '"error":".*free' full.alarms || return
    rm tiny/filler
    watch --rounds 1 --deadline 10s --out "$here/tiny" && expect "rounds again" grep -q ': pass' lines
    mount -o remount,ro tiny && watch --rounds 3 --out "$here/tiny"
    code=$?
    cat told
    umount tiny
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "one line" [ "$(wc -l <told)" = 1 ] &&
        grep -q 'Read-only file system' told
}
if [ "$(id -u)" = 0 ]; then
    try "on a full disk the oldest runs make room, rounds that cannot be stored are told, and it goes on; \
one that is read-only is refused" full
else
    echo "SKIPPED: a full disk: needs root"
fi

exit $status
