#!/usr/bin/env bash
# Real load generators during a run: their own figures are stored, and a load that does not run makes the run
# invalid.
. "$(dirname "$0")/../common.bash"
. tests/lab/loads.bash

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
    python3 tests/lab/loads.py hackbench "$here/run.json" "$here/passes"
}
try "the times that hackbench prints are those that are stored, over all its passes" hackbench_told

stressapptest_told() {
    # On a busy machine it is too weak, which does not affect its rates.
    measure --load "stressapptest,memory-threads=1,megabytes=32,options=-l $here/sat" --for 4s ||
        holds '"load-too-weak" in codes' || return 1
    python3 tests/lab/loads.py stressapptest "$here/run.json" "$here/sat"
}
try "so are the rates that stressapptest prints at its end" stressapptest_told

evidence() {
    # Few tasks, so that the other load gets its share of the CPU.
    measure --load hackbench,groups=1,fds=5,loops=200 --load 'stress-ng,stressors=--cpu 1' \
        --load-on 0 --for 4s || return 1
    # With other work on its CPU a load may be reported as too weak, rightly.
    ! holds 'codes.count("load-too-weak") > 0' >/dev/null 2>&1 || ! too_crowded "the share of two loads" || return 0
    holds 'codes.count("load-too-weak") == 0 and len(loads) == 2' &&
        holds 'all(load["placement"] == "0" for load in loads)' &&
        holds 'loads[0]["cpu_share"]["mean"] > 0.1 and loads[0]["evidence"]["per_second"]["min"] > 0' &&
        holds 'loads[1]["rates"][0]["of"] == "cpu" and loads[1]["version"]' &&
        holds 'all(load["started_ns"] < load["shown_ns"] < run["threads"][0]["setup"]["first_release_ns"]
            for load in loads)' &&
        nothing_left || return 1
    "$program" show last --all >"$here/shown" &&
        grep -q -- "--load hackbench,groups=1,fds=5,loops=200 --load 'stress-ng,stressors=--cpu 1'" "$here/shown" &&
        grep -q -- "--load-on 0" "$here/shown"
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
    # A program that waits long for a CPU runs for most of the time, however soon it ends.
    [ "$code" = 4 ] && holds 'loads[0]["restarts"] > 40' >/dev/null 2>&1 ||
        ! too_crowded "a load that ends at once" || return 0
    expect "exit code 4" [ "$code" = 4 ] && holds '"load-ended-early" in codes and loads[0]["restarts"] > 40'
}
try "so does one that ends at once, each time that it is started again" nothing

runs_away() {
    measure --load \
        "command,run=setsid sh -c 'trap \"\" TERM; exec sleep 1000' & setsid setsid sleep 1001 & while :; do :; done" \
        --for 2s
    holds 'loads[0]["killed"] >= 1' && nothing_left
}
try "what leaves its group and ignores signals is found and ended" runs_away

exit $status
