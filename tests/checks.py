"""Checks and disturbances for single scripts of tests/."""

import datetime
import fcntl
import glob
import json
import os
import pathlib
import re
import struct
import sys
import time


def hold_locks():
    """Takes every lock of latlab that a user without rights may take, until it is killed."""
    os.setgroups([])
    os.setuid(65534)
    held = {}
    folders = ("/run/lock", "/run/latlab", "/tmp")
    patterns = [f"{folder}/{name}" for folder in folders for name in ("latlab*", "*/*latlab*")] + ["/run/latlab/*"]
    while True:
        for path in (path for pattern in patterns for path in glob.glob(pattern)):
            for flags, kind in ((os.O_RDWR, fcntl.LOCK_EX), (os.O_RDONLY, fcntl.LOCK_SH)):
                try:
                    file = held.get((path, flags)) or os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
                    held[path, flags] = file
                    fcntl.lockf(file, kind | fcntl.LOCK_NB)
                    fcntl.flock(file, kind | fcntl.LOCK_NB)
                except OSError:
                    pass
        time.sleep(0.02)


def take_memory(pid):
    """Takes memory in eight processes until a process has ended, up to 200 MiB each."""
    for _ in range(3):
        os.fork()
    taken = []
    while open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX" and len(taken) < 200:
        taken.append(bytearray(b"x") * (1 << 20))
        time.sleep(0.005)


def has_counts(least, *journals):
    """That journals together have at least this many frames of counts."""
    counts = 0
    for name in journals:
        stream, at = open(name, "rb").read(), 0
        while at + 12 <= len(stream):
            length, kind = struct.unpack_from("<2I", stream, at)
            counts += kind == 5
            at += 12 + length
    sys.exit(counts < int(least))


def includes(cpu, ranges):
    """That a list of CPUs in the kernel's notation has a CPU."""
    ranges = [part.split("-") for part in ranges.split(",")]
    sys.exit(not any(int(one[0]) <= int(cpu) <= int(one[-1]) for one in ranges))


def disturb(kept):
    """Takes the CPU for 3 ms every 100 ms, and keeps the times of that in a file."""
    with open(kept, "w", buffering=1) as file:
        while True:
            begun = time.monotonic()
            file.write(f"{time.time()}\n")
            while time.monotonic() < begun + 0.003:
                pass
            time.sleep(0.097)


def disturbed(kept, document):
    """That a run has seen each disturbance of a file that was begun while it certainly measured."""
    run = json.load(open(document))
    begun = datetime.datetime.fromisoformat(run["started"]).timestamp()
    # It begins with a warm-up of a second.
    first, last = begun + 2, begun + run["measured_ns"] / 1e9
    planted = sum(first < float(line) < last for line in open(kept) if line.endswith("\n"))
    seen = run["threads"][0]["end"]["spun"]["preempted"]
    assert planted > 0 and seen["count"] >= planted and seen["sum_ns"] >= planted * 2_900_000, (planted, seen)


def noise(folder):
    """That the noise of a run follows from its intervals."""
    import pandas
    run = json.load(open(folder + "/run.json"))
    rows = pandas.read_parquet(folder + "/intervals.parquet")
    noise = run["total"]["noise"]
    taken = rows["mean_ns"].fillna(0) * rows["count"]
    share = float(taken.sum()) / float((rows["end_ns"] - rows["start_ns"]).sum())
    assert abs(share - noise["sum_ns"] / noise["of_ns"]) < 1e-6, (share, noise)


def own_threads(document, expression):
    """That a run accounts for latlab's own threads, and that an expression holds for them."""
    run = json.load(open(document))
    work = run["self_interference"]
    kinds = {one["thread"]: one for one in work["threads"]}
    ran = sum(one["ran_on_measured_ns"] for one in work["threads"])
    codes = [one["code"] for one in run["findings"]]
    assert {"drainer", "stream", "settings", "journal", "conductor"} <= set(kinds), kinds
    assert all(one["stretches"] > 0 and one["ran_ns"] > 0 for one in work["threads"]), kinds
    assert len(work["largest"]) == 20 and work["lost"] == 0, work
    sizes = [one["latency_ns"] for one in work["largest"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == run["total"]["max_ns"], sizes
    affected = sum(bool(one["own_threads"]) for one in work["largest"])
    assert ("own-threads-in-largest" in codes) == (affected > 0), (codes, affected)
    assert eval(f"({expression})", locals()), (
        expression, run["conditions"] and run["conditions"]["at_ends_only"], work)


def blocks(page, language, folder):
    """Writes each block of code of one language in a page to a file, and prints the file names."""
    pathlib.Path(folder).mkdir(exist_ok=True)
    text = pathlib.Path(page).read_text()
    for number, block in enumerate(re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S), 1):
        path = pathlib.Path(folder) / f"{pathlib.Path(page).stem}-{number}.{language}"
        path.write_text(block)
        print(path)


def tunings_told(document, count, staying):
    """That a run lists its tunings, and the interrupts that cannot be moved."""
    run, count = json.load(open(document)), int(count)
    made = [one for one in run["applied"]["settings"] if one["what"].startswith("tuning ")]
    assert len(made) == count == len(run["asked"]["on"]["tunings"]), made
    for one in made:
        assert one["asked"] == one["applied"] and one["matters"], one
    if any(one["what"] == "tuning irqs" for one in made):
        told = [one["applied"] for one in run["applied"]["settings"] if one["what"].startswith("irqs that")]
        told = set(re.findall(r"(\d+) \(", " ".join(told)))
        there = set(open(staying).read().split())
        assert there <= told, (there, told)
    assert any(one["before"] for one in made), made
    assert not any(one["code"] == "setting-not-restored" for one in run["findings"]), run["findings"]


def same_before(*documents):
    """That two runs found the same settings."""
    before = [[(one["what"], one["before"]) for one in json.load(open(path))["applied"]["settings"]]
              for path in documents]
    assert before[0] == before[1], before


def causes_without_texts(*documents):
    """That the stored explanation of a run is the printed one without texts."""
    texts = {"sentence", "gap", "detail", "realtime", "remedy", "why"}

    def told(value):
        if isinstance(value, dict):
            return {name for name in value if name in texts}.union(*map(told, value.values()))
        return set().union(*map(told, value)) if isinstance(value, list) else set()

    def without(value):
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name not in texts}
        return [without(one) for one in value] if isinstance(value, list) else value

    stored, printed = (json.load(open(name))["explanation"] for name in documents)
    assert not told(stored), told(stored)
    assert {"sentence", "realtime", "remedy"} <= told(printed), told(printed)
    assert without(printed) == stored


def nested_slices(here):
    """That a trace for Perfetto nests spikes, parts and causes."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    data = open(f"{here}/spikes.perfetto", "rb").read()
    trace = Trace()
    trace.ParseFromString(data)
    # Drops fields that the schema does not know.
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == len(data)
    spikes = json.load(open(f"{here}/spikes.json"))["spikes"]
    open_slices, lengths = {}, {"spike": 0, "part": 0, "cause": 0}
    for packet in trace.packet:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            kind = event.categories[0]
            assert ["spike", "part"].index(kind) == len(stack) if kind in lengths else len(stack) == 2, event
            assert not stack or packet.timestamp >= stack[-1][1]
            stack.append((kind if kind in lengths else "cause", packet.timestamp))
        else:
            kind, begun = stack.pop()
            lengths[kind] += packet.timestamp - begun
    assert not any(open_slices.values())
    total = sum(spike["latency_ns"] for spike in spikes)
    assert lengths == {"spike": total, "part": total, "cause": total}, (lengths, total)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
