// A chart over the time of a run; all charts share their cursor.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isNear, mark } from "./deadline.js";
import { Rows } from "./live-rows.js";
import { since } from "./units.js";

// The colours of the pages, so that a thread keeps its colour in the report.
const LIGHT = ["#0062a3", "#c84e00", "#00795a", "#a8437f", "#1b1f24", "#8a6a00"];
const DARK = ["#5fb4ee", "#ff9350", "#3ecb9f", "#eb9acb", "#f2f4f6", "#e6c04d"];
const dark = matchMedia("(prefers-color-scheme: dark)");

/** The colour of the total. */
export const ALL = 4;

/** Possible distances of time ticks, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 432000];

export class Chart {
  /** Creates a chart below a heading at this place, with these lines. */
  constructor(place, title, lines, { text, range = null, log = false, deadline = null, height = 300 }) {
    this.box = place.appendChild(document.createElement("div"));
    this.box.appendChild(document.createElement("h2")).textContent = title;
    this.make = () => this.plot(lines, { text, range, log, deadline, height });
    this.data = [[], ...lines.map(() => [])];
    this.make();
    this.resized = new ResizeObserver(() => this.chart.setSize({ width: this.width(), height }));
    this.resized.observe(this.box);
    this.recoloured = () => { this.chart.destroy(); this.make(); };
    dark.addEventListener("change", this.recoloured);
  }

  width() {
    return Math.max(240, Math.floor(this.box.clientWidth));
  }

  plot(lines, { text, range, log, deadline, height }) {
    const colours = dark.matches ? DARK : LIGHT;
    const ink = dark.matches ? "#a6afb8" : "#56616c";
    const grid = { stroke: dark.matches ? "#2b3137" : "#e3e7eb", width: 1 };
    const axis = { stroke: ink, grid, ticks: grid };
    // A logarithmic axis begins at a power of ten, even while there is no line.
    const reach = (high) => isNear(deadline, high) ? Math.max(high, deadline) : high;
    const wide = (_, low, high) => low > 0 ? [10 ** Math.floor(Math.log10(low)), reach(high) * 1.5] : [1e3, 1e6];
    const borders = [undefined, ...lines.map(({ border = "solid" }) => border)];
    this.chart = new uPlot({
      width: this.width(), height,
      // Room for the label of the deadline above the plotted area.
      padding: [deadline === null ? null : 20, null, null, null],
      hooks: { draw: [(u) => mark(u, "y", deadline, deadline === null ? "" : `deadline ${text(deadline)}`)] },
      cursor: { sync: { key: "live" }, points: { show: false }, dataIdx: (u, _, at, time) => Rows.at(u.data[0], time) },
      scales: { x: { time: false }, y: log ? { distr: 3, range: wide } : range ? { range } : {} },
      legend: { markers: { dash: (_, at) => borders[at] } },
      axes: [{ ...axis, incrs: STEPS, values: (_, ticks) => ticks.map(since) },
        { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => tick === null ? "" : text(tick)) }],
      series: [{ label: "from", value: (_, time) => time == null ? "–" : since(time) },
        ...lines.map(({ label, colour, width = 1.25, dash }) => ({
          label, width, dash, stroke: colours[colour % colours.length], points: { show: false },
          // Without a cursor, and in a pause, there is no value.
          value: (_, value) => value == null ? "–" : text(value),
        }))],
    }, this.data, this.box);
  }

  /** Draws these columns, from the first release to the end of the run so far. */
  show(columns, end) {
    this.data = columns;
    this.chart.setData(columns, false);
    this.chart.setScale("x", { min: 0, max: Math.max(end, 1) });
  }

  remove() {
    this.resized.disconnect();
    dark.removeEventListener("change", this.recoloured);
    this.chart.destroy();
    this.box.remove();
  }
}
