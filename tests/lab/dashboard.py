"""Checks the Grafana dashboard and prints its queries: dashboard.py FILE.

With `--types` it checks against Grafana's types instead: they must know each field and keep its value, so that writing
gives back what was read. Only that needs their package.
"""
import json, re, sys


def lost(read, written, place):
    """The places that the types do not know or do not keep."""
    if isinstance(read, dict) and isinstance(written, dict):
        for name, value in read.items():
            if name in written:
                yield from lost(value, written[name], f"{place}.{name}")
            # Empty values, and defaults that the types omit, need not come back.
            elif value not in (None, "", [], {}, False, 0):
                yield f"{place}.{name} is not known"
    elif isinstance(read, list) and isinstance(written, list):
        if len(read) != len(written):
            yield f"{place}: {len(written)} of {len(read)} are left"
        for at, (one, other) in enumerate(zip(read, written)):
            yield from lost(one, other, f"{place}[{at}]")
    elif read != written:
        yield f"{place}: {read!r} became {written!r}"


def again(board):
    """The dashboard, read and rewritten by the types."""
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.models.dashboard import Dashboard

    register_default_plugins()
    return json.loads(JSONEncoder().encode(Dashboard.from_json(board)))


def misplaced(panels):
    """Panels that are duplicated or overlap."""
    ids = [panel["id"] for panel in panels]
    yield from (f"panel {one} is there twice" for one in set(ids) if ids.count(one) > 1)
    cells = [(x, y) for panel in panels for place in [panel["gridPos"]]
             for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]
    if len(set(cells)) != len(cells) or any(x >= 24 for x, _ in cells):
        yield "panels lie over each other"


*types, file = sys.argv[1:]
board = json.load(open(file))
wrong = list(lost(board, again(board), "dashboard") if types else misplaced(board["panels"]))
if wrong:
    sys.exit("\n".join(wrong))
if not types:
    for panel in board["panels"]:
        for target in panel["targets"]:
            print(re.sub(r"\$(board|scenario)", ".*", target["expr"]))
