/* SPDX-License-Identifier: MIT */
/* Computing the levels of a flame chart.
 *
 * Each level is one walk over all pieces, so its runs describe the time itself and not a finer
 * level; a walk that yields too many runs is abandoned. A cell's weight is summed by node. Nodes
 * are in preorder and a subtree is a range of them, so a subtree with more than half of the weight
 * contains the median: the innermost such frame is the median's node or one of its callers.
 */
#include "report/page_chart.h"

enum { COARSEST = 1024 /* cells: no screen is drawn with fewer */, STEP = 4 };

struct builder {
	const struct fz_tree *t;
	int64_t end;
	uint32_t *depth;  /* of each node; a root has 1 */
	int64_t *weight;  /* by node, in the current cell */
	uint32_t *inside; /* the nodes with weight */
	int64_t *sums;    /* prefix sums of their weights */
	uint32_t inside_n;
	uint32_t within; /* pieces that begin and end in the cell */
	uint32_t thread, cell, cells;
	struct fz_chart *chart;
	struct fz_chart_level *level;
	size_t cap;
};

/* ---- runs ---- */

static void emit(struct builder *b, struct fz_chart_run run)
{
	struct fz_chart *chart = b->chart;
	struct fz_chart_run *last = b->level->n ? &chart->list[chart->n - 1] : NULL;

	if (last && last->thread == run.thread && last->node == run.node &&
	    last->from + last->length == run.from && !last->mixed == !run.mixed &&
	    !last->more == !run.more) {
		last->length += run.length;
		last->mixed = FZ_MAX(last->mixed, run.mixed);
		last->more = FZ_MAX(last->more, run.more);
		return;
	}
	fz_push(chart->list, chart->n, b->cap, run);
	b->level->n++;
}

static bool contains(const struct fz_tree *t, uint32_t node, uint32_t other)
{
	return other >= node && other - node < t->size[node];
}

/* Index of the first node inside that is not less than `node`. */
static uint32_t lower_bound(const struct builder *b, uint32_t node)
{
	uint32_t low = 0, high = b->inside_n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (b->inside[middle] < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_most(const struct builder *b, uint32_t node)
{
	int64_t all = b->sums[b->inside_n];
	int64_t of =
		b->sums[lower_bound(b, node + b->t->size[node])] - b->sums[lower_bound(b, node)];

	return of > all - of;
}

static int compare_nodes(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(a, b);
}

static uint32_t median(const struct builder *b)
{
	uint32_t i = 0;

	while (b->sums[i + 1] <= b->sums[b->inside_n] - b->sums[i + 1])
		i++;
	return b->inside[i];
}

/* Choose the frame that represents the several nodes of a cell. */
static void weigh_cell(struct builder *b, struct fz_chart_run *run)
{
	const struct fz_tree *t = b->t;
	uint32_t deepest = 0, shared, n = b->inside_n;

	qsort(b->inside, n, sizeof(*b->inside), compare_nodes);
	for (uint32_t i = 0; i < n; i++) {
		b->sums[i + 1] = b->sums[i] + b->weight[b->inside[i]];
		deepest = FZ_MAX(deepest, b->depth[b->inside[i]]);
	}
	for (run->node = median(b); run->node != FZ_NONE && !has_most(b, run->node);)
		run->node = t->parent[run->node];
	for (shared = b->inside[0]; shared != FZ_NONE && !contains(t, shared, b->inside[n - 1]);)
		shared = t->parent[shared];
	uint32_t depth = run->node == FZ_NONE ? 0 : b->depth[run->node];
	run->mixed = depth - (shared == FZ_NONE ? 0 : b->depth[shared]);
	run->more = deepest > depth ? deepest - depth : 0;
}

/* The longer of two pieces that follow one another. */
static uint32_t longer(const struct builder *b)
{
	uint32_t before = b->inside[0], after = b->inside[1];

	return b->weight[after] > b->weight[before] ? after : before;
}

static void end_cell(struct builder *b)
{
	struct fz_chart_run run = { .thread = b->thread, .from = b->cell, .length = 1 };

	if (!b->inside_n)
		return;
	run.node = b->inside[0];
	if (b->inside_n == 2 && !b->within)
		run.node = longer(b);
	else if (b->inside_n > 1)
		weigh_cell(b, &run);
	for (uint32_t i = 0; i < b->inside_n; i++)
		b->weight[b->inside[i]] = 0;
	b->inside_n = b->within = 0;
	emit(b, run);
}

static void add_part(struct builder *b, const struct fz_chart_piece *piece, uint32_t cell,
		     int64_t weight)
{
	if (weight <= 0)
		return;
	if (b->cell != cell || b->thread != piece->thread)
		end_cell(b);
	b->cell = cell;
	b->thread = piece->thread;
	if (!b->weight[piece->node])
		b->inside[b->inside_n++] = piece->node;
	b->weight[piece->node] += weight;
}

static uint32_t cell_of(const struct builder *b, int64_t time)
{
	return (uint32_t)((__int128)time * b->cells / b->end);
}

/* Start of a cell, ns. */
static int64_t edge_of(const struct builder *b, uint32_t cell)
{
	return (int64_t)(((__int128)b->end * cell + b->cells - 1) / b->cells);
}

static void add_piece(struct builder *b, const struct fz_chart_piece *piece)
{
	uint32_t first = cell_of(b, piece->from), last = cell_of(b, piece->to);

	if (first == last) {
		add_part(b, piece, first, piece->to - piece->from);
		b->within++;
		return;
	}
	add_part(b, piece, first, edge_of(b, first + 1) - piece->from);
	if (last - first > 1) {
		end_cell(b);
		emit(b, (struct fz_chart_run){ .thread = piece->thread,
					       .from = first + 1,
					       .length = last - first - 1,
					       .node = piece->node });
	}
	add_part(b, piece, last, piece->to - edge_of(b, last));
}

/* ---- levels ---- */

/* Add a level. False, and nothing is changed, if it has more than `most` runs. */
static bool add_level(struct builder *b, const struct fz_chart_piece *pieces, size_t n,
		      uint32_t cells, size_t most)
{
	struct fz_chart *chart = b->chart;

	b->level = &chart->level[chart->levels];
	*b->level = (struct fz_chart_level){ .cells = cells, .first = chart->n };
	b->cells = cells;
	for (size_t i = 0; i < n && b->level->n <= most; i++)
		add_piece(b, &pieces[i]);
	end_cell(b);
	if (b->level->n > most) {
		chart->n = b->level->first;
		return false;
	}
	chart->levels++;
	return true;
}

static void add_levels(struct builder *b, const struct fz_chart_piece *pieces, size_t n,
		       size_t most)
{
	struct fz_chart *chart = b->chart;
	uint32_t cells = FZ_CHART_FINEST;

	while (cells > 1 && !add_level(b, pieces, n, cells, most))
		cells /= 2;
	if (!chart->levels)
		add_level(b, pieces, n, 1, SIZE_MAX);
	while (cells >= COARSEST * STEP && chart->levels < FZ_CHART_LEVELS) {
		cells /= STEP;
		add_level(b, pieces, n, cells, chart->level[chart->levels - 1].n / 2);
	}
}

static void check_pieces(const struct fz_chart_piece *pieces, size_t n, int64_t end)
{
	for (size_t i = 0; i < n; i++) {
		const struct fz_chart_piece *piece = &pieces[i], *before = i ? piece - 1 : NULL;

		fz_assert(0 <= piece->from && piece->from <= piece->to && piece->to <= end);
		fz_assert(!before || before->thread < piece->thread ||
			  (before->thread == piece->thread && before->to <= piece->from));
	}
}

void fz_chart_build(struct fz_chart *chart, const struct fz_tree *t,
		    const struct fz_chart_piece *pieces, size_t n, int64_t end, size_t most)
{
	fz_auto(fz_free_ptr) uint32_t *depth = fz_calloc(t->n + 1ul, sizeof(*depth));
	fz_auto(fz_free_ptr) int64_t *weight = fz_calloc(t->n + 1ul, sizeof(*weight));
	fz_auto(fz_free_ptr) uint32_t *inside = fz_calloc(t->n + 1ul, sizeof(*inside));
	fz_auto(fz_free_ptr) int64_t *sums = fz_calloc(t->n + 1ul, sizeof(*sums));
	struct builder b = { t, end, depth, weight, inside, sums, .chart = chart };

	check_pieces(pieces, n, end);
	for (uint32_t i = 0; i < t->n; i++)
		depth[i] = t->parent[i] == FZ_NONE ? 1 : depth[t->parent[i]] + 1;
	*chart = (struct fz_chart){ .list = NULL };
	if (n)
		add_levels(&b, pieces, n, most);
}

void fz_chart_release(struct fz_chart *chart)
{
	free(chart->list);
	*chart = (struct fz_chart){ .list = NULL };
}

/* ---- the page ---- */

static void count_runs(const struct fz_chart *chart, uint32_t threads, struct fz_columns *columns)
{
	size_t n = (size_t)chart->levels * threads;
	fz_auto(fz_free_ptr) int64_t *counts = fz_calloc(n + 1, sizeof(*counts));

	for (uint32_t i = 0; i < chart->levels; i++) {
		const struct fz_chart_level *level = &chart->level[i];

		for (size_t k = level->first; k < level->first + level->n; k++)
			counts[(size_t)i * threads + chart->list[k].thread]++;
	}
	fz_columns_numbers(columns, "run.count", counts, n);
}

static void write_gaps(const struct fz_chart *chart, int64_t *scratch, struct fz_columns *columns)
{
	for (size_t i = 0; i < chart->n; i++) {
		const struct fz_chart_run *run = &chart->list[i], *before = i ? run - 1 : NULL;
		/* the next thread, or the next level's first */
		bool fresh = !before || before->thread != run->thread || before->from >= run->from;

		scratch[i] = run->from - (fresh ? 0 : before->from + before->length);
	}
	fz_columns_numbers(columns, "run.gap", scratch, chart->n);
}

void fz_chart_columns(const struct fz_chart *chart, uint32_t threads, struct fz_columns *columns)
{
	fz_auto(fz_free_ptr) int64_t *scratch = fz_calloc(chart->n + 1, sizeof(*scratch));

	if (!chart->n)
		return;
	count_runs(chart, threads, columns);
	write_gaps(chart, scratch, columns);
	for (size_t i = 0; i < chart->n; i++)
		scratch[i] = chart->list[i].length;
	fz_columns_numbers(columns, "run.length", scratch, chart->n);
	for (size_t i = 0; i < chart->n; i++)
		scratch[i] = chart->list[i].node == FZ_NONE ? 0 : chart->list[i].node + 1;
	fz_columns_numbers(columns, "run.node", scratch, chart->n);
	for (size_t i = 0; i < chart->n; i++)
		scratch[i] = chart->list[i].mixed;
	fz_columns_numbers(columns, "run.mixed", scratch, chart->n);
	for (size_t i = 0; i < chart->n; i++)
		scratch[i] = chart->list[i].more;
	fz_columns_numbers(columns, "run.more", scratch, chart->n);
}

void fz_chart_header(const struct fz_chart *chart, struct fz_json *j)
{
	fz_json_kopen(j, "levels", '[');
	for (uint32_t i = 0; i < chart->levels; i++)
		fz_json_int(j, chart->level[i].cells);
	fz_json_close(j, ']');
}
