// SPDX-License-Identifier: MIT
// One line of source as elements: syntax colours, and underlines of sampled parts.
//
// Syntax colouring is not a parser: it recognises strings, comments, numbers and keywords of Python
// and of C-like languages, line by line, and remembers an open triple quote or comment at the end
// of a line. Text always becomes text nodes.
import { el } from "./dom.js";

const wordsOf = (text) => new Set(text.split(" "));
const tokensOf = (...kinds) => new RegExp(kinds.map((kind) => kind.source).join("|"), "gu");
const python = {
	keywords: wordsOf(
		"False None True and as assert async await break class continue def del elif else " +
		"except finally for from global if import in is lambda nonlocal not or pass raise " +
		"return try while with yield"),
	// Words that are keywords only at the start of such a line.
	soft: /^\s*(match|case)\b\s*[^\s:=.,)].*:\s*(#.*)?$/u,
	token: tokensOf(
		/(?<note>#.*)/u,
		/(?<string>[rbfutRBFUT]{0,2}(?<quote>"""|'''|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))/u,
		/(?<number>\d[\w.]*)/u,
		/(?<word>[^\W\d]\w*)/u,
		/(?<mark>@[\w.]+)/u),
	ends: { '"""': '"""', "'''": "'''" }, // opening token -> its closing token
	names: ["def", "class"],
};
const cLike = {
	keywords: wordsOf(
		"alignas auto bool break case catch char class const constexpr continue crate default " +
		"delete do double else enum export extends extern false final fn float for func " +
		"function goto if impl import inline int interface let long loop match mod mut " +
		"namespace new nil null nullptr package private protected pub public register return " +
		"self short signed sizeof static struct super switch template this throw trait true try " +
		"typedef typename type union unsigned use using var virtual void volatile where while " +
		"yield NULL async await"),
	token: tokensOf(
		/(?<note>\/\/.*)/u,
		/(?<string>(?<quote>\/\*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\\n])'))/u,
		/(?<number>\d[\w.]*)/u,
		/(?<word>[^\W\d]\w*)/u,
		/(?<mark>^\s*#\s*\w+)/u),
	ends: { "/*": "*/" },
	names: ["struct", "class", "enum", "union", "fn", "func", "function"],
};
const namesOfC =
	/\.(c|h|cc|cpp|cxx|hh|hpp|hxx|inc|m|mm|rs|go|java|kt|js|mjs|cjs|ts|tsx|jsx|cs|swift)$/i;

const languageOf = (file) => (namesOfC.test(file) ? cLike : python);

// Ranges [from, to, class] of a line. `open` is the token that closes the string or comment at its
// start, or "".
function words(text, open, { keywords, soft, token, ends, names }) {
	const out = [], softAt = soft?.test(text) ? text.search(/\S/u) : -1;
	let at = 0;
	const kind = (end) => (end === "*/" ? "w-note" : "w-str");
	if (open) {
		const end = text.indexOf(open);
		if (end < 0) return { ranges: [[0, text.length, kind(open)]], open };
		at = end + open.length;
		out.push([0, at, kind(open)]);
	}
	let after = "";
	token.lastIndex = at;
	for (let m; (m = token.exec(text)); ) {
		const from = m.index, to = token.lastIndex,
			{ note, string, quote, number, word, mark } = m.groups;
		if (note) out.push([from, to, "w-note"]);
		else if (Object.hasOwn(ends, quote ?? "")) {
			const close = ends[quote], end = text.indexOf(close, to);
			out.push([from, end < 0 ? text.length : end + close.length, kind(close)]);
			if (end < 0) return { ranges: out, open: close };
			token.lastIndex = end + close.length;
		} else if (string) out.push([from, to, "w-str"]);
		else if (number) out.push([from, to, "w-num"]);
		else if (mark) out.push([from, to, "w-deco"]);
		else if (keywords.has(word) || from === softAt) out.push([from, to, "w-key"]);
		else if (names.includes(after)) out.push([from, to, "w-name"]);
		after = word;
	}
	return { ranges: out, open: "" };
}

// Offsets of spans are bytes of UTF-8.
function charOffset(text, bytes) {
	if (!/\P{ASCII}/u.test(text)) return Math.min(bytes, text.length);
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

// Colours a file's text: line(text, spans, describe) in order.
export class CodePainter {
	constructor(file) {
		this.language = languageOf(file);
		this.open = "";
	}
	// A line that is not shown.
	skip(text) {
		this.open = words(text, this.open, this.language).open;
	}
	line(text, spots = [], describe = () => "") {
		const { ranges, open } = words(text, this.open, this.language);
		this.open = open;
		const all = spots.reduce((sum, s) => sum + s.self, 0);
		const spans = spots.filter((s) => s.self > 0).map((s) => ({
			...s, a: charOffset(text, s.from), b: charOffset(text, s.to),
		}));
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
			const node = el("span",
				{
					class: [word, span && "span"].filter(Boolean).join(" "),
					title: span ? describe(span, all) : null,
				}, piece);
			if (span) node.style.setProperty("--at", (span.self / (all || 1)).toFixed(3));
			out.push(node);
		}
		return out;
	}
}
