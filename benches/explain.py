#!/usr/bin/env python3
"""What --explain costs on this machine, and whether the parts of 100 000 cycles add up.

usage: benches/explain.py cost FILE [--rounds 10] [--for 20s]
       benches/explain.py cycles FILE [--cycles 112000] [--period 500us] [--out DIR] [--target lab:x86-64/stock-6.1]
                                    [--load hackbench]
       benches/explain.py here FILE [--rounds 20]
       benches/explain.py replay FILE [--load hackbench,groups=1] [--for 2s] [--seeds 1] [--rounds 20] [--above 8us]
                                      [--telemetry full,100ms] [--targets TARGET...]
       benches/explain.py culprits FOLDER
FILE gets a JSON object a line. `here` plants culprits on this machine, and writes the same as tests/lab/culprits.sh
for its guests; `replay` measures guests with the recorder, replays each, and writes a table of the causes of the same
latencies according to events and to instructions; `culprits` prints the table of their results, files *.txt in FOLDER.
needs: root and tracefs, for `here` also gcc; LATLAB names the program.
"""

import argparse
import collections
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LATLAB = os.environ.get("LATLAB", str(ROOT / "target" / "latlab"))


def run(folder: str, *options: str) -> dict:
    """The document of a run with --explain; waits for another run on the same CPU."""
    line = [LATLAB, "run", "--quiet", "--explain", "--format", "json", "--out", folder, *options]
    while True:
        done = subprocess.run(line, check=False, capture_output=True, text=True)
        if "is already measured" not in done.stderr:
            return json.loads(done.stdout)
        time.sleep(1)


def cost(arguments: argparse.Namespace) -> None:
    """Each run compares the times with and without the recorder."""
    rows = []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as folder:
            told = run(folder, "--for", arguments.length, "--cpus", str((os.cpu_count() or 1) - 1))["explanation"]["cost"]
        row = {side + "_" + name: told[side][name] for side in ("on", "off") for name in ("p50_ns", "p99_ns")}
        rows.append(row | {"on_cpu_ns": told["on_cpu_ns"], "off_cpu_ns": told["off_cpu_ns"]})
        with open(arguments.file, "a") as out:
            print(json.dumps(rows[-1]), file=out)
    for name in ("_p50_ns", "_p99_ns", "_cpu_ns"):
        differences = [(row["on" + name] - row["off" + name]) / 1000 for row in rows]
        middle = statistics.median(differences)
        print(f"{name.strip('_')}: {middle:+.2f} us with the recorder ({min(differences):+.2f} to {max(differences):+.2f})")


def cycles(arguments: argparse.Namespace) -> None:
    """Every cycle is a spike, explained from its stored pages; for a tenth of the time nothing is recorded."""
    with tempfile.TemporaryDirectory() as own:
        folder = arguments.out or own
        where = ["--target", arguments.target] if arguments.target else ["--cpus", str((os.cpu_count() or 1) - 1)]
        where += ["--load", arguments.load] if arguments.load else []
        told = run(folder, "--spike-above", "1ns", "--cycles", str(arguments.cycles), "-i", arguments.period,
                   *where)["explanation"]
        line = [LATLAB, "explain", "--top", str(10**9), "--format", "json", "--out", folder]
        spikes = json.loads(subprocess.run(line, check=True, capture_output=True).stdout)["spikes"]
    tally = collections.Counter()
    unexplained = collections.Counter()
    unknown = 0
    for spike in spikes:
        parts = spike["parts"]
        behind = all(one["to_ns"] == next["from_ns"] for one, next in zip(parts, parts[1:]))
        adds_up = behind and parts[0]["from_ns"] == 0 and parts[-1]["to_ns"] == spike["latency_ns"]
        if spike["cause"] is None:
            unexplained[spike["reason"]] += 1
            continue
        tally["explained"] += 1
        tally["add up"] += adds_up
        unknown += sum(part["to_ns"] - part["from_ns"] for part in parts if part["cause"]["kind"] == "unknown")
        tally["wholly"] += spike["reason"] is None
    figures = {"target": arguments.target or "local", "load": arguments.load,
               "spikes": told["spikes"], "explained": tally["explained"], "parts_add_up": tally["add up"],
               "without_gap": tally["wholly"], "unknown_ns": unknown,
               "all_ns": sum(spike["latency_ns"] for spike in spikes), "unexplained": dict(unexplained)}
    with open(arguments.file, "a") as out:
        print(json.dumps(figures), file=out)
    print(json.dumps(figures, indent=1))


# Culprit, its microseconds, and the latency above which spikes are recorded.
HERE = {"fifo": (2000, "1ms"), "faults": (2000, "1ms"), "flood": (5000, "100us"), "printk": (3000, "500us")}
# Packets that another CPU sends over loopback are received on the measured one.
FLOOD = """mount -t sysfs sys /sys && ip link set lo up && printf %x {mask} >/sys/class/net/lo/queues/rx-0/rps_cpus &&
    exec "$0" "$@" """


def here(arguments: argparse.Namespace) -> None:
    """Writes the first cause of each run in the format of the guests."""
    cpu = (os.cpu_count() or 1) - 1
    kernel = f"this machine, {platform.release().split('-')[0]}"
    with tempfile.TemporaryDirectory() as own, open(arguments.file, "a") as out:
        program = pathlib.Path(own, "culprit")
        subprocess.run(["gcc", "-O1", "-static", "-pthread", "-o", program, ROOT / "tests/lab/culprits/culprit.c"], check=True)
        for what, (length, above) in HERE.items():
            line = [program, what, str(cpu), str(length), "40"]
            if what == "flood":
                line = ["unshare", "--net", "--mount", "sh", "-c", FLOOD.format(mask=1 << cpu), program, what, "0", *line[3:]]
            for number in range(1, arguments.rounds + 1):
                culprit = subprocess.Popen(line)
                told = run(own, "--spike-above", above, "--for", "1500ms", "--cpus", str(cpu))["explanation"]
                culprit.kill()
                culprit.wait()
                first = (told["causes"] or [{"cause": {"kind": "", "name": ""}, "count": ""}])[0]
                sentence = told["largest"][0]["sentence"] if told["largest"] else ""
                print("== culprit " + "|".join(map(str, (kernel, what, number, first["cause"]["kind"], first["cause"]["name"],
                      first["count"], told["spikes"]["stored"], sentence))), file=out, flush=True)


SOFTIRQS = {"net_rx_action": "NET_RX", "net_tx_action": "NET_TX", "rcu_core_si": "RCU", "rcu_core": "RCU", "run_timer_softirq": "TIMER",
            "tasklet_action": "TASKLET", "tasklet_hi_action": "HI", "run_rebalance_domains": "SCHED",
            "hrtimer_run_softirq": "HRTIMER", "blk_done_softirq": "BLOCK"}
SLEPT, INTERRUPT = "the idle CPU", "an interrupt"
OWN_PARTS = {"interrupt", "waking", "interrupt-end", "switching"}


def by_events(spike: dict) -> collections.Counter:
    """The time of each cause in a spike, without the wake-up itself, according to the kernel's events."""
    took = collections.Counter()
    for part in spike["parts"]:
        kind, name = part["cause"]["kind"], part["cause"]["name"]
        who = {"wake-up": None, "idle-exit": SLEPT, "interrupt": INTERRUPT, "other-timers": INTERRUPT,
               "unknown": "unknown", "softirq": f"softirq {name}"}.get(kind, f"thread {name}")
        if who:
            took[who] += part["to_ns"] - part["from_ns"]
    return took


def by_instructions(told: dict) -> collections.Counter:
    """The same for a latency, according to the replay."""
    took = collections.Counter()
    for part in told["parts"]:
        thread, activity = part["thread"], part["activity"]
        if part["part"] in OWN_PARTS:
            continue
        if activity["kind"] == "softirq":
            who = "softirq " + SOFTIRQS.get(activity["handler"], activity["handler"] or "handling")
        elif activity["kind"] in ("timer-interrupt", "interrupt"):
            who = INTERRUPT
        elif thread is None or thread["pid"] == 0:
            who = SLEPT
        elif thread == told["measured"]:
            continue
        else:
            who = f"thread {thread['name']}"
        took[who] += part["to_ns"] - part["from_ns"]
    return took


def replay(arguments: argparse.Namespace) -> None:
    """The largest recorded latencies of guests, explained by events and by instructions."""
    agree, rows = collections.Counter(), []
    for target in arguments.targets or ["lab:x86-64/stock-6.1", "lab:x86-64/rt-6.1"]:
        for seed in range(1, arguments.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                load = ["--load", arguments.load] if arguments.load else []
                load += ["--telemetry", arguments.telemetry] if arguments.telemetry else []
                run(folder, "--target", target, "--seed", str(seed), "--for", arguments.length, "--warm-up", "100ms",
                    "--spike-above", arguments.above, *load)

                def told(*options: str) -> dict:
                    line = [LATLAB, "explain", "last", "--format", "json", "--out", folder, *options]
                    return json.loads(subprocess.run(line, check=True, capture_output=True).stdout)
                spikes = {one["release_ns"]: one for one in told("--top", str(10**9))["spikes"]}
                again = told("--replay", "--top", str(5 * arguments.rounds))["latencies"]
            recorded = [one for one in sorted(again, key=lambda one: -one["latency_ns"]) if one["release_ns"] in spikes]
            for one in recorded[:arguments.rounds]:
                took = by_events(spikes[one["release_ns"]]), by_instructions(one)
                first, second = ((all.most_common(1) or [("nothing", 0)])[0] for all in took)
                agree[target, first[0] == second[0]] += 1
                cells = [f"{who} {length / 1000:.3f} us" for who, length in (first, second)]
                rows.append(f"| {target.removeprefix('lab:')}, seed {seed} | {one['latency_ns'] / 1000:.3f} us | " + " | ".join(cells)
                            + f" | {'yes' if first[0] == second[0] else 'no'} |")
    with open(arguments.file, "a") as out:
        print("| guest | latency | cause by events | cause by instructions | the same |", file=out)
        print("| --- | ---: | --- | --- | --- |", file=out)
        print("\n".join(rows), file=out)
    for target in dict.fromkeys(target for target, _ in agree):
        print(f"{target}: {agree[target, True]} of {agree[target, True] + agree[target, False]} the same")


def agrees(kind: str, name: str, sentence: str, part: str, by: str) -> bool:
    """Whether rtla names the same as latlab: it knows interrupts and threads, but no functions."""
    by = by.rsplit(":", 1)[0]
    return (part.startswith("NMI") and kind == "nmi") or (by == "local_timer" and kind == "other-timers") or (
        by.startswith("kworker") and name.startswith("kworker")) or (
        by != "" and any(by in text or by.replace("_", " ") in text for text in (name, sentence)))


def culprits(arguments: argparse.Namespace) -> None:
    """A row for each culprit, a column for each kernel: the first causes with their numbers of runs, and how often
    rtla named the same."""
    causes = collections.defaultdict(collections.Counter)
    kernels = []
    told = {}
    beside = collections.Counter()
    for file in sorted(pathlib.Path(arguments.file).glob("*.txt")):
        silent = None
        for line in file.read_text().splitlines():
            # Other lines are messages of failed cases.
            row = line.removeprefix("== ").strip() if line.startswith("== ") else ""
            if row.startswith("rtla said:"):
                # If the interrupt itself was late, its stack shows what it interrupted.
                called = row.removeprefix("rtla said:").strip()
                if silent and called.startswith("-> ") and told[silent][1].replace(" ", "_") in called:
                    beside[None] -= 1
                    beside["stack"] += 1
                    silent = None
                continue
            if row.startswith("rtla "):
                key, part, by = row.removeprefix("rtla ").rsplit("|", 2)
                same = agrees(*told[key], part, by) if part.strip() else None
                beside[same] += 1
                silent = key if same is None else None
                print("" if same is not False else f"rtla: {key}: {part} {by}, latlab: {told[key]}\n", end="")
            if not row.startswith("culprit "):
                continue
            kernel, what, number, kind, name, _, _, sentence = row.removeprefix("culprit ").split("|")
            told[f"{kernel}|{what}|{number}"] = kind, name, sentence
            kernels += [] if kernel in kernels else [kernel]
            causes[what][kernel, f"{kind} {name}".strip()] += 1
    print("| culprit | " + " | ".join(kernels) + " |")
    print("| --- " * (len(kernels) + 1) + "|")
    for what, found in causes.items():
        cells = ["; ".join(f"{count} {cause or 'none'}" for (of, cause), count in found.most_common() if of == kernel)
                 for kernel in kernels]
        print(f"| {what} | " + " | ".join(cells) + " |")
    if beside:
        print(f"\nrtla named the same in {beside[True]} of {beside[True] + beside[False]} runs, "
              f"has it in the stack of a late interrupt in {beside['stack']}, and named nothing in {beside[None]}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cost", "cycles", "here", "replay", "culprits"])
    parser.add_argument("file")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--for", dest="length", default="20s")
    parser.add_argument("--cycles", type=int, default=112_000)
    parser.add_argument("--period", default="500us")
    parser.add_argument("--out")
    parser.add_argument("--target")
    parser.add_argument("--load")
    parser.add_argument("--targets", nargs="+")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--above", default="8us")
    parser.add_argument("--telemetry")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or {"here": 20, "replay": 20}.get(arguments.what, 10)
    {"cost": cost, "cycles": cycles, "here": here, "replay": replay, "culprits": culprits}[arguments.what](arguments)


if __name__ == "__main__":
    main()
