import base64, json, os, pathlib, re, signal, subprocess, sys
from html.parser import HTMLParser

BROWSER, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
LEADING = ("src", "href", "xlink:href", "srcset", "action", "formaction", "data", "poster", "background")
WIDTHS, SCHEMES = (400, 800, 1600), ("light", "dark")
FLAGS = """--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --hide-scrollbars --disable-dev-shm-usage
    --remote-debugging-pipe""".split()

MEASURED = """(() => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    const page = document.documentElement, shown = e => e.getClientRects().length > 0;
    const all = names => [...document.querySelectorAll(names)].filter(shown);
    const beyond = all("body *").filter(e => !e.closest(".scroll, svg") || e.matches(".scroll, svg"))
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1);
    const name = e => e.tagName.toLowerCase() + (e.className.baseVal ?? e.className ? "." + e.className : "");
    // Words of the picture that lie on one another, or outside it.
    const words = all("svg text").map(e => [e.closest("svg"), e.textContent, e.getBoundingClientRect()]);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
    const pairs = words.flatMap(([s, text, box], at) => words.slice(at + 1)
        .filter(([t, , other]) => s === t && meet(box, other)).map(([, other]) => [text, other]));
    const outside = words.filter(([s, , box]) => { const o = s.getBoundingClientRect();
        return box.left < o.left - 1 || box.right > o.right + 1 || box.top < o.top - 1 || box.bottom > o.bottom + 1; });
    return {inner: innerWidth, scroll: page.scrollWidth, body: document.body.scrollWidth,
        height: page.scrollHeight, dark: matchMedia("(prefers-color-scheme: dark)").matches,
        paper: getComputedStyle(document.body).backgroundColor, text: document.body.innerText,
        beyond: beyond.map(name), pictures: all("figure svg").length,
        pairs, outside: outside.map(([, text]) => text)};
})()"""


class Browser:
    """A headless browser at the other end of two pipes."""

    def __init__(self):
        from_us, self.write = os.pipe()
        self.read, to_us = os.pipe()

        def ends():
            # 3 and 4 are where the browser looks; a copy keeps one from covering the other.
            one, other = os.dup(from_us), os.dup(to_us)
            one, other = (os.dup(fd) if fd in (3, 4) else fd for fd in (one, other))
            os.dup2(one, 3)
            os.dup2(other, 4)

        line = [BROWSER, *FLAGS, f"--user-data-dir={FOLDER}/profile"]
        self.process = subprocess.Popen(
            line, preexec_fn=ends, close_fds=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(FOLDER / "browser", "w"))
        os.close(from_us), os.close(to_us)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise SystemExit("the browser ended: " + (FOLDER / "browser").read_text()[-2000:])
            self.rest += more
        first, self.rest = self.rest.split(b"\0", 1)
        return json.loads(first)

    def call(self, method, **words):
        self.number += 1
        order = {"id": self.number, "method": method, "params": words}
        if self.session:
            order["sessionId"] = self.session
        data = json.dumps(order).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, url):
        """Opens a page and waits until all is loaded; gives back what happened meanwhile."""
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())
        return self.events

    def value(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"]["value"]

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Elements(HTMLParser):
    """What the page is made of, as written."""

    def __init__(self, text):
        super().__init__()
        self.count, self.attributes, self.bare_tables, self.bare_pictures = {}, [], 0, 0
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.attributes += [(name, value or "") for name, value in attributes]
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
    """Says whether it is so; anything wrong is shown."""
    global failed
    wrong = [str(one) for one in wrong if one]
    print(f"{'not ok' if wrong else 'ok'} {what}")
    for one in wrong:
        print(f"    {one[:400]}")
    failed += bool(wrong)
    sys.stdout.flush()


def plain(text):
    """Text with all kinds of blanks alike."""
    return re.sub(r"[\s\u00a0\u202f]+", " ", text)


def spellings(nanos):
    """How people may write a latency."""
    for size, unit in ((1, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")):
        for digits in (1, 2, 3):
            number = f"{nanos / size:.{digits}f}"
            yield f"{number.rstrip('0').rstrip('.')} {unit}"
            yield f"{number} {unit}"


def check_written(name, text):
    page = Elements(text)
    # What is shown may hold an address, such as a kernel's command line; nothing may lead to one.
    leads = [f"{key}={value}" for key, value in page.attributes if key in LEADING and value[:1] != "#"
             and not value.startswith("data:")]
    leads += [f"{key}={value}" for key, value in page.attributes if re.search(r"https?://|^//", value)
              and not (key.startswith("xmlns") and value.startswith("http://www.w3.org/"))]
    leads += re.findall(r"@import[^;]*|url\((?!['\"]?(?:#|data:))[^)]*\)", text)
    check(f"{name}: the page refers to nothing outside itself, and is not large", *leads,
          "script" in page.count and "a script", len(text.encode()) >= 3_000_000 and f"{len(text)} characters")
    check(f"{name}: one h1; every table has a caption; every picture is named",
          page.count.get("h1") != 1 and f"{page.count.get('h1')} h1",
          page.bare_tables and f"{page.bare_tables} tables without caption",
          page.bare_pictures and f"{page.bare_pictures} pictures without role or text",
          "svg" not in page.count and "no picture", "table" not in page.count and "no table")


def check_shown(name, browser, width, scheme, run):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    events = browser.open((FOLDER / f"{name}.html").as_uri())
    seen = browser.value(MEASURED)
    clip = {"x": 0, "y": 0, "width": width, "height": min(seen["height"], 12000), "scale": 1}
    picture = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    pathlib.Path(f"target/page-{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
    asked = [event["params"]["request"]["url"] for event in events
             if event.get("method") == "Network.requestWillBeSent"]
    said = [event["params"] for event in events
            if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]
    what = f"{name}, {width} pixels, {scheme}:"
    check(f"{what} nothing scrolls sideways but the boxes that may",
          seen["inner"] != width and f"the window is {seen['inner']} wide",
          max(seen["scroll"], seen["body"]) > width and f"{seen['scroll']} and {seen['body']} wide",
          seen["beyond"] and f"beyond the edge: {seen['beyond']}")
    check(f"{what} one picture is shown, and its words are apart",
          seen["pictures"] != 1 and f"{seen['pictures']} pictures",
          seen["outside"] and f"outside: {seen['outside']}", *(f"on one another: {pair}" for pair in seen["pairs"]))
    light = sum(map(int, re.findall(r"\d+", seen["paper"])[:3])) > 384
    maximum = run["total"]["max_ns"]
    check(f"{what} the colours, the observed maximum, and not one request",
          *(url for url in asked[1:]), *said, not asked and "the page was not asked for",
          seen["dark"] != (scheme == "dark") and "the browser shows the other colours",
          light != (scheme == "light") and f"the paper is {seen['paper']}",
          not any(words in plain(seen["text"]) for words in spellings(maximum)) and f"no {maximum} ns")


def main():
    browser = Browser()
    try:
        for name in ("idle", "many", "relative"):
            if not (FOLDER / f"{name}.json").exists():
                continue
            run = json.loads((FOLDER / f"{name}.json").read_text())
            check_written(name, (FOLDER / f"{name}.html").read_text())
            for width in WIDTHS:
                for scheme in SCHEMES:
                    check_shown(name, browser, width, scheme, run)
    finally:
        browser.close()


signal.signal(signal.SIGALRM, lambda *_: sys.exit("the browser does not answer"))
signal.alarm(150)
main()
sys.exit(failed > 0)
