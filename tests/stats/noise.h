/* SPDX-License-Identifier: MIT */
/* Made-up histories: a series of logarithms of costs, with a kind of noise and perhaps a step. The
 * generator has a fixed seed: what is made of it is the same in every run. */
#pragma once

#include "base/base.h"
#include "chance.h"

/* ---- noise ---- */

struct noise {
	const char *name;
	double white;      /* standard deviation of independent normal noise */
	double heavy;      /* of heavy-tailed noise */
	double outliers;   /* this part of the values lies higher by 16 % on average */
	double gap, upper; /* two modes: between them; part of the values in the upper one, */
	double stay;       /* or the chance to stay in a mode: sticky */
	double wander,
		memory; /* standard deviation and correlation of a first-order autoregression */
	double cycle;   /* amplitude of a wave of a quarter of the series to all of it */
};

static const struct noise noises[] = {
	{ .name = "normal, 2 %", .white = 0.02 },
	{ .name = "heavy tails (t, 3 df), 2 %", .heavy = 0.02 },
	{ .name = "normal, 2 %, and 5 % outliers", .white = 0.02, .outliers = 0.05 },
	{ .name = "two modes, 5 % apart", .white = 0.005, .gap = 0.05, .upper = 0.5 },
	{ .name = "two modes in noise of 1 %", .white = 0.01, .gap = 0.05, .upper = 0.5 },
	{ .name = "two modes, one rare (15 %)", .white = 0.005, .gap = 0.05, .upper = 0.15 },
	{ .name = "modes that last 5 commits", .white = 0.005, .gap = 0.05, .stay = 0.8 },
	{ .name = "modes that last 10 commits", .white = 0.005, .gap = 0.05, .stay = 0.9 },
	{ .name = "wander, correlation 0.5", .wander = 0.02, .memory = 0.5 },
	{ .name = "wander, correlation 0.7", .wander = 0.02, .memory = 0.7 },
	{ .name = "wander, correlation 0.9", .wander = 0.02, .memory = 0.9 },
	{ .name = "wander (0.9) in noise of 1 %", .white = 0.01, .wander = 0.015, .memory = 0.9 },
	{ .name = "cycles of 2 % in noise of 1 %", .white = 0.01, .cycle = 0.02 },
	{ .name = "cycles of 2 % in noise of 2 %", .white = 0.02, .cycle = 0.02 },
};
enum { NOISES = FZ_ARRAY_LEN(noises) };

/* A series of n values with a step at that place (0: none). */
static inline void make_history(struct chance *c, const struct noise *k, size_t n, size_t at,
				double step, double *ret)
{
	double wander = chance_normal(c), phase = 2 * M_PI * chance_uniform(c);
	double period = (double)n * (0.25 + 0.75 * chance_uniform(c));
	bool upper = chance_uniform(c) < 0.5;

	for (size_t i = 0; i < n; i++) {
		ret[i] = k->white * chance_normal(c) + (at && i >= at ? step : 0);
		if (k->heavy > 0)
			ret[i] += k->heavy * chance_heavy(c);
		if (k->outliers > 0 && chance_uniform(c) < k->outliers)
			ret[i] += 0.16 * chance_exponential(c);
		if (k->gap > 0)
			upper = k->stay > 0 ? upper == (chance_uniform(c) < k->stay)
					    : chance_uniform(c) < k->upper;
		ret[i] += upper ? k->gap : 0;
		if (k->wander > 0)
			wander = k->memory * wander +
				 sqrt(1 - k->memory * k->memory) * chance_normal(c);
		ret[i] += k->wander * wander;
		ret[i] += k->cycle * sin(phase + 2 * M_PI * (double)i / period);
	}
}
