"""Prints the shell code of a pipeline's file, as its system would run it: `pipeline.py action FILE INPUT=VALUE...` the
steps of a composite action, `pipeline.py gitlab FILE` those of the job .latlab. What only the vendor's machines can do
(caches, uploads) is printed as a comment."""

import re
import shlex
import sys

from ruamel.yaml import YAML


def action(document, given):
    inputs = {name: str(one.get("default", "")) for name, one in document["inputs"].items()} | given
    unknown = set(given) - set(document["inputs"])
    if unknown:
        sys.exit(f"the action has no input {', '.join(unknown)}")

    def filled(text):
        text = re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)
        return re.sub(r"\$\{\{ inputs\.releases \|\| .*?\}\}$", inputs["releases"], text)

    for step in document["runs"]["steps"]:
        if "run" not in step:
            print(f"# {step['uses']}")
            continue
        # Conditions are in the vendor's language; only those that name an input are evaluated here.
        if step.get("if") == "inputs.program == ''" and inputs["program"]:
            continue
        words = [f"{name}={shlex.quote(filled(str(value)))}" for name, value in step.get("env", {}).items()]
        if any("${{" in word for word in words) or "${{" in step["run"]:
            sys.exit(f"cannot fill in {step}")
        print(" ".join(["env", *words, step["shell"], "-e", "-c", shlex.quote(step["run"])]), "|| exit $?")


def gitlab(document):
    job = document[".latlab"]
    for line in [*job["script"], *job["after_script"]]:
        print(f"{{ {line}; }} || exit $?")


kind, file, *words = sys.argv[1:]
with open(file) as text:
    document = YAML(typ="safe").load(text)
if kind == "action":
    action(document, dict(word.split("=", 1) for word in words))
else:
    gitlab(document)
