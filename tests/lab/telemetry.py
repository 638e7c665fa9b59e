"""Events planted during a run, and what its telemetry and its samples show of them."""

import glob
import json
import sys
import time


def eat(planted):
    """Takes a sixth of the memory for two seconds, and records when."""
    with open(planted, "a") as notes:
        print("eater", time.time_ns() / 1e9, file=notes)
    kilobytes = dict(line.split(":") for line in open("/proc/meminfo"))["MemTotal"].split()[0]
    taken = b"x" * (int(kilobytes) * 1024 // 6)
    time.sleep(2)


def found(here):
    """That the planted events of a run are found within one reading."""
    import pandas
    folder = glob.glob(here + "/runs/*_planted")[0]
    run = json.load(open(folder + "/run.json"))
    clocks = run["clocks"][0]
    offset = clocks["realtime_ns"] - clocks["monotonic_ns"]
    planted = {name: int(float(time) * 1e9) - offset for name, time in map(str.split, open(here + "/planted"))}
    SLACK = 2_000_000_000  # one reading, and the time that a program takes to start on a busy machine
    table = pandas.read_parquet(folder + "/telemetry.parquet")
    assert list(table.columns) == ["time_ns", "metric", "subject", "unit", "kind", "value"], table.columns
    assert table.groupby(["metric", "subject"])["time_ns"].apply(lambda t: t.is_monotonic_increasing).all()
    found = run["findings"]

    # The distance may have either sign, since a thread counts from its first reading on.
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
    if "competitor" in planted:
        finding("competing-thread", "competitor")
    finding("memory-taken", "eater")
    # Missing metrics have no rows, not zeros.
    files = {"temperature": "/sys/class/thermal/thermal_zone*/temp",
             "cpu_frequency": "/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq"}
    for name, pattern in files.items():
        rows = table[table.metric == name]
        assert bool(glob.glob(pattern)) == (len(rows) > 0), (name, len(rows))
    # Raw counters, whose differences are rates.
    ticks = table[(table.metric == "cpu_time") & table.subject.str.startswith("cpu0 ")]
    wide = ticks.pivot(index="time_ns", columns="subject", values="value").interpolate(method="index")
    rate = wide.sum(axis=1).diff().sum() / (wide.index[-1] - wide.index[0]) * 1e9
    assert 90 < rate < 110, f"{rate} ticks a second"


def read_once():
    """The seconds of CPU time in which this program reads what the kernel says of each thread once."""
    before = time.process_time()
    for path in glob.glob("/proc/[0-9]*/task/[0-9]*/stat"):
        try:
            open(path).read().split()
        except OSError:
            pass
    return time.process_time() - before


def read():
    """Prints the median of ten such readings."""
    print(sorted(read_once() for _ in range(10))[5])


def cost(document, usual):
    """That no reading of a run is lost, and that one takes less CPU time than a script that reads every thread."""
    run = json.load(open(document))
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
          f"own threads: {json.dumps(run['self_interference'] and run['self_interference']['threads'])}")
    # A reading a second, so that the share is the CPU time of a reading.
    assert lost == 0 and share < float(open(usual).read()), (lost, share)


def without_memory(page):
    """Prints the result of the bench of samples, without the memory readings."""
    page = json.load(open(page))
    page.pop("memory")
    print(json.dumps(page, indent=1))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
