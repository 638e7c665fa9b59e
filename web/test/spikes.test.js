import assert from "node:assert/strict";
import test from "node:test";
import { stretchesOf, partsOf, scrolledTo } from "../src/spikes.js";

const cell = (from, to, part) => ({ dataset: { from: String(from), to: String(to), part, name: "hog" }, className: "cell", title: "hog" });

test("stretches of one part that follow each other are one part, from the release to the end", () => {
    const stretches = stretchesOf([cell(0, 5, "timer-late"), cell(5, 9, "waiting"), cell(9, 30, "waiting"), cell(30, 31, "return")]);
    assert.deepEqual(partsOf(stretches), [
        { from: 0, to: 5, part: "timer-late" },
        { from: 5, to: 30, part: "waiting" },
        { from: 30, to: 31, part: "return" },
    ]);
});

test("what is under the pointer stays there when the line of time grows", () => {
    const scroll = scrolledTo(100, 50, 2);
    assert.equal((scroll + 50) / 2, 150);
});
