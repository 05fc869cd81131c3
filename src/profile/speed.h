/* SPDX-License-Identifier: MIT */
/* How fast the machine ran while a program was recorded.
 *
 * CPU time is not work: on a machine whose cores are shared or change their clock the same program
 * takes 10 to 30 % more or less CPU time from run to run. So the recorder times a small piece of
 * work that is always the same, every few milliseconds, on the CPU that the program runs on
 * (record/speed.h). A recording keeps these times: its speed track.
 *
 *    ns for the piece   8.1  8.0  8.1  10.9  11.0  11.1  8.0       speed   1 = the reference,
 *    samples             s s  s s  s s   s s   s s   s s  s s              0.73 while it took 11
 *
 * What a sample weighs at the machine's reference speed is its CPU time times the speed at that
 * moment. The reference is a time for the piece, chosen by who compares.
 */
#pragma once

#include "base/base.h"

struct fz_profile;

/* The piece was timed once. */
struct fz_speed_look {
	uint16_t run;
	uint16_t cpu;
	int64_t time;  /* ns since the run began */
	uint32_t cost; /* CPU time that the piece took, ns; above 0 */
};

/* In order of run and time. */
struct fz_speed_track {
	struct fz_speed_look *looks;
	size_t n, cap;
};

void fz_speed_add(struct fz_speed_track *t, const struct fz_speed_look *look);

/* The track of a profile with what single looks say smoothed: each is the median of itself and
 * its neighbours in time, so that an interrupt that hit one does no harm. */
struct fz_speed {
	const struct fz_speed_track *track;
	double *cost; /* of each look */
};

/* False: too few looks to know the speed of anything. */
bool fz_speed_init(struct fz_speed *s, const struct fz_profile *p);
void fz_speed_release(struct fz_speed *s);
/* ns for the piece at that time of a run: between the two looks around it, that of the nearer one.
 * hint: where to begin to look for it, 0 at first, kept for the next call; times that grow make
 * that quick. */
double fz_speed_cost_at(const struct fz_speed *s, uint16_t run, int64_t time, size_t *hint);

/* ns for the piece on average between two times of the first run, such that time divided by it is
 * work; 0 when there are too few looks. */
double fz_speed_mean(const struct fz_profile *p, int64_t from, int64_t to);

/* The spread of a track for people: its slowest and fastest hundredth, ns for the piece. */
struct fz_speed_range {
	double fastest, slowest, mean;
	double spread; /* standard deviation of the logarithm */
};
bool fz_speed_range(const struct fz_profile *p, struct fz_speed_range *ret);
