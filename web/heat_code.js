// SPDX-License-Identifier: MIT
// A line of source as elements: words coloured by what they are, and where samples were underlined.
//
// What colours words is no parser: it knows strings, comments, numbers and Python's keywords, line
// by line, and remembers an open triple quote. Text becomes text nodes, whatever it is.
import { el } from "./dom.js";

const keywords = new Set(("False None True and as assert async await break case class continue def del elif else except " +
	"finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield").split(" "));
const token = /(#.*)|([rbfutRBFUT]{0,2})("""|'''|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(\d[\w.]*)|([^\W\d]\w*)|(@[\w.]+)/gu;

// Ranges [from, to, class] of a line. `open` is the triple quote that it begins in, or "".
function words(text, open) {
	const out = [];
	let at = 0;
	if (open) {
		const end = text.indexOf(open);
		if (end < 0) return { ranges: [[0, text.length, "w-str"]], open };
		at = end + 3;
		out.push([0, at, "w-str"]);
	}
	let after = "";
	token.lastIndex = at;
	for (let m; (m = token.exec(text)); ) {
		const from = m.index, to = token.lastIndex;
		if (m[1]) out.push([from, to, "w-note"]);
		else if (m[3] === '"""' || m[3] === "'''") {
			const end = text.indexOf(m[3], to);
			out.push([from, end < 0 ? text.length : end + 3, "w-str"]);
			if (end < 0) return { ranges: out, open: m[3] };
			token.lastIndex = end + 3;
		} else if (m[3]) out.push([from, to, "w-str"]);
		else if (m[4]) out.push([from, to, "w-num"]);
		else if (m[6]) out.push([from, to, "w-deco"]);
		else if (keywords.has(m[5])) out.push([from, to, "w-key"]);
		else if (after === "def" || after === "class") out.push([from, to, "w-name"]);
		after = m[5];
	}
	return { ranges: out, open: "" };
}

// Offsets of spans are bytes of UTF-8.
function charOffset(text, bytes) {
	if (!/[^\x00-\x7f]/.test(text)) return Math.min(bytes, text.length);
	let at = 0;
	for (const c of text) {
		if (bytes <= 0) break;
		const code = c.codePointAt(0);
		bytes -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		at += c.length;
	}
	return at;
}

// The innermost span at a place: the shortest that covers it.
function spanAt(spans, at) {
	let found = null;
	for (const s of spans)
		if (s.a <= at && at < s.b && (!found || s.b - s.a < found.b - found.a)) found = s;
	return found;
}

// Colours whole texts: line(text, spans, describe) in order.
export class CodePainter {
	constructor() {
		this.open = "";
	}
	line(text, spots = [], describe = () => "") {
		const { ranges, open } = words(text, this.open);
		this.open = open;
		const all = spots.reduce((sum, s) => sum + s.self, 0);
		const spans = spots.filter((s) => s.self > 0).map((s) => ({ ...s, a: charOffset(text, s.from), b: charOffset(text, s.to) }));
		const cuts = new Set([0, text.length]);
		for (const [from, to] of ranges) cuts.add(from).add(to);
		for (const { a, b } of spans) cuts.add(a).add(b);
		const at = [...cuts].filter((c) => c <= text.length).sort((a, b) => a - b);
		const out = [];
		for (let i = 0; i + 1 < at.length; i++) {
			const piece = text.slice(at[i], at[i + 1]);
			const word = ranges.find(([from, to]) => from <= at[i] && at[i] < to)?.[2];
			const span = piece.trim() && spanAt(spans, at[i]);
			if (!word && !span) {
				out.push(piece);
				continue;
			}
			const node = el("span", { class: [word, span && "span"].filter(Boolean).join(" "), title: span ? describe(span, all) : null }, piece);
			if (span) node.style.setProperty("--at", (span.self / (all || 1)).toFixed(3));
			out.push(node);
		}
		return out;
	}
}
