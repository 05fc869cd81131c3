/* SPDX-License-Identifier: MIT */
/* Reads waits from stacks; see waits.h. The frame of a wait is the last but one if its ender is
 * known, else the last. */
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
	fz_assert(function < p->function_count);
	const struct fz_function *f = &p->functions[function];
	enum fz_wait kind = 0;

	if (f->kind != FZ_KIND_MARKER)
		return FZ_WAIT_KINDS;
	while (kind < FZ_WAIT_KINDS &&
	       !fz_str_eq(p->strings[f->name], fz_str_of(fz_wait_kinds[kind].frame)))
		kind++;
	return kind;
}

/* ---- places ---- */

bool fz_wait_places_init(struct fz_wait_places *w, const struct fz_profile *p)
{
	fz_auto(fz_free_ptr) uint8_t *kinds = fz_malloc(p->function_count + 1ul);
	bool any = false;

	*w = (struct fz_wait_places){ 0 };
	for (uint32_t i = 0; i < p->function_count; i++) {
		kinds[i] = (uint8_t)fz_wait_of_function(p, i);
		any |= kinds[i] != FZ_WAIT_KINDS;
	}
	if (!any || strcmp(p->metrics[p->default_metric].unit, "ns") != 0)
		return false;
	*w = (struct fz_wait_places){
		.p = p,
		.kinds = kinds,
		.origins = fz_profile_origins(p),
		.of = fz_calloc(p->stack_count + 1ul, sizeof(*w->of)),
		.known = fz_calloc(p->stack_count + 1ul, sizeof(*w->known)),
	};
	kinds = NULL;
	return true;
}

void fz_wait_places_release(struct fz_wait_places *w)
{
	free(w->kinds);
	free(w->origins);
	free(w->of);
	free(w->known);
	*w = (struct fz_wait_places){ 0 };
}

static uint32_t function_of(const struct fz_profile *p, uint32_t stack)
{
	return p->frames[p->stacks[stack].frame].function;
}

/* Finds the innermost code of the program itself, or the closest to it. */
static void find_code(const struct fz_wait_places *w, uint32_t stack, struct fz_wait_place *ret)
{
	const struct fz_profile *p = w->p;
	uint32_t place = FZ_NONE;

	for (; stack != FZ_NONE; stack = p->stacks[stack].parent) {
		uint32_t function = function_of(p, stack);
		if (p->functions[function].kind == FZ_KIND_MARKER)
			continue;
		if (place == FZ_NONE || w->origins[function] != FZ_ORIGIN_STDLIB)
			place = stack;
		if (w->origins[function] != FZ_ORIGIN_STDLIB)
			break;
	}
	if (place == FZ_NONE)
		return;
	ret->function = function_of(p, place);
	ret->line = p->frames[p->stacks[place].frame].line;
}

static struct fz_wait_place find_place(const struct fz_wait_places *w, uint32_t stack)
{
	const struct fz_profile *p = w->p;
	struct fz_wait_place place = { FZ_NONE, FZ_NO_LINE, FZ_NONE,
				       w->kinds[function_of(p, stack)] };
	uint32_t caller = p->stacks[stack].parent;

	if (place.kind == FZ_WAIT_KINDS && caller != FZ_NONE &&
	    w->kinds[function_of(p, caller)] != FZ_WAIT_KINDS) {
		place.by = function_of(p, stack);
		place.kind = w->kinds[function_of(p, caller)];
	}
	if (place.kind != FZ_WAIT_CPU)
		find_code(w, stack, &place);
	return place;
}

const struct fz_wait_place *fz_wait_place_of(struct fz_wait_places *w, uint32_t stack)
{
	fz_assert(stack < w->p->stack_count);
	if (!w->known[stack])
		w->of[stack] = find_place(w, stack);
	w->known[stack] = true;
	return &w->of[stack];
}

/* ---- rows ---- */

void fz_wait_rows_add(struct fz_wait_rows *r, const struct fz_wait_place *at, uint64_t n,
		      int64_t ns)
{
	uint64_t words[] = { at->function, (uint64_t)at->line, at->by, at->kind };

	fz_assert(r->by_place.len == r->n); /* not sorted yet */
	uint32_t *slot = fz_map_slot(&r->by_place, fz_hash_bytes(words, sizeof(words)));

	if (*slot == FZ_NONE) {
		*slot = r->n;
		fz_push(r->rows, r->n, r->cap, (struct fz_wait_row){ .at = *at });
	}
	struct fz_wait_row *row = &r->rows[*slot];
	row->n += n;
	row->ns += ns;
	row->longest = FZ_MAX(row->longest, ns);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct fz_wait_row *a = pa, *b = pb;

	return FZ_CMP(b->ns, a->ns) ?: FZ_CMP(a->at.function, b->at.function) ?:
	       FZ_CMP(a->at.line, b->at.line) ?: FZ_CMP(a->at.kind, b->at.kind) ?:
	       FZ_CMP(a->at.by, b->at.by);
}

void fz_wait_rows_sort(struct fz_wait_rows *r)
{
	if (r->n)
		qsort(r->rows, r->n, sizeof(*r->rows), compare_rows);
	fz_map_release(&r->by_place);
}

void fz_wait_rows_release(struct fz_wait_rows *r)
{
	fz_map_release(&r->by_place);
	free(r->rows);
	*r = (struct fz_wait_rows){ 0 };
}

/* ---- the table ---- */

void fz_wait_table_init(struct fz_wait_table *t, const struct fz_profile *p)
{
	struct fz_wait_places places;

	*t = (struct fz_wait_table){ .exact = p->recording.features & FZ_FEATURE_WAITS };
	if (!fz_wait_places_init(&places, p))
		return;
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		int64_t ns = fz_sample_weight(p, p->default_metric, row);

		t->all_ns += ns;
		const struct fz_wait_place *at =
			stack == FZ_NONE ? NULL : fz_wait_place_of(&places, stack);
		if (!at || at->kind == FZ_WAIT_KINDS)
			continue;
		fz_wait_rows_add(&t->rows, at, fz_sample_count(p, row), ns);
		t->kind_ns[at->kind] += ns;
		t->ns += ns;
	}
	fz_wait_rows_sort(&t->rows);
	fz_wait_places_release(&places);
}

void fz_wait_table_release(struct fz_wait_table *t)
{
	fz_wait_rows_release(&t->rows);
}
