// The two charts of the sizes of latencies: the histogram, and the share that was not smaller. Both
// count again for each range, so that every pixel shows what is stored.
import { cells, countsOf, edgesOf, rank, stretch, withOpen } from "./cells.js";
import { chart } from "./chart.js";
import { choice, element } from "./controls.js";
import { isNear, mark } from "./deadline.js";
import { colour, pen } from "./pens.js";
import { ticks } from "./ticks.js";
import { count, latency, number, share, termsOf } from "./units.js";

const PIXELS_OF_A_CELL = 2;
// If the largest latency is this many times the median, a linear axis would show little else.
const LONG_TAIL = 12;
// The start of a logarithmic axis of counts, so that a count of one is visible.
const BELOW_ONE = 0.8;

const KINDS = {
    latency: {
        label: ({ many }) => `Histogram of the ${many}`, stepped: true,
        yTitle: (_, step) => `Count per bin (bins of ${step})`,
        // The height of a cell is its count scaled to the usual cell width, but at least one.
        height: ({ counts }, cell, widths) => (counts[cell] ? Math.max(1, counts[cell] / widths[cell]) : 0),
        at: (edges, cell) => `${latency(edges[cell])} to ${latency(edges[cell + 1] ?? edges[cell])}`,
        value: ({ counts }, cell) => count(counts[cell] ?? 0),
        yWords: value => (value >= 1e4 ? `${number(value / 10 ** Math.floor(Math.log10(value)), 1)}e${Math.floor(Math.log10(value))}` : number(value)),
    },
    ccdf: {
        label: ({ many }) => `The share of the ${many} that were not smaller`, stepped: false,
        yTitle: ({ many }) => `Share of ${many}`,
        height: ({ left, total }, cell) => (left[cell] == null ? null : left[cell] / total),
        at: (edges, cell) => `from ${latency(edges[cell])} on`,
        value: ({ left, total }, cell) => (left[cell] == null ? "not known" : left[cell] ? `${share(left[cell] / total)}, ${count(left[cell])}` : "none"),
        yWords: value => (value >= 1e-7 ? `${number(value * 100, 5)} %` : value.toExponential(0)),
    },
};

// Lines are {name, max, isAtLeast, bins, open}; open are latencies beyond the bins of an imported file.
export function latencies(figure, kind, lines, deadline = null) {
    const of = KINDS[kind], terms = termsOf(figure);
    const all = edgesOf(lines.map(line => line.bins));
    if (!all.edges.length) return;
    const first = all.edges[0];
    const largest = Math.max(all.edges.at(-1), ...lines.flatMap(({ open }) => (open ? [open.to_ns ?? open.from_ns * 1.2] : [])));
    // The left end of a logarithmic axis: half of the finest bin.
    const least = all.narrowest / 2;
    const last = isNear(deadline, largest) ? Math.max(largest, deadline * 1.05) : largest;
    const totals = lines.map(({ bins, open }) => (
        bins.reduce((sum, bin) => sum + bin.count, 0) + (open?.count ?? 0)));
    const unknown = stretch(lines.map(line => line.open).filter(Boolean));
    const outside = element("p", { className: "outside" });
    let now = null;

    const view = {
        label: of.label(terms), stepped: of.stepped, wholeWords: "whole range", closest: 2 * all.narrowest,
        lines: lines.map(({ name, max, isAtLeast, pen: number_ }) => (
            { name, note: max == null ? `no ${terms.many}` : `max ${isAtLeast ? "at least " : ""}${latency(max)}`, pen: pen(number_) })),
        x: { title: terms.axis, ticks, words: latency, isLog: last > LONG_TAIL * Math.max(least, median(lines)) },
        y: { ticks, words: of.yWords, isLog: true, title: () => now.title },
        data, yRange,
        ...(of.stepped && { index: value => Math.max(0, rank(now.edges, value) - 1) }),
        top: deadline == null ? 0 : 18,
        marks: u => {
            if (unknown) hatch(u, unknown.from_ns, unknown.to_ns ?? largest);
            mark(u, "x", deadline, `deadline ${latency(deadline)}`);
            maxima(u, lines);
        },
        at: cell => of.at(now.edges, Math.min(cell, now.edges.length - 2)),
        value: (line, cell) => of.value(now.counted[line], Math.min(cell, now.edges.length - 2)),
    };
    const fit = () => { view.whole = [view.x.isLog ? Math.max(least, first) : first, last]; };
    fit();

    function data([from, to], pixels) {
        const { edges, step } = cells(all, [from, to], view.x.isLog, Math.max(50, pixels / PIXELS_OF_A_CELL));
        const widths = edges.slice(1).map((edge, cell) => (
            view.x.isLog ? Math.log(edge / edges[cell]) / Math.log1p(step) : (edge - edges[cell]) / step));
        const counted = lines.map(({ bins, open }, line) => withOpen({ ...countsOf(bins, edges), total: totals[line] }, open, edges));
        now = { edges, counted, title: of.yTitle(terms, view.x.isLog ? `${number(step * 100)} %` : latency(step)) };
        tellOutside();
        const last = of.stepped ? widths.length : edges.length;
        const heights = counted.map(one => edges.map((_, cell) => (cell < last ? of.height(one, cell, widths) : null)));
        now.least = heights.flat().reduce((least, height) => (height > 0 && height < least ? height : least), Infinity);
        // A logarithmic axis has no zero: a step goes to its foot, a line ends.
        const foot = !view.y.isLog ? 0 : of.stepped ? BELOW_ONE / 2 : null;
        return [edges, ...heights.map(one => one.map(height => (height === 0 ? foot : height)))];
    }

    function yRange(from, to) {
        if (from == null || !Number.isFinite(to)) return view.y.isLog ? [0.1, 1] : [0, 1];
        if (!view.y.isLog) return [0, Math.max(to, 1e-12) * 1.05];
        const least = Number.isFinite(now.least) ? now.least : 1;
        return kind === "ccdf" ? [least / 1.5, 1.2] : [BELOW_ONE, Math.max(to, 1) * 1.5];
    }

    function tellOutside() {
        const sum = side => now.counted.reduce((sum, one) => sum + one[side], 0);
        const sides = [["below", "left"], ["beyond", "right"]].filter(([side]) => sum(side) > 0);
        const open = unknown && `Hatched: ${count(unknown.count)} ${terms.many} ${
            unknown.to_ns == null ? `beyond ${latency(unknown.from_ns)}` : `between ${latency(unknown.from_ns)} and ${latency(unknown.to_ns)}`
        }, of unknown size.`;
        outside.textContent = sides.map(([side, name]) => (
            `${count(sum(side))} ${terms.many} lie ${name} of the shown range${side === "beyond" ? `, up to ${latency(largest)}` : ""}.`)).concat(open || []).join(" ");
    }

    const bar = element("div", { className: "controls" });
    figure.append(bar);
    const made = chart(figure, view, kind === "latency" ? 320 : 380);
    const scale = (axis, label) => choice(label, [[true, "log"], [false, "linear"]], view[axis].isLog, isLog => {
        view[axis].isLog = isLog;
        fit();
        made.build();
        made.whole();
    });
    bar.append(scale("x", `${terms.axis} axis`), scale("y", kind === "ccdf" ? "Share axis" : "Count axis"), made.buttons);
    figure.append(outside);
}

// Hatches a stretch that holds latencies of unknown size.
function hatch(u, from, to) {
    const { ctx, bbox } = u, gap = 9 * devicePixelRatio;
    const place = value => Math.max(bbox.left, Math.min(bbox.left + bbox.width, u.valToPos(value, "x", true)));
    const [left, right] = [place(from), place(to)];
    if (right <= left) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.strokeStyle = colour("--ll-muted");
    ctx.globalAlpha = 0.5;
    ctx.beginPath();
    for (let x = left - bbox.height; x < right; x += gap) {
        ctx.moveTo(x, bbox.top + bbox.height);
        ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
}

// A mark at the foot for the observed maximum of each line.
function maxima(u, lines) {
    const { ctx, bbox } = u, size = 4 * devicePixelRatio, foot = bbox.top + bbox.height;
    ctx.save();
    lines.forEach(({ max, pen: number_ }, index) => {
        const x = u.series[index + 1].show && max != null ? u.valToPos(max, "x", true) : -1;
        if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) return;
        ctx.fillStyle = pen(number_).stroke();
        ctx.beginPath();
        ctx.arc(x, foot, size, 0, 2 * Math.PI);
        ctx.fill();
    });
    ctx.restore();
}

function median(lines) {
    const bins = lines.flatMap(line => line.bins).sort((a, b) => a.low - b.low);
    let left = bins.reduce((sum, bin) => sum + bin.count, 0) / 2;
    return bins.find(bin => (left -= bin.count) <= 0)?.low ?? 0;
}
