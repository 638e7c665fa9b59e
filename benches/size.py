"""The size of each part of the program: the code of each crate, by the sizes of its symbols, and the
other sections. The program of `make build` has symbols; the shipped one has not."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import tools
from tools import ROOT

# Limits of the shipped program, which is smaller by its symbols.
PROGRAM_LIMIT = 16_000_000
AGENT_LIMIT = 2_000_000
STANDARD = {"alloc", "core", "std", "compiler_builtins", "panic_unwind", "panic_abort", "hashbrown",
            "rustc_demangle", "addr2line", "gimli", "object", "memchr", "std_detect"}
# Smaller crates share a row.
SMALL = 20_000


def crate_of(symbol: str) -> str:
    """The crate of a symbol; for an implementation the crate of the first named type or trait."""
    if found := re.match(r"_ZN(\d+)(.*)", symbol):
        first = found[2][:int(found[1])]
        if first.startswith(("_$LT$", "$LT$")):
            named = re.search(r"([a-z][a-z0-9_]*)\.\.", first)
            return named[1] if named else "std"
        return first
    # v0 mangling: a crate is its disambiguator and its length-prefixed name.
    if found := re.search(r"C(?:s[0-9A-Za-z]*_)(\d+)(\w+)", symbol if symbol.startswith("_R") else ""):
        return found[2][:int(found[1])]
    return "C library"


def weigh(program: Path) -> tuple[Counter, dict]:
    """Bytes of code by crate, and of the sections."""
    by_crate: Counter = Counter()
    # Merged functions have one address.
    seen = set()
    listed = subprocess.run(["nm", "--print-size", program], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW" and words[0] not in seen:
            seen.add(words[0])
            crate = crate_of(words[3])
            by_crate["Rust's standard library" if crate in STANDARD else crate] += int(words[1], 16)
    sections = {}
    listed = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        if (words := line.split()) and words[0].startswith("."):
            sections[words[0]] = int(words[1])
    return by_crate, sections


def size(options):
    """The program's bytes, part by part."""
    from parts import Result, say, table

    program = tools.LATLAB
    say("size: latlab")
    by_crate, sections = weigh(program)
    if sum(by_crate.values()) < sections[".text"] / 2:
        raise RuntimeError(f"{program} has no names of its functions: build it by `make build`")
    small = {crate: bytes_ for crate, bytes_ in by_crate.items() if bytes_ < SMALL}
    rows = [[f"code of {crate}", f"{bytes_:,}".replace(",", " ")]
            for crate, bytes_ in by_crate.most_common() if crate not in small]
    rows.append([f"code of {len(small)} crates below {SMALL // 1000} kB each", f"{sum(small.values()):,}".replace(",", " ")])
    rest = sections[".text"] - sum(by_crate.values())
    rows.append(["code without a name", f"{rest:,}".replace(",", " ")])
    for name, about in {
        ".rodata": "constants: tables, texts, the font, the scripts of the pages, the packed agents",
        ".data.rel.ro": "constants with addresses",
        ".eh_frame": "tables for backtraces",
    }.items():
        rows.append([about, f"{sections.get(name, 0):,}".replace(",", " ")])
    agents = {file.name: file.stat().st_size for file in sorted((ROOT / "target/agents").glob("*.xz"))}
    rows += [[f"in the constants: {name}", f"{bytes_:,}".replace(",", " ")] for name, bytes_ in agents.items()]
    loaded = sum(bytes_ for name, bytes_ in sections.items() if name not in (".bss", ".tbss", ".comment"))
    rows.append(["**all that is loaded**", f"**{loaded:,}**".replace(",", " ")])
    result = Result({"crates": dict(by_crate.most_common()), "sections": sections, "agents": agents, "loaded": loaded})
    result.text = ("## What each part of the program weighs\n\n"
                   "In bytes, by the sizes of the symbols; a generic function counts for the crate that wrote "
                   "it, and what was inlined for the crate that called it.\n\n") + table(["part", "bytes"], rows)
    if loaded > PROGRAM_LIMIT:
        result.broken.append(f"the program has {loaded} bytes, more than {PROGRAM_LIMIT}")
    for file in sorted((ROOT / "dist").glob("latlab-agent-*")):
        if file.stat().st_size > AGENT_LIMIT:
            result.broken.append(f"{file.name} has {file.stat().st_size} bytes, more than {AGENT_LIMIT}")
    return result
