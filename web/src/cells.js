// Sums the bins of several lines for the available pixels. No bin is ever cut: a cell consists of whole
// bins, or is one bin that is wider than a cell.
import { oneTwoFive } from "./ticks.js";

// All bin edges of all lines, whether anything was counted between each and the next, and the width of the
// narrowest bin, also limited to 100 ns.
export function edgesOf(lines) {
    const edges = [...new Set(lines.flatMap(bins => bins.flatMap(bin => [bin.low, bin.high])))].sort((a, b) => a - b);
    const index = new Map(edges.map((edge, at) => [edge, at]));
    const filled = new Uint8Array(edges.length);
    for (const bins of lines) {
        for (const bin of bins) filled.fill(1, index.get(bin.low), index.get(bin.high));
    }
    const least = lines.flatMap(bins => bins.map(bin => bin.high - bin.low)).reduce((one, other) => Math.min(one, other), Infinity);
    return { edges, filled, least, narrowest: Math.min(least, 100) };
}

// The index of a value in a sorted list: the number of values that are not larger.
export function rank(list, value) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle] <= value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Edges of cells over a range, and the intended width of a cell: in ns, or as a share of the latency.
export function cells({ edges, filled, least = 100 }, [from, to], isLog, most) {
    const step = isLog ? oneTwoFive((to / from) ** (1 / most) - 1) : Math.max(least, oneTwoFive((to - from) / most));
    // On a logarithmic axis, too, cells have the same width over a stretch, like the bins of a run.
    const width = place => (isLog ? oneTwoFive(place * step) : step);
    const all = [];
    // A width beyond the whole range leaves the range itself.
    for (let place = Math.floor(from / width(from) + 1e-9) * width(from) || from; ; place = round(place, width(place))) {
        const snapped = whole(edges, filled, place);
        // A logarithmic axis has no zero, where this bin begins.
        const edge = isLog && snapped <= 0 ? place : snapped;
        if (!all.length || edge > all.at(-1)) all.push(edge);
        if (place >= to) return { edges: all, step };
    }
}

// The next place, without the errors of adding many times.
const round = (place, width) => Math.round((place + width) / width * 1e6) / 1e6 * width;

// The place itself if nothing was counted there, else the nearer edge of its bin.
function whole(edges, filled, place) {
    const next = rank(edges, place);
    if (!next || next === edges.length || !filled[next - 1]) return place;
    const [low, high] = [edges[next - 1], edges[next]];
    return place - low <= high - place ? low : high;
}

// The count of each cell for a line, the counts left and right of all cells, and for each edge the number
// of latencies that were not smaller.
export function countsOf(bins, edges) {
    const counts = new Array(edges.length - 1).fill(0);
    let below = 0, beyond = 0;
    for (const bin of bins) {
        const cell = rank(edges, bin.low) - 1;
        if (cell >= counts.length) beyond += bin.count;
        else if (cell >= 0) counts[cell] += bin.count;
        else if (bin.high > edges[0]) counts[0] += bin.count;
        else below += bin.count;
    }
    const left = new Array(edges.length);
    left[counts.length] = beyond;
    for (let cell = counts.length - 1; cell >= 0; cell--) left[cell] = left[cell + 1] + counts[cell];
    return { counts, left, below, beyond };
}

// The union of the stretches of all lines; without an end if one of them has none.
export function stretch(all) {
    if (!all.length) return null;
    const ends = all.map(one => one.to_ns);
    return {
        from_ns: Math.min(...all.map(one => one.from_ns)),
        to_ns: ends.includes(null) ? null : Math.max(...ends),
        count: all.reduce((sum, one) => sum + one.count, 0),
    };
}

// Latencies of unknown size are at least `open`; beyond that no share is known.
export function withOpen(counted, open, edges) {
    if (!open) return counted;
    const left = counted.left.map((count, edge) => (edges[edge] <= open.from_ns ? count + open.count : null));
    return { ...counted, left };
}
