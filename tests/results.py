"""Parses test results as test systems do: results.py junit|ktap|lava FILE.

Prints a line for each test, `RESULT NAME`, followed by its measurement if there is one. Anything that the
format does not allow is an error.
"""
import re, sys
from xml.etree import ElementTree

RESULT = re.compile(r"(ok|not ok) (\d+)(?: (?!#)(.*?))?(?: # (SKIP|TODO|XFAIL|TIMEOUT|ERROR)(?: (.*))?)?$")
# How LAVA's dispatcher finds signals on a console, and what it accepts as a name.
SIGNAL = re.compile(r"<LAVA_SIGNAL_(?P<name>\S+) (?P<params>[^>]+)>")
NAME = re.compile(r"[A-Za-z0-9._-]+$")


def junit(path):
    suite = ElementTree.parse(path).getroot()
    assert suite.tag == "testsuite" and suite.get("name"), suite.attrib
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases)
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(attribute)) == sum(case.find(tag) is not None for case in cases), attribute
    # The order of the schema: properties, then one result, then the output.
    order = ["properties", "skipped", "error", "failure", "system-out"]
    for case in cases:
        places = [order.index(child.tag) for child in case]
        assert places == sorted(places) and len(places) == len(set(places)) and case.get("classname"), case.attrib
        word = next((child.tag for child in case if child.tag in ("skipped", "error", "failure")), "pass")
        yield f"{word} {case.get('name')}"


def ktap(path):
    lines = open(path).read().splitlines()

    def tests(at, indent):
        """Reads the tests of a level; returns the line after it."""
        assert lines[at] == f"{indent}KTAP version 1", lines[at]
        plan = re.fullmatch(rf"{indent}1\.\.(\d+)", lines[at + 1])
        assert plan, lines[at + 1]
        at, number = at + 2, 0
        while number < int(plan[1]):
            line = lines[at]
            if line.startswith(f"{indent}  KTAP version"):
                at = yield from tests(at, indent + "  ")
                continue
            assert line.startswith(indent), line
            at += 1
            if line.startswith(f"{indent}#"):
                continue
            result = RESULT.match(line[len(indent):])
            number += 1
            assert result and int(result[2]) == number, line
            yield f"{indent}{result[1]} {result[3]}" + (f" {result[4]}" if result[4] else "")
        return at

    at = yield from tests(0, "")
    assert at == len(lines), lines[at:]


def lava(path):
    inside, seen = None, set()
    for line in open(path):
        signal = SIGNAL.match(line)
        assert signal, line
        if signal["name"] == "TESTSET":
            words = signal["params"].split()
            begins = words[0] == "START" and inside is None and NAME.match(words[1])
            assert begins or (words == ["STOP"] and inside), line
            inside = words[1] if words[0] == "START" else None
            continue
        assert signal["name"] == "TESTCASE", line
        found = dict(word.split("=", 1) for word in signal["params"].split())
        assert NAME.match(found["TEST_CASE_ID"]) and found["RESULT"] in ("pass", "fail", "skip", "unknown"), line
        assert ("MEASUREMENT" in found) == ("UNITS" in found), line
        float(found.get("MEASUREMENT", 0))
        key = (inside, found["TEST_CASE_ID"])
        assert key not in seen, line
        seen.add(key)
        yield f"{found['RESULT']} {found['TEST_CASE_ID']} {found.get('MEASUREMENT', '')}".rstrip()


for line in {"junit": junit, "ktap": ktap, "lava": lava}[sys.argv[1]](sys.argv[2]):
    print(line)
