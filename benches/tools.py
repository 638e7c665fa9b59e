"""Starts each tool for the same job, and reads its result."""

import json
import math
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LATLAB = ROOT / "target" / "latlab"
TOOLS = ("latlab", "cyclictest", "jitterdebugger")
# latlab, storing every latency with its release.
SAMPLES = "latlab --samples"
# latlab in place of cyclictest, with its options.
DROP_IN = "latlab cyclictest"
PRIORITY = 90
# Where latlab measures; a board's agent is a program of its own.
TARGET = "local"


class Missing(Exception):
    """A tool that cannot be run here."""


@dataclass
class Job:
    """One thread per CPU of `cpus` (None: all), for a time or a number of cycles."""

    period_us: int
    cpus: str | None = None
    seconds: int | None = None
    cycles: int | None = None


def is_latlab(tool: str) -> bool:
    return tool in ("latlab", SAMPLES, DROP_IN)


def program(tool: str) -> str:
    """The path of a tool."""
    path = str(LATLAB) if is_latlab(tool) and LATLAB.exists() else shutil.which(tool)
    if not path:
        raise Missing(f"{tool} is not installed")
    return path


def command(tool: str, job: Job, folder: Path, histogram: int | None = None) -> list[str]:
    """The command line; a tool that writes files writes them to `folder`."""
    line = [program(tool)]
    if tool == DROP_IN:
        line += ["cyclictest", "--no-store"]
    if tool in ("latlab", SAMPLES):
        line += ["run", *tool.split()[1:], "--format", "json", "--out", str(folder), "--name", "bench"]
        line += ["--period", f"{job.period_us}us", "--warm-up", "0s"]
        line += ["--policy", "fifo", "--priority", str(PRIORITY)]
        line += ["--target", TARGET] if TARGET != "local" else []
        line += ["--cpus", job.cpus] if job.cpus else []
        line += ["--for", f"{job.seconds}s"] if job.seconds else ["--cycles", str(job.cycles)]
    elif tool in ("cyclictest", DROP_IN):
        line += ["-q", "-m", "-i", str(job.period_us), "-p", str(PRIORITY)]
        line += ["-t1", f"-a{job.cpus}"] if job.cpus else ["-S"]
        line += ["-D", str(job.seconds)] if job.seconds else ["-l", str(job.cycles)]
        line += ["-h", str(histogram)] if histogram else []
    else:
        line += ["-i", str(job.period_us), "-p", str(PRIORITY)]
        line += ["-a", job.cpus] if job.cpus else []
        line += ["-D", f"{job.seconds}s"] if job.seconds else ["-l", str(job.cycles)]
        line += ["-o", str(folder)]
    return line


def shown(line: list[str], folder: Path) -> str:
    """A command line as a reader would type it."""
    words = [Path(line[0]).name, *line[1:]]
    return " ".join(word.replace(str(folder), "DIR") for word in words)


def quantile(histogram: dict[int, int], total: int, share: float) -> int | None:
    """Nearest rank; None if it lies in the overflow."""
    rank, seen = math.ceil(share * total), 0
    for value in sorted(histogram):
        seen += histogram[value]
        if seen >= rank:
            return value
    return None


def releases(job: Job) -> int:
    """Releases in the duration of a job."""
    return job.seconds * 1_000_000 // job.period_us


def summary(histogram: dict[int, int], cycles: int, top: int | None, job: Job) -> dict:
    """Figures of a histogram of whole microseconds; its tool does not count overruns."""
    return {
        "cycles": cycles,
        "min_us": min(histogram, default=None),
        "p50_us": quantile(histogram, cycles, 0.50),
        "p99_us": quantile(histogram, cycles, 0.99),
        "max_us": top,
        "overruns": max(0, releases(job) - cycles),
        "resolution_us": 1,
    }


def measure(tool: str, job: Job, folder: Path) -> dict:
    """Runs a tool on one CPU for a time and reads its figures, in microseconds."""
    line = command(tool, job, folder, histogram=10_000)
    done = subprocess.run(line, capture_output=True, text=True, timeout=job.seconds * 3 + 60)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(line)}\nended with {done.returncode}: {done.stderr}")
    readers = {"latlab": read_latlab, SAMPLES: read_latlab, "cyclictest": read_cyclictest}
    read = readers.get(tool, read_jitterdebugger)
    return {"command": shown(line, folder), **read(done.stdout, job, folder)}


def read_latlab(text: str, job: Job, folder: Path) -> dict:
    """`run.json`, as it is printed."""
    run = json.loads(text)
    total, stored = run["total"], run["files"].get("samples.parquet", {"bytes": 0})
    micro = lambda nanos: None if nanos is None else nanos / 1000
    return {
        "cycles": total["cycles"],
        "min_us": micro(total["min_ns"]),
        "p50_us": micro(total["quantiles"]["p50_ns"]),
        "p99_us": micro(total["quantiles"]["p99_ns"]),
        "max_us": micro(total["max_ns"]),
        "overruns": total["overruns"],
        "samples_lost": run["losses"]["samples"],
        "bytes_per_sample": stored["bytes"] / total["cycles"],
        "agent_mib": run["agent"]["agent_peak_rss_bytes"] / 2**20,
        "helpers_percent": 100 * run["agent"]["helpers_cpu_ns"] / run["measured_ns"],
        "resolution_us": 0.1,
    }


def read_cyclictest(text: str, job: Job, folder: Path) -> dict:
    """The histogram as text; latencies beyond it are only counted."""
    histogram, overflow, top = {}, 0, None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Max Latencies:"):
            top = int(words[-1])
        elif line.startswith("# Histogram Overflows:"):
            overflow = int(words[-1])
        elif len(words) == 2 and words[0].isdigit() and int(words[1]) > 0:
            histogram[int(words[0])] = int(words[1])
    return summary(histogram, sum(histogram.values()) + overflow, top, job)


def read_jitterdebugger(text: str, job: Job, folder: Path) -> dict:
    """`results.json`: latencies of a millisecond or more are only counted."""
    (cpu,) = json.loads((folder / "results.json").read_text())["cpu"].values()
    histogram = {int(value): count for value, count in cpu["histogram"].items()}
    return summary(histogram, cpu["count"], cpu["max"], job)
