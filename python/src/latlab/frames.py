"""The tables of a run folder as frames."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from latlab.program import LatlabError

if TYPE_CHECKING:
    import pandas
    import polars

Frame = Literal["pandas", "polars"]

# The options that a run needs to have one of these tables.
_NEEDS = {
    "samples": "measure with samples=True",
    "breakdown": "measure with breakdown=True",
    "trace": "measure with breakdown=True",
}


class Table:
    """A table of a run: `run.samples()` reads it into a frame, each column as stored."""

    def __init__(self, folder: Path, name: str, stored: Mapping[str, str | int] | None) -> None:
        self.path = folder / f"{name}.parquet"
        """Its file, in Parquet."""
        self._name, self._folder, self._stored = name, folder, stored

    def __repr__(self) -> str:
        return f"<latlab.Table {self.path}>" if self.is_stored else f"<latlab.Table {self.path}: not stored>"

    @property
    def is_stored(self) -> bool:
        """Whether the run has it: not every run has samples, telemetry, a breakdown and a trace."""
        return self._stored is not None

    @overload
    def __call__(self, frame: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def __call__(self, frame: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def __call__(self, frame: None = None) -> Any: ...

    def __call__(self, frame: Frame | None = None) -> Any:
        """A frame of pandas or Polars; of pandas if neither is named and both are installed."""
        data = io.BytesIO(self._read())
        return _read_with_polars(data) if _choose(frame) == "polars" else _read_with_pandas(data)

    def notes(self) -> dict[str, Any]:
        """Metadata of the file: `coarse_edges_ns` of the intervals are the bins of `coarse`, in ns."""
        data = io.BytesIO(self._read())
        if _choose(None) == "polars":
            import polars

            notes: dict[str, str] = polars.read_parquet_metadata(data)
        else:
            import pyarrow.parquet

            stored = pyarrow.parquet.read_schema(data).metadata or {}
            notes = {name.decode(): value.decode() for name, value in stored.items()}
        return {name: json.loads(text) for name, text in notes.items() if not name.startswith("ARROW:")}

    def _read(self) -> bytes:
        """The file, verified to be the one that the run stored."""
        if self._stored is None:
            needs = _NEEDS.get(self._name)
            raise LatlabError(f"{self._folder} has no {self._name}" + (f": {needs}" if needs else ""))
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise LatlabError(f"cannot read {self.path}: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != self._stored["sha256"]:
            raise LatlabError(f"{self.path} was changed after it was stored; check all files with `latlab verify`")
        return data


def _choose(frame: Frame | None) -> Frame:
    has_pandas = find_spec("pandas") is not None and find_spec("pyarrow") is not None
    has_polars = find_spec("polars") is not None
    if frame not in ("pandas", "polars", None):
        raise LatlabError(f"no frame {frame!r}: there are 'pandas' and 'polars'")
    if has_pandas and frame != "polars":
        return "pandas"
    if has_polars and frame != "pandas":
        return "polars"
    missing = "polars" if frame == "polars" else "pandas pyarrow"
    raise LatlabError(f"no {missing.replace(' ', ' and ')} here: pip install {missing}")


def _read_with_polars(data: io.BytesIO) -> polars.DataFrame:
    import polars

    return polars.read_parquet(data)


def _read_with_pandas(data: io.BytesIO) -> pandas.DataFrame:
    import pandas
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(data)
    frame: pandas.DataFrame = table.to_pandas()
    # A float cannot hold all 64-bit integers, so nullable columns need another type.
    nullable = {pyarrow.int32(): pandas.Int32Dtype(), pyarrow.int64(): pandas.Int64Dtype()}
    missing = [field.name for field in table.schema if field.nullable and field.type in nullable]
    if missing:
        frame[missing] = table.select(missing).to_pandas(types_mapper=nullable.get)
    return frame
