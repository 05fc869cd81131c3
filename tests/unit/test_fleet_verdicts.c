/* SPDX-License-Identifier: MIT */
/* Verdicts on synthetic fleets, whose truth is known: a release that changed nothing is hardly ever
 * reported, and 5 % in one function is found. Comparisons go through the store, as real ones do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>

#include "compare/comparison.h"
#include "fleet/fold.h"
#include "fleet_sim.h"
#include "repeats.h"

/* By how often 5 % more in one function has to be found, at least. */
static const struct {
	struct sim sim;
	double found;
} fleets[] = {
	/* hosts, minutes, on both sides, host_sd, minute_sd, memory, samples, stalls, restart_sd,
	 * load_sd */
	{ { "other hosts, all alike", 24, 5, false, 0, 0.02, 0, 3000, 0, 0, 0.3 }, 0.8 },
	{ { "many other hosts with ways of their own", 80, 2, false, 0.03, 0.02, 0.8, 6000, 0, 0,
	    0.3 },
	  0.8 },
	{ { "other hosts, whose clocks stall", 40, 4, false, 0.02, 0.02, 0.8, 1000, 0.3, 0, 0.3 },
	  0 },
	{ { "160 other hosts, whose clocks stall", 160, 4, false, 0.02, 0.02, 0.8, 1000, 0.3, 0,
	    0.3 },
	  0.1 },
	{ { "few other hosts, whose clocks stall", 3, 4, false, 0.05, 0.02, 0.8, 1000, 0.3, 0,
	    0.3 },
	  0 },
	{ { "one host, then another", 1, 30, false, 0.05, 0.02, 0.8, 3000, 0, 0, 0.3 }, 0 },
	{ { "the same hosts, all alike", 8, 15, true, 0, 0.02, 0.8, 3000, 0, 0, 0.05 }, 0 },
	{ { "24 same hosts that differ by 20 %", 24, 5, true, 0.2, 0.02, 0.8, 3000, 0, 0.01, 0.05 },
	  0.5 },
	{ { "8 same hosts that differ by 20 %", 8, 15, true, 0.2, 0.02, 0.8, 3000, 0, 0.01, 0.05 },
	  0 },
	{ { "6 same hosts, whose clocks stall", 6, 15, true, 0.1, 0.02, 0.8, 1000, 0.3, 0.02,
	    0.05 },
	  0 },
	{ { "24 same hosts, whose clocks stall", 24, 5, true, 0.1, 0.02, 0.8, 1000, 0.3, 0.02,
	    0.05 },
	  0 },
	{ { "3 same hosts, for an hour", 3, 60, true, 0.1, 0.02, 0.5, 3000, 0, 0.02, 0.05 }, 0 },
	{ { "one host, minutes that remember", 1, 120, true, 0.05, 0.03, 0.9, 3000, 0, 0, 0.3 },
	  0 },
	{ { "few samples", 20, 15, false, 0.03, 0.02, 0.5, 40, 0, 0, 0.5 }, 0 },
};
enum { UNCHANGED = 60, PLANTED = 20 };

struct outcome {
	bool false_function, found, wrong_way;
	char units[128];
};

static struct outcome compare(struct fz_fleet *f, const struct sim *sim, uint64_t seed,
			      double slower)
{
	static const char *const sides[] = { "s@a", "s@b" };
	struct fz_fleet_query q = { .project = "p", .labels = "", .until = INT64_MAX };
	struct fz_comparison_options options = { .diff = { .match = FZ_MATCH_NAMES } };
	struct fz_profile *p[FZ_SIDES];
	struct outcome o = { 0 };
	struct fz_error err = { 0 };

	if (sim_push(f, sim, "a", false, seed, 0, &err) ||
	    sim_push(f, sim, "b", true, seed, slower, &err) || fz_fleet_pair(f, &q, sides, p, &err))
		fail_msg("%s", err.message);
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	if (fz_comparison_new(p[FZ_BASE], p[FZ_HEAD], &options, &c, &err))
		fail_msg("%s", err.message);
	const struct fz_diff *d = c->diff;
	const struct fz_judgement *j = c->judgement;
	for (uint32_t i = 0; i < d->function_count; i++) {
		bool changed = j->self[i].verdict == FZ_VERDICT_CHANGED;

		if (slower > 0 && fz_str_eq(d->functions[i].name, FZ_STR("f3"))) {
			o.found = changed;
			o.wrong_way = changed && j->self[i].low < 0;
		} else {
			o.false_function |= changed;
		}
	}
	snprintf(o.units, sizeof(o.units), "%s", fz_profile_fact(p[FZ_HEAD], "fleet").p);
	fz_profile_free(p[FZ_BASE]);
	fz_profile_free(p[FZ_HEAD]);
	return o;
}

struct rates {
	int false_function, found, wrong_way; /* of how many comparisons */
};

static struct rates rates_of(const struct sim *sim, double slower, int n)
{
	struct rates r = { 0 };
	struct outcome o = { 0 };

	for (int i = 0; i < n; i++) {
		fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
		struct fz_error err;

		if (fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err))
			fail_msg("%s", err.message);
		o = compare(f, sim, (uint64_t)i + 1, slower);
		r.false_function += o.false_function;
		r.found += o.found;
		r.wrong_way += o.wrong_way;
	}
	print_message("%s, +%.0f %%, of %d: false %d, found %d, wrong way %d (%s)\n", sim->name,
		      100 * slower, n, r.false_function, r.found, r.wrong_way, o.units);
	return r;
}

static void test_nothing_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(fleets); i++)
		assert_true(rates_of(&fleets[i].sim, 0, repeats(UNCHANGED)).false_function <=
				    repeats(UNCHANGED) / 20 ||
			    !rates_count());
}

static void test_planted(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(fleets); i++) {
		struct rates r = rates_of(&fleets[i].sim, 0.05, repeats(PLANTED));

		if (!rates_count())
			continue;
		assert_true(r.found >= fleets[i].found * repeats(PLANTED));
		assert_true(r.wrong_way == 0);
		assert_true(r.false_function <= repeats(PLANTED) / 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_changed),
		cmocka_unit_test(test_planted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
