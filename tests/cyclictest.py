"""Checks of the output of latlab cyclictest, in a file `out` of this folder."""

import collections
import json
import re
import sys


def totals(cycles):
    """That all cycles of a thread are in the rows and the overflows, and one thread has the requested number."""
    rows = [line for line in open("out") if line[0].isdigit()]
    columns = [list(map(int, line.split()[1:])) for line in rows]
    foot = {line[2:].split(":")[0]: line.split(":")[1].split() for line in open("out") if ":" in line}
    total, over = (list(map(int, foot[name])) for name in ("Total", "Histogram Overflows"))
    assert [sum(column) for column in zip(*columns)] == total, "Total is not the sum of the rows"
    made = [a + b for a, b in zip(total, over)]
    print("cycles of each thread:", made)
    assert max(made) == int(cycles) or (cycles == "0" and min(made) > 1000)


def every_line():
    """That the lines of a thread are numbered without a gap, and its summary counts them."""
    seen, counted = {}, {}
    for line in open("out"):
        if sample := re.fullmatch(r" *(\d+): *(\d+): *-?\d+\n", line):
            thread, cycle = map(int, sample.groups())
            assert cycle == seen.get(thread, 0), f"thread {thread}: {cycle} after {seen.get(thread)}"
            seen[thread] = cycle + 1
        elif line.startswith("T:"):
            number, count = re.match(r"T: *(\d+) .* C: *(\d+) ", line).groups()
            counted[int(number)] = int(count)
    print(counted)
    assert seen == counted, [seen, counted]
    assert max(counted.values()) == 10000, counted


def lost(tool):
    """That the printed latencies below 400 us of each thread are those of the histogram, at least for latlab."""
    printed, counted, over, lines = collections.Counter(), collections.Counter(), 0, 0
    for line in open("out"):
        fields = line.replace(":", " ").split()
        if line[0] == " " and len(fields) == 3:
            lines += 1
            thread, _, value = map(int, fields)
            if value < 400:
                printed[thread, value] += 1
        elif line[0].isdigit():
            value, *counts = map(int, fields)
            counted.update({(thread, value): count for thread, count in enumerate(counts) if count})
        elif "Overflows" in line:
            over = sum(map(int, fields[3:]))
    lost, false = (counted - printed).total(), (printed - counted).total()
    print(f"{tool}: {counted.total() + over} cycles, {lines} lines; {lost} latencies were not "
          f"printed, {false} were printed that did not occur")
    assert tool == "real" or lost + false + abs(counted.total() + over - lines) == 0


def whole_json(name):
    """That the JSON has the name of its file in the command line, and cycles that include the overflows."""
    found = json.load(open(name))
    assert name in found["cmdline:"], found["cmdline:"]
    for thread in found["thread"].values():
        assert thread["overflow"] + sum(thread["histogram"].values()) == thread["cycles"], thread


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
