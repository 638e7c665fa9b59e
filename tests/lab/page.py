"""Checks pages of runs as readers see them: any width, both schemes, with scripts and without, on paper.
Usage: page.py BROWSER FOLDER, where the folder holds pages, their run.json and their rows."""
# Invariant (page and server): The page fits 400 to 1600 pixels, needs no network and no script, and shows run.json.
# Invariant (page and server): The answer of a run is on one screen; the rest is folded, and links and paper unfold it.

import base64, json, pathlib, re, signal, sys
from collections import Counter
from html.parser import HTMLParser

from browser import Browser

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
LEADING = ("src", "href", "xlink:href", "srcset", "action", "formaction", "data", "poster", "background")
WIDTHS, SCHEMES = (400, 800, 1600), ("light", "dark")
# Pages with judgements: the deadline that their pictures must show.
JUDGED, JUDGED_WIDTHS = {"compared": "deadline 1 ms", "single": None, "trend": "deadline of 1 ms"}, (400, 1000, 1600)
# Boxes with a wider table.
CUT = """[...document.querySelectorAll(".box")].filter(e => e.getClientRects().length && e.scrollWidth > e.clientWidth + 1)
    .map(e => (e.querySelector("caption") || e).textContent.slice(0, 60) + ": " + e.scrollWidth + " in " + e.clientWidth)"""
MEASURED = """(() => {
    const page = document.documentElement, shown = e => e.getClientRects().length > 0;
    const all = names => [...document.querySelectorAll(names)].filter(shown);
    const beyond = all("body *").filter(e => !e.closest(".scroll, svg, .uplot") || e.matches(".scroll, svg, .uplot"))
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1);
    const name = e => e.tagName.toLowerCase() + (e.className.baseVal ?? e.className ? "." + e.className : "");
    // Words of the picture that overlap, or lie outside of it.
    const words = all(".still svg text").map(e => [e.closest("svg"), e.textContent, e.getBoundingClientRect()]);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
    const pairs = words.flatMap(([s, text, box], at) => words.slice(at + 1)
        .filter(([t, , other]) => s === t && meet(box, other)).map(([, other]) => [text, other]));
    const outside = words.filter(([s, , box]) => { const o = s.getBoundingClientRect();
        return box.left < o.left - 1 || box.right > o.right + 1 || box.top < o.top - 1 || box.bottom > o.bottom + 1; });
    return {inner: innerWidth, scroll: page.scrollWidth, body: document.body.scrollWidth,
        height: page.scrollHeight, canvases: all("canvas").length,
        figures: all("figure").length, stray: document.querySelectorAll("b.stray").length, dark: matchMedia("(prefers-color-scheme: dark)").matches,
        paper: getComputedStyle(document.body).backgroundColor, text: document.body.innerText,
        beyond: beyond.map(name), pictures: all(".still svg").length,
        beside: all("thead").filter(e => e.getBoundingClientRect().bottom > e.parentElement.tBodies[0].getBoundingClientRect().top + 1)
            .map(e => e.textContent.slice(0, 60)),
        pairs, outside: outside.map(([, text]) => text)};
})()"""


# Captions that are wider than the scrolling box of their table.
CUT_CAPTIONS = """[...document.querySelectorAll(".scroll caption span")].filter(e => e.getClientRects().length)
    .map(e => [e.textContent.slice(0, 60), e.getBoundingClientRect().right - e.closest(".scroll").getBoundingClientRect().right])
    .filter(([, beyond]) => beyond > 0).map(([text, beyond]) => text + ": " + beyond + " pixels beyond")"""
# Where each part of the answer ends.
ANSWER = """(() => {
    const end = name => { const e = document.querySelector(name); return e && [name, e.getBoundingClientRect().bottom]; };
    return ["h1", "dl.facts", "figure[data-picture=latency] .still", "figure[data-picture=latency] .chart", ".why .try + pre"]
        .map(end).filter(one => one);
})()"""
# Folded charts are drawn when they are unfolded.
UNFOLDED = """new Promise(done => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""
# Figures that are invisible at any scroll position.
UNSEEN = """[...document.querySelectorAll("figure")].filter(e => !e.checkVisibility()).map(e => e.dataset.picture)"""
TALLEST = 4000


class Elements(HTMLParser):
    """The elements of the page's source."""

    def __init__(self, text):
        super().__init__()
        self.count, self.attributes, self.bare_tables, self.bare_pictures = {}, [], 0, 0
        self.ids = Counter()
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.attributes += [(name, value or "") for name, value in attributes]
        self.ids.update(value for name, value in attributes if name == "id")
        if tag == "table":
            self.bare_tables += 1
        if tag == "caption":
            self.bare_tables -= 1
        if tag == "svg":
            self.inside = [dict(attributes).get("role")]
        if tag in ("title", "desc") and self.inside:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag == "svg":
            if self.inside[:1] != ["img"] or not {"title", "desc"} & set(self.inside):
                self.bare_pictures += 1
            self.inside = []


failed = 0


def check(what, *wrong):
    """Prints whether a check passes, and what is wrong."""
    global failed
    wrong = [str(one) for one in wrong if one]
    print(f"{'not ok' if wrong else 'ok'} {what}")
    for one in wrong:
        print(f"    {one[:400]}")
    failed += bool(wrong)
    sys.stdout.flush()


def plain(text):
    """Text with all kinds of blanks made equal."""
    return re.sub(r"[\s\u00a0\u202f]+", " ", text)


def four_digits(nanos):
    """How a chart writes a latency."""
    size, unit = next((size, unit) for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")) if nanos >= size or size == 1)
    return f"{float(f'{nanos / size:.4g}'):.3f}".rstrip("0").rstrip(".") + f" {unit}"


def spellings(nanos, most=3):
    """The possible spellings of a latency."""
    for size, unit in ((1, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")):
        for digits in range(1, most + 1):
            number = f"{nanos / size:.{digits}f}"
            yield f"{number.rstrip('0').rstrip('.')} {unit}"
            yield f"{number} {unit}"


def check_written(name, text):
    page = Elements(text)
    # Shown text, such as a kernel's command line, may hold an address; nothing may link to one.
    leads = [f"{key}={value}" for key, value in page.attributes if key in LEADING and value[:1] != "#"
             and not value.startswith("data:")]
    leads += [f"{key}={value}" for key, value in page.attributes if re.search(r"https?://|^//", value)
              and not (key.startswith("xmlns") and value.startswith("http://www.w3.org/"))]
    leads += re.findall(r"@import[^;]*|url\((?!['\"]?(?:#|data:))[^)]*\)", text)
    check(f"{name}: the page refers to nothing outside itself, and is not large", *leads,
          len(text.encode()) >= 3_000_000 and f"{len(text)} characters")
    check(f"{name}: one h1; every id once; every table has a caption; every picture is named",
          *(f"the id {name} {times} times" for name, times in page.ids.items() if times > 1),
          page.count.get("h1") != 1 and f"{page.count.get('h1')} h1",
          page.bare_tables and f"{page.bare_tables} tables without caption",
          page.bare_pictures and f"{page.bare_pictures} pictures without role or text",
          "svg" not in page.count and "no picture", "table" not in page.count and "no table")


def look(name, browser, width, scheme, scripts=True):
    """Opens a page; returns what it shows, its requests and its messages."""
    browser.call("Emulation.setScriptExecutionDisabled", value=not scripts)
    browser.media(scheme)
    browser.size(width)
    browser.open((FOLDER / f"{name}.html").as_uri())
    drawn = not scripts or browser.wait("document.documentElement.dataset.drawn", 5)
    seen_folded = browser.value("document.documentElement.scrollHeight")
    # Without scripts there are no frames to wait for.
    browser.value(UNFOLDED if scripts else UNFOLDED.split("requestAnimationFrame")[0] + "done(); })")
    seen = browser.value(MEASURED)
    seen["drawn"], seen["folded"] = drawn, seen_folded
    kind = "" if scripts else "-still"
    picture = name.replace("/", "-")
    browser.screenshot(f"target/page-{picture}-{width}-{scheme}{kind}.png", width, seen["height"])
    asked = [event["params"]["request"]["url"] for event in browser.events
             if event.get("method") == "Network.requestWillBeSent"]
    # URLs that the page itself created are no requests.
    seen["asked"] = [url for url in asked[1:] if not url.startswith(("blob:", "data:"))]
    seen["said"] = browser.complaints()
    return seen


def check_fits(what, seen, width):
    check(f"{what} nothing scrolls sideways but the boxes that may",
          seen["inner"] != width and f"the window is {seen['inner']} wide",
          max(seen["scroll"], seen["body"]) > width and f"{seen['scroll']} and {seen['body']} wide",
          seen["beyond"] and f"beyond the edge: {seen['beyond']}")
    check(f"{what} the head of each table is above its rows", *seen["beside"])


def check_still(name, browser, width, scheme):
    """Without scripts: every picture is there as a still one, and its words can be read."""
    seen = look(name, browser, width, scheme, scripts=False)
    what = f"{name}, {width} pixels, {scheme}, without scripts:"
    check_fits(what, seen, width)
    check(f"{what} each picture is shown once, and its words are apart",
          seen["pictures"] != seen["figures"] and f"{seen['pictures']} pictures in {seen['figures']} figures",
          seen["canvases"] and "a canvas",
          seen["outside"] and f"outside: {seen['outside']}", *(f"on one another: {pair}" for pair in seen["pairs"]))


def check_shown(name, browser, width, scheme, run):
    seen = look(name, browser, width, scheme)
    what = f"{name}, {width} pixels, {scheme}:"
    check_fits(what, seen, width)
    light = sum(map(int, re.findall(r"\d+", seen["paper"])[:3])) > 384
    maximum = run["total"]["max_ns"]
    check(f"{what} charts, colours, the observed maximum, no error and not one request",
          *seen["asked"], *seen["said"], not seen["drawn"] and "nothing was drawn in 5 s",
          not seen["canvases"] and "no chart", seen["stray"] and "a text of the run became part of the page",
          seen["dark"] != (scheme == "dark") and "the browser shows the other colours",
          light != (scheme == "light") and f"the paper is {seen['paper']}",
          not any(words in plain(seen["text"]) for words in spellings(maximum)) and f"no {maximum} ns")


def check_judged(name, browser, deadline):
    """The page of a comparison or a trend: nothing is cut off, and its pictures have the deadline."""
    check_written(name, (FOLDER / f"{name}.html").read_text())
    for width in JUDGED_WIDTHS:
        check_still(name, browser, width, "light")
        for scheme in SCHEMES:
            seen = look(name, browser, width, scheme)
            what = f"{name}, {width} pixels, {scheme}:"
            check_fits(what, seen, width)
            light = sum(map(int, re.findall(r"\d+", seen["paper"])[:3])) > 384
            check(f"{what} every table is whole, every picture is shown, no error and not one request",
                  *browser.value(CUT), *seen["asked"], *seen["said"], not seen["drawn"] and "the scripts did not end in 5 s",
                  light != (scheme == "light") and f"the paper is {seen['paper']}",
                  *browser.value(UNSEEN), not seen["figures"] and "no picture")
            words = browser.value("[...document.querySelectorAll('figure svg')].map(e => e.textContent).join(' ')")
            check(f"{what} the deadline is in its picture", deadline and deadline not in plain(words) and f"no '{deadline}'")
    browser.media(kind="print")
    check(f"{name}: on paper every picture is shown", *browser.value(UNSEEN))


def check_responders(name, browser):
    """Wide tables scroll, and their captions fit the visible part."""
    for width in JUDGED_WIDTHS:
        seen = look(name, browser, width, "light")
        what = f"{name}, {width} pixels:"
        check_fits(what, seen, width)
        wide = browser.value("[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).length")
        check(f"{what} captions of tables that scroll are whole", not wide and "no table scrolls",
              *browser.value(CUT_CAPTIONS))


def check_answer(name, browser):
    """The answer fits on one screen, and the page is short before anything is unfolded."""
    for scripts in (True, False):
        what = f"{name}{'' if scripts else ', without scripts'}:"
        browser.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        browser.media("light")
        browser.size(1280, 800)
        browser.open((FOLDER / f"{name}.html").as_uri())
        if scripts:
            browser.wait("document.documentElement.dataset.drawn", 5)
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
        parts = [(part, end) for part, end in browser.value(ANSWER) if end]
        check(f"{what} headline, figures, histogram and first remedy are on a screen of 1280 x 800",
              len(parts) < 3 and f"only {parts}", *((part, end) for part, end in parts if end > 800))
        browser.size(1000, 800)
        height = browser.value("document.documentElement.scrollHeight")
        check(f"{what} at most {TALLEST} pixels high at 1000 pixels before anything is unfolded",
              height > TALLEST and f"{height} pixels")
        links = browser.value("[...document.querySelectorAll('nav.contents a')].map(link => link.getAttribute('href'))")
        browser.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        browser.size(1000, 4000)
        browser.click(*browser.value("(() => { const b = document.querySelector('nav.contents a[href=\"#setup\"]').getBoundingClientRect();"
                                     "return [b.left + b.width / 2, b.top + b.height / 2]; })()"))
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
        opened = browser.wait("document.querySelector('#setup').closest('details').open", 3)
        check(f"{what} a link of the contents unfolds its part", len(links) < 8 and f"links: {links}", not opened and "the set-up stays folded")
        browser.open("about:blank")
        browser.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        browser.open((FOLDER / f"{name}.html").as_uri())
        browser.media(kind="print")
        check(f"{what} on paper every picture is shown", *browser.value(UNSEEN))
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def check_printed(name, browser):
    look(name, browser, 1600, "light")
    browser.media(kind="print")
    seen = browser.value(MEASURED)
    paper = base64.b64decode(browser.call("Page.printToPDF")["data"])
    pathlib.Path(f"target/page-{name}.pdf").write_bytes(paper)
    check(f"{name}, printed: the pictures that stand still, no chart and no button",
          seen["canvases"] and f"{seen['canvases']} canvases",
          seen["pictures"] != seen["figures"] and f"{seen['pictures']} pictures in {seen['figures']} figures",
          browser.value("[...document.querySelectorAll('.live button, .runs a, .contents a')].filter(e => e.getClientRects().length).length")
          and "a control",
          not paper.startswith(b"%PDF") and "no PDF")


def chart(browser, kind, panel="body"):
    """Position and content of a chart in the middle of the window."""
    return browser.value("""(() => {
        const figure = document.querySelector('%s figure[data-picture=%s]'), place = figure.querySelector('.chart');
        figure.scrollIntoView({block: 'center'});
        const u = place.plot, box = u.over.getBoundingClientRect();
        return {left: box.left, top: box.top, width: box.width, height: box.height,
            from: u.scales.x.min, to: u.scales.x.max, log: u.scales.y.distr === 3,
            shown: u.series.slice(1).map(one => one.show), at: figure.querySelector('.at').textContent,
            values: [...figure.querySelectorAll('.value')].map(one => one.textContent)};
    })()""" % (panel, kind))


def press(browser, kind, text):
    """Clicks a button of a chart with the mouse."""
    box = browser.value("""(() => {
        const figure = document.querySelector('figure[data-picture=%s]');
        const one = [...figure.querySelectorAll('button')].find(one => one.textContent.startsWith('%s'));
        one.scrollIntoView({block: 'center'});
        const box = one.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
    })()""" % (kind, text))
    browser.click(*box)


def hover(browser, kind, x):
    """Moves the mouse over a chart, to a value of its axis."""
    seen = chart(browser, kind)
    place = seen["left"] + (x - seen["from"]) / (seen["to"] - seen["from"]) * seen["width"]
    browser.mouse("mouseMoved", place, seen["top"] + seen["height"] / 2)
    browser.wait("false", 0.1)
    return chart(browser, kind)


def check_used(name, browser, rows):
    """With the mouse: charts answer with the stored figures."""
    look(name, browser, 1600, "light")
    threads = sorted({row["thread"] for row in rows})
    # The legend lists the thread with the largest latency first.
    largest = {thread: max(row["max_ns"] for row in rows if row["thread"] == thread) for thread in threads}
    order = sorted(threads, key=lambda thread: (-largest[thread], thread))
    second = 1
    stored = {row["thread"]: row["max_ns"] for row in rows if row["second"] == second}
    # A second is a step from its start to its end; its last third still belongs to it.
    seen = hover(browser, "flow", second + 0.7)
    wrong = [(value, stored[thread]) for value, thread in zip(seen["values"], order)
             if not plain(value).startswith(four_digits(stored[thread]))]
    check(f"{name}: the second below the mouse has the values that are stored, in four digits", *wrong,
          len(seen["values"]) != len(threads) and f"values {seen['values']}", f"+{second} s to +{second + 1} s" not in seen["at"] and seen["at"])
    before = chart(browser, "flow")
    quarter, middle = before["left"] + before["width"] / 4, before["top"] + before["height"] / 2
    browser.drag((quarter, middle), (quarter + before["width"] / 3, middle))
    after, below = chart(browser, "flow"), chart(browser, "telemetry")
    share = (after["to"] - after["from"]) / (before["to"] - before["from"])
    check(f"{name}: a drag zooms both charts of the same time", not 0.3 < share < 0.36 and f"{before} to {after}",
          abs(below["from"] - after["from"]) > 1e-6 and f"{below} beside {after}")
    press(browser, "flow", "whole run")
    check(f"{name}: a button shows the whole run again", chart(browser, "flow")["to"] != before["to"] and "it does not")
    press(browser, "flow", "thread")
    check(f"{name}: a click hides a line", chart(browser, "flow")["shown"] != [False] + [True] * (len(threads) - 1)
          and chart(browser, "flow"))
    was = chart(browser, "latency")["log"]
    browser.value("""[...document.querySelectorAll('figure[data-picture=latency] [aria-label="Count axis"] button')]
        .find(one => one.getAttribute('aria-pressed') === 'false').click()""")
    check(f"{name}: counts are linear or logarithmic, as asked", chart(browser, "latency")["log"] == was and "nothing changed")
    browser.value("document.querySelector('figure[data-picture=latency] .chart').focus()")
    for key, code in (("+", "Equal"), ("ArrowRight", "ArrowRight")):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code)
    seen = chart(browser, "latency")
    check(f"{name}: keys zoom and move the cursor", not seen["at"] and f"nothing is said: {seen}")


def check_campaign(name, browser):
    """The page of a campaign: its table is complete, its cells link to pages, its chart zooms, and no script fails."""
    for width in JUDGED_WIDTHS:
        for scheme in SCHEMES:
            seen = look(name, browser, width, scheme)
            what = f"{name}, {width} pixels, {scheme}:"
            check_fits(what, seen, width)
            check(f"{what} every table is whole, a chart for the rows, no error and not one request", *browser.value(CUT),
                  *seen["asked"], *seen["said"], not seen["drawn"] and "nothing was drawn in 5 s",
                  not seen["canvases"] and "no chart")
    pages = browser.value("[...document.querySelectorAll('table.cells td a')].map(link => link.getAttribute('href'))")
    check(f"{name}: each cell leads to the page of its run", len(pages) != 2 and f"links: {pages}",
          *(page for page in pages if not ((FOLDER / name).parent / page).exists()))
    before = chart(browser, "rows")
    check(f"{name}: the rows are lines of one chart", before["shown"] != [True, True] and before["shown"])
    quarter, middle = before["left"] + before["width"] / 4, before["top"] + before["height"] / 2
    browser.drag((quarter, middle), (quarter + before["width"] / 3, middle))
    after = chart(browser, "rows")
    check(f"{name}: a drag zooms", not before["from"] < after["from"] < after["to"] < before["to"] and f"{before} to {after}")


def check_several(name, browser, count):
    seen = look(name, browser, 1600, "light")
    check(f"{name}: tabs, one of them shown, no error", *seen["said"], *seen["asked"], not seen["drawn"] and "nothing drawn",
          browser.value("document.querySelectorAll('[role=tab]').length") != count + 1 and "not as many tabs")
    browser.value("document.querySelectorAll('[role=tab]')[2].click()")
    there = browser.wait("document.querySelector('#run-2 figure[data-picture=latency] canvas')", 5)
    shown = browser.value("[...document.querySelectorAll('#comparison, section.run')]"
                          ".filter(e => e.getClientRects().length).map(e => e.id)")
    check(f"{name}: a tab shows its run and no other", shown != ["run-2"] and shown, not there and "no chart")


def main():
    browser = Browser(PROGRAM, FOLDER)
    try:
        for name in ("idle", "many", "relative"):
            if not (FOLDER / f"{name}.json").exists():
                continue
            run = json.loads((FOLDER / f"{name}.json").read_text())
            check_written(name, (FOLDER / f"{name}.html").read_text())
            for width in WIDTHS:
                check_still(name, browser, width, "light")
                for scheme in SCHEMES:
                    check_shown(name, browser, width, scheme, run)
        for name, deadline in JUDGED.items():
            check_judged(name, browser, deadline)
        check_campaign("campaign/index", browser)
        check_responders("responders", browser)
        for name in ("idle", "many", "relative"):
            check_answer(name, browser)
        for name in ("idle", "both"):
            check_printed(name, browser)
        check_used("idle", browser, json.loads((FOLDER / "rows.json").read_text()))
        check_written("both", (FOLDER / "both.html").read_text())
        check_several("both", browser, 2)
    finally:
        browser.close()


signal.signal(signal.SIGALRM, lambda *_: sys.exit("the browser does not answer"))
signal.alarm(800)
main()
sys.exit(failed > 0)
