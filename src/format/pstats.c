/* SPDX-License-Identifier: MIT */
/* Reads pstats files of cProfile and profile, and of CPython's sampling profiler.
 *
 *   {(file, line, function): (calls without recursion, calls, self s, total s,
 *                             {caller's key: (the same four of these calls)})}
 *
 * (a caller's first two numbers are swapped) in marshal format, of which only the types that occur
 * here are read. cProfile's line is the function's first; the sampling profiler's is the sampled
 * one, its first two numbers are samples, and a caller has a bare number of samples; it is marked
 * by the key ("__sampled__",). It is a call graph, not stacks: graph.h makes a tree of it.
 */
#include "format.h"
#include "graph.h"
#include "import.h"

#include <math.h>

enum { DEPTH_MAX = 32, VALUES_MAX = 1 << 23, FLAG_REF = 0x80 };
#define PSTATS_MAX ((uint64_t)256 << 20)

/* Metrics: times, and calls or samples. */
enum { WALL, COUNT, METRICS };

enum type { T_NULL, T_OTHER, T_INT, T_FLOAT, T_STRING, T_TUPLE, T_DICT };

/* A value of the file; the items of a tuple or dict are a list of indices. */
struct value {
	enum type type;
	union {
		int64_t number;
		double real;
		struct fz_str text;
		struct {
			uint32_t first, count; /* in reader.items; of a dict: keys and values */
		};
	};
};

struct reader {
	const char *name; /* of the file */
	struct fz_profile *p;
	struct fz_callgraph *graph;
	struct fz_cursor c;
	struct value *values;
	uint32_t n, cap;
	uint32_t *items;
	uint32_t item_count, item_cap;
	uint32_t *refs; /* values */
	uint32_t ref_count, ref_cap;
	uint32_t *interned; /* values: interned texts of Python 2 */
	uint32_t interned_count, interned_cap;
	bool sampled; /* by CPython's sampling profiler */
};

/* ---- marshal ---- */

static uint32_t read_value(struct reader *r, int depth);

static uint32_t add_value(struct reader *r, struct value v)
{
	if (r->n >= VALUES_MAX) {
		r->c.bad = true;
		return 0;
	}
	fz_profile_grow(r->p, r->values, r->n, r->cap);
	r->values[r->n] = v;
	return r->n++;
}

static uint32_t add_text(struct reader *r, size_t n)
{
	const uint8_t *p = fz_cursor_bytes(&r->c, n);
	struct value v = { .type = T_STRING };

	v.text = p ? (struct fz_str){ (const char *)p, n } : FZ_STR("");
	return add_value(r, v);
}

static uint32_t add_number(struct reader *r, int64_t number)
{
	struct value v = { .type = T_INT };

	v.number = number;
	return add_value(r, v);
}

static uint32_t add_real(struct reader *r, double real)
{
	struct value v = { .type = T_FLOAT };

	v.real = real;
	return add_value(r, v);
}

/* Reads an integer with digits of 15 bits. */
static uint32_t read_long(struct reader *r)
{
	int32_t size = (int32_t)fz_cursor_u32(&r->c);
	uint32_t digits = size < 0 ? -(uint32_t)size : (uint32_t)size;
	uint64_t v = 0;

	for (uint32_t i = 0; i < digits && !r->c.bad; i++) {
		const uint8_t *p = fz_cursor_bytes(&r->c, 2);
		uint64_t digit = p ? (uint64_t)(p[0] | p[1] << 8) : 0;
		v = i < 4 ? v | digit << 15 * i : INT64_MAX;
	}
	return add_number(r, size < 0 ? -(int64_t)v : (int64_t)v);
}

static uint32_t read_real(struct reader *r)
{
	uint64_t bits = fz_cursor_u64(&r->c);
	double d;

	memcpy(&d, &bits, sizeof(d));
	return add_real(r, d);
}

/* Reads a float of old versions: text with a length byte. */
static uint32_t read_text_real(struct reader *r)
{
	char text[256] = { 0 };
	size_t n = fz_cursor_u8(&r->c);
	const uint8_t *p = fz_cursor_bytes(&r->c, n);

	if (p)
		memcpy(text, p, n);
	return add_real(r, strtod(text, NULL));
}

/* Items are collected separately, because nested ones come in between. */
static uint32_t read_items(struct reader *r, uint32_t self, uint64_t count, bool dict, int depth)
{
	fz_auto(fz_free_ptr) uint32_t *list = NULL;
	uint32_t n = 0, cap = 0;

	while (!r->c.bad && (dict || n < count)) {
		uint32_t item = read_value(r, depth + 1);
		if (dict && n % 2 == 0 && !r->c.bad && r->values[item].type == T_NULL)
			break;
		fz_profile_push(r->p, list, n, cap, item);
	}
	if (r->c.bad)
		return self;
	while (r->item_cap < r->item_count + n) {
		r->item_cap = r->item_cap ? r->item_cap * 2 : 64;
		r->items = fz_reallocarray(r->items, r->item_cap, sizeof(*r->items));
	}
	if (n)
		memcpy(r->items + r->item_count, list, n * sizeof(*list));
	r->values[self].type = dict ? T_DICT : T_TUPLE;
	r->values[self].first = r->item_count;
	r->values[self].count = n;
	r->item_count += n;
	return self;
}

static uint32_t read_reference(struct reader *r, const uint32_t *list, uint32_t n)
{
	uint32_t i = fz_cursor_u32(&r->c);

	if (i >= n || list[i] == FZ_NONE) {
		r->c.bad = true;
		return 0;
	}
	return list[i];
}

static uint32_t read_interned(struct reader *r)
{
	uint32_t v = add_text(r, fz_cursor_u32(&r->c));

	fz_profile_push(r->p, r->interned, r->interned_count, r->interned_cap, v);
	return v;
}

/* Returns the number of integers before the bytecode, which depends on the version of Python. */
static unsigned count_code_numbers(const struct reader *r)
{
	for (unsigned n = 4; n <= 6 && 4 * n < fz_cursor_left(&r->c); n++) {
		struct fz_cursor c = fz_cursor_of(r->c.p + 4 * n, fz_cursor_left(&r->c) - 4 * n);
		bool bytes = (fz_cursor_u8(&c) & ~FLAG_REF) == 's';
		if (bytes && fz_cursor_u32(&c) <= fz_cursor_left(&c) && !c.bad)
			return n;
	}
	return 0;
}

/* Reads code that profile.py ran and uses its name. {4 numbers, in 3.6 five, in 3.8 six, in 3.11
 * five; bytecode, constants, names, variables, free ones, cells, file, name; line; lines}, but from
 * 3.11 on {..., variables, their kinds as bytes, file, name, qualified name; line; lines,
 * exceptions}. */
static uint32_t read_code(struct reader *r, uint32_t self, int depth)
{
	enum { KINDS = 4, NAME = 7, NEWER_NAME = 6, BEFORE_LINE = 8 };
	unsigned numbers = count_code_numbers(r);
	uint32_t v[BEFORE_LINE] = { 0 };

	r->c.bad |= !numbers;
	for (unsigned i = 0; i < numbers; i++)
		fz_cursor_u32(&r->c);
	for (unsigned i = 0; i < BEFORE_LINE; i++)
		v[i] = read_value(r, depth + 1);
	if (r->c.bad)
		return self;
	bool newer = r->values[v[KINDS]].type == T_STRING;
	fz_cursor_u32(&r->c);
	for (unsigned i = 0; i < 1u + newer; i++)
		read_value(r, depth + 1);
	if (!r->c.bad)
		r->values[self] = r->values[v[newer ? NEWER_NAME : NAME]];
	return self;
}

/* Skips n values, such as constants of code. */
static uint32_t read_parts(struct reader *r, uint32_t self, unsigned n, int depth)
{
	while (n-- > 0 && !r->c.bad)
		read_value(r, depth + 1);
	return self;
}

/* Reads a compound value; its reference number precedes those of its items. */
static uint32_t read_compound(struct reader *r, uint8_t type, uint32_t *ref, int depth)
{
	uint32_t self = add_value(r, (struct value){ .type = T_OTHER });

	if (ref)
		r->refs[*ref] = self;
	switch (type) {
	case 'c':
		return read_code(r, self, depth);
	case ':':
		return read_parts(r, self, 3, depth);
	case ')':
		return read_items(r, self, fz_cursor_u8(&r->c), false, depth);
	case '{':
		return read_items(r, self, 0, true, depth);
	default:
		return read_items(r, self, fz_cursor_u32(&r->c), false, depth);
	}
}

static uint32_t read_plain(struct reader *r, uint8_t type, uint32_t *ref, int depth)
{
	switch (type) {
	case '0':
		return add_value(r, (struct value){ .type = T_NULL });
	case 'N':
	case 'F':
	case 'T':
	case 'S':
	case '.':
		return add_value(r, (struct value){ .type = T_OTHER });
	case 'i':
		return add_number(r, (int32_t)fz_cursor_u32(&r->c));
	case 'I':
		return add_number(r, (int64_t)fz_cursor_u64(&r->c));
	case 'l':
		return read_long(r);
	case 'g':
		return read_real(r);
	case 'y': /* two halves of an unused constant */
		read_real(r);
		return read_real(r);
	case 'f':
		return read_text_real(r);
	case 'x':
		read_text_real(r);
		return read_text_real(r);
	case 'z':
	case 'Z':
		return add_text(r, fz_cursor_u8(&r->c));
	case 'a':
	case 'A':
	case 'u':
	case 's':
		return add_text(r, fz_cursor_u32(&r->c));
	case 't':
		return read_interned(r);
	case 'R':
		return read_reference(r, r->interned, r->interned_count);
	case 'r':
		return read_reference(r, r->refs, r->ref_count);
	case '(':
	case ')':
	case '[':
	case '{':
	case '<':
	case '>':
	case ':':
	case 'c':
		return read_compound(r, type, ref, depth);
	default:
		r->c.bad = true;
		return 0;
	}
}

static uint32_t read_value(struct reader *r, int depth)
{
	uint8_t code = fz_cursor_u8(&r->c);
	uint32_t ref = r->ref_count;
	bool keep = code & FLAG_REF;

	if (depth > DEPTH_MAX)
		r->c.bad = true;
	if (r->c.bad)
		return 0;
	if (keep) {
		fz_profile_push(r->p, r->refs, r->ref_count, r->ref_cap, FZ_NONE);
	}
	uint32_t v = read_plain(r, code & ~FLAG_REF, keep ? &ref : NULL, depth);
	if (keep && !r->c.bad)
		r->refs[ref] = v;
	return v;
}

/* ---- the graph ---- */

static const struct value *item(const struct reader *r, const struct value *v, uint32_t i)
{
	static const struct value nothing = { .type = T_OTHER };

	return (v->type == T_TUPLE || v->type == T_DICT) && i < v->count
		       ? &r->values[r->items[v->first + i]]
		       : &nothing;
}

static double number(const struct value *v)
{
	double d = v->type == T_INT ? (double)v->number : v->type == T_FLOAT ? v->real : 0;

	return isfinite(d) ? d : 0;
}

static struct fz_str text(const struct value *v)
{
	return v->type == T_STRING ? v->text : FZ_STR("");
}

/* "~" is the file of functions without one: "<built-in method time.sleep>", or the sampling
 * profiler's markers. */
static uint32_t frame_of(struct reader *r, const struct value *key)
{
	struct fz_str file = text(item(r, key, 0));
	int32_t line = fz_import_line((int64_t)number(item(r, key, 1)));
	bool special = fz_str_eq(file, FZ_STR("~")) || !file.n;
	struct fz_import_frame f = {
		.name = text(item(r, key, 2)),
		.file = special && !r->sampled ? FZ_STR("") : file,
		.first_line = r->sampled || special ? 0 : line,
		.line = r->sampled && !special ? line : 0,
		.kind = !special     ? FZ_KIND_PYTHON
			: r->sampled ? fz_import_special(text(item(r, key, 2)))
				     : FZ_KIND_NATIVE,
	};

	return fz_import_frame(r->p, &f);
}

static uint32_t function_of(struct reader *r, uint32_t frame)
{
	return fz_callgraph_function(r->graph, r->p, frame, 0, false);
}

static bool is_sampled(const struct reader *r, const struct value *root)
{
	for (uint32_t i = 0; i < root->count; i += 2)
		if (fz_str_eq(text(item(r, item(r, root, i), 0)), FZ_STR("__sampled__")))
			return true;
	return false;
}

static uint64_t count(const struct value *v)
{
	double d = number(v);

	return d > 0 ? (uint64_t)fz_import_scaled(d, 1) : 0;
}

static int64_t nanoseconds(const struct value *v)
{
	return fz_import_scaled(number(v), 1e9);
}

/* Reads the calls of a function by one caller: four numbers, or just a count. */
static void read_caller(struct reader *r, uint32_t callee, const struct value *key,
			const struct value *v)
{
	uint32_t from = frame_of(r, key);
	bool has_costs = v->type == T_TUPLE;
	struct fz_callgraph_call call = {
		.caller = function_of(r, from),
		.frame = from,
		.callee = callee,
		.calls = count(has_costs ? item(r, v, 0) : v),
		.primitive = count(has_costs ? item(r, v, 1) : v),
	};
	int64_t self[METRICS] = {
		[WALL] = nanoseconds(item(r, v, 2)), [COUNT] = (int64_t)call.calls
	};
	int64_t total[METRICS] = { [WALL] = nanoseconds(item(r, v, 3)) };

	fz_callgraph_call(r->graph, r->p, &call, has_costs ? self : NULL, has_costs ? total : NULL);
}

/* For a sampled function, the first number counts samples with it innermost, the second those with
 * it on the stack. */
static void read_entry(struct reader *r, const struct value *key, const struct value *v)
{
	if (key->type != T_TUPLE || key->count != 3 || v->type != T_TUPLE)
		return;
	uint32_t frame = frame_of(r, key), at = function_of(r, frame);
	struct fz_callgraph_function *f = &r->graph->functions[at];
	const struct value *callers = item(r, v, 4);

	f->primitive = count(item(r, v, 0));
	f->calls = count(item(r, v, 1));
	int64_t self[METRICS] = { [WALL] = nanoseconds(item(r, v, 2)),
				  [COUNT] = (int64_t)(r->sampled ? f->primitive : f->calls) };
	int64_t total[METRICS] = {
		[WALL] = nanoseconds(item(r, v, 3)), [COUNT] = r->sampled ? (int64_t)f->calls : 0
	};
	fz_callgraph_self(r->graph, r->p, at, frame, self);
	fz_callgraph_total(r->graph, r->p, at, total);
	for (uint32_t i = 0; callers->type == T_DICT && i + 1 < callers->count; i += 2)
		read_caller(r, at, item(r, callers, i), item(r, callers, i + 1));
}

static void release(struct reader *r)
{
	free(r->values);
	free(r->items);
	free(r->refs);
	free(r->interned);
	fz_callgraph_free(r->graph);
}

static int fail_damaged(const struct reader *r, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: not a complete pstats file", r->name);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_input_read_all(in, &bytes, PSTATS_MAX, err);

	if (code)
		return code;
	struct fz_str s = fz_buf_view(&bytes);
	r.c = fz_cursor_of(s.p, s.n);
	uint32_t at = read_value(&r, 0);
	if (r.c.bad || r.values[at].type != T_DICT || r.values[at].count % 2)
		return fail_damaged(&r, err);
	const struct value root = r.values[at];
	r.sampled = is_sampled(&r, &root);
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, r.sampled ? FZ_STR("samples") : FZ_STR("calls"), FZ_STR("count"),
			      0, true);
	r.graph = fz_callgraph_new(p->metric_count);
	r.graph->stated = r.sampled ? 1u << WALL | 1u << COUNT : 1u << WALL;
	for (uint32_t i = 0; i + 1 < root.count && !p->over_limit; i += 2)
		read_entry(&r, item(&r, &root, i), item(&r, &root, i + 1));
	fz_graph_make_stacks(p, r.graph);
	p->callgraph = fz_steal(r.graph);
	return fz_profile_check(p, err);
}

/* Recognizes a dict whose first key is a tuple of three that starts with a text. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	if (n < 6 || (head[0] & ~FLAG_REF) != '{')
		return 0;
	bool small = (head[1] & ~FLAG_REF) == ')' && head[2] == 3;
	bool large = (head[1] & ~FLAG_REF) == '(' && head[2] == 3 && !head[3] && !head[4];
	uint8_t text_type = head[small ? 3 : 6 < n ? 6 : 0] & ~FLAG_REF;
	return (small || large) && strchr("zZaAuts", text_type) && text_type ? 90 : 0;
}

const struct fz_format fz_format_pstats = {
	.name = "pstats",
	.title = "pstats file (cProfile, Python's sampling profiler)",
	.suffixes = ".pstats .prof",
	.notes = "a call graph: read as a reconstructed tree",
	.sniff = sniff,
	.read = read,
};
