#!/usr/bin/env python3
"""Checks the crates that are used against deny.toml: licences, sources, wildcard versions.

The rules are those of cargo-deny, as far as Cargo's metadata allow; what is not checked is
printed as skipped. `scripts/checks.bash` also runs cargo-deny itself if it is installed.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def built_in(targets):
    """The crates built for these targets, as {(name, version): licence}, without those of tests.

    From `cargo tree`, since `cargo metadata` includes features that none of our targets has.
    """
    found = {}
    for target in targets:
        lines = output("cargo", "tree", "--workspace", "--locked", "--target", target,
                       "--edges", "normal,build", "--prefix", "none", "--format", "{p}|{l}")
        for line in filter(None, lines.splitlines()):
            package, licence = line.split("|")
            name, version = package.split()[:2]
            found[name, version.removeprefix("v")] = licence.removesuffix(" (*)")
    return found


def allowed(expression, allow):
    """Whether an SPDX expression can be met with these licences."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def either():
        value = both()
        while words and words[0] == "OR":
            words.pop(0)
            value = both() or value
        return value

    def both():
        value = one()
        while words and words[0] == "AND":
            words.pop(0)
            value = one() and value
        return value

    def one():
        word = words.pop(0)
        if word == "(":
            value = either()
            if not words or words.pop(0) != ")":
                raise ValueError(expression)
            return value
        if words and words[0] == "WITH":
            words.pop(0)
            word = f"{word} WITH {words.pop(0)}"
        return word in allow

    try:
        value = either()
    except IndexError:
        raise ValueError(expression) from None
    if words:
        raise ValueError(expression)
    return value


def faults(crates, locked, manifests, rules):
    """The violations of the rules, a sentence each."""
    allow = set(rules["licenses"]["allow"])
    clarified = {one["crate"]: one["expression"] for one in rules["licenses"].get("clarify", [])}
    for one in locked:
        # A crate without a source is part of the workspace.
        if one.get("source", REGISTRY) != REGISTRY:
            yield f"{one['name']} comes from {one['source']}: only crates.io is allowed"
    for package in manifests:
        for other in package["dependencies"]:
            if other["req"] == "*" and not other.get("path"):
                yield f"{package['name']} takes any version of {other['name']}: name one"
    ours = {package["name"] for package in manifests}
    for (name, version), licence in crates.items():
        expression = clarified.get(name, licence)
        try:
            if name not in ours and not (expression and allowed(expression, allow)):
                yield (f"{name} {version} is under {expression or 'no licence that it names'}: "
                       "deny.toml does not allow that")
        except ValueError:
            yield f"{name} {version} is under '{expression}', which is no SPDX expression"


def test():
    """Tests the reading of expressions, since a check that sees nothing would pass."""
    allow = {"MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"}
    for expression, expected in {
        "MIT": True, "GPL-3.0": False, "GPL-3.0 OR MIT": True, "GPL-3.0 AND MIT": False,
        "MIT/GPL-3.0": True, "(GPL-3.0 OR MIT) AND Zlib": True, "GPL-3.0 OR MIT AND BSL-1.0": False,
        "Apache-2.0 WITH LLVM-exception": True, "Apache-2.0": False,
    }.items():
        assert allowed(expression, allow) == expected, expression


def main():
    test()
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    crates = built_in(rules["graph"]["targets"])
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    metadata = output("cargo", "metadata", "--locked", "--no-deps", "--format-version", "1")
    wrong = sorted(set(faults(crates, locked, json.loads(metadata)["packages"], rules)))
    for sentence in wrong:
        print(sentence)
    print(f"{len(crates)} crates: licences, sources and versions {'are against' if wrong else 'fit'} deny.toml")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
