/* SPDX-License-Identifier: MIT */
/* Verdicts on synthetic recordings, whose truth is known: few are false, intervals hold, and
 * changes that should be found are. A small part of build/tests/verdict_table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../stats/verdict_rates.h"
#include "repeats.h"

enum { COMPARISONS = 60 };

/* Of 60: more is not chance where 5 % may be false (one time in a hundred), or 90 % must hold. */
static const double most_false = 7.5 / COMPARISONS, fewest_held = 47.5 / COMPARISONS;

static struct verdict_rates rates_of(const char *machine, unsigned runs, enum fz_scale_mode scale,
				     double planted)
{
	for (size_t m = 0; m < MACHINES; m++) {
		struct made_question q = { &machines[m], runs, scale, planted };

		if (strcmp(machines[m].name, machine) != 0)
			continue;
		struct verdict_rates rates = verdict_rates(&q, repeats(COMPARISONS));
		print_message(
			"%s, %u a side, %s, x %.1f: false function %.0f %%, run %.0f %%, holds "
			"%.0f %%, ± %.1f %%, found %.0f %%\n",
			machine, runs, fz_scale_names[scale], planted, 100 * rates.false_function,
			100 * rates.false_run, 100 * rates.holds, 100 * rates.half_width,
			100 * rates.found);
		return rates;
	}
	fail_msg("no machine %s", machine);
	return (struct verdict_rates){ 0 };
}

static void test_nothing_changed(void **state)
{
	static const unsigned sizes[] = { 1, 2, 3, 5 };

	(void)state;
	for (size_t m = 0; m < MACHINES; m++) {
		for (size_t n = 0; n < FZ_ARRAY_LEN(sizes); n++) {
			struct verdict_rates r =
				rates_of(machines[m].name, sizes[n], FZ_SCALE_TIME, 1);

			if (!rates_count())
				continue;
			assert_true(r.false_function < most_false);
			assert_true(r.false_run < most_false);
			assert_true(r.holds > fewest_held);
		}
	}
}

static void test_by_share(void **state)
{
	(void)state;
	for (size_t m = 0; m < MACHINES; m++) {
		struct verdict_rates share = rates_of(machines[m].name, 1, FZ_SCALE_SHARE, 1);
		struct verdict_rates reference =
			rates_of(machines[m].name, 3, FZ_SCALE_REFERENCE, 1);

		assert_true(share.false_function < most_false || !rates_count());
		assert_true(reference.false_function < most_false || !rates_count());
	}
}

/* A function of 9 % of the run costs 40 % more, and nothing else is called changed. */
static void test_planted(void **state)
{
	static const struct {
		const char *machine;
		unsigned runs;
		enum fz_scale_mode scale;
		double found;
	} cases[] = {
		{ "speed known, ±15 %", 5, FZ_SCALE_TIME, 0.8 },
		{ "speed known, ±15 %", 1, FZ_SCALE_SHARE, 0.6 },
		{ "CPU clock, 10 %", 5, FZ_SCALE_TIME, 0.8 },
		{ "CPU clock, 3 % between the sides", 3, FZ_SCALE_TIME, 0.8 },
		{ "wall clock, 12 %, stalls", 5, FZ_SCALE_TIME, 0.6 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct verdict_rates r =
			rates_of(cases[i].machine, cases[i].runs, cases[i].scale, 1.4);

		if (!rates_count())
			continue;
		assert_true(r.found > cases[i].found);
		assert_true(r.false_function < most_false);
		assert_true(cases[i].scale != FZ_SCALE_TIME || r.holds > fewest_held);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_changed),
		cmocka_unit_test(test_by_share),
		cmocka_unit_test(test_planted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
