"""Runs: started, found, and with their figures as attributes."""

import html
import json
import os
import warnings
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from latlab.figures import Finding, Summary, Thread, Verdict
from latlab.frames import Table
from latlab.program import LatlabError, call, runs_folder

Option = str | int | float | bool | Sequence[str | int | float] | None
"""True is a flag alone; False and None leave it out; a sequence repeats it."""

# A stored run is no error of the caller, whatever its verdict; 3 is a run that ended early.
_STORED = (0, 1, 3, 4)


class Run:
    """A stored run; its figures are those that latlab stored and shows."""

    def __init__(self, path: Path, document: dict[str, Any] | None = None) -> None:
        self.path = path
        """Its folder."""
        if document is not None:
            self.__dict__["document"] = document

    def __repr__(self) -> str:
        word = self.verdict.word if self.verdict else "no verdict"
        largest = "" if self.max_ns is None else f", largest {self.max_ns / 1000:.1f} us"
        return f"<latlab.Run {self.id}: {word}, {self.cycles} cycles{largest}>"

    def _repr_html_(self) -> str:
        page = html.escape(call("show", str(self.path), "--format", "html"), quote=True)
        fit = "this.style.height = this.contentDocument.documentElement.scrollHeight + 'px'"
        style = "width: 100%; height: 44rem; border: 0"
        return f'<iframe srcdoc="{page}" style="{style}" onload="{fit}"></iframe>'

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything that `latlab show --format json` prints about the run."""
        return _read(call("show", str(self.path), "--format", "json", "--out", str(self.path.parent)))

    @property
    def id(self) -> str:
        """Its id, which is the name of its folder."""
        return str(self.document["id"])

    @property
    def name(self) -> str:
        """Its given name."""
        return str(self.plan["name"])

    @property
    def note(self) -> str | None:
        """Its given note."""
        note: str | None = self.plan["note"]
        return note

    @property
    def started(self) -> datetime:
        """Its first counted release, in UTC to the microsecond."""
        return datetime.fromisoformat(self.document["started"])

    @property
    def start_ns(self) -> int:
        """Its first counted release, in ns of CLOCK_MONOTONIC; subtract it from a `release_ns`."""
        return min(thread.first_release_ns for thread in self.threads)

    @property
    def measured_ns(self) -> int:
        """From the first counted release to the end of the last interval, in ns."""
        return int(self.document["measured_ns"])

    @property
    def ended(self) -> str:
        """Why it ended: `finished`, `interrupted` or another reason."""
        return str(self.document["ended"])

    @property
    def verdict(self) -> Verdict | None:
        """The judgement; None without a deadline."""
        verdict = self.document["verdict"]
        return Verdict.read(verdict) if verdict else None

    @property
    def deadline_ns(self) -> int | None:
        """The deadline, in ns."""
        deadline: int | None = self.plan["until"]["deadline_ns"]
        return deadline

    @cached_property
    def total(self) -> Summary:
        """The figures of all threads together."""
        return Summary.read(self.document["total"])

    @cached_property
    def threads(self) -> list[Thread]:
        """The measuring threads with their figures."""
        return [Thread.read(thread) for thread in self.document["threads"]]

    @property
    def cycles(self) -> int:
        """Latencies that were recorded."""
        return self.total.cycles

    @property
    def overruns(self) -> int | None:
        """Overruns of all threads."""
        return self.total.overruns

    @property
    def misses(self) -> int | None:
        """Deadline misses of all threads; None without a deadline."""
        return self.total.misses

    @property
    def min_ns(self) -> int | None:
        """Smallest latency, in ns."""
        return self.total.min_ns

    @property
    def mean_ns(self) -> float | None:
        """Mean latency, in ns."""
        return self.total.mean_ns

    @property
    def max_ns(self) -> int | None:
        """Observed maximum, in ns."""
        return self.total.max_ns

    @property
    def maxima(self) -> dict[int, int | None]:
        """Observed maximum of each thread by its number, in ns."""
        return {thread.number: thread.summary.max_ns for thread in self.threads}

    @property
    def quantiles(self) -> dict[str, int]:
        """Quantiles of all threads in ns, by name ("p50" to "p99.999"), as far as the number of cycles allows."""
        return dict(self.total.quantiles)

    @cached_property
    def findings(self) -> list[Finding]:
        """What a reader must know, most severe first."""
        return [Finding.read(finding) for finding in self.document["findings"]]

    @property
    def largest(self) -> list[dict[str, Any]]:
        """The ten largest latencies with what is known about their moments, largest first."""
        return list(self.document["largest"])

    @property
    def machine(self) -> dict[str, Any]:
        """The machine: kernel, CPUs, command line and more."""
        return dict(self.document["machine"])

    @property
    def plan(self) -> dict[str, Any]:
        """What was asked for."""
        return dict(self.document["asked"])

    @property
    def conditions(self) -> dict[str, Any] | None:
        """Temperature, frequency, load and more as figures of the whole run; None if they were not read."""
        conditions: dict[str, Any] | None = self.document["conditions"]
        return conditions

    @property
    def diagnoses(self) -> list[dict[str, Any]]:
        """Settings of the machine that cost latency, most severe first."""
        return list(self.document["doctor"] or [])

    @property
    def losses(self) -> dict[str, int]:
        """What was lost, counted by kind; all zero in a good run."""
        return dict(self.document["losses"])

    @property
    def samples(self) -> Table:
        """Every latency with its release, if the run has stored them: thread, cpu, release_ns, latency_ns,
        and latency_ps for captures with picoseconds."""
        return self._table("samples")

    @property
    def histogram(self) -> Table:
        """The bins of each thread: thread, cpu, low_ns, high_ns, count."""
        return self._table("histogram")

    @property
    def intervals(self) -> Table:
        """Each second of each thread: start_ns, end_ns, count, overruns, misses, min, mean, quantiles, max in ns."""
        return self._table("intervals")

    @property
    def telemetry(self) -> Table:
        """Readings of the machine: time_ns, metric, subject, unit, kind, value."""
        return self._table("telemetry")

    @property
    def spikes(self) -> Table:
        """The largest latencies of each thread: release_ns, latency_ns and, with a breakdown, irq_ns and thread_ns."""
        return self._table("spikes")

    @property
    def clocks(self) -> Table:
        """The clocks of the machine, read together: monotonic_ns, boottime_ns, realtime_ns, tai_ns."""
        return self._table("clocks")

    @property
    def breakdown(self) -> Table:
        """The bins of each part of each thread's breakdown, if recorded: part, low_ns, high_ns, count."""
        return self._table("breakdown")

    @property
    def trace(self) -> Table:
        """The events of the kernel's trace, if a breakdown was recorded: time_ns, event, release_ns, lost."""
        return self._table("trace")

    def _table(self, name: str) -> Table:
        return Table(self.path, name, self.document["files"].get(f"{name}.parquet"))


def open(path: str | os.PathLike[str] = "last") -> Run:
    """A stored run: its folder, or a folder of runs followed by `last`, a name or a part of an id ("runs/last").

    A name alone is searched in $LATLAB_RUNS, else in `runs`.
    """
    path = Path(path)
    if path.name == "run.json":
        path = path.parent
    if path.is_dir():
        if (path / "campaign.json").exists():
            raise LatlabError(f"{path} is a campaign: latlab.runs({str(path)!r}) has its runs")
        if not (path / "run.json").exists():
            raise LatlabError(f"{path} is no run, since it has no run.json; of a folder of runs open '{path}/last'")
        run = Run(path)
        run.document
        return run
    folder = path.parent if len(path.parts) > 1 else runs_folder()
    if not folder.is_dir():
        raise LatlabError(f"no run {str(path)!r}: there is no folder {str(folder)!r}")
    document = _read(call("show", path.name, "--format", "json", "--out", str(folder)))
    return Run(_folder_of(folder, document), document)


def _folder_of(folder: Path, document: dict[str, Any]) -> Path:
    """The folder of a run that the program found in a folder of runs, or in a campaign there."""
    id = str(document.get("id"))
    for path in folder / id, *folder.glob(f"*/runs/{id}"):
        if (path / "run.json").exists():
            return path
    raise LatlabError(f"{folder / id} is a campaign: latlab.runs({str(folder / id)!r}) has its runs")


def runs(folder: str | os.PathLike[str] | None = None) -> list[Run]:
    """The finished runs of a folder or of a campaign, newest first; a warning names each that is left out."""
    folder = runs_folder() if folder is None else Path(folder)
    if (folder / "campaign.json").exists():
        folder = folder / "runs"
    if not folder.is_dir():
        raise LatlabError(f"no folder {str(folder)!r}")
    entries: list[dict[str, Any]] = json.loads(call("list", "--format", "json", "--out", str(folder)))
    for entry in entries:
        if entry["state"] != "finished":
            reason = entry.get("reason", entry["state"])
            warnings.warn(f"{entry['id']} is left out: {reason}", stacklevel=2)
    return [Run(Path(entry["path"])) for entry in entries if entry["state"] == "finished"]


def run(**options: Option) -> Run:
    """Measures and returns the run: options are those of `latlab run`, such as `for_="60s"` for `--for 60s`.

    It ends after `for_` or `cycles`, or when interrupted: then KeyboardInterrupt names the stored run. If nothing
    could be measured, LatlabError has the message and the exit code of the program.
    """
    folder = Path(str(options.get("out") or runs_folder()))
    before = _names(folder)
    try:
        printed = call(
            "run", *_arguments({**options, "quiet": True, "format": "json", "out": str(folder)}), allowed=_STORED
        )
    except KeyboardInterrupt as interrupt:
        stored = [str(folder / name) for name in sorted(_names(folder) - before)]
        raise KeyboardInterrupt(f"stored in {', '.join(stored)}" if stored else "nothing was stored") from interrupt
    document = _read(printed)
    return Run(folder / document["id"], document)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("[!.]*")}


def _arguments(options: dict[str, Option]) -> Iterable[str]:
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            yield flag
        elif value is not None and value is not False:
            values = [value] if isinstance(value, (str, int, float)) else value
            yield from (f"{flag}={one}" for one in values)


def _read(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    return document
