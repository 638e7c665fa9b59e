#!/usr/bin/env bash
# Terminals that go away, and places that take no output: what is measured is stored, a campaign goes
# on, and the exit code says what became of the measurement.
# Invariant (kills): A terminal that goes away ends no campaign, and no exit code depends on it.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs NO_COLOR=1
rights_for "runs whose terminal goes away"
[ "$(id -u)" = 0 ] && rights=(--share)

# Runs the program on a terminal of its own, with SIGHUP ignored by `nohup` or not, takes the terminal away
# once the first run measures, and ends with the program's exit code.
taken_away() {
    python3 - "$LATLAB_RUNS" "$@" <<'PYTHON'
import glob, os, pty, signal, sys, threading, time
runs, hangup, *command = sys.argv[1:]
pid, master = pty.fork()
if pid == 0:
    if hangup == "ignored":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execv(command[0], command)
# A terminal that nobody reads stands still.
def read():
    try:
        while os.read(master, 1 << 16):
            pass
    except OSError:
        pass
threading.Thread(target=read, daemon=True).start()
journals = lambda: glob.glob(f"{runs}/**/.*.partial/journal", recursive=True)
until = time.monotonic() + 60
while not any(os.path.getsize(one) > 20_000 for one in journals()) and time.monotonic() < until:
    time.sleep(0.05)
time.sleep(0.5)
os.close(master)
_, status = os.waitpid(pid, 0)
print("ended with", os.waitstatus_to_exitcode(status))
sys.exit(0 if os.WIFEXITED(status) and os.WEXITSTATUS(status) == int(os.environ["EXPECTED"]) else 1)
PYTHON
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

# Places that take no output

full_output() {
    fresh
    "$program" run --for 200ms --warm-up 0s --quiet "${rights[@]}" >/dev/full 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "one line" [ "$(grep -c '^latlab: the run is stored in .*: cannot write to standard output' "$here/errors")/$(wc -l <"$here/errors")" = 1/1 ] &&
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
    unshare -m sh -c 'umount -l /proc && exec "$@"' - "$program" run --for 200ms --quiet "${rights[@]}" --out "$here/none" \
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
    python3 - "$here/wide" "$program" run --for 300ms --warm-up 0s "${rights[@]}" <<'PYTHON'
import fcntl, os, pty, struct, sys, termios
log, *command = sys.argv[1:]
for columns, rows in (65535, 65535), (65535, 24), (80, 65535), (1, 1):
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execv(command[0], command)
    said = b""
    try:
        while block := os.read(master, 1 << 16):
            said = (said + block)[-4000:]
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    print(columns, rows, code)
    if code != 0:
        sys.exit(said.decode(errors="replace"))
PYTHON
}
try "a terminal of 65535 columns is drawn on" wide

# Limits

limited() {
    local threads
    install -m 755 -D "$program" "$here/limited/latlab" && mkdir -m 777 "$here/limited/runs" && chmod 755 "$here" || return 1
    for threads in 1 2 3 4 5 6 7 8 9 10 11 12; do
        setpriv --reuid 54321 --regid 54321 --clear-groups bash -c "ulimit -u $threads; exec \"\$@\"" - \
            "$here/limited/latlab" run --for 100ms --warm-up 0s --quiet --share --policy other --idle-states system \
            --out "$here/limited/runs" >"$here/out" 2>"$here/errors"
        code=$?
        echo "$threads threads: $code"
        cat "$here/errors"
        expect "exit code 0 or 3, not $code" [ "$code" = 0 -o "$code" = 3 ] &&
            expect "no panic" [ "$(grep -c panicked "$here/errors")" = 0 ] &&
            expect "no folder of a run that was not made" [ -z "$(ls -A "$here/limited/runs" | grep '^\.')" ] || return 1
    done
    expect "a run with enough of them" [ "$code" = 0 ]
}
if [ "$(id -u)" = 0 ] && have "a limit on threads" setpriv; then
    try "threads that a limit forbids are told in words" limited
else
    echo "SKIPPED: a limit on threads: needs root, who has none himself"
fi

exit $status
