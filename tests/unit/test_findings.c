/* SPDX-License-Identifier: MIT */
/* What stands beside a change: its interval, which never seems to hold what it does not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diff/judge.h"
#include "report/findings.h"

static void check(enum fz_verdict verdict, double change, double low, double high,
		  const char *wanted)
{
	struct fz_judged judged = { .verdict = verdict, .low = low, .high = high };
	struct fz_finding finding = { .judged = &judged, .change = change };
	char text[FZ_INTERVAL_SIZE];

	fz_finding_interval(&finding, "ns", &(struct fz_style){ 0 }, text);
	assert_string_equal(text, wanted);
}

static void test_interval(void **state)
{
	(void)state;
	check(FZ_VERDICT_CHANGED, 50e6, 30e6, 80e6, "\u00b130.0 ms");
	check(FZ_VERDICT_CHANGED, 2000e6, 646e6, 5781e6, "\u2265+646 ms");
	check(FZ_VERDICT_CHANGED, -1000e6, -3000e6, -100e6, "\u2264-100 ms");
	check(FZ_VERDICT_UNKNOWN, 2000e6, 646e6, 5781e6, "\u00b13.78 s");
	check(FZ_VERDICT_UNKNOWN, -5e6, -20e6, 10e6, "\u00b115.0 ms");
	check(FZ_VERDICT_CHANGED, 50e6, NAN, NAN, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_interval) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
