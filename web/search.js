// SPDX-License-Identifier: MIT
// Search: part of a function's name, file or module, `path:line`, or a regular expression.

const modulePrefixes = /^(?:.*\/)?(?:site-packages|dist-packages|python\d+\.\d+)\//;

// A module's name from its file: dotted if below the interpreter's folders, else the file's stem.
export function moduleOf(file) {
	if (!file) return "";
	const m = /^<frozen (.+)>$/.exec(file);
	if (m) return m[1];
	if (!file.endsWith(".py")) return file.slice(file.lastIndexOf("/") + 1);
	const inside = file.replace(modulePrefixes, "");
	const parts = inside.slice(0, -3).split("/").filter(Boolean);
	if (parts.length > 1 && parts.at(-1) === "__init__") parts.pop();
	return inside === file ? parts.at(-1) : parts.join(".");
}

// Matches characters that are rare in plain text and common in regular expressions.
const telling = /\.[*+?]|\\[a-z.]|[^\s(]\||^\^|\$$|\[[^\]]+\][*+]?|\(\?/i;

export function looksLikeExpression(query) {
	return telling.test(query.trim());
}

// {expression}, or {fault}: why it is invalid.
function compileQuery(query) {
	try {
		return { expression: new RegExp(query.trim(), "i") };
	} catch (error) {
		return { fault: error.message.replace(/^Invalid regular expression: /, "") };
	}
}

export class Searcher {
	constructor(data) {
		this.data = data;
		const { functions } = data;
		this.modules = functions.files.map(moduleOf);
		this.lowerNames = null;
	}
	prepare() {
		if (this.lowerNames) return;
		const { functions } = this.data;
		this.lowerNames = functions.names.map((s) => s.toLowerCase());
		this.lowerFiles = functions.files.map((s, i) => `${s}\n${this.modules[i]}`.toLowerCase());
	}
	hasLine(f, line) {
		const { lines, functions } = this.data;
		if (functions.line[f] === line) return true;
		for (let i = lines.first[f]; i < lines.end[f]; i++)
			if (lines.number[i] === line) return true;
		return false;
	}
	// Functions whose name, file or module matches an expression.
	findExpression(query) {
		const { expression, fault } = compileQuery(query);
		const { functions } = this.data;
		const matched = new Uint8Array(functions.n);
		if (fault) return { matched, count: 0, fault };
		const files = functions.files.map((file, i) => expression.test(file) ||
			expression.test(this.modules[i]));
		let count = 0;
		for (let f = 0; f < functions.n; f++)
			count += matched[f] = files[functions.file[f]] || expression.test(functions.names[f]) ?
				1 : 0;
		return { matched, count };
	}

	// Returns a test for names: does the name match, not only the file?
	nameMatcher(query, isExpression) {
		const { names } = this.data.functions;
		const { expression } = isExpression ? compileQuery(query) : {};
		if (expression) return (f) => expression.test(names[f]);
		const text = query.trim().toLowerCase();
		return (f) => names[f].toLowerCase().includes(text);
	}

	// Flags of matching functions and their number, or null without a query. An invalid
	// expression has a fault.
	find(query, isExpression = false) {
		const text = query.trim().toLowerCase();
		if (!text) return null;
		if (isExpression) return this.findExpression(query);
		this.prepare();
		const { functions } = this.data;
		const files = this.lowerFiles.map((s) => s.includes(text));
		const matched = new Uint8Array(functions.n);
		let count = 0;
		for (let f = 0; f < functions.n; f++)
			if (files[functions.file[f]] || this.lowerNames[f].includes(text)) {
				matched[f] = 1;
				count++;
			}
		const place = /^(.+):(\d+)$/.exec(text);
		if (place) {
			const inFile = this.lowerFiles.map((s) => s.includes(place[1]));
			for (let f = 0; f < functions.n; f++)
				if (!matched[f] && inFile[functions.file[f]] && this.hasLine(f, Number(place[2]))) {
					matched[f] = 1;
					count++;
				}
		}
		return { matched, count };
	}
}
