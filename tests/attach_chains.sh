#!/usr/bin/env bash
# Threads of a program that release one another: their latency from end to end, and how their releases arrive.
# Invariant (instruments): attach: cycles, releases and faults of a program are those of its log.
. "$(dirname "$0")/common.bash"
. tests/attach.bash
gcc -g -O1 -Wall -Wextra -pthread -o "$here/chain" tests/attach/chain.c || exit 1

# The program's own times lie within what is reported, and are only some microseconds shorter.
chain() {
    rm -f "$here/log"
    "$program" attach --quiet --out "$runs" --name chain -- \
        "$here/chain" 2000 1500 "$here/log" $RANDOM >"$here/text" 2>&1
    folder=$runs/$(ls "$runs" | grep "_chain$" | tail -n 1)
    expect "one chain" told \
        "[one['names'] for one in run['attached']['chains']] == [['sensor', 'control', 'actuator']]" || return 1
    expect "nearly each cycle followed back" told "one_chain()['count'] >= 0.9 * len(log['chains'])" \
        "one_chain()['count'] <= one_chain()['cycles'] <= len(log['chains'])" || return 1
    expect "the longest one of the log" told "own_longest()[1] <= one_chain()['max_ns']" \
        "one_chain()['longest_release_ns'] in [due for due, _ in longest_chains(5)]" || return 1
    expect "its median" told \
        "0 <= one_chain()['quantiles']['p50_ns'] - median(end - due for due, end in log['chains']) < 40_000" || return 1
    expect "the chain in the text" grep -q "sensor > control > actuator" "$here/text" || return 1
    "$program" report -o "$here/page.html" "$folder" >/dev/null || return 1
    expect "the chain on the page" grep -q "sensor &gt; control &gt; actuator" "$here/page.html"
}

# In each length of window, as if all windows were searched.
arrivals() {
    local window
    for window in 1 2 5 10 20 50 100 200 500 1000; do
        expect "arrivals in $window ms" told \
            "arrivals('control', $window) == counted_arrivals('control', $window)" || return 1
    done
    expect "no curve of a thread with its own timer" told "arrivals('sensor', 10) is None" || return 1
    expect "it in the text" grep -q "^Arrivals" "$here/text"
}

try "a chain takes as long as in the program's log" chain
try "arrivals in windows of time" arrivals
exit $status
