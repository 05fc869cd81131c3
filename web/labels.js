// SPDX-License-Identifier: MIT
// Names on one line, shortened to fit: the last component of a name matters most, and template
// arguments least. The same as src/base/short_name.c.
//
//   std::map<std::string, int>::find   std::map<…>::find   …find
//   Parser.parse_statement             …parse_statement    parse_st…

const odd = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

// A name in printable form, on one line.
export function showName(name) {
	if (!name) return "(no name)";
	const text = name.length > 400 ? shortName(name) : name;
	return (text.length > 400 ? `${text.slice(0, 400)}…` : text).replace(odd, "\ufffd");
}

// Whether the ">" at i ends a bracket, which that of "->" does not.
const closesBracket = (text, i) => text[i] === ">" && text[i - 1] !== "-";

// Length of the bracket at the start of a text; 0 if it has no end.
function bracketLength(text) {
	let depth = 0;
	for (let i = 0; i < text.length; i++) {
		if (text[i] === "<") depth++;
		if (closesBracket(text, i) && --depth === 0) return i + 1;
	}
	return 0;
}

// Rust's bracket of a method, with last components of types and traits: "<Vec<…> as Drop>".
function typeAndTrait(inside) {
	let depth = 0, n = 0;
	for (; n < inside.length && (depth || !inside.startsWith(" as ", n)); n++) {
		if (inside[n] === "<") depth++;
		else if (depth && closesBracket(inside, n)) depth--;
	}
	const parts = n < inside.length ? [inside.slice(0, n), inside.slice(n + 4)] : [inside];
	const short = parts.map((part) => shortName(part.slice(lastComponent(part)), false));
	return `<${short.join(" as ")}>`;
}

const operator = /(?<!\w)operator[<>=-]*/y;

// A name with "…" for template arguments that are more than a word; keeps a bracket at the start.
export function shortName(name, keep = true) {
	if (!name.includes("<")) return name;
	let short = "";
	for (let i = 0, n; i < name.length; i += n) {
		operator.lastIndex = i;
		n = operator.exec(name)?.[0].length ??
			(name[i] === "<" ? bracketLength(name.slice(i)) || name.length - i : 1);
		const part = name.slice(i, i + n), inside = part.slice(1, -1);
		const isLong = part[0] === "<" && part.at(-1) === ">" &&
			(/[<,]|::/.test(inside) || inside === "locals");
		short += !isLong ? part : i === 0 && keep ? typeAndTrait(inside) : "<…>";
	}
	return short;
}

// Text of a known width, cut to fit; "" if less than two letters would remain.
function cutText(ctx, text, width, room) {
	let keep = Math.floor((room / width) * text.length);
	for (; keep >= 2; keep--) {
		const cut = `${text.slice(0, keep)}…`;
		if (ctx.measureText(cut).width <= room) return cut;
	}
	return "";
}

export function fitText(ctx, text, room) {
	const { width } = ctx.measureText(text);
	return width <= room ? text : cutText(ctx, text, width, room);
}

const closing = { "(": ")", "<": ">", "[": "]", "{": "}" };

// Start of the last component of a name, outside of brackets; 0 if there is only one.
export function lastComponent(name) {
	const open = [];
	let from = 0;
	for (let i = 0; i + 1 < name.length; i++) {
		const c = name[i];
		if (closing[c]) open.push(closing[c]);
		else if (c === open.at(-1) && (c !== ">" || closesBracket(name, i))) open.pop();
		else if (!open.length && /[.:/#]/.test(c)) from = i + 1;
	}
	return from;
}

// Splits a listed name in two. If space is short, the first part is cut.
export function splitName(name) {
	const short = name.length > 40 ? shortName(name) : name, at = lastComponent(short);
	return [short.slice(0, at), short.slice(at)];
}

// Splits each name of a list in two parts: the prefix that it shares with another name, up to its
// last separator, which is cut in narrow lists; and the rest.
export function splitNames(names) {
	const order = [...names.keys()].sort((a, b) => (names[a] < names[b] ? -1 : 1));
	const shared = (a, b) => {
		let n = 0;
		while (n < a.length && a[n] === b?.[n]) n++;
		return n;
	};
	const parts = [];
	order.forEach((of, k) => {
		const name = names[of];
		const most = Math.max(...[order[k - 1], order[k + 1]].map((other) =>
			(other === undefined || names[other] === name ? 0 : shared(name, names[other]))));
		const at = name.slice(0, most).search(/[^\p{L}\p{N}][\p{L}\p{N}]*$/u) + 1;
		parts[of] = at > 0 ? [name.slice(0, at), name.slice(at)] : splitName(name);
	});
	return parts;
}

// A name cut to fit: its last component, or as much of it as fits.
export function fitName(ctx, name, room) {
	const from = lastComponent(name), last = name.slice(from);
	const whole = from > 0 ? `…${last}` : last;
	return ctx.measureText(whole).width <= room ? whole :
		cutText(ctx, last, ctx.measureText(last).width, room);
}

// Names of functions with their widths, and widths of texts in smaller type, each measured once.
export class Labels {
	constructor(functions) {
		this.names = new Array(functions.n);
		this.widths = new Float32Array(functions.n);
		this.source = functions.names;
		this.small = new Map();
	}
	name(f) {
		return (this.names[f] ??= showName(this.source[f]));
	}
	width(ctx, f) {
		return (this.widths[f] ||= ctx.measureText(this.name(f)).width);
	}
	// measure: called for a text that was not measured yet.
	smallWidth(text, measure) {
		if (!this.small.has(text)) this.small.set(text, measure());
		return this.small.get(text);
	}
}
