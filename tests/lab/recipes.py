"""Recipes for other systems, read by parsers of their languages."""

import hashlib
import pathlib
import re
import sys
import tempfile


def recipe(file):
    """That the Yocto recipe has the crates and the checksums of the licences."""
    from oelint_parser.cls_stash import Stash
    from oelint_parser.cls_item import Function, Variable
    stash = Stash(quiet=True)
    stash.AddFile(file)
    stash.Finalize()
    items = stash.GetItemsFor(filename=file)
    values = {}
    for item in items:
        if isinstance(item, Variable):
            values.setdefault(item.VarName, []).append(item.VarValueStripped)
    functions = [item.FuncName for item in items if isinstance(item, Function)]
    assert any(name.startswith("do_install") for name in functions), f"no do_install in {functions}"
    assert "crate://crates.io/serde/" in " ".join(values["SRC_URI"]), "no crates"
    for name, sum in re.findall(r"file://(\S+?);md5=([0-9a-f]{32})", values["LIC_FILES_CHKSUM"][0]):
        found = hashlib.md5(pathlib.Path(name).read_bytes()).hexdigest()
        assert found == sum, f"{name} has the sum {found}, not {sum}"


def chosen_machine(tree):
    """That the Buildroot package can be selected only for a machine with a program."""
    import kconfiglib
    with tempfile.NamedTemporaryFile("w", suffix=".in") as top:
        for name in "BR2_x86_64", "BR2_aarch64", "BR2_ARM_CPU_ARMV7A":
            top.write(f'config {name}\n\tbool "{name}"\n')
        top.write(pathlib.Path(tree, "Config.in").read_text())
        top.flush()
        read = kconfiglib.Kconfig(top.name, warn_to_stderr=False)
    latlab = read.syms["BR2_PACKAGE_LATLAB"]
    latlab.set_value(2)
    assert latlab.tri_value == 0, "a machine without a program may not choose it"
    read.syms["BR2_aarch64"].set_value(2)
    assert latlab.tri_value == 2, "an AArch64 may choose it"
    assert not read.warnings, read.warnings


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
