"""Run folders: where they are, and which run each of them holds."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from latlab.program import LatlabError

# A campaign in a folder of runs has its runs one level further down.
_DEEPEST = 4
# How `run.json` ends, in which the seal is the SHA-256 of all before it.
_SEAL = re.compile(rb'\n  "seal": "([0-9a-f]{64})"\n}\n\Z')
_SEAL_ROOM = 100


def find_runs(folders: Iterable[Path]) -> Iterator[Path]:
    """The run folders at and below these, each once, in the order of their names."""
    seen: set[Path] = set()
    for folder in folders:
        if not folder.is_dir():
            raise LatlabError(f"no folder {str(folder)!r}", 2)
        for run in _below(folder.resolve(), 0):
            if run not in seen:
                seen.add(run)
                yield run


def _below(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = {entry.name: entry.is_dir() for entry in entries}
    except OSError as error:
        raise LatlabError(f"cannot read {folder}: {error.strerror}", 3) from error
    if "run.json" in names:
        yield folder
        return
    if depth < _DEEPEST:
        # What begins with a dot is not finished.
        for name in sorted(name for name, is_folder in names.items() if is_folder and not name.startswith(".")):
            yield from _below(folder / name, depth + 1)


def seal_of(folder: Path) -> str | None:
    """The seal that the document of a run bears, unchecked; None of the first versions, which had none."""
    try:
        with open(folder / "run.json", "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _SEAL_ROOM))
            found = _SEAL.search(file.read())
    except OSError:
        return None
    return found[1].decode() if found else None
