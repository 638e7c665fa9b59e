"""`latlab fleet`: the program parses the command line and starts this with the request as JSON."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from latlab.fleet.engine import first_line
from latlab.fleet.query import Selection, ask
from latlab.fleet.table import Added, Fleet, watch
from latlab.program import LatlabError

# Exit codes of the program.
_DONE, _DAMAGED, _CANNOT = 0, 1, 3
# What delta-rs puts before each cause of an error.
_ARROW = "\N{DOWNWARDS ARROW WITH TIP RIGHTWARDS}"


def main(request: str) -> int:
    """Executes a request; returns the exit code."""
    asked: dict[str, Any] = json.loads(request)
    _keep_stderr()
    try:
        return _COMMANDS[asked["command"]](Fleet(asked["table"]), asked)
    except LatlabError as error:
        print(f"latlab: {error}", file=sys.stderr)
        return error.exit_code or _CANNOT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # A closed pipe is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _DONE
    except Exception as error:
        # Errors of the libraries, such as a full disk or a missing file.
        print(f"latlab: {_causes(error)}", file=sys.stderr)
        return _CANNOT


def _causes(error: Exception) -> str:
    """The first line of an error, and the causes that delta-rs lists below it after coloured arrows, in one line."""
    causes = [line.partition(_ARROW)[2] for line in str(error).splitlines() if _ARROW in line]
    return ": ".join([first_line(error), *(cause.removeprefix("\x1b[0m").strip() for cause in causes)])


def _keep_stderr() -> None:
    """Reserves standard error for our messages: on a full disk threads of the libraries panic one after the other."""
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    os.dup2(os.memfd_create("stderr"), 2)


def _add(fleet: Fleet, asked: dict[str, Any]) -> int:
    folders = [Path(folder) for folder in asked["folders"]]
    tags = " ".join(sorted(asked["tags"]))
    if asked["watch_s"] is not None:
        watch(fleet, folders, asked["board"], tags, asked["watch_s"], _say)
    done = fleet.add(folders, asked["board"], tags)
    if done == Added():
        raise LatlabError(f"no run in {', '.join(asked['folders'])}", 2)
    _say(done)
    return _DAMAGED if done.left_out else _DONE


def _say(done: Added) -> None:
    for folder, reason in done.left_out:
        print(f"latlab: {folder} is left out: {reason}", file=sys.stderr)
    parts = [f"{_runs(done.added)} added"]
    if done.known:
        parts.append(f"{done.known} in the table already")
    if done.left_out:
        parts.append(f"{len(done.left_out)} left out")
    print(", ".join(parts), flush=True)


def _runs(number: int) -> str:
    return f"{number} run{'' if number == 1 else 's'}"


def _query(fleet: Fleet, asked: dict[str, Any]) -> int:
    query = asked["query"] if asked["sql"] is None else Path(asked["sql"])
    selection = Selection(asked["boards"], asked["scenarios"], asked["since"], asked["until"])
    answer = ask(fleet, query, asked["engine"], selection, asked["master"])
    answer.print(asked["format"], asked["output"])
    return _DONE


def _compact(fleet: Fleet, asked: dict[str, Any]) -> int:
    before, after = fleet.compact()
    print(f"{before} files became {after}")
    return _DONE


def _vacuum(fleet: Fleet, asked: dict[str, Any]) -> int:
    print(f"{fleet.vacuum(asked['keep_hours'])} files deleted")
    return _DONE


def _rebuild(fleet: Fleet, asked: dict[str, Any]) -> int:
    done = fleet.rebuild([Path(folder) for folder in asked["folders"]], asked["without_missing"])
    _say(done)
    return _DAMAGED if done.left_out else _DONE


def _verify(fleet: Fleet, asked: dict[str, Any]) -> int:
    found = fleet.verify()
    for line in found.wrong:
        print(f"DAMAGED: {line}")
    for line in found.unread:
        print(f"NOT READ: {line}")
    if not found.wrong and not found.unread:
        print(f"ok, {_runs(found.runs)}")
    return _DAMAGED if found.wrong else _CANNOT if found.unread else _DONE


_COMMANDS = {
    "add": _add,
    "query": _query,
    "compact": _compact,
    "vacuum": _vacuum,
    "rebuild": _rebuild,
    "verify": _verify,
}
