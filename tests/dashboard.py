"""Checks the dashboard of Grafana by Grafana's own types, and prints its queries: dashboard.py FILE.

Each field must be one that the types know, with a value that they keep: what is written again is what was read.
"""
import json, re, sys
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

register_default_plugins()
board = json.load(open(sys.argv[1]))
again = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))


def lost(read, written, place):
    """The places of what the types do not know or do not keep."""
    if isinstance(read, dict) and isinstance(written, dict):
        for name, value in read.items():
            if name in written:
                yield from lost(value, written[name], f"{place}.{name}")
            # What is empty, or what the types leave out because it is the default, need not come back.
            elif value not in (None, "", [], {}, False, 0):
                yield f"{place}.{name} is not known"
    elif isinstance(read, list) and isinstance(written, list):
        if len(read) != len(written):
            yield f"{place}: {len(written)} of {len(read)} are left"
        for at, (one, other) in enumerate(zip(read, written)):
            yield from lost(one, other, f"{place}[{at}]")
    elif read != written:
        yield f"{place}: {read!r} became {written!r}"


wrong = list(lost(board, again, "dashboard"))
ids = [panel["id"] for panel in board["panels"]]
wrong += [f"panel {one} is there twice" for one in set(ids) if ids.count(one) > 1]
cells = [(x, y) for panel in board["panels"] for place in [panel["gridPos"]]
         for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]
if len(set(cells)) != len(cells) or any(x >= 24 for x, _ in cells):
    wrong.append("panels lie over each other")
if wrong:
    sys.exit("\n".join(wrong))
for panel in board["panels"]:
    for target in panel["targets"]:
        print(re.sub(r"\$(board|scenario)", ".*", target["expr"]))
