/* SPDX-License-Identifier: MIT */
/* Writes V8's .cpuprofile, and defines the format.
 *
 * Nodes are paths of functions below a "(root)"; with several threads each has its own node there.
 * Lines are positionTicks of a node. "$vscode" has what Visual Studio Code needs to link to sources
 * in any language: locations of each node and of its ticks.
 */
#include "cpuprofile.h"

#include "base/json.h"
#include "metric_fit.h"
#include "format.h"

#include <math.h>

struct node {
	uint32_t parent;   /* FZ_NONE: "(root)" */
	uint32_t function; /* FZ_NONE: a thread */
	uint32_t thread;
	uint32_t hits;
	uint32_t first_child, next; /* FZ_NONE: none */
	uint32_t first_tick;
};

/* Samples of a node on one line, and the index of that line's location. */
struct tick {
	int32_t line;
	uint32_t count, next, location;
};

struct location {
	uint32_t function;
	int32_t line;
};

struct writer {
	const struct fz_profile *p;
	struct fz_json j;
	struct node *nodes;
	uint32_t n, cap;
	struct tick *ticks;
	uint32_t tick_count, tick_cap;
	struct location *locations;
	uint32_t location_count, location_cap;
	struct fz_map node_of, tick_of, location_of;
	bool threads;    /* more than one */
	bool one_by_one; /* a row of several samples is written as several */
	double us;       /* microseconds per unit of the metric */
};

/* More samples would need too much memory in viewers. With more, each row is one sample, whatever
 * its count. */
enum { SAMPLES_MAX = 1 << 22 };

/* ---- the tree ---- */

static uint32_t child(struct writer *w, uint32_t parent, uint32_t function, uint32_t thread)
{
	uint64_t what = function == FZ_NONE ? (uint64_t)1 << 31 | thread : function;
	uint32_t *slot = fz_map_slot(&w->node_of, FZ_KEY(parent, what));

	if (*slot != FZ_NONE)
		return *slot;
	uint32_t i = *slot = w->n;
	fz_push(w->nodes, w->n, w->cap,
		(struct node){ .parent = parent,
			       .function = function,
			       .thread = thread,
			       .first_child = FZ_NONE,
			       .next = FZ_NONE,
			       .first_tick = FZ_NONE });
	if (parent != FZ_NONE) {
		w->nodes[i].next = w->nodes[parent].first_child;
		w->nodes[parent].first_child = i;
	}
	return i;
}

static uint32_t location(struct writer *w, uint32_t function, int32_t line)
{
	uint32_t *slot = fz_map_slot(&w->location_of, FZ_KEY(function, line));

	if (*slot == FZ_NONE) {
		*slot = w->location_count;
		fz_push(w->locations, w->location_count, w->location_cap,
			(struct location){ function, line });
	}
	return *slot;
}

static void add_tick(struct writer *w, uint32_t node, int32_t line, uint32_t count)
{
	uint32_t *slot = fz_map_slot(&w->tick_of, FZ_KEY(node, line));

	if (*slot == FZ_NONE) {
		*slot = w->tick_count;
		fz_push(w->ticks, w->tick_count, w->tick_cap,
			(struct tick){ line, 0, w->nodes[node].first_tick,
				       location(w, w->nodes[node].function, line) });
		w->nodes[node].first_tick = *slot;
	}
	w->ticks[*slot].count += count;
}

/* The node of a stack, below that of its thread. */
static uint32_t stack_node(struct writer *w, uint32_t thread, uint32_t stack)
{
	const struct fz_profile *p = w->p;
	uint32_t top = w->threads ? child(w, 0, FZ_NONE, thread) : 0;
	fz_auto(fz_free_ptr) uint32_t *path = NULL;

	if (stack == FZ_NONE)
		return top;
	uint32_t depth = p->stacks[stack].depth;
	path = fz_reallocarray(NULL, depth, sizeof(*path));
	for (uint32_t i = depth; i-- > 0; stack = p->stacks[stack].parent)
		path[i] = p->frames[p->stacks[stack].frame].function;
	for (uint32_t i = 0; i < depth; i++)
		top = child(w, top, path[i], 0);
	return top;
}

static uint32_t *place_rows(struct writer *w)
{
	const struct fz_profile *p = w->p;
	uint32_t *node_of_row = fz_calloc(FZ_MAX(p->samples.n, 1), sizeof(*node_of_row));
	struct fz_map known = { 0 };

	child(w, FZ_NONE, FZ_NONE, 0);
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t thread = p->samples.thread[row], stack = p->samples.stack[row];
		uint32_t at = fz_map_get(&known, FZ_KEY(thread, stack));
		uint32_t count = fz_sample_count_in(p, p->default_metric, row);
		if (at == FZ_NONE) {
			at = stack_node(w, thread, stack);
			fz_map_put(&known, FZ_KEY(thread, stack), at);
		}
		node_of_row[row] = at;
		w->nodes[at].hits += count;
		int32_t line = stack == FZ_NONE ? 0 : p->frames[p->stacks[stack].frame].line;
		if (line > 0)
			add_tick(w, at, line, count);
	}
	fz_map_release(&known);
	return node_of_row;
}

/* ---- writing ---- */

static void write_call(struct writer *w, struct fz_str name, struct fz_str file, int32_t line)
{
	struct fz_json *j = &w->j;

	fz_json_kopen(j, "callFrame", '{');
	fz_json_kstr(j, "functionName", name);
	fz_json_kstr(j, "scriptId", FZ_STR("0"));
	fz_json_kstr(j, "url", file);
	fz_json_kint(j, "lineNumber", (int64_t)line - 1);
	fz_json_kint(j, "columnNumber", line > 0 ? 0 : -1);
	fz_json_close(j, '}');
}

static void write_function_call(struct writer *w, uint32_t function, int32_t line)
{
	const struct fz_function *f = &w->p->functions[function];
	uint32_t file = f->file ? f->file : f->module;

	write_call(w, fz_profile_text(w->p, f->name), fz_profile_text(w->p, file), line);
}

static void write_node_call(struct writer *w, const struct node *n)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };

	if (n->function != FZ_NONE) {
		write_function_call(w, n->function, w->p->functions[n->function].first_line);
		return;
	}
	if (n->parent == FZ_NONE) {
		write_call(w, FZ_STR("(root)"), FZ_STR(""), 0);
		return;
	}
	const struct fz_thread *t = &w->p->threads[n->thread];
	struct fz_str text = fz_profile_text(w->p, t->name);
	fz_buf_printf(&name, "(thread %llu%s", (unsigned long long)t->tid, text.n ? ": " : "");
	fz_buf_add(&name, text.p, text.n);
	fz_buf_char(&name, ')');
	write_call(w, fz_buf_view(&name), FZ_STR(""), 0);
}

static void write_ticks(struct writer *w, const struct node *n)
{
	struct fz_json *j = &w->j;

	fz_json_kopen(j, "positionTicks", '[');
	for (uint32_t i = n->first_tick; i != FZ_NONE; i = w->ticks[i].next) {
		fz_json_open(j, '{');
		fz_json_kint(j, "line", w->ticks[i].line);
		fz_json_kint(j, "ticks", w->ticks[i].count);
		fz_json_kint(j, "startLocationId", w->ticks[i].location);
		fz_json_kint(j, "endLocationId", location(w, n->function, w->ticks[i].line + 1));
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

static void write_node(struct writer *w, uint32_t i)
{
	const struct node *n = &w->nodes[i];
	struct fz_json *j = &w->j;

	fz_json_open(j, '{');
	fz_json_kint(j, "id", (int64_t)i + 1);
	write_node_call(w, n);
	fz_json_kint(j, "hitCount", n->hits);
	fz_json_kopen(j, "children", '[');
	for (uint32_t c = n->first_child; c != FZ_NONE; c = w->nodes[c].next)
		fz_json_int(j, (int64_t)c + 1);
	fz_json_close(j, ']');
	if (n->first_tick != FZ_NONE)
		write_ticks(w, n);
	if (n->function != FZ_NONE)
		fz_json_kint(j, "locationId",
			     location(w, n->function, w->p->functions[n->function].first_line));
	fz_json_close(j, '}');
}

static uint32_t samples_of_row(const struct writer *w, size_t row)
{
	uint32_t n = fz_sample_count_in(w->p, w->p->default_metric, row);

	return w->one_by_one ? n : n > 0;
}

static int64_t microseconds(const struct writer *w, double weights)
{
	return llround(weights * w->us);
}

/* Writes the times between samples: a row's weight passes until the next row. */
static void write_deltas(struct writer *w)
{
	const struct fz_profile *p = w->p;
	struct fz_json *j = &w->j;
	int64_t written = 0;
	double sum = 0, before = 0; /* before: up to the sample */

	fz_json_kopen(j, "timeDeltas", '[');
	for (size_t row = 0; row < p->samples.n; row++) {
		double weight = (double)fz_sample_weight(p, p->default_metric, row);
		uint32_t n = samples_of_row(w, row);
		for (uint32_t i = 0; i < n; i++) {
			fz_json_int(j, microseconds(w, before) - written);
			written = microseconds(w, before);
			before = sum + weight * (i + 1) / n;
		}
		sum += weight;
		before = sum;
	}
	fz_json_close(j, ']');
	fz_json_kint(j, "startTime", 0);
	fz_json_kint(j, "endTime", microseconds(w, sum));
}

static void write_samples(struct writer *w, const uint32_t *node_of_row)
{
	const struct fz_profile *p = w->p;
	struct fz_json *j = &w->j;

	fz_json_kopen(j, "samples", '[');
	for (size_t row = 0; row < p->samples.n; row++)
		for (uint32_t i = samples_of_row(w, row); i-- > 0;)
			fz_json_int(j, (int64_t)node_of_row[row] + 1);
	fz_json_close(j, ']');
	write_deltas(w);
}

static void write_source(struct writer *w, const struct location *l)
{
	const struct fz_profile *p = w->p;
	struct fz_json *j = &w->j;
	struct fz_str file = fz_profile_text(p, p->functions[l->function].file);

	fz_json_open(j, '{');
	write_function_call(w, l->function, l->line);
	fz_json_kopen(j, "locations", '[');
	if (file.n && l->line > 0 && !fz_str_starts(file, "<")) {
		fz_json_open(j, '{');
		fz_json_kint(j, "lineNumber", l->line);
		fz_json_kint(j, "columnNumber", 1);
		fz_json_kopen(j, "source", '{');
		fz_json_kstr(j, "name", fz_path_base(file));
		fz_json_kstr(j, "path", file);
		fz_json_kint(j, "sourceReference", 0);
		fz_json_close(j, '}');
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}

static void write_vscode(struct writer *w)
{
	struct fz_json *j = &w->j;
	struct fz_str cwd = fz_profile_fact(w->p, "cwd");

	fz_json_kopen(j, "$vscode", '{');
	if (cwd.n)
		fz_json_kstr(j, "rootPath", cwd);
	fz_json_kopen(j, "locations", '[');
	for (uint32_t i = 0; i < w->location_count; i++)
		write_source(w, &w->locations[i]);
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}

static bool has_threads(const struct fz_profile *p)
{
	for (size_t row = 1; row < p->samples.n; row++)
		if (p->samples.thread[row] != p->samples.thread[0])
			return true;
	return false;
}

static void release(struct writer *w)
{
	free(w->nodes);
	free(w->ticks);
	free(w->locations);
	fz_map_release(&w->node_of);
	fz_map_release(&w->tick_of);
	fz_map_release(&w->location_of);
}

static int write_profile(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	fz_auto(release) struct writer w = { .p = p, .threads = has_threads(p) };
	int r = fz_fit_time(p, "a .cpuprofile", &w.us, err);

	if (r)
		return r;
	w.us /= 1e3;
	w.one_by_one = fz_profile_sample_total(p) <= SAMPLES_MAX;
	if (!w.one_by_one && fz_fit_counts_samples(p))
		return fz_fail(
			err, FZ_EUNSUPPORTED,
			"a .cpuprofile stores each sample, and viewers cannot load more than "
			"4,194,304; choose another format");
	fz_auto(fz_free_ptr) uint32_t *node_of_row = place_rows(&w);
	fz_json_init(&w.j, out, 2);
	fz_json_open(&w.j, '{');
	fz_json_kopen(&w.j, "nodes", '[');
	for (uint32_t i = 0; i < w.n; i++)
		write_node(&w, i);
	fz_json_close(&w.j, ']');
	write_samples(&w, node_of_row);
	write_vscode(&w);
	fz_json_close(&w.j, '}');
	fz_output_str(out, "\n");
	return 0;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	if (fz_jsonread_has_key(head, n, 1, "nodes") &&
	    fz_jsonread_has_key(head, n, 3, "callFrame"))
		return 80;
	if (fz_jsonread_has_key(head, n, 1, "head") &&
	    (fz_jsonread_has_key(head, n, 2, "callFrame") ||
	     fz_jsonread_has_key(head, n, 2, "functionName")))
		return 80;
	/* In other orders, lists of numbers precede the nodes. */
	return fz_jsonread_has_key(head, n, 1, "timeDeltas") ? 60 : 0;
}

const struct fz_format fz_format_cpuprofile = {
	.name = "cpuprofile",
	.title = "V8 CPU or heap profile (Chrome, Node, Visual Studio Code)",
	.suffixes = ".cpuprofile .heapprofile",
	.notes = "written: the default metric in microseconds; threads are nodes below the root",
	.sniff = sniff,
	.read = fz_cpuprofile_read,
	.write = write_profile,
};
