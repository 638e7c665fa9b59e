"""The figures of a run, as `latlab show --format json` prints them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Summary:
    """The figures of one measuring thread, or of all together; None for a figure that does not exist."""

    cycles: int
    """Latencies that were recorded."""
    releases: int
    """Releases that were due: cycles and overruns."""
    overruns: int | None
    """Overruns: releases that passed while the thread was still late."""
    misses: int | None
    """Deadline misses; None without a deadline."""
    min_ns: int | None
    """Smallest latency, in ns."""
    mean_ns: float | None
    """Mean latency, in ns."""
    max_ns: int | None
    """Observed maximum, in ns."""
    max_at_ns: int | None
    """Release of the observed maximum, in ns of CLOCK_MONOTONIC."""
    quantiles: Mapping[str, int]
    """Quantiles in ns by name ("p50" to "p99.999"), without those for which there were too few cycles, and those
    above `above_ns`."""
    above_ns: int | None = None
    """Where the bins of an imported histogram end, in ns; absent quantiles with enough cycles lie above it."""
    max_is_at_least: bool = False
    """Whether latencies may be missing, so that the true maximum may be larger."""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        quantiles = dict(document["quantiles"] or {})
        above_ns = quantiles.pop("above_ns", None)
        names = {name.removesuffix("_ns").replace("_", "."): value for name, value in quantiles.items()}
        return cls(
            cycles=document["cycles"],
            releases=document["releases"],
            overruns=document["overruns"],
            misses=document["misses"],
            min_ns=document["min_ns"],
            mean_ns=document["mean_ns"],
            max_ns=document["max_ns"],
            max_at_ns=document["max_at_ns"],
            quantiles={name: value for name, value in names.items() if value is not None},
            above_ns=above_ns,
            max_is_at_least=document.get("max_is_at_least", False),
        )


@dataclass(frozen=True)
class Thread:
    """One measuring thread with its figures."""

    number: int
    """Its number, as in the column `thread` of every table."""
    cpu: int | None
    """The CPU that it was pinned to."""
    policy: str
    """Its scheduling policy as it was read back."""
    period_ns: int | None
    """Time between two releases, in ns."""
    first_release_ns: int
    """Its first counted release, in ns of CLOCK_MONOTONIC."""
    summary: Summary
    """Its figures."""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        setup = document["setup"]
        return cls(
            number=setup["thread"],
            cpu=setup["cpu"],
            policy=setup["policy"],
            period_ns=setup["period_ns"],
            first_release_ns=setup["first_release_ns"],
            summary=Summary.read(document["summary"]),
        )


@dataclass(frozen=True)
class Verdict:
    """The judgement of a run against its deadline."""

    word: str
    """`pass`, `fail`, `inconclusive` or `invalid`."""
    sentence: str
    """The judgement with its figures."""
    deadline_ns: int
    """The deadline, in ns."""
    at_most_share: float | None
    """Bound on the share of releases that miss, with 95 % confidence, from 0 to 1."""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        return cls(
            word=document["word"],
            sentence=document["sentence"],
            deadline_ns=document["deadline_ns"],
            at_most_share=document["at_most_share"],
        )


@dataclass(frozen=True)
class Finding:
    """Something that a reader of the run must know."""

    code: str
    """Its code, as in the reference of findings."""
    severity: str
    """`error`, `warning` or `info`."""
    text: str
    """The finding in a sentence."""
    remedy: str | None
    """What to do about it."""
    at_ns: int | None
    """When it was found, in ns of CLOCK_MONOTONIC."""
    thread: int | None
    """Number of the measuring thread that it concerns."""
    effect: str
    """Its effect on the verdict: `none`, `no-pass` (latencies may be missing) or `invalid`."""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        return cls(
            code=document["code"],
            severity=document["severity"],
            text=document["text"],
            remedy=document.get("remedy"),
            at_ns=document["at_ns"],
            thread=document["thread"],
            effect=document["effect"],
        )
