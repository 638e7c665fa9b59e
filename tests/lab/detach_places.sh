#!/usr/bin/env bash
# Where a board keeps a detached run, how large it may become, and what is refused before it begins.
. "$(dirname "$0")/../common.bash"
. tests/lab/detach.bash

by_name() {
    export XDG_CONFIG_HOME=$here/config
    mkdir -p "$here/other disk"
    "$program" target add pi "$board" --cpus 0 --board-folder "$here/other disk" >/dev/null &&
        "$program" run --detach --target pi --for 1s "${rights[@]}" >"$here/begun" 2>"$here/errors" || return 1
    id=$(basename "$here/other disk"/*Z_run)
    expect "the folder" grep -qF "measures $id for 1 s without the link, in $here/other disk there." "$here/begun" &&
        expect "the next command" grep -qx "Collect: latlab collect pi" "$here/begun" &&
        until_holds 60 "a run that ends" [ -e "$here/other disk/$id/end" ] &&
        expect "its state" grep -q \
            "detached: $id has ended; collect it with .latlab collect pi" <("$program" target status pi) || return 1
    board=pi collect
    expect "a folder without it" [ -z "$(ls "$here/other disk")" ] && is_collected &&
        expect "a command that measures so again" \
            grep -qF -- "--detach --board-folder '$here/other disk'" <("$program" show last --all)
}
in_memory() {
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=/proc/nowhere"
    folder=/dev/shm/latlab-$(id -u)
    detach --for 1s || return 1
    expect "that it is memory" grep -q "$folder (memory, which a restart empties)" "$here/errors" &&
        expect "a folder for its user alone" [ "$(stat -c %a "$folder" "$folder/$id" | sort -u)" = 700 ] || return 1
    until_holds 60 "a run that ends" ended
    collect
    is_collected && expect "an agent that is left" [ -z "$(ls -d /dev/shm/latlab.* 2>/dev/null)" ]
    local result=$?
    rmdir "$folder"
    folder=$cache/latlab/runs
    stop_sshd
    start_sshd "SetEnv XDG_CACHE_HOME=$cache"
    return $result
}
by_busybox() {
    have "a detached run by busybox" busybox || return 0
    local line=$LATLAB_SSH url=$board
    mkdir -p "$here/fake"
    busybox --list | while read -r name; do ln -sf "$(command -v busybox)" "$here/fake/$name"; done
    answer_by "for last; do :; done; export XDG_CACHE_HOME=$cache; PATH=$here/fake:\$PATH exec busybox sh -c \"\$last\""
    board=ssh://busybox
    detach --for 1s && until_holds 60 "a run that ends" ended && collect
    local result=$?
    rm -rf "$here/fake"
    [ "$result" = 0 ] && is_collected && holds "run['total']['cycles'] > 0"
    result=$?
    export LATLAB_SSH=$line
    board=$url
    return $result
}
# A board with this many kB left: with_room KB COMMAND...
with_room() {
    local line=$LATLAB_SSH url=$board left=$1
    shift
    mkdir -p "$here/fake"
    printf '%s\n' '#!/bin/sh' "echo; echo x 1 1 $left 9% /tiny" >"$here/fake/df"
    chmod 755 "$here/fake/df"
    answer_by "for last; do :; done; export XDG_CACHE_HOME=$cache; PATH=$here/fake:\$PATH exec sh -c \"\$last\""
    board=ssh://tiny
    "$@"
    local result=$?
    rm -rf "$here/fake"
    export LATLAB_SSH=$line
    board=$url
    return $result
}
no_room() {
    period=50us with_room 30000 refused 3 "ssh://tiny: 72 000 000 samples take up to " detach --samples --for 1h &&
        expect "the arithmetic" grep -qF \
            "MB, but may use 23.0 MB of the 30.7 MB free in $folder (disk): make room there, " "$here/errors" &&
        with_room 1000 refused 3 "a run takes at least 1.0 MB, but may use 768.0 kB of the 1.0 MB free" \
            detach --for 1s &&
        expect "nothing that is left" [ -z "$(ls "$folder")" ]
}
# Without --for, and with space for some 50 kB: the run ends there.
has_a_bound() {
    with_room 1500 detach --samples || return 1
    expect "the arithmetic" \
        grep -q "a day takes up to .* MB; the run ends when it has used 1.2 MB of the 1.5 MB free" "$here/errors" &&
        until_holds 60 "a run that ends by itself" ended || return 1
    expect "a stream within its bound" [ "$(stream_of)" -lt 1152000 ] || return 1
    collect
    is_collected && holds "'detached-bound' in codes and run['ended'] == 'interrupted' and run['total']['cycles'] > 0"
}
is_refused() {
    measured=999 refused 2 "999" detach || return 1
    expect "nothing that is left" [ -z "$(ls "$folder")" ]
}
wrong_words() {
    code=0
    board=local refused 2 "--detach needs a board, such as --target ssh://pi@board" detach --for 1s &&
        refused 2 "--until-decided is decided here" detach --for 1s --deadline 1ms --limit 1/h --until-decided &&
        refused 2 "expected the whole path of a folder there" detach --for 1s --board-folder here || return 1
    printf '%s\n' '[defaults]' 'for = "1s"' '[[scenario]]' 'name = "idle"' >"$here/sheet.toml"
    "$program" run "$here/sheet.toml" --target "$board" --detach >"$here/said-nothing" 2>"$here/errors"
    code=$?
    refused 2 "--detach: the runs of a sheet follow each other from here" true || return 1
    sed -i '/for/a detach = true' "$here/sheet.toml"
    "$program" run "$here/sheet.toml" >"$here/said-nothing" 2>"$here/errors"
    expect "exit code 2" [ $? = 2 ] &&
        expect "its line" grep -q "sheet.toml:3:1: --detach: the runs of a sheet follow" "$here/errors"
}

try "a board can be started on loopback" start_sshd "SetEnv XDG_CACHE_HOME=$cache"
[ "$status" = 0 ] || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT
try "a board remembers its folder" by_name
try "where nothing can be written it is in memory" in_memory
try "busybox is enough" by_busybox
try "without room there is one line with the arithmetic" no_room
try "a run without an end has a bound" has_a_bound
try "what cannot be measured is one line and leaves nothing" is_refused
try "wrong words are one line" wrong_words
expect "no agent that is left" [ -z "$(pgrep -f "$cache/latlab/agents")" ] || status=1
exit $status
