/* SPDX-License-Identifier: MIT */
/* Programs that run for a fixed time: servers under load, loops with a deadline.
 *
 * If the machine was slower for the head, such a program did less work in the same time. Adjusted
 * to the base's speed that is less cost, as if the program were faster; by CPU time, waiting for a
 * CPU has the same effect:
 *
 *                   base     head
 *     took          2.00 s   2.01 s     wall clock or CPU time: the same
 *     machine       100 %    70 %       of its speed, times the share of a CPU it received
 *     work          100      70         30 % faster, if this was all of the work
 *
 * The program may also have changed, by chance exactly as much as the machine in the opposite
 * direction. The two cases cannot be distinguished, so if the sides took the same time at different
 * machine speeds, the difference in speed is added to the range of the drift.
 */
#include "compare/stages.h"

#include "profile/runs.h"

#include <math.h>

/* Times that differ by at most this are equal: a program reads the clock only now and then, and not
 * right at its start. */
static const double same_part = 0.01, same_ns = 10e6, same_most = 0.015;

/* Smaller differences in the machine's speed are within the noise. */
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

/* Whether all runs took the same wall time. */
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

/* Whether both sides have the same cost in the compared metric, as measured. */
static bool took_same_cost(const struct fz_diff *d)
{
	double head =
		d->speed_scale.used ? (double)d->speed_scale.total : (double)d->total[FZ_HEAD];
	struct times t = { 0 };

	add_time(&t, (double)d->total[FZ_BASE] / FZ_MAX(d->profile[FZ_BASE]->run_count, 1));
	add_time(&t, head / FZ_MAX(d->profile[FZ_HEAD]->run_count, 1));
	return strcmp(d->metric, "cpu") == 0 && are_same(&t);
}

/* Logarithm of the fraction of its time that the program did not wait for a CPU. */
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
		fz_diff_warn(
			d,
			"both sides took the same time although the machine was %.0f %% %s for the "
			"head, as if they ran for a fixed time; a difference of that "
			"size is not reported as a change",
			100 * fabs(expm1(shift)), shift < 0 ? "slower" : "faster");
}
