// The bins of several lines summed up for the pixels there are. No bin is ever cut: a cell is made
// of whole bins, or it is one bin that is wider than a cell.
import { oneTwoFive } from "./ticks.js";

// All edges of the bins of all lines, whether something was counted between each and the next, and
// the width of the narrowest bin, also as 100 ns at most.
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

// Where a value would stand in a rising list: the number of those that are not larger.
export function rank(list, value) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle] <= value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Edges of cells over a range, and how wide a cell is to be: in ns, or as a share of the latency.
export function cells({ edges, filled, least = 100 }, [from, to], isLog, most) {
    const step = isLog ? oneTwoFive((to / from) ** (1 / most) - 1) : Math.max(least, oneTwoFive((to - from) / most));
    // On a logarithmic axis too they are equally wide for a stretch, as the bins of a run are.
    const width = place => (isLog ? oneTwoFive(place * step) : step);
    const all = [];
    // A width beyond the whole range leaves the range itself.
    for (let place = Math.floor(from / width(from) + 1e-9) * width(from) || from; ; place = round(place, width(place))) {
        const snapped = whole(edges, filled, place);
        // A bin that begins at zero has no place on a logarithmic axis.
        const edge = isLog && snapped <= 0 ? place : snapped;
        if (!all.length || edge > all.at(-1)) all.push(edge);
        if (place >= to) return { edges: all, step };
    }
}

// The next place, without the errors of adding many times.
const round = (place, width) => Math.round((place + width) / width * 1e6) / 1e6 * width;

// The place itself where nothing was counted, else the nearer end of the bin there.
function whole(edges, filled, place) {
    const next = rank(edges, place);
    if (!next || next === edges.length || !filled[next - 1]) return place;
    const [low, high] = [edges[next - 1], edges[next]];
    return place - low <= high - place ? low : high;
}

// What each cell counts of a line, what lies left and right of all cells, and for each edge how
// many latencies were not smaller.
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

// The stretches of all lines together; no end where one of them has none.
export function stretch(all) {
    if (!all.length) return null;
    const ends = all.map(one => one.to_ns);
    return {
        from_ns: Math.min(...all.map(one => one.from_ns)),
        to_ns: ends.includes(null) ? null : Math.max(...ends),
        count: all.reduce((sum, one) => sum + one.count, 0),
    };
}

// Those of unknown size are no smaller than where they begin, and from there on no share is known.
export function withOpen(counted, open, edges) {
    if (!open) return counted;
    const left = counted.left.map((count, edge) => (edges[edge] <= open.from_ns ? count + open.count : null));
    return { ...counted, left };
}
