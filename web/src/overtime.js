// The charts over time of a run: latencies, and the conditions below them. They share range and cursor.
import { chart } from "./chart.js";
import { choice, element } from "./controls.js";
import { isNear, mark } from "./deadline.js";
import { colour, pen } from "./pens.js";
import { partAt, stepEdges, stepValues } from "./steps.js";
import { ticks, timeTicks } from "./ticks.js";
import { count, latency, number, since, termsOf, utc } from "./units.js";

const FIGURES = [["max", "maximum"], ["p99_9", "p99.9"], ["median", "median"], ["min", "minimum"]];
// The columns to show around a finding that the reader has chosen.
const AROUND = 60;

// Draws the charts of a run, with a common range.
export function timeline(run) {
    const charts = [];
    let busy = false;
    const zoomed = range => {
        if (busy) return;
        busy = true;
        charts.forEach(one => one.zoom(...range));
        busy = false;
    };
    const add = (figure, view, height) => {
        const made = chart(figure, { ...base(run), ...view }, height, zoomed);
        charts.push(made);
        return made;
    };
    const show = seconds => {
        const half = Math.max(AROUND * run.step_s, run.measured_s / 200) / 2;
        zoomed([seconds - half, seconds + half]);
        charts.forEach(one => one.point(seconds));
    };
    return { add, show };
}

const base = run => ({
    whole: [0, Math.max(run.measured_s, run.step_s)],
    wholeWords: "whole run",
    closest: run.step_s * 2,
    sync: `time-${run.prefix}`,
    x: { title: "", isLog: false, ticks: timeTicks, words: since },
    marks: u => findings(u, run.findings),
});

export function flow(figure, run, line) {
    const terms = termsOf(figure);
    const length = columnsOf(run, run.step_s);
    const overruns = run.threads.map(thread => spread(thread.rows, "overruns", length));
    const columns = Object.fromEntries(FIGURES.map(([figure]) => (
        [figure, run.threads.map(thread => spread(thread.rows, figure, length))])));
    const limits = run.threads.map(thread => spread(thread.rows, "limit", length));
    const deadline = run.deadline_ns;
    const toDeadline = to => (to != null && isNear(deadline, to) ? Math.max(to, deadline) : to);
    let chosen = "max";
    const view = {
        label: `${terms.titles} over time`,
        lines: run.threads.map(({ name, max_ns: max, pen: number_ }) => (
            { name, note: max == null ? `no ${terms.many}` : `max ${latency(max)}`, pen: pen(number_) })),
        y: { title: terms.axis, isLog: longTail(columns, deadline), ticks, words: latency },
        ...steps(run, run.step_s, length),
        data: () => [stepEdges(length, run.step_s, endOf(run, length)),
            ...columns[chosen].map(one => stepValues(view.y.isLog ? one.map(positive) : one))],
        yRange: (from, to) => heights(from, toDeadline(to), view.y.isLog),
        top: deadline == null ? 0 : 18,
        at: part => stretch(run, part, run.step_s),
        value: (thread, part) => {
            const value = columns[chosen][thread][part], skipped = overruns[thread][part];
            const limit = chosen === "p99_9" && limits[thread][part] ? "at most " : "";
            return `${value == null ? "nothing" : limit + latency(value)}${skipped ? `, ${count(skipped)} overruns` : ""}`;
        },
        marks: u => {
            mark(u, "y", deadline, `deadline ${latency(deadline)}`);
            findings(u, run.findings);
            drawOverruns(u, overruns, run.step_s);
        },
    };
    const bar = element("div", { className: "controls" });
    figure.append(bar);
    const made = line.add(figure, view, 320);
    bar.append(
        choice("Figure", FIGURES, chosen, figure => { chosen = figure; made.refresh(); }),
        choice(`${terms.axis} axis`, [[true, "log"], [false, "linear"]], view.y.isLog, isLog => {
            view.y.isLog = isLog;
            made.build();
        }), made.buttons);
    const all = overruns.flat().reduce((sum, one) => sum + (one ?? 0), 0);
    const points = run.joined > 1 ? ` Each point is the largest of ${number(run.step_s)} s.` : "";
    const marks = all ? " Triangles at the bottom mark intervals with overruns." : "";
    figure.append(element("p", { className: "outside", textContent: (points + marks).trim() }));
}

export function conditions(figure, run, line) {
    const step = run.conditions_step_s;
    run.strips.forEach((strip, number_) => {
        const column = (index, name) => run.columns.get(`strip${number_}.${index}.${name}`);
        const tenths = values => values.map(value => (value == null ? null : value / 10));
        const means = strip.lines.map((_, index) => tenths(column(index, "mean")));
        const [low, high] = ["low", "high"].map(name => strip.lines.map((_, index) => column(index, name)));
        const length = means[0].length;
        const unit = value => `${number(value)} ${strip.unit}`;
        const title = `${strip.title} in ${strip.unit}`;
        figure.append(element("p", { className: "strip", textContent: title }));
        line.add(figure, {
            label: title,
            lines: strip.lines.map((name, index) => ({ name, pen: pen(strip.pens[index]) })),
            y: { title: "", isLog: false, ticks, words: value => number(value) },
            ...steps(run, step, length),
            data: () => [stepEdges(length, step, run.measured_s), ...means.map(stepValues)],
            yRange: (from, to) => (strip.unit === "%" ? [0, Math.max(1, to ?? 0) * 1.05] : heights(from, to, false)),
            at: part => stretch(run, part, step),
            value: (index, part) => {
                const mean = means[index][part];
                if (mean == null) return "not known";
                const range = high[index] ? ` (${number(low[index][part] / 10)} to ${number(high[index][part] / 10)})` : "";
                return unit(mean) + range;
            },
        }, 130);
    });
}

// How many columns a run has.
const columnsOf = (run, step) => Math.max(1, Math.ceil(run.measured_s / step - 1e-6));

// The last column ends with the run.
const endOf = (run, length) => Math.max(run.measured_s, (length - 1) * run.step_s);

// The column at a time, and its middle.
const steps = (run, step, length) => ({
    index: seconds => partAt(seconds, step, length),
    middle: part => (Math.max(0, Math.min(part, length - 1)) + 0.5) * step,
    seconds: step,
});

// A value for every column: a row that covers several is in each of them; without a row there is none.
function spread(rows, name, length) {
    const values = new Array(length).fill(null);
    rows.part.forEach((part, row) => values.fill(rows[name][row], part, Math.min(length, part + rows.parts[row])));
    return values;
}

const positive = value => (value == null ? null : Math.max(1, value));

// Whether a linear axis would squeeze most latencies into its foot.
function longTail({ max, median }, deadline) {
    const known = median.flat().filter(value => value != null).sort((a, b) => a - b);
    const largest = max.flat().reduce((all, one) => Math.max(all, one ?? 0), 0);
    const end = isNear(deadline, largest) ? Math.max(largest, deadline) : largest;
    return end > 20 * (known[known.length >> 1] ?? Infinity);
}

function heights(from, to, isLog) {
    if (from == null || to == null) return isLog ? [1, 10] : [0, 1];
    if (isLog) return [Math.max(1, from) / 1.2, Math.max(1, to) * 1.3];
    const room = Math.max((to - from) * 0.08, Math.abs(to) * 0.02, 1e-9);
    return [Math.min(from - room, from >= 0 ? Math.max(0, from - room) : from - room), to + room];
}

const stretch = (run, part, step) => (
    `${since(part * step)} to ${since(Math.min((part + 1) * step, run.measured_s))} (${utc(run.started, part * step)})`);

// Lines at the times of findings, labelled if there is room.
function findings(u, marks) {
    const { ctx, bbox } = u, ratio = devicePixelRatio;
    let end = -Infinity;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--muted");
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    for (const { code, at_s: at } of marks.toSorted((a, b) => a.at_s - b.at_s)) {
        const x = u.valToPos(at, "x", true);
        if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        const width = ctx.measureText(code).width;
        if (x > end && x + width < bbox.left + bbox.width) {
            ctx.fillText(code, x + 3 * ratio, bbox.top + 11 * ratio);
            end = x + width + 8 * ratio;
        }
    }
    ctx.restore();
}

// A triangle at the foot of every stretch with an overrun of a shown thread.
function drawOverruns(u, overruns, step) {
    const { ctx, bbox } = u, size = 4 * devicePixelRatio, foot = bbox.top + bbox.height;
    ctx.save();
    ctx.fillStyle = colour("--bad");
    const drawn = new Set();
    overruns.forEach((counts, thread) => {
        if (!u.series[thread + 1].show) return;
        counts.forEach((skipped, part) => {
            const x = skipped ? Math.round(u.valToPos((part + 0.5) * step, "x", true)) : -1;
            if (x < bbox.left || x > bbox.left + bbox.width || drawn.has(x)) return;
            drawn.add(x);
            ctx.beginPath();
            ctx.moveTo(x - size, foot);
            ctx.lineTo(x + size, foot);
            ctx.lineTo(x, foot - 2 * size);
            ctx.fill();
        });
    });
    ctx.restore();
}
