"""Checks of the runs of guests."""

import collections
import glob
import hashlib
import json
import re
import sys


def holds(said, expression):
    """That an expression holds for a run in a guest and for rtla's figures."""
    said = open(said).read()
    part = lambda start, end: said.split("== " + start, 1)[1].split("== " + end, 1)[0]
    run = json.loads(part("run\n", "exit"))
    after = part("exit", "rtla")
    rows = {line.split()[0].rstrip(":"): line.split()[1:] for line in part("rtla", "done").splitlines()
            if re.match(r"Index|count:|min:|avg:|max:", line)}
    rtla = {column.split("-")[0]: {row: int(rows[row][at]) for row in ("count", "min", "avg", "max")}
            for at, column in enumerate(rows["Index"])}
    end, total, breakdown = run["threads"][0]["end"], run["total"], run["breakdown"]
    irq, thread = breakdown["threads"][0]["irq"], breakdown["threads"][0]["thread_part"]
    settings = {one["what"]: one["applied"] for one in run["applied"]["settings"]}
    p50 = total["quantiles"]["p50_ns"]
    # rtla truncates to whole microseconds; with one sample each, maxima agree only in magnitude.
    near = lambda ns, us, factor: us / factor - 1 <= ns / 1000 <= (us + 1) * factor
    figures = [end, total, irq, thread, rtla, settings, breakdown["tally"], run["losses"], after]
    sys.exit(0 if eval(f"({expression})", locals()) else json.dumps(figures))


def twenty_boards(here):
    """That twenty guests with different seeds were the boards of one campaign."""
    rows = json.load(open(f"{here}/table.json"))["table"]["rows"]
    made = [row["target"] for row in rows for cell in row["cells"] if cell["state"] == "done"]
    assert len(set(made)) == 20, made
    runs = [json.load(open(file)) for file in glob.glob(f"{here}/runs/*_night/runs/*/run.json")]
    assert len(runs) == 20, len(runs)
    streams = {run["guest_measurement"]["sha256"] for run in runs}
    assert len(streams) == 20, "each guest with another seed"
    kernels = collections.Counter(run["machine"]["kernel"].split("-")[2] for run in runs)
    assert kernels == {"amd64": 10, "rt": 10}, kernels


def other_stream(document):
    """Changes a run as if its guest had sent something else, with a matching checksum."""
    text = open(document).read()
    text = re.sub('("guest_measurement": {[^}]*"sha256": ")[0-9a-f]{16}', lambda part: part[1] + 16 * "0", text)
    before = text[: text.rindex('\n  "checksum"')] + "\n"
    checksum = hashlib.sha256(before.encode()).hexdigest()
    open(document, "w").write(f'{before}  "checksum": "{checksum}"\n}}\n')


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
