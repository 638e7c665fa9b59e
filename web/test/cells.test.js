// Whatever the range and the axis, no count is invented or lost.
// Invariant (page and server): Packed columns are unpacked unchanged; charts lose no latency.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cells, countsOf, edgesOf, stretch, withOpen } from "../src/cells.js";

const bins = [0, 100, 4_900, 5_000, 5_100, 5_300, 90_000, 1_000_000, 1_100_000].map((low, at) => (
    { low, high: low + (low >= 1_000_000 ? 62_500 : 100), count: 10 ** (at % 4) }));
const total = bins.reduce((sum, bin) => sum + bin.count, 0);

for (const isLog of [true, false]) {
    for (const range of [[50, 1_162_500], [4_950, 5_250], [5_000, 1_050_000], [200_000, 300_000]]) {
        for (const most of [3, 50, 1000]) {
            test(`every latency is in a cell or outside of all: ${isLog} ${range} ${most}`, () => {
                const { edges } = cells(edgesOf([bins]), range, isLog, most);
                const { counts, left, below, beyond } = countsOf(bins, edges);
                assert.ok(edges.every((edge, at) => !at || edge > edges[at - 1]));
                assert.equal(counts.reduce((sum, count) => sum + count, 0) + below + beyond, total);
                assert.equal(left[0] + below, total);
                assert.ok(edges.at(-1) >= range[1]);
                const cut = bin => edges.slice(1, -1).some(edge => edge > bin.low && edge < bin.high);
                assert.ok(!bins.some(bin => bin.low > 0 && cut(bin)), "no bin is cut");
            });
        }
    }
}

test("latencies of unknown size are no smaller than where they begin", () => {
    const open = { from_ns: 400_000, to_ns: 1_280_000, count: 500 };
    const counted = { counts: [7, 0, 0], left: [7, 0, 0, 0] };
    const { left } = withOpen(counted, open, [0, 100_000, 400_000, 1_280_000]);
    assert.deepEqual(left, [507, 500, 500, null]);
    assert.deepEqual(withOpen(counted, null, []), counted);
    assert.deepEqual(stretch([open, { from_ns: 200_000, to_ns: 900_000, count: 1 }]), { from_ns: 200_000, to_ns: 1_280_000, count: 501 });
    assert.equal(stretch([open, { from_ns: 200_000, to_ns: null, count: 1 }]).to_ns, null);
    assert.equal(stretch([]), null);
});

test("bins of a file are the unit of its heights, where all of them are wider", () => {
    const wide = [0, 10_000, 20_000].map(low => ({ low, high: low + 10_000, count: 1 }));
    assert.deepEqual(cells(edgesOf([wide]), [0, 30_000], false, 300), { edges: [0, 10_000, 20_000, 30_000], step: 10_000 });
});
