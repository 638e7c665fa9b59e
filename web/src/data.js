// Unpacks the data of a page, packed by `crates/report/src/page/packed.rs`.

// Each column: the number of its values, then the difference of each from the previous one as a
// zigzag varint plus one; zero stands for a missing value.
export function unpack(bytes, names) {
    let at = 0;
    const varint = () => {
        // No shifts, which have only 32 bits.
        let value = 0, weight = 1, byte;
        do {
            byte = bytes[at++];
            value += (byte & 127) * weight;
            weight *= 128;
        } while (byte > 127);
        return value;
    };
    const column = () => {
        const values = new Array(varint());
        let last = 0;
        for (let index = 0; index < values.length; index++) {
            const packed = varint();
            if (packed === 0) {
                values[index] = null;
                continue;
            }
            const zigzag = packed - 1;
            last += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
            values[index] = last;
        }
        return values;
    };
    return new Map(names.map(name => [name, column()]));
}

export async function inflate(base64) {
    const deflated = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
    const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The ids of a run's parts begin with its prefix, which is empty on the page of a single run.
export const part = (prefix, name) => document.getElementById(prefix ? `${prefix}-${name}` : name);

export async function readRun(prefix) {
    const head = JSON.parse(part(prefix, "head").textContent);
    const columns = unpack(await inflate(part(prefix, "packed").textContent), head.columns);
    const edges = columns.get("edges");
    const threads = head.threads.map((thread, index) => ({
        ...thread,
        // `thread 0, CPU 1` breaks only at its comma.
        name: thread.name.replaceAll(/(?<!,) /g, "\u00a0"),
        bins: bins(columns, index, edges),
        rows: rows(columns, index),
    }));
    // The still pictures assign their colours in this order.
    const byMaximum = (a, b) => (b.max_ns ?? -1) - (a.max_ns ?? -1) || a.thread - b.thread;
    return { ...head, prefix, columns, threads: threads.sort(byMaximum) };
}

// The lines of a page that is not about one run.
export async function readLines() {
    const head = JSON.parse(part("", "lines").textContent);
    const columns = unpack(await inflate(part("", "packed").textContent), head.columns);
    const edges = columns.get("edges");
    return head.lines.map((line, index) => ({ ...line, max: line.max_ns, bins: bins(columns, index, edges) }));
}

function bins(columns, index, edges) {
    const [first, end, count] = ["first", "end", "count"].map(name => columns.get(`bins${index}.${name}`));
    return first.map((low, bin) => ({ low: edges[low], high: edges[end[bin]], count: count[bin] }));
}

function rows(columns, index) {
    const names = ["part", "parts", "count", "overruns", "min", "median", "p99_9", "limit", "max"];
    return Object.fromEntries(names.map(name => [name, columns.get(`rows${index}.${name}`)]));
}
