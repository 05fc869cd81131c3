/* SPDX-License-Identifier: MIT */
/* Writes callgrind.out, and defines the format.
 *
 *   stack -> cost of its own samples, and including callees (callers precede it)
 *   function -> lines with their self cost, calls with their inclusive cost
 *
 * A call counts the cost below it once, even if it recurs. The number of calls is unknown and
 * written as 1. If the profile has a recorded call graph, that is written unchanged; entries are
 * then functions of the graph instead of functions of the profile.
 */
#include "callgrind.h"

#include "format.h"
#include "profile/callgraph.h"

#include <stdlib.h>

struct line {
	uint32_t entry;
	int32_t line;
	uint32_t callee; /* entry; FZ_NONE: self cost */
	uint32_t values; /* row in writer.values */
	uint64_t calls;
};

struct writer {
	const struct fz_profile *p;
	const struct fz_callgraph *graph; /* NULL: only stacks */
	struct fz_output *out;
	uint32_t metrics, metric[FZ_METRICS_MAX]; /* the written ones */
	int64_t *self, *total;                    /* of each stack and metric */
	struct line *lines;
	uint32_t n, cap;
	int64_t *values;
	size_t value_cap;
	struct fz_map line_of;  /* (entry, line) -> a number; with the callee -> line */
	struct fz_map place_of; /* (entry, line) -> number */
	uint32_t places;
	bool *named_file, *named_function, *named_object;
	uint32_t object; /* string: of the current lines */
};

static void sum_stacks(struct writer *w)
{
	const struct fz_profile *p = w->p;
	size_t n = (size_t)p->stack_count * w->metrics;

	w->self = fz_calloc(FZ_MAX(n, 1), sizeof(*w->self));
	w->total = fz_calloc(FZ_MAX(n, 1), sizeof(*w->total));
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		for (uint32_t m = 0; m < w->metrics && stack != FZ_NONE; m++)
			w->self[(size_t)stack * w->metrics + m] += fz_sample_weight(p, m, row);
	}
	memcpy(w->total, w->self, n * sizeof(*w->total));
	for (uint32_t i = p->stack_count; i-- > 0;) {
		uint32_t parent = p->stacks[i].parent;
		for (uint32_t m = 0; m < w->metrics && parent != FZ_NONE; m++)
			w->total[(size_t)parent * w->metrics + m] +=
				w->total[(size_t)i * w->metrics + m];
	}
}

static void add(struct writer *w, uint32_t entry, int32_t line, uint32_t callee, uint64_t calls,
		const int64_t *values)
{
	uint32_t *place = fz_map_slot(&w->place_of, FZ_KEY(entry, line));

	if (*place == FZ_NONE)
		*place = w->places++;
	uint32_t *slot = fz_map_slot(&w->line_of, FZ_KEY(*place, callee));
	if (*slot == FZ_NONE) {
		*slot = w->n;
		fz_grow(w->lines, w->n, w->cap);
		if ((size_t)w->cap * w->metrics > w->value_cap) {
			w->value_cap = (size_t)w->cap * w->metrics;
			w->values = fz_reallocarray(w->values, w->value_cap, sizeof(*w->values));
		}
		memset(w->values + (size_t)w->n * w->metrics, 0, w->metrics * sizeof(*w->values));
		w->lines[w->n] = (struct line){ entry, line, callee, w->n, 0 };
		w->n++;
	}
	w->lines[*slot].calls += calls;
	for (uint32_t m = 0; m < w->metrics; m++)
		w->values[(size_t)*slot * w->metrics + m] += values[w->metric[m]];
}

static bool any(const int64_t *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (values[i])
			return true;
	return false;
}

/* Whether the same call is open further up, whose cost includes this one's. */
static bool is_inside_itself(const struct fz_profile *p, uint32_t stack, uint32_t caller,
			     uint32_t callee)
{
	for (uint32_t at = p->stacks[stack].parent; at != FZ_NONE; at = p->stacks[at].parent) {
		uint32_t up = p->stacks[at].parent;
		if (up != FZ_NONE && p->frames[p->stacks[at].frame].function == callee &&
		    p->frames[p->stacks[up].frame].function == caller)
			return true;
	}
	return false;
}

static void list_lines(struct writer *w)
{
	const struct fz_profile *p = w->p;

	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_stack *s = &p->stacks[i];
		const struct fz_frame *f = &p->frames[s->frame];
		const int64_t *self = w->self + (size_t)i * w->metrics;
		const int64_t *total = w->total + (size_t)i * w->metrics;
		if (any(self, w->metrics))
			add(w, f->function, FZ_MAX(f->line, 0), FZ_NONE, 0, self);
		if (s->parent == FZ_NONE || !any(total, w->metrics))
			continue;
		const struct fz_frame *above = &p->frames[p->stacks[s->parent].frame];
		if (!is_inside_itself(p, i, above->function, f->function))
			add(w, above->function, FZ_MAX(above->line, 0), f->function, 0, total);
	}
}

static int32_t line_of(const struct writer *w, uint32_t frame)
{
	return FZ_MAX(w->p->frames[frame].line, 0);
}

static void list_graph(struct writer *w)
{
	const struct fz_callgraph *g = w->graph;

	for (uint32_t i = 0; i < g->self_n; i++) {
		const struct fz_callgraph_self *s = &g->selves[i];
		add(w, s->function, line_of(w, s->frame), FZ_NONE, 0, fz_callgraph_row(g, s->cost));
	}
	for (uint32_t i = 0; i < g->call_n; i++) {
		const struct fz_callgraph_call *c = &g->calls[i];
		add(w, c->caller, line_of(w, c->frame), c->callee, c->calls,
		    fz_callgraph_row(g, c->total));
	}
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	/* self cost first */
	return FZ_CMP(a->entry, b->entry) ?: FZ_CMP(a->line, b->line) ?:
	       FZ_CMP(a->callee + 1, b->callee + 1);
}

/* ---- text ---- */

/* Writes an event's name as one word. */
static void put_word(struct writer *w, const char *s)
{
	for (; *s; s++)
		fz_output_printf(w->out, "%c", *s == ' ' || *s == '\n' || *s == ':' ? '_' : *s);
}

/* Writes a name on one line, without control characters. */
static void put_name(struct writer *w, struct fz_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		fz_output_add(w->out, c < ' ' || c == 0x7f ? " " : &s.p[i], 1);
	}
}

/* more: string index of the suffix of the name; 0 is "". */
static void put_compressed(struct writer *w, const char *key, uint32_t id, uint32_t string,
			   uint32_t more, bool *named)
{
	fz_output_printf(w->out, "%s=(%u)", key, id + 1);
	if (!named[id]) {
		struct fz_str s = fz_profile_text(w->p, string);
		fz_output_str(w->out, " ");
		put_name(w, s.n ? s : FZ_STR("???"));
		put_name(w, fz_profile_text(w->p, more));
	}
	named[id] = true;
	fz_output_str(w->out, "\n");
}

static const struct fz_function *function_of(const struct writer *w, uint32_t entry)
{
	const struct fz_profile *p = w->p;

	return &p->functions[w->graph ? p->frames[w->graph->functions[entry].frame].function
				      : entry];
}

struct keys {
	const char *object, *file, *function;
};

/* Writes the object only for code without a file. */
static void put_place(struct writer *w, const struct keys *keys, uint32_t entry)
{
	const struct fz_function *f = function_of(w, entry);
	uint32_t variant = w->graph ? w->graph->functions[entry].variant : 0;
	uint32_t object = f->file ? 0 : f->module;

	if (object != w->object)
		put_compressed(w, keys->object, object, object, 0, w->named_object);
	put_compressed(w, keys->file, f->file, f->file, 0, w->named_file);
	put_compressed(w, keys->function, entry, f->name, variant, w->named_function);
}

static const char *event_name(const struct fz_metric *m)
{
	return strcmp(m->name, "instructions") == 0 ? "Ir" : m->name;
}

static void put_header(struct writer *w)
{
	const struct fz_profile *p = w->p;
	struct fz_str command = fz_profile_fact(p, "command");

	fz_output_str(w->out, "# callgrind format\nversion: 1\ncreator: fizeau " FZ_VERSION "\n");
	if (command.n) {
		fz_output_str(w->out, "cmd: ");
		put_name(w, command);
		fz_output_str(w->out, "\n");
	}
	fz_output_str(w->out, "positions: line\nevents:");
	for (uint32_t m = 0; m < w->metrics; m++) {
		fz_output_str(w->out, " ");
		const struct fz_metric *metric = &p->metrics[w->metric[m]];
		put_word(w, event_name(metric));
		if (strcmp(metric->unit, "count") != 0)
			fz_output_printf(w->out, "(%s)", metric->unit);
	}
	fz_output_str(w->out, "\n");
}

static void put_values(struct writer *w, int32_t line, const int64_t *values)
{
	fz_output_printf(w->out, "%d", line);
	for (uint32_t m = 0; m < w->metrics; m++)
		fz_output_printf(w->out, " %lld", (long long)FZ_MAX(values[m], 0));
	fz_output_str(w->out, "\n");
}

static void put_lines(struct writer *w)
{
	static const struct keys here = { "ob", "fl", "fn" }, callee = { "cob", "cfi", "cfn" };
	uint32_t entry = FZ_NONE;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct line *l = &w->lines[i];
		if (l->entry != entry) {
			fz_output_str(w->out, "\n");
			put_place(w, &here, l->entry);
			const struct fz_function *f = function_of(w, l->entry);
			w->object = f->file ? 0 : f->module;
		}
		entry = l->entry;
		if (l->callee != FZ_NONE) {
			put_place(w, &callee, l->callee);
			fz_output_printf(w->out, "calls=%llu 0\n",
					 (unsigned long long)FZ_MAX(l->calls, 1));
		}
		put_values(w, l->line, w->values + (size_t)l->values * w->metrics);
	}
}

/* "summary" before all lines and "totals" after them, so that readers detect truncation. */
static void put_sums(struct writer *w, const char *key)
{
	fz_output_printf(w->out, "%s:", key);
	for (uint32_t m = 0; m < w->metrics; m++) {
		int64_t sum = 0;
		for (uint32_t i = 0; i < w->n; i++)
			if (w->lines[i].callee == FZ_NONE)
				sum += w->values[(size_t)w->lines[i].values * w->metrics + m];
		fz_output_printf(w->out, " %lld", (long long)sum);
	}
	fz_output_str(w->out, "\n");
}

static void release(struct writer *w)
{
	free(w->self);
	free(w->total);
	free(w->lines);
	free(w->values);
	free(w->named_file);
	free(w->named_function);
	free(w->named_object);
	fz_map_release(&w->line_of);
	fz_map_release(&w->place_of);
}

static bool calls_have_costs(const struct fz_callgraph *g)
{
	for (uint32_t i = 0; i < g->call_n; i++)
		if (g->calls[i].total == FZ_NONE)
			return false;
	return true;
}

/* Chooses what to write: the graph if it has recorded totals and its calls have costs, and then
 * only metrics with such totals. */
static void choose_metrics(struct writer *w)
{
	const struct fz_profile *p = w->p;

	if (p->callgraph && p->callgraph->stated && calls_have_costs(p->callgraph))
		w->graph = p->callgraph;
	for (uint32_t m = 0; m < p->metric_count; m++)
		if (!w->graph || fz_callgraph_states(p, m))
			w->metric[w->metrics++] = m;
}

static int write_profile(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	fz_auto(release) struct writer w = { .p = p, .out = out };

	(void)err;
	w.named_file = fz_calloc(p->string_count + 1, sizeof(*w.named_file));
	w.named_object = fz_calloc(p->string_count + 1, sizeof(*w.named_object));
	choose_metrics(&w);
	w.named_function = fz_calloc((w.graph ? w.graph->n : p->function_count) + 1ul,
				     sizeof(*w.named_function));
	if (w.graph) {
		list_graph(&w);
	} else {
		sum_stacks(&w);
		list_lines(&w);
	}
	if (w.n)
		qsort(w.lines, w.n, sizeof(*w.lines), compare_lines);
	put_header(&w);
	put_sums(&w, "summary");
	put_lines(&w);
	fz_output_str(out, "\n");
	put_sums(&w, "totals");
	return 0;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str s = { (const char *)head, n };

	(void)name;
	if (fz_str_starts(s, "# callgrind format"))
		return 100;
	if (memchr(head, '\0', n))
		return 0;
	bool events = fz_str_starts(s, "events:") || memmem(head, n, "\nevents:", 8);
	bool function = fz_str_starts(s, "fn=") || memmem(head, n, "\nfn=", 4) ||
			memmem(head, n, "\ncreator: callgrind", 19);
	return events && function ? 90 : 0;
}

const struct fz_format fz_format_callgrind = {
	.name = "callgrind",
	.title = "callgrind.out (Valgrind, KCachegrind)",
	.suffixes = ".callgrind",
	.notes = "a call graph: read as a reconstructed tree; written without stacks and threads",
	.sniff = sniff,
	.read = fz_callgrind_read,
	.write = write_profile,
};
