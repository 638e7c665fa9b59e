#!/usr/bin/env python3
"""Writes the components of the programs of `make dist`: licences.txt and sbom.cdx.json.

Usage: packaging/inventory.py FOLDER TARGET...

The crates are those that `cargo tree` finds for these targets; SOURCE_DATE_EPOCH is the date of
the bill of materials. The same Cargo.lock and toolchain give the same two files, byte for byte.
"""

import datetime
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

PROGRAMS = ("latlab", "latlab-agent")
# The version of the font that scripts/font.sh cut, and its licence.
FONT = ("2.37", "crates/report/fonts/LICENSE")
LICENCE_FILE = re.compile(r"(?i)(un)?licen[cs]e|copying|copyright|notice")
RULE = "=" * 78
HERE = pathlib.Path(__file__).parent


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names(targets, edges):
    """The crates of all programs on all targets, as (name, version)."""
    found = set()
    for target in targets:
        for program in PROGRAMS:
            text = output("cargo", "tree", "--locked", "--offline", "--target", target, "--package",
                          program, "--edges", edges, "--prefix", "none", "--format", "{p}")
            # A line is `name v1.2.3`, with a suffix for workspace crates and repetitions.
            found |= {(words[0], words[1][1:]) for words in map(str.split, text.splitlines())}
    return found


class Crate:
    """A crate in cargo's metadata."""

    def __init__(self, package, checksum, linked):
        self.name, self.version = package["name"], package["version"]
        self.id, self.authors = package["id"], package["authors"]
        self.licence = (package["license"] or "").replace("/", " OR ")
        self.description = " ".join((package["description"] or "").split())
        self.repository = package["repository"]
        self.folder = pathlib.Path(package["manifest_path"]).parent
        self.ours = package["source"] is None
        self.checksum, self.linked = checksum, linked
        self.purl = f"pkg:cargo/{self.name}@{self.version}"

    def texts(self):
        """Its licence files, sorted by name."""
        files = sorted(self.folder.iterdir())
        files = [file for file in files if LICENCE_FILE.match(file.name) and file.is_file()]
        return [file.read_text(errors="replace").strip("\n") for file in files]


def crates(targets):
    """All crates, sorted by name, and what each uses, by cargo's ids."""
    everything = names(targets, "normal")
    linked = names(targets, "normal,no-proc-macro")
    metadata = json.loads(output("cargo", "metadata", "--locked", "--offline", "--format-version", "1"))
    with open("Cargo.lock", "rb") as file:
        locked = tomllib.load(file)["package"]
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in locked}
    found = []
    for package in metadata["packages"]:
        key = package["name"], package["version"]
        if key in everything:
            found.append(Crate(package, checksums[key], key in linked))
    found.sort(key=lambda crate: (crate.name, crate.version))
    uses = {node["id"]: [dep["pkg"] for dep in node["deps"]
                         if any(kind["kind"] is None for kind in dep["dep_kinds"])]
            for node in metadata["resolve"]["nodes"]}
    return found, uses


def toolchain():
    """What the toolchain links in addition to the crates: name, version, licence, address, text.

    The text of musl's licence is kept here; the others come with the tools.
    """
    version = re.search(r"rustc (\S+)", output("rustc", "--version"))[1]
    doc = pathlib.Path(output("rustc", "--print", "sysroot").strip()) / "share/doc/rust"
    page = (doc / "COPYRIGHT-library.html").read_text()
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    rust = re.sub(r"\n\s*\n\s*\n+", "\n\n", "\n".join(map(str.rstrip, text.splitlines()))).strip()

    def licence(name):
        return (doc / "licenses" / name).read_text().strip("\n")

    def debian(library):
        """The package that an archive of the cross compiler comes from, and its version."""
        path = output("arm-linux-gnueabihf-gcc", f"-print-file-name={library}").strip()
        package = output("dpkg-query", "--search", os.path.realpath(path)).split(":")[0]
        return package, output("dpkg-query", "--show", "--showformat=${Version}", package)

    apache = licence("Apache-2.0.txt") + "\n\n" + licence("LLVM-exception.txt")
    (glibc, glibc_version), (gcc, gcc_version) = debian("libc.a"), debian("libgcc.a")
    common = pathlib.Path("/usr/share/common-licenses")
    copyright_of = pathlib.Path(f"/usr/share/doc/{glibc}/copyright").read_text().strip("\n")
    return [
        ("rust-std", version, "MIT OR Apache-2.0", f"pkg:github/rust-lang/rust@{version}", rust),
        ("libunwind", version, "Apache-2.0 WITH LLVM-exception",
         f"pkg:github/rust-lang/rust@{version}#src/llvm-project/libunwind", apache),
        ("musl", "1.2.5", "MIT", "pkg:generic/musl@1.2.5", (HERE / "musl.txt").read_text().strip("\n")),
        ("glibc", glibc_version, "LGPL-2.1-or-later", f"pkg:deb/debian/{glibc}@{glibc_version}",
         copyright_of + "\n\n" + (common / "LGPL-2.1").read_text().strip("\n")),
        ("libgcc", gcc_version, "GPL-3.0-or-later WITH GCC-exception-3.1",
         f"pkg:deb/debian/{gcc}@{gcc_version}",
         licence("GCC-exception-3.1.txt") + "\n\n" + (common / "GPL-3").read_text().strip("\n")),
    ]


def font():
    """The font of the pictures, as a component like the crates."""
    version, licence = FONT
    return ("dejavu-fonts", version, "Bitstream-Vera",
            f"pkg:github/dejavu-fonts/dejavu-fonts@version_{version.replace('.', '_')}",
            (HERE.parent / licence).read_text().strip("\n"))


def charts():
    """The library that draws the charts of pages, as npm fetched it."""
    folder = HERE.parent / "web/node_modules/uplot"
    package = json.loads((folder / "package.json").read_text())
    return (package["name"], package["version"], package["license"],
            f"pkg:npm/{package['name']}@{package['version']}", (folder / "LICENSE").read_text().strip("\n"))


WHERE = {
    "uplot": "draws the charts of pages; in latlab only",
    "dejavu-fonts": "the font of the pictures, cut to their characters; in latlab only",
    "rust-std": "the standard library of Rust, in every program",
    "libunwind": "LLVM's libunwind, in the programs for x86-64 and arm64",
    "musl": "the C library of the programs for x86-64 and arm64",
    "glibc": "the C library of the programs for ARMv7; `make dist` links them with any other",
    "libgcc": "the compiler's runtime of the programs for ARMv7, under its exception for such use",
}


def licences(found, parts):
    """Every text once, below the names of its components."""
    texts, without = {}, []
    foreign = [crate for crate in found if not crate.ours]
    for crate in foreign:
        own = crate.texts()
        if not own:
            without.append(crate)
        for text in own:
            # The same licence with other line breaks is the same licence.
            texts.setdefault(" ".join(text.split()), (text, []))[1].append(crate)
    lines = ["What latlab is made of, and under which licences.", "",
             "latlab itself is MIT OR Apache-2.0. The crates, each with what it may be used under",
             "(those in brackets run at build time only):", ""]
    for crate in foreign:
        name = f"{crate.name} {crate.version}"
        lines.append(f"  {name if crate.linked else f'({name})':36} {crate.licence}")
    lines += ["", "From the toolchain, the font, and the charts of pages:", ""]
    for name, version, licence, _, _ in parts:
        lines += [f"  {name + ' ' + version:36} {licence}", f"    {WHERE[name]}"]
    for crate in without:
        lines += ["", f"{crate.name} {crate.version} carries no text of its licence, {crate.licence};",
                  f"its authors: {', '.join(crate.authors)}. The texts are among those below."]
    for text, of in texts.values():
        lines += ["", RULE, *(f"{crate.name} {crate.version}" for crate in of), RULE, "", text]
    for name, version, _, _, text in parts:
        lines += ["", RULE, f"{name} {version}", RULE, "", text]
    return "\n".join(lines) + "\n"


def bill(found, uses, parts):
    """The same as a CycloneDX document."""
    version = next(crate.version for crate in found if crate.name == PROGRAMS[0])
    date = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.UTC)
    components = []
    for crate in found:
        component = {
            "type": "application" if crate.name in PROGRAMS else "library",
            "bom-ref": crate.purl, "name": crate.name, "version": crate.version,
            "description": crate.description,
            "scope": "required" if crate.linked else "excluded",
            "licenses": [{"expression": crate.licence}], "purl": crate.purl,
        }
        if crate.checksum:
            component["hashes"] = [{"alg": "SHA-256", "content": crate.checksum}]
        if crate.repository:
            component["externalReferences"] = [{"type": "vcs", "url": crate.repository}]
        if crate.ours:
            # These are in this repository, not in the registry.
            del component["purl"]
        components.append(component)
    for name, part_version, licence, purl, _ in parts:
        components.append({
            "type": "library", "bom-ref": purl, "name": name, "version": part_version,
            "description": WHERE[name], "scope": "required",
            "licenses": [{"expression": licence}], "purl": purl,
        })
    purls = {crate.id: crate.purl for crate in found}
    main = next(item for item in components if item["name"] == PROGRAMS[0])
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": date.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": main},
        "components": [item for item in components if item is not main],
        "dependencies": [
            {"ref": crate.purl,
             "dependsOn": sorted({purls[other] for other in uses[crate.id] if other in purls})}
            for crate in found
        ],
    }
    # A serial number derived from the content.
    name = f"latlab {version} " + json.dumps(document, sort_keys=True)
    serial = uuid.uuid5(uuid.NAMESPACE_URL, name)
    return json.dumps({"serialNumber": f"urn:uuid:{serial}", **document}, indent=1) + "\n"


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    found, uses = crates(targets)
    parts = [*toolchain(), font(), charts()]
    (folder / "licences.txt").write_text(licences(found, parts))
    (folder / "sbom.cdx.json").write_text(bill(found, uses, parts))


main()
