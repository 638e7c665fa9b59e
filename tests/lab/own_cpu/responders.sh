#!/usr/bin/env bash
# Responders on Linux in guests: kernel modules and programs answer the edges of a pin pair, stock and
# PREEMPT_RT. The same seed gives the same responses to the last bit, a module is faster than an interrupt
# thread and that is faster than a program, and unanswered edges are counted.
# The parts of a wire between two lines add up.
# Invariant (captures): Edges of a guest without an answer are counted.
. "$(dirname "$0")/../../common.bash"
. tests/lab/responders.bash

short=(--edges 150)
# The module and the program again, in parallel: their names have the same length.
order() {
    answer first kmod x86-64/rt "${short[@]}" & local first=$!
    answer again kmod x86-64/rt "${short[@]}" || return 1
    wait "$first" || return 1
    answer chip1 c-gpiochip x86-64/rt "${short[@]}" & first=$!
    answer thread kmod-threaded x86-64/rt "${short[@]}" || return 1
    wait "$first" || return 1
    holds 'runs["first"]["answered"] == 150 and missing("chip1") == 0' &&
        holds '600 < median("first") < median("thread") < median("chip1") < 30000' &&
        holds 'cpu("first") < cpu("thread") < cpu("chip1")' &&
        expect "samples" test -e "$(of first)/samples.parquet" &&
        expect "the same bits" test "$(bits first)" = "$(bits again)"
}
try "a module, the thread of its interrupt and a program answer in this order; one seed twice is the same" order

# As on a fresh machine: the kernel is here, its headers are not, and two runs need them at once.
fresh_headers() {
    local known=${XDG_CACHE_HOME:-$HOME/.cache}/latlab/lab cache=$here/cache/latlab/lab kernel=kernels/amd64/rt-6.1
    mkdir -p "$cache/$kernel" && ln -s "$known/programs" "$cache/programs" || return 1
    cp -al "$known/$kernel/." "$cache/$kernel" 2>/dev/null || cp -a "$known/$kernel/." "$cache/$kernel" || return 1
    rm -rf "${cache:?}/$kernel/modules"
    XDG_CACHE_HOME=$here/cache answer fetched kmod x86-64/rt --edges 20 & local first=$!
    XDG_CACHE_HOME=$here/cache answer fetched-too kmod x86-64/rt --edges 20
    local second=$?
    wait "$first" && [ "$second" = 0 ] && expect "headers" test -d "$cache/headers/amd64"
    local fetched=$?
    rm -rf "$here/cache" "$here"/runs/*_fetched*
    return $fetched
}
try "headers that are not here are fetched, by two runs at once" fresh_headers

# A poller that has to share its CPU sees few of the edges.
ordinary() {
    answer ordinary c-poll x86-64/stock --edges 60 --policy other --deadline 1ms \
        --load hackbench,bytes=128,groups=1
    grep -q '"word": "fail"' "$here/ordinary.json" || { cat "$here/ordinary.txt"; return 1; }
    holds 'missing("ordinary") > 0' &&
        holds 'runs["ordinary"]["answered"] + missing("ordinary") + runs["ordinary"]["responses"]["late"] == 60' &&
        holds 'runs["ordinary"]["verdict"]["misses"] >= missing("ordinary")'
}
try "a program without real-time priority leaves edges unanswered, and they are counted" ordinary

says() {
    "$lab" show "$(of chip1)" --all >"$here/said.txt" &&
        expect "its CPU time" grep -q "Each stimulus took" "$here/said.txt" &&
        expect "the pin pair" grep -q "The pin pair has a resolution" "$here/said.txt" &&
        expect "virtual time" grep -q "virtual time" "$here/said.txt" &&
        expect "how to repeat it" \
            grep -q -- "--simulate linux:c-gpiochip .*--target lab:x86-64/rt-6.1" "$here/said.txt" &&
        "$lab" verify "$(of chip1)" && "$lab" report "$(of first)" "$(of thread)" "$(of chip1)" -o "$here/page.html" &&
        "$lab" plot "$(of first)" "$(of chip1)" -o "$here/both.png"
}
try "a run of a responder says what it is, is whole, and is drawn with others" says

# A wire on one board, which a guest's pin pair also has: wire NAME KERNEL [OPTION]...
wire() {
    local name=$1 kernel=$2
    shift 2
    timeout 200 "$lab" respond --gpio gpiochip0:1 --loopback gpiochip0:0 --target "lab:x86-64/$kernel" --name "$name" \
        --count 150 --format json "$@" >"$here/$name.json" 2>"$here/$name.txt" || { cat "$here/$name.txt"; return 1; }
}
# Invariant (captures): The breakdown of an answer over a wire add up to the whole in every edge.
parts_add_up() {
    python3 tests/lab/responders.py parts_add_up "$here" "$@"
}
wires() {
    wire wire-stock stock & local first=$!
    wire wire-rt rt || return 1
    wait "$first" || return 1
    holds 'all(runs[name]["answered"] == 150 and missing(name) == 0 for name in ("wire-stock", "wire-rt"))' &&
        holds '4000 < median("wire-stock") < median("wire-rt") < 60000' &&
        parts_add_up wire-stock wire-rt && "$lab" verify "$(of wire-rt)" &&
        "$lab" show "$(of wire-rt)" --all >"$here/said.txt" &&
        expect "each part" grep -qE '^0 +wake-up +150 ' "$here/said.txt" &&
        expect "how to repeat it" grep -q -- '--gpio gpiochip0:1 --loopback gpiochip0:0' "$here/said.txt" &&
        "$lab" report "$(of wire-rt)" -o "$here/page.html" &&
        expect "the breakdown is drawn" grep -q 'Medians of the parts side by side' "$here/page.html"
}
try "the breakdown of an answer over a wire add up to the whole in every edge, on stock and PREEMPT_RT" wires

# Invariant (captures): A killed run of a wire has the breakdown of every answer that it counts.
killed_wire() {
    local pid run
    timeout 200 "$lab" respond --gpio gpiochip0:1 --loopback gpiochip0:0 --target lab:x86-64/stock --name cut \
        --count 1000000 --deadline 1ms >/dev/null 2>"$here/cut.txt" & pid=$!
    until_holds 100 "edges on the disk" eval 'cat "$LATLAB_RUNS"/.*cut.partial/journal | wc -c | grep -qE "[0-9]{6}"' ||
        return
    kill -KILL "$(pgrep -P $pid latlab || echo $pid)" && wait $pid
    "$lab" list >/dev/null 2>&1
    run=$(of cut)
    python3 tests/lab/responders.py breakdown_after_a_kill "$run" || return
    "$lab" show "$run" --all >"$here/said.txt" && expect "responses" grep -q 'response time' "$here/said.txt" &&
        expect "what is unknown" grep -q 'how many stimuli got no response is unknown' "$here/said.txt" &&
        expect "no invented stimuli" grep -qi 'none of .* known responses missed' "$here/said.txt" &&
        expect "each part" grep -qE '^0 +wake-up +[0-9]' "$here/said.txt" &&
            ! grep -q 'wake-up latency' "$here/said.txt"
}
try "a run of a wire that was killed has the breakdown of its answers, and says what is unknown" killed_wire

# The wire itself acts as an external responder that takes no time.
other_responder() {
    wire other stock --external && holds 'runs["other"]["answered"] == 150 and median("other") < 4000' &&
        "$lab" show "$(of other)" --all >"$here/said.txt" && ! grep -q 'Breakdown of the answers' "$here/said.txt" ||
        return 1
    "$lab" respond --gpio gpiochip0:1 --loopback gpiochip0:2 --target lab:x86-64/stock >"$here/said.txt" 2>&1
    expect "exit code 3" [ $? = 3 ] &&
        expect "a missing wire" grep -q 'gpiochip0:1 was raised, and gpiochip0:2 did not rise' "$here/said.txt" ||
        return 1
    "$lab" respond --gpio gpiochip77:1 --loopback gpiochip77:2 >"$here/said.txt" 2>&1
    expect "exit code 3" [ $? = 3 ] && expect "a missing chip" grep -q 'there is no /dev/gpiochip77' "$here/said.txt"
}
try "another responder is measured from the outside; a wire or a chip that is missing is said in a line" other_responder

refused() {
    local words=$1
    shift
    "$lab" respond --simulate "$@" >"$here/said.txt" 2>&1
    expect "exit code 2" [ $? = 2 ] && expect "'$words'" grep -q -- "$words" "$here/said.txt" &&
        expect "one line" [ "$(wc -l <"$here/said.txt")" = 1 ]
}
try "a responder on Linux needs a guest" refused "needs --target lab:" linux:kmod
try "a module has no policy" refused "where the kernel answers" linux:kmod --target lab:x86-64/rt --policy fifo
try "a pin pair has no lines of a board" refused "has no GPIO controller" linux:kmod --target lab:x86-64/rt --board-pins
try "a microcontroller has no lines of a board" refused "applies to --simulate linux" uno:irq --board-pins
try "a guest is for responders on Linux" refused "needs --simulate linux:" uno:irq --target lab:x86-64/rt

exit $status
