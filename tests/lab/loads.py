"""Checks of real load generators."""

import json
import os
import re
import sys


def ours(here, words):
    """Prints the processes of a script's loads, found by its folder, whose command line has these words."""
    mark = f"LATLAB_TEST_MARK={here}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
            line = open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ").decode(errors="replace")
            dead = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
            folder = os.readlink(f"/proc/{pid}/cwd")
            groups = open(f"/proc/{pid}/cgroup").read()
            files = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        of_load = any("/latlab-load-" in text for text in (groups, *files))
        marked = mark in environment and (of_load or " load-supervisor " in line)
        if not dead and (marked or folder.startswith(f"{here}/scratch/")):
            if words in line:
                print(pid)


def hackbench(document, passes):
    """That the stored times are those that hackbench printed."""
    load = json.load(open(document))["loads"][0]
    printed = [float(line.split()[1]) for line in open(passes) if line.startswith("Time:")]
    rate = load["rates"][0]
    # The last pass may have ended between its two copies.
    printed = printed[:rate["count"]] if len(printed) == rate["count"] + 1 else printed
    assert rate["count"] == len(printed) > 2, (rate, len(printed))
    assert abs(rate["mean"] - sum(printed) / len(printed)) < 1e-9, (rate, printed)
    assert (rate["min"], rate["max"], rate["last"]) == (min(printed), max(printed), printed[-1])
    assert load["restarts"] >= rate["count"] - 1 and load["gap_ns"] > 0, load


def stressapptest(document, said):
    """That the stored rates are those that stressapptest printed."""
    load = json.load(open(document))["loads"][0]
    stored = {rate["of"]: rate["last"] for rate in load["rates"]}
    printed = {}
    for line in open(said):
        found = re.search(r"Stats: ([A-Z][A-Za-z ]+): [0-9.]+M at ([0-9.]+)MB/s", line)
        if found and float(found[2]) > 0:
            printed[found[1]] = float(found[2])
        if found := re.search(r"Completed: .* ([0-9.]+)MB/s", line):
            printed[None] = float(found[1])
    assert stored == printed and printed["Memory Copy"] > 0, (stored, printed)
    assert load["version"] and load["status"]["code"] == 0, load


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
