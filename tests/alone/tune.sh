#!/usr/bin/env bash
# Searches for settings on this machine, with settings of no consequence: what is changed is put back after any end.
# LONG=1 also searches for planted effects, some ten minutes.
# Invariant (tune): After the end, Ctrl-C, kill -9 and a full disk every setting of the machine is what it was.
. "$(dirname "$0")/../common.bash"
. tests/disk.bash
export LATLAB_RUNS=$here/runs
[ "$(id -u)" = 0 ] || skip "changing settings: needs root"
conf=/proc/sys/net/ipv4/conf/lo
[ -w $conf/log_martians ] || skip "changing settings: $conf cannot be written here"
read -r first <<<"$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')"

# A setting for each file, with the value that it has not.
names=(log_martians send_redirects accept_redirects secure_redirects shared_media arp_accept)
other() { case $(cat "$conf/$1") in 0) echo 1 ;; *) echo 0 ;; esac; }
for name in "${names[@]}"; do
    printf '[%s]\nset = ["%s/%s=%s"]\n' "$name" $conf "$name" "$(other "$name")"
done >"$here/settings.toml"
only=$(IFS=,; echo "${names[*]}")
hash() { sha256sum $conf/* | sha256sum; }
before=$(hash)
put_back() { expect "every setting as it was" [ "$(hash)" = "$before" ]; }

begin() {
    "$program" tune --quiet --share --cpus "$first" --warm-up 100ms --slot 1s --for 20min \
        --settings "$here/settings.toml" --only "$only" "$@" >"$here/out" 2>"$here/errors" &
    run=$!
    until_holds 120 "a setting that is made" is_changed || { cat "$here/errors"; return 1; }
}
is_changed() { [ "$(hash)" != "$before" ] && [ -n "$(pgrep -P "$run" -f ' agent ')" ]; }
finish() { wait "$run"; code=$?; cat "$here/errors"; }

planned() {
    "$program" tune --dry-run --settings "$here/settings.toml" --only "$only" --for 20min >"$here/out" || return 1
    expect "what is changed" grep -q "$conf/log_martians $(cat $conf/log_martians) -> " "$here/out" &&
        expect "for how long" grep -q 'at most 20 min' "$here/out" &&
        expect "what cannot be known" grep -q '^Not to be known' <(sed 's/^ *//' "$here/out") &&
        expect "no search" [ ! -e "$here/runs" ] && put_back
}
try "a dry run says what would be changed and for how long, and changes nothing" planned

interrupted() {
    begin || return 1
    sleep 4
    kill -INT "$run"
    finish
    expect "exit code 4, not $code" [ "$code" = 4 ] && put_back &&
        expect "how to go on" grep -q 'tune --resume' "$here/errors" &&
        expect "slots that can be read" "$program" show last
}
try "Ctrl-C puts everything back and keeps the slots" interrupted

resumed() {
    local slots
    slots=$(find "$here/runs" -name run.json | wc -l)
    "$program" tune --quiet --resume >"$here/out" 2>"$here/errors" &
    run=$!
    until_holds 120 "another slot" has_more "$slots" || return 1
    kill -INT "$run"
    finish
    put_back && expect "one search" [ "$(find "$here/runs" -maxdepth 2 -name campaign.json | wc -l)" = 1 ]
}
has_more() { [ "$(find "$here/runs" -name run.json | wc -l)" -gt $(($1 + 1)) ]; }
try "a search goes on where it was cut short" resumed

two_at_once() {
    begin || return 1
    "$program" tune --quiet --settings "$here/settings.toml" --only "$only" --for 20min >"$here/second" 2>&1
    local refused=$?
    kill -INT "$run"
    finish
    cat "$here/second"
    expect "exit code 3, not $refused" [ "$refused" = 3 ] &&
        expect "who searches" grep -q "$run.* searches for settings" "$here/second" && put_back
}
try "two searches at once are refused" two_at_once

killed() {
    local signal=$1 what
    for what in conductor both; do
        begin || return 1
        agents=$(pgrep -P "$run" -f ' agent ')
        sleep 0.$((RANDOM % 10))
        if [ $what = both ]; then kill "$signal" "$run" $agents; else kill "$signal" "$run"; fi 2>/dev/null
        wait "$run"
        # A killed agent cannot; the next latlab does.
        "$program" doctor --restore
        until_holds 30 "every setting as it was" put_back || return 1
        expect "slots that can be read" "$program" list
    done
}
try "kill -9 of conductor and agent: the next latlab puts everything back" killed -KILL

full() {
    new_disk 3m || return 1
    LATLAB_RUNS=$disk/runs begin || return 1
    fill
    wait "$run"
    code=$?
    cat "$here/errors"
    expect "exit code 3 or 4, not $code" [ "$code" = 3 -o "$code" = 4 ] && put_back
}
try "a full disk ends the search and puts everything back" full

of_program() {
    "$program" tune --quiet --program "cyclictest -q -t1 -p80 -i2000 -a $first" --deadline 10s --slot 1s --for 20s \
        --settings "$here/settings.toml" --only "$only" --format json --out "$here/judged" >"$here/found.json" \
        2>"$here/errors"
    code=$?
    cat "$here/errors"
    local slots=("$here"/judged/*_tune/runs/*/run.json)
    expect "exit code 4, not $code" [ "$code" = 4 ] && put_back &&
        holds_in "$here/found.json" "" 'run["pairs"] > 0 and run["untouched"][1]["figure"] == "p99"' &&
        expect "cycles of the program in each of ${#slots[@]} slots" \
            [ "$(grep -l '"instrument": *"attach"' "${slots[@]}" | wc -l)" = "${#slots[@]}" ]
}
# Whether a search is refused with this exit code in one line that has this text.
is_refused() {
    local wanted=$1 text=$2 code
    "$program" tune --dry-run "${@:3}" >/dev/null 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code $wanted, not $code" [ "$code" = "$wanted" ] && expect "'$text'" grep -q -- "$text" "$here/errors" &&
        expect "one line" [ "$(wc -l <"$here/errors")" = 1 ]
}
not_of_program() {
    is_refused 2 "--period does not apply to a program" --program cyclictest --period 1ms &&
        is_refused 2 "--thread is about a program" --thread ctrl &&
        is_refused 3 "no thread of the program" --program "sleep 60"
}
if have "settings judged by a program" cyclictest; then
    try "settings are judged by the cycles of a program" of_program
fi
try "what does not apply to a program, or to no program, is refused" not_of_program

found() {
    local path=$conf factors
    factors="$path/log_martians:$(other log_martians)=0.5 $path/send_redirects:$(other send_redirects)=1.8"
    "$program" tune --quiet --share --cpus "$first" --warm-up 300ms --slot 2s --for 20min --format json \
        --settings "$here/settings.toml" --only "$only" \
        --load "command,run=exec python3 tests/planted_load.py $first 300 $factors" >"$here/found.json" || [ $? = 4 ] ||
        return 1
    put_back && python3 - "$here/found.json" <<'PYTHON'
import json, sys
found = json.load(open(sys.argv[1]))
words = {one["setting"]["name"]: one["word"] for one in found["settings"]}
print(words, found["pairs"])
assert words.pop("log_martians") == "helps" and words.pop("send_redirects") == "hurts"
assert set(words.values()) <= {"undecided", "no-difference"}, words
PYTHON
}
if [ -n "${LONG:-}" ]; then
    try "planted effects are found, and nothing else" found
else
    echo "SKIPPED: a search for planted effects: LONG=1 takes some ten minutes"
fi

exit $status
