// A step holds for its time, and the cursor reads the step that it points at.
// Invariant (page and server): Intervals are steps over their own time, in the page and live.
import assert from "node:assert/strict";
import { test } from "node:test";
import { colourNumbers } from "../src/live-colours.js";
import { Rows } from "../src/live-rows.js";
import { partAt, stepEdges, stepValues } from "../src/steps.js";

test("a column is level from its begin to its end, the last one too", () => {
    assert.deepEqual(stepEdges(3, 1, 2.5), [0, 1, 1, 2, 2, 2.5]);
    assert.deepEqual(stepValues([5, null, 7]), [5, 5, null, null, 7, 7]);
});

test("a time lies in the column that is drawn there", () => {
    assert.deepEqual([0, 0.99, 6, 6.6, 6.999, 7, 99].map(at => partAt(at, 1, 10)), [0, 0, 6, 6, 6, 7, 9]);
    // Edges that binary fractions cannot represent.
    assert.deepEqual([3, 7, 9].map(part => partAt(part * 0.1, 0.1, 10)), [3, 7, 9]);
});

test("live rows are steps from the start of their interval", () => {
    const rows = new Rows(1, 0.5);
    for (const [time, value, length] of [[0, 5, 1], [1, 60, 1], [2, 5, 1], [9, 7, 1]]) rows.put(time, 0, value, length);
    const [times, values] = rows.columns();
    assert.deepEqual(times, [0, 1, 1, 2, 2, 3, 3, 9, 10]);
    assert.deepEqual(values, [5, 5, 60, 60, 5, 5, null, 7, 7]);
    assert.deepEqual([1.6, 1.01, 2.9, 5, 7, 9.5].map(at => values[Rows.at(times, at)]), [60, 60, 5, null, null, 7]);
});

test("a CPU has the colour of the thread on it", () => {
    const { cpu } = colourNumbers([{ thread: 0, cpu: 2 }, { thread: 1, cpu: 3 }, { thread: 2, cpu: 2 }]);
    assert.deepEqual(["cpu2", "cpu3", "cpu0", "cpu1", "cpu0", "cpu-thermal"].map(cpu), [0, 1, 3, 4, 3, null]);
});
