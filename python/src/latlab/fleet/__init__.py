"""Many boards, many runs: Delta tables built from run folders, and queries on them.

`latlab fleet` calls this; your program can as well:

    import latlab.fleet
    fleet = latlab.fleet.Fleet("fleet")
    fleet.add([pathlib.Path("runs")])
    latlab.fleet.ask(fleet, "board-tail").records()
"""

from latlab.fleet.query import QUERIES, Answer, Selection, ask, sql_of
from latlab.fleet.table import Added, Fleet, Verified

__all__ = ["QUERIES", "Added", "Answer", "Fleet", "Selection", "Verified", "ask", "sql_of"]
