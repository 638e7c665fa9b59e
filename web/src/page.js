// The script of a page with one run or several: replaces still pictures by interactive charts. Without
// it the page is complete, only static.
import "uplot/dist/uPlot.min.css";
import { stretch } from "./cells.js";
import { button, element } from "./controls.js";
import { readLines, readRun } from "./data.js";
import { latencies } from "./latencies.js";
import { conditions, flow, timeline } from "./overtime.js";
import { saving } from "./save.js";
import { spikes } from "./spikes.js";
import { tabs } from "./tabs.js";

const runs = new Map();
const read = prefix => {
    if (!runs.has(prefix)) runs.set(prefix, readRun(prefix));
    return runs.get(prefix);
};
const figures = prefix => [...document.querySelectorAll(`figure[data-run="${prefix}"]`)];

// A chart replaces a picture only once it is drawn, so that a failure leaves the picture.
function replace(figure, draw) {
    const live = element("div", { className: "live" });
    figure.querySelector(".still").after(live);
    figure.classList.add("is-live");
    try {
        draw(live);
    } catch (error) {
        live.remove();
        figure.classList.remove("is-live");
        throw error;
    }
    performance.mark(`latlab-${figure.dataset.picture}`);
}

// A chart in a fold is drawn when it is unfolded.
function whenShown(figure, draw) {
    const fold = figure.closest("details");
    if (!fold || fold.open) return replace(figure, draw);
    fold.addEventListener("toggle", () => replace(figure, draw), { once: true });
}

// Unfolds the target of a link, and everything for printing.
function unfolding() {
    const follow = () => {
        const target = location.hash && document.getElementById(location.hash.slice(1));
        for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    };
    addEventListener("hashchange", follow);
    follow();
    addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(fold => { fold.open = true; }));
}

function ofRun(run) {
    const line = timeline(run);
    const lines = run.threads.map(({ name, max_ns: max, max_is_at_least: isAtLeast, bins, open, pen }) => ({ name, max, isAtLeast, bins, open, pen }));
    const draw = {
        latency: live => latencies(live, "latency", lines, run.deadline_ns),
        ccdf: live => latencies(live, "ccdf", lines, run.deadline_ns),
        flow: live => flow(live, run, line),
        telemetry: live => conditions(live, run, line),
    };
    for (const figure of figures(run.prefix)) {
        if (draw[figure.dataset.picture]) whenShown(figure, draw[figure.dataset.picture]);
    }
    const panel = run.prefix ? document.getElementById(run.prefix) : document;
    for (const place of panel.querySelectorAll("[data-at]")) {
        place.replaceChildren(button(place.textContent, null, () => {
            const picture = figures(run.prefix).find(figure => figure.dataset.picture === "flow");
            const show = () => {
                line.show(Number(place.dataset.at));
                picture.scrollIntoView({ block: "center" });
            };
            const fold = picture.closest("details");
            if (!fold || fold.open) return show();
            // The charts of the fold are drawn by the same event, before this.
            fold.addEventListener("toggle", show, { once: true });
            fold.open = true;
        }));
    }
    spikes(panel);
    saving(panel.querySelector("[data-save]"), run);
}

// The deadline that runs, or rows of a campaign, have in common.
const shared = all => (all.every(one => one.deadline_ns === all[0].deadline_ns) ? all[0].deadline_ns : null);

async function compared() {
    const prefixes = [...document.querySelectorAll("section.run")].map(section => section.id);
    const all = await Promise.all(prefixes.map(read));
    const names = [...document.querySelectorAll("nav.runs a")].slice(1).map(link => link.textContent);
    const lines = all.map((run, index) => ({
        name: names[index],
        pen: index,
        max: run.threads.reduce((max, thread) => (thread.max_ns > (max ?? -Infinity) ? thread.max_ns : max), null),
        isAtLeast: run.threads.some(thread => thread.max_is_at_least),
        bins: run.threads.flatMap(thread => thread.bins),
        open: stretch(run.threads.map(thread => thread.open).filter(Boolean)),
    }));
    for (const figure of figures("")) {
        const kind = figure.dataset.picture;
        if (kind !== "tail") replace(figure, live => latencies(live, kind, lines, shared(all)));
    }
}

// The rows of a campaign: a chart for those that differ only in kernel or setting.
async function campaign() {
    const lines = await readLines();
    const groups = new Map(lines.map(({ group }) => [group, lines.filter(line => line.group === group)]));
    for (const figure of figures("").filter(({ dataset }) => dataset.picture === "rows")) {
        replace(figure, live => groups.forEach((members, name) => {
            const place = element("div", {}, ...(name ? [element("p", { className: "strip", textContent: name })] : []));
            live.append(place);
            latencies(place, "latency", members, shared(members));
        }));
    }
    document.documentElement.dataset.drawn = "page";
}

unfolding();
// Draws visible charts first, and hidden ones only when shown.
const drawn = new Set();
if (document.querySelector("main.campaign")) campaign();
// The pictures of a comparison and of a trend stay static.
else if (document.querySelector("main.judged")) document.documentElement.dataset.drawn = "page";
else tabs(async id => {
    if (drawn.has(id)) return;
    drawn.add(id);
    if (id === "comparison") await compared();
    else ofRun(await read(id ?? ""));
    document.documentElement.dataset.drawn = [...drawn].join(" ") || "page";
});
