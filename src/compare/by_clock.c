/* SPDX-License-Identifier: MIT */
/* Programs that end by the clock: servers under a load for so many seconds, loops "until".
 *
 * On a machine that was slower for the head such a program got less done in the same time. At the
 * base's speed that is less cost, and reads as a faster program; by CPU time, so do waits for a
 * CPU:
 *
 *                   base     head
 *     took          2.00 s   2.01 s     by the wall clock, or of CPU time: the same
 *     machine       100 %    70 %       of its speed, times the part of a CPU that it was given
 *     work          100      70         faster by 30 %, if that was all that there was to do
 *
 * Or the head is slower, and by as much as the machine was: two that agree by chance. Nothing tells
 * which, so where the sides took the same time and the machine did not, all that the machine
 * explains is in doubt: it is added to the range of the drift.
 */
#include "compare/internal.h"

#include "profile/runs.h"

#include <math.h>

/* Times that differ by no more are the same: a program looks at the clock now and then, and starts
 * before it does. */
static const double same_part = 0.01, same_ns = 10e6, same_most = 0.015;

/* The machine's doings below this are in the noise in any case. */
static const double least_shift = 0.03;

/* The times of all runs of both sides, or of each side as a whole. */
struct times {
	double least, most;
};

static void add_time(struct times *t, double ns)
{
	t->least = t->most > 0 ? fmin(t->least, ns) : ns;
	t->most = fmax(t->most, ns);
}

static bool are_same(const struct times *t)
{
	return t->least > 0 &&
	       log(t->most / t->least) <= fmin(same_part + same_ns / t->least, same_most);
}

/* Every run took the same, by the wall clock. */
static bool took_same_wall(const struct fz_diff *d)
{
	struct times t = { 0 };

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_profile *p = d->profile[s];

		if (!p->run_count)
			return false;
		for (uint32_t i = 0; i < p->run_count; i++) {
			if (p->runs[i].duration_ns <= 0)
				return false;
			add_time(&t, (double)p->runs[i].duration_ns);
		}
	}
	return are_same(&t);
}

/* As measured, of what is compared: CPU time, if that is it. */
static bool took_same_cost(const struct fz_diff *d)
{
	double head =
		d->speed_scale.used ? (double)d->speed_scale.total : (double)d->total[FZ_HEAD];
	struct times t = { 0 };

	add_time(&t, (double)d->total[FZ_BASE] / FZ_MAX(d->profile[FZ_BASE]->run_count, 1));
	add_time(&t, head / FZ_MAX(d->profile[FZ_HEAD]->run_count, 1));
	return strcmp(d->metric, "cpu") == 0 && are_same(&t);
}

/* The logarithm of the part of its time in which the program was not kept waiting for a CPU. */
static double log_given(const struct fz_diff *d, enum fz_side s)
{
	double waited = fz_profile_busy(d->profile[s]).waited;

	if (d->speed_scale.used && strcmp(d->metric, "wall") == 0)
		return -log(d->speed_scale.side[s].stretched);
	return waited > 0 && waited < 1 ? log1p(-waited) : 0;
}

static double log_speed(const struct fz_diff *d, enum fz_side s)
{
	return d->speed_scale.used ? -log(d->speed_scale.side[s].piece) : 0;
}

static double speed_apart(const struct fz_diff *d)
{
	return log_speed(d, FZ_HEAD) - log_speed(d, FZ_BASE);
}

double fz_diff_clock_shift(const struct fz_diff *d)
{
	bool time = strcmp(d->metric, "cpu") == 0 || d->speed_scale.used;
	double shift = 0;

	if (d->scale != FZ_SCALE_TIME || !time || d->total[FZ_BASE] <= 0 || d->total[FZ_HEAD] <= 0)
		return 0;
	if (took_same_wall(d))
		shift = speed_apart(d) + log_given(d, FZ_HEAD) - log_given(d, FZ_BASE);
	else if (took_same_cost(d))
		shift = speed_apart(d);
	return fabs(shift) >= least_shift ? shift : 0;
}

void fz_diff_warn_about_clock(struct fz_diff *d)
{
	double shift = fz_diff_clock_shift(d);

	if (shift != 0)
		fz_diff_warn(d,
			     "both took the same time on a machine that was %.0f %% %s for the "
			     "head, as programs do that end by the clock; what that explains is no "
			     "change",
			     100 * fabs(expm1(shift)), shift < 0 ? "slower" : "faster");
}
