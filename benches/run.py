#!/usr/bin/env python3
"""Measures latlab against the other tools and writes results/beside-other-tools/.

usage: benches/run.py [PART...] [--seconds N]
parts: instructions, memory, size, latency, samples, syscalls [all of them]
The exit code is 1 if latlab breaks one of its limits.
"""
# Invariant (loop): A cycle takes at most 80 user instructions, one system call and no page fault.

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from parts import PARTS, REPEATS
from tools import LATLAB, ROOT, TOOLS, Missing, program


def first_line(*line: str) -> str:
    """The version line of a program."""
    try:
        done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, timeout=20)
    except OSError:
        return "not there"
    text = (done.stdout + done.stderr).strip()
    return text.splitlines()[0].strip() if text else "unknown"


def file(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return "unknown"


def machine() -> dict:
    """The facts about the machine that explain the figures."""
    model = re.search(r"^model name\s*: (.*)", file("/proc/cpuinfo"), re.M)
    system = re.search(r'^PRETTY_NAME="(.*)"', file("/etc/os-release"), re.M)
    sys_cpu = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    return {
        "processor": f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs",
        "virtualisation": first_line("systemd-detect-virt"),
        "system": system[1] if system else "unknown",
        "kernel": f"{platform.release()} {platform.version()} {platform.machine()}",
        "preempt_rt": file("/sys/kernel/realtime") == "1",
        "governor": file(sys_cpu),
        "clock source": file("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "load when it began": file("/proc/loadavg"),
    }


def versions() -> dict:
    """The programs, each with its version line."""
    commit = first_line("git", "rev-parse", "--short=12", "HEAD")
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=no"],
        cwd=ROOT, capture_output=True, text=True,
    ).stdout
    built = LATLAB.resolve().parent.parent.name if LATLAB.exists() else "not built"
    return {
        "latlab": f"{first_line(str(LATLAB), '--version')}, commit {commit}"
        f"{' with changes' if changed else ''}, {built}",
        "cyclictest": first_line("cyclictest", "--help"),
        "jitterdebugger": first_line("jitterdebugger", "--version"),
        "valgrind": first_line("valgrind", "--version"),
        "strace": first_line("strace", "-V"),
        "rustc": first_line("rustc", "--version"),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="what to measure: " + ", ".join(PARTS))
    parser.add_argument("--seconds", type=int, default=5, help="length of each timed run")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]}; there are {', '.join(PARTS)}")
    if os.geteuid() != 0:
        print("SKIPPED: everything: real-time priority needs root", file=sys.stderr)
        return 3
    missing = []
    for tool in TOOLS:
        try:
            program(tool)
        except Missing as error:
            missing.append(str(error))

    about = {"machine": machine(), "versions": versions()}
    folder = ROOT / "results/beside-other-tools"
    folder.mkdir(parents=True, exist_ok=True)
    broken = []
    for part in options.parts or PARTS:
        result = PARTS[part](options)
        kept = {**about, "part": part, **result.raw, "broken": result.broken, "text": result.text}
        (folder / f"{part}.json").write_text(json.dumps(kept, indent=1) + "\n")
        print("\n" + result.text)
        broken += result.broken
    write_readme(folder)
    print(f"written to {folder.relative_to(ROOT)}")
    for line in missing + broken:
        print(f"FAILED: {line}", file=sys.stderr)
    return 1 if missing or broken else 0


def write_readme(folder: Path) -> None:
    """Writes the page of a folder from the parts in it, so that a part can be measured again."""
    parts = [json.loads((folder / f"{part}.json").read_text())
             for part in PARTS if (folder / f"{part}.json").exists()]
    text = "# latlab beside other tools\n\n"
    text += f"By `make bench` ({REPEATS} repeats where repeats are named). "
    text += "The raw data is next to this page, one JSON file for each section.\n\n"
    for head in ("machine", "versions"):
        text += f"| {head} | |\n| --- | --- |\n"
        text += "".join(f"| {name} | {value} |\n" for name, value in parts[-1][head].items()) + "\n"
    text += "\n".join(part["text"] for part in parts)
    if broken := [line for part in parts for line in part["broken"]]:
        text += "\n## Limits that were not kept\n\n" + "".join(f"- {line}\n" for line in broken)
    (folder / "README.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
