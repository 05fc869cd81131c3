// SPDX-License-Identifier: MIT
// Filters by module and verdict, and name rules: sums equal those of the selected samples.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { centreOf, readTree, withPage } = require("./browser.js");
const { judgedPage, judgedText } = require("./judged.js");
const { cliJson, diffPage, newFile, pathCosts, profilePage, someProgram, withWatching, writeProfile, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

function compareWith(nodes, side, costs) {
	const shown = nodes.filter((n) => n[side].total > 0);
	assert.equal(shown.length, costs.size);
	for (const n of shown) assert.deepEqual(n[side], costs.get(n.key), n.key);
}

test("a module filter keeps the samples that pass through its code, on both sides, also inverted and in a thread", async () => {
	const passes = (s) => s.stack.some((f) => f.file.endsWith("/module_3.py"));
	for (const [hash, options] of [["", {}], ["&inverted=1", { inverted: true }], ["&thread=tid+101", { tid: 101 }]])
		await withPage(diffPage(base, head, ["exact"]), { hash: `module=module_3${hash}` }, async (page) => {
			const { nodes, all } = await readTree(page);
			compareWith(nodes, "base", pathCosts(base.filter(passes), options));
			compareWith(nodes, "head", pathCosts(head.filter(passes), options));
			if (!options.tid) assert.equal(all[1], head.filter(passes).reduce((sum, s) => sum + s.count, 0));
			await page.evaluate(() => fizeau.set({ tab: "table" }));
			const files = await page.evaluate(() => [...new Set(fizeau.table.shown.map((r) => fizeau.model.modules[fizeau.data.functions.file[r.f]]))]);
			assert.deepEqual(files, ["module_3"]);
		});
});

test("the sidebar selects modules, a chip undoes it", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const all = (await readTree(page)).all[1];
		assert.equal(await page.locator("#section-modules li").count(), 0, "made when it is opened");
		await page.click("#section-modules summary");
		await page.locator("#section-modules li", { hasText: "module_2" }).hover();
		await page.locator("#section-modules li", { hasText: "module_2" }).locator(".only").click();
		assert.ok((await readTree(page)).all[1] < all);
		assert.match(await page.innerText("#chips"), /module_2/);
		assert.equal(await page.locator("#section-modules input[type=checkbox]:checked").count(), 1);
		await page.reload();
		await page.waitForSelector("html[data-ready]");
		assert.equal(await page.locator("#section-modules input[type=checkbox]:checked").count(), 1, "what a link chooses is open");
		await page.click(".chip");
		assert.equal((await readTree(page)).all[1], all);
		assert.equal(await page.innerText("#chips"), "");
	});
});

test("a verdict filter keeps paths through functions of that verdict", async () => {
	const json = JSON.parse(judgedText("json"));
	await withPage(judgedPage(), {}, async (page) => {
		for (const [verdict, is] of [
			["changed", (f) => f.self_verdict === "changed"], ["unknown", (f) => f.self_verdict === "unknown"], ["unchanged", (f) => f.self_verdict === "unchanged"],
			["new", (f) => f.state === "new"], ["removed", (f) => f.state === "removed"],
		]) {
			await page.selectOption("#select-verdict", verdict);
			await page.evaluate(() => fizeau.set({ tab: "table" }));
			const shown = await page.evaluate(() => fizeau.table.shown.map((r) => fizeau.data.functions.names[r.f]));
			assert.deepEqual(shown.sort(), json.functions.filter(is).map((f) => f.name).sort(), verdict);
			const passing = await page.evaluate(() => {
				const { tree } = fizeau.flame.picture;
				const wanted = new Set(fizeau.table.shown.map((r) => r.f));
				for (let i = 1; i < tree.n; i++) {
					if (!tree.self[0][i] && !tree.self[1][i]) continue;
					let at = i;
					while (at > 0 && !wanted.has(tree.func[at])) at = tree.parent[at];
					if (at === 0) return false;
				}
				return true;
			});
			assert.ok(passing, verdict);
		}
		assert.match(await page.innerText("#table"), /for the whole run/);
		assert.match(await page.evaluate(() => location.hash), /verdict=removed/);
	});
});

const rules = [["function_(\\d)\\d", "family_$1"], ["/module_\\d", "/module"]];
const rename = (s) => ({ ...s, stack: s.stack.map((f) => ({
	...f, name: f.name.replace(/function_(\d)\d/g, "family_$1"), file: f.file.replace(/\/module_\d/g, "/module") })) });

test("rules for names merge functions and their paths on both sides", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		for (const [pattern, text] of rules) {
			await page.fill("#rule-pattern", pattern);
			await page.fill("#rule-text", text);
			await page.keyboard.press("Enter");
		}
		for (const inverted of [false, true]) {
			await page.evaluate((on) => fizeau.set({ inverted: on }), inverted);
			const { nodes } = await readTree(page);
			compareWith(nodes, "base", pathCosts(base.map(rename), { inverted }));
			compareWith(nodes, "head", pathCosts(head.map(rename), { inverted }));
			const orders = new Map();
			for (const n of nodes) orders.set(n.parent, [...(orders.get(n.parent) ?? []), Math.max(n.base.total * (await page.evaluate(() => fizeau.data.factor)), n.head.total)]);
			for (const weights of orders.values()) assert.deepEqual(weights, [...weights].sort((a, b) => b - a));
		}
		await page.evaluate(() => fizeau.set({ inverted: false, threads: Uint8Array.of(0, 1, 0) }));
		const label = await page.evaluate(() => fizeau.data.header.threads[1].label);
		compareWith((await readTree(page)).nodes, "head", pathCosts(head.map(rename), { tid: Number(label.slice(4)) }));
		await page.reload();
		await page.waitForSelector("html[data-ready]");
		compareWith((await readTree(page)).nodes, "head", pathCosts(head.map(rename), { tid: Number(label.slice(4)) }));
		await page.click(".chip:last-child");
		compareWith((await readTree(page)).nodes, "base", pathCosts(base, { tid: Number(label.slice(4)) }));
	});
});

test("a rule has the effect of the same option on the command line's --rename does", async () => {
	const files = [writeProfile(base), writeProfile(head)];
	const json = cliJson("diff", ...files, "--match", "names", "--rename", "function_([0-9])[0-9]=family_\\1");
	await withPage(diffPage(...files, ["names"]), {}, async (page) => {
		await page.evaluate(() => fizeau.setRules([["function_([0-9])[0-9]", "family_$1"]]));
		const costs = await page.evaluate(() => fizeau.data.functions.names.slice(0, fizeau.data.functions.n).map((name, f) => [name, fizeau.data.functions.files[fizeau.data.functions.file[f]],
			...[0, 1].flatMap((s) => [fizeau.costs.self[s][f], fizeau.costs.total[s][f]])].join(" ")).sort());
		assert.deepEqual(costs, json.functions.map((f) => [f.name, f.file, f.base_self, f.base_total, f.head_self, f.head_total].join(" ")).sort());
		assert.equal((await readTree(page)).nodes.length, json.nodes.length);
	});
});

test("an empty name removes frames, their time goes to the caller; a bad pattern is reported", async () => {
	const cut = (s) => ({ ...s, stack: s.stack.filter((f) => !/^function_1\d$/.test(f.name)) });
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		await page.fill("#rule-pattern", "(");
		await page.keyboard.press("Enter");
		assert.match(await page.innerText(".error"), /Invalid regular expression/);
		await page.fill("#rule-pattern", "^function_1\\d$");
		await page.keyboard.press("Enter");
		compareWith((await readTree(page)).nodes, "head", pathCosts(head.map(cut)));
		compareWith((await readTree(page)).nodes, "base", pathCosts(base.map(cut)));
	});
});

test("functions merged by a rule have no verdict, all others keep theirs", async () => {
	await withPage(judgedPage(), { hash: "tab=table&rule=plugin_.*%09plugin&rule=%5Eparse%24%09decode&rule=%5Edigest%24%09" }, async (page) => {
		const words = await page.evaluate(() => Object.fromEntries(fizeau.table.rows.map((row) => [fizeau.data.functions.names[row.f], fizeau.table.verdictOf(row)])));
		assert.deepEqual([words.plugin, words.decode, words.audit, words.escape], ["not judged", "slower", "not judged", "faster"]);
		await page.keyboard.press("x");
		assert.equal(await page.evaluate(() => fizeau.data.functions.names.includes("decode")), true);
		assert.equal(await page.evaluate(() => fizeau.data.isSwapped), true);
	});
});

// The CPU clock does not sample threads that wait, so each process works until it has samples.
const PROCESSES = `
import subprocess, sys
from watching import LASTING
exec(LASTING)
def burn(n):
    return sum(i * i for i in range(n))
def work(n):
    last(n, lambda: burn(20000))
if len(sys.argv) > 1:
    work(int(sys.argv[1]))
else:
    for n in "60", "120": subprocess.run([sys.executable, __file__, n])
    work(60)
`;

test("the process filter shows the same as the command line for one process", async () => {
	const script = writeText(PROCESSES, ".py"), recording = newFile(".fz"), html = newFile(".html");
	const options = { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", env: withWatching };
	try {
		execFileSync(process.env.FIZEAU, ["run", "--subprocesses", "--clock", "cpu", "-o", recording, script], options);
	} catch (error) {
		return `nothing can be recorded here: ${error.stderr.trim().split("\n").at(-1)}`;
	}
	execFileSync(process.env.FIZEAU, ["replay", recording, "-o", html], options);
	// Samples without any frame belong to no function, and to the whole only.
	const costs = (...args) => cliJson("replay", recording, ...args).functions.reduce((sum, f) => sum + f.self, 0);
	const whole = cliJson("replay", recording).total;
	await withPage(html, {}, async (page) => {
		const labels = await page.evaluate(() => [...document.querySelectorAll("#section-processes input[data-process]")].map((b) => b.dataset.process));
		assert.equal(labels.length, 3, labels.join(", "));
		let sum = 0;
		for (const label of labels) {
			const item = page.locator("#section-processes li", { has: page.locator(`input[data-process="${label}"]`) });
			await item.hover();
			await item.locator(".only").click();
			const shown = (await readTree(page)).all[1];
			assert.equal(shown, costs("--process", label.split(" ").at(-1)), label);
			assert.match(await page.innerText("#chips"), new RegExp(label.split(" ").at(-1)));
			sum += shown;
		}
		assert.equal(sum, costs());
		const first = page.locator(`input[data-process="${labels[0]}"]`);
		await page.locator("#section-processes button", { hasText: "All 3 processes" }).click();
		assert.equal((await readTree(page)).all[1], whole);
		await first.click();
		assert.ok(!(await first.isChecked()) && (await readTree(page)).all[1] < whole);
	});
	return undefined;
});

test("threads without a sample are not listed", async () => {
	const three = [...head.slice(0, 40).map((s, i) => ({ ...s, tid: 101 + i % 2 })), { ...head[0], tid: 103, count: 0 }];
	await withPage(profilePage(three), {}, async (page) => {
		assert.equal(await page.evaluate(() => fizeau.data.header.threads.length), 3);
		assert.equal(await page.locator("#section-threads li").count(), 2);
		await page.locator("#section-threads input").first().click();
		const { all } = await readTree(page);
		await page.locator("#section-threads button", { hasText: "All 2 threads" }).click();
		assert.ok(all[1] > 0 && all[1] < (await readTree(page)).all[1]);
	});
});

test("a tooltip names file and line, with module names in the picture too", async () => {
	await withPage(profilePage(head), { hash: "names=module" }, async (page) => {
		const { nodes } = await readTree(page);
		const node = nodes.filter((n) => n.w > 0 && n.name.startsWith("function_")).sort((a, b) => b.w - a.w)[0];
		const at = await centreOf(page, node.i);
		await page.mouse.move(at.x, at.y);
		assert.match(await page.innerText("#tip .place"), /\/module_\d+\.py:\d+$/);
	});
});
