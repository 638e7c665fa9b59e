// The page of a live run: draws the server's events.
import { ALL, Chart } from "./live-chart.js";
import { colourNumbers } from "./live-colours.js";
import { Rows } from "./live-rows.js";
import { count, latency, since } from "./units.js";

/** With more threads than this the total is drawn, and each thread is in the table. */
const DRAWN_THREADS = 6;
/** After this many events the page requests all again, which come merged; this bounds its memory. */
const MOST_EVENTS = 20000;
const CONDITIONS = [
  ["temperature", "Temperature", "°C"],
  ["cpu_frequency", "Frequency", "MHz"],
  ["load", "Load of each CPU", "%"],
];
/** Readings further apart than this, in seconds, have a pause between them. */
const LONGEST_READING = 30;
const STANDINGS = {
  "goes-on": "Running",
  "left-over": "The run was interrupted; the next latlab command on this folder finishes it",
  gone: "The run was removed",
};

const place = (id) => document.getElementById(id);
const events = document.querySelector("main").dataset.events;
let state, source, timer;

/** Everything known about the run; a plan resets it. */
function begin(plan) {
  place("charts").replaceChildren();
  place("findings").replaceChildren(listed("None yet."));
  const threads = plan?.threads ?? [];
  const colours = colourNumbers(threads);
  const pooled = threads.length > DRAWN_THREADS;
  const drawn = pooled ? [{ thread: null, name: "all threads", colour: ALL }]
    : threads.map(({ thread, cpu }, colour) => ({ thread, colour, name: cpu === null ? `thread ${thread}` : `CPU ${cpu}` }));
  const lines = drawn.flatMap(({ name, colour }) => [
    { label: `${name} maximum`, colour, width: 2 },
    { label: `${name} p99.9`, colour, dash: [6, 4], border: "dashed" },
    { label: `${name} median`, colour, dash: [1, 3], border: "dotted" },
    // The stand-in for p99.9 when there are too few latencies.
    { label: `${name} upper limit of p99.9`, colour, width: 1, dash: [2, 6], border: "dashed" },
  ]);
  state = {
    plan, pooled, threads, colours, events: 0, end: 0, lastReading: null, findings: 0, leftOut: 0, word: "The run is being prepared",
    column: new Map(drawn.map(({ thread }, at) => [thread, 4 * at])),
    totals: new Map(threads.map((one) => [one.thread, { ...one, count: 0, overruns: 0, misses: 0, max: null }])),
    latencies: new Rows(lines.length, (plan?.interval_s ?? 1) / 2),
    conditions: new Map(),
    charts: new Map(),
  };
  if (plan) {
    const chart = new Chart(place("charts"), "Latency", lines, { text: latency, log: true, deadline: plan.deadline_ns });
    state.charts.set("latency", [chart, state.latencies]);
    const deadline = plan.deadline_ns === null ? null : `deadline ${latency(plan.deadline_ns)}`;
    place("about").textContent = [plan.name, plan.note, plan.machine, plan.kernel,
      [plan.rhythm, deadline].filter(Boolean).join(", ")].filter(Boolean).join(" · ");
  }
}

function interval(one) {
  const total = state.totals.get(one.thread);
  if (!total) return;
  total.count += one.count;
  total.overruns += one.overruns;
  total.misses += one.misses;
  if (one.max_ns !== null) total.max = Math.max(total.max ?? one.max_ns, one.max_ns);
  state.end = Math.max(state.end, one.to);
  const at = state.column.get(state.pooled ? null : one.thread);
  // Releases of threads are offset, but drawn in the same second.
  const step = state.plan.interval_s;
  const place = (time) => Math.round(time / step) * step;
  const largest = state.pooled ? Math.max : (_, now) => now;
  const [p99_9, limit] = one.p99_9_is_limit ? [null, one.p99_9_ns] : [one.p99_9_ns, null];
  [one.max_ns, p99_9, one.median_ns, limit].forEach((value, k) =>
    state.latencies.put(place(one.from), at + k, value > 0 ? value : null,
      Math.max(step, place(one.to) - place(one.from)), largest));
}

function telemetry({ at, values }) {
  // A reading covers the time since the previous one.
  const since = at - (state.lastReading ?? at);
  const length = since > 0 && since < LONGEST_READING ? since : 1;
  state.lastReading = at;
  for (const [metric, title, unit] of CONDITIONS) {
    const own = Object.entries(values).filter(([name]) => name.startsWith(`${metric} `));
    if (own.length === 0) continue;
    let one = state.conditions.get(metric);
    const names = own.map(([name]) => name.slice(metric.length + 1));
    if (!one || names.some((name) => !one.names.includes(name))) {
      one = { names: [...new Set([...(one?.names ?? []), ...names])], rows: one?.rows ?? new Rows(0, 0.01), title, unit };
      one.rows.widen(one.names.length);
      state.conditions.set(metric, one);
      drawConditions();
    }
    own.forEach(([, value], k) => one.rows.put(at - length, one.names.indexOf(names[k]), value, length));
  }
}

/** The charts of the conditions have a fixed order below the latencies. */
function drawConditions() {
  for (const [metric] of CONDITIONS) {
    const one = state.conditions.get(metric);
    state.charts.get(metric)?.[0].remove();
    if (!one) continue;
    const lines = one.names.map((label, place) => ({ label, colour: state.colours.cpu(label) ?? place }));
    const text = (value) => `${Number(value.toFixed(1))} ${one.unit}`;
    const range = one.unit === "%" ? [0, 100] : null;
    state.charts.set(metric, [new Chart(place("charts"), one.title, lines, { text, range, height: 150 }), one.rows]);
  }
}

function finding({ severity, code, text, remedy }) {
  if (state.findings === 0) place("findings").replaceChildren();
  state.findings += 1;
  place("findings").append(listed(`${severity}, ${code}: ${text}${remedy ? ` Remedy: ${remedy}` : ""}`));
}

function listed(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

/** The main answer so far. */
function answer() {
  const totals = [...state.totals.values()], all = (key) => totals.reduce((sum, one) => sum + one[key], 0);
  const largest = totals.map((one) => one.max).filter((max) => max !== null).sort((one, other) => other - one)[0];
  if (largest === undefined) return "";
  const deadline = state.plan?.deadline_ns ?? null, releases = count(all("count") + all("overruns"));
  const misses = deadline === null ? `${releases} releases so far`
    : `${all("misses") === 0 ? "None" : count(all("misses"))} of ${releases} releases missed the ${latency(deadline)} deadline so far`;
  return `${misses}; the largest took ${latency(largest)}.`;
}

function threads() {
  const row = (kind, cells) => {
    const line = document.createElement("tr");
    for (const text of cells) line.appendChild(document.createElement(kind)).textContent = text;
    return line;
  };
  const head = row("th", place("threads").dataset.heads.split("|"));
  const rows = [...state.totals.values()].map((one) => row("td",
    [one.thread, one.cpu ?? "floats", count(one.count), count(one.overruns),
      state.plan?.deadline_ns == null ? "–" : count(one.misses), one.max == null ? "–" : latency(one.max)]));
  const top = document.createElement("thead"), body = document.createElement("tbody");
  top.append(head);
  body.append(...rows);
  place("threads").replaceChildren(top, body);
}

/** Draws at most once per frame. */
function draw() {
  timer ??= requestAnimationFrame(() => {
    timer = undefined;
    for (const [chart, rows] of state.charts.values()) chart.show(rows.columns(), state.end);
    threads();
    place("answer").textContent = answer();
    const length = seconds => since(Math.floor(seconds)).slice(1);
    const planned = state.plan?.planned_s ? ` of ${length(state.plan.planned_s)}` : "";
    if (!state.over) say(`${state.word}: ${length(state.end)}${planned} measured${state.lost ?? ""}`);
    const joined = state.plan && state.end > state.plan.whole_s
      ? "Data older than ten minutes is merged: counts and maxima are exact, p99.9 is the largest of the merged values, the median their mean, and each condition is one of the readings." : "";
    const pooled = state.pooled ? `The chart shows the largest of ${state.threads.length} threads. ` : "";
    place("joined").textContent = pooled + joined;
  });
}

function say(text) {
  if (place("standing").textContent !== text) place("standing").textContent = text;
}

function standing({ standing: word, reason, damaged_bytes: damaged, findings_left_out: leftOut }) {
  state.word = STANDINGS[word] ?? `The run cannot be shown live: ${reason}`;
  if (word === "goes-on" && !state.plan) state.word = "The run is being prepared";
  const lost = damaged > 0 ? `; ${count(damaged)} bytes of its journal are damaged` : "";
  state.lost = lost + (leftOut > 0 ? `; ${leftOut} more findings are in its report` : "");
  if (word === "gone" || reason) over(`${state.word}.`);
}

function over(text, link) {
  source.close();
  state.over = true;
  say(text);
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.textContent = "open its report";
    place("standing").append(" ", anchor);
  }
}

function follow() {
  source = new EventSource(events);
  const on = (name, take) => source.addEventListener(name, (event) => {
    take(JSON.parse(event.data));
    state.events += 1;
    draw();
    // The repeated events begin with a plan.
    if (state.events > MOST_EVENTS && !state.over) {
      state.events = 0;
      source.close();
      follow();
    }
  });
  on("plan", begin);
  on("interval", interval);
  on("telemetry", telemetry);
  on("finding", finding);
  on("standing", standing);
  on("finished", ({ report }) => over("The run has finished:", report));
  source.onerror = () => say(source.readyState === EventSource.CLOSED
    ? "The server refused the request: reload the page." : "The connection to the server is lost; trying again …");
}

begin(null);
follow();
