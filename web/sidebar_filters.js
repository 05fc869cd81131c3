// SPDX-License-Identifier: MIT
// The sidebar's filters by module and by verdict, and the rules for names.
import { checkItem, checklist } from "./checklist.js";
import { el, foldedSection, section } from "./dom.js";
import { modulesByCost, verdictFilters } from "./filters.js";
import { wordsOfFrames } from "./cost_words.js";
import { capital, plural } from "./format.js";
import { expressionOf } from "./transform.js";

const MODULES_SHOWN = 60;

// A module in the list. choose: shows only these modules.
function moduleItem([name, cost], sum, { chosenNow, choose }) {
	const item = checkItem("module", name || "(no file)", cost / sum, { onchange: () => {
		const chosen = chosenNow();
		if (item.box.checked) chosen.add(name);
		else chosen.delete(name);
		choose([...chosen]);
	} }, () => choose([name]));
	return { ...item, name };
}

// Initially folded: listing modules by cost needs a walk over the whole tree.
function moduleFilter(model) {
	if (new Set(model.modules).size < 2) return { section: null, sync() {} };
	let items = [];
	const sync = (chosen) => {
		for (const { name, box } of items) box.checked = !chosen || chosen.includes(name);
	};
	const content = () => {
		const all = modulesByCost(model.data, model.modules);
		const sum = all.reduce((total, [, cost]) => total + cost, 0);
		const choose = (chosen) => model.acts.change({
			modules: chosen.length && chosen.length < all.length ? chosen : null,
		});
		const chosenNow = () => new Set(model.state.modules ?? all.map(([name]) => name));
		items = all.slice(0, MODULES_SHOWN)
			.map((module) => moduleItem(module, sum, { chosenNow, choose }));
		sync(model.state.modules);
		return [
			el("p", { class: "quiet hint" }, "Show only paths through these modules"),
			...checklist("modules", items),
			el("button", { class: "link", onclick: () => model.acts.change({ modules: null }) },
				all.length > items.length ?
					`All; showing the ${items.length} largest of ${all.length}` :
					`All ${plural(all.length, "module")}`),
		];
	};
	const folded = foldedSection("modules", "Modules", content);
	folded.open = model.state.modules !== null;
	return { section: folded, sync: () => sync(model.state.modules) };
}

function verdictFilter(model) {
	if (!model.data.isDiff) return { section: null, sync() {} };
	const { many } = wordsOfFrames(model.data.header);
	const options = verdictFilters(model.data)
		.filter(([, , isJudged]) => !isJudged || model.data.verdicts);
	const select = el("select", {
		id: "select-verdict", "aria-label": "Verdict",
		onchange: () => model.acts.change({ verdict: select.value }),
	},
		...options.map(([value, text]) =>
			el("option", { value }, value ? `${capital(many)}: ${text}` : `All ${many}`)));
	return {
		section: section("verdicts", "Verdict",
			el("p", { class: "quiet hint" },
				`Show only paths through ${many} that are`),
			select),
		sync() {
			select.value = model.state.verdict;
		},
	};
}

function ruleFields(model, error) {
	const pattern = el("input", {
		type: "text", id: "rule-pattern", placeholder: "Pattern, e.g. /.*_impl$/",
		"aria-label": "Regular expression", spellcheck: "false", autocomplete: "off",
	});
	const text = el("input", {
		type: "text", id: "rule-text", placeholder: "Replacement, or empty",
		title: "$1 is the first group", "aria-label": "Replacement", spellcheck: "false",
		autocomplete: "off",
	});
	return el("form", { class: "rule", onsubmit: (event) => {
		event.preventDefault();
		if (!expressionOf(pattern.value)) {
			error.textContent = pattern.value ? "Invalid regular expression." :
				"Enter a pattern first.";
			return;
		}
		error.textContent = "";
		model.acts.setRules([...model.state.rules, [pattern.value, text.value]]);
	} }, pattern, text, el("button", { class: "plain" }, "Apply"));
}

function ruleEditor(model) {
	const list = el("ul", { class: "rules" });
	const error = el("p", { class: "error", role: "alert" });
	return {
		section: section("rules", "Name rules", el("p", { class: "quiet hint" },
			"Rewrites names and files. Same names merge; an empty name removes the frame."),
		ruleFields(model, error), error, list),
		sync() {
			list.replaceChildren(...model.state.rules.map(([pattern, text], at) => el("li", {},
				el("code", {}, pattern), " → ",
				text ? el("code", {}, text) : el("span", { class: "quiet" }, "nothing"),
				el("button",
					{ class: "icon small", "aria-label": `Remove the rule ${pattern}`,
						title: "Remove",
						onclick: () =>
							model.acts.setRules(model.state.rules.filter((_, k) => k !== at)) },
						"×"))));
		},
	};
}

// {sections, sync}: sync() shows the state.
export function buildChoices(model) {
	const parts = [verdictFilter(model), moduleFilter(model), ruleEditor(model)];
	return {
		sections: parts.map((part) => part.section),
		sync: () => parts.forEach((part) => part.sync()),
	};
}
