"""Whether a Python expression holds for the JSON document in a file: holds.py FILE NAMES EXPRESSION

The document is `run` there. NAMES is Python that defines names for its parts.
"""

import json
import sys

file, names, expression = sys.argv[1:4]
run = json.load(open(file))
# Everything is global, so that comprehensions see it.
exec(names)
if not eval(f"({expression})"):
    found = [finding["code"] for finding in run.get("findings", [])]
    sys.exit(f"not so: {expression}\nfindings: {found}\n{json.dumps(run)[:3000]}")
