#!/usr/bin/env python3
"""Prints the crates of Cargo.lock for a Yocto recipe.

Usage: packaging/yocto/crates.py >packaging/yocto/recipes-benchmark/latlab/latlab-crates.inc
"""

import pathlib
import tomllib

root = pathlib.Path(__file__).parents[2]
packages = tomllib.loads((root / "Cargo.lock").read_text())["package"]
crates = [one for one in packages if "source" in one]
print("# From Cargo.lock, by packaging/yocto/crates.py.\n")
print('SRC_URI += " \\')
for one in crates:
    print(f"    crate://crates.io/{one['name']}/{one['version']} \\")
print('"\n')
for one in crates:
    print(f'SRC_URI[{one["name"]}-{one["version"]}.sha256sum] = "{one["checksum"]}"')
