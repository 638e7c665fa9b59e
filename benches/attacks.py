#!/usr/bin/env python3
"""Attacks latlab as its tests do, counts the attempts, and writes the table of results/.

usage: attacks.py PROGRAM FOLDER [--kills N] [--faults N|every] [--repeats N] [--fuzz SECONDS] [--only PART]

needs: root, strace, cargo, and the Python packages of tests/kill.py

PROGRAM is attacked; FOLDER gets kills.csv, faults.json, attacks.json with every line that a test
printed, and README.md with the table. Repeating a part leaves the others unchanged.
"""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benches"))
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
from run import file, first_line, machine

# The attack of each script, as the table names it.
SCRIPTS = {
    "ownership": "settings of runs: ends and kills in any order, records that are none, other users' locks",
    "undo_steps": "settings of runs: put-backs that fail or are killed at each step, kills right after kills",
    "load_processes": "loads of runs: containers, time namespaces, processes that look like a load's, orphans",
    "lost_settings": "priorities, CPUs, settings and loads that another program takes away during a run",
    "hangup": "terminals that go away or have any size, output that takes nothing, missing /proc, limits",
    "folders": "links, strangers' folders and campaigns, renamed and unreadable folders",
    "disk_full": "small, full and read-only disks",
    "disk": "slow, failing and replaced disks",
    "signals": "signals, stops, lack of memory",
    "terminals": "closed and unread terminals, the background of a shell",
    "alone/starved": "CPUs that a load keeps busy for ever",
}
# Forms of tests/faults.py: what fails, and what it may cost.
FORMS = {
    "recording": ("system calls that fail (EIO) while a run records and finishes", "the frame whose write failed"),
    "finishing": ("the same while `latlab list` finishes a killed run", "nothing"),
    "reading": ("the same while a stored run is read", "nothing"),
}
# Cargo tests: package, module, what their lines count.
CRATES = {
    "store": ("faults", "LATLAB_CUT_PARTS", "power cuts and faults of a simulated disk"),
    "digest": ("hostile", "LATLAB_FUZZ_SECONDS", "frames with right checksums and impossible contents"),
}


def run(line, **environment):
    """Runs a test and shows its output; returns its lines and whether it succeeded."""
    begun = time.monotonic()
    process = subprocess.Popen(line, cwd=ROOT, env={**os.environ, **environment}, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    for text in process.stdout:
        print(text, end="", flush=True)
        lines.append(text.rstrip())
    return {"command": shown(line, environment), "lines": lines, "held": process.wait() == 0,
            "seconds": round(time.monotonic() - begun)}


def shown(line, environment):
    words = [f"{name}={value}" for name, value in environment.items() if name not in ("LATLAB", "OUT")]
    return " ".join(words + [str(word) for word in line])


def outcome(result, pattern):
    return [line for line in result["lines"] if re.match(pattern, line)]


def attack(given):
    """The parts, each a function that returns what to store."""
    program, out = str(given.program.resolve()), given.folder.resolve()
    script = lambda name, **more: run([f"tests/{name}.sh"], LATLAB=program, **more)
    parts = {
        "kills": lambda: [script("kill", KILLS=str(given.kills), SEED="20261123", OUT=str(out))],
    }
    for form in FORMS:
        parts[form] = lambda form=form: [script("faults", FAULTS=given.faults, SEED="20261123", ONLY=form, OUT=str(out))]
    for name in SCRIPTS:
        parts[name] = lambda name=name: [script(name) for _ in range(given.repeats)]
    for crate, (module, variable, _) in CRATES.items():
        value = {"LATLAB_CUT_PARTS": "10", "LATLAB_FUZZ_SECONDS": str(given.fuzz)}[variable]
        line = ["cargo", "test", "-q", "-p", f"latlab-{crate}", "--test", "it", module, "--", "--show-output"]
        parts[crate] = lambda line=line, variable=variable, value=value: [run(line, **{variable: value})]
    return parts


def row(what, tries, lost, said, held):
    return f"| {what} | {tries} | {lost} | {said} | {'yes' if held else '**no**'} |\n"


def kills_row(folder, kept):
    with open(folder / "kills.csv", newline="") as rows:
        kills = list(csv.DictReader(rows))
    lost = [max(float(one["lost_s"]), float(one["samples_lost_s"])) for one in kills]
    outcomes = [f"{sum(one['outcome'] == word for one in kills)} {word}" for word in ("recovered", "finished", "nothing")]
    return row("SIGKILL of agent, conductor, both or a recovery, at random instants of each phase", f"{len(kills)} kills",
               f"{max(lost):.2f} s (median {statistics.median(lost):.2f} s)",
               ", ".join(outcomes).replace("nothing", "removed with a line: nothing was measured yet"), kept[0]["held"])


def faults_row(folder, form, kept):
    these = [one for one in json.loads((folder / "faults.json").read_text()) if one["form"].startswith(form)]
    outcomes = {}
    for one in these:
        for word, count in one["outcomes"].items():
            outcomes[word] = outcomes.get(word, 0) + count
    said = ", ".join(f"{count} {word}" for word, count in sorted(outcomes.items(), key=lambda pair: -pair[1]))
    what, lost = FORMS[form]
    return row(what, f"{sum(one['faults'] for one in these)} calls", lost, said, kept[-1]["held"])


def script_row(name, kept):
    held, broken = (sum(len(outcome(one, word)) for one in kept) // len(kept) for word in ("ok ", "not ok "))
    skipped = {line for one in kept for line in outcome(one, "SKIPPED: ")}
    said = "each as its test expects" if not broken else f"{broken} not as expected"
    said += f"; not tried here: {len(skipped)} (`attacks.json` says why)" if skipped else ""
    lost = {"ownership": "nothing left changed", "undo_steps": "nothing left changed",
            "load_processes": "no process left, no innocent ended", "lost_settings": "no pass that was not held",
            "disk_full": "what the disk did not take", "disk": "what the disk did not take"}.get(name, "nothing")
    return row(SCRIPTS[name], f"{held + broken} cases" + (f", {len(kept)} times" if len(kept) > 1 else ""), lost, said, not broken and all(one["held"] for one in kept))


def crate_row(crate, kept):
    counts = [line.strip() for one in kept for line in one["lines"]
              if re.match(r"\d+ (?:power cuts|calls that|syncs that|faults of|streams with|disordered streams)", line.strip())]
    lost = {"store": "nothing that was synced", "digest": "no crash, at most 24 MiB of memory"}[crate]
    return row(CRATES[crate][2], "; ".join(counts), lost, "right figures, or what is missing", kept[0]["held"])


def write_readme(folder, kept):
    about = kept["about"]
    text = f"# {folder.name}\n\nWhat attacks cost at most: each was tried as often as the table says, and after each the test looked\n"
    text += "at what was stored, said, changed and left running. `held` is whether nothing broke a promise of\n"
    text += "[SECURITY.md](../../SECURITY.md).\n\n"
    text += f"`sudo {about['command']}`\n\n"
    text += "| machine | |\n| --- | --- |\n" + "".join(f"| {name} | {value} |\n" for name, value in about["machine"].items())
    text += "\n## The table\n\n| attack | tries | lost at most | what was said | held |\n| --- | --- | --- | --- | --- |\n"
    parts = kept["parts"]
    if "kills" in parts:
        text += kills_row(folder, parts["kills"])
    text += "".join(faults_row(folder, form, parts[form]) for form in FORMS if form in parts)
    text += "".join(crate_row(crate, parts[crate]) for crate in CRATES if crate in parts)
    text += "".join(script_row(name, parts[name]) for name in SCRIPTS if name in parts)
    text += "\n## The raw counts\n\n"
    text += "- `kills.csv`: each kill, with the seconds of intervals and samples that it cost.\n"
    text += "- `faults.json`: for each form and call, how many calls there were, how many failed, and what became of each.\n"
    text += "- `attacks.json`: each test with its command, its time, and every line that it printed.\n"
    commands = list(dict.fromkeys(one["command"] for part in parts.values() for one in part))
    text += "".join(f"\n{one['note']}\n" for part in parts.values() for one in part if "note" in one)
    text += "\nThe commands, one for each part:\n\n```sh\n" + "".join(f"{command}\n" for command in commands) + "```\n"
    (folder / "README.md").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--faults", default="5")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--fuzz", type=int, default=60)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIPPED: everything: most attacks need root", file=sys.stderr)
        return 3
    given.folder.mkdir(parents=True, exist_ok=True)
    raw = given.folder / "attacks.json"
    kept = json.loads(raw.read_text()) if raw.exists() else {"parts": {}}
    if "about" not in kept:
        words = f"benches/attacks.py target/latlab results/{given.folder.name} --kills {given.kills} --faults {given.faults} " \
                f"--repeats {given.repeats} --fuzz {given.fuzz}"
        latlab = f"{first_line(str(given.program), '--version')}, commit {first_line('git', 'rev-parse', '--short=12', 'HEAD')}, " \
                 f"{given.program.resolve().parent.name} build"
        kept["about"] = {"command": words, "machine": {**machine(), "latlab": latlab}}
    for name, part in attack(given).items():
        if given.only in name:
            print(f"== {name}, load {file('/proc/loadavg')}", flush=True)
            kept["parts"][name] = part()
            raw.write_text(json.dumps(kept, indent=1) + "\n")
    write_readme(given.folder, kept)
    return not all(part[-1]["held"] for part in kept["parts"].values())


if __name__ == "__main__":
    sys.exit(main())
