/* SPDX-License-Identifier: MIT */
/* Reading waits back off the stacks; see waits.h. The frame of a wait is the last but one where it
 * is known who ended it, else the last. */
#include "profile/waits.h"

#include "profile/origin.h"

const struct fz_wait_kind fz_wait_kinds[FZ_WAIT_KINDS] = {
	[FZ_WAIT_LOCK] = { "lock", "<lock wait>", "lock released by" },
	[FZ_WAIT_GIL] = { "GIL", "<GIL wait>", "GIL released by" },
	[FZ_WAIT_SOCKET] = { "socket", "<socket wait>", "woken by" },
	[FZ_WAIT_PIPE] = { "pipe", "<pipe wait>", "woken by" },
	[FZ_WAIT_POLL] = { "poll", "<poll wait>", "woken by" },
	[FZ_WAIT_FILE] = { "file", "<file wait>", "woken by" },
	[FZ_WAIT_DEVICE] = { "device", "<device wait>", "woken by" },
	[FZ_WAIT_EVENT] = { "event", "<event wait>", "woken by" },
	[FZ_WAIT_CHILD] = { "child", "<child wait>", "woken by" },
	[FZ_WAIT_SLEEP] = { "sleep", "<sleep wait>", "woken by" },
	[FZ_WAIT_SIGNAL] = { "signal", "<signal wait>", "woken by" },
	[FZ_WAIT_MEMORY] = { "memory", "<memory wait>", "woken by" },
	[FZ_WAIT_STOPPED] = { "stopped", "<stopped wait>", "woken by" },
	[FZ_WAIT_OTHER] = { "other", "<other wait>", "woken by" },
	[FZ_WAIT_CPU] = { "CPU", "<CPU wait>", "woken by" },
};

enum fz_wait fz_wait_of_function(const struct fz_profile *p, uint32_t function)
{
	const struct fz_function *f = &p->functions[function];
	enum fz_wait kind = 0;

	if (f->kind != FZ_KIND_MARKER)
		return FZ_WAIT_KINDS;
	while (kind < FZ_WAIT_KINDS &&
	       !fz_str_eq(p->strings[f->name], fz_str_of(fz_wait_kinds[kind].frame)))
		kind++;
	return kind;
}

/* ---- the table ---- */

struct reader {
	const struct fz_profile *p;
	const uint8_t *kinds; /* of functions: enum fz_wait */
	const uint8_t *origins;
	struct fz_wait_table *table;
	struct fz_map by_key;
	uint32_t *row_of; /* of stacks: 0 none, else 1 + row */
	uint32_t cap;
};

static uint32_t function_of(const struct fz_profile *p, uint32_t stack)
{
	return p->frames[p->stacks[stack].frame].function;
}

/* Where a program's own code, or what comes closest to it, waits. */
static void find_place(const struct reader *r, uint32_t stack, struct fz_wait_row *row)
{
	const struct fz_profile *p = r->p;
	uint32_t place = FZ_NONE;

	for (; stack != FZ_NONE; stack = p->stacks[stack].parent) {
		uint32_t function = function_of(p, stack);
		if (p->functions[function].kind == FZ_KIND_MARKER)
			continue;
		if (place == FZ_NONE || r->origins[function] != FZ_ORIGIN_STDLIB)
			place = stack;
		if (r->origins[function] != FZ_ORIGIN_STDLIB)
			break;
	}
	row->function = place == FZ_NONE ? FZ_NONE : function_of(p, place);
	row->line = place == FZ_NONE ? FZ_NO_LINE : p->frames[p->stacks[place].frame].line;
}

static uint32_t add_row(struct reader *r, const struct fz_wait_row *row)
{
	struct fz_wait_table *t = r->table;
	uint64_t words[] = { row->function, (uint64_t)row->line, row->by, row->kind };
	uint32_t *slot = fz_map_slot(&r->by_key, fz_hash_bytes(words, sizeof(words)));

	if (*slot == FZ_NONE) {
		*slot = t->n;
		fz_grow(t->rows, t->n, r->cap);
		t->rows[t->n++] = *row;
	}
	return *slot;
}

/* Index of the row that waits with this stack belong to; FZ_NONE: it is none of a wait. */
static uint32_t row_of_stack(struct reader *r, uint32_t stack)
{
	const struct fz_profile *p = r->p;
	uint32_t at = stack;
	struct fz_wait_row row = { .by = FZ_NONE, .line = FZ_NO_LINE };

	if (r->row_of[stack])
		return r->row_of[stack] - 1;
	row.kind = r->kinds[function_of(p, at)];
	if (row.kind == FZ_WAIT_KINDS && p->stacks[at].parent != FZ_NONE) {
		row.by = function_of(p, at);
		at = p->stacks[at].parent;
		row.kind = r->kinds[function_of(p, at)];
	}
	if (row.kind == FZ_WAIT_KINDS)
		return FZ_NONE;
	row.function = FZ_NONE;
	if (row.kind != FZ_WAIT_CPU)
		find_place(r, p->stacks[at].parent, &row);
	uint32_t i = add_row(r, &row);
	r->row_of[stack] = i + 1;
	return i;
}

static void add_sample(struct reader *r, size_t row)
{
	uint32_t stack = r->p->samples.stack[row];
	uint32_t i = stack == FZ_NONE ? FZ_NONE : row_of_stack(r, stack);
	int64_t ns = fz_sample_weight(r->p, r->p->default_metric, row);
	struct fz_wait_table *t = r->table;

	t->all_ns += ns;
	if (i == FZ_NONE)
		return;
	t->rows[i].n += fz_sample_count(r->p, row);
	t->rows[i].ns += ns;
	t->rows[i].longest = FZ_MAX(t->rows[i].longest, ns);
	t->kind_ns[t->rows[i].kind] += ns;
	t->ns += ns;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct fz_wait_row *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->function != b->function)
		return a->function > b->function ? 1 : -1;
	if (a->line != b->line)
		return a->line > b->line ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind > b->kind ? 1 : -1;
	return (a->by > b->by) - (a->by < b->by);
}

void fz_wait_table_init(struct fz_wait_table *t, const struct fz_profile *p)
{
	fz_auto(fz_free_ptr) uint8_t *kinds = fz_malloc(p->function_count + 1ul);
	fz_auto(fz_free_ptr) uint8_t *origins = NULL;
	struct reader r = { .p = p, .kinds = kinds, .table = t };
	bool any = false;

	*t = (struct fz_wait_table){ 0 };
	for (uint32_t i = 0; i < p->function_count; i++) {
		kinds[i] = (uint8_t)fz_wait_of_function(p, i);
		any |= kinds[i] != FZ_WAIT_KINDS;
	}
	if (!any || strcmp(p->metrics[p->default_metric].unit, "ns") != 0)
		return;
	r.origins = origins = fz_profile_origins(p);
	r.row_of = fz_calloc(p->stack_count + 1ul, sizeof(*r.row_of));
	for (size_t row = 0; row < p->samples.n; row++)
		add_sample(&r, row);
	if (t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), compare_rows);
	fz_map_release(&r.by_key);
	free(r.row_of);
}

void fz_wait_table_release(struct fz_wait_table *t)
{
	free(t->rows);
	*t = (struct fz_wait_table){ 0 };
}
