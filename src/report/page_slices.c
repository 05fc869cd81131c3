/* SPDX-License-Identifier: MIT */
/* Collects slices row by row, because consecutive samples of a thread often share one; then sorts
 * them by node (counting sort) and within a node by comparison. Halving the buckets keeps the
 * order.
 */
#include "report/page_slices.h"

/* The bucket that contains a time; edges are whole ns, rounded down. */
static uint32_t bucket_of(int64_t time, int64_t end, uint32_t buckets)
{
	__int128 at = time > 0 ? time : 0;
	uint32_t b = (uint32_t)FZ_MIN(at * buckets / end, buckets - 1);

	while (b + 1 < buckets && (__int128)end * (b + 1) / buckets <= at)
		b++;
	return b;
}

struct gatherer {
	struct fz_slices *s;
	size_t cap;
	size_t *last; /* by thread: index + 1 of its last slice */
};

static void add(struct gatherer *g, const struct fz_slice *slice)
{
	struct fz_slices *s = g->s;
	size_t *last = &g->last[slice->thread];
	struct fz_slice *before = *last ? &s->list[*last - 1] : NULL;

	if (before && before->node == slice->node && before->bucket == slice->bucket) {
		before->self += slice->self;
		return;
	}
	fz_push(s->list, s->n, g->cap, *slice);
	*last = s->n;
}

/* Distribute a sample with a duration over its buckets. */
static void add_lasting(struct gatherer *g, struct fz_slice slice, int64_t from, int64_t to,
			int64_t end)
{
	uint32_t buckets = g->s->buckets;

	for (uint32_t b = slice.bucket; from < to; b++) {
		__int128 edge = (__int128)end * (b + 1) / buckets;
		int64_t until = b + 1 < buckets ? (int64_t)FZ_MIN(edge, to) : to;

		slice.bucket = b;
		slice.self = until - from;
		add(g, &slice);
		from = until;
	}
}

static void gather(struct fz_slices *s, const struct fz_tree *t, int64_t end)
{
	const struct fz_profile *p = t->profile;
	const struct fz_samples *of = &p->samples;
	fz_auto(fz_free_ptr) size_t *last = fz_calloc(p->thread_count + 1ul, sizeof(*last));
	struct gatherer g = { .s = s, .last = last };

	for (size_t row = 0; row < of->n; row++) {
		uint32_t stack = of->stack[row], thread = of->thread[row];
		uint32_t node = stack == FZ_NONE ? FZ_NONE : t->stack_node[stack];
		int64_t self = fz_sample_weight(p, t->metric, row), time = of->time[row];

		if (node == FZ_NONE || self == 0)
			continue;
		struct fz_slice slice = { node, thread, bucket_of(time, end, s->buckets), self };
		if (fz_sample_span(p, row) == self && s->buckets > 1)
			add_lasting(&g, slice, time, fz_sample_end(p, row), end);
		else
			add(&g, &slice);
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct fz_slice *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread) ?: FZ_CMP(a->bucket, b->bucket);
}

static void sort(struct fz_slices *s, uint32_t nodes)
{
	fz_auto(fz_free_ptr) size_t *start = fz_calloc(nodes + 2ul, sizeof(*start));
	struct fz_slice *sorted = fz_reallocarray(NULL, s->n + 1, sizeof(*sorted));

	for (size_t i = 0; i < s->n; i++)
		start[s->list[i].node + 2]++;
	for (uint32_t i = 2; i < nodes + 2; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < s->n; i++)
		sorted[start[s->list[i].node + 1]++] = s->list[i];
	for (uint32_t i = 0; i < nodes; i++)
		if (start[i + 1] - start[i] > 1)
			qsort(sorted + start[i], start[i + 1] - start[i], sizeof(*sorted), compare);
	free(s->list);
	s->list = sorted;
}

/* Merge slices of the same node, thread and bucket. */
static void merge(struct fz_slices *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct fz_slice *last = n ? &s->list[n - 1] : NULL;

		if (last && last->node == s->list[i].node && compare(last, &s->list[i]) == 0)
			last->self += s->list[i].self;
		else
			s->list[n++] = s->list[i];
	}
	s->n = n;
}

/* Number of (node, thread) pairs. */
static size_t count_cells(const struct fz_slices *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += i == 0 || s->list[i].node != s->list[i - 1].node ||
		     s->list[i].thread != s->list[i - 1].thread;
	return n;
}

void fz_slices_build(struct fz_slices *s, const struct fz_tree *t, int64_t end, uint32_t buckets,
		     size_t most)
{
	/* How other metrics are distributed within a sample's duration is unknown, so use one
	 * bucket. */
	bool shared = !t->profile->samples.spans || t->metric == 0;

	*s = (struct fz_slices){ .buckets = shared ? buckets : 1 };
	gather(s, t, end);
	sort(s, t->n);
	merge(s);
	most += count_cells(s);
	while (s->n > most && s->buckets > 1) {
		s->buckets /= 2;
		for (size_t i = 0; i < s->n; i++)
			s->list[i].bucket /= 2;
		merge(s);
	}
}

void fz_slices_release(struct fz_slices *s)
{
	free(s->list);
	*s = (struct fz_slices){ 0 };
}

void fz_slices_columns(const struct fz_slices *s, struct fz_columns *columns)
{
	fz_auto(fz_free_ptr) int64_t *scratch = fz_calloc(s->n + 1, sizeof(*scratch));

	for (size_t i = 0; i < s->n; i++)
		scratch[i] = s->list[i].node - (i ? s->list[i - 1].node : 0);
	fz_columns_numbers(columns, "slice.node", scratch, s->n);
	for (size_t i = 0; i < s->n; i++)
		scratch[i] = s->list[i].thread;
	fz_columns_numbers(columns, "slice.thread", scratch, s->n);
	for (size_t i = 0; i < s->n; i++)
		scratch[i] = s->list[i].bucket;
	fz_columns_numbers(columns, "slice.bucket", scratch, s->n);
	for (size_t i = 0; i < s->n; i++)
		scratch[i] = s->list[i].self;
	fz_columns_numbers(columns, "slice.self", scratch, s->n);
}
