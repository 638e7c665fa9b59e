#!/usr/bin/env bash
# A CPU that is taken offline during a run ends its thread's part with a finding; the others go on.
set -u
program=${LATLAB:-target/latlab}
cpu=$(tr ',-' '\n\n' </sys/devices/system/cpu/online | tail -1)
switch=/sys/devices/system/cpu/cpu$cpu/online

if [ "$(id -u)" != 0 ] || [ "$cpu" = 0 ] || [ ! -w "$switch" ]; then
    echo "SKIPPED: unplugging a CPU needs root and a CPU besides 0 that can be taken offline"
    exit 0
fi

folder=$(mktemp -d)
trap 'echo 1 >"$switch"; rm -rf "$folder"' EXIT

"$program" run --quiet --format json --out "$folder/runs" --for 5s --warm-up 0s >"$folder/run.json" &
run=$!
sleep 2
echo 0 >"$switch"
sleep 1
echo 1 >"$switch"
wait "$run"
code=$?

# A claim in words, and the same in Python on the run.
try() {
    if python3 -c "
import json, sys
run = json.load(open(sys.argv[1]))
cpu = int(sys.argv[2])
gone = [t for t in run['threads'] if t['setup']['cpu'] == cpu]
others = [t for t in run['threads'] if t['setup']['cpu'] != cpu]
sys.exit(0 if ($2) else 1)" "$folder/run.json" "$cpu"; then
        echo "ok $1"
    else
        echo "not ok $1"
    fi
}

[ "$code" = 0 ] && echo "ok the run ends as planned" || echo "not ok exit code $code"
try "the thread of the CPU that went away ended then" \
    "gone and all(t['end']['reason'] == 'cpu-offline' for t in gone)"
try "the other threads went on to the end" \
    "all(t['end']['reason'] == 'finished' for t in others)"
try "a finding names the CPU and the time" \
    "any(f['code'] == 'cpu-offline' and f['at_ns'] and 'CPU %d' % cpu in f['text'] for f in run['findings'])"
try "the thread's cycles up to then are kept" \
    "all(500 < t['summary']['activations'] < 4000 for t in gone)"
