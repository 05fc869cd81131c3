/* SPDX-License-Identifier: MIT */
/* Random numbers from a fixed seed: what is made of them is the same in every run. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct chance {
	uint64_t seed;
};

/* splitmix64; in (0, 1). */
static inline double chance_uniform(struct chance *c)
{
	uint64_t z = (c->seed += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return ((double)(z >> 12) + 0.5) / 4503599627370496.0;
}

static inline double chance_exponential(struct chance *c)
{
	return -log(chance_uniform(c));
}

static inline double chance_normal(struct chance *c)
{
	double radius = sqrt(2 * chance_exponential(c));

	return radius * cos(2 * M_PI * chance_uniform(c));
}

/* Student's t with 3 degrees of freedom, scaled to variance 1. */
static inline double chance_heavy(struct chance *c)
{
	double squares = 0, top = chance_normal(c);

	for (int i = 0; i < 3; i++)
		squares += pow(chance_normal(c), 2);
	return top / sqrt(squares);
}
