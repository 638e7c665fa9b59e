#!/usr/bin/env bash
# Any step of a run, or of restoring its changes, may fail or be the last one: changes are restored, at the latest by
# the next command that can, and not forgotten until then.
# Invariant (undo): No latlab touches what a live run holds; what a dead one left is restored, and forgotten only
# then.
. "$(dirname "$0")/common.bash"
name=fs.inotify.max_user_instances
. tests/ownership.bash

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
    # The run has a private /proc/sys, which becomes read-only during the run.
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

# Each system call of restoring fails in turn, first those on the file and then those on the lock file.
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
# The same for a run, from its start to its end.
every_step_of_a_run_fails() {
    local call step failed=0
    for call in openat read write; do
        for step in $(seq 12); do
            strace -f -qq --seccomp-bpf -e trace=openat,read,write -o "$here/calls" -P $file \
                -e inject=$call:error=EIO:when=$step \
                "$program" run "${ordinary[@]}" --format json --for 100ms \
                --set $name=$one >"$here/run.json" 2>"$here/out"
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

# The kernel needs some milliseconds to end a killed process, during which its locks hold. DOUBLE_KILLS is how
# often a run is killed at a random instant, and right after it the command that cleans up.
changed=($name kernel.printk_ratelimit_burst kernel.printk_ratelimit net.core.message_burst net.core.message_cost)
settings_hash() { (cd /proc/sys && sha256sum "${changed[@]//.//}" | sha256sum); }
has_changed() { [ "$(settings_hash)" != "$1" ]; }
random_seconds() { printf '0.%04d' $((RANDOM % $1)); }
double_kills() {
    local try one before after cleaning hits=0 sets=()
    for one in "${changed[@]}"; do
        sets+=(--set "$one=$(($(<"/proc/sys/${one//.//}") + 1))")
    done
    before=$(settings_hash)
    for try in $(seq "${DOUBLE_KILLS:-10}"); do
        "$program" run "${ordinary[@]}" --for 600s "${sets[@]}" >"$here/out" 2>&1 &
        # A busy machine changes nothing within a second: every other kill comes after the first change.
        [ $((try % 2)) != 0 ] || until_holds 60 "changed settings" has_changed "$before" || return 1
        sleep "$(random_seconds 9999)"
        # Every third is killed while it ends by itself.
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

# Kills the command that cleans up at each of its system calls on the file and on the lock file.
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
        is "$first" && records_are 0 ||
            { cat "$here/calls" "$here/out"; echo "$step: $(value), records: $(ls $records)"; return 1; }
        [ $code != 0 ] || break
        killed=$((killed + 1))
    done
    expect "some kills, not $killed" [ $killed -ge 10 ]
}
! have "kills at each step of putting back" strace ||
    attempt "whatever step of putting back is the last, the next command puts back" every_step_is_killed

exit $status
