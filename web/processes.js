// SPDX-License-Identifier: MIT
// The process filter of a recording with several processes. It selects the threads of the chosen
// processes, so everything that depends on the thread filter follows.
import { el, section } from "./dom.js";
import { formatCount, formatShare } from "./format.js";
import { showName } from "./labels.js";

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
	const items = processes.map((p) => {
		const box = el("input", { type: "checkbox", checked: true, "data-process": p.label,
			onchange: () => choose(processes.filter((_, k) => items[k].box.checked)) });
		const only = el("button", {
			class: "link only", title: "Only this process",
			"aria-label": `only ${showName(p.label)}`, onclick: () => choose([p]),
		}, "only");
		return { box,
			element: el("li", {}, el("label", {}, box, el("span", {}, showName(p.label))), only,
				el("span", { class: "quiet" }, formatShare(p.sum / all))) };
	});
	const find = processes.length > 8 &&
		el("input",
			{ type: "search", class: "find", placeholder: "Filter processes",
				"aria-label": "Filter processes",
				oninput: (e) =>
					items.forEach((item, k) =>
						(item.element.hidden = !processes[k].label.toLowerCase()
							.includes(e.target.value.toLowerCase()))) });
	return {
		section: section("processes", "Processes", find,
			el("ul", { class: "threads" }, ...items.map((i) => i.element)),
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
