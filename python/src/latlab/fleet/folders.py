"""Finds run folders, and identifies the run in each."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from latlab.program import LatlabError

# The runs of a campaign in a folder of runs are one level further down.
_DEEPEST = 4
# The end of `run.json`: its checksum, the SHA-256 of everything before it.
_CHECKSUM = re.compile(rb'\n  "checksum": "([0-9a-f]{64})"\n}\n\Z')
_SEAL_ROOM = 100


def find_runs(folders: Iterable[Path]) -> Iterator[Path]:
    """The run folders at and below these, each once, sorted by name.

    Unreadable folders below them are included: reading them tells why.
    """
    seen: set[Path] = set()
    for folder in folders:
        if not folder.is_dir():
            raise LatlabError(f"no folder {str(folder)!r}", 2)
        yield from _below(folder.resolve(), 0, seen)


def _below(folder: Path, depth: int, seen: set[Path]) -> Iterator[Path]:
    # Links may lead back.
    if folder in seen:
        return
    try:
        with os.scandir(folder) as entries:
            names = {entry.name: _is_folder(entry) for entry in entries}
    except FileNotFoundError:
        return
    except OSError as error:
        if depth == 0:
            raise LatlabError(f"cannot read {folder}: {error.strerror}", 3) from error
        names = {"run.json": False}
    if "run.json" in names:
        seen.add(folder)
        yield folder
    elif depth < _DEEPEST:
        seen.add(folder)
        # A folder that begins with a dot is unfinished.
        for name in sorted(name for name, is_folder in names.items() if is_folder and not name.startswith(".")):
            yield from _below((folder / name).resolve(), depth + 1, seen)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A loop of links.
        return False


def checksum_of(folder: Path) -> str | None:
    """The checksum in the document of a run, unverified; None if it cannot be read."""
    try:
        # Do not wait for the writer of a pipe, nor read a device.
        with open(os.open(folder / "run.json", os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _SEAL_ROOM))
            found = _CHECKSUM.search(file.read())
    except OSError:
        return None
    return found[1].decode() if found else None
