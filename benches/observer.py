#!/usr/bin/env python3
"""Self-interference: what latlab's threads add to its figures, in guests in virtual time and on this machine.

usage: benches/observer.py guests FILE [--seeds 1..20] [--kernels stock-6.1,rt-6.1] [--for 2s]
                                             [--loads idle,hackbench] [--telemetry on,off,samples,breakdown]
       benches/observer.py machine FILE [--rounds 10] [--for 20s] [--variants 'telemetry,breakdown']
       benches/observer.py table FILE

`guests` measures each seed idle and under hackbench, with telemetry and without; a kernel is one of x86-64, or
MACHINE/KERNEL. LATLAB names a program with agents for guests (make dist). `machine` measures all CPUs of this machine
in turns with cyclictest and with options that may cost something; it needs the rights for FIFO priorities, and a
mounted tracefs for `breakdown`. Both append a line of JSON for each run to FILE, and skip what is there already, so that
they can be stopped and restarted. `table` prints the tables of such a file.
"""

import argparse
import json
import math
import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LATLAB = os.environ.get("LATLAB", str(ROOT / "target" / "latlab"))
LOADS = {"idle": [], "hackbench": ["--load", "hackbench,bytes=128,groups=1"]}
# The last two have telemetry as well.
TELEMETRY = {"on": [], "off": ["--telemetry", "off"], "samples": ["--samples"], "breakdown": ["--breakdown"]}
LARGEST = 20
# Options of runs on this machine, in addition to the common ones.
VARIANTS = {
    "telemetry": [],
    "telemetry full": ["--telemetry", "full"],
    "telemetry off": ["--telemetry", "off"],
    "samples": ["--samples"],
    "breakdown": ["--breakdown"],
    "live table": [],
    "served": [],
}
CYCLICTEST = "cyclictest"
# What identifies a guest's run.
KEY = ("kernel", "load", "telemetry", "seed")
# The columns of each table.
QUANTILES = ("p50", "p99", "p99.9", "max")


class Refused(Exception):
    """A run that this machine cannot make."""


def known(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path: Path, row: dict) -> None:
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


def figures(document: dict) -> dict:
    """The figures of a run; those of self-interference are about the largest latencies."""
    total, own = document["total"], document.get("self_interference") or {"largest": [], "threads": []}
    quantiles = total["quantiles"]
    inside = [one["own_threads"] for one in own["largest"] if one["own_threads"]]
    return {
        "p50": quantiles["p50_ns"],
        "p99": quantiles["p99_ns"],
        "p99.9": quantiles["p99_9_ns"],
        "max": total["max_ns"],
        "cycles": total["cycles"],
        "in_self_interference": len(inside),
        "own_threads": sorted({thread for threads in inside for thread in threads}),
        "ran_us": sum(one["ran_ns"] for one in own["threads"]) / 1000,
        "findings": sorted(one["code"] for one in document["findings"]),
    }


def run(options: list[str], start=subprocess.run) -> dict:
    """The figures of a run with these options."""
    with tempfile.TemporaryDirectory() as folder:
        line = [LATLAB, "run", "--out", folder, "--name", "observer", *options]
        done = start(line)
        documents = list(Path(folder).glob("*/run.json"))
        if done.returncode != 0 or not documents:
            raise Refused(f"{' '.join(line)}\nended with {done.returncode}: {done.stderr}")
        return figures(json.loads(documents[0].read_text()))


def quiet(line: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run([*line, "--quiet"], capture_output=True, text=True)


def on_terminal(line: list[str]) -> subprocess.CompletedProcess:
    """Shows the live table on a terminal that is read."""
    ours, theirs = pty.openpty()
    started = subprocess.Popen(line, stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)

    def read() -> None:
        try:
            while os.read(ours, 1 << 16):
                pass
        except OSError:
            # The end of a terminal.
            pass

    reader = threading.Thread(target=read)
    reader.start()
    code = started.wait()
    reader.join()
    os.close(ours)
    return subprocess.CompletedProcess(line, code, "", "")


def served(line: list[str]) -> subprocess.CompletedProcess:
    """Has `latlab serve` watch the run, and reads the events of the live page, without a browser."""
    folder = line[line.index("--out") + 1]
    silent = {"stderr": subprocess.DEVNULL, "text": True}
    server = subprocess.Popen(
        [LATLAB, "serve", folder, "--port", "0"], stdout=subprocess.PIPE, **silent)
    try:
        address = server.stdout.readline().strip().rstrip("/")
        started = subprocess.Popen([*line, "--quiet"], stdout=subprocess.DEVNULL, **silent)
        reader = None
        while started.poll() is None:
            begun = next(Path(folder).glob(".*.partial"), None)
            if begun and reader is None:
                run_id = begun.name.removeprefix(".").removesuffix(".partial")
                events = f"{address}/live/{run_id}/events"
                reader = subprocess.Popen(["curl", "-sN", events], stdout=subprocess.DEVNULL)
            time.sleep(0.5)
        if reader is not None:
            reader.kill()
            reader.wait()
        return subprocess.CompletedProcess(line, started.returncode, "", "")
    finally:
        server.terminate()
        server.wait()


def guests(arguments: argparse.Namespace) -> None:
    first, last = map(int, arguments.seeds.split(".."))
    done = {tuple(row[name] for name in KEY) for row in known(arguments.file)}
    for seed in range(first, last + 1):
        for kernel in arguments.kernels.split(","):
            for load in arguments.loads.split(","):
                for telemetry in arguments.telemetry.split(","):
                    key = (kernel, load, telemetry, seed)
                    if key in done:
                        continue
                    machine = kernel if "/" in kernel else f"x86-64/{kernel}"
                    guest = ["--target", f"lab:{machine}", "--seed", str(seed)]
                    length = ["--for", arguments.length]
                    found = run([*guest, *length, *LOADS[load], *TELEMETRY[telemetry]], quiet)
                    append(arguments.file, dict(zip(KEY, key)) | found)


def cyclictest(seconds: int) -> dict:
    line = ["cyclictest", "-q", "-m", "-S", "-p90", "-i997", "-h", "100000", "-D", str(seconds)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    counts, overflows, largest = {}, 0, 0
    for text in done.stdout.splitlines():
        if text.startswith("# Max Latencies:"):
            largest = max(map(int, text.split(":")[1].split()))
        elif text.startswith("# Histogram Overflows:"):
            overflows = sum(map(int, text.split(":")[1].split()))
        elif text and text[0].isdigit():
            value, *of_threads = map(int, text.split())
            counts[value] = sum(of_threads)
    total = sum(counts.values()) + overflows

    def quantile(share: float) -> int:
        rank, seen = math.ceil(share * total), 0
        for value in sorted(counts):
            seen += counts[value]
            if seen >= rank:
                return value * 1000
        return largest * 1000

    found = {name: quantile(share) for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999))}
    return found | {"max": largest * 1000, "cycles": total}


def machine(arguments: argparse.Namespace) -> None:
    if not shutil.which("cyclictest"):
        sys.exit("cyclictest is missing (scripts/setup.sh test installs it)")
    done = {(row["variant"], row["round"]) for row in known(arguments.file)}
    seconds = int(arguments.length.rstrip("s"))
    starts = {"live table": on_terminal, "served": served}
    for number in range(1, arguments.rounds + 1):
        for variant in (CYCLICTEST, *arguments.variants.split(",")):
            if (variant, number) in done:
                continue
            if variant == CYCLICTEST:
                found = cyclictest(seconds)
            else:
                options = ["--period", "997us", "--priority", "90", "--warm-up", "0s"]
                options += ["--for", arguments.length, *VARIANTS[variant]]
                try:
                    found = run(options, starts.get(variant, quiet))
                except Refused as refused:
                    print(f"SKIPPED: {variant}: {refused}", file=sys.stderr)
                    continue
            load = os.getloadavg()[0]
            append(arguments.file, {"variant": variant, "round": number, "load": load} | found)


def microseconds(values: list[int]) -> str:
    """Median, and the smallest and largest if there are several."""
    middle, low, high = (each(values) / 1000 for each in (statistics.median, min, max))
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def markdown(head: list[str], rows: list[list[str]]) -> None:
    for cells in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(cells) + " |")


def table(arguments: argparse.Namespace) -> None:
    rows = known(arguments.file)
    names = ("variant",) if "variant" in rows[0] else KEY[:-1]
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    lines = []
    for key, group in groups.items():
        quantiles = [microseconds([row[name] for row in group]) for name in QUANTILES]
        own = [row for row in group if "in_self_interference" in row]
        inside = sum(row["in_self_interference"] for row in own)
        threads = sorted({thread for row in own for thread in row["own_threads"]})
        of = f"{inside} of {LARGEST * len(own)}" if own else ""
        of += f" ({', '.join(threads)})" if threads else ""
        lines.append([*key, str(len(group)), *quantiles, of])
    markdown([*names, "runs", *QUANTILES, "of the largest in self-interference"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, work in (("guests", guests), ("machine", machine), ("table", table)):
        command = commands.add_parser(name)
        command.set_defaults(work=work)
        command.add_argument("file", type=Path)
        if name == "guests":
            command.add_argument("--seeds", default="1..20")
            command.add_argument("--kernels", default="stock-6.1,stock-6.12,rt-6.1,rt-6.12")
            command.add_argument("--for", dest="length", default="2s")
            command.add_argument("--loads", default=",".join(LOADS))
            command.add_argument("--telemetry", default="on,off")
        if name == "machine":
            command.add_argument("--rounds", type=int, default=10)
            command.add_argument("--for", dest="length", default="20s")
            command.add_argument("--variants", default=",".join(VARIANTS))
    arguments = parser.parse_args()
    try:
        arguments.work(arguments)
    except Refused as refused:
        sys.exit(str(refused))


if __name__ == "__main__":
    main()
