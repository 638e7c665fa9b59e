"""The measurements; each returns raw data and a Markdown section, and whether its limit was kept."""

import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from size import size
from tools import DROP_IN, SAMPLES, TOOLS, Job, Missing, command, is_latlab, measure, shown

INSTRUCTIONS_LIMIT = 80
# Agent and conductor together, at the end of a run.
MEMORY_LIMIT_MIB = 15
REPEATS = 5
# Callgrind writes a name only once, possibly as the called function (cfn).
LOOP = r"(?:cyclic::measure|cyclic7measure)"
KEEP = r"(?:Recorder::|Recorder\d*)keep_spike"


@dataclass
class Result:
    """The result of a part."""

    raw: dict = field(default_factory=dict)
    text: str = ""
    broken: list[str] = field(default_factory=list)


def say(text: str) -> None:
    print(text, flush=True)


def for_each_tool(part: str, run: Callable[[str, Path], dict], further: tuple = ()) -> dict:
    """Runs a part for each tool in a fresh folder; reports a missing tool prominently."""
    found = {}
    for tool in (*TOOLS, *further):
        say(f"{part}: {tool}")
        try:
            with tempfile.TemporaryDirectory() as folder:
                found[tool] = run(tool, Path(folder))
        except Missing as missing:
            say(f"SKIPPED: {part}: {missing}")
    return found


def table(head: list[str], rows: list[list]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def checked(line: list[str], **options) -> subprocess.CompletedProcess:
    """Runs a program that must succeed."""
    done = subprocess.run(line, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(line)}\nended with {done.returncode}: {done.stderr}{done.stdout}")
    return done


def growth(few: dict, many: dict) -> dict:
    """How much each thread's count grew from one run to the other. A thread is identified by its
    position among the threads and that of its process among the processes. If a thread were
    absent from one run, another would be taken for the measuring one: that is an error."""
    if few.keys() != many.keys():
        raise RuntimeError(f"the two runs had different threads: {sorted(few)}, {sorted(many)}")
    return {key: many[key] - few[key] for key in many}


def by_name(threads: dict) -> dict:
    """latlab's drainer grows about as much as its loop, so the loop is identified by its name; the number
    of other threads depends on how long a kernel file takes to read."""
    loops = [count for key, count in threads.items() if "the loop" in key]
    if len(loops) != 1:
        raise RuntimeError(f"expected one loop: {sorted(threads)}")
    return {"the loop": loops[0], "others": sum(threads.values()) - loops[0]}


def first_cpu() -> str:
    """The first CPU that this process may use."""
    return str(min(os.sched_getaffinity(0)))


# Instructions


def instructions(options) -> Result:
    """User-space instructions per cycle of the measuring thread, by callgrind."""
    # A test has less time.
    few, many = (20_000, 120_000) if options else (2_000, 12_000)

    def count(tool: str, cycles: int, folder: Path) -> dict:
        job = Job(period_us=200, cpus=first_cpu(), cycles=cycles)
        (folder / "runs").mkdir(exist_ok=True)
        line = command(tool, job, folder / "runs", histogram=400)
        output = folder / str(cycles)
        output.mkdir()
        valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes"]
        valgrind += ["--trace-children=yes", f"--callgrind-out-file={output}/out.%p"]
        valgrind += [f"--log-file={folder}/log.%p"]
        checked(valgrind + line)
        return {"command": shown(line, folder / "runs"), "threads": dumps(tool, output)}

    def one(tool: str, folder: Path) -> dict:
        less, more = count(tool, few, folder), count(tool, many, folder)
        if is_latlab(tool):
            grown = growth(by_name(less["threads"]), by_name(more["threads"]))
            measuring = "the loop"
        else:
            grown = growth(less["threads"], more["threads"])
            measuring = max(grown, key=grown.get)
        return {
            "command": more["command"],
            "totals": {few: less["threads"], many: more["threads"]},
            "measuring": measuring,
            "per_cycle": grown[measuring] / (many - few),
            "others_per_cycle": (sum(grown.values()) - grown[measuring]) / (many - few),
        }

    found = for_each_tool("instructions", one, (SAMPLES, DROP_IN))
    result = Result({"limit": INSTRUCTIONS_LIMIT, "tools": found})
    rows = [
        [tool, f"**{one['per_cycle']:.1f}**", f"{one['others_per_cycle']:.1f}", f"`{one['command']}`"]
        for tool, one in found.items()
    ]
    result.text = (
        "## Instructions per cycle\n\n"
        "User-space instructions of the measuring thread, by callgrind "
        "(`--separate-threads=yes --trace-children=yes`): the difference of "
        f"{few} and {many} cycles, divided by {many - few}. Everything the tool records is on. "
        "Under callgrind the clock is read by a system call instead of the vDSO, for every tool. "
        "The other threads (drawing, draining) are in the second column. latlab's measuring thread "
        "is the one that runs the loop's function; the others' is the one that grows most. "
        "What latlab takes to keep one of the largest latencies, of which there are ever fewer, is left out.\n\n"
    ) + table(["tool", "measuring thread", "other threads", "command"], rows)
    for tool in ("latlab", DROP_IN):
        ours = found.get(tool)
        if ours and ours["per_cycle"] >= INSTRUCTIONS_LIMIT:
            result.broken.append(
                f"{tool} takes {ours['per_cycle']:.1f} instructions per cycle; "
                f"the limit is {INSTRUCTIONS_LIMIT}"
            )
    return result


def dumps(tool: str, folder: Path) -> dict[str, int]:
    """Instructions of each thread. Waits for the dumps: the agent may write them after the conductor
    has ended, and callgrind creates a file before it fills it."""
    until = time.monotonic() + 30
    while True:
        totals = {}
        files = sorted(folder.iterdir(), key=numbers)
        processes = sorted({numbers(file)[-2] for file in files if is_of_thread(file)})
        for file in files:
            text = file.read_text()
            total = re.search(r"^totals: (\d+)", text, re.M)
            if total:
                inside = loop_instructions(text)
                process, number = numbers(file)[-2:]
                loop = "" if inside is None else " (the loop)"
                name = f"process {processes.index(process)} thread {number}{loop}"
                totals[name] = int(total[1]) if inside is None else inside
        whole = totals and len(totals) == sum(is_of_thread(file) for file in folder.iterdir())
        if whole and (not is_latlab(tool) or sum("the loop" in key for key in totals) == 1):
            return totals
        if time.monotonic() > until:
            raise RuntimeError(f"callgrind left no whole dumps of {tool}: {sorted(totals)}")
        time.sleep(0.2)


def loop_instructions(dump: str) -> int | None:
    """Instructions of the loop's function and its callees, from its caller's lines. What its thread does
    before and after, such as waiting for the others, depends on other work. So does how often a
    latency enters the table of the largest, which becomes ever rarer."""
    def numbers_of(function: str) -> set[str]:
        return {one[1] for one in re.finditer(r"^c?fn=(\(\d+\)) .*" + function, dump, re.M)}

    loops, rare = numbers_of(LOOP), numbers_of(KEEP)
    calls = re.findall(r"^cfn=(\(\d+\)).*\ncalls=.*\n\S+ (\d+)$", dump, re.M)
    whole, kept = (sum(int(count) for name, count in calls if name in one) for one in (loops, rare))
    return whole - kept if loops else None


def is_of_thread(file: Path) -> bool:
    return re.search(r"\.\d+-\d+$", file.name) is not None


def numbers(file: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", file.name)]


# Memory


def memory(options) -> Result:
    """Resident memory on all CPUs while the tool runs: the peak, and the last reading while all measured."""
    job = Job(period_us=1000, seconds=options.seconds)

    def one(tool: str, folder: Path) -> dict:
        line = command(tool, job, folder)
        read_from_disk(Path(shutil.which(line[0]) or line[0]))
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        peaks: dict[int, dict] = {}
        while process.poll() is None:
            now = {pid: seen for pid in [process.pid, *descendants(process.pid)]
                   if (seen := resident(pid)) is not None}
            for pid, seen in now.items():
                before = peaks.get(pid, seen)
                # Memory to store the run, after the measurement, counts only for the peak.
                end = seen if now.keys() >= peaks.keys() else before
                peaks[pid] = {**seen, "end_mib": end["end_mib"], "threads": max(before["threads"], seen["threads"])}
            time.sleep(0.05)
        if process.returncode != 0:
            error = process.stderr.read().decode()
            raise RuntimeError(f"{' '.join(line)}\nended with {process.returncode}: {error}")
        return {"command": shown(line, folder), "processes": list(peaks.values())}

    found = for_each_tool("memory", one)
    result = Result({"limit_mib": MEMORY_LIMIT_MIB, "tools": found})
    rows = []
    for tool, one in found.items():
        for seen in one["processes"]:
            name = f"{tool}: {seen['role']}" if len(one["processes"]) > 1 else tool
            rows.append([name, f"**{seen['end_mib']:.1f}**", f"{seen['peak_mib']:.1f}", seen["threads"],
                         f"`{one['command']}`"])
        together = sum(seen["end_mib"] for seen in one["processes"])
        if tool == "latlab" and together >= MEMORY_LIMIT_MIB:
            result.broken.append(f"latlab takes {together:.1f} MiB; the limit is {MEMORY_LIMIT_MIB}")
    if "latlab" in found and not any(
        seen["role"] == "agent" for seen in found["latlab"]["processes"]
    ):
        result.broken.append("no agent process of latlab was seen")
    result.text = (
        "## Memory\n\n"
        "Resident memory (VmRSS) at the end of a run with one measuring thread on every CPU, and its peak (VmHWM). "
        "latlab is two processes: the agent measures, the conductor keeps the journal.\n\n"
    ) + table(["process", "MiB", "peak", "threads", "command"], rows)
    return result


def read_from_disk(file: Path) -> None:
    """Drops a program from the page cache. The kernel maps pages in the pieces in which it has them, which are larger
    if the file was just written than after a boot."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def descendants(pid: int) -> list[int]:
    """Children of all threads of a process, and theirs."""
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                found += [int(child), *descendants(int(child))]
        except OSError:
            continue
    return found


def resident(pid: int) -> dict | None:
    """The process's memory now and its peak so far; None if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return None
    high, now = (re.search(rf"^{field}:\s+(\d+) kB", status, re.M) for field in ("VmHWM", "VmRSS"))
    if not high or not now:
        return None
    return {
        "role": "agent" if "agent" in words[1:2] else "conductor",
        "peak_mib": int(high[1]) / 1024,
        "end_mib": int(now[1]) / 1024,
        "threads": int(re.search(r"^Threads:\s+(\d+)", status, re.M)[1]),
    }


# Latency


def latency(options) -> Result:
    """Compares distributions: interleaved, same CPU, same priority, same period."""
    result = Result({"periods": {}})
    result.text = (
        "## Latency, side by side\n\n"
        f"One thread on CPU 1, FIFO 90, {options.seconds} s each, {REPEATS} repeats, interleaved "
        "in changing order. cyclictest and jitterdebugger truncate to whole microseconds, so "
        "their true median lies up to 1 us above the one shown; latlab's is the upper edge of a "
        "bin of 100 ns. Their overruns releases are computed (duration / period - cycles), since "
        "neither counts them, so their start-up is in it; jitterdebugger drops what is 1000 us or more from its histogram.\n"
    )
    for period in (1000, 200):
        found: dict[str, list] = {}
        for repeat in range(REPEATS):
            order = TOOLS[repeat % len(TOOLS) :] + TOOLS[: repeat % len(TOOLS)]
            for tool in order:
                say(f"latency: {period} us, repeat {repeat + 1} of {REPEATS}: {tool}")
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        job = Job(period_us=period, cpus="1", seconds=options.seconds)
                        figures = measure(tool, job, Path(folder))
                    found.setdefault(tool, []).append(figures)
                except Missing as missing:
                    say(f"SKIPPED: latency: {missing}")
        result.raw["periods"][period] = found
        result.text += latency_text(period, found)
    return result


def latency_text(period: int, found: dict[str, list]) -> str:
    """The tables and the verdict for one period."""
    repeats = range(1, max(len(runs) for runs in found.values()) + 1)
    text = f"\n### Period {period} us\n\nMedian of each repeat, in us:\n\n"
    text += table(
        ["tool", *repeats],
        [[tool, *(show(run["p50_us"]) for run in found[tool])] for tool in TOOLS if tool in found],
    )
    text += "\nMedians of the repeats, with their range, in us:\n\n"
    rows = []
    for tool in TOOLS:
        if tool not in found:
            continue
        figures = (spread(found[tool], key) for key in ("min_us", "p50_us", "p99_us", "max_us"))
        rows.append([tool, *figures, spread(found[tool], "cycles"), spread(found[tool], "overruns")])
    text += table(["tool", "min", "p50", "p99", "max", "cycles", "overruns"], rows)
    text += "\n" + "\n".join(f"- {line}" for line in noise(found)) + "\n"
    text += "\n" + "\n".join(f"`{runs[0]['command']}`  " for runs in found.values()) + "\n"
    return text


def show(value: float | None) -> str:
    """A figure without needless digits."""
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


def spread(runs: list[dict], key: str) -> str:
    """The median of the repeats and their range."""
    values = [run[key] for run in runs if run[key] is not None]
    if not values:
        return "-"
    return f"{show(statistics.median(values))} [{show(min(values))} to {show(max(values))}]"


def noise(found: dict[str, list]) -> list[str]:
    """Whether the tools' ranges of medians overlap, allowing for truncation."""

    def limits(tool: str) -> tuple[float, float]:
        medians = [run["p50_us"] for run in found[tool] if run["p50_us"] is not None]
        truncated = 1 if found[tool][0]["resolution_us"] == 1 else 0
        return min(medians), max(medians) + truncated

    lines = []
    present = [tool for tool in TOOLS if tool in found]
    for at, one in enumerate(present):
        for other in present[at + 1 :]:
            (low, high), (lower, higher) = limits(one), limits(other)
            word = "within their noise" if low <= higher and lower <= high else "apart"
            lines.append(
                f"{one} and {other}: medians {word} "
                f"({show(low)} to {show(high)} us, {show(lower)} to {show(higher)} us)"
            )
    return lines


# Samples


def samples(options) -> Result:
    """With and without every sample stored, at 20 kHz on every CPU, interleaved."""
    found: dict[str, list] = {"latlab": [], SAMPLES: []}
    for repeat in range(REPEATS):
        for tool in list(found)[:: -1 if repeat % 2 else 1]:
            say(f"samples: repeat {repeat + 1} of {REPEATS}: {tool}")
            with tempfile.TemporaryDirectory() as folder:
                job = Job(period_us=50, seconds=2 * options.seconds)
                found[tool].append(measure(tool, job, Path(folder)))
    keys = ("p50_us", "p99_us", "max_us", "cycles", "overruns", "agent_mib", "helpers_percent")
    rows = [[tool, *(spread(runs, key) for key in keys)] for tool, runs in found.items()]
    pairs = [
        [word, *(show(there[key] - here[key]) for here, there in zip(found["latlab"], found[SAMPLES]))]
        for word, key in (("p50, us", "p50_us"), ("p99, us", "p99_us"))
    ]
    lost = [run["samples_lost"] for run in found[SAMPLES]]
    sizes = [run["bytes_per_sample"] for run in found[SAMPLES]]
    result = Result({"tools": found})
    result.text = (
        "## Every sample\n\n"
        f"20 kHz on every CPU, FIFO 90, {2 * options.seconds} s each, {REPEATS} repeats, interleaved in "
        "changing order. Medians of the repeats, with their range. The helpers are everything of the "
        "agent that does not measure, in per cent of one CPU.\n\n"
    )
    head = ["", "p50, us", "p99, us", "max, us", "cycles", "overruns", "agent, MiB", "helpers, %"]
    result.text += table(head, rows)
    result.text += "\nWhat samples added to each repeat, compared with its neighbour:\n\n"
    result.text += table(["", *range(1, REPEATS + 1)], pairs)
    result.text += (
        f"\nSamples lost: {sum(lost)}. Bytes a sample in `samples.parquet`, release included: "
        f"{min(sizes):.2f} to {max(sizes):.2f}.\n\n"
    )
    result.text += "\n".join(f"`{runs[0]['command']}`  " for runs in found.values()) + "\n"
    if sum(lost):
        result.broken.append(f"{sum(lost)} samples were lost")
    if max(sizes) >= 2:
        result.broken.append(f"a sample took {max(sizes):.2f} bytes; the limit is 2")
    return result


# System calls


def syscalls(options) -> Result:
    """System calls per cycle of the measuring thread, by strace; page faults, from run.json."""
    # A test has less time.
    few, many = (1_000, 6_000) if options else (500, 1_500)

    def count(tool: str, cycles: int, folder: Path) -> dict:
        output = folder / str(cycles)
        runs = output / "runs"
        runs.mkdir(parents=True)
        line = command(tool, Job(period_us=1000, cpus=first_cpu(), cycles=cycles), runs)
        done = checked(["strace", "-ff", "-o", str(output / "thread"), *line])
        threads: dict[str, dict[str, int]] = {}
        for place, file in enumerate(sorted(output.glob("thread.*"), key=numbers)):
            calls: dict[str, int] = {}
            text = file.read_text(errors="replace")
            for call in re.findall(r"^(\w+)\(", text, re.M):
                calls[call] = calls.get(call, 0) + 1
            # Our thread sets its name; on a busy machine another thread may make more calls.
            ours = re.search(r'^prctl\(PR_SET_NAME, "latlab/', text, re.M)
            threads[f"thread {place}{', the loop' if ours else ''}"] = calls
        return {"command": shown(line, runs), "threads": threads, "output": done.stdout}

    def one(tool: str, folder: Path) -> dict:
        less, more = count(tool, few, folder), count(tool, many, folder)
        sums = [
            {name: sum(calls.values()) for name, calls in side["threads"].items()}
            for side in (less, more)
        ]
        if is_latlab(tool):
            sums = [by_name(side) for side in sums]
        grown = growth(*sums)
        measuring = "the loop" if is_latlab(tool) else max(grown, key=grown.get)
        # One-time calls, such as a wait for the start, may differ by one.
        if grown[measuring] < 0.99 * (many - few):
            raise RuntimeError(f"no thread of {tool} made a system call in each cycle: {grown}")
        found = {
            "command": more["command"],
            "per_cycle": grown[measuring] / (many - few),
            "calls": next(calls for name, calls in more["threads"].items() if measuring in name),
            "others_per_cycle": (sum(grown.values()) - grown[measuring]) / (many - few),
        }
        if tool == "latlab":
            ends = [thread["end"] for thread in json.loads(more["output"])["threads"]]
            found["page_faults"] = sum(end["page_faults"] for end in ends)
        return found

    found = for_each_tool("syscalls", one)
    result = Result({"tools": found})
    rows = [
        [
            tool,
            f"**{one['per_cycle']:.2f}**",
            ", ".join(call for call, times in one["calls"].items() if times > many / 2),
            f"{one['others_per_cycle']:.2f}",
            one.get("page_faults", "not counted"),
        ]
        for tool, one in found.items()
    ]
    result.text = (
        "## System calls per cycle\n\n"
        f"By `strace -ff`: the difference of {few} and {many} cycles of 1 ms, divided by "
        f"{many - few}, for the thread that grew most. "
        "Page faults are those of the measuring thread after its first counted release.\n\n"
    ) + table(["tool", "measuring thread", "which", "other threads", "page faults"], rows)
    result.text += "\n" + "\n".join(f"`{one['command']}`  " for one in found.values()) + "\n"
    ours = found.get("latlab")
    if ours and round(ours["per_cycle"], 2) != 1:
        result.broken.append(f"latlab makes {ours['per_cycle']:.2f} system calls per cycle, not 1")
    if ours and ours["page_faults"] != 0:
        result.broken.append(f"latlab had {ours['page_faults']} page faults while it measured")
    return result


PARTS = {
    "instructions": instructions,
    "memory": memory,
    "size": size,
    "latency": latency,
    "samples": samples,
    "syscalls": syscalls,
}
