#!/usr/bin/env bash
# Responders on Linux in guests: kernel modules and programs answer the edges of a pin pair, stock and
# PREEMPT_RT. The same seed gives the same responses to the last bit, a module is faster than the thread
# of its interrupt and that is faster than a program, and edges that nobody answers are counted.
# A wire between two lines has legs that add up. LATLAB_LONG=1 runs all of them on both kernels, idle and under hackbench, into one page, two on arm64,
# and a wire between two lines of the i.MX board;
# LATLAB_KEEP=DIR keeps that page and its runs there.
# Invariant (captures): Edges of a guest without an answer are counted.
. "$(dirname "$0")/../../common.bash"
have "responders in guests" qemu-system-x86_64 dpkg-deb gcc make || exit 0
. tests/lab/laboratory.bash
laboratory "responders in guests"
export LATLAB_RUNS=$here/runs NO_COLOR=1 COLUMNS=160 LATLAB_RESPONDERS=$PWD/responders

fetch x86-64 stock-6.1 rt-6.1 ||
    skip "responders in guests: the kernels cannot be had: $(tail -n 1 "$here/fetched")"

# A run, whose document is $here/NAME.json: answer NAME RESPONDER TARGET [OPTION]...
answer() {
    local name=$1 responder=$2 target=$3
    shift 3
    timeout 500 "$lab" respond --simulate "linux:$responder" --target "lab:$target" --name "$name" --format json \
        "$@" >"$here/$name.json" 2>"$here/$name.txt" || { cat "$here/$name.txt"; return 1; }
}
# Puts files where LATLAB_KEEP says, if it does.
keep() {
    [ -n "${LATLAB_KEEP:-}" ] || return 0
    mkdir -p "$LATLAB_KEEP" && cp -r "$@" "$LATLAB_KEEP"
}
# Whether this holds of the runs, which are there by their names.
holds() {
    python3 - "$here" "$1" <<'PYTHON'
import glob, json, os, sys
here, expression = sys.argv[1:]
runs = {}
for file in glob.glob(f"{here}/*.json"):
    for run in json.load(open(file))["runs"]:
        runs[run["name"]] = run
median = lambda name: runs[name]["responses"]["figures"]["median_ns"]
maximum = lambda name: runs[name]["responses"]["figures"]["max_ns"]
missing = lambda name: runs[name]["responses"]["missing"]
cpu = lambda name: sum(runs[name]["responses"]["cpu"].values())
if not eval(expression):
    told = {name: (one["responses"]["figures"], one["responses"]["missing"]) for name, one in runs.items()}
    sys.exit(f"not so: {expression}\n{json.dumps(told, indent=1)}")
PYTHON
}
of() { echo "$here"/runs/*_"$1"; }
bits() { (cd "$(of "$1")" && sha256sum ./*.parquet); }

short=(--edges 150)
# The module and the program once more, side by side: the names are as long.
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

# As on a fresh machine: the kernel is here, its headers are not, and two runs want them at once.
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
        expect "how to repeat it" grep -q -- "--simulate linux:c-gpiochip --target lab:x86-64/rt-6.1" "$here/said.txt" &&
        "$lab" verify "$(of chip1)" && "$lab" report "$(of first)" "$(of thread)" "$(of chip1)" -o "$here/page.html" &&
        "$lab" plot "$(of first)" "$(of chip1)" -o "$here/both.png"
}
try "a run of a responder says what it is, is whole, and is drawn beside others" says

# A wire on one board, which the pin pair of a guest has as well: wire NAME KERNEL [OPTION]...
wire() {
    local name=$1 kernel=$2
    shift 2
    timeout 200 "$lab" respond --gpio gpiochip0:1 --loopback gpiochip0:0 --target "lab:x86-64/$kernel" --name "$name" \
        --count 150 --format json "$@" >"$here/$name.json" 2>"$here/$name.txt" || { cat "$here/$name.txt"; return 1; }
}
# Invariant (captures): The legs of an answer over a wire add up to the whole in every edge.
legs_add_up() {
    python3 - "$here" "$@" <<'PYTHON'
import glob, json, sys
import pyarrow.parquet
here, *names = sys.argv[1:]
for name in names:
    [folder] = glob.glob(f"{here}/runs/*_{name}")
    read = lambda table: pyarrow.parquet.read_table(f"{folder}/{table}.parquet").to_pylist()
    run, spikes = json.load(open(f"{folder}/run.json")), read("spikes")
    whole = {row["release_ns"]: row["latency_ns"] for row in read("samples")}
    assert len(spikes) == len(whole) == 150, f"{len(spikes)} edges with legs, {len(whole)} samples"
    sums = {"event": 0, "wake-up": 0, "answer": 0}
    for row in spikes:
        legs = [row["irq_ns"], row["thread_ns"] - row["irq_ns"], row["latency_ns"] - row["thread_ns"]]
        assert all(leg > 0 for leg in legs) and sum(legs) == whole[row["release_ns"]], row
        sums = dict(zip(sums, (known + leg for known, leg in zip(sums.values(), legs))))
    [legs] = run["legs"]["threads"]
    for leg, key in (("event", "irq"), ("wake-up", "wake_up"), ("answer", "answer")):
        figures = legs[key]
        assert figures["count"] == 150 and figures["min_ns"] * 150 <= sums[leg] <= figures["max_ns"] * 150, (leg, legs)
PYTHON
}
wires() {
    wire wire-stock stock & local first=$!
    wire wire-rt rt || return 1
    wait "$first" || return 1
    holds 'all(runs[name]["answered"] == 150 and missing(name) == 0 for name in ("wire-stock", "wire-rt"))' &&
        holds '4000 < median("wire-stock") < median("wire-rt") < 60000' &&
        legs_add_up wire-stock wire-rt && "$lab" verify "$(of wire-rt)" &&
        "$lab" show "$(of wire-rt)" --all >"$here/said.txt" &&
        expect "each leg" grep -qE '^0 +wake-up +150 ' "$here/said.txt" &&
        expect "how to repeat it" grep -q -- '--gpio gpiochip0:1 --loopback gpiochip0:0' "$here/said.txt" &&
        "$lab" report "$(of wire-rt)" -o "$here/page.html" &&
        expect "legs are drawn" grep -q 'Medians of the legs beside each other' "$here/page.html"
}
try "the legs of an answer over a wire add up to the whole in every edge, on stock and PREEMPT_RT" wires

# Invariant (captures): A killed run of a wire has the legs of every answer that it counts.
killed_wire() {
    local pid run
    timeout 200 "$lab" respond --gpio gpiochip0:1 --loopback gpiochip0:0 --target lab:x86-64/stock --name cut \
        --count 1000000 --deadline 1ms >/dev/null 2>"$here/cut.txt" & pid=$!
    until_holds 100 "edges on the disk" eval 'cat "$LATLAB_RUNS"/.*cut.partial/journal | wc -c | grep -qE "[0-9]{6}"' || return
    kill -KILL "$(pgrep -P $pid latlab || echo $pid)" && wait $pid
    "$lab" list >/dev/null 2>&1
    run=$(of cut)
    python3 - "$run" <<'PYTHON' || return
import json, sys
import pyarrow.parquet
folder = sys.argv[1]
read = lambda table: pyarrow.parquet.read_table(f"{folder}/{table}.parquet").to_pylist()
run = json.load(open(f"{folder}/run.json"))
whole = {row["release_ns"]: row["latency_ns"] for row in read("samples")}
with_legs = [row for row in read("spikes") if row["irq_ns"] is not None]
assert run["recovered"] and run["total"]["cycles"] >= 100, run["total"]
assert run["verdict"]["word"] != "pass", run["verdict"]
[legs] = run["legs"]["threads"]
assert legs["tally"]["known"] >= run["total"]["cycles"], (legs, run["total"]["cycles"])
assert len(with_legs) >= 0.9 * len(read("spikes")) > 0
for row in with_legs:
    parts = [row["irq_ns"], row["thread_ns"] - row["irq_ns"], row["latency_ns"] - row["thread_ns"]]
    assert all(part > 0 for part in parts) and sum(parts) == whole.get(row["release_ns"], row["latency_ns"]), row
PYTHON
    "$lab" show "$run" --all >"$here/said.txt" && expect "responses" grep -q 'response time' "$here/said.txt" &&
        expect "what nobody knows" grep -q 'how many stimuli got no response is unknown' "$here/said.txt" &&
        expect "no stimuli that nobody counted" grep -qi 'none of .* known responses missed' "$here/said.txt" &&
        expect "each leg" grep -qE '^0 +wake-up +[0-9]' "$here/said.txt" && ! grep -q 'wake-up latency' "$here/said.txt"
}
try "a run of a wire that was killed has the legs of its answers, and says what is unknown" killed_wire

# The wire itself stands for another responder, which takes no time.
other_responder() {
    wire other stock --external && holds 'runs["other"]["answered"] == 150 and median("other") < 4000' &&
        "$lab" show "$(of other)" --all >"$here/said.txt" && ! grep -q 'Legs of the answers' "$here/said.txt" || return 1
    "$lab" respond --gpio gpiochip0:1 --loopback gpiochip0:2 --target lab:x86-64/stock >"$here/said.txt" 2>&1
    expect "exit code 3" [ $? = 3 ] &&
        expect "a missing wire" grep -q 'gpiochip0:1 was raised, and gpiochip0:2 did not rise' "$here/said.txt" || return 1
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

[ -n "${LATLAB_LONG:-}" ] || exit $status

# Both modules are built anew on all kernels; a warning is an error.
kernels() {
    local machine kernel
    cp -r responders "$here/anew"
    for kernel in kmod/responder.c kmod/pinpair/pinpair.c; do echo "/* $RANDOM$RANDOM */" >>"$here/anew/$kernel"; done
    for machine in x86-64 arm64; do
        [ $machine = x86-64 ] || have "modules on arm64" qemu-system-aarch64 aarch64-linux-gnu-gcc || return 0
        fetch $machine stock-6.1 rt-6.1 stock-6.12 rt-6.12 || return 1
        for kernel in stock-6.1 rt-6.1 stock-6.12 rt-6.12; do
            LATLAB_RESPONDERS=$here/anew KCFLAGS=-Werror \
                answer "built-$machine-$kernel" kmod-plain "$machine/$kernel" --edges 50 || return 1
            holds "runs['built-$machine-$kernel']['answered'] == 50" || return 1
            echo "$machine/$kernel: median $(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["runs"][0]["responses"]["figures"]["median_ns"])' "$here/built-$machine-$kernel.json") ns"
        done
    done
    rm -rf "$here"/built-*.json
}
try "the modules build without warnings on eight kernels, and answer there" kernels

# Invariant (captures): A published experiment is repeated by one command, its figures beside those that were published.
published() {
    # Its load is a shell of the guest, which kernels that are here do not bring along.
    timeout 300 "$lab" lab fetch x86-64/stock-6.1 || return
    timeout 580 "$lab" respond --simulate published --page "$here/published.html" >"$here/said.txt" 2>"$here/errors.txt" ||
        { cat "$here/said.txt" "$here/errors.txt"; return 1; }
    expect "eight published series and eight runs" [ "$(grep -cE '^(Arduino|kernel module|C over sysfs|Python).* (published|simulated|virtual)' "$here/said.txt")" -ge 16 ] &&
        expect "the published mean of the interrupt" grep -qE 'Arduino, interrupt +published +idle +500 .* 9\.07 ' "$here/said.txt" &&
        expect "on the page" grep -q 'Beside the published figures' "$here/published.html" && keep "$here/published.html"
}
if have "the published experiment" avr-gcc /usr/include/simavr/sim_avr.h /usr/share/arduino; then
    try "a published experiment is repeated by one command, on one page" published
fi

all=(kmod kmod-plain kmod-threaded c-sysfs c-gpiochip c-poll rust python python-gpiod1)
# Two guests at a time, as many as any machine has CPUs for.
cell() {
    local responder=$1 kernel=$2 what=$3 load=()
    [ "$what" = idle ] || load=(--load hackbench,bytes=128,groups=1)
    answer "$responder-$kernel-$what" "$responder" "x86-64/$kernel" --edges 600 "${load[@]}"
}
matrix() {
    local responder kernel what begun=$SECONDS pids=() pid
    for what in idle busy; do
        for kernel in stock rt; do
            for responder in "${all[@]}"; do
                cell "$responder" "$kernel" "$what" & pids+=($!)
                [ $((${#pids[@]} % 2)) = 1 ] || for pid in "${pids[@]: -2}"; do wait "$pid" || return 1; done
            done
        done
    done
    local runs=() one
    for one in "$here"/runs/*-idle "$here"/runs/*-busy; do runs+=("$one"); done
    expect "36 runs" [ ${#runs[@]} = 36 ] && "$lab" report "${runs[@]}" -o "$here/responders.html" &&
        expect "kernels side by side" grep -q "Kernels side by side" "$here/responders.html" &&
        keep "$here/responders.html" "${runs[@]}" &&
        expect "20 minutes at most, not $((SECONDS - begun)) s" [ $((SECONDS - begun)) -lt 1200 ] || return 1
    local where
    for where in stock-idle rt-idle stock-busy rt-busy; do
        holds "median('kmod-$where') < median('kmod-threaded-$where') < median('c-gpiochip-$where') < median('python-$where')" ||
            return 1
    done
    # Slower at the median and tighter at the end.
    holds 'median("c-gpiochip-stock-idle") < median("c-gpiochip-rt-idle")' &&
        holds 'maximum("c-gpiochip-rt-busy") - median("c-gpiochip-rt-busy") < maximum("c-gpiochip-stock-busy") - median("c-gpiochip-stock-busy")' &&
        holds 'cpu("c-poll-rt-idle") > 1000000'
}
try "all responders on both kernels, idle and busy, in one page" matrix
sleeper() {
    answer sleeper c-gpiochip x86-64/rt --edges 600 --policy other --load hackbench,bytes=128,groups=4 &&
        holds '0 < missing("sleeper") < 300 and maximum("sleeper") > 10 * maximum("c-gpiochip-rt-busy")'
}
try "a program that sleeps at the line leaves edges unanswered without real-time priority" sleeper
if have "responders on arm64" qemu-system-aarch64 aarch64-linux-gnu-gcc; then
    if fetch arm64 stock-6.1 rt-6.1; then
        arm64() {
            local kernel
            for kernel in stock rt; do
                answer "arm-kmod-$kernel" kmod "arm64/$kernel" --edges 600 & local first=$!
                answer "arm-chip-$kernel" c-gpiochip "arm64/$kernel" --edges 600 || return 1
                wait "$first" || return 1
                holds "median('arm-kmod-$kernel') < median('arm-chip-$kernel')" || return 1
                holds "runs['arm-kmod-$kernel']['responses']['resolution_ns'] == 16" || return 1
            done
        }
        try "a module and a program on arm64" arm64
    else
        echo "SKIPPED: responders on arm64: the kernels cannot be had: $(tail -n 1 "$here/fetched")"
    fi
fi
# The i.MX board has GPIO controllers that Debian's kernel drives with its own driver, and a wire on the host.
board_wire() {
    local kernel
    for kernel in stock rt; do
        timeout 400 "$lab" respond --gpio gpiochip0:3 --loopback gpiochip0:5 --target "lab:imx8mp-evk/$kernel" \
            --name "mxc-$kernel" --count 600 --stimulus random:10ms..20ms --window 5ms --format json \
            >"$here/mxc-$kernel.json" 2>"$here/mxc.txt" || { cat "$here/mxc.txt"; return 1; }
        holds "runs['mxc-$kernel']['answered'] + runs['mxc-$kernel']['responses']['late'] + missing('mxc-$kernel') == 600" &&
            holds "runs['mxc-$kernel']['answered'] > 500" &&
            expect "the finding" grep -q wire-by-host "$here/mxc-$kernel.json" &&
            expect "no host in the answer" wake_up_and_answer "mxc-$kernel" || return 1
    done
    keep "$here"/runs/*_mxc-*
}
# In virtual time both are alike but for the tick, whatever the host does; the event is not looked at.
wake_up_and_answer() {
    python3 - "$(of "$1")" <<'PYTHON'
import json, sys
[legs] = json.load(open(f"{sys.argv[1]}/run.json"))["legs"]["threads"]
for leg in "irq", "wake_up", "answer":
    print(leg, legs[leg]["min_ns"], legs[leg]["max_ns"])
assert legs["wake_up"]["min_ns"] > 1_000 and legs["answer"]["max_ns"] < 100_000, legs
PYTHON
}
# How long the wires take is up to the host, so only what became of the edges is looked at.
board_pins() {
    local responder
    for responder in kmod c-gpiochip; do
        answer "mxc-$responder" "$responder" imx8mp-evk/stock --board-pins --edges 100 --stimulus random:10ms..20ms || return 1
        holds "runs['mxc-$responder']['answered'] + missing('mxc-$responder') == 100 and missing('mxc-$responder') < 20" &&
            holds "runs['mxc-$responder']['responses'].get('cpu') is None" &&
            expect "the finding" grep -q 'from line 20 to line 21' "$here/mxc-$responder.json" || return 1
    done
}
if have "the GPIO driver of a board" qemu-system-aarch64 dpkg-deb; then
    if fetch imx8mp-evk stock-6.1 rt-6.1; then
        try "a wire between two lines of a board leads over the kernel's own driver" board_wire
        try "a module and a program answer on lines of a board's own driver" board_pins
    else
        echo "SKIPPED: the GPIO driver of a board: it cannot be had: $(tail -n 1 "$here/fetched")"
    fi
fi
exit $status
