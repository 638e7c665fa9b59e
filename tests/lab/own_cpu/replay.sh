#!/usr/bin/env bash
# Replays a guest's run with the QEMU plugin: it is the same to the last bit, the parts of each latency add
# up to the nanosecond, the owner of the CPU is named, and what cannot be replayed is refused with the
# reason.
# Invariant (laboratory): A replay is the run to the last bit, and tells its latencies to the nanosecond.
. "$(dirname "$0")/../../common.bash"
have "replays of guests" qemu-system-x86_64 dpkg-deb gcc || exit 0
. tests/lab/laboratory.bash
laboratory "replays of guests"
fetch x86-64 stock-6.1 || skip "replays of guests: the kernel cannot be had: $(tail -n 1 "$here/fetched")"

measure() {
    timeout 280 "$lab" run --target lab:x86-64/stock --seed 1 --warm-up 100ms --for "$1" --name "$2" \
        --out "$here/runs" -q \
        --load hackbench,bytes=128,groups=1 >"$here/$2.txt" 2>&1 || { cat "$here/$2.txt"; return 1; }
}
of() { echo "$here"/runs/*_"$1"; }
try "a guest is measured" measure 300ms busy
try "what it measured has a checksum" grep -q '"guest_measurement"' "$(of busy)/run.json"

again() {
    timeout 280 "$lab" explain busy --replay --all --top 20 --format json --out "$here/runs" \
        >"$here/replay.json" 2>"$here/told" && return
    cat "$here/told"
    # A run with this finding need not be reproducible.
    grep -q '"host-crowded"' "$(of busy)/run.json" && grep -q "is not run" "$here/told" &&
        skip "replays of guests: this machine was too busy to give the guest its own CPU"
    return 1
}
try "it is run again, and is the same" again
holds() { holds_in "$here/replay.json" 'told = run["latencies"]' "$1"; }
try "the parts are the latency to the nanosecond" holds \
    "len(told) == 20 and all(t['parts'][0]['from_ns'] == 0 and t['parts'][-1]['to_ns'] == t['latency_ns']
     and all(a['to_ns'] == b['from_ns'] for a, b in zip(t['parts'], t['parts'][1:])) for t in told)"
try "of all wake-ups of the loop" holds \
    "run['table']['wake_ups'] >= 300 and run['table']['whole'] >= 0.99 * run['table']['wake_ups']"
try "each has the interrupt of its timer, the switch and the way back" holds \
    "sum({'interrupt', 'waking', 'switching', 'returning'} <= {l['part'] for l in t['parts']} for t in told) >= 18"
try "the load and the measured thread are known by name" holds \
    "all(t['measured']['name'] == 'latlab/0' for t in told)
     and any(l['thread'] and l['thread']['name'] == 'hackbench' for t in told for l in t['parts'])"
try "functions of the kernel are named" holds \
    "all(any(row['name'].startswith('__schedule') or '> __schedule' in row['name'] for row in t['tree'])
     for t in told if t['parts'])"

refused() {
    "$lab" explain "$1" --replay --top 1 --out "${3:-$here/runs}" >"$here/refused" 2>&1
    expect "exit code 2" [ $? = 2 ] && expect "'$2'" grep -q -- "$2" "$here/refused" &&
        expect "one line" [ "$(grep -cv 'running the guest of' "$here/refused")" = 1 ] ||
        { cat "$here/refused"; return 1; }
}
# A run whose guest seems to have sent something else: its document is changed, with a matching checksum.
other() {
    mkdir "$here/others" && cp -r "$(of busy)" "$here/others/" || return 1
    python3 tests/lab/guests.py other_stream "$here/others/"*/run.json
    local why="the replay is not run .*_busy: its guest measured .* with SHA-256 .*, and then .* with 0000000000000000;"
    refused busy "$why .* try again" "$here/others"
}
# In parallel, on its own CPU, a guest for the longest paths of its kernel.
timeout 280 "$lab" lab paths x86-64/stock-6.1 --seeds 1 --for 300ms --format json >"$here/paths.json" 2>"$here/paths" &
beside=$!
try "a replay that measures something else is refused with that reason" other
paths() {
    wait $beside || { cat "$here/paths"; return 1; }
    holds_in "$here/paths.json" '
of = lambda kind: [path for path in run["paths"] if path["kind"] == kind]
in_order = lambda paths: paths == sorted(paths, key=lambda path: -path["largest_ns"])' \
        "all(of(kind) and in_order(of(kind)) for kind in ('interrupts-off', 'preemption-off', 'in-kernel'))
         and all(path['by'] and path['seed'] == 1 for path in run['paths'])
         and any(path['thread'] == 'hackbench' and path['mostly'] for path in run['paths'])"
}
try "the longest paths of a kernel are found, with who was on them" paths
"$lab" run -q --for 200ms --name here --out "$here/runs" >/dev/null 2>&1
try "a run of this machine is refused" refused here "was not measured in virtual time"
exit $status
