// SPDX-License-Identifier: MIT
// Columns of numbers: reading them, and their array types.
"use strict";
const assert = require("node:assert/strict");
const { load } = require("./modules.js");
const { test } = require("./tap.js");

// Columns of bytes, one behind the other; by name [type, the numbers, bytes of it, its unit].
async function columnsOf(columns) {
	const { Columns } = await load("data.js");
	let at = 0;
	const directory = Object.entries(columns).map(([name, [type, n, bytes, unit = 1]]) => {
		const column = { name, type, n, at, size: bytes.length, unit };
		at += bytes.length;
		return column;
	});
	return new Columns(directory, Uint8Array.from(Object.values(columns).flatMap(([, , bytes]) => bytes)));
}

const sides = (base, head, unit) => ({ "node.self.base": ["u", 2, base, unit], "node.self.head": ["d", 2, head, unit] });

test("a column's numbers mean the same in either kind of array", async () => {
	const columns = await columnsOf(sides([3, 127], [4, 7]));
	for (const Type of [Int32Array, Float64Array]) {
		const base = columns.numbers("node.self.base", Type, 2, 1);
		assert.deepEqual([...base], [0, 3, 127]);
		assert.deepEqual([...columns.numbers("node.self.head", Type, 2, 1, base)], [0, 5, 123]);
	}
});

test("whole numbers of a byte each are kept in half the room, unless a sum of them would not fit", async () => {
	const { selfType } = await load("data.js");
	const small = await columnsOf(sides([3, 127], [4, 7]));
	const header = { nodes: 2, base: { sum: 130 }, head: { sum: 128 } };
	assert.equal(selfType(small, header), Int32Array);
	assert.equal(selfType(small, { nodes: 2, head: { sum: 128 } }), Int32Array);
	for (const change of [{ nodes: 6e6 }, { head: { sum: 2 ** 31 } }, { base: { sum: 0.5 } }])
		assert.equal(selfType(small, { ...header, ...change }), Float64Array, JSON.stringify(change));
	assert.equal(selfType(await columnsOf(sides([3, 127], [4, 7], 0.25)), header), Float64Array);
	assert.equal(selfType(await columnsOf(sides([3, 255, 1], [4, 7])), header), Float64Array);
	assert.equal(selfType(await columnsOf(sides([3, 1], [4, 255, 1])), header), Float64Array);
});

test("a missing column is all zero, when read and in the file", async () => {
	const columns = await columnsOf({ there: ["u", 2, [5, 6]], wide: ["u", 2, [5, 128, 1]], coarse: ["u", 2, [5, 6], 3] });
	assert.deepEqual([...columns.raw("none", 2)], [0, 0]);
	assert.deepEqual([...columns.raw("there", 2)], [5, 6]);
	assert.deepEqual([...columns.raw("wide", 2)], [5, 128]);
	assert.deepEqual([...columns.raw("coarse", 2)], [15, 18]);
});
