"""Runs of latlab, the real-time Linux latency laboratory: started, read, and as pandas or Polars frames.

Times are integers of nanoseconds and end in `_ns`.
"""

from latlab.figures import Finding, Summary, Thread, Verdict
from latlab.frames import Table
from latlab.program import LatlabError
from latlab.runs import Run, open, run, runs

__all__ = ["Finding", "LatlabError", "Run", "Summary", "Table", "Thread", "Verdict", "open", "run", "runs"]
