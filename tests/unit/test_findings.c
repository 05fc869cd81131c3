/* SPDX-License-Identifier: MIT */
/* What stands beside a change: its interval, which never seems to hold what it does not; and the
 * words of what was measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/judge.h"
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

static void check_words(const char *metric, const char *unit, const char *verdict,
			const char *summary, const char *unsure)
{
	fz_auto(fz_profile_freep) struct fz_profile *base = fz_profile_new(),
						    *head = fz_profile_new();
	struct fz_diff d = { .metric = metric, .unit = unit, .profile = { base, head } };
	struct fz_judgement j = {
		.delta = 0.002,
		.method = FZ_JUDGE_COUNTS,
		.run = { .word = FZ_RUN_FASTER, .change = -0.5, .low = -0.51, .high = -0.49 }
	};
	struct fz_finding rows[] = { { .change = 5 }, { .change = -3 }, { .change = 4 } };
	struct fz_findings f = { .rows = rows, .n = 3, .count = { [FZ_VERDICT_CHANGED] = 3 } };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	fz_findings_verdict(&d, &j, &(struct fz_style){ .ascii = true }, &out);
	assert_string_equal(out.p, verdict);
	fz_buf_reset(&out);
	fz_findings_summary(&f, &d, &j, &(struct fz_style){ .ascii = true }, &out);
	assert_string_equal(out.p, summary);
	fz_buf_reset(&out);
	j.run.word = FZ_RUN_UNKNOWN;
	fz_findings_verdict(&d, &j, &(struct fz_style){ .ascii = true }, &out);
	assert_string_equal(out.p, unsure);
}

static void test_words(void **state)
{
	(void)state;
	check_words("cpu", "ns", "Faster by 50.0 % [-51.0 %, -49.0 %]",
		    "1 faster, 2 slower, 0 same within +-0.2 % of the run, 0 unsure",
		    "Unsure whether slower or faster");
	check_words("instructions", "count", "Faster by 50.0 % [-51.0 %, -49.0 %]",
		    "1 faster, 2 slower, 0 same within +-0.2 % of the run, 0 unsure",
		    "Unsure whether slower or faster");
	check_words("peak", "bytes", "Smaller by 50.0 % [-51.0 %, -49.0 %]",
		    "1 smaller, 2 larger, 0 same within +-0.2 % of the run, 0 unsure",
		    "Unsure whether larger or smaller");
	check_words("allocations", "count", "Fewer by 50.0 % [-51.0 %, -49.0 %]",
		    "1 with fewer, 2 with more, 0 same within +-0.2 % of the run, 0 unsure",
		    "Unsure whether more or fewer");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_interval),
					    cmocka_unit_test(test_words) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
