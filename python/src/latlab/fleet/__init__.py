"""Many boards, many runs: Delta tables made of run folders, and queries over them.

`latlab fleet` calls this; a program of your own can as well:

    import latlab.fleet
    fleet = latlab.fleet.Fleet("fleet")
    fleet.add([pathlib.Path("runs")])
    latlab.fleet.ask(fleet, "board-tail").records()
"""

from latlab.fleet.query import QUERIES, Answer, Selection, ask, sql_of
from latlab.fleet.table import Added, Fleet, Verified

__all__ = ["QUERIES", "Added", "Answer", "Fleet", "Selection", "Verified", "ask", "sql_of"]
