/* SPDX-License-Identifier: MIT */
/* Writing callgrind.out, and the format itself.
 *
 *   stack -> cost of the samples that end there, and below it (its callers come before it)
 *   function -> lines with their self cost, calls with what is below them
 *
 * A call counts the cost below it once, however often it recurs in itself. How often it was made
 * is not known: it says 1.
 */
#include "callgrind.h"

#include "format.h"

#include <stdlib.h>

struct line {
	uint32_t function;
	int32_t line;
	uint32_t callee; /* FZ_NONE: self cost */
	uint32_t values; /* row in writer.values */
};

struct writer {
	const struct fz_profile *p;
	struct fz_output *out;
	uint32_t metrics;
	int64_t *self, *total; /* of each stack and metric */
	struct line *lines;
	uint32_t n, cap;
	int64_t *values;
	size_t value_cap;
	struct fz_map line_of;  /* (function, line) -> a number; with the callee -> line */
	struct fz_map place_of; /* (function, line) -> number */
	uint32_t places;
	bool *named_file, *named_function;
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

static void add(struct writer *w, uint32_t function, int32_t line, uint32_t callee,
		const int64_t *values)
{
	uint32_t *place = fz_map_slot(&w->place_of, FZ_KEY(function, line));

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
		w->lines[w->n] = (struct line){ function, line, callee, w->n };
		w->n++;
	}
	for (uint32_t m = 0; m < w->metrics; m++)
		w->values[(size_t)*slot * w->metrics + m] += values[m];
}

static bool any(const int64_t *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (values[i])
			return true;
	return false;
}

/* Whether the same call is open further up: its cost holds this one's already. */
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
			add(w, f->function, FZ_MAX(f->line, 0), FZ_NONE, self);
		if (s->parent == FZ_NONE || !any(total, w->metrics))
			continue;
		const struct fz_frame *above = &p->frames[p->stacks[s->parent].frame];
		if (!is_inside_itself(p, i, above->function, f->function))
			add(w, above->function, FZ_MAX(above->line, 0), f->function, total);
	}
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	/* self cost first */
	return (a->callee + 1 > b->callee + 1) - (a->callee + 1 < b->callee + 1);
}

/* ---- text ---- */

/* Event names are one word each. */
static void put_word(struct writer *w, const char *s)
{
	for (; *s; s++)
		fz_output_printf(w->out, "%c", *s == ' ' || *s == '\n' || *s == ':' ? '_' : *s);
}

/* One line, and nothing that a terminal obeys, whatever a program calls its functions. */
static void put_name(struct writer *w, struct fz_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		fz_output_add(w->out, c < ' ' || c == 0x7f ? " " : &s.p[i], 1);
	}
}

static void put_compressed(struct writer *w, const char *key, uint32_t id, uint32_t string,
			   bool *named)
{
	fz_output_printf(w->out, "%s=(%u)", key, id + 1);
	if (!named[id]) {
		struct fz_str s = fz_profile_text(w->p, string);
		fz_output_str(w->out, " ");
		put_name(w, s.n ? s : FZ_STR("???"));
	}
	named[id] = true;
	fz_output_str(w->out, "\n");
}

static void put_place(struct writer *w, const char *file_key, const char *key, uint32_t function)
{
	const struct fz_function *f = &w->p->functions[function];
	uint32_t file = f->file ? f->file : f->module;

	put_compressed(w, file_key, file, file, w->named_file);
	put_compressed(w, key, function, f->name, w->named_function);
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
		put_word(w, event_name(&p->metrics[m]));
		if (strcmp(p->metrics[m].unit, "count") != 0)
			fz_output_printf(w->out, "(%s)", p->metrics[m].unit);
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
	uint32_t function = FZ_NONE;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct line *l = &w->lines[i];
		if (l->function != function) {
			fz_output_str(w->out, "\n");
			put_place(w, "fl", "fn", l->function);
		}
		function = l->function;
		if (l->callee != FZ_NONE) {
			put_place(w, "cfi", "cfn", l->callee);
			fz_output_str(w->out, "calls=1 0\n");
		}
		put_values(w, l->line, w->values + (size_t)l->values * w->metrics);
	}
}

static void put_totals(struct writer *w)
{
	fz_output_str(w->out, "\ntotals:");
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
	fz_map_release(&w->line_of);
	fz_map_release(&w->place_of);
}

int fz_callgrind_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	fz_auto(release) struct writer w = { .p = p, .out = out, .metrics = p->metric_count };

	(void)err;
	w.named_file = fz_calloc(p->string_count + 1, sizeof(*w.named_file));
	w.named_function = fz_calloc(p->function_count + 1, sizeof(*w.named_function));
	sum_stacks(&w);
	list_lines(&w);
	if (w.n)
		qsort(w.lines, w.n, sizeof(*w.lines), compare_lines);
	put_header(&w);
	put_lines(&w);
	put_totals(&w);
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
	bool function = fz_str_starts(s, "fn=") || memmem(head, n, "\nfn=", 4);
	return events && function ? 90 : 0;
}

const struct fz_format fz_format_callgrind = {
	.name = "callgrind",
	.title = "callgrind.out (Valgrind, KCachegrind)",
	.suffixes = ".callgrind",
	.notes = "a graph of calls: read as a reconstructed tree; written without stacks and "
		 "threads",
	.sniff = sniff,
	.read = fz_callgrind_read,
	.write = fz_callgrind_write,
};
