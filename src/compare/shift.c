/* SPDX-License-Identifier: MIT */
/* Finds cost that only moved from one callee to another.
 *
 *   main            main          parse was split in two: new callees cost 305, removed ones 300.
 *    |-parse 300     |-head  90   That is one shift of +5, not +305 and -300.
 *    `-print 50      |-body 215
 *                    `-print 50
 *
 * Below a common node, it is a shift if the costs of new and removed callees differ by less than
 * twice the standard error of the difference and by less than a fifth of their sum. Both need
 * enough samples. Wrappers do not count, because the code inside was matched. The whole subtree of
 * a callee is marked, since it is part of its cost.
 */
#include "compare/stages.h"

#include <math.h>

enum { SAMPLES_MIN = 10 };
static const double gross_part = 0.2;

static double mean_weight(const struct fz_diff *d, enum fz_side side)
{
	return d->samples[side] ? (double)d->total[side] / (double)d->samples[side] : 0;
}

static bool is_shift(const struct fz_diff *d, const struct fz_diff_shift *s)
{
	double weight[FZ_SIDES], cost[FZ_SIDES], variance = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		double factor = side == FZ_BASE ? d->factor : 1;
		weight[side] = factor * mean_weight(d, side);
		cost[side] = factor * (double)s->cost[side];
		if (weight[side] <= 0 || cost[side] < SAMPLES_MIN * weight[side])
			return false;
		variance += cost[side] * weight[side];
	}
	double net = fabs(cost[FZ_HEAD] - cost[FZ_BASE]);
	return net < 2 * sqrt(variance) && net < gross_part * (cost[FZ_HEAD] + cost[FZ_BASE]);
}

static bool takes_part(const struct fz_diff_node *n)
{
	return n->state != FZ_COMMON && !n->wraps;
}

static struct fz_diff_shift sum_callees(const struct fz_diff *d, uint32_t node)
{
	struct fz_diff_shift s = { .node = node };
	uint32_t end = node + d->nodes[node].size;

	for (uint32_t i = node + 1; i < end; i += d->nodes[i].size) {
		const struct fz_diff_node *n = &d->nodes[i];
		if (!takes_part(n))
			continue;
		fz_assert(n->state != FZ_MOVED);
		enum fz_side side = n->state == FZ_NEW ? FZ_HEAD : FZ_BASE;
		s.callees[side]++;
		s.cost[side] += n->cost.total[side];
	}
	return s;
}

static void mark_callees(struct fz_diff *d, uint32_t node)
{
	uint32_t end = node + d->nodes[node].size;

	for (uint32_t i = node + 1; i < end;) {
		uint32_t next = i + d->nodes[i].size;
		if (takes_part(&d->nodes[i]))
			for (; i < next; i++)
				d->nodes[i].state = FZ_MOVED;
		i = next;
	}
}

void fz_diff_find_shifts(struct fz_diff *d)
{
	uint32_t cap = 0;

	for (uint32_t i = 0; i < d->node_count; i++) {
		if (d->nodes[i].state != FZ_COMMON)
			continue;
		struct fz_diff_shift s = sum_callees(d, i);
		if (!s.callees[FZ_BASE] || !s.callees[FZ_HEAD] || !is_shift(d, &s))
			continue;
		fz_push(d->shifts, d->shift_count, cap, s);
		mark_callees(d, i);
	}
}
