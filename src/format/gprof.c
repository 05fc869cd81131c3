/* SPDX-License-Identifier: MIT */
/* Reads the text of gprof: a flat profile, a call graph, or both.
 *
 *     %   cumulative   self              self     total
 *    time   seconds   seconds    calls  ms/call  ms/call  name
 *    60.0      0.06     0.06      540     0.43     0.43  leaf
 *    40.0      0.10     0.04                             main
 *
 *   index % time    self  children    called     name
 *                                                    <spontaneous>     callers, which are ignored
 *   [1]    100.0    0.04    0.06                 main [1]              the function
 *                   0.00    0.03      30/30          even <cycle 1> [4]
 *                                    150             rec [5]           called within a cycle
 *   -----------------------------------------------
 *
 * It is a call graph, not stacks: graph.h makes a tree of it. Both sections have the self times, so
 * only those of the first are used.
 */
#include "format.h"
#include "graph.h"
#include "import.h"

#include <ctype.h>

enum { CPU, CALLS, METRICS };
enum { NAME_GAP = 20 /* blanks in place of a flat row's calls, which have at most 9 */ };

struct reader {
	struct fz_profile *p;
	struct fz_callgraph *graph;
	enum section { NO_SECTION, FLAT, GRAPH } section, first;
	uint32_t current; /* function whose entry is being read; FZ_NONE: none yet */
};

/* The columns of a row; the name is what remains. */
struct row {
	double self, children;
	uint64_t calls, recursive;
	bool has_times, has_calls;
};

/* Removes " [7]" or " <cycle 1>", say, from the end of a name. */
static struct fz_str without_number(struct fz_str name, const char *mark, char end)
{
	size_t n = name.n, digits = 0;

	if (!n || name.p[--n] != end)
		return name;
	for (; n > 0 && isdigit((uint8_t)name.p[n - 1]); n--)
		digits++;
	struct fz_str before = { name.p, n };
	if (!digits || !fz_str_ends(before, mark))
		return name;
	return (struct fz_str){ name.p, n - strlen(mark) };
}

static uint32_t frame_of(struct reader *r, struct fz_str name)
{
	name = without_number(fz_str_trimmed(name), " [", ']');
	name = without_number(name, " <cycle ", '>');
	struct fz_import_frame f = { .kind = FZ_KIND_NATIVE };
	const char *at = memmem(name.p, name.n, " @ ", 3);

	/* With -l: "leaf(int) (a.cpp:4 @ 401216)". */
	if (at)
		name.n = (size_t)(at - name.p);
	const char *open = at ? memrchr(name.p, '(', name.n) : NULL;
	const char *colon = at ? memrchr(name.p, ':', name.n) : NULL;
	if (open && colon > open) {
		uint64_t line = 0;
		fz_parse_u64((struct fz_str){ colon + 1, (size_t)(at - colon) - 1 }, INT32_MAX,
			     &line);
		f.line = (int32_t)line;
		f.file = (struct fz_str){ open + 1, (size_t)(colon - open) - 1 };
		name.n = (size_t)(open - name.p);
	}
	f.name = fz_str_trimmed(name);
	return fz_import_frame(r->p, &f);
}

static uint32_t function_of(struct reader *r, uint32_t frame)
{
	return fz_callgraph_function(r->graph, r->p, frame, 0, false);
}

static bool take_decimal(struct fz_str *s, double *ret)
{
	struct fz_str rest = *s, word = fz_str_take_word(&rest);

	if (!word.n || !memchr(word.p, '.', word.n) || !fz_parse_decimal(word, ret))
		return false;
	*s = rest;
	return true;
}

/* "540", "30/540" (of all its calls), "30+150" (recursive) */
static bool take_calls(struct fz_str *s, struct row *row)
{
	struct fz_str rest = *s, word = fz_str_take_word(&rest);
	size_t n = 0;

	while (n < word.n && isdigit((uint8_t)word.p[n]))
		n++;
	if (!fz_parse_u64((struct fz_str){ word.p, n }, INT64_MAX / 2, &row->calls))
		return false;
	struct fz_str more = { word.p + n, word.n - n };
	if (more.n && more.p[0] == '+')
		fz_parse_u64((struct fz_str){ more.p + 1, more.n - 1 }, INT64_MAX / 2,
			     &row->recursive);
	else if (more.n && more.p[0] != '/')
		return false;
	*s = rest;
	return row->has_calls = true;
}

static void add_self(struct reader *r, uint32_t function, uint32_t frame, const struct row *row)
{
	int64_t self[METRICS] = { fz_import_scaled(row->self, 1e9), (int64_t)row->calls };

	if (r->first == NO_SECTION)
		r->first = r->section;
	if (r->first != r->section)
		return;
	fz_callgraph_count(r->graph, function, row->calls, row->calls);
	fz_callgraph_self(r->graph, r->p, function, frame, self);
}

/* ---- the flat profile ---- */

static void read_flat(struct reader *r, struct fz_str line)
{
	struct row row = { 0 };
	double unused;

	if (!take_decimal(&line, &unused) || !take_decimal(&line, &unused) ||
	    !take_decimal(&line, &row.self)) {
		r->section = NO_SECTION;
		return;
	}
	size_t gap = 0;
	while (gap < line.n && line.p[gap] == ' ')
		gap++;
	if (gap < NAME_GAP && take_calls(&line, &row) &&
	    (!take_decimal(&line, &unused) || !take_decimal(&line, &unused)))
		return;
	uint32_t frame = frame_of(r, line);
	add_self(r, function_of(r, frame), frame, &row);
}

/* ---- the call graph ---- */

static struct fz_str take_columns(struct fz_str line, struct row *row)
{
	row->has_times = take_decimal(&line, &row->self) && take_decimal(&line, &row->children);
	take_calls(&line, row);
	return fz_str_trimmed(line);
}

/* "[2]   100.0    0.23    0.00     540         leaf(int) [2]" */
static void begin_entry(struct reader *r, struct fz_str line)
{
	struct row row = { 0 };
	double unused;

	fz_str_take_word(&line);
	take_decimal(&line, &unused);
	struct fz_str name = take_columns(line, &row);
	/* Its callees are the members, and are also called by these. */
	if (!name.n || !row.has_times || fz_str_starts(name, "<cycle "))
		return;
	uint32_t frame = frame_of(r, name);
	r->current = function_of(r, frame);
	int64_t total[METRICS] = { fz_import_scaled(row.self + row.children, 1e9), 0 };
	add_self(r, r->current, frame, &row);
	fz_callgraph_count(r->graph, r->current, row.recursive, 0);
	fz_callgraph_total(r->graph, r->p, r->current, total);
}

static void read_callee(struct reader *r, struct fz_str line)
{
	struct row row = { 0 };
	struct fz_str name = take_columns(line, &row);

	if (!name.n || !row.has_calls)
		return;
	struct fz_callgraph_call call = {
		.caller = r->current,
		.frame = r->graph->functions[r->current].frame,
		.callee = function_of(r, frame_of(r, name)),
		.calls = row.calls,
		.primitive = row.calls,
	};
	int64_t self[METRICS] = { fz_import_scaled(row.self, 1e9), (int64_t)row.calls };
	int64_t total[METRICS] = { fz_import_scaled(row.self + row.children, 1e9), 0 };
	fz_callgraph_call(r->graph, r->p, &call, row.has_times ? self : NULL,
			  row.has_times ? total : NULL);
}

static void read_graph(struct reader *r, struct fz_str line)
{
	if (fz_str_starts(line, "Index by function name"))
		r->section = NO_SECTION;
	else if (fz_str_starts(line, "----"))
		r->current = FZ_NONE;
	else if (line.n && line.p[0] == '[')
		begin_entry(r, line);
	else if (r->current != FZ_NONE)
		read_callee(r, line);
}

/* ---- the file ---- */

static enum section section_of(struct fz_str line)
{
	line = fz_str_trimmed(line);
	if (fz_str_starts(line, "time   seconds   seconds "))
		return FLAT;
	if (fz_str_starts(line, "index ") && memmem(line.p, line.n, "called", 6) &&
	    memmem(line.p, line.n, "self", 4))
		return GRAPH;
	return NO_SECTION;
}

/* "Each sample counts as 0.01 seconds." */
static void read_interval(struct reader *r, struct fz_str line)
{
	static const char mark[] = "Each sample counts as ";
	double seconds;

	if (!fz_str_starts(line, mark))
		return;
	line.p += sizeof(mark) - 1;
	line.n -= sizeof(mark) - 1;
	if (take_decimal(&line, &seconds))
		r->p->recording.interval_ns = fz_import_scaled(seconds, 1e9);
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;
	enum section begun = section_of(line);

	(void)err;
	if (begun != NO_SECTION) {
		r->section = begun;
		r->current = FZ_NONE;
		if (begun == GRAPH)
			r->graph->stated = 1u << CPU;
	} else if (r->section == FLAT) {
		read_flat(r, line);
	} else if (r->section == GRAPH) {
		read_graph(r, line);
	} else {
		read_interval(r, line);
	}
	return 0;
}

static void release(struct reader *r)
{
	fz_callgraph_free(r->graph);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .current = FZ_NONE };

	fz_profile_add_metric(p, FZ_STR("cpu"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, FZ_STR("calls"), FZ_STR("count"), 0, true);
	r.graph = fz_callgraph_new(METRICS);
	int code = fz_import_lines(in, p, FZ_IMPORT_LINE_MAX, read_line, &r, err);
	if (!code && !r.first)
		code = fz_fail(err, FZ_EINPUT, "%s: no functions; run gprof without -A and -Q",
			       fz_input_name(in));
	if (code)
		return code;
	p->recording.mode = FZ_MODE_CPU;
	fz_graph_make_stacks(p, r.graph);
	p->callgraph = fz_steal(r.graph);
	return fz_profile_check(p, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str rest = { (const char *)head, n };

	(void)name;
	while (rest.n)
		if (section_of(fz_str_take_line(&rest)) != NO_SECTION)
			return 90;
	return 0;
}

const struct fz_format fz_format_gprof = {
	.name = "gprof",
	.title = "text of gprof",
	.suffixes = ".txt",
	.notes = "a flat profile, a call graph or both; the tree is reconstructed from the graph",
	.sniff = sniff,
	.read = read,
};
