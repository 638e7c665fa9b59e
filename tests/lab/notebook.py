#!/usr/bin/env python3
"""Executes the cells of a notebook, as Jupyter does. Usage: tests/lab/notebook.py [--write] NOTEBOOK

Fails if a cell fails, or if its output differs from that in the notebook; a cell with the tag `varies` need only
succeed. --write stores the output in the notebook.
"""

import ast
import contextlib
import io
import json
import os
import pathlib
import sys


def execute(source, names):
    """The output of a cell, and the value of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


def outputs_of(printed, value, number):
    outputs = []
    if printed:
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def texts(outputs):
    return ["".join(one["text"] if one["output_type"] == "stream" else one["data"]["text/plain"]) for one in outputs]


def main():
    writes = sys.argv[1] == "--write"
    path = pathlib.Path(sys.argv[-1]).resolve()
    notebook = json.loads(path.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    os.chdir(path.parent)
    names, wrong = {"__name__": "__main__"}, 0
    for number, cell in enumerate(cells, 1):
        found = outputs_of(*execute("".join(cell["source"]), names), number)
        varies = "varies" in cell["metadata"].get("tags", [])
        if not writes and not varies and texts(found) != texts(cell["outputs"]):
            wrong += 1
            print(f"cell {number} prints:\n{texts(found)}\nThe notebook has:\n{texts(cell['outputs'])}")
        cell.update(outputs=found, execution_count=number)
    if writes:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(cells)} cells, {wrong} with another output")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
