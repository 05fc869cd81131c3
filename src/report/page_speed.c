/* SPDX-License-Identifier: MIT */
/* The machine's speed in a page's header: summary figures and a curve for each side. */
#include "report/page_speed.h"
#include "profile/speed.h"

/* Number of points of the curve. */
enum { SLOTS = 120 };

/* Write the mean cost of the timed piece of code in each slot of the recording's time, run after
 * run. */
static void write_track(const struct fz_speed *s, struct fz_json *j)
{
	const struct fz_speed_track *t = s->track;
	double sum[SLOTS] = { 0 };
	uint32_t n[SLOTS] = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		size_t slot = i * SLOTS / t->n;

		sum[slot] += s->cost[i];
		n[slot]++;
	}
	fz_json_kopen(j, "track", '[');
	for (size_t i = 0; i < SLOTS; i++)
		if (n[i])
			fz_json_int(j, (int64_t)(sum[i] / n[i]));
	fz_json_close(j, ']');
}

void fz_page_write_speed(const struct fz_profile *p, struct fz_json *j)
{
	struct fz_speed_range range;
	struct fz_speed s;

	if (!fz_speed_range(p, &range) || !fz_speed_init(&s, p))
		return;
	fz_json_kopen(j, "speed", '{');
	fz_json_kdouble(j, "fastest", range.fastest);
	fz_json_kdouble(j, "slowest", range.slowest);
	fz_json_kdouble(j, "mean", range.mean);
	write_track(&s, j);
	fz_json_close(j, '}');
	fz_speed_release(&s);
}
