#!/usr/bin/env bash
# Folders of runs that another user has prepared, renamed or made unreadable: latlab never writes through
# a link or to another user's folder, and moves aside what cannot be finished.
# Invariant (losses): What the user did not name is never written through a link, nor into another user's folder.
. "$(dirname "$0")/common.bash"
runs=$here/runs
export LATLAB_RUNS=$runs
rights_for "runs"

"$program" run --for 1s --warm-up 0s --name plain --quiet "${rights[@]}" >/dev/null 2>"$here/errors" ||
    { echo "not ok a run: exit code $?"; sed 's/^/    /' "$here/errors"; exit 1; }
stored=$(echo "$runs"/*_plain)
id=${stored##*/}

# Whether a command exits with 2 and one line with these words: refused WORDS COMMAND...
refused() {
    local words=$1 code
    shift
    "$@" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 2, not $code" [ "$code" = 2 ] &&
        expect "the words $words" grep -q -- "$words" "$here/errors"
}

links() {
    local name
    echo "another user's" >"$here/other"
    for name in report.html latency.svg flow.svg flow.png .report.html.draft .latency.svg.draft \
        .page.html.draft comparison.html; do
        ln -sf "$here/other" "$stored/$name"
    done
    "$program" report && "$program" plot && "$program" plot --kind flow && "$program" plot --kind flow --format png &&
        "$program" report -o "$here/page.html" || return 1
    expect "what the links led to as it was" [ "$(<"$here/other")" = "another user's" ] || return 1
    for name in report.html latency.svg flow.svg flow.png; do
        expect "a file in place of the link $name" [ -f "$stored/$name" -a ! -L "$stored/$name" ] || return 1
    done
    rm "$stored"/.*.draft "$stored/comparison.html"
}
try "links in a run folder are replaced, and not written through" links

linked_folders() {
    mkdir "$here/elsewhere"
    cp -r "$stored" "$here/elsewhere/victim"
    ln -s "$here/elsewhere/victim" "$runs/.20260101T000000Z_link.partial"
    mkdir "$runs/.20260102T000000Z_link.partial"
    echo "another user's" >"$here/other"
    ln -s "$here/other" "$runs/.20260102T000000Z_link.partial/journal"
    "$program" list >"$here/text" 2>"$here/errors"
    cat "$here/errors"
    expect "a line for each" \
        [ "$(grep -c 'it is a link; .latlab doctor --quarantine. moves it aside' "$here/errors")" = 2 ] &&
        expect "what the links led to as it was" [ "$(<"$here/other")" = "another user's" ] &&
        expect "the folder as it was" diff -r "$stored" "$here/elsewhere/victim"
}
try "links in place of unfinished runs and journals are not followed" linked_folders

linked_campaign() {
    local campaign name
    printf '[defaults]\nfor = "200ms"\nwarm-up = "0s"\nshare = true\n[[scenario]]\nname = "plain"\n' >"$here/plain.toml"
    "$program" run "$here/plain.toml" --out "$here/linked" --quiet >/dev/null 2>"$here/errors"
    campaign=$(echo "$here"/linked/*_plain)
    rm -rf "$campaign"/runs/*
    for name in lock failures.jsonl campaign.json; do
        echo "another user's" >"$here/other"
        mv "$campaign/$name" "$here/kept" 2>/dev/null
        ln -s "$here/other" "$campaign/$name"
        "$program" run --resume "$campaign" >"$here/text" 2>"$here/errors" &&
            { echo "expected: $name is refused"; return 1; }
        cat "$here/errors"
        expect "the reason" grep -q "$name.* it is a link" "$here/errors" || return 1
        expect "what the link led to as it was" [ "$(<"$here/other")" = "another user's" ] || return 1
        rm "$campaign/$name"
        [ ! -e "$here/kept" ] || mv "$here/kept" "$campaign/$name"
    done
    expect "no run" [ -z "$(ls "$campaign/runs")" ]
}
try "links in the folder of a campaign are not followed" linked_campaign

quarantine() {
    mkdir "$runs/.20260103T000000Z_noise.partial"
    head -c 5000 /dev/zero | tr '\0' 'Z' >"$runs/.20260103T000000Z_noise.partial/journal"
    "$program" list >/dev/null 2>"$here/errors"
    expect "a line that names the remedy" grep -q 'noise.*latlab doctor --quarantine' "$here/errors" &&
        "$program" doctor --quarantine >"$here/text" || return 1
    cat "$here/text"
    expect "three lines" [ "$(grep -c '^moved 2026010.T000000Z_.* to .*/quarantine/' "$here/text")" = 3 ] &&
        expect "the journal as it was" [ "$(wc -c <"$runs/quarantine/20260103T000000Z_noise/journal")" = 5000 ] &&
        "$program" list >"$here/text" 2>"$here/errors" &&
        expect "nothing more to say" [ ! -s "$here/errors" ] &&
        expect "no run of that name" [ "$(grep -c quarantine "$here/text")" = 0 ]
}
try "an unreadable journal is moved aside on request, and then not mentioned" quarantine

copied() {
    cp -r "$stored" "$runs/copied"
    "$program" verify "$runs/copied" >"$here/text"
    code=$?
    cat "$here/text"
    rm -r "$runs/copied"
    expect "exit code 1, not $code" [ "$code" = 1 ] &&
        expect "the run that it is" grep -q "copied: DAMAGED: run.json: it belongs to run $id" "$here/text"
}
try "verify says of which run a copy is" copied

renamed() {
    begin --for 600s --name moved || return 1
    mv "$runs" "$here/renamed"
    end_run
    [ -e "$runs" ] && { echo "the old folder is there again"; return 1; }
    expect "exit code 0, not $code" [ "$code" = 0 ] && expect "the run" [ -f "$here"/renamed/*_moved/run.json ] &&
        "$program" verify --all --out "$here/renamed"
    code=$?
    mv "$here/renamed" "$runs"
    return $code
}
try "a run whose folder of runs is renamed is stored in its new place" renamed

unread() {
    chmod 000 "$stored/spikes.parquet"
    "${unprivileged[@]}" "$program" verify "$stored" >"$here/text" 2>&1
    code=$?
    cat "$here/text"
    chmod 644 "$stored/spikes.parquet"
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "no word of damage" grep -q 'NOT READ: .*spikes.parquet: permission denied' "$here/text"
}
strangers() {
    cp -r "$stored" "$here/theirs"
    chown -R 65534 "$here/theirs"
    refused "belongs to user 65534: name the file to write with -o" "$program" report "$here/theirs" &&
        refused "belongs to user 65534" "$program" plot "$here/theirs" &&
        expect "nothing new in it" [ "$(ls -A "$here/theirs")" = "$(ls -A "$stored")" ] &&
        "$program" report "$here/theirs" -o "$here/theirs.html" &&
        SUDO_UID=65534 SUDO_GID=65534 "$program" report "$here/theirs" &&
        expect "a page of the one who called" [ "$(stat -c %u "$here/theirs/report.html")" = 65534 ]
}
strangers_unfinished() {
    mkdir "$runs/.20260104T000000Z_theirs.partial"
    chown 65534 "$runs/.20260104T000000Z_theirs.partial"
    "$program" list 2>"$here/errors" >/dev/null
    cat "$here/errors"
    rmdir "$runs/.20260104T000000Z_theirs.partial" &&
        expect "a line that says who may finish it" \
            grep -q 'belongs to user 65534: run .latlab list. as that user' "$here/errors"
}
# A campaign that another user has prepared: its load would run as the user who continues it.
strangers_campaign() {
    local campaign=$here/their_runs/20260105T000000Z_theirs before
    printf '%s\n' '[defaults]' 'for = "200ms"' 'warm-up = "0s"' 'share = true' '[[scenario]]' 'name = "plain"' \
        '[[scenario]]' 'name = "own"' "load = \"command,run=touch $here/ran\"" >"$here/theirs.toml"
    "$program" run "$here/theirs.toml" --out "$here/their_runs" --quiet >/dev/null 2>"$here/errors"
    mv "$here"/their_runs/*_theirs "$campaign" && rm -rf "$here/ran" "$campaign"/runs/* &&
        chown -R 65534 "$campaign" || return 1
    before=$(find "$campaign" | sort)
    refused "belongs to user 65534, and a campaign runs the programs that its folder names" \
        "$program" run --resume "$campaign" &&
        expect "nothing was run" [ ! -e "$here/ran" ] &&
        expect "nothing new in it" [ "$(find "$campaign" | sort)" = "$before" ] &&
        "$program" run --resume "$campaign" --dry-run >"$here/text" &&
        expect "what it would run" grep -q "touch $here/ran" "$here/text" || return 1
    cp -r "$campaign" "$here/their_runs/20260106T000000Z_copy" &&
        "$program" run --resume "$here/their_runs/20260106T000000Z_copy" --quiet >/dev/null 2>"$here/errors"
    expect "a copy of one's own goes on" [ -e "$here/ran" ] &&
        expect "its runs" [ -e "$here"/their_runs/*_copy/runs/2*_plain*/run.json ] &&
        SUDO_UID=65534 SUDO_GID=65534 "$program" run --print-unit >"$here/text" &&
        expect "a unit of the one who called" grep -q '^Environment=SUDO_UID=65534 SUDO_GID=65534$' "$here/text"
}

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    unprivileged=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod 755 "$here"
    if "${unprivileged[@]}" test -x "$program"; then
        try "verify calls a file that it may not read no damage" unread
    else
        echo "SKIPPED: verify without the right to read: another user may not start $program"
    fi
    try "a stranger's folder is read, and written to only where a flag says so" strangers
    try "root does not finish a run in a stranger's folder" strangers_unfinished
    try "a stranger's campaign is shown, and continued only as a copy of one's own" strangers_campaign
else
    echo "SKIPPED: folders of other users: needs root and setpriv"
fi

exit $status
