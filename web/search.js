// SPDX-License-Identifier: MIT
// Search: part of a function's name, file or module, or `path:line`.

const modulePrefixes = /^.*\/(?:site-packages|dist-packages|python\d+\.\d+)\//;

// A module's name from its file: below the interpreter's folders dotted, else the file's stem.
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
	// Flags of functions that match, or null when there is nothing to search for.
	find(query) {
		const text = query.trim().toLowerCase();
		if (!text) return null;
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
