/* SPDX-License-Identifier: MIT */
/* Threads of two recordings, and what each node costs in each of them.
 *
 * Thread ids differ from run to run, so threads are matched by what stays: the main flag, then
 * the name (the k-th "worker" with the k-th "worker"), then, where a side knows no name, the order
 * of appearance.
 */
#include "diff/internal.h"

#include <stdio.h>

struct pairing {
	struct fz_diff *d;
	uint32_t *partner; /* of a base thread: head thread or FZ_NONE */
	bool *taken;       /* head threads */
};

static const struct fz_thread *thread_at(const struct pairing *m, enum fz_side s, uint32_t i)
{
	return &m->d->profile[s]->threads[i];
}

static struct fz_str name_at(const struct pairing *m, enum fz_side s, uint32_t i)
{
	return m->d->profile[s]->strings[thread_at(m, s, i)->name];
}

static bool both_main(const struct pairing *m, uint32_t base, uint32_t head)
{
	return thread_at(m, FZ_BASE, base)->is_main && thread_at(m, FZ_HEAD, head)->is_main;
}

static bool same_name(const struct pairing *m, uint32_t base, uint32_t head)
{
	struct fz_str name = name_at(m, FZ_BASE, base);

	return name.n && fz_str_eq(name, name_at(m, FZ_HEAD, head));
}

static bool a_name_is_missing(const struct pairing *m, uint32_t base, uint32_t head)
{
	return name_at(m, FZ_BASE, base).n == 0 || name_at(m, FZ_HEAD, head).n == 0;
}

/* Programs with ten thousands of threads exist; beyond this many the order decides alone. */
enum { NAMES_MAX = 512 };

static void pair_where(struct pairing *m,
		       bool (*fits)(const struct pairing *m, uint32_t base, uint32_t head))
{
	const struct fz_profile *base = m->d->profile[FZ_BASE], *head = m->d->profile[FZ_HEAD];
	uint32_t from = 0;

	for (uint32_t b = 0; b < base->thread_count; b++) {
		if (m->partner[b] != FZ_NONE)
			continue;
		while (from < head->thread_count && m->taken[from])
			from++;
		for (uint32_t h = from; h < head->thread_count && h < from + NAMES_MAX; h++) {
			if (m->taken[h] || !fits(m, b, h))
				continue;
			m->partner[b] = h;
			m->taken[h] = true;
			break;
		}
	}
}

static char *thread_label(struct fz_diff *d, enum fz_side s, uint32_t i)
{
	const struct fz_thread *t = &d->profile[s]->threads[i];
	struct fz_str name = d->profile[s]->strings[t->name];
	char text[64];

	if (t->is_main)
		return fz_arena_strndup(&d->arena, "main", 4);
	if (name.n)
		return fz_arena_strndup(&d->arena, name.p, name.n);
	int n = snprintf(text, sizeof(text), "tid %llu", (unsigned long long)t->tid);
	return fz_arena_strndup(&d->arena, text, (size_t)n);
}

static void add_thread(struct fz_diff *d, uint32_t base, uint32_t head)
{
	enum fz_side named = head != FZ_NONE ? FZ_HEAD : FZ_BASE;

	if (base != FZ_NONE && head != FZ_NONE) {
		const struct fz_thread *h = &d->profile[FZ_HEAD]->threads[head];
		if (!h->is_main && !h->name && d->profile[FZ_BASE]->threads[base].name)
			named = FZ_BASE;
	}
	d->threads[d->thread_count++] = (struct fz_diff_thread){
		.on_side = { base, head },
		.label = thread_label(d, named, named == FZ_HEAD ? head : base),
	};
}

void fz_diff_match_threads(struct fz_diff *d)
{
	uint32_t base_count = d->profile[FZ_BASE]->thread_count;
	uint32_t head_count = d->profile[FZ_HEAD]->thread_count;
	struct pairing m = { .d = d };
	fz_auto(fz_free_ptr) uint32_t *base_of = fz_calloc(head_count, sizeof(*base_of));

	m.partner = fz_calloc(base_count, sizeof(*m.partner));
	m.taken = fz_calloc(head_count, sizeof(*m.taken));
	memset(m.partner, 0xff, base_count * sizeof(*m.partner));
	memset(base_of, 0xff, head_count * sizeof(*base_of));
	pair_where(&m, both_main);
	pair_where(&m, same_name);
	pair_where(&m, a_name_is_missing);
	for (uint32_t b = 0; b < base_count; b++)
		if (m.partner[b] != FZ_NONE)
			base_of[m.partner[b]] = b;
	d->threads = fz_calloc((size_t)base_count + head_count, sizeof(*d->threads));
	for (uint32_t h = 0; h < head_count; h++)
		add_thread(d, base_of[h], h);
	for (uint32_t b = 0; b < base_count; b++)
		if (m.partner[b] == FZ_NONE)
			add_thread(d, b, FZ_NONE);
	free(m.partner);
	free(m.taken);
}

static int compare_cells(const void *pa, const void *pb)
{
	const struct fz_diff_cell *a = pa, *b = pb;

	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Sort by (node, thread): nodes by counting, the few threads of a node by comparing. Equal cells
 * become one. */
static size_t sort_and_merge(const struct fz_diff *d, struct fz_diff_cell *cells, size_t n)
{
	fz_auto(fz_free_ptr) size_t *start = fz_calloc((size_t)d->node_count + 2, sizeof(*start));
	fz_auto(fz_free_ptr) struct fz_diff_cell *sorted = fz_calloc(n, sizeof(*sorted));
	size_t out = 0;

	for (size_t i = 0; i < n; i++)
		start[cells[i].node + 2]++;
	for (uint32_t i = 0; i < d->node_count; i++)
		start[i + 2] += start[i + 1];
	for (size_t i = 0; i < n; i++)
		sorted[start[cells[i].node + 1]++] = cells[i];
	for (uint32_t node = 0; node < d->node_count; node++) {
		size_t count = start[node + 1] - start[node];
		if (count > 1)
			qsort(sorted + start[node], count, sizeof(*sorted), compare_cells);
	}
	for (size_t i = 0; i < n; i++) {
		struct fz_diff_cell *last = out ? &cells[out - 1] : NULL;
		if (last && last->node == sorted[i].node && last->thread == sorted[i].thread) {
			last->self[FZ_BASE] += sorted[i].self[FZ_BASE];
			last->self[FZ_HEAD] += sorted[i].self[FZ_HEAD];
		} else {
			cells[out++] = sorted[i];
		}
	}
	return out;
}

void fz_diff_merge_cells(struct fz_diff *d)
{
	size_t n = 0;

	d->cells = fz_calloc(d->tree[FZ_BASE]->cell_count + d->tree[FZ_HEAD]->cell_count,
			     sizeof(*d->cells));
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_tree *t = d->tree[s];
		uint32_t count = d->profile[s]->thread_count;
		fz_auto(fz_free_ptr) uint32_t *thread_of = fz_calloc(count, sizeof(*thread_of));
		for (uint32_t i = 0; i < d->thread_count; i++)
			if (d->threads[i].on_side[s] != FZ_NONE)
				thread_of[d->threads[i].on_side[s]] = i;
		for (size_t i = 0; i < t->cell_count; i++) {
			struct fz_diff_cell cell = { .node = d->node_of[s][t->cells[i].node],
						     .thread = thread_of[t->cells[i].thread] };
			cell.self[s] = t->cells[i].self;
			d->cells[n++] = cell;
		}
	}
	d->cell_count = sort_and_merge(d, d->cells, n);
}
