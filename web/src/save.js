// Saves the data of the page: the run document as stored, and the rows over time as CSV.
import { button } from "./controls.js";
import { part } from "./data.js";

export function saving(place, run) {
    place.after(button("Save run.json", null, () => save("run.json", "application/json", part(run.prefix, "document").textContent)),
        " ", button("Save the rows over time as CSV", null, () => save(`${run.id}.csv`, "text/csv", csv(run))));
}

export function csv(run) {
    const names = ["count", "overruns", "min", "median", "p99_9", "limit", "max"];
    const head = ["thread", "cpu", "from_s", "to_s", "count", "overruns", "min_ns", "p50_ns", "p99_9_ns", "p99_9_is_limit", "max_ns"];
    const seconds = value => String(Number(value.toFixed(6)));
    const lines = run.threads.toSorted((a, b) => a.thread - b.thread).flatMap(({ thread, cpu, rows }) => (
        rows.part.map((from, row) => [thread, cpu ?? "", seconds(from * run.step_s),
            seconds((from + rows.parts[row]) * run.step_s), ...names.map(name => rows[name][row] ?? "")].join(","))));
    return [head.join(","), ...lines, ""].join("\n");
}

function save(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = Object.assign(document.createElement("a"), { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
