// `crates/report/src/page/packed.rs` packs the same numbers into the same characters.
// Invariant (page and server): Packed columns are unpacked unchanged; charts lose no latency.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { inflate, unpack } from "../src/data.js";

const { names, bytes } = JSON.parse(readFileSync(new URL("packed.json", import.meta.url)));

test("columns come back as they were packed", () => {
    const columns = unpack(Buffer.from(bytes, "base64"), names);
    assert.deepEqual([...columns.keys()], names);
    assert.deepEqual(columns.get("rising"), Array.from({ length: 20 }, (_, n) => n * n * 1000));
    assert.deepEqual(columns.get("gaps"), [null, -5, null, 7, 7, null]);
    assert.deepEqual(columns.get("empty"), []);
    assert.deepEqual(columns.get("large"), [3_600_000_000_000, -3_600_000_000_000, 4_000_000_000_000_000, 0]);
});

test("what is deflated in the page is inflated in the browser", async () => {
    const text = "latencies ".repeat(1000);
    assert.equal(new TextDecoder().decode(await inflate(deflateSync(text).toString("base64"))), text);
});
