#!/usr/bin/env bash
# Events planted at known times are found in the conditions of a real run, within one reading; the
# table is read by pandas; and the reading costs next to nothing, also beside many threads.
# Invariant (conditions): An event is found within one reading; reading costs less than 0.5 % of a CPU.
. "$(dirname "$0")/../../common.bash"

have telemetry python:{pandas,pyarrow} || exit 0
rights_for "telemetry"
last_cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')

# Each notes the time of CLOCK_REALTIME when it begins.

hog() {
    timeout 2 taskset -c "$last_cpu" sh -c 'date +"hog %s.%N" >>"$1"; while :; do :; done' - "$here/planted"
}

# Above the measuring threads, for a tenth of the time.
rival() {
    timeout 2 taskset -c "$last_cpu" chrt -f 95 sh -c 'date +"rival %s.%N" >>"$1"
        while :; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.1; done' - "$here/planted"
}

eater() {
    python3 - "$here/planted" <<'PYTHON'
import sys, time
with open(sys.argv[1], "a") as planted:
    print("eater", time.time_ns() / 1e9, file=planted)
kilobytes = dict(line.split(":") for line in open("/proc/meminfo"))["MemTotal"].split()[0]
taken = b"x" * (int(kilobytes) * 1024 // 6)
time.sleep(2)
PYTHON
}

planted() {
    : >"$here/planted"
    "$program" run "${rights[@]}" --for 20s --warm-up 1s --quiet --name planted \
        --out "$here/runs" >"$here/out" 2>"$here/errors" &
    local run=$!
    begun || return 1
    sleep 5
    hog
    sleep 3
    [ "$(id -u)" != 0 ] || rival
    sleep 3
    eater
    wait $run
    python3 - "$here" <<'PYTHON'
import glob, json, os, sys
import pandas

here = sys.argv[1]
folder = glob.glob(here + "/runs/*_planted")[0]
run = json.load(open(folder + "/run.json"))
clocks = run["clocks"][0]
offset = clocks["realtime_ns"] - clocks["monotonic_ns"]
planted = {name: int(float(time) * 1e9) - offset for name, time in map(str.split, open(here + "/planted"))}
SLACK = 1_300_000_000  # one reading, and the time that a program takes to start
table = pandas.read_parquet(folder + "/telemetry.parquet")
assert list(table.columns) == ["time_ns", "metric", "subject", "unit", "kind", "value"], table.columns
assert table.groupby(["metric", "subject"])["time_ns"].apply(lambda t: t.is_monotonic_increasing).all()
found = run["findings"]
# The distance is told either way, since a thread begins to count when it is read.
def near(time, name):
    distance = time - planted[name]
    assert abs(distance) <= SLACK, f"{name}: {distance / 1e9:.2f} s away"
    print(f"{name}: found {distance / 1e9:+.2f} s from when it was planted")
def finding(code, name):
    times = [one["at_ns"] for one in found if one["code"] == code]
    assert times, f"no {code}: {json.dumps(found)[:2000]}"
    near(min(times, key=lambda time: abs(time - planted[name])), name)
busy = {f["subject"]: f for f in run["conditions"]["figures"] if f["metric"] == "cpu_busy"}
hogs = [t for t in run["conditions"]["threads"] if t["name"] == "sh" and t["policy"] == "other"]
usual = busy["cpu%d" % max(run["machine"]["cpus_online"] and [int(s[3:]) for s in busy])]
if usual["mean"] < 50:
    assert hogs, run["conditions"]["threads"]
    near(min((t["peak_at_ns"] for t in hogs), key=lambda time: abs(time - planted["hog"])), "hog")
    finding("load-changed", "hog")
else:
    print(f"SKIPPED: a hog in the conditions: the CPU was {usual['mean']:.0f} % busy anyway")
if "rival" in planted:
    finding("rival-thread", "rival")
finding("memory-taken", "eater")
# What is not there is not there, and never zero.
for name, pattern in {"temperature": "/sys/class/thermal/thermal_zone*/temp", "cpu_frequency": "/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq"}.items():
    rows = table[table.metric == name]
    assert bool(glob.glob(pattern)) == (len(rows) > 0), (name, len(rows))
# Raw counters, whose differences are rates.
ticks = table[(table.metric == "cpu_time") & table.subject.str.startswith("cpu0 ")]
wide = ticks.pivot(index="time_ns", columns="subject", values="value").interpolate(method="index")
rate = wide.sum(axis=1).diff().sum() / (wide.index[-1] - wide.index[0]) * 1e9
assert 90 < rate < 110, f"{rate} ticks a second"
PYTHON
}

# What the reading takes of one CPU; $1 names it in a message.
cost() {
    python3 - "$here"/runs/*_"$1"/run.json <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
conditions = run["conditions"]
lost = [finding for finding in run["findings"] if finding["code"] == "telemetry-lost"]
if conditions is None:
    sys.exit(f"no reading in {run['measured_ns'] / 1e9:.1f} s; the run says: {lost or 'nothing'}")
share = conditions["cost_share"]
if share is None:
    sys.exit(f"too few readings for their cost: {conditions['readings']} in {run['measured_ns'] / 1e9:.1f} s; "
             f"the run says: {lost or 'nothing'}")
lost, largest = conditions["lost"], run["total"]["max_ns"] / 1e6
print(f"{conditions['readings']} readings, {lost} lost, {share:.3%} of one CPU; largest latency {largest:.3f} ms; "
      f"own threads: {json.dumps(run['own_work'] and run['own_work']['threads'])}")
assert lost == 0 and share < 0.005, (lost, share)
PYTHON
}

crowd() {
    hackbench -g 10 -l 1000000 >"$here/hackbench" 2>&1 &
    local crowd=$!
    sleep 1
    "$program" run "${rights[@]}" --for 10s --quiet --name crowd --out "$here/runs" \
        >"$here/out" 2>"$here/errors"
    local code=$?
    kill $crowd
    wait $crowd
    cat "$here/errors"
    [ $code = 0 ] && cost crowd
}

none() {
    "$program" run "${rights[@]}" --for 1s --telemetry off --quiet --name none \
        --out "$here/runs" >"$here/out" 2>"$here/errors" || return 1
    [ ! -e "$here"/runs/*_none/telemetry.parquet ] &&
        python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["conditions"] is None' "$here"/runs/*_none/run.json
}

try "a hog, a rival and a memory eater are found within one reading" planted
! have "the cost of readings" hackbench ||
    try "beside the 400 tasks of hackbench the readings take less than 0.5 % of a CPU" crowd
try "without telemetry there are no conditions, and not those of nothing" none
try "the stored tables are whole" "$program" verify --all --out "$here/runs"

exit $status
