"""The live page of a run, the list and a comparison in a headless browser: serve.py BROWSER FOLDER URL PICTURE PID.

The run of the process PID is ended once its page has been checked.

Prints one line for each fault; silent if the charts draw and there are no errors.
"""
import json, os, pathlib, re, signal, sys, time, urllib.parse
from browser import Browser

BROWSER, FOLDER, URL, PICTURE = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
RUN = int(sys.argv[5])

# The text of the page, and the number of coloured points in each chart.
SEEN = """(() => {
    // A copy, because the browser warns about reading a canvas that is drawn on.
    const drawn = canvas => { const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, copy.width, copy.height);
        let n = 0; for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 200 && Math.max(data[i], data[i+1], data[i+2])
                - Math.min(data[i], data[i+1], data[i+2]) > 80) n++; return n; };
    return { charts: [...document.querySelectorAll("canvas")].map(drawn),
        titles: [...document.querySelectorAll("#charts h2")].map(e => e.textContent),
        resting: [...document.querySelectorAll(".u-legend .u-value")].map(e => e.textContent),
        standing: document.querySelector("#standing").textContent,
        answer: document.querySelector("#answer").textContent,
        report: document.querySelector("#standing a")?.pathname ?? null,
        cycles: [...document.querySelectorAll("#threads tbody tr")].map(r => r.cells[2].textContent),
        scroll: document.documentElement.scrollWidth - innerWidth };
})()"""


def see():
    return browser.value(SEEN)


def picture(name, width):
    browser.screenshot(f"{PICTURE}-{name}.png", width, 1400)


def until(seconds, condition):
    end = time.monotonic() + seconds
    while not condition(seen := see()) and time.monotonic() < end:
        time.sleep(0.3)
    return seen


browser, wrong = Browser(BROWSER, FOLDER), []
browser.size(1200)
browser.open(URL)
during = until(120, lambda seen: len(seen["charts"]) > 1 and seen["charts"][0] > 200)
time.sleep(2)
during = see()
picture("going", 1200)
if not during["charts"] or during["charts"][0] < 200:
    wrong.append(f"the latencies are not drawn while the run goes on: {during}")
if not during["resting"] or any(words != "–" for words in during["resting"]):
    wrong.append(f"where no mouse is, the legends have values: {during['resting']}")
if not during["standing"].startswith("Running: "):
    wrong.append(f"the page does not say that the run is being measured: {during['standing']}")
if not re.fullmatch(r"(None|[\d ]+) of [\d ]+ releases missed the .+ deadline so far; the largest took .+", during["answer"]):
    wrong.append(f"the page does not begin with its answer: {during['answer']}")
os.kill(RUN, signal.SIGINT)
after = until(120, lambda seen: seen["report"])
if not (after["report"] or "").startswith("/runs/"):
    wrong.append(f"the page does not lead to the report at the end: {after}")
for width, scheme in ((1200, "dark"), (400, "light")):
    browser.size(width)
    browser.media(scheme)
    time.sleep(0.5)
    picture(f"{width}-{scheme}", width)
    if see()["scroll"] > 0:
        wrong.append(f"at {width} pixels the page is wider than the window")
print(json.dumps(after))

# The list: nothing is cut off, and chosen runs are compared.
address = urllib.parse.urlsplit(URL)
LIST = """(() => {
    const seen = element => { const { left, right, width } = element.getBoundingClientRect();
        return width > 0 && left >= 0 && right <= innerWidth; };
    const verdicts = [...document.querySelectorAll(".tag")];
    return { verdicts: verdicts.length, cut: verdicts.filter(one => !seen(one)).length,
        scroll: document.documentElement.scrollWidth - innerWidth,
        cells: [...document.querySelectorAll("td")].filter(one => !seen(one)).length };
})()"""
for width, scheme in ((400, "light"), (1000, "dark"), (1600, "light")):
    browser.size(width)
    browser.media(scheme)
    browser.open(f"{address.scheme}://{address.netloc}/")
    seen = browser.value(LIST)
    picture(f"list-{width}-{scheme}", width)
    if seen["verdicts"] < 2 or seen["cut"] or seen["cells"] or seen["scroll"] > 0:
        wrong.append(f"at {width} pixels the list does not show everything: {seen}")
wrong += browser.complaints()
browser.value("[...document.querySelectorAll('input[type=checkbox]')].slice(0, 2).forEach(box => box.click())")
browser.value("document.querySelector('form.compare button').click()")
if not browser.wait("document.querySelector('#comparison .stacked tbody')", 20):
    wrong.append("two chosen runs are not compared")
else:
    rows = browser.value("document.querySelectorAll('#comparison .stacked')[0].tBodies[0].rows.length")
    if rows != 2:
        wrong.append(f"two runs were chosen, {rows} are compared")
    for width, scheme in ((400, "dark"), (1000, "light"), (1600, "dark")):
        browser.size(width)
        browser.media(scheme)
        time.sleep(0.5)
        picture(f"compared-{width}-{scheme}", width)
        cut = browser.value("""[...document.querySelectorAll("#comparison .stacked td, #comparison .stacked th")]
            .filter(one => one.getBoundingClientRect().right > innerWidth).length""")
        if cut:
            wrong.append(f"at {width} pixels {cut} cells of the comparison are cut off")
wrong += browser.complaints()
browser.close()
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
