#!/usr/bin/env bash
# A CPU that goes offline during a run ends its thread with a finding; the others continue.
# Invariant (releases): A CPU that goes offline ends only its own thread.
. "$(dirname "$0")/../common.bash"
cpu=$(tr ',-' '\n\n' </sys/devices/system/cpu/online | tail -1)
switch=/sys/devices/system/cpu/cpu$cpu/online

if [ "$(id -u)" != 0 ] || [ "$cpu" = 0 ] || [ ! -w "$switch" ]; then
    echo "SKIPPED: unplugging a CPU needs root and a CPU besides 0 that can be taken offline"
    exit 0
fi

trap 'echo 1 >"$switch"; rm -rf "$here"' EXIT

rights=()
begin --out "$here/runs" --for 5s || { echo "not ok a run begins"; exit 1; }
sleep 1.5
echo 0 >"$switch"
sleep 1
echo 1 >"$switch"
wait "$run"
code=$?

# Evaluates Python with the run, the CPU that went offline with its threads, and the others.
holds() {
    holds_in "$here/run.json" "
cpu = $cpu
gone = [t for t in run['threads'] if t['setup']['cpu'] == cpu]
others = [t for t in run['threads'] if t['setup']['cpu'] != cpu]" "$1"
}

try "the run ends as planned" expect "exit code 0, not $code" [ "$code" = 0 ]
try "the thread of the CPU that went away ended then" holds \
    "gone and all(t['end']['reason'] == 'cpu-offline' for t in gone)"
try "the other threads went on to the end" holds \
    "all(t['end']['reason'] == 'finished' for t in others)"
try "a finding names the CPU and the time" holds \
    "any(f['code'] == 'cpu-offline' and f['at_ns'] and f['cpu'] == cpu for f in run['findings'])"
try "the thread's cycles up to then are kept" holds \
    "all(500 < t['summary']['releases'] < 4000 for t in gone)"
exit $status
