#!/usr/bin/env python3
"""How often intervals of a tenth of a public recording hold the quantiles of its other nine tenths.

    scripts/records_score.py RECORDINGS    the folder with the recordings; LATLAB names the program
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LATLAB = os.environ.get("LATLAB", "target/latlab")
PARTS = 10
QUANTILES = {500_000: "p50", 900_000: "p90", 990_000: "p99"}
# Recordings with the order of their latencies: files, cell separator, column, unit in nanoseconds.
RECORDINGS = [
    ("avian2/*.out", "\t", 1, 1e9),
    ("PDA-UR-lagbox/*.csv", ";", 1, 1e3),
    ("koenichiwa/*read_interval*.csv", ",", 1, 1),
]


def latencies(path: Path, delimiter: str, column: int, unit_ns: float) -> list[float]:
    """The latencies of the rows that have one."""
    found = []
    for row in csv.reader(path.open(), delimiter=delimiter):
        try:
            value = float(row[column]) * unit_ns
        except (IndexError, ValueError):
            continue
        # Instruments write 9.9E37 for a failed measurement.
        if 0 < value < 1e13:
            found.append(value)
    return found


def intervals(values: list[float], folder: Path) -> dict:
    """The intervals that latlab states for these values, by parts per million."""
    (folder / "part.csv").write_text("latency_ns\n" + "".join(f"{value:.0f}\n" for value in values))
    runs = ["--out", str(folder / "runs")]
    subprocess.run([LATLAB, "import", str(folder / "part.csv"), *runs], check=True, capture_output=True)
    shown = subprocess.run([LATLAB, "show", "--format", "json", *runs], check=True, capture_output=True)
    return {one["parts_per_million"]: one for one in json.loads(shown.stdout)["statistics"]["quantiles"]}


def main() -> None:
    records = Path(sys.argv[1])
    print("| recording | statement | right | refused | cases |\n| --- | --- | --- | --- | --- |")
    for pattern, *layout in RECORDINGS:
        for path in sorted(records.glob(pattern)):
            all_values = latencies(path, *layout)
            size = len(all_values) // PARTS
            right, refused = dict.fromkeys(QUANTILES, 0), dict.fromkeys(QUANTILES, 0)
            for part in range(PARTS):
                begin, end = part * size, (part + 1) * size
                rest = sorted(all_values[:begin] + all_values[end:])
                with tempfile.TemporaryDirectory() as folder:
                    said = intervals(all_values[begin:end], Path(folder))
                for quantile in QUANTILES:
                    one = said.get(quantile)
                    if one is None or one.get("refusal") or one["low_ns"] is None or one["high_ns"] is None:
                        refused[quantile] += 1
                        continue
                    truth = rest[int(quantile / 1e6 * len(rest))]
                    right[quantile] += one["low_ns"] <= truth <= one["high_ns"] + 1
            for quantile, name in QUANTILES.items():
                count = PARTS - refused[quantile]
                share = f"{right[quantile] / count:.2f}" if count else "-"
                name_of_file = path.relative_to(records)
                print(f"| {name_of_file} | interval of {name} | {share} | {refused[quantile] / PARTS:.1f} | {PARTS} |")


main()
