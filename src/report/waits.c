/* SPDX-License-Identifier: MIT */
/* Waits, most time first.
 *
 *   Waits: 2.71 s of 2.98 s: 68.4 % lock, 18.1 % socket, 4.4 % CPU.
 *       time    share    times   longest  reason, where
 *     2.04 s   68.4 %      101   21.0 ms  lock: fetch (app.py:12)
 *                                         lock released by refresh (cache.py:31)
 *
 * If waits were sampled, the title says so, and the columns "longest" and "times" are missing.
 *
 * Shares are of all recorded time, on a CPU or not. Waits for a CPU are one row. The waits by the
 * function that ended them follow, and the longest chain, whose shares are of the chain:
 *
 *   Made others wait:
 *     2.04 s   68.4 %  refresh (cache.py:31)
 *     2.04 s   68.4 %    lock: fetch (app.py:10)
 *
 *   Longest chain: 2.98 s, through 2 threads. ...
 *     2.01 s   67.5 %      101   21.0 ms  sleep: refresh (cache.py:33)
 *      520 ms  17.4 %                     runs: work (app.py:20)
 */
#include "report/waits.h"

#include "compare/names.h"
#include "profile/critical.h"
#include "profile/wait_graph.h"
#include "report/table.h"

#include <stdio.h>

enum {
	ROWS_SHOWN = 12,
	ENDERS_SHOWN = 5,
	WAITERS_SHOWN = 3,
	LANES_SHOWN = 16,
	LANE_CELLS = 240,
};

struct waits {
	const struct fz_profile *p;
	struct fz_wait_table table;
	struct fz_wait_graph graph;
	struct fz_critical chain; /* empty: none */
	struct fz_arena arena;
	const struct fz_name *names;
};

static void read_waits(const struct fz_profile *p, struct waits *ret)
{
	*ret = (struct waits){ .p = p };
	fz_wait_table_init(&ret->table, p);
	if (ret->table.rows.n)
		ret->names = fz_names_of(p, &ret->arena);
	/* for sampled waits it is unknown who ended them */
	if (!ret->table.exact)
		return;
	fz_wait_graph_init(&ret->graph, p, &ret->table);
	if (!fz_critical_init(&ret->chain, p))
		ret->chain = (struct fz_critical){ 0 };
}

static void release(struct waits *w)
{
	fz_wait_table_release(&w->table);
	fz_wait_graph_release(&w->graph);
	fz_critical_release(&w->chain);
	fz_arena_release(&w->arena);
}

static double share(int64_t ns, int64_t of)
{
	return of ? (double)ns / (double)of : 0;
}

/* ---- text ---- */

/* Store the kinds with time, most first; returns their number. */
static unsigned order_kinds(const int64_t ns[FZ_WAIT_KINDS], enum fz_wait ret[FZ_WAIT_KINDS])
{
	unsigned n = 0;

	for (enum fz_wait k = 0; k < FZ_WAIT_KINDS; k++) {
		unsigned at = n;
		if (ns[k] <= 0)
			continue;
		for (; at > 0 && ns[ret[at - 1]] < ns[k]; at--)
			ret[at] = ret[at - 1];
		ret[at] = k;
		n++;
	}
	return n;
}

static void print_sentence(const struct waits *w, const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	char time[FZ_NUMBER_SIZE], all[FZ_NUMBER_SIZE], percent[FZ_NUMBER_SIZE];
	enum fz_wait kinds[FZ_WAIT_KINDS];
	unsigned n;

	fz_buf_printf(&text, "Waits%s: %s of %s",
		      w->p->recording.features & FZ_FEATURE_SAMPLED_WAITS ? ", sampled" : "",
		      fz_format_ns((double)w->table.ns, time),
		      fz_format_ns((double)w->table.all_ns, all));
	n = order_kinds(w->table.kind_ns, kinds);
	for (unsigned i = 0; i < n; i++)
		fz_buf_printf(&text, "%s%s %s", i ? ", " : ": ",
			      fz_format_percent(share(w->table.kind_ns[kinds[i]], w->table.all_ns),
						percent),
			      fz_wait_kinds[kinds[i]].key);
	fz_buf_str(&text, ".");
	fz_table_wrap(text.p, style, out);
}

static void add_function(const struct waits *w, uint32_t function, int32_t line, struct fz_str name,
			 unsigned room, struct fz_table *t)
{
	struct fz_source_place place = { w->names[function].file, FZ_MAX(line, 0), w->p, function };

	fz_table_function(name, &place, room, t->style, t->out);
}

/* A name without the brackets of a marker. */
static struct fz_str bare(struct fz_str name)
{
	return name.n > 2 && name.p[0] == '<' ? (struct fz_str){ name.p + 1, name.n - 2 } : name;
}

static void add_time(int64_t ns, int64_t of, struct fz_table *t)
{

	fz_table_value(t, (double)ns, "ns");
	fz_table_percent(t, share(ns, of));
}

/* Append a place: "lock: fetch (app.py:12)". */
static void add_place(const struct waits *w, const struct fz_wait_place *at, const char *what,
		      unsigned room, struct fz_table *t)
{
	fz_buf_str(t->out, what);
	if (at->function == FZ_NONE)
		return;
	fz_buf_str(t->out, ": ");
	add_function(w, at->function, at->line, w->names[at->function].name,
		     room - FZ_MIN((unsigned)strlen(what) + 2, room), t);
}

struct listed {
	const struct waits *w;
	const struct fz_wait_rows *rows;
	int64_t of;
};

static void add_row(struct fz_table *t, size_t i, const void *arg)
{
	const struct listed *l = arg;
	const struct fz_wait_row *row = &l->rows->rows[i];
	bool runs = row->at.kind == FZ_WAIT_KINDS;
	char text[FZ_NUMBER_SIZE];

	add_time(row->ns, l->of, t);
	fz_table_cell(t, runs ? "" : fz_format_count((int64_t)row->n, text));
	fz_table_cell(t, runs ? "" : fz_format_ns((double)row->longest, text));
	add_place(l->w, &row->at, runs ? "runs" : fz_wait_kinds[row->at.kind].key, fz_table_last(t),
		  t);
	if (row->at.by != FZ_NONE)
		add_function(l->w, row->at.by, l->w->p->functions[row->at.by].first_line,
			     bare(l->w->names[row->at.by].name), fz_table_below(t, t->n - 1), t);
}

static void print_rows(const struct waits *w, const struct fz_wait_rows *rows, int64_t of,
		       const struct fz_style *style, struct fz_buf *out)
{
	enum { TIMES = 2, LONGEST };
	static const struct fz_column columns[] = {
		{ "time", FZ_RIGHT, .min = 9 },
		{ "share", FZ_RIGHT, .gap = 1, .min = 8 },
		{ "times", FZ_RIGHT, .gap = 1, .min = 8 },
		{ "longest", FZ_RIGHT, .gap = 1, .min = 9 },
		{ "reason, where", .gap = 2 },
	};
	const struct listed l = { w, rows, of };
	uint32_t shown = FZ_MIN(rows->n, (uint32_t)ROWS_SHOWN);
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	if (!w->table.exact) {
		t.titles[TIMES] = "samples";
		t.hidden = 1u << LONGEST;
	}
	fz_table_print(&t, shown, add_row, &l);
	fz_table_more(&t, rows->n - shown, "row");
}

/* Append the kinds of an edge, most time first: "lock, GIL". */
static void name_kinds(const struct fz_wait_edge *e, struct fz_buf *out)
{
	enum fz_wait kinds[FZ_WAIT_KINDS];
	unsigned n = order_kinds(e->kind_ns, kinds);

	for (unsigned i = 0; i < n; i++)
		fz_buf_printf(out, "%s%s", i ? ", " : "", fz_wait_kinds[kinds[i]].key);
}

/* Total time of an ender's edges, which are those from i to *ret_end. */
static int64_t sum_of_ender(const struct waits *w, uint32_t i, uint32_t *ret_end)
{
	int64_t ns = 0;
	uint32_t k = i;

	for (; k < w->graph.n && w->graph.edges[k].ender == w->graph.edges[i].ender; k++)
		ns += w->graph.edges[k].ns;
	*ret_end = k;
	return ns;
}

static void print_waiter(const struct waits *w, const struct fz_wait_edge *e, struct fz_table *t)
{
	fz_auto(fz_buf_release) struct fz_buf kinds = { 0 };
	struct fz_wait_place at = { .function = e->function };

	name_kinds(e, &kinds);
	at.line = e->function == FZ_NONE ? 0 : w->p->functions[e->function].first_line;
	add_time(e->ns, w->table.all_ns, t);
	unsigned room = fz_table_last(t);
	fz_buf_str(t->out, "  ");
	add_place(w, &at, kinds.p, room - 2, t);
	fz_table_end(t);
}

static void print_enders(const struct waits *w, const struct fz_style *style, struct fz_buf *out)
{
	static const struct fz_column columns[] = { { .align = FZ_RIGHT, .min = 9 },
						    { .align = FZ_RIGHT, .gap = 1, .min = 8 },
						    { .gap = 2 } };
	uint32_t end = 0;
	char n[FZ_NUMBER_SIZE];
	struct fz_table t;

	fz_buf_str(out, "Made others wait:\n");
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	for (uint32_t i = 0, shown = 0; i < w->graph.n && shown < ENDERS_SHOWN; i = end, shown++) {
		const struct fz_wait_edge *e = &w->graph.edges[i];
		add_time(sum_of_ender(w, i, &end), w->table.all_ns, &t);
		add_function(w, e->by, w->p->functions[e->by].first_line, e->name,
			     fz_table_last(&t), &t);
		fz_table_end(&t);
		for (uint32_t k = i; k < end && k < i + WAITERS_SHOWN; k++)
			print_waiter(w, &w->graph.edges[k], &t);
		if (end <= i + WAITERS_SHOWN)
			continue;
		fz_table_last(&t);
		fz_buf_printf(out, "  and %s more", fz_format_count(end - i - WAITERS_SHOWN, n));
		fz_table_end(&t);
	}
	if (end < w->graph.n) {
		fz_table_last(&t);
		fz_buf_str(out, "and others");
		fz_table_end(&t);
	}
}

static void print_chain(const struct waits *w, const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	char time[FZ_NUMBER_SIZE], n[FZ_NUMBER_SIZE];

	fz_buf_printf(&text,
		      "Longest chain: %s, through %s, from the end of the main thread back "
		      "to its start.",
		      fz_format_ns((double)w->chain.ns, time),
		      fz_format_plural(w->chain.threads, "thread", n));
	if (w->chain.unknown_ns)
		fz_buf_printf(&text, " The first %s are not known.",
			      fz_format_ns((double)w->chain.unknown_ns, time));
	fz_table_wrap(text.p, style, out);
	print_rows(w, &w->chain.rows, w->chain.ns, style, out);
}

void fz_report_waits_text(const struct fz_profile *p, const struct fz_style *style,
			  struct fz_buf *out)
{
	struct waits w;

	read_waits(p, &w);
	if (w.table.rows.n) {
		print_sentence(&w, style, out);
		print_rows(&w, &w.table.rows, w.table.all_ns, style, out);
	}
	if (w.graph.n)
		print_enders(&w, style, out);
	if (w.chain.threads > 1)
		print_chain(&w, style, out);
	release(&w);
}

/* ---- JSON ---- */

static void write_function(const struct waits *w, const char *prefix, struct fz_str name,
			   uint32_t function, int32_t line, struct fz_json *j)
{
	char key[16];

	fz_json_kstr(j, prefix, name);
	snprintf(key, sizeof(key), "%s_file", prefix);
	fz_json_kstr(j, key, w->names[function].file);
	snprintf(key, sizeof(key), "%s_line", prefix);
	fz_json_kint(j, key, FZ_MAX(line, 0));
}

static void write_row(const struct waits *w, const struct fz_wait_row *row, struct fz_json *j)
{
	const struct fz_wait_place *at = &row->at;
	bool runs = at->kind == FZ_WAIT_KINDS;

	fz_json_open(j, '{');
	if (runs)
		fz_json_kbool(j, "runs", true);
	else
		fz_json_kstr(j, "for", fz_str_of(fz_wait_kinds[at->kind].key));
	fz_json_kint(j, "ns", row->ns);
	fz_json_kint(j, w->table.exact ? "n" : "samples", (int64_t)row->n);
	if (w->table.exact && !runs)
		fz_json_kint(j, "longest_ns", row->longest);
	if (at->function != FZ_NONE)
		write_function(w, "in", w->names[at->function].name, at->function, at->line, j);
	if (at->by != FZ_NONE)
		write_function(w, "by", bare(w->names[at->by].name), at->by,
			       w->p->functions[at->by].first_line, j);
	fz_json_close(j, '}');
}

static void write_rows(const struct waits *w, const char *key, const struct fz_wait_rows *rows,
		       struct fz_json *j)
{
	fz_json_kopen(j, key, '[');
	for (uint32_t i = 0; i < rows->n; i++)
		write_row(w, &rows->rows[i], j);
	fz_json_close(j, ']');
}

static void write_edge(const struct waits *w, const struct fz_wait_edge *e, struct fz_json *j)
{
	fz_json_open(j, '{');
	if (e->function != FZ_NONE)
		write_function(w, "in", w->names[e->function].name, e->function,
			       w->p->functions[e->function].first_line, j);
	write_function(w, "by", e->name, e->by, w->p->functions[e->by].first_line, j);
	fz_json_kint(j, "ns", e->ns);
	fz_json_kint(j, "n", (int64_t)e->n);
	fz_json_kopen(j, "for", '{');
	for (enum fz_wait k = 0; k < FZ_WAIT_KINDS; k++)
		if (e->kind_ns[k])
			fz_json_kint(j, fz_wait_kinds[k].key, e->kind_ns[k]);
	fz_json_close(j, '}');
	fz_json_close(j, '}');
}

static void write_graph(const struct waits *w, struct fz_json *j)
{
	fz_json_kopen(j, "wait_graph", '[');
	for (uint32_t i = 0; i < w->graph.n; i++)
		write_edge(w, &w->graph.edges[i], j);
	fz_json_close(j, ']');
}

/* ---- threads of the chain over time ---- */

struct lane {
	int64_t ns, at[LANE_CELLS];
	uint32_t thread;
};

static int compare_lanes(const void *pa, const void *pb)
{
	const struct lane *a = pa, *b = pb;

	return FZ_CMP(b->ns, a->ns) ?: FZ_CMP(a->thread, b->thread);
}

static void add_part(struct lane *l, const struct fz_critical_part *part, int64_t cell)
{
	l->ns += part->to - part->from;
	for (int64_t i = part->from / cell; i < LANE_CELLS && i * cell < part->to; i++)
		l->at[i] += FZ_MIN(part->to, (i + 1) * cell) - FZ_MAX(part->from, i * cell);
}

static void write_lane(const struct fz_profile *p, const struct lane *l, struct fz_json *j)
{
	const struct fz_thread *thread = &p->threads[l->thread];

	fz_json_open(j, '{');
	fz_json_kint(j, "tid", (int64_t)thread->tid);
	fz_json_kstr(j, "name", p->strings[thread->name]);
	fz_json_kbool(j, "main", thread->is_main);
	fz_json_kint(j, "ns", l->ns);
	fz_json_kopen(j, "at", '[');
	for (int i = 0; i < LANE_CELLS; i++)
		fz_json_int(j, l->at[i]);
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}

/* For the first run, write how long the chain was in each thread in each cell of time; the threads
 * with most time come first. */
static void write_lanes(const struct waits *w, struct fz_json *j)
{
	const struct fz_critical *c = &w->chain;
	struct lane *lanes = fz_calloc(w->p->thread_count + 1ul, sizeof(*lanes));
	int64_t end = 0;

	for (size_t i = 0; i < c->n && c->parts[i].run == c->parts[0].run; i++)
		end = FZ_MAX(end, c->parts[i].to);
	int64_t cell = FZ_MAX((end + LANE_CELLS - 1) / LANE_CELLS, 1);
	for (uint32_t i = 0; i < w->p->thread_count; i++)
		lanes[i].thread = i;
	for (size_t i = 0; i < c->n && c->parts[i].run == c->parts[0].run; i++)
		add_part(&lanes[c->parts[i].thread], &c->parts[i], cell);
	qsort(lanes, w->p->thread_count, sizeof(*lanes), compare_lanes);
	fz_json_kint(j, "cell_ns", cell);
	fz_json_kopen(j, "lanes", '[');
	for (uint32_t i = 0; i < w->p->thread_count && i < LANES_SHOWN && lanes[i].ns; i++)
		write_lane(w->p, &lanes[i], j);
	fz_json_close(j, ']');
	free(lanes);
}

static void write_chain(const struct waits *w, struct fz_json *j)
{
	fz_json_kopen(j, "longest_chain", '{');
	fz_json_kint(j, "ns", w->chain.ns);
	fz_json_kint(j, "unknown_ns", w->chain.unknown_ns);
	fz_json_kint(j, "threads", w->chain.threads);
	write_rows(w, "rows", &w->chain.rows, j);
	write_lanes(w, j);
	fz_json_close(j, '}');
}

void fz_report_waits_json(const struct fz_profile *p, struct fz_json *j)
{
	struct waits w;

	read_waits(p, &w);
	if (w.table.rows.n)
		write_rows(&w, "waits", &w.table.rows, j);
	if (w.graph.n)
		write_graph(&w, j);
	if (w.chain.n)
		write_chain(&w, j);
	release(&w);
}
