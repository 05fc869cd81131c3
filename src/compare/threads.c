/* SPDX-License-Identifier: MIT */
/* Matches the threads of two recordings, and computes the cost of each node per thread.
 *
 * Thread ids differ from run to run, so threads are matched by the main flag, then by name (the
 * k-th "worker" with the k-th "worker"), then, if a side has no names, by order of appearance. If
 * there are several processes, these are matched first, by command and then by order (the k-th with
 * the k-th), and threads only within matched processes. Threads without samples are omitted.
 */
#include "compare/stages.h"

#include "profile/processes.h"

#include <stdio.h>

struct pairing {
	struct fz_diff *d;
	bool *sampled[FZ_SIDES]; /* by thread */
	uint32_t *partner;       /* of a base thread: head thread or FZ_NONE */
	bool *taken;             /* head threads */
	struct fz_processes processes[FZ_SIDES];
	uint32_t *process_partner; /* of a base process: head process or FZ_NONE */
};

static const struct fz_thread *thread_at(const struct pairing *m, enum fz_side s, uint32_t i)
{
	return &m->d->profile[s]->threads[i];
}

static bool same_process(const struct pairing *m, uint32_t base, uint32_t head)
{
	uint32_t b = m->processes[FZ_BASE].of_thread[base];

	return m->process_partner[b] == m->processes[FZ_HEAD].of_thread[head];
}

static bool same_command(const struct fz_profile_process *a, const struct fz_profile_process *b)
{
	return fz_str_eq(a->command, b->command);
}

static bool same_program(const struct fz_profile_process *a, const struct fz_profile_process *b)
{
	return fz_str_eq(a->name, b->name);
}

static bool any_process(const struct fz_profile_process *a, const struct fz_profile_process *b)
{
	(void)a;
	(void)b;
	return true;
}

static void pair_processes_where(struct pairing *m, bool *taken,
				 bool (*fits)(const struct fz_profile_process *a,
					      const struct fz_profile_process *b))
{
	const struct fz_processes *base = &m->processes[FZ_BASE], *head = &m->processes[FZ_HEAD];

	for (uint32_t b = 0; b < base->n; b++) {
		if (!base->list[b].samples)
			continue;
		for (uint32_t h = 0; m->process_partner[b] == FZ_NONE && h < head->n; h++) {
			if (taken[h] || !head->list[h].samples ||
			    !fits(&base->list[b], &head->list[h]))
				continue;
			m->process_partner[b] = h;
			taken[h] = true;
		}
	}
}

/* Pairs by order alone if a side has one process or no commands. */
static void pair_processes(struct pairing *m)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		m->processes[s] = fz_profile_processes(m->d->profile[s]);
	uint32_t base = m->processes[FZ_BASE].n, head = m->processes[FZ_HEAD].n;
	fz_auto(fz_free_ptr) bool *taken = fz_calloc(FZ_MAX(head, 1), sizeof(*taken));

	m->process_partner = fz_calloc(FZ_MAX(base, 1), sizeof(*m->process_partner));
	memset(m->process_partner, 0xff, base * sizeof(*m->process_partner));
	pair_processes_where(m, taken, same_command);
	pair_processes_where(m, taken, same_program);
	pair_processes_where(m, taken, any_process);
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

/* Some programs have tens of thousands of threads. If there are more than this, they are matched by
 * order alone. */
enum { NAMES_MAX = 512 };

static void pair_where(struct pairing *m,
		       bool (*fits)(const struct pairing *m, uint32_t base, uint32_t head))
{
	const struct fz_profile *base = m->d->profile[FZ_BASE], *head = m->d->profile[FZ_HEAD];
	uint32_t from = 0;

	for (uint32_t b = 0; b < base->thread_count; b++) {
		if (m->partner[b] != FZ_NONE || !m->sampled[FZ_BASE][b])
			continue;
		while (from < head->thread_count && m->taken[from])
			from++;
		for (uint32_t h = from; h < head->thread_count && h < from + NAMES_MAX; h++) {
			if (m->taken[h] || !same_process(m, b, h) || !fits(m, b, h))
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

static char *process_of(const struct pairing *m, enum fz_side s, uint32_t thread)
{
	const struct fz_processes *ps = &m->processes[s];

	if (m->processes[FZ_BASE].n < 2 && m->processes[FZ_HEAD].n < 2)
		return NULL;
	fz_auto(fz_free_ptr) char *label = fz_process_label(&ps->list[ps->of_thread[thread]]);
	return fz_arena_strndup(&m->d->arena, label, strlen(label));
}

static void add_thread(const struct pairing *m, uint32_t base, uint32_t head)
{
	struct fz_diff *d = m->d;
	enum fz_side named = head != FZ_NONE ? FZ_HEAD : FZ_BASE;

	if (base != FZ_NONE && head != FZ_NONE) {
		const struct fz_thread *h = &d->profile[FZ_HEAD]->threads[head];
		if (!h->is_main && !h->name && d->profile[FZ_BASE]->threads[base].name)
			named = FZ_BASE;
	}
	d->threads[d->thread_count++] = (struct fz_diff_thread){
		.on_side = { base, head },
		.label = thread_label(d, named, named == FZ_HEAD ? head : base),
		.process = process_of(m, head != FZ_NONE ? FZ_HEAD : FZ_BASE,
				      head != FZ_NONE ? head : base),
	};
}

static bool *sampled_threads(const struct fz_profile *p)
{
	bool *sampled = fz_calloc(p->thread_count, sizeof(*sampled));

	for (size_t row = 0; row < p->samples.n; row++)
		sampled[p->samples.thread[row]] = true;
	return sampled;
}

void fz_diff_match_threads(struct fz_diff *d)
{
	uint32_t base_count = d->profile[FZ_BASE]->thread_count;
	uint32_t head_count = d->profile[FZ_HEAD]->thread_count;
	struct pairing m = { .d = d };
	fz_auto(fz_free_ptr) uint32_t *base_of = fz_calloc(head_count, sizeof(*base_of));

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		m.sampled[s] = sampled_threads(d->profile[s]);
	m.partner = fz_calloc(base_count, sizeof(*m.partner));
	m.taken = fz_calloc(head_count, sizeof(*m.taken));
	for (uint32_t h = 0; h < head_count; h++)
		m.taken[h] = !m.sampled[FZ_HEAD][h];
	memset(m.partner, 0xff, base_count * sizeof(*m.partner));
	memset(base_of, 0xff, head_count * sizeof(*base_of));
	pair_processes(&m);
	pair_where(&m, both_main);
	pair_where(&m, same_name);
	pair_where(&m, a_name_is_missing);
	for (uint32_t b = 0; b < base_count; b++)
		if (m.partner[b] != FZ_NONE)
			base_of[m.partner[b]] = b;
	d->threads = fz_calloc((size_t)base_count + head_count, sizeof(*d->threads));
	for (uint32_t h = 0; h < head_count; h++)
		if (m.sampled[FZ_HEAD][h])
			add_thread(&m, base_of[h], h);
	for (uint32_t b = 0; b < base_count; b++)
		if (m.sampled[FZ_BASE][b] && m.partner[b] == FZ_NONE)
			add_thread(&m, b, FZ_NONE);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_processes_release(&m.processes[s]);
		free(m.sampled[s]);
	}
	free(m.process_partner);
	free(m.partner);
	free(m.taken);
}

static int compare_cells(const void *pa, const void *pb)
{
	const struct fz_diff_cell *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread);
}

/* Sorts by (node, thread): nodes by counting sort, the few threads of a node by comparison. Merges
 * equal cells; returns their number. */
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

/* With one thread, cells are the nodes' own costs. */
static void fill_cells_of_one(struct fz_diff *d)
{
	d->cells = fz_reallocarray(NULL, d->node_count + 1ul, sizeof(*d->cells));
	for (uint32_t i = 0; i < d->node_count; i++) {
		const int64_t *self = d->nodes[i].cost.self;
		if (self[FZ_BASE] || self[FZ_HEAD])
			d->cells[d->cell_count++] =
				(struct fz_diff_cell){ i, 0, { self[FZ_BASE], self[FZ_HEAD] } };
	}
}

void fz_diff_merge_cells(struct fz_diff *d)
{
	size_t n = 0;

	if (d->thread_count == 1) {
		fill_cells_of_one(d);
		return;
	}
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
			fz_assert(cell.node < d->node_count);
			cell.self[s] = t->cells[i].self;
			d->cells[n++] = cell;
		}
	}
	d->cell_count = sort_and_merge(d, d->cells, n);
}
