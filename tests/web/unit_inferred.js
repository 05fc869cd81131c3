// SPDX-License-Identifier: MIT
// Facts inferred by the comparison, by function of the page.
"use strict";
const assert = require("node:assert/strict");
const { load } = require("./modules.js");
const { test } = require("./tap.js");

test("a split-off function names its origin, in its file and not inverted", async () => {
	const { originOf } = await load("inferred.js");
	const page = () => ({
		header: { splits: [{ name: "part", file: "a.py", from_name: "whole", from_file: "a.py" }] },
		functions: { names: ["whole", "part", "part"], files: ["a.py", "b.py"], file: [0, 0, 1] },
	});
	assert.deepEqual([0, 1, 2].map((f) => originOf(page(), f)), ["", "whole", ""]);
	assert.equal(originOf({ ...page(), isSwapped: true }, 1), "");
	assert.equal(originOf({ ...page(), header: {} }, 1), "");
});
