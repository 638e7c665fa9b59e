#!/usr/bin/env bash
# Programs that start and end while they are attached to, lost events, what is refused, and what is left behind.
# Invariant (instruments): attach: cycles, releases and faults of a program are those of its log.
. "$(dirname "$0")/common.bash"
. tests/attach.bash

# Whether tracefs has the instance of the agent.
traced() { [ -n "$agent" ] && [ -d "$tracing/instances/latlab-$agent" ]; }
is_traced() { agent=$(pgrep -P "$attach" | head -n 1) && traced; }

# If the reader cannot keep up, the loss is counted, and the run does not pass.
losses() {
    "$here/loops" abs 100 2000000 10 "$here/log" &
    local loops=$! attach agent
    "$program" attach --quiet --out "$runs" --name losses --pid $loops --for 10s >"$here/text" 2>&1 &
    attach=$!
    until_holds 60 "a trace of ours" is_traced || return 1
    # By then it has learnt how the loop waits.
    sleep 4
    kill -STOP "$agent"
    sleep 3
    kill -CONT "$agent"
    wait $attach
    code=$?
    kill $loops
    wait $loops 2>/dev/null
    folder=$runs/$(ls "$runs" | grep "_losses$" | tail -n 1)
    echo '{"cycles": [], "planted": {}}' >"$here/log"
    expect "lost events" told "run['attached']['events_lost'] > 0" || return 1
    expect "cycles that were not followed" told \
        "thread['report']['unseen'] > 0 and 'cycles-unseen' in codes" || return 1
    expect "no pass" [ "$code" != 0 ] || return 1
    # From the first release to the last, nothing is missing or invented.
    expect "cycles, overruns and what is unseen are the releases" told \
        "abs(releases_told() - 1 - span_in_periods(1e5)) <= thread['report']['unseen'] * 0.01 + 2"
}

nothing_left() {
    "$here/loops" abs 1000 600000 10 "$here/log" &
    local loops=$! attach agent
    "$program" attach --quiet --out "$runs" --name killed --pid $loops >"$here/text" 2>&1 &
    attach=$!
    until_holds 60 "a trace of ours" is_traced || return 1
    kill -KILL "$agent" $attach 2>/dev/null
    wait $attach 2>/dev/null
    expect "a kill leaves the trace" traced || return 1
    # The next latlab removes what is left.
    "$program" attach --out "$runs" --pid $loops --list >"$here/text" 2>&1 || return 1
    expect "the thread in the list" grep -q 'clock_nanosleep (until a time)' "$here/text" || return 1
    kill $loops
    wait $loops 2>/dev/null
    ! traced || { echo "expected: the trace gone with the next latlab"; return 1; }
}

# Bad input is one line, and nothing is stored.
refusals() {
    local words before
    before=$(ls "$runs" | wc -l)
    refused() {
        words=$1
        shift
        "$program" attach --quiet --out "$runs" "$@" >"$here/text" 2>&1 && { echo "accepted: $*"; return 1; }
        expect "one line for $*" [ "$(wc -l <"$here/text")" = 1 ] || return 1
        expect "$words" grep -q -- "$words" "$here/text"
    }
    refused "needs a program" || return 1
    refused "no process 4194303" --pid 4194303 || return 1
    refused "no process or thread is called" --comm 'no-such-*' || return 1
    refused "thread of the kernel" --pid 2 || return 1
    refused "cannot find the program" -- /no/such/program || return 1
    refused "expected a system call" --activation fork -- /bin/sleep 1 || return 1
    refused "takes one of" --pid 1 --comm x || return 1
    sleep 60 &
    local sleeper=$!
    if command -v strace >/dev/null; then
        strace -o /dev/null -p $sleeper 2>/dev/null &
        local tracer=$!
        until_holds 60 "a tracer" grep -q '^TracerPid:[[:space:]]*[1-9]' /proc/$sleeper/status || return 1
        refused "is traced by process" --pid $sleeper || return 1
        kill $tracer
        wait $tracer 2>/dev/null
    fi
    kill $sleeper
    wait $sleeper 2>/dev/null
    expect "nothing stored" [ "$(ls "$runs" | wc -l)" = "$before" ]
}

# Threads that start and end meanwhile, and another program in place of the first.
comings() {
    cat >"$here/busy.sh" <<SHELL
for n in \$(seq 40); do /bin/true; done
exec "$here/loops" abs 1000 1500 50 "$here/log"
SHELL
    rm -f "$here/log"
    "$program" attach --quiet --out "$runs" --name comings -- sh "$here/busy.sh" >"$here/text" 2>&1
    folder=$runs/$(ls "$runs" | grep "_comings$" | tail -n 1)
    expect "each cycle behind an exec" told "$same"
}

try "lost events are no good cycles" losses
try "what cannot be is refused in a line" refusals
try "threads and programs come and go" comings
try "a kill leaves nothing" nothing_left
exit $status
