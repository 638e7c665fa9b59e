// A chart with zoom, cursor and keyboard control; its view decides what it draws.
//
// A view has: label, lines ({name, note, pen}), whole ([from, to]), x and y ({title, isLog, ticks,
// words}), data(range, pixels) (columns, the first is x), stepped, at(index) (text for the cursor's
// position), value(line, index) (text for a line there), and may have marks(u), yRange, sync.
// If values hold for a stretch, index(x) returns the stretch of x, and middle(index) its middle.
import uPlot from "uplot";
import { button, element, legend } from "./controls.js";
import { colour, whenSchemeChanges } from "./pens.js";

const FONT = "12px system-ui, sans-serif";
const TITLE = 22;
const MANY = 3;
const KEYS = "Arrow keys move the cursor, plus and minus zoom, Escape shows the whole range.";

export function chart(figure, view, height, zoomed) {
    const place = element("div", { className: "chart", tabIndex: 0 });
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", `${view.label}. ${KEYS}`);
    const at = element("output", { className: "at" });
    const shown = view.lines.map(() => true);
    let range = view.whole, u = null;
    const lines = legend(view.lines, (line, isShown) => {
        shown[line] = isShown;
        u?.setSeries(line + 1, { show: isShown });
    }, line => view.lines.length > MANY && u?.setSeries(line === null ? null : line + 1, { focus: line !== null }));

    const hover = index => {
        at.textContent = index == null ? "" : view.at(index);
        lines.say(index == null ? null : view.lines.map((_, line) => view.value(line, index)));
    };
    const zoom = (from, to) => {
        const [least, most] = view.whole;
        // Zooming in further would show nothing.
        const missing = Math.max(0, view.closest - (to - from)) / 2;
        range = [Math.max(least, from - missing), Math.min(most, to + missing)];
        if (!(range[1] > range[0])) range = view.whole;
        u?.setData(view.data(range, place.clientWidth));
        zoomed?.(range);
    };
    const closer = factor => {
        const isLog = view.x.isLog;
        const [from, to] = isLog ? range.map(Math.log) : range;
        const middle = (from + to) / 2, half = (to - from) / 2 * factor;
        const next = [middle - half, middle + half];
        zoom(...(isLog ? next.map(Math.exp) : next));
    };
    const whole = () => zoom(...view.whole);
    const build = () => {
        u?.destroy();
        u = new uPlot(options(view, shown, () => range, { zoom, whole, hover }, place.clientWidth, height),
            view.data(range, place.clientWidth), place);
        place.plot = u;
    };
    const buttons = element("div", { className: "zoom" },
        button("+", "Zoom in", () => closer(0.5)), button("−", "Zoom out", () => closer(2)),
        button(view.wholeWords, null, whole));

    place.addEventListener("keydown", event => {
        const act = {
            ArrowLeft: () => step(u, view, -1), ArrowRight: () => step(u, view, 1),
            "+": () => closer(0.5), "-": () => closer(2), Escape: whole,
        }[event.key];
        if (act) {
            event.preventDefault();
            act();
        }
    });
    figure.append(place, at, lines.box);
    build();
    new ResizeObserver(() => {
        if (!place.clientWidth || place.clientWidth === u.width) return;
        u.setSize({ width: place.clientWidth, height });
        u.setData(view.data(range, place.clientWidth));
    }).observe(place);
    whenSchemeChanges(() => u.redraw());
    return { zoom, whole, build, buttons, refresh: () => u.setData(view.data(range, place.clientWidth)),
        point: x => u.setCursor({ left: u.valToPos(x, "x"), top: u.over.clientHeight / 2 }) };
}

// Moves the cursor by a value, or by a pixel if there are more values than pixels.
function step(u, view, direction) {
    const now = u.cursor.left >= 0 ? u.cursor.left : u.over.clientWidth / 2;
    const index = (view.middle ? view.index(u.posToVal(now, "x")) : u.posToIdx(now)) + direction;
    const place = view.middle?.(index) ?? u.data[0][Math.min(u.data[0].length - 1, Math.max(0, index))];
    const next = u.valToPos(place, "x");
    const left = direction > 0 ? Math.max(now + 1, next) : Math.min(now - 1, next);
    u.setCursor({ left: Math.min(u.over.clientWidth - 1, Math.max(0, left)), top: u.over.clientHeight / 2 });
}

function options(view, shown, range, act, width, height) {
    const axis = (side, { title, isLog, ticks, words }, each) => ({
        ...(title && { label: typeof title === "function" ? () => title() : title, labelFont: FONT, labelSize: TITLE }),
        // Without a title keep its room, so that charts over the same time are aligned.
        font: FONT, scale: side, gap: 4, size: side === "y" ? (title ? 64 : 64 + TITLE) : 26,
        stroke: () => colour("--ink"),
        grid: { stroke: () => colour("--ll-grid"), width: 1 },
        ticks: { stroke: () => colour("--ll-grid"), width: 1, size: 4 },
        splits: (u, _, from, to) => ticks(from, to, side === "x" ? u.over.clientWidth || width : height, each, isLog),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map(words),
    });
    const line = ({ pen }, index) => ({
        stroke: pen.stroke, dash: pen.dash, width: 1.5, show: shown[index], scale: "y",
        points: { show: false }, spanGaps: false,
        ...(view.stepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
    });
    const isAlone = type => type === "mousemove" || type === "mouseleave";
    return {
        width, height, legend: { show: false },
        ...(view.top && { padding: [view.top, null, null, null] }),
        focus: { alpha: 0.25 },
        scales: {
            x: { time: false, distr: view.x.isLog ? 3 : 1, range: () => range() },
            y: { distr: view.y.isLog ? 3 : 1, range: (_, from, to) => view.yRange(from, to) },
        },
        axes: [axis("x", view.x, 90), axis("y", view.y, 40)],
        series: [{}, ...view.lines.map(line)],
        cursor: {
            y: false,
            points: { show: view.lines.length <= 16 && !view.stepped && !view.index },
            focus: { prox: view.lines.length > MANY ? 20 : -1 },
            drag: { x: true, y: false, setScale: false },
            bind: { dblclick: () => () => { act.whole(); return null; } },
            ...(view.sync && { sync: { key: view.sync, setSeries: false, scales: ["x", null], filters: { pub: isAlone } } }),
        },
        hooks: {
            setCursor: [u => act.hover(u.cursor.left < 0 ? null
                : view.index ? view.index(u.posToVal(u.cursor.left, "x")) : u.cursor.idx)],
            setSelect: [u => {
                if (u.select.width < 2) return;
                const { left, width } = u.select;
                u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                act.zoom(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
            }],
            draw: [u => view.marks?.(u)],
        },
    };
}
