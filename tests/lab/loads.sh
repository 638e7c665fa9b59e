#!/usr/bin/env bash
# Real load generators beside a run: their own figures are those that are stored, what does not run
# makes a run invalid, and nothing of them outlives latlab, however it ends.
. "$(dirname "$0")/../common.bash"
export LATLAB_RUNS=$here/runs
# A second run on the same CPUs is not what is tested here.
ordinary=(--policy other --idle-states system --share --quiet --warm-up 200ms)
rights=(--policy other --idle-states system --share)

have loads hackbench stressapptest stress-ng || exit 0

# A run with these flags, to $here/run.json; gives back its exit code.
measure() { "$program" run "${ordinary[@]}" --format json "$@" >"$here/run.json" 2>"$here/errors"; }

# Whether an expression about `run`, the last one, holds.
holds() {
    holds_in "$here/run.json" '
codes = [finding["code"] for finding in run["findings"]]
loads = run["loads"]' "$1"
}

# Whether other work is so much that a load cannot have the share of a CPU that it asks for.
crowded() { awk -v cpus="$(nproc)" '{ exit !($1 > 3 * cpus) }' /proc/loadavg; }
too_crowded() {
    crowded && echo "SKIPPED: $1: the load average is $(cut -d' ' -f1 /proc/loadavg) on $(nproc) CPUs"
}

# Scratch folders of this script only.
export TMPDIR=$here/scratch
mkdir "$TMPDIR"

# The supervisors and what they have started: by their folder, which few leave, or by a mark and what
# the kernel knows of the load.
export LATLAB_TEST_MARK=$here
ours() {
    python3 - "$here" "${1:-}" <<'PYTHON'
import os, sys
mark = f"LATLAB_TEST_MARK={sys.argv[1]}".encode()
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        environment = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
        words = open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ").decode(errors="replace")
        dead = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
        folder = os.readlink(f"/proc/{pid}/cwd")
        groups = open(f"/proc/{pid}/cgroup").read()
        files = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        continue
    of_load = any("/latlab-load-" in text for text in (groups, *files))
    marked = mark in environment and (of_load or " load-supervisor " in words)
    if not dead and (marked or folder.startswith(f"{sys.argv[1]}/scratch/")):
        if sys.argv[2] in words:
            print(pid)
PYTHON
}

none_of_ours() { [ -z "$(ours)" ]; }
nothing_left() {
    until_holds 60 "nothing of the load is left" none_of_ours && return
    for pid in $(ours); do tr '\0' ' ' <"/proc/$pid/cmdline"; done
    return 1
}

# Waits until a process of a load with these words is there.
some_of_ours() { [ -n "$(ours "$1")" ]; }
wait_for() { until_holds 60 "a process with '$1'" some_of_ours "$1"; }

mkdir "$here/own"
cat >"$here/own/told.toml" <<TOML
about = "hackbench that leaves a copy of what it prints"
restart = true
[[process]]
program = "sh"
args = ["-c", "hackbench -g 1 -f 5 -l 2000 >$here/pass && cat $here/pass >>$here/passes && cat $here/pass"]
[[rate]]
name = "time of a pass"
line = "Time:"
pattern = '^Time: (?<value>[0-9.]+)'
unit = "s"
TOML
hackbench_told() {
    measure --load told --loads "$here/own" --for 4s || return 1
    python3 - "$here/run.json" "$here/passes" <<'PYTHON'
import json, sys
load = json.load(open(sys.argv[1]))["loads"][0]
printed = [float(line.split()[1]) for line in open(sys.argv[2]) if line.startswith("Time:")]
rate = load["rates"][0]
# The last pass may have been ended between its two copies.
printed = printed[:rate["count"]] if len(printed) == rate["count"] + 1 else printed
assert rate["count"] == len(printed) > 2, (rate, len(printed))
assert abs(rate["mean"] - sum(printed) / len(printed)) < 1e-9, (rate, printed)
assert (rate["min"], rate["max"], rate["last"]) == (min(printed), max(printed), printed[-1])
assert load["restarts"] >= rate["count"] - 1 and load["gap_ns"] > 0, load
PYTHON
}
try "the times that hackbench prints are those that are stored, over all its passes" hackbench_told

stressapptest_told() {
    # On a busy machine it is too weak, which changes nothing of its rates.
    measure --load "stressapptest,memory-threads=1,megabytes=32,options=-l $here/sat" --for 4s ||
        holds '"load-too-weak" in codes' || return 1
    python3 - "$here/run.json" "$here/sat" <<'PYTHON'
import json, re, sys
load = json.load(open(sys.argv[1]))["loads"][0]
stored = {rate["of"]: rate["last"] for rate in load["rates"]}
printed = {}
for line in open(sys.argv[2]):
    found = re.search(r"Stats: ([A-Z][A-Za-z ]+): [0-9.]+M at ([0-9.]+)MB/s", line)
    if found and float(found[2]) > 0:
        printed[found[1]] = float(found[2])
    if found := re.search(r"Completed: .* ([0-9.]+)MB/s", line):
        printed[None] = float(found[1])
assert stored == printed and printed["Memory Copy"] > 0, (stored, printed)
assert load["version"] and load["status"]["code"] == 0, load
PYTHON
}
try "so are the rates that stressapptest prints at its end" stressapptest_told

evidence() {
    # Few tasks, so that the other load has its share of the CPU beside them.
    measure --load hackbench,groups=1,fds=5,loops=200 --load 'stress-ng,stressors=--cpu 1' \
        --load-on 0 --for 4s || return 1
    # With others on its CPU a load may be told as too weak, and then it is.
    ! holds 'codes.count("load-too-weak") > 0' >/dev/null 2>&1 || ! too_crowded "the share of two loads" || return 0
    holds 'codes.count("load-too-weak") == 0 and len(loads) == 2' &&
        holds 'all(load["placement"] == "0" for load in loads)' &&
        holds 'loads[0]["cpu_share"]["mean"] > 0.1 and loads[0]["evidence"]["per_second"]["min"] > 0' &&
        holds 'loads[1]["rates"][0]["of"] == "cpu" and loads[1]["version"]' &&
        holds 'all(load["started_ns"] < load["shown_ns"] < run["threads"][0]["setup"]["first_release_ns"] for load in loads)' &&
        nothing_left || return 1
    "$program" show last --all >"$here/shown" &&
        grep -q -- "--load hackbench,groups=1,fds=5,loops=200 --load 'stress-ng,stressors=--cpu 1' --load-on 0" "$here/shown"
}
try "two loads at once, on one CPU, with CPU share, context switches and the same words again" evidence

dies() {
    begin --load 'command,run=while :; do :; done' --for 8s --deadline 10s || return 1
    sleep 1
    kill -9 $(ours 'sh -c while')
    wait $run
    expect "exit code 4" [ $? = 4 ] && holds 'run["verdict"]["word"] == "invalid"' &&
        holds '"load-died" in codes and loads[0]["status"]["signal"] == 9'
}
try "a load that dies halfway makes the run invalid" dies

paused() {
    begin --load 'stress-ng,stressors=--cpu 1' --for 8s --deadline 10s || return 1
    sleep 1
    for pid in $(ours stress-ng); do
        grep -q load-supervisor "/proc/$pid/cmdline" || kill -STOP "$pid"
    done
    wait $run
    expect "exit code 4" [ $? = 4 ] && holds '"load-too-weak" in codes' && nothing_left
}
try "a load that is stopped is too weak, and is ended all the same" paused

early() {
    measure --load 'command,run=sleep 2' --for 4s --deadline 10s
    expect "exit code 4" [ $? = 4 ] && holds '"load-ended-early" in codes'
}
try "a load that ends early makes it invalid too" early

cat >"$here/own/nothing.toml" <<TOML
about = "a load that ends at once, each time"
restart = true
[[process]]
program = "true"
args = []
TOML
nothing() {
    local code=0
    measure --load nothing --loads "$here/own" --for 8s --deadline 10s || code=$?
    # Where a program waits long for a CPU it runs for most of the time, however soon it ends.
    [ "$code" = 4 ] && holds 'loads[0]["restarts"] > 40' >/dev/null 2>&1 ||
        ! too_crowded "a load that ends at once" || return 0
    expect "exit code 4" [ "$code" = 4 ] && holds '"load-ended-early" in codes and loads[0]["restarts"] > 40'
}
try "so does one that ends at once, each time that it is started again" nothing

runs_away() {
    measure --load "command,run=setsid sh -c 'trap \"\" TERM; exec sleep 1000' & setsid setsid sleep 1001 & while :; do :; done" \
        --for 2s
    holds 'loads[0]["killed"] >= 1' && nothing_left
}
try "what leaves its group and ignores signals is found and ended" runs_away

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
try "a missing program is told before the start" \
    refused 3 "needs 'no-such-program', which is not installed" --load absent --loads "$here/own"
try "more memory than there is is refused with the arithmetic" \
    refused 3 "8000000 MB + 64 MB for the rest of the system, but" --load stressapptest,memory-threads=8,megabytes=1000000
try "an unknown load is told with those that there are" refused 2 "available: command, " --load hackbnch
try "so is an unknown argument" refused 2 "takes bytes, fds, groups" --load hackbench,grups=4
try "a mistake in a definition is told with file and line" \
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

# Starts a run with loads that fork a lot, and kills what is named.
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
