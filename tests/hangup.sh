#!/usr/bin/env bash
# Terminals that close, and outputs that cannot be written: the measurement is stored, a campaign
# continues, and the exit code is that of the measurement.
# Invariant (kills): A terminal that goes away ends no campaign, and no exit code depends on it.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs NO_COLOR=1
rights_for "runs whose terminal goes away"
[ "$(id -u)" = 0 ] && rights=(--share)

# Runs the program on a new terminal, with SIGHUP ignored by `nohup` or not, closes the terminal once the first
# run measures, and returns the program's exit code.
taken_away() {
    python3 tests/terminals.py taken_away "$LATLAB_RUNS" "$@"
}
stored() { find "$LATLAB_RUNS" -name run.json | wc -l; }
fresh() { rm -rf "$LATLAB_RUNS"; }

{
    printf 'repeats = 3\n[defaults]\nfor = "1s"\nwarm-up = "0s"\nshare = true\n'
    [ "$(id -u)" = 0 ] || printf 'policy = "other"\nidle-states = "system"\n'
    printf '[[scenario]]\nname = "plain"\n'
} >"$here/three.toml"

run_ended() {
    fresh
    EXPECTED=0 taken_away default "$program" run --for 60s --warm-up 0s "${rights[@]}" &&
        expect "one run" [ "$(stored)" = 1 ] && holds_in "$LATLAB_RUNS"/2*/run.json "" "run['ended'] == 'interrupted'"
}
run_goes_on() {
    fresh
    EXPECTED=0 taken_away "$1" "$program" run --for 2s --warm-up 0s "${rights[@]}" "${@:2}" &&
        expect "one run" [ "$(stored)" = 1 ] && holds_in "$LATLAB_RUNS"/2*/run.json "" "run['ended'] == 'finished'"
}
run_fails() {
    fresh
    EXPECTED=1 taken_away ignored "$program" run --for 2s --warm-up 0s --deadline 1ns "${rights[@]}" &&
        expect "one run" [ "$(stored)" = 1 ]
}
campaign_goes_on() {
    fresh
    EXPECTED=0 taken_away "$1" "$program" run "$here/three.toml" "${@:2}" && expect "three runs" [ "$(stored)" = 3 ]
}
campaign_ended() {
    fresh
    EXPECTED=4 taken_away default "$program" run "$here/three.toml" && expect "one run" [ "$(stored)" = 1 ]
}
try "a run on a terminal that goes away is stored and has its exit code" run_ended
try "with --keep-going it goes on to its end" run_goes_on default --keep-going
try "and so does one that ignores the hang-up, as under nohup" run_goes_on ignored
try "its exit code is that of its verdict" run_fails
try "a campaign with --keep-going makes all its runs" campaign_goes_on default --keep-going
try "and so does one under nohup" campaign_goes_on ignored
try "a campaign without either ends after its run, to be resumed" campaign_ended

# Outputs that cannot be written

full_output() {
    fresh
    "$program" run --for 200ms --warm-up 0s --quiet "${rights[@]}" >/dev/full 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        expect "why" grep -q '^latlab: the run is stored in .*: cannot write to standard output' "$here/errors" &&
        expect "the run" [ "$(stored)" = 1 ] || return 1
    "$program" list >/dev/full 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] || return 1
    "$program" plot last -o /dev/full >"$here/out" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ]
}
try "output that cannot be written is exit code 3, and the run is stored" full_output

no_proc() {
    unshare -m sh -c 'umount -l /proc && exec "$@"' - "$program" run --for 200ms --quiet "${rights[@]}" \
        --out "$here/none" \
        >"$here/out" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        expect "what is missing" grep -q '/proc' "$here/errors"
}
if [ "$(id -u)" = 0 ] && unshare -m sh -c 'umount -l /proc' 2>/dev/null; then
    try "a machine without /proc is exit code 3" no_proc
else
    echo "SKIPPED: a machine without /proc: unmounting it needs root"
fi

wide() {
    python3 tests/terminals.py odd_sizes "$program" run --for 300ms --warm-up 0s "${rights[@]}"
}
try "a terminal of 65535 columns is drawn on" wide

# Limits

limited() {
    local threads
    install -m 755 -D "$program" "$here/limited/latlab" && mkdir -m 777 "$here/limited/runs" && chmod 755 "$here" ||
        return 1
    for threads in 1 2 3 4 5 6 7 8 9 10 11 12; do
        setpriv --reuid 54321 --regid 54321 --clear-groups bash -c "ulimit -u $threads; exec \"\$@\"" - \
            "$here/limited/latlab" run --for 100ms --warm-up 0s --quiet --share --policy other --idle-states system \
            --out "$here/limited/runs" >"$here/out" 2>"$here/errors"
        code=$?
        echo "$threads threads: $code"
        cat "$here/errors"
        expect "exit code 0 or 3, not $code" [ "$code" = 0 -o "$code" = 3 ] &&
            expect "no panic" [ "$(grep -c panicked "$here/errors")" = 0 ] &&
            expect "no folder of a run that was not made" [ -z "$(ls -A "$here/limited/runs" | grep '^\.')" ] ||
            return 1
    done
    expect "a run with enough of them" [ "$code" = 0 ]
}
if [ "$(id -u)" = 0 ] && have "a limit on threads" setpriv; then
    try "threads that a limit forbids are told in words" limited
else
    echo "SKIPPED: a limit on threads: needs root, who has none himself"
fi

exit $status
