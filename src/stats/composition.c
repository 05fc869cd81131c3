/* SPDX-License-Identifier: MIT */
/* Circular binary segmentation with a permutation test. A stretch consists of blocks, each a vector
 * of shares; the search finds the arc whose sum is farthest from its expected part of the whole:
 *
 *     sums of (block - mean)   0 ../\..            there and back again: one arc, two changes
 *                                 /  \____/ 0
 *
 * The arc is significant if hardly any permutation of the blocks has an arc at least as far. This
 * requires independent blocks: while the residuals after a few cuts are correlated from block to
 * block, the length of blocks is doubled. Then each part is searched in turn. Finally, changes that
 * move too small a share of the time between their neighbours are dropped.
 */
#include "stats/composition.h"

#include <math.h>
#include <stdint.h>

#include "base/base.h"

enum {
	SLOTS = FZ_COMPOSITION_SLOTS,
	KINDS = FZ_COMPOSITION_KINDS,
	BLOCK = 4, /* slots in the shortest block */
	BLOCKS = SLOTS / BLOCK,
	LEAST = 12,    /* blocks: fewer have too few permutations */
	MARGIN = 3,    /* blocks before the first change of a stretch, and after the last */
	ROUNDS = 1000, /* permutations */
	CUTS = 3,      /* before the correlation is measured */
	CHANCES = 1,   /* permutations that may have an arc at least as far */
	FOUND = 32,    /* changes found before small ones are dropped */
};

static const double correlation_most = 0.05;
static const double distance_least = 0.15; /* of the time */
static const double noise_least = 0.03;    /* of a block: less does not count as correlated */
static const double empty = 0.1;           /* of a block's average cost: such a block is ignored */

struct costs {
	double before[SLOTS + 1][KINDS]; /* cumulative sums */
	size_t kinds;
	uint64_t seed;
	size_t found[FOUND];
	size_t n;
};

/* A stretch as vectors of shares, less their mean. */
struct blocks {
	double x[BLOCKS][KINDS];
	size_t n, width; /* width: in slots */
};

struct arc {
	size_t from, to; /* blocks */
	double size;
};

static size_t below(struct costs *c, size_t n)
{
	uint64_t z = (c->seed += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (size_t)((z ^ z >> 31) % n);
}

/* Sets ret to the shares of kinds in [from, to); returns their total cost, which may be 0. */
static double shares_of(const struct costs *c, size_t from, size_t to, double *ret)
{
	double sum = 0;

	for (size_t k = 0; k < c->kinds; k++)
		sum += ret[k] = c->before[to][k] - c->before[from][k];
	for (size_t k = 0; k < c->kinds && sum > 0; k++)
		ret[k] /= sum;
	return sum;
}

static void make_blocks(const struct costs *c, size_t from, size_t to, size_t width,
			struct blocks *ret)
{
	double mean[KINDS] = { 0 }, whole[KINDS];
	double all = shares_of(c, from, to, whole);

	*ret = (struct blocks){ .n = (to - from) / width, .width = width };
	fz_assert(ret->n <= BLOCKS);
	for (size_t i = 0; i < ret->n; i++) {
		size_t at = from + i * width;

		if (shares_of(c, at, at + width, ret->x[i]) < empty * all / (double)ret->n)
			memcpy(ret->x[i], whole, sizeof(whole));
		for (size_t k = 0; k < c->kinds; k++)
			mean[k] += ret->x[i][k] / (double)ret->n;
	}
	for (size_t i = 0; i < ret->n; i++)
		for (size_t k = 0; k < c->kinds; k++)
			ret->x[i][k] -= mean[k];
}

/* ---- arcs ---- */

/* Farthest arc of the blocks in the given order. */
static struct arc find_arc(const struct blocks *b, size_t kinds, const uint8_t *order)
{
	double sums[BLOCKS + 1][KINDS] = { { 0 } };
	struct arc best = { 0 };

	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < kinds; k++)
			sums[i + 1][k] = sums[i][k] + b->x[order[i]][k];
	for (size_t from = 0; from < b->n; from++)
		for (size_t to = from + 1; to <= b->n; to++) {
			double size = 0;

			for (size_t k = 0; k < kinds; k++)
				size += pow(sums[to][k] - sums[from][k], 2);
			if (size > best.size)
				best = (struct arc){ from, to, size };
		}
	return best;
}

static void shuffle(struct costs *c, uint8_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t other = below(c, i);
		uint8_t was = order[i - 1];

		order[i - 1] = order[other];
		order[other] = was;
	}
}

static bool is_chance(struct costs *c, const struct blocks *b, double size)
{
	uint8_t order[BLOCKS];
	int as_far = 0;

	for (size_t i = 0; i < b->n; i++)
		order[i] = (uint8_t)i;
	for (int round = 0; round < ROUNDS && as_far <= CHANCES; round++) {
		shuffle(c, order, b->n);
		as_far += find_arc(b, c->kinds, order).size >= size;
	}
	return as_far > CHANCES;
}

/* Reduction of the sum of squares if [from, to) is split at `at`. */
static double gain(const struct blocks *b, size_t kinds, size_t from, size_t at, size_t to)
{
	double left[KINDS] = { 0 }, right[KINDS] = { 0 }, sum = 0;
	double n = (double)(at - from), m = (double)(to - at);

	for (size_t i = from; i < to; i++)
		for (size_t k = 0; k < kinds; k++)
			(i < at ? left : right)[k] += b->x[i][k];
	for (size_t k = 0; k < kinds; k++)
		sum += pow(left[k] / n - right[k] / m, 2);
	return sum * n * m / (n + m);
}

/* Adds the cut that gains most and returns the number of parts. starts: first block of each part,
 * and the end. */
static size_t cut(const struct blocks *b, size_t kinds, size_t *starts, size_t parts)
{
	size_t best = 0, part = 0;
	double most = 0;

	for (size_t i = 0; i < parts; i++)
		for (size_t at = starts[i] + 1; at < starts[i + 1]; at++) {
			double more = gain(b, kinds, starts[i], at, starts[i + 1]);

			if (more <= most)
				continue;
			most = more;
			best = at;
			part = i;
		}
	if (!best)
		return parts;
	memmove(starts + part + 2, starts + part + 1, (parts - part) * sizeof(*starts));
	starts[part + 1] = best;
	return parts + 1;
}

/* Subtracts from x the means of its parts. */
static void subtract_parts(struct blocks *b, size_t kinds, const size_t *starts, size_t parts)
{
	for (size_t p = 0; p < parts; p++)
		for (size_t k = 0; k < kinds; k++) {
			double mean = 0;

			for (size_t i = starts[p]; i < starts[p + 1]; i++)
				mean += b->x[i][k] / (double)(starts[p + 1] - starts[p]);
			for (size_t i = starts[p]; i < starts[p + 1]; i++)
				b->x[i][k] -= mean;
		}
}

/* Correlation of neighbouring blocks. Real changes correlate neighbours, too, so a few cuts come
 * first. Tiny residuals count as uncorrelated. */
static double correlation(const struct blocks *b, size_t kinds)
{
	struct blocks rest = *b;
	size_t starts[CUTS + 2] = { 0, b->n }, parts = 1;
	double products = 0, squares = (double)b->n * noise_least * noise_least;

	for (int i = 0; i < CUTS; i++)
		parts = cut(b, kinds, starts, parts);
	subtract_parts(&rest, kinds, starts, parts);
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < kinds; k++) {
			squares += rest.x[i][k] * rest.x[i][k];
			products += i ? rest.x[i][k] * rest.x[i - 1][k] : 0;
		}
	return products / squares;
}

/* ---- the search ---- */

/* Returns the slot, at most `reach` from `at`, where the two sides differ most. */
static size_t sharpen(const struct costs *c, size_t from, size_t at, size_t to, size_t reach)
{
	size_t low = FZ_MAX(from + 1, at > reach ? at - reach : 0),
	       high = FZ_MIN(to - 1, at + reach);
	size_t best = at;
	double most = -1;

	for (size_t t = low; t <= high; t++) {
		double left[KINDS], right[KINDS], gap = 0;
		double weights = shares_of(c, from, t, left) * shares_of(c, t, to, right);

		for (size_t k = 0; k < c->kinds; k++)
			gap += pow(left[k] - right[k], 2) * weights;
		if (gap > most) {
			most = gap;
			best = t;
		}
	}
	return best;
}

static void search(struct costs *c, size_t from, size_t to)
{
	uint8_t order[BLOCKS];
	struct blocks b;
	struct arc arc;

	for (size_t i = 0; i < BLOCKS; i++)
		order[i] = (uint8_t)i;
	for (size_t width = BLOCK;; width *= 2) {
		if ((to - from) / width < LEAST)
			return;
		make_blocks(c, from, to, width, &b);
		arc = find_arc(&b, c->kinds, order);
		if (correlation(&b, c->kinds) <= correlation_most)
			break;
	}
	if (!(arc.size > 1e-12) || is_chance(c, &b, arc.size))
		return;
	size_t first = arc.from < MARGIN ? 0 : arc.from,
	       last = b.n - arc.to < MARGIN ? b.n : arc.to;
	size_t ends[] = { from, from + first * b.width, last == b.n ? to : from + last * b.width,
			  to };
	if (first == 0 && last == b.n)
		return;
	for (int i = 1; i <= 2; i++)
		if (ends[i] > from && ends[i] < to && c->n < FOUND)
			c->found[c->n++] = ends[i] =
				sharpen(c, ends[i - 1], ends[i], ends[i + 1], b.width);
	for (int i = 0; i < 3; i++)
		if (ends[i] < ends[i + 1])
			search(c, ends[i], ends[i + 1]);
}

/* ---- thinning out ---- */

static double distance(const struct costs *c, size_t from, size_t middle, size_t to)
{
	double left[KINDS] = { 0 }, right[KINDS] = { 0 }, sum = 0;

	shares_of(c, from, middle, left);
	shares_of(c, middle, to, right);
	for (size_t k = 0; k < c->kinds; k++)
		sum += fabs(left[k] - right[k]) / 2;
	return sum;
}

static int compare(const void *pa, const void *pb)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	return FZ_CMP(a, b);
}

/* Drops the smallest changes first. */
static void thin_out(struct costs *c)
{
	for (;;) {
		size_t worst = c->n;
		double least = c->n > FZ_COMPOSITION_CHANGES ? INFINITY : distance_least;

		for (size_t i = 0; i < c->n; i++) {
			double gap = distance(c, i ? c->found[i - 1] : 0, c->found[i],
					      i + 1 < c->n ? c->found[i + 1] : SLOTS);

			if (gap < least) {
				least = gap;
				worst = i;
			}
		}
		if (worst == c->n)
			return;
		c->n--;
		memmove(c->found + worst, c->found + worst + 1, (c->n - worst) * sizeof(*c->found));
	}
}

static void add_costs(struct costs *c, const double *costs, size_t kinds)
{
	fz_assert(kinds <= KINDS);
	*c = (struct costs){ .kinds = kinds };
	for (size_t i = 0; i < SLOTS; i++)
		for (size_t k = 0; k < kinds; k++)
			c->before[i + 1][k] = c->before[i][k] + costs[i * kinds + k];
}

size_t fz_composition_find(const double *costs, size_t kinds, size_t ret_at[FZ_COMPOSITION_CHANGES])
{
	fz_auto(fz_free_ptr) struct costs *c = fz_calloc(1, sizeof(*c));

	add_costs(c, costs, kinds);
	search(c, 0, SLOTS);
	if (c->n)
		qsort(c->found, c->n, sizeof(*c->found), compare);
	thin_out(c);
	fz_assert(c->n <= FZ_COMPOSITION_CHANGES);
	memcpy(ret_at, c->found, c->n * sizeof(*ret_at));
	return c->n;
}
