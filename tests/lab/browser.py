"""A headless Chromium at the other end of two pipes (the Chrome DevTools protocol): it allows any
width, shows every request, and starts once for all screenshots."""

import base64, json, os, pathlib, signal, subprocess, time

FLAGS = """--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --hide-scrollbars --disable-dev-shm-usage
    --remote-debugging-pipe""".split()


class Navigated(SystemExit):
    """The page navigated during a query."""


class Browser:
    """A headless browser at the other end of two pipes."""

    def __init__(self, program, folder):
        self.folder = folder
        from_us, self.write = os.pipe()
        self.read, to_us = os.pipe()

        def ends():
            # The browser uses 3 and 4; copies keep one from replacing the other.
            one, other = os.dup(from_us), os.dup(to_us)
            one, other = (os.dup(fd) if fd in (3, 4) else fd for fd in (one, other))
            os.dup2(one, 3)
            os.dup2(other, 4)

        line = [program, *FLAGS, f"--user-data-dir={folder}/profile"]
        self.process = subprocess.Popen(
            line, preexec_fn=ends, close_fds=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(folder / "browser", "w"))
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
                raise SystemExit("the browser ended: " + (self.folder / "browser").read_text()[-2000:])
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
        if "navigated" in answer.get("error", {}).get("message", ""):
            raise Navigated(method)
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, url):
        """Opens a page and waits until all is loaded; returns the events."""
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())
        return self.events

    def value(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{script[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def size(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, scheme="light", kind=""):
        self.call("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def wait(self, script, seconds=10):
        """Waits until a script is true, and returns whether it became true; the page may navigate meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.value(f"Boolean({script})"):
                    return True
            except Navigated:
                pass
            time.sleep(0.02)
        return False

    def mouse(self, kind, x, y, buttons=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, buttons=buttons,
                  button="left" if kind != "mouseMoved" else "none", clickCount=0 if kind == "mouseMoved" else 1)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, 1)
        self.mouse("mouseReleased", x, y)

    def drag(self, start, end):
        (x, y), (to, down) = start, end
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1)
        for part in range(1, 6):
            self.mouse("mouseMoved", x + (to - x) * part / 5, y + (down - y) * part / 5, 1)
        self.mouse("mouseReleased", to, down)

    def screenshot(self, path, width, height):
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))

    def complaints(self):
        """The page's console messages and errors since it was opened."""
        said = {"Log.entryAdded": "entry", "Runtime.exceptionThrown": "exceptionDetails",
                "Runtime.consoleAPICalled": "args"}
        return [json.dumps(event["params"][said[event["method"]]])[:300]
                for event in self.events if event.get("method") in said]

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
