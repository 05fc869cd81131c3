/* SPDX-License-Identifier: MIT */
/* How many runs `compare` makes by default. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "bench/revisions.h"

static void short_runs_are_repeated_more_often(void **state)
{
	static const struct {
		int64_t run_ns;
		int sampled;
	} cases[] = {
		{ 0, 10 },
		{ FZ_SECOND, 10 },
		{ 2 * FZ_SECOND, 10 },
		{ 3 * FZ_SECOND, 6 },
		{ 6 * FZ_SECOND, 3 },
		{ FZ_MINUTE, 3 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		assert_int_equal(fz_paired_run_count(cases[i].run_ns, false), cases[i].sampled);
		assert_int_equal(fz_paired_run_count(cases[i].run_ns, true), 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_runs_are_repeated_more_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
