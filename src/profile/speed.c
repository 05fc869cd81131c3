/* SPDX-License-Identifier: MIT */
/* The machine's speed over time; see the header. */
#include "profile/speed.h"

#include <math.h>

/* Measurements on each side of one that its median includes, and their largest distance. */
enum { NEIGHBOURS = 2 };
#define NEAR_NS ((int64_t)25000000)

/* With fewer probes the speed is unknown. */
enum { PROBES_MIN = 8 };

void fz_speed_add(struct fz_speed_track *t, const struct fz_speed_probe *probe)
{
	fz_assert(probe->cost > 0);
	fz_push(t->probes, t->n, t->cap, *probe);
}

static int compare_cost(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return FZ_CMP(x, y);
}

static bool is_near(const struct fz_speed_probe *a, const struct fz_speed_probe *b)
{
	return a->run == b->run && a->time - b->time <= NEAR_NS && b->time - a->time <= NEAR_NS;
}

static double smooth(const struct fz_speed_track *t, size_t i)
{
	double near[2 * NEIGHBOURS + 1];
	size_t n = 0, first = i < NEIGHBOURS ? 0 : i - NEIGHBOURS;

	for (size_t k = first; k < t->n && k <= i + NEIGHBOURS; k++)
		if (is_near(&t->probes[k], &t->probes[i]))
			near[n++] = t->probes[k].cost;
	qsort(near, n, sizeof(*near), compare_cost);
	return (near[(n - 1) / 2] + near[n / 2]) / 2;
}

bool fz_speed_init(struct fz_speed *s, const struct fz_profile *p)
{
	*s = (struct fz_speed){ .track = &p->speed };
	if (p->speed.n < PROBES_MIN)
		return false;
	s->cost = fz_reallocarray(NULL, p->speed.n, sizeof(*s->cost));
	for (size_t i = 0; i < p->speed.n; i++)
		s->cost[i] = smooth(&p->speed, i);
	return true;
}

void fz_speed_release(struct fz_speed *s)
{
	free(s->cost);
	s->cost = NULL;
}

static bool is_before(const struct fz_speed_probe *probe, uint16_t run, int64_t time)
{
	return probe->run < run || (probe->run == run && probe->time < time);
}

double fz_speed_cost_at(const struct fz_speed *s, uint16_t run, int64_t time, size_t *hint)
{
	const struct fz_speed_track *t = s->track;

	fz_assert(s->cost && t->n >= PROBES_MIN);
	size_t i = FZ_MIN(*hint, t->n - 1);
	while (i > 0 && !is_before(&t->probes[i - 1], run, time))
		i--;
	while (i < t->n && is_before(&t->probes[i], run, time))
		i++;
	*hint = i;
	bool before = i > 0 && t->probes[i - 1].run == run;
	bool after = i < t->n && t->probes[i].run == run;
	if (before && after)
		return s->cost[time - t->probes[i - 1].time < t->probes[i].time - time ? i - 1 : i];
	return s->cost[before || i == t->n ? i - 1 : i];
}

bool fz_speed_range(const struct fz_profile *p, struct fz_speed_range *ret)
{
	struct fz_speed s;
	double sum = 0, logs = 0, squares = 0;

	if (!fz_speed_init(&s, p))
		return false;
	size_t n = p->speed.n;
	for (size_t i = 0; i < n; i++) {
		double x = log(s.cost[i]);

		sum += s.cost[i];
		logs += x / (double)n;
		squares += x * x / (double)n;
	}
	qsort(s.cost, n, sizeof(*s.cost), compare_cost);
	*ret = (struct fz_speed_range){ .fastest = s.cost[n / 100],
					.slowest = s.cost[n - 1 - n / 100],
					.mean = sum / (double)n,
					.spread = sqrt(FZ_MAX(0, squares - logs * logs)) };
	fz_speed_release(&s);
	return true;
}

/* Harmonic mean, since time divided by cost is work, and work adds up. */
double fz_speed_mean(const struct fz_profile *p, int64_t from, int64_t to)
{
	enum { STEPS = 64 };
	struct fz_speed s;
	double work = 0;
	size_t hint = 0;

	if (!fz_speed_init(&s, p))
		return 0;
	for (int i = 0; i < STEPS; i++)
		work += 1 / fz_speed_cost_at(&s, 0, from + (to - from) / STEPS * i, &hint);
	fz_speed_release(&s);
	return STEPS / work;
}
