#!/usr/bin/env bash
# Kernel locks identify the processes of a load: in containers and time namespaces, and however latlab ends, exactly
# these are ended.
# Invariant (undo): No latlab touches what a live run holds; what a dead one left is restored, and forgotten only
# then.
. "$(dirname "$0")/common.bash"
name=fs.epoll.max_user_watches
. tests/ownership.bash

# A run with a load in a container that shares our /run: $1 is its name, the rest starts the container.
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

# The reverse: a container leaves live runs here alone.
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

# Processes that look like a load's: by their folder, by a variable, by both, by an open file.
innocents() {
    local pids=() pid
    mkdir -p "$here/scratch/latlab-load-7-7/below"
    (cd "$here/scratch/latlab-load-7-7" && exec sleep 1001) & pids+=($!)
    (cd "$here/scratch/latlab-load-7-7/below" && LATLAB_LOAD_SUPERVISOR=7-7 exec sleep 1001) & pids+=($!)
    LATLAB_LOAD_SUPERVISOR=7-7 setpriv --reuid 65534 --clear-groups sleep 1001 & pids+=($!)
    sleep 1001 3<"$here/scratch/latlab-load-7-7" & pids+=($!)
    # And one in the working folder of a killed load, with that folder open.
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
attempt "processes that only look like a load are not ended" innocents

# All processes of a load are ended even if all of latlab was killed at once: $@ precedes the run's command.
# One of the processes has left its group, its session and its folder, and has no variable.
orphans="env -i setsid sh -c 'cd /; trap \"\" TERM; : ${here##*/}; while :; do sleep 1; done' & : ${here##*/};
    while :; do sleep 0.01; done"
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
without_cgroups='for one in $(grep " cgroup2 " /proc/self/mounts | cut -d " " -f 2); do umount -l "$one"; done
    exec "$@"'
attempt "so is one where there are no cgroups" killed_at_once unshare -m bash -c "$without_cgroups" -

exit $status
