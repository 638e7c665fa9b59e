#!/usr/bin/env bash
# Impossible loads are refused in one line, and nothing of a load outlives latlab, however it ends.
. "$(dirname "$0")/../common.bash"
. tests/lab/loads.bash

# Whether a run is refused with this exit code and these words, on one line.
refused() {
    local code=$1 words=$2
    shift 2
    measure "$@" --for 1s
    expect "exit code $code" [ $? = "$code" ] && expect "one line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        { grep -q -- "$words" "$here/errors" || { cat "$here/errors"; return 1; }; } &&
        nothing_left
}
cat >"$here/own/absent.toml" <<'TOML'
about = "a program that is not here"
[[process]]
program = "no-such-program"
[packages]
debian = "no-such-package"
TOML
printf 'about = "x"\n[[process]]\nprogam = "y"\n' >"$here/own/wrong.toml"
try "a missing program is reported before the start" \
    refused 3 "needs 'no-such-program', which is not installed" --load absent --loads "$here/own"
try "more memory than there is is refused with the arithmetic" \
    refused 3 "8000000 MB + 64 MB for the rest of the system, but" \
    --load stressapptest,memory-threads=8,megabytes=1000000
try "an unknown load is refused with the list of loads" refused 2 "available: command, " --load hackbnch
try "so is an unknown argument" refused 2 "takes bytes, fds, groups" --load hackbench,grups=4
try "a mistake in a definition is reported with file and line" \
    refused 2 "wrong.toml:3: unknown field .progam" --load wrong --loads "$here/own"
try "so is a folder of definitions that is not there, also without a load" \
    refused 2 "--loads /nowhere: No such file or directory" --loads /nowhere
try "every CPU is measured" refused 2 "every CPU is measured" --load hackbench --load-on others
listed() {
    "$program" loads --loads "$here/own/none" 2>/dev/null && return 1
    rm "$here/own/wrong.toml"
    "$program" loads --loads "$here/own" | grep -q "missing: no-such-program" &&
        "$program" loads show hackbench | diff - loads/hackbench.toml
}
try "latlab loads lists them and shows one" listed

# Starts a run with loads that fork a lot, and kills the named processes.
killed() {
    "$program" run "${ordinary[@]}" --name killed --for 60s --load hackbench,groups=3 \
        --load "command,run=setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & wait" \
        >"$here/out" 2>&1 &
    local conductor=$!
    wait_for "hackbench --groups" && wait_for trap || return 1
    run=$conductor
    begun || return 1
    case $1 in
        agent) kill -9 "$agent" ;;
        conductor) kill -9 $conductor ;;
        both) kill -9 $conductor "$agent" ;;
        keeper) kill -9 $(ours "load-supervisor hackbench") && sleep 3 && kill -INT $conductor ;;
        all) kill -9 $conductor "$agent" $(ours load-supervisor) && sleep 1 && "$program" doctor --restore ;;
    esac
    wait $conductor 2>/dev/null
    nothing_left && expect "no scratch folder" [ -z "$(ls "$TMPDIR")" ]
}
for who in agent conductor both keeper all; do
    try "kill -9 of $who leaves nothing" killed $who
done

exit $status
