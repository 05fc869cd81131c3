/* SPDX-License-Identifier: MIT */
/* Changes in a program's activity over time, by simulation: in 95 of 100 steady programs, with
 * phases of any length and noise, none is found; planted ones are found close to where they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../stats/chance.h"
#include "base/base.h"
#include "repeats.h"
#include "stats/composition.h"

enum { SLOTS = FZ_COMPOSITION_SLOTS, KINDS = 8, MODES = 3 };

/* A program: its modes each spend their time in their own way. */
struct program {
	const char *name;
	double samples; /* in a slot, on average */
	double period;  /* slots of a mode, 0: one mode; below 0: of chance, that long on average */
	double ragged;  /* of a period: how much its length varies */
	double stalls;  /* part of the slots without samples */
	double wander;  /* how far shares wander, correlated from slot to slot by 0.9 */
	double found;   /* part of the planted changes that must be; 0: they are no other's */
};

static const struct program programs[] = {
	{ .name = "one mode", .samples = 4, .found = 0.9 },
	{ .name = "many samples", .samples = 200, .found = 0.9 },
	{ .name = "stalls", .samples = 20, .stalls = 0.3, .found = 0.9 },
	{ .name = "phases of a slot", .samples = 20, .period = 1, .found = 0.9 },
	{ .name = "phases of 3 slots", .samples = 20, .period = 3, .found = 0.9 },
	{ .name = "phases of 8 slots, ragged",
	  .samples = 20,
	  .period = 8,
	  .ragged = 0.3,
	  .found = 0.6 },
	{ .name = "phases of 16 slots", .samples = 20, .period = 16 },
	{ .name = "phases of 16 slots, ragged", .samples = 20, .period = 16, .ragged = 0.5 },
	{ .name = "phases of 30 slots", .samples = 20, .period = 30 },
	{ .name = "phases of 40 slots, ragged", .samples = 20, .period = 40, .ragged = 0.3 },
	{ .name = "phases of chance, 3 slots", .samples = 20, .period = -3, .found = 0.75 },
	{ .name = "phases of chance, 8 slots", .samples = 20, .period = -8 },
	{ .name = "shares that wander", .samples = 20, .wander = 0.3, .found = 0.3 },
};

struct world {
	struct chance c;
	double mode[MODES][KINDS]; /* shares */
	double costs[SLOTS * KINDS];
};

static void make_mode(struct world *w, double *shares)
{
	double sum = 0;

	for (int k = 0; k < KINDS; k++)
		sum += shares[k] = pow(chance_exponential(&w->c), 2);
	for (int k = 0; k < KINDS; k++)
		shares[k] /= sum;
}

static void spend(struct world *w, size_t slot, const double *shares, double samples)
{
	for (double at = chance_exponential(&w->c); at < samples; at += chance_exponential(&w->c)) {
		double sum = 0, where = 0;
		int k = 0;

		for (int i = 0; i < KINDS; i++)
			sum += shares[i];
		where = chance_uniform(&w->c) * sum;
		while (k + 1 < KINDS && where >= shares[k])
			where -= shares[k++];
		w->costs[slot * KINDS + (size_t)k] += 1;
	}
}

static double length_of(struct world *w, const struct program *p)
{
	if (p->period < 0)
		return -p->period * chance_exponential(&w->c);
	return p->period * (1 + p->ragged * (2 * chance_uniform(&w->c) - 1));
}

static void run(struct world *w, const struct program *p, size_t from, size_t to)
{
	double wander[KINDS] = { 0 }, until = (double)from;
	int mode = p->period ? -1 : 0;

	for (size_t slot = from; slot < to; slot++) {
		double shares[KINDS];

		while (p->period && until <= (double)slot) {
			mode = (mode + 1) % MODES;
			until += FZ_MAX(length_of(w, p), 0.5);
		}
		for (int k = 0; k < KINDS; k++) {
			wander[k] = 0.9 * wander[k] + sqrt(0.19) * chance_normal(&w->c);
			shares[k] = w->mode[mode][k] * exp(p->wander * wander[k]);
		}
		if (chance_uniform(&w->c) >= p->stalls)
			spend(w, slot, shares, p->samples);
	}
}

static struct world *world_new(uint64_t seed)
{
	struct world *w = fz_calloc(1, sizeof(*w));

	w->c.seed = seed;
	for (int m = 0; m < MODES; m++)
		make_mode(w, w->mode[m]);
	return w;
}

static void unchanged_program_has_no_change(void **state)
{
	enum { TRIALS = 100 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(programs); i++) {
		int wrong = 0;

		for (int trial = 0; trial < repeats(TRIALS); trial++) {
			struct world *w = world_new((uint64_t)trial * 97 + i);
			size_t at[FZ_COMPOSITION_CHANGES];

			run(w, &programs[i], 0, SLOTS);
			wrong += fz_composition_find(w->costs, KINDS, at) > 0;
			free(w);
		}
		print_message("%s: %d of %d\n", programs[i].name, wrong, repeats(TRIALS));
		assert_true(wrong <= TRIALS / 20);
	}
}

/* The shares of the time in [from, to). */
static void shares_of(const struct world *w, size_t from, size_t to, double *shares)
{
	double sum = 0;

	for (size_t i = from * KINDS; i < to * KINDS; i++)
		sum += w->costs[i];
	for (size_t i = from * KINDS; i < to * KINDS; i++)
		shares[i % KINDS] += w->costs[i] / sum;
}

/* Something else for a while, and then as before. Returns the share of the time, 0 to 1, that is
 * spent differently from the start. */
static double plant(struct world *w, const struct program *p, const size_t ends[2])
{
	double other[KINDS], before[KINDS] = { 0 }, during[KINDS] = { 0 }, differs = 0;

	make_mode(w, other);
	run(w, p, 0, ends[0]);
	for (size_t slot = ends[0]; slot < ends[1]; slot++)
		spend(w, slot, other, p->samples);
	run(w, p, ends[1], SLOTS);
	shares_of(w, 0, ends[0], before);
	shares_of(w, ends[0], ends[1], during);
	for (int k = 0; k < KINDS; k++)
		differs += fabs(before[k] - during[k]) / 2;
	return differs;
}

static void a_planted_change_is_found(void **state)
{
	static const size_t ends[] = { 100, 170 };
	enum { TRIALS = 40, NEAR = 6 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(programs); i++) {
		int found = 0, all = 0, more = 0;

		if (!programs[i].found)
			continue;
		for (int trial = 0; trial < repeats(TRIALS); trial++) {
			struct world *w = world_new((uint64_t)trial * 31 + i);
			size_t at[FZ_COMPOSITION_CHANGES], hits = 0;

			/* Some are hardly one. */
			if (plant(w, &programs[i], ends) > 0.3) {
				size_t n = fz_composition_find(w->costs, KINDS, at);

				for (size_t k = 0; k < n; k++)
					hits += (at[k] + NEAR >= ends[0] &&
						 at[k] <= ends[0] + NEAR) ||
						(at[k] + NEAR >= ends[1] &&
						 at[k] <= ends[1] + NEAR);
				all++;
				found += hits == 2;
				more += n > 2;
			}
			free(w);
		}
		print_message("%s: %d of %d, %d with others\n", programs[i].name, found, all, more);
		assert_true(all > repeats(TRIALS) / 2);
		assert_true(found >= all * programs[i].found || !rates_count());
	}
}

/* One function, then another, and a few samples of a third, or none: whether two of those few are
 * neighbours is no evidence, and neither are rounding errors. */
static void rare_samples_do_not_hide_a_change(void **state)
{
	enum { TRIALS = 300, SAMPLES = 16, RARE = 5 };
	int found = 0;

	(void)state;
	for (int trial = 0; trial < repeats(TRIALS); trial++) {
		struct world *w = world_new((uint64_t)trial);
		size_t at[FZ_COMPOSITION_CHANGES];
		int start = (int)(4 * SAMPLES * chance_uniform(&w->c));
		int middle = (int)(SAMPLES * (120 + 20 * chance_uniform(&w->c)));

		for (int i = 0; i < SAMPLES * SLOTS; i++)
			w->costs[i / SAMPLES * KINDS + (i < start ? 2 : i >= middle)]++;
		for (int i = 0; i < trial % RARE; i++)
			w->costs[(int)(SLOTS * chance_uniform(&w->c)) * KINDS + 3]++;
		found += fz_composition_find(w->costs, KINDS, at) == 1 &&
			 labs((long)at[0] - middle / SAMPLES) <= 1;
		free(w);
	}
	print_message("%d of %d\n", found, repeats(TRIALS));
	assert_int_equal(found, repeats(TRIALS));
}

static void nothing_has_no_change(void **state)
{
	struct world *w = world_new(1);
	size_t at[FZ_COMPOSITION_CHANGES];

	(void)state;
	assert_int_equal(fz_composition_find(w->costs, KINDS, at), 0);
	for (size_t i = 0; i < SLOTS; i++)
		w->costs[i * KINDS] = 1;
	assert_int_equal(fz_composition_find(w->costs, KINDS, at), 0);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_program_has_no_change),
		cmocka_unit_test(a_planted_change_is_found),
		cmocka_unit_test(rare_samples_do_not_hide_a_change),
		cmocka_unit_test(nothing_has_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
