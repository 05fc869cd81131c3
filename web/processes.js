// SPDX-License-Identifier: MIT
// The process filter of a recording with several processes. It selects the threads of the chosen
// processes, so everything that depends on the thread filter follows.
import { checkItem, checklist } from "./checklist.js";
import { el, section } from "./dom.js";
import { formatCount } from "./format.js";

// [{label, threads, sum}], most expensive first, without processes that have no samples. sums:
// costs of threads.
function processesOf(threads, sums) {
	const byLabel = new Map();
	threads.forEach((t, i) => {
		const label = t.process ?? "";
		if (!byLabel.has(label)) byLabel.set(label, { label, threads: [], sum: 0 });
		const p = byLabel.get(label);
		p.threads.push(i);
		p.sum += sums[i];
	});
	return [...byLabel.values()].filter((p) => p.sum > 0).sort((a, b) => b.sum - a.sum);
}

// {section, sync}: sync() shows the state.
export function buildProcesses(model, sums) {
	const { threads } = model.data.header;
	const processes = processesOf(threads, sums);
	if (processes.length < 2) return { section: null, sync() {} };
	const all = sums.reduce((a, b) => a + b, 0);
	const choose = (chosen) => {
		const flags = new Uint8Array(threads.length);
		for (const p of chosen) for (const i of p.threads) flags[i] = 1;
		model.acts.set({ threads: flags.includes(0) && flags.includes(1) ? flags : null });
	};
	const items = processes.map((p) => checkItem("process", p.label, p.sum / all, {
		"data-process": p.label,
		onchange: () => choose(processes.filter((_, k) => items[k].box.checked)),
	}, () => choose([p])));
	return {
		section: section("processes", "Processes", ...checklist("processes", items),
			el("button", { class: "link", onclick: () => model.acts.set({ threads: null }) },
				`All ${formatCount(processes.length)} processes`)),
		sync() {
			const { threads: flags } = model.state;
			processes.forEach((p, k) => {
				const n = p.threads.filter((i) => !flags || flags[i]).length;
				items[k].box.checked = n === p.threads.length;
				items[k].box.indeterminate = n > 0 && n < p.threads.length;
			});
		},
	};
}
