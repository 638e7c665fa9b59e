"""Checks of boards: campaigns and places of labgrid."""

import json
import re
import socket
import sys
import time


def table(expression):
    """That an expression holds for the table of a campaign, with the runs of each board."""
    table = json.load(open("table.json"))["table"]
    rows = {row["target"]: row for row in table["rows"]}
    made = {name: sum(cell["state"] == "done" for cell in row["cells"]) for name, row in rows.items()}
    assert eval(f"({expression})", locals()), (made, {name: row["verdict"] for name, row in rows.items()})


def at_once():
    """Prints the largest number of concurrent runs."""
    now = most = 0
    for line in open("lines"):
        if re.match(r"run \d+ of", line):
            now += -1 if ": observed maximum" in line else 1
            most = max(most, now)
        elif "nothing measured" in line:
            now -= 1
    print(most)


def attempts(expression):
    """That an expression holds for the attempts at each board."""
    rows = {row["target"]: row for row in json.load(open("table.json"))["table"]["rows"]}
    cell = {name: row["cells"][0] for name, row in rows.items()}
    tries = {name: [(one["attempt"], one["run"] is not None, one["reason"]) for one in cell[name]["attempts"]]
             for name in cell}
    verdict = {name: row["verdict"] for name, row in rows.items()}
    assert eval(f"({expression})", locals()), (tries, verdict, cell)


def none_failed():
    """That no attempt at a run counts as failed."""
    for row in json.load(open("table.json"))["table"]["rows"]:
        for cell in row["cells"]:
            reasons = {one["reason"] for one in cell["attempts"]}
            assert reasons <= {None, "latlab was killed, or its disk was full"}, cell


def same_as_local(runs, *documents):
    """That a run on the board has the method, the settings and the tables of a local one."""
    import pyarrow.parquet
    local, board = (json.load(open(name)) for name in documents)
    assert local["machine"] == board["machine"], (local["machine"], board["machine"])
    own = {"seed": 0, "name": 0}
    asked = [{**run["asked"], **own, "on": {**run["asked"]["on"], "target": 0}} for run in (local, board)]
    assert asked[0] == asked[1], board["asked"]
    settings = lambda run: [{key: one[key] for key in ("name", "asked", "applied") if key in one}
                            for one in run["applied"]["settings"] if one["what"] != "ssh server"]
    assert settings(local) == settings(board), (settings(local), settings(board))
    assert set(local["files"]) == set(board["files"]), board["files"]
    for run in local, board:
        bins = pyarrow.parquet.read_table(f"{runs}/{run['id']}/histogram.parquet").to_pylist()
        assert sum(one["count"] for one in bins) == run["total"]["cycles"] >= 1000, (run["id"], bins)


def place(port):
    """That a run has the place of labgrid with its tags and its board."""
    asked = json.load(open("run.json"))["asked"]
    assert asked["on"]["target"] == "labgrid:board-a", asked["on"]["target"]
    place = asked["on"]["place"]
    assert place["name"] == "board-a" and place["tags"] == {"arch": "any", "board": "a"}, place
    assert place["board"].endswith(f"@127.0.0.1:{port}"), place


def collected(document):
    """Prints the folder of the only collected run."""
    [one] = json.load(open(document))
    print(one["path"])


def measured(document):
    """Prints how much of a run was measured."""
    run = json.load(open(document))
    print(run["total"]["cycles"], "cycles, measured in", run["measured_ns"] / 1e9, "s")


def same_findings(*documents):
    """That two doctors found the same, and not nothing."""
    one, other = ({finding["code"] for finding in json.load(open(name))["findings"]} for name in documents)
    assert one and one == other, one ^ other


def say_nothing():
    """Accepts connections on a port, which it prints, and sends nothing."""
    one = socket.create_server(("127.0.0.1", 0))
    print(one.getsockname()[1], flush=True)
    time.sleep(600)


def first_is_done():
    """That the first board of a campaign was measured."""
    rows = {row["target"]: row for row in json.load(open("table.json"))["table"]["rows"]}
    assert [cell["state"] for cell in rows["first"]["cells"]] == ["done"], rows


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
