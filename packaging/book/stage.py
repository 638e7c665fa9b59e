"""stage.py FOLDER: lays out the sources of the book: the documents at their places in the repository, a page for each
man page, and a table of contents. Pages that the table does not name (decisions, published measurements) become
children of the page that lists them. A link to a file that is not in the book, such as a test, becomes its name."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
MAN = pathlib.PurePosixPath("docs/reference/man")
# Pages for developers, with little but links to tests.
LEFT_OUT = {"docs/reference/invariants.md"}


def tracked(*patterns):
    said = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", *patterns], check=True, capture_output=True, text=True)
    return [name for name in said.stdout.split("\0") if name]


def title(text, name):
    found = re.search(r"^# (.+)$", text, re.M)
    return found[1] if found else pathlib.PurePosixPath(name).stem


def relinked(text, name, files):
    """A page with its links adapted to the book."""
    here = os.path.dirname(name)

    def link(found):
        picture, words, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        path, hash, heading = target.partition("#")
        path = os.path.normpath(os.path.join(here, path))
        if f"{path}/README.md" in files:
            path += "/README.md"
        if path not in files:
            return words
        # mdBook turns each README.md into index.html, but does not adapt links to it.
        path = re.sub(r"README\.md$", "index.md", os.path.relpath(path, here))
        return f"{picture}[{words}]({path}{hash}{heading})"

    return LINK.sub(link, text)


def man_page(path):
    html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path], check=True, capture_output=True, text=True)
    text = re.sub(r'<table class="(head|foot)">.*?</table>\n?', "", html.stdout, flags=re.S)
    text = re.sub(r"(</?)h1\b", r"\1h2", text)
    # A blank line would end the HTML in Markdown.
    return f"# {path.stem}\n\n" + re.sub(r"\n\s*\n", "\n", text)


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    files = {name for name in tracked("*.md", "docs/images/*", "docs/reference/*.json", "docs/guide/*.ipynb") if name not in LEFT_OUT}
    files = {name for name in files if re.match(r"docs/|results/[^/]*$|results/.*\.md$|[A-Z]+\.md$", name)}
    texts = {name: (ROOT / name).read_text() for name in files if name.endswith(".md")}
    commands = sorted((ROOT / MAN).glob("*.1"))
    for path in commands:
        texts[str(MAN / f"{path.stem}.md")] = man_page(path)
    listed = "".join(f"- [{path.stem}]({path.stem}.md)\n" for path in commands)
    texts[str(MAN / "README.md")] = f"# Commands\n\nThe man pages of the program and its commands.\n\n{listed}"
    files |= set(texts)
    for name in files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name in texts:
            target.write_text(relinked(texts[name], name, files))
        else:
            shutil.copy(ROOT / name, target)

    contents = (ROOT / "packaging/book/SUMMARY.md").read_text().replace("](../../", "](")
    contents = contents.replace(f"({MAN})", f"({MAN}/README.md)")
    for parent in ("docs/reference/man/README.md", "docs/decisions/README.md", "results/README.md"):
        within = os.path.dirname(parent) + "/"
        below = sorted(name for name in texts if name.startswith(within) and name != parent)
        lines = "".join(f"  - [{title(texts[name], name)}]({name})\n" for name in below)
        contents = re.sub(rf"(^- \[[^\]]*\]\({re.escape(parent)}\)\n)", lambda found: found[1] + lines, contents, flags=re.M)
    named = {found[3] for found in LINK.finditer(contents)}
    if missing := sorted(set(texts) - named):
        sys.exit("packaging/book/SUMMARY.md does not name: " + ", ".join(missing))
    if wrong := sorted(named - set(texts)):
        sys.exit("packaging/book/SUMMARY.md names what is not there: " + ", ".join(wrong))
    (folder / "SUMMARY.md").write_text(contents)


main(pathlib.Path(sys.argv[1]).resolve())
