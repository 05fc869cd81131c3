/* SPDX-License-Identifier: MIT */
/* Converts times to whole samples.
 *
 * A .bin has no weights: each sample is one interval. Other weights are distributed in two steps,
 * which keeps as much as the format can store:
 *
 *   (thread, stack) -> weight -> samples     by the largest remainders: the total is exact to half
 *                                            an interval, each stack to one
 *   row of a stack  -> samples               by running sums: samples are at the time of their rows
 *
 * Sampled profiles keep their interval, unless it is a mean (V8's vary by a few hundred
 * nanoseconds): then it is adjusted so that the total is a whole number. Others get an interval for
 * a million samples in total, at least the format's microsecond.
 */
#include "tachyon_plan.h"

#include "metric_fit.h"

#include <math.h>

enum { FINEST = 1000000 };
#define SAMPLES_MAX ((uint64_t)1 << 28)

struct entry {
	double weight;    /* in intervals */
	double seen;      /* part of it in the rows so far */
	uint64_t samples; /* assigned */
	uint64_t given;
};

struct planner {
	const struct fz_profile *p;
	double scale; /* intervals per unit of the metric */
	struct entry *entries;
	uint32_t n, cap;
	uint32_t *entry_of_row;
};

static int64_t choose_interval(const struct fz_profile *p, double ns)
{
	const struct fz_metric *m = &p->metrics[p->default_metric];
	double us, all = (double)fz_fit_total(p) * ns / 1e3;

	if (p->recording.interval_ns > 0)
		us = (double)p->recording.interval_ns / 1e3;
	else if (!m->column || fz_fit_counts_samples(p))
		us = (double)(m->column ? 1 : m->each) * ns / 1e3;
	else
		us = ceil(all / FINEST);
	if (p->recording.interval_ns % 1000 && m->column && all >= us && us > 0)
		us = all / round(all / us);
	/* At most a thousand seconds, to keep sums in range. */
	return llround(FZ_MIN(FZ_MAX(round(us), 1), 1e9)) * 1000;
}

static void sum_entries(struct planner *l)
{
	const struct fz_profile *p = l->p;
	struct fz_map known = { 0 };

	l->entry_of_row = fz_calloc(FZ_MAX(p->samples.n, 1), sizeof(*l->entry_of_row));
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t *slot =
			fz_map_slot(&known, FZ_KEY(p->samples.thread[row], p->samples.stack[row]));
		if (*slot == FZ_NONE) {
			*slot = l->n;
			fz_push(l->entries, l->n, l->cap, (struct entry){ 0 });
		}
		l->entry_of_row[row] = *slot;
		l->entries[*slot].weight +=
			(double)FZ_MAX(fz_sample_weight(p, p->default_metric, row), 0) * l->scale;
	}
	fz_map_release(&known);
}

static double remainder_of(const struct entry *e)
{
	return e->weight - floor(e->weight);
}

static int by_remainder(const void *pa, const void *pb, void *arg)
{
	const struct entry *entries = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	double ra = remainder_of(&entries[a]), rb = remainder_of(&entries[b]);

	return FZ_CMP(rb, ra) ?: FZ_CMP(a, b);
}

/* Assigns whole intervals to each entry, and what is left of the total to the largest
 * remainders. */
static void deal_entries(struct planner *l, uint64_t total)
{
	fz_auto(fz_free_ptr) uint32_t *order = fz_calloc(FZ_MAX(l->n, 1), sizeof(*order));
	uint64_t dealt = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		order[i] = i;
		l->entries[i].samples = (uint64_t)l->entries[i].weight;
		dealt += l->entries[i].samples;
	}
	qsort_r(order, l->n, sizeof(*order), by_remainder, l->entries);
	for (uint32_t i = 0; i < l->n && dealt < total; i++, dealt++)
		l->entries[order[i]].samples++;
}

static void deal_rows(struct planner *l, struct fz_tachyon_plan *plan)
{
	const struct fz_profile *p = l->p;

	for (size_t row = 0; row < p->samples.n; row++) {
		struct entry *e = &l->entries[l->entry_of_row[row]];
		int64_t weight = FZ_MAX(fz_sample_weight(p, p->default_metric, row), 0);
		if (!e->samples || !weight)
			continue;
		e->seen += (double)weight * l->scale;
		uint64_t until = (uint64_t)llround(e->seen / e->weight * (double)e->samples);
		until = FZ_MIN(until, e->samples);
		if (until <= e->given)
			continue;
		plan->of_row[row] = (uint32_t)(until - e->given);
		plan->samples += until - e->given;
		e->given = until;
	}
}

static double moved(const struct planner *l, double total)
{
	double sum = 0;

	for (uint32_t i = 0; i < l->n; i++)
		sum += fabs(l->entries[i].weight - (double)l->entries[i].samples);
	return total > 0 ? sum / total : 0;
}

int fz_tachyon_plan_init(struct fz_tachyon_plan *plan, const struct fz_profile *p,
			 struct fz_error *err)
{
	struct planner l = { .p = p };
	double ns, total = 0;
	int r = fz_fit_time(p, "a Tachyon file", &ns, err);

	if (r)
		return r;
	*plan = (struct fz_tachyon_plan){ .interval_ns = choose_interval(p, ns) };
	/* A sample is one interval, despite rounding to microseconds. */
	l.scale = fz_fit_counts_samples(p) ? 1 : ns / (double)plan->interval_ns;
	sum_entries(&l);
	for (uint32_t i = 0; i < l.n; i++)
		total += l.entries[i].weight;
	if (total > (double)SAMPLES_MAX) {
		r = fz_fail(err, FZ_EUNSUPPORTED,
			    "a Tachyon file stores each sample, and this profile's %s would need "
			    "more than 268,435,456; choose another format",
			    p->metrics[p->default_metric].name);
	} else {
		plan->of_row = fz_calloc(FZ_MAX(p->samples.n, 1), sizeof(*plan->of_row));
		deal_entries(&l, (uint64_t)llround(total));
		deal_rows(&l, plan);
		plan->moved = moved(&l, total);
	}
	free(l.entries);
	free(l.entry_of_row);
	return r;
}

void fz_tachyon_plan_release(struct fz_tachyon_plan *plan)
{
	free(plan->of_row);
	plan->of_row = NULL;
}
