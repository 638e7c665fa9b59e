#!/usr/bin/env bash
# Another program changes priority, CPU or settings of a run: each is a finding with its time, and
# the verdict is `invalid`, whatever the figures.
# Invariant (settings): What another program changes during a run is reported with its time, and the run is invalid.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs
[ "$(id -u)" = 0 ] || skip "changing the threads and settings of a run: needs root"
have "changing the threads of a run" chrt taskset || exit 0
rights=(--share)
read -r first last <<<"$(taskset -cp $$ | sed 's/.*: //; s/,/-/g; s/^\([0-9]*\).*-/\1 /')"
clean_up() {
    [ -z "${group:-}" ] || rmdir "$group" 2>/dev/null
    rm -rf "$here"
}
trap clean_up EXIT

# Evaluates Python with the changes: lost('scheduling', 0) are its findings, those that matter.
holds() {
    holds_in "$here/run.json" "
def lost(setting, thread=None):
    return [f for f in run['findings'] if f['code'] == 'setting-changed' and f['setting'] == setting
            and f['thread'] == thread and f['at_ns']]
word = (run['verdict'] or {}).get('word')
effects = {f['effect'] for f in run['findings'] if f['code'] == 'setting-changed'}
invalid = word == 'invalid' and effects <= {'invalid'}" "$1"
}

# Ends the background run, whose verdict must be `invalid`.
invalid() {
    end_run
    is_invalid
}
is_invalid() {
    expect "exit code 4, not $code" [ "$code" = 4 ] && holds "invalid"
}

at_once() {
    begin --for 600s --deadline 10s || return 1
    local before after
    before=$(monotonic)
    chrt -o -p 0 "$(thread latlab/0)" && taskset -cp "$first" "$(thread "latlab/$last")" || return 1
    invalid || return 1
    after=$(monotonic)
    holds "lost('scheduling', 0)[0]['held'] == 'fifo 90' and lost('scheduling', 0)[0]['now'] == 'other'" &&
        holds "lost('affinity', $last)[0]['held'] == 'CPU $last'
            and lost('affinity', $last)[0]['now'].startswith('CPU $first')" &&
        holds "$before < lost('scheduling', 0)[0]['at_ns'] / 1e9 < $after"
}
monotonic() { python3 -c 'import time; print(time.monotonic())'; }
# Shorter than a second, so that only the reading at the end can see it. On a busy machine such a run may end too
# early: then try again.
at_the_end() {
    local tries
    for tries in {1..20}; do
        begin_for_moment && chrt -r -p 5 "$(thread latlab/0)" && break
        wait "$run"
    done
    finish
    is_invalid && holds "lost('scheduling', 0)[-1]['now'] == 'rr 5'"
}
begin_for_moment() {
    "$program" run --quiet --format json --warm-up 0s "${rights[@]}" --for 700ms --deadline 10s --cpus "$first" \
        >"$here/run.json" 2>"$here/errors" &
    run=$!
    until begun_now; do ! has_ended "$run" || return 1; done
} 2>/dev/null
is_on() { [ "$(stat_field "$1" 39)" = "$2" ]; }
there_and_back() {
    begin --for 600s --deadline 10s --cpus "$first" || return 1
    local tid
    tid=$(thread latlab/0)
    # A thread that has not run between the two was not moved.
    taskset -cp "$last" "$tid" && until_holds 60 "the thread on CPU $last" is_on "$tid" "$last" &&
        taskset -cp "$first" "$tid" || return 1
    invalid && holds "'moved' in lost('affinity', 0)[-1]['now'] or len(lost('affinity', 0)) > 1"
}
if [ "$first" = "$last" ]; then
    echo "SKIPPED: threads that are moved: there is one CPU only"
else
    try "a priority and a CPU that are taken away make the run invalid" at_once
    try "a thread that was moved and moved back is reported" there_and_back
fi
try "a short run is looked at when it ends" at_the_end

moved_to_a_cpuset() {
    begin --for 600s --deadline 10s --cpus "$first" || return 1
    echo "$(thread latlab/0)" >"$group/tasks" || return 1
    invalid && holds "lost('affinity', 0)"
}
cpuset=/sys/fs/cgroup/cpuset
[ -e "$cpuset/cpuset.cpus" ] || cpuset=$(awk '$3 == "cgroup" && $4 ~ /cpuset/ { print $2 }' /proc/mounts)
if [ -n "$cpuset" ] && [ "$first" != "$last" ] && mkdir "$cpuset/latlab-test-$$" 2>/dev/null; then
    group=$cpuset/latlab-test-$$
    cat "$cpuset/cpuset.mems" >"$group/cpuset.mems" && echo "$last" >"$group/cpuset.cpus"
    try "a thread that is moved into a cpuset makes the run invalid" moved_to_a_cpuset
else
    echo "SKIPPED: a thread in a cpuset: there is no cpuset hierarchy for threads here"
fi

waker() {
    begin --instrument handoff --for 600s --deadline 10s --cpus "$first" || return 1
    chrt -o -p 0 "$(thread 'latlab/0 wakes')" || return 1
    invalid && holds "lost(\"waker's scheduling\", 0)[0]['now'] == 'other'"
}
try "the waking thread of handoff is looked at as well" waker

spins() {
    # A spinning thread first learns its usual pass.
    "$program" run --quiet --format json --warm-up 100ms --instrument spin --policy other --for 600s --deadline 10s \
        --cpus "$last" "${rights[@]}" >"$here/run.json" 2>"$here/errors" &
    run=$!
    begun || return 1
    renice -n 5 -p "$(thread latlab/0)" >/dev/null || return 1
    invalid && holds "lost('scheduling', 0)[0]['now'] == 'other, nice 5'"
}
try "and a thread that spins, also at its nice value" spins

# A larger timer slack lets the kernel wake an ordinary thread later.
slack() {
    begin --policy other --for 600s --deadline 10s --cpus "$first" || return 1
    echo 50000000 >"/proc/$(thread latlab/0)/timerslack_ns" || return 1
    invalid && holds "lost('timer slack', 0)[0]['held'] == '1 ns' and lost('timer slack', 0)[0]['now'] == '50000000 ns'"
}
if [ -w /proc/self/timerslack_ns ]; then
    try "a timer slack that another program sets makes the run invalid" slack
else
    echo "SKIPPED: timer slack: this kernel has no /proc/PID/timerslack_ns"
fi

# A kernel file that nothing depends on.
file=/proc/sys/vm/dirtytime_expire_seconds
before=$(cat "$file")
set_elsewhere() {
    begin --for 600s --deadline 10s --cpus "$first" --set "$file=$((before + 2))" || return 1
    echo $((before + 3)) >"$file"
    invalid && holds "lost('$file')[0]['held'] == '$((before + 2))' and lost('$file')[0]['now'] == '$((before + 3))'"
    local code=$?
    echo "$before" >"$file"
    return $code
}
written() {
    begin --for 600s --deadline 10s --cpus "$first" --set "$file=$((before + 2))" || return 1
    echo $((before + 3)) >"$file"
    echo $((before + 2)) >"$file"
    end_run
    holds "any(f['code'] in ('setting-written', 'setting-changed') and f['setting'] == '$file'
        for f in run['findings'])" &&
        expect "the value of before" [ "$(cat "$file")" = "$before" ]
}
if [ -w "$file" ]; then
    try "a file of --set that another program sets makes the run invalid" set_elsewhere
    try "a file that is set and set back at once is reported" written
else
    echo "SKIPPED: files of --set: $file cannot be written here"
fi

# Two busy loops on all CPUs.
busy=(--load "command,run=: ${here##*/}; while :; do :; done & while :; do :; done")
load_moved() {
    begin --for 600s --deadline 10s "${busy[@]}" || return 1
    sleep 1.5
    pgrep -f ": ${here##*/};" | xargs -n 1 taskset -acp "$last" || return 1
    # Loads are looked at once a second.
    sleep 4
    end_run
    holds "[f for f in run['findings'] if f['code'] == 'load-lost-cpus' and f['at_ns'] and f['left'] == '$last']" &&
        holds "[f for f in run['findings'] if f['code'] == 'load-elsewhere'] == []"
}
if [ "$first" != "$last" ]; then
    try "a load that is moved onto a part of its CPUs is reported" load_moved
fi

undisturbed() {
    "$program" run --quiet --format json --warm-up 0s "${rights[@]}" --for 3s \
        --deadline 10s "${busy[@]}" >"$here/run.json"
    holds "not any(f['code'].startswith('setting-') for f in run['findings'])" &&
        holds "not any(f['code'] in ('load-lost-cpus', 'load-elsewhere') for f in run['findings'])"
}
try "an undisturbed run has no such finding" undisturbed

exit $status
