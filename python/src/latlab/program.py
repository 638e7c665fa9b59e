"""Finds and calls the program `latlab`."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO


class LatlabError(Exception):
    """What went wrong in a sentence; `exit_code` is that of the program, or None if it was not started."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def find_program() -> Path:
    """The program that called this package or was installed with it, else `latlab` in PATH."""
    if caller := os.environ.get("LATLAB_PROGRAM"):
        return Path(caller)
    for path in _installed():
        if path.is_file():
            return path
    found = shutil.which("latlab")
    if found is None:
        raise LatlabError("no program latlab: it is neither in this package nor in PATH")
    return Path(found)


def _installed() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts"), "latlab")
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")), "latlab")
    # Where `pip install --target` puts it.
    yield Path(__file__).parent.parent / "bin" / "latlab"


def call(*arguments: str, allowed: Collection[int] = (0,)) -> str:
    """The output of the program; LatlabError if it is empty, or on any exit code except these."""
    command = [str(find_program()), *arguments]
    # Same process group, so that closing the terminal ends it too.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    try:
        output, errors = process.communicate()
    except KeyboardInterrupt:
        # The first signal stops a run, which is then stored; a second one does no harm.
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    return _result(process.returncode, output, errors, allowed)


def pipe(*arguments: str, given: str, into: BinaryIO | None = None) -> None:
    """Calls the program with this input; it prints into a file, or to our standard output."""
    sys.stdout.flush()
    process = subprocess.run(
        [str(find_program()), *arguments],
        input=given.encode("utf-8", "surrogateescape"),
        stdout=into,
        stderr=subprocess.PIPE,
    )
    if process.returncode != 0:
        _result(process.returncode, "", process.stderr.decode(errors="replace"), ())


def _result(code: int, output: str, errors: str, allowed: Collection[int]) -> str:
    said = [line.removeprefix("latlab: ") for line in errors.splitlines()]
    if code not in allowed or not output:
        ended = f"latlab was ended by signal {-code}" if code < 0 else f"latlab ended with exit code {code}"
        raise LatlabError("\n".join(said) or ended, code)
    for line in said:
        warnings.warn(line, stacklevel=4)
    return output


def runs_folder() -> Path:
    """The default folder of runs."""
    return Path(os.environ.get("LATLAB_RUNS") or "runs")
