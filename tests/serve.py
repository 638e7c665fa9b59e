"""The live page of a run in a headless browser: serve.py BROWSER FOLDER URL PICTURE.

Says what is wrong, one thing a line; silent where the charts draw and nothing complains. The
browser is told what to do over its pipes (the Chrome DevTools protocol).
"""
import base64, json, os, pathlib, signal, subprocess, sys, time

BROWSER, FOLDER, URL, PICTURE = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
FLAGS = """--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --hide-scrollbars --disable-dev-shm-usage
    --remote-debugging-pipe""".split()

# What stands on the page, and how many of the points of each chart are coloured.
SEEN = """(() => {
    // A copy, because the browser complains of reading one that is drawn on.
    const drawn = canvas => { const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, copy.width, copy.height);
        let n = 0; for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 200 && Math.max(data[i], data[i+1], data[i+2])
                - Math.min(data[i], data[i+1], data[i+2]) > 80) n++; return n; };
    return { charts: [...document.querySelectorAll("canvas")].map(drawn),
        titles: [...document.querySelectorAll("#charts h2")].map(e => e.textContent),
        standing: document.querySelector("#standing").textContent,
        report: document.querySelector("#standing a")?.pathname ?? null,
        cycles: [...document.querySelectorAll("#threads tbody tr")].map(r => r.cells[2].textContent),
        scroll: document.documentElement.scrollWidth - innerWidth };
})()"""


class Browser:
    def __init__(self):
        from_us, self.write = os.pipe()
        self.read, to_us = os.pipe()

        def ends():
            one, other = os.dup(from_us), os.dup(to_us)
            one, other = (os.dup(fd) if fd in (3, 4) else fd for fd in (one, other))
            os.dup2(one, 3), os.dup2(other, 4)

        line = [BROWSER, *FLAGS, f"--user-data-dir={FOLDER}/profile"]
        self.process = subprocess.Popen(
            line, preexec_fn=ends, close_fds=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us), os.close(to_us)
        self.rest, self.number, self.session, self.complaints = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **words):
        self.number += 1
        order = {"id": self.number, "method": method, "params": words}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.write, json.dumps(order).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.read, 1 << 20) or sys.exit("the browser ended")
            first, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(first)
            if answer.get("id") == self.number:
                return answer.get("result") or sys.exit(str(answer)) if "error" in answer else answer["result"]
            self.hear(answer.get("method"), answer.get("params", {}))

    def hear(self, method, what):
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(what["exceptionDetails"])[:300])
        if method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(what["entry"]["text"] + " " + what["entry"].get("url", ""))
        if method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(what["args"])[:300])

    def see(self):
        answer = self.call("Runtime.evaluate", expression=SEEN, returnByValue=True)
        return answer["result"].get("value") or {"charts": [], "standing": str(answer), "report": None}

    def size(self, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1400,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, name):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        pathlib.Path(f"{PICTURE}-{name}.png").write_bytes(base64.b64decode(data))

    def until(self, seconds, condition):
        end = time.monotonic() + seconds
        while not condition(seen := self.see()) and time.monotonic() < end:
            time.sleep(0.3)
        return seen


browser, wrong = Browser(), []
browser.size(1200, "light")
browser.call("Page.navigate", url=URL)
during = browser.until(15, lambda seen: len(seen["charts"]) > 1 and seen["charts"][0] > 200)
time.sleep(2)
during = browser.see()
browser.picture("going")
if not during["charts"] or during["charts"][0] < 200:
    wrong.append(f"the latencies are not drawn while the run goes on: {during}")
if "goes on" not in during["standing"]:
    wrong.append(f"the page does not say that it goes on: {during['standing']}")
after = browser.until(30, lambda seen: seen["report"])
if not (after["report"] or "").startswith("/runs/"):
    wrong.append(f"the page does not lead to the report at the end: {after}")
for width, scheme in ((1200, "dark"), (400, "light")):
    browser.size(width, scheme)
    time.sleep(0.5)
    browser.picture(f"{width}-{scheme}")
    if browser.see()["scroll"] > 0:
        wrong.append(f"at {width} pixels the page is wider than the window")
print(json.dumps(after))
wrong += browser.complaints
os.killpg(browser.process.pid, signal.SIGKILL)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
