"""Hostile texts in a run, and whether outputs escape them."""

import hashlib
import json
import pathlib
import sys
import unicodedata


def make_hostile(folder):
    """Puts characters that control a terminal, reverse a line or hide into every text of a run."""
    folder, bad = pathlib.Path(folder), "a\x1b[31m\x9b2J\r\u202eb\u2066c\u200fd\u061ce\u200bf\U000e0041g"
    run = json.loads((folder / "run.json").read_text())
    run.pop("checksum")
    run["started"] = run["id"] = folder.name
    run["latlab"] = run["asked"]["name"] = run["asked"]["note"] = bad
    for name in "hostname", "kernel", "kernel_build", "cpu_model", "os":
        run["machine"][name] = bad
    for finding in run["findings"]:
        finding["text"] = bad
    # An attacker can compute the checksum, too.
    before = json.dumps(run, indent=2)[:-2] + ","
    checksum = hashlib.sha256((before + "\n").encode()).hexdigest()
    (folder / "run.json").write_text(f'{before}\n  "checksum": "{checksum}"\n}}\n')


def visible(*files):
    """That files hold no invisible character."""
    def hidden(c):
        return c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")
    wrong = [(path, ascii(c)) for path in files for c in sorted(set(open(path, newline="").read())) if hidden(c)]
    if wrong:
        sys.exit("\n".join(map(str, wrong)))


def forge(folder, evil):
    """Writes hostile advice into a run, with a matching checksum."""
    path = folder + "/run.json"
    run = json.load(open(path))
    run.pop("checksum")
    for one in run["doctor"]:
        one.update(severity="error", remedy=evil, undo=evil)
    run["findings"].append({"code": "planted", "severity": "error", "text": "A text.", "remedy": evil,
                            "invalidates": True, "at_ns": None, "thread": None})
    run["asked"]["command"] = "latlab run --for 1s; " + evil
    text = json.dumps(run, indent=2, ensure_ascii=False)[: -len("\n}")] + ","
    checksum = hashlib.sha256((text + "\n").encode()).hexdigest()
    open(path, "w").write(f'{text}\n  "checksum": "{checksum}"\n}}\n')


def same_advice(*documents):
    """That two runs have the same advice about their machine, and not none."""
    own, forged = ([(one["code"], one["remedy"], one["undo"]) for one in json.load(open(path))["doctor"]]
                   for path in documents)
    assert own == forged and any(remedy for _, remedy, _ in own), (own, forged)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
