"""Checks and disturbances for single scripts of tests/lab."""

import ctypes
import glob
import html
import json
import pathlib
import re
import sys
import time
import zipfile


def lost_links(site):
    """Prints each link of a site to a missing file or heading."""
    root, texts = pathlib.Path(site).resolve(), {}
    for page in root.rglob("*.html"):
        texts[page] = page.read_text()
    for page, text in texts.items():
        for link in map(html.unescape, re.findall(r'(?:href|src)="([^"]+)"', text)):
            path, _, heading = link.partition("#")
            if re.match(r"[a-z]+:|//", link) or page.name == "404.html":
                continue
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                print(page.relative_to(root), link)
            elif heading and target in texts and f'id="{heading}"' not in texts[target]:
                print(page.relative_to(root), link)


def set_clock_by(seconds):
    """Shifts the clock by this number of seconds."""
    time.clock_settime(time.CLOCK_REALTIME, time.time() + float(seconds))


def slew_clock():
    """Slews the clock."""
    class Timex(ctypes.Structure):
        _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("rest", ctypes.c_long * 40)]

    # Like `adjtime`: 1 ms, by a slew that the kernel ends by itself.
    timex = Timex(modes=0x8001, offset=1000)
    if ctypes.CDLL(None).adjtimex(ctypes.byref(timex)) < 0:
        raise SystemExit("the clock cannot be slewed")


def rows_of_intervals(here):
    """Writes the maxima of each second of a run, as the browser must show them."""
    import pyarrow.parquet as parquet
    folder = glob.glob(f"{here}/runs/*_idle")[0]
    rows = parquet.read_table(f"{folder}/intervals.parquet").to_pylist()
    first = min(row["start_ns"] for row in rows)
    rows = [{"thread": row["thread"], "second": (row["start_ns"] - first) // 10**9, "max_ns": row["max_ns"]}
            for row in rows]
    json.dump(rows, open(f"{here}/rows.json", "w"))


def installed_wheel(installed, wheel):
    """That the installed package finds its program, and that its wheel has the right metadata."""
    import latlab
    from latlab.program import call, find_program
    from packaging.metadata import Metadata
    from packaging.utils import parse_wheel_filename

    installed, wheel = pathlib.Path(installed), pathlib.Path(wheel)
    assert find_program() == installed / "bin/latlab", find_program()
    name, version, _, tags = parse_wheel_filename(wheel.name)
    assert call("--version").split() == [name, str(version)]
    assert {tag.interpreter for tag in tags} == {"py3"} and len(tags) == 3, tags
    with zipfile.ZipFile(wheel) as files:
        [metadata] = [one for one in files.namelist() if one.endswith(".dist-info/METADATA")]
        told = Metadata.from_email(files.read(metadata), validate=True)
    assert told.license_expression == "MIT OR Apache-2.0" and "licences.txt" in told.license_files, told.license_files
    assert (installed / "latlab/py.typed").exists()


def bench(program, target, part, *limits):
    """Prints the result of one part of the bench for latlab alone on a target, which must keep its limits."""
    sys.path.insert(0, "benches")
    import parts
    import tools
    tools.LATLAB, tools.TARGET, parts.TOOLS = pathlib.Path(program), target, ("latlab",)
    found = parts.PARTS[part](None).raw["tools"]
    for tool, low, high in zip(limits[::3], limits[1::3], limits[2::3]):
        each = found[tool]["per_cycle"]
        print(found[tool]["command"])
        print(f"{each:.3f} each cycle; the limits are {low} and {high}")
        if not float(low) <= each < float(high):
            sys.exit(1)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
