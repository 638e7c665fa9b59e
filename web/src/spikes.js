// One spike as a zoomable timeline: the parts of the wake-up above what had the CPU, with the name of
// what the pointer is on. It is drawn when the spike is opened; the bar in its head stays.
import { button, element } from "./controls.js";
import { ticks } from "./ticks.js";
import { latency } from "./units.js";

const MOST = 1000;
const STEP = 2;
const TICK = 110;

// The cells of the bar: start and end in ns, part of the wake-up, name, and further details.
export function stretchesOf(cells) {
    return cells.map(({ dataset, className, title }) => ({
        from: Number(dataset.from), to: Number(dataset.to), part: dataset.part, name: dataset.name, className, title,
    }));
}

// Merges neighbours of the same part.
export function partsOf(stretches) {
    const parts = [];
    for (const { from, to, part } of stretches) {
        const last = parts.at(-1);
        if (last?.part === part) last.to = to;
        else parts.push({ from, to, part });
    }
    return parts;
}

// The new start of the scrolled view, so that the content at a place stays there when it becomes
// `factor` times as large.
export const scrolledTo = (scroll, place, factor) => (scroll + place) * factor - place;

function line(stretches) {
    const whole = stretches.at(-1).to;
    const percent = time => `${(100 * time) / whole}%`;
    const place = (one, from, to) => {
        one.style.left = percent(from);
        one.style.width = percent(to - from);
        return one;
    };
    const said = element("p", { className: "said", textContent: "Point at a part for its name." });
    const parts = partsOf(stretches).map(({ from, to, part }) => {
        const title = `${part}: ${latency(to - from)}`;
        return place(element("span", { className: "part", textContent: part, title }), from, to);
    });
    const cells = stretches.map(stretch => {
        const { from, to, name, className, title } = stretch;
        const cell = place(element("span", { className, textContent: name }), from, to);
        const tell = () => { said.textContent = title; };
        cell.tabIndex = to - from >= whole / 100 ? 0 : -1;
        cell.onpointerenter = tell;
        cell.onfocus = tell;
        return cell;
    });
    const axis = element("div", { className: "axis" });
    const track = element("div", { className: "track" },
        element("div", { className: "row" }, ...parts), element("div", { className: "row" }, ...cells), axis);
    const view = element("div", { className: "view" }, track);
    let zoom = 1;
    const draw = () => {
        track.style.width = `${100 * zoom}%`;
        axis.replaceChildren(...ticks(0, whole, view.clientWidth * zoom, TICK, false).map(time => {
            const tick = element("span", { textContent: latency(time) });
            tick.style.left = percent(time);
            return tick;
        }));
    };
    const zoomTo = (wanted, at = view.clientWidth / 2) => {
        const next = Math.min(MOST, Math.max(1, wanted));
        const scroll = scrolledTo(view.scrollLeft, at, next / zoom);
        zoom = next;
        draw();
        view.scrollLeft = scroll;
    };
    view.addEventListener("wheel", event => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        zoomTo(zoom * 1.2 ** (-event.deltaY / 50), event.clientX - view.getBoundingClientRect().left);
    }, { passive: false });
    view.ondblclick = event => zoomTo(zoom * STEP, event.clientX - view.getBoundingClientRect().left);
    const buttons = element("div", { className: "zoom" },
        button("+", "Zoom in", () => zoomTo(zoom * STEP)), button("−", "Zoom out", () => zoomTo(zoom / STEP)),
        button("whole", "Show the whole spike", () => zoomTo(1)));
    return { box: element("div", { className: "parts" }, buttons, view, said), draw };
}

export function spikes(place) {
    for (const fold of place.querySelectorAll("details.spike")) {
        fold.addEventListener("toggle", () => {
            const stretches = stretchesOf([...fold.querySelectorAll("summary .cell")]);
            if (!stretches.length) return;
            const { box, draw } = line(stretches);
            fold.querySelector("summary").after(box);
            draw();
            document.documentElement.dataset.spike = "drawn";
        }, { once: true });
    }
}
