"""The types that users of the package may rely on, for mypy: nothing here is executed."""

from typing import Any, assert_type

import pandas
import polars

import latlab

run = latlab.open("runs/last")
assert_type(run.samples("pandas"), pandas.DataFrame)
assert_type(run.samples("polars"), polars.DataFrame)
assert_type(run.samples(), Any)
assert_type(run.verdict, latlab.Verdict | None)
assert_type(run.max_ns, int | None)
assert_type(run.quantiles, dict[str, int])
assert_type(run.threads[0].summary.mean_ns, float | None)
assert_type(latlab.runs(), list[latlab.Run])
assert_type(latlab.run(for_="60s", cpus="2-3", samples=True, load=["hackbench", "stress-ng"]), latlab.Run)
