"""Checks of documents: JSON, XML and tables that the program prints or stores."""

import csv
import json
import pathlib
import sys
import tomllib
import xml.etree.ElementTree as tree


def fits(schema, document, spoil=""):
    """That a document fits its schema; Python code may spoil the `document` first."""
    import jsonschema
    schema, document = (json.load(open(name)) for name in (schema, document))
    jsonschema.Draft202012Validator.check_schema(schema)
    exec(spoil)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    sys.exit("\n".join(f"{error.json_path}: {error.message[:200]}" for error in errors) or None)


def sheets_as_json(folder, *sheets):
    """Writes sheets, which are TOML, as equivalent JSON."""
    for name in sheets:
        sheet = tomllib.loads(pathlib.Path(name).read_text())
        pathlib.Path(folder, pathlib.Path(name).stem + ".sheet.json").write_text(json.dumps(sheet))


def alarms(schema, file):
    """That the alarms of two failed rounds fit their schema."""
    import jsonschema
    schema = json.load(open(schema))
    alarms = [json.loads(line) for line in open(file)]
    for alarm in alarms:
        jsonschema.validate(alarm, schema)
    assert [alarm["failures"] for alarm in alarms] == [1, 2]
    assert alarms[1]["run"]["verdict"]["word"] == "fail" and alarms[1]["run"]["path"].endswith(alarms[1]["run"]["id"])


def alarm_of_lost_agent(file):
    """That the alarm of a round whose agent was killed has its run and the reason."""
    alarm = json.load(open(file))
    assert alarm["failures"] == 1 and "agent, or the link to it, was lost" in alarm["error"], alarm
    assert alarm["run"]["verdict"]["word"] == "inconclusive", alarm


def cells(campaign, here):
    """That the table of a campaign has the figures of its runs."""
    rows = list(csv.DictReader(open(f"{here}/table.csv")))
    assert len(rows) == 4 and all(row["state"] == "done" for row in rows), rows
    for row in rows:
        run = json.load(open(f"{campaign}/runs/{row['run']}/run.json"))
        total = run["total"]
        assert (run["asked"]["cell"]["row"], run["asked"]["cell"]["repeat"]) == (row["row"], int(row["repeat"]))
        assert int(row["cycles"]) == total["cycles"] and int(row["max_ns"]) == total["max_ns"], row
        assert row["p99_9_ns"] == str(total["quantiles"]["p99_9_ns"] or ""), row
        assert row["verdict"] == (run["verdict"] or {"word": ""})["word"], row
    suite = tree.parse(f"{here}/junit.xml").getroot()
    assert [case.get("name") for case in suite.iter("testcase")] == ["judged", "plain"]


def same(*documents):
    """That two documents of a run are equal to the last digit, except for what is rendered when shown."""
    def stored(document):
        if isinstance(document, dict) and "findings" in document:
            document.pop("checksum", None)
            document.pop("largest", None)
            document.pop("statistics", None)
            (document["verdict"] or {}).pop("sentence", None)
            for finding in document["findings"]:
                for made in ("severity", "text", "remedy", "effect"):
                    finding.pop(made, None)
        return document

    left, right = (stored(json.load(open(name), parse_float=str)) for name in documents)
    sys.exit(None if left == right else "the documents differ")


def sums(document):
    """Prints the checksums of a run as sha256sum reads them."""
    for name, file in json.load(open(document))["files"].items():
        print(f"{file['sha256']}  {name}")


def figures():
    """Prints the figures of each thread of a run, which comes from standard input."""
    for thread in json.load(sys.stdin)["threads"]:
        print([thread["summary"][name] for name in ("cycles", "min_ns", "max_ns")])


def same_figures(*documents):
    """That a window over the whole run has the figures of the run."""
    run, window = (json.load(open(name), parse_float=str) for name in documents)
    summaries = lambda of: [of["total"]] + [thread["summary"] for thread in of["threads"]]
    if summaries(run) != summaries(window):
        sys.exit(f"not the same:\n{summaries(run)}\n{summaries(window)}")
    if window["largest"][0]["latency_ns"] != run["total"]["max_ns"]:
        sys.exit("the largest latency is not the maximum")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
