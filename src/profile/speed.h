/* SPDX-License-Identifier: MIT */
/* The speed of the machine while a program was recorded.
 *
 * CPU time is not work: on machines with shared cores or variable clock rates the same program
 * takes 10 to 30 % more or less CPU time from run to run. So the recorder times a small, constant
 * piece of work every few milliseconds on the program's CPU (record/speed.h). A recording stores
 * these times as its speed track.
 *
 *    ns for the piece   8.1  8.0  8.1  10.9  11.0  11.1  8.0       speed   1 = the reference,
 *    samples             s s  s s  s s   s s   s s   s s  s s              0.73 while it took 11
 *
 * The weight of a sample at the reference speed is its CPU time times the speed at that moment. The
 * reference is a time for the piece, chosen by the comparison.
 */
#pragma once

#include "profile/profile.h"

void fz_speed_add(struct fz_speed_track *t, const struct fz_speed_probe *probe);

/* The smoothed track of a profile: each value is the median of itself and its neighbours in time,
 * so a single interrupt has no effect. */
struct fz_speed {
	const struct fz_speed_track *track;
	double *cost; /* of each probe */
};

/* False if there are too few measurements. */
bool fz_speed_init(struct fz_speed *s, const struct fz_profile *p);
void fz_speed_release(struct fz_speed *s);
/* Returns ns for the piece at a time of a run, from the nearest measurement. hint: start of the
 * search, 0 at first, updated for the next call; fast for increasing times. */
double fz_speed_cost_at(const struct fz_speed *s, uint16_t run, int64_t time, size_t *hint);

/* Returns mean ns for the piece between two times of the first run, such that time divided by it is
 * work; 0 with too few measurements. */
double fz_speed_mean(const struct fz_profile *p, int64_t from, int64_t to);

/* The spread of a track, for display: its slowest and fastest percentile, in ns for the piece. */
struct fz_speed_range {
	double fastest, slowest, mean;
	double spread; /* standard deviation of the logarithm */
};
bool fz_speed_range(const struct fz_profile *p, struct fz_speed_range *ret);
