#!/usr/bin/env bash
# What a run changed, and what it started, is known by locks that the kernel holds: whatever a command of
# another container, time namespace or user sees, it undoes only what nobody holds, it forgets nothing
# that it could not put back, and it ends no process that no load started.
# Invariant (undo): What a run holds is left alone, whoever looks; what nobody holds is put back, and forgotten only then.
. "$(dirname "$0")/common.bash"

[ "$(id -u)" = 0 ] && [ "$OWN_MOUNTS" = yes ] || skip "ownership: need root and a mount namespace"
# Whatever fails below, this machine is left as it was found.
trap '"$program" doctor --restore >/dev/null 2>&1; echo "$first" >"$file"; kill $(jobs -p) 2>/dev/null; rm -rf "$here"' EXIT

export LATLAB_RUNS=$here/runs TMPDIR=$here/scratch
mkdir "$TMPDIR"
records=/run/latlab
# Harmless, and of nobody's interest.
name=fs.lease-break-time
file=/proc/sys/fs/lease-break-time
first=$(cat $file)
one=$((first + 1))
two=$((first + 2))
ordinary=(--policy other --idle-states system --share --quiet --warm-up 0s)

# Processes of the loads of this script.
of_load() { pgrep -f "^([^ ]*/)?(sh|setsid|env) .*: ${here##*/};"; }
# Whether all threads of processes have ended; as long as one has not, their locks hold, though the
# process has no command line any more, or is a zombie by its first thread.
all_gone() {
    local pid
    for pid in "$@"; do
        ! cat /proc/"$pid"/task/*/stat 2>/dev/null | grep -qv ') [ZX] ' || return 1
    done
}
# Processes of the program that were started here, by their command line.
ours() {
    local pid
    for pid in $(pgrep -f "^$program ${1:-}"); do
        grep -qsz "^LATLAB_RUNS=$here/runs$" "/proc/$pid/environ" && echo "$pid"
    done
    return 0
}
value() { cat $file; }
is() { [ "$(value)" = "$1" ]; }
records_are() { [ "$(find $records -name 'undo-*' -o -name 'load-*' | wc -l)" = "$1" ]; }

# Starts a run that sets the file, with the flags in $with, after the words that stand before it, and
# waits until it measures: ${run_of[NAME]} is what was started, ${agent_of[NAME]} its agent.
declare -A run_of agent_of
with=()
start() {
    local which=$1 set=$2
    shift 2
    "$@" "$program" run "${ordinary[@]}" --name "$which" --for 600s --set "$name=$set" "${with[@]}" \
        >"$here/$which" 2>&1 &
    run_of[$which]=$!
    until_holds 60 "a run that measures" measures "$which" || { cat "$here/$which"; return 1; }
    agent_of[$which]=$(agent "$which")
}
agent() { ours "agent .*_$1\$"; }
conductor() { ours "run .*--name $1 "; }
supervisor() { ours "load-supervisor command"; }
measures() { grep -qs latlab/ /proc/"$(agent "$1")"/task/*/comm; }

# Ends a run in one of two ways.
stop() {
    kill -INT "$(conductor "$1")"
    wait "${run_of[$1]}"
    local code=$?
    [ $code = 0 ] || { cat "$here/$1"; echo "$1 ended with $code"; return 1; }
}
murder() {
    kill -KILL "$(conductor "$1")" "${agent_of[$1]}"
    wait "${run_of[$1]}" 2>/dev/null
    until_holds 30 "the end of the agent" [ ! -e "/proc/${agent_of[$1]}" ]
}

# Tries one thing, and leaves nothing of it to the next.
attempt() {
    try "$@"
    {
        kill -KILL $(ours) $(of_load) $(jobs -p)
        wait
    } 2>/dev/null
    echo "$first" >$file
    rm -rf "${records:?}"/* "$here/runs" "${TMPDIR:?}"/*
}

restore() {
    "$program" doctor --restore >"$here/restored" 2>&1
    code=$?
    cat "$here/restored"
}

# Runs a command where /proc/sys cannot be written.
read_only() { unshare -m bash -c 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && "$@"' - "$@"; }

fails_after_a_kill() {
    start failing $one && is $one && murder failing || return 1
    read_only "$program" list >"$here/out" 2>&1
    cat "$here/out"
    expect "a line that it cannot be put back" grep -q "cannot restore $file.*Read-only" "$here/out" || return 1
    read_only "$program" doctor --restore && { echo "expected: exit code 3"; return 1; }
    expect "it is not forgotten" records_are 1 || return 1
    restore
    expect "it is put back by the next that can" is "$first" && [ $code = 0 ] && records_are 0 &&
        expect "nothing more" [ "$("$program" doctor --restore)" = "Nothing to restore." ]
}
attempt "what cannot be put back after a kill is not forgotten" fails_after_a_kill

fails_at_the_end() {
    # The run has a /proc/sys of its own, which becomes read-only while it goes on.
    start ending $one unshare -m || return 1
    nsenter -m -r -t "${agent_of[ending]}" bash -c \
        'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys' || return 1
    stop ending || return 1
    expect "a finding" grep -q '"setting-not-restored"' "$here"/runs/*_ending/run.json &&
        expect "it is still changed" is $one && expect "it is not forgotten" records_are 1 || return 1
    restore
    expect "it is put back by the next that can" is "$first" && records_are 0
}
attempt "what a run cannot put back at its end is put back later" fails_at_the_end

# Each system call of putting back fails in turn, first those on the file and then those on the record.
every_step_fails() {
    local call step record failed=0
    start left $one && murder left || return 1
    record=$(find $records -name 'undo-*') && cp "$record" "$here/record" || return 1
    for call in openat read write unlink rename fcntl fsync; do
        for step in 1 2 3 4; do
            echo $one >$file
            cp "$here/record" "$record"
            strace -f -qq -o "$here/calls" -P $file -P "$record" -P $records/lock -P $records \
                -e inject=$call:error=EIO:when=$step "$program" doctor --restore >"$here/out" 2>&1
            code=$?
            grep -q INJECTED "$here/calls" || break
            failed=$((failed + 1))
            [ ! -e "$record" ] && is "$first" || [ -e "$record" -a $code = 3 ] || {
                cat "$here/calls" "$here/out"
                echo "$call $step: exit code $code, $(value), and the record is $(ls $records)"
                return 1
            }
            restore
            is "$first" && [ $code = 0 ] && records_are 0 || { cat "$here/calls"; echo "after $call $step"; return 1; }
        done
    done
    expect "some failures, not $failed" [ $failed -ge 8 ]
}
# The same of a run, from its start to its end.
every_step_of_a_run_fails() {
    local call step failed=0
    for call in openat read write; do
        for step in $(seq 12); do
            strace -f -qq --seccomp-bpf -e trace=openat,read,write -o "$here/calls" -P $file -e inject=$call:error=EIO:when=$step \
                "$program" run "${ordinary[@]}" --format json --for 100ms --set $name=$one >"$here/run.json" 2>"$here/out"
            code=$?
            grep -q INJECTED "$here/calls" || break
            failed=$((failed + 1))
            case $code in
                3) expect "a reason" grep -q -e "--set $file=$one" "$here/out" ;;
                0) is "$first" || grep -q '"setting-not-restored"' "$here/run.json" ;;
                *) [ $code = 4 ] ;;
            esac && { is "$first" || records_are 1; } && restore && is "$first" && [ $code = 0 ] && records_are 0 || {
                cat "$here/out" "$here/calls"
                echo "$call $step: exit code $code, $(value), records: $(ls $records)"
                return 1
            }
        done
    done
    expect "some failures, not $failed" [ $failed -ge 8 ]
}
! have "failures of each step of a run" strace ||
    attempt "whatever step of a run fails at a kernel file, it is put back or not forgotten" every_step_of_a_run_fails
! have "failures of each step of putting back" strace ||
    attempt "whatever step of putting back fails, it is put back or not forgotten" every_step_fails

# Two runs that set one file; $1 is how each ends: `a` and `b` an end, `A` and `B` a kill.
equal() {
    local end last
    start a $one && start b $one || return 1
    for end in $(grep -o . <<<"$1"); do
        is $one || { echo "expected: $one until the last ends"; return 1; }
        case $end in
            [ab]) stop "$end" ;;
            A) murder a ;;
            B) murder b ;;
        esac || return 1
        last=$end
        "$program" list >"$here/out" 2>&1 || return 1
    done
    until_holds 10 "what was there before both" is "$first" && records_are 0
}
for order in ab ba Ab bA AB BA; do
    attempt "two runs that set one file to one value: ends $order" equal $order
done

other_value() {
    start a $one || return 1
    "$program" run "${ordinary[@]}" --for 1s --set $name=$two >"$here/out" 2>&1
    code=$?
    cat "$here/out"
    expect "exit code 3" [ $code = 3 ] && expect "one line" [ "$(wc -l <"$here/out")" = 1 ] &&
        expect "who has it" grep -q -e "--set $file=$two: '.*run.*--name a .*(process .* holds it at '$one'.*wait for it" "$here/out" &&
        expect "no change" is $one && stop a && is "$first" && records_are 0
}
attempt "another value for a file that a run has set is refused, with the run that has it" other_value

already_so() {
    start a "$first" || return 1
    "$program" run "${ordinary[@]}" --for 1s --set $name=$two >"$here/out" 2>&1
    expect "exit code 3" [ $? = 3 ] && stop a && is "$first"
}
attempt "so is one for a file that held already what a run asked" already_so

# A run with a load in a container that shares our /run: $1 is its name, the rest makes the container.
load="setsid sh -c ': ${here##*/}; while :; do sleep 1; done' & : ${here##*/}; while :; do sleep 0.01; done"
below() { ps -o pid= --ppid "$1" | while read -r pid; do echo "$pid"; below "$pid"; done; }
contained() {
    local what=$1 before
    shift
    local with=(--load "command,run=$load")
    start "$what" $one "$@" || return 1
    before=$(of_load)
    expect "a load" [ "$(wc -w <<<"$before")" -ge 2 ] || return 1
    "$program" list >"$here/out" 2>&1
    restore
    cat "$here/out"
    expect "no word of it" [ -z "$(grep -E 'ended|restored' "$here/out" "$here/restored")" ] &&
        expect "nothing restored" is $one && expect "nothing ended" [ "$(of_load)" = "$before" ] || return 1
    # All at once, as a container ends.
    kill -KILL $(below "${run_of[$what]}") "${run_of[$what]}"
    wait "${run_of[$what]}" 2>/dev/null
    until_holds 30 "the end of the agent" [ ! -e "/proc/${agent_of[$what]}" ] || return 1
    restore
    expect "the value, put back from outside" is "$first" && nothing_left
}
nothing_left() {
    until_holds 10 "the end of all processes" no_load &&
        expect "no scratch folder: $(ls "$TMPDIR")" [ -z "$(ls "$TMPDIR")" ] &&
        expect "no record: $(ls $records)" records_are 0
}
no_load() { [ -z "$(of_load)" ]; }
attempt "a run in a process namespace is left alone, and put back from outside after its end" \
    contained pid unshare --pid --fork --mount-proc
attempt "so is one in a time namespace" contained time unshare --time --boottime 100000 --fork

# And the other way round: what goes on here is left alone by a container.
from_container() {
    local with=(--load "command,run=$load")
    start outside $one || return 1
    local before
    before=$(of_load)
    unshare --pid --fork --mount-proc "$program" list >"$here/out" 2>&1
    unshare --time --boottime 100000 --fork "$program" list >>"$here/out" 2>&1
    cat "$here/out"
    expect "nothing restored" is $one && expect "nothing ended" [ "$(of_load)" = "$before" ] &&
        stop outside && is "$first" && nothing_left
}
attempt "a container leaves alone what goes on outside" from_container

# Processes that look like those of a load: by their folder, by a variable, by both, by an open file.
innocents() {
    local pids=() pid
    mkdir -p "$here/scratch/latlab-load-7-7/below"
    (cd "$here/scratch/latlab-load-7-7" && exec sleep 1001) & pids+=($!)
    (cd "$here/scratch/latlab-load-7-7/below" && LATLAB_LOAD_SUPERVISOR=7-7 exec sleep 1001) & pids+=($!)
    LATLAB_LOAD_SUPERVISOR=7-7 setpriv --reuid 65534 --clear-groups sleep 1001 & pids+=($!)
    sleep 1001 3<"$here/scratch/latlab-load-7-7" & pids+=($!)
    # And one that stands where a load worked that was killed, and has its folder open.
    local with=(--load "command,run=$load")
    start left "$first" || return 1
    (cd "$TMPDIR"/latlab-load-???????????????? 2>/dev/null && exec sleep 1001 3<.) & pids+=($!)
    sleep 0.3
    kill -KILL $(supervisor)
    murder left || return 1
    (cd "$here/scratch/latlab-load-7-7" && "$program" list) >"$here/out" 2>&1
    expect "a shell that stands there lives" [ $? = 0 ] || return 1
    restore
    for pid in "${pids[@]}"; do
        kill -0 "$pid" || { echo "expected: process $pid lives"; return 1; }
    done
    kill "${pids[@]}"
    wait "${pids[@]}" 2>/dev/null
    rm -rf "$here/scratch/latlab-load-7-7"
    expect "the load is ended" nothing_left
}
attempt "nobody is ended who only looks like a load" innocents

# All that a load has started is ended when everything of latlab was killed at once: $@ is what stands
# before the run. One of its processes has left its group and its session, has no variable, and stands
# somewhere else.
orphans="env -i setsid sh -c 'cd /; trap \"\" TERM; : ${here##*/}; while :; do sleep 1; done' & : ${here##*/}; while :; do sleep 0.01; done"
killed_at_once() {
    local with=(--load "command,run=$orphans")
    start orphans "$first" "$@" || return 1
    expect "a load" [ "$(of_load | wc -l)" -ge 2 ] || return 1
    # Stopped first, or one of them would end the load before it is killed.
    kill -STOP "${agent_of[orphans]}" $(supervisor)
    local pids
    pids=($(supervisor) "${agent_of[orphans]}" "$(conductor orphans)")
    kill -KILL "${pids[@]}"
    wait "${run_of[orphans]}" 2>/dev/null
    until_holds 30 "the end of all of latlab" all_gone "${pids[@]}" || return 1
    "$program" list >"$here/out" 2>&1
    cat "$here/out"
    expect "a word of it" grep -q "stopped .* load processes" "$here/out" && nothing_left
}
attempt "a load is ended after a kill of everything of latlab" killed_at_once
without_cgroups='for one in $(grep " cgroup2 " /proc/self/mounts | cut -d " " -f 2); do umount -l "$one"; done; exec "$@"'
attempt "so is one where there are no cgroups" killed_at_once unshare -m bash -c "$without_cgroups" -

damaged() {
    [ -d $records ] || mkdir $records
    printf 'file %s\nbefore \xff\xfe\nafter %s\n' $file $one >$records/undo-damaged
    "$program" list 2>"$here/out" >/dev/null
    expect "one line" [ "$(grep -c "$records/undo-damaged" "$here/out")" = 1 ] || { cat "$here/out"; return 1; }
    restore
    rm -f $records/undo-damaged
    expect "exit code 3" [ $code = 3 ] && expect "the name of the record" grep -q "$records/undo-damaged" "$here/restored"
}
attempt "a record that cannot be read is told" damaged

# The kernel needs some milliseconds to end a process that was killed, in which its locks live. DOUBLE_KILLS is
# how often a run is killed at a random instant, and right after it the command that cleans up.
changed=($name kernel.printk_ratelimit_burst kernel.printk_ratelimit net.core.message_burst net.core.message_cost)
settings_hash() { (cd /proc/sys && sha256sum "${changed[@]//.//}" | sha256sum); }
random_seconds() { printf '0.%04d' $((RANDOM % $1)); }
double_kills() {
    local try one before after cleaning hits=0 sets=()
    for one in "${changed[@]}"; do
        sets+=(--set "$one=$(($(<"/proc/sys/${one//.//}") + 1))")
    done
    before=$(settings_hash)
    for try in $(seq "${DOUBLE_KILLS:-10}"); do
        "$program" run "${ordinary[@]}" --for 600s "${sets[@]}" >"$here/out" 2>&1 &
        sleep "$(random_seconds 9999)"
        # Each third is killed while it ends by itself.
        [ $((try % 3)) != 0 ] || { kill -INT $(ours run) && sleep "$(random_seconds 300)"; }
        [ "$(settings_hash)" = "$before" ] || hits=$((hits + 1))
        kill -KILL $(ours)
        "$program" list >"$here/cleaning" 2>&1 &
        cleaning=$!
        sleep "$(random_seconds 500)"
        kill -KILL $cleaning 2>/dev/null
        "$program" list >"$here/out" 2>&1
        after=$(settings_hash)
        wait
        expect "all settings as they were, at once after kill $try" [ "$before" = "$after" ] &&
            expect "no record: $(ls $records)" records_are 0 ||
            { cat "$here/cleaning" "$here/out"; (cd /proc/sys && grep . "${changed[@]//.//}"); return 1; }
    done 2>/dev/null
    expect "kills of runs that had changed settings, not $hits" [ $hits -gt 0 ]
}
attempt "a command right after a kill, and one right after the kill of that, puts back what was changed" double_kills

# The one that cleans up is killed at each of its system calls on the file and on the record.
every_step_is_killed() {
    local step record killed=0
    start left $one && murder left || return 1
    record=$(find $records -name 'undo-*') && cp "$record" "$here/record" || return 1
    for step in $(seq 60); do
        echo $one >$file
        cp "$here/record" "$record"
        strace -f -qq -o "$here/calls" -P $file -P "$record" -P "$record.draft" -P $records/lock -P $records \
            -e inject=all:signal=KILL:when=$step "$program" doctor --restore >"$here/out" 2>&1
        code=$?
        "$program" list >"$here/out" 2>&1
        is "$first" && records_are 0 || { cat "$here/calls" "$here/out"; echo "$step: $(value), records: $(ls $records)"; return 1; }
        [ $code != 0 ] || break
        killed=$((killed + 1))
    done
    expect "some kills, not $killed" [ $killed -ge 10 ]
}
! have "kills at each step of putting back" strace ||
    attempt "whatever step of putting back is the last, the next command puts back" every_step_is_killed

# What stands in the place of a record, of its lock and of its folder is told, and stays.
planted() {
    local how
    start left $one && murder left || return 1
    local record
    record=$(find $records -name 'undo-*')
    cp "$record" "$here/record"
    for how in cut link pipe stranger lock folder; do
        case $how in
            cut) head -c -6 "$here/record" >"$record" ;;
            link) ln -sf "$here/record" "$record" ;;
            pipe) rm "$record" && mkfifo "$record" ;;
            stranger) rm "$record" && cp "$here/record" "$record" && chown 65534 "$record" ;;
            lock) cp "$here/record" "$record" && chown 0 "$record" && rm $records/lock && mkfifo $records/lock ;;
            folder) rm $records/lock && chmod 777 $records ;;
        esac
        timeout 60 "$program" doctor --restore >"$here/out" 2>&1
        code=$?
        cat "$here/out"
        expect "exit code 3 for $how" [ $code = 3 ] && expect "a line of it" grep -q "$records" "$here/out" &&
            expect "it stays" [ -e "$record" ] && expect "nothing changed" is $one || return 1
    done
    chmod 755 $records
    restore
    expect "it is put back when it can be believed" is "$first" && [ $code = 0 ] && records_are 0
}
attempt "what is no record is told, and what it may stand for is not forgotten" planted
chmod 755 $records

goes_on() {
    start on $one || return 1
    restore
    expect "a line of who goes on" grep -q "run .*--name on .*(process .* goes on, and restores" "$here/restored" &&
        expect "exit code 0" [ $code = 0 ] && is $one && stop on && is "$first"
}
attempt "whoever asks what is to be restored hears who goes on" goes_on

# A user without rights takes every lock that may be taken, and root measures all the same.
locked_by_others() {
    python3 - <<'PYTHON' &
import fcntl, glob, os, time
os.setgroups([])
os.setuid(65534)
held = {}
while True:
    for path in [path for folder in ("/run/lock", "/run/latlab", "/tmp") for path in glob.glob(f"{folder}/latlab*") + glob.glob(f"{folder}/*/*latlab*") + glob.glob("/run/latlab/*")]:
        for flags, kind in ((os.O_RDWR, fcntl.LOCK_EX), (os.O_RDONLY, fcntl.LOCK_SH)):
            try:
                file = held.get((path, flags)) or os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
                held[path, flags] = file
                fcntl.lockf(file, kind | fcntl.LOCK_NB)
                fcntl.flock(file, kind | fcntl.LOCK_NB)
            except OSError:
                pass
    time.sleep(0.02)
PYTHON
    local locker=$! which
    for which in early late; do
        "$program" run --policy other --idle-states system --quiet --for 1s --set $name=$one --name $which >"$here/out" 2>&1
        code=$?
        [ $code = 0 ] || { cat "$here/out"; break; }
    done
    kill $locker
    expect "exit code 0, not $code" [ $code = 0 ] && is "$first" && records_are 0
}
attempt "no other user can hold the CPUs or a record" locked_by_others

exit $status
