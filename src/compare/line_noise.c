/* SPDX-License-Identifier: MIT */
/* Estimates how samples clump from the lines of functions, if the order of samples is unknown.
 *
 *   insert      base  head         A stall is many samples of one line. Without stalls a function's
 *     line 36    223    59         lines have the same shares on both sides, except for chance. So
 *     line 37     99   111         the chi-square per degree of freedom is the size of stalls.
 *
 * This is Pearson's estimate of dispersion (McCullagh and Nelder 1989, 4.5.2), and does not depend
 * on how the cost of the function changed. Functions whose lines differ between the sides were
 * edited and do not count.
 */
#include "compare/judge_internal.h"

#include <stdlib.h>

/* Samples that are expected of a line on either side: rarer lines form one group, for the
 * chi-square to hold; if one side has none of so many, the function was edited. */
enum { EXPECTED_MIN = 5, EXPECTED_SEEN = 10 };

/* A stall also enlarges its side's sum, which hides about half of it from the chi-square. */
static const double hidden = 2;

/* Degrees of freedom of the prior. */
enum { FREEDOM_OF_PRIOR = 3 };

/* Samples of one line of a function. */
struct cell {
	uint32_t function;
	int32_t line; /* from the function's first line, if known */
	double samples[FZ_SIDES];
};

static size_t count_rows(const struct fz_walk *w)
{
	return w->run_start[w->run_count];
}

/* Writes a cell for each row that has a line; returns their number. */
static size_t read_side(const struct fz_walk *w, const uint32_t *function_of, enum fz_side side,
			struct cell *cells)
{
	const struct fz_profile *p = w->profile;
	size_t n = 0;

	for (size_t i = 0; i < count_rows(w); i++) {
		uint32_t stack = p->samples.stack[w->rows[i]];
		uint32_t function = stack == FZ_NONE ? FZ_NONE : function_of[stack];
		if (function == FZ_NONE)
			continue;
		const struct fz_frame *frame = &p->frames[p->stacks[stack].frame];
		if (frame->line <= 0)
			continue;
		struct cell cell = { function,
				     frame->line - p->functions[frame->function].first_line,
				     { 0 } };
		cell.samples[side] = fz_sample_count_in(p, w->metric, w->rows[i]);
		cells[n++] = cell;
	}
	return n;
}

static int by_line(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->function != y->function ? FZ_CMP(x->function, y->function)
					  : FZ_CMP(x->line, y->line);
}

/* Merges cells of the same line; returns how many are left. */
static size_t merge(struct cell *cells, size_t n)
{
	size_t kept = 0;

	qsort(cells, n, sizeof(*cells), by_line);
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_line(&cells[kept - 1], &cells[i]) != 0) {
			cells[kept++] = cells[i];
			continue;
		}
		for (enum fz_side side = 0; side < FZ_SIDES; side++)
			cells[kept - 1].samples[side] += cells[i].samples[side];
	}
	return kept;
}

/* Samples that the side with fewer is expected to have of the cell. */
static double expected(const struct cell *cell, const double sum[FZ_SIDES])
{
	double both = cell->samples[FZ_BASE] + cell->samples[FZ_HEAD];

	return both * FZ_MIN(sum[FZ_BASE], sum[FZ_HEAD]) / (sum[FZ_BASE] + sum[FZ_HEAD]);
}

static bool is_edited(const struct cell *cell, const double sum[FZ_SIDES])
{
	return FZ_MIN(cell->samples[FZ_BASE], cell->samples[FZ_HEAD]) <= 0 &&
	       expected(cell, sum) >= EXPECTED_SEEN;
}

/* Adds a cell's part of the chi-square of two samples with these sums. */
static void add_cell(const struct cell *cell, const double sum[FZ_SIDES], double *square,
		     uint32_t *n)
{
	double base = cell->samples[FZ_BASE], head = cell->samples[FZ_HEAD];
	double distance = base * sum[FZ_HEAD] - head * sum[FZ_BASE];

	*square += distance * distance / (sum[FZ_BASE] * sum[FZ_HEAD] * (base + head));
	*n += 1;
}

/* Adds the chi-square of the lines of one function, and its degrees of freedom. */
static void add_function(const struct cell *cells, size_t n, double *square, double *freedom)
{
	double sum[FZ_SIDES] = { 0 }, of_lines = 0;
	struct cell rare = { 0 };
	uint32_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (enum fz_side side = 0; side < FZ_SIDES; side++)
			sum[side] += cells[i].samples[side];
	if (sum[FZ_BASE] <= 0 || sum[FZ_HEAD] <= 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (is_edited(&cells[i], sum))
			return;
		if (expected(&cells[i], sum) >= EXPECTED_MIN) {
			add_cell(&cells[i], sum, &of_lines, &count);
			continue;
		}
		for (enum fz_side side = 0; side < FZ_SIDES; side++)
			rare.samples[side] += cells[i].samples[side];
	}
	if (rare.samples[FZ_BASE] + rare.samples[FZ_HEAD] > 0)
		add_cell(&rare, sum, &of_lines, &count);
	if (count > 1) {
		*square += of_lines;
		*freedom += count - 1;
	}
}

/* The clumping by lines, as a factor of the prior; at least 1. */
static double find_clumping(const struct fz_inference *c, const struct fz_entities *functions)
{
	double square = 0, freedom = 0, prior = c->ratio.noise.clumping;
	struct cell *cells = fz_calloc(
		count_rows(&c->walk[FZ_BASE]) + count_rows(&c->walk[FZ_HEAD]) + 1, sizeof(*cells));
	size_t n = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		n += read_side(&c->walk[side], functions->of_stack[side], side, cells + n);
	n = merge(cells, n);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n; to++)
			if (cells[to].function != cells[from].function)
				break;
		add_function(cells + from, to - from, &square, &freedom);
	}
	free(cells);
	double found = (FREEDOM_OF_PRIOR * prior + hidden * square) / (FREEDOM_OF_PRIOR + freedom);
	return FZ_MAX(1, found / prior);
}

void fz_inference_find_clumping(struct fz_inference *c, const struct fz_entities *functions)
{
	if (c->method != FZ_JUDGE_APPROXIMATE)
		return;
	double factor = find_clumping(c, functions);

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		if (!c->walk[side].profile->samples.ordered) {
			c->walk[side].clumping = factor;
			c->ratio.size[side] *= factor;
		}
}
