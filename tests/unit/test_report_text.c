/* SPDX-License-Identifier: MIT */
/* Complete text reports. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "hand_profile.h"
#include "profile/states.h"
#include "report/text.h"

static const struct fz_text_options plain = { .style = { .ascii = true, .columns = 80 },
					      .limit = FZ_TEXT_ROWS };

static void expect_profile(const struct fz_profile *p, const struct fz_text_options *o,
			   const char *want)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

	fz_report_text_profile(p, o, out);
	assert_string_equal(fz_output_buffer(out)->p, want);
}

static void profile_table(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p =
		hand_profile("/r/app.py:main:1;/r/app.py:fib:5;/r/app.py:fib:6 30\n"
			     "/r/app.py:main:2;~:<GC>:0 10\n",
			     1000000);
	fz_profile_set_fact(p, "command", FZ_STR("python3 \033app.py"));

	expect_profile(p, &plain,
		       "40 samples, 40.0 ms of wall time: python3 \\x1bapp.py\n"
		       "\n"
		       "              self               total  function\n"
		       "  30.0 ms   75.0 %    30.0 ms   75.0 %  fib (app.py:6)\n"
		       "  10.0 ms   25.0 %    10.0 ms   25.0 %  <GC>\n"
		       "      0 s    0.0 %    40.0 ms  100.0 %  main (app.py:1)\n"
		       "\n"
		       "Sampling: 40 samples every 1.00 ms.\n");
}

static void profile_limit_and_quality(void **state)
{
	(void)state;
	struct fz_text_options o = plain;
	fz_auto(fz_profile_freep) struct fz_profile *p =
		hand_profile("a 1\nb 2\na_very_long_function_name_that_cannot_fit_here 3\n", 0);

	o.limit = 1;
	p->quality = (struct fz_quality){ .known = true,
					  .taken = 97,
					  .rejected = { 1, 2 },
					  .missed = 1,
					  .longest_gap_ns = 3000000 };
	expect_profile(
		p, &o,
		"6 samples\n"
		"\n"
		"              self               total  function\n"
		"        3   50.0 %          3   50.0 %  a_very_long_function_name_that_cannot...\n"
		"                                        and 2 more functions\n"
		"\n"
		"Sampling: 6 samples, 3 rejected (3.0 %; changed while read: 1, root missing: 2),\n"
		"  1 instant missed, longest gap 3.00 ms.\n");
}

/* A heap profile of one allocation that is in use, and one that is not: two metrics. */
static struct fz_profile *two_metrics(void)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("in_use"), FZ_STR("count"), 0, true);
	fz_profile_add_metric(p, FZ_STR("freed"), FZ_STR("count"), 0, true);
	fz_profile_add_metric(p, FZ_STR("lost"), FZ_STR("count"), 0, true);
	fz_profile_thread(p, &(struct fz_thread){ 0 });
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t f = fz_profile_frame_named(p, FZ_STR("make"), FZ_STR(""), FZ_NO_LINE,
						    FZ_KIND_UNKNOWN);
		fz_profile_add_sample(p,
				      &(struct fz_sample){ .stack = fz_profile_stack(p, FZ_NONE, f),
							   .status = FZ_STATUS_HAS_GIL },
				      (const int64_t[]){ i == 0 ? 7 : 0, i == 0 ? 0 : 2, 0 });
	}
	return p;
}

/* The other metrics are named, but not those without values. */
static void other_metrics(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = two_metrics();
	static const char report[] = "1 sample, 7 in_use\n"
				     "\n"
				     "              self               total  function\n"
				     "        7  100.0 %          7  100.0 %  make\n"
				     "\n"
				     "State: 100.0 % holding the GIL.\n"
				     "Sampling: 1 sample.\n";

	fz_auto(fz_buf_release) struct fz_buf all = { 0 };
	fz_buf_printf(&all, "%sOther metrics: freed; --metric NAME selects one.\n", report);
	expect_profile(p, &plain, all.p);
	p->metric_chosen = true;
	expect_profile(p, &plain, report);
	p->metric_chosen = false;
	fz_profile_set_fact(p, "fizeau", FZ_STR("0.1.0"));
	expect_profile(p, &plain, report);
}

/* Nothing from a file controls the terminal. */
static void hostile_file(void **state)
{
	static const char *const facts[] = { "notes",      "silent",   "damage",
					     "waits.lost", "valgrind", "command" };
	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

		fz_profile_add_metric(p, FZ_STR("a\033\n"), FZ_STR("c\033\n"), 0, true);
		fz_profile_add_metric(p, FZ_STR("b\033\n"), FZ_STR("count"), 0, true);
		for (size_t i = 0; i < FZ_ARRAY_LEN(facts); i++)
			fz_profile_set_fact(p, facts[i], FZ_STR("x\033[31m"));
		fz_profile_thread(p, &(struct fz_thread){ 0 });
		uint32_t f = fz_profile_frame_named(p, FZ_STR("f"), FZ_STR(""), FZ_NO_LINE,
						    FZ_KIND_UNKNOWN);
		struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, f) };
		fz_profile_add_sample(p, &s, (const int64_t[]){ 5, 5 });
		p->recording.reconstructed = kind == 1;
		if (kind == 2)
			fz_profile_set_fact(p, "clock", FZ_STR("instructions"));
		fz_report_text_profile(p, &plain, out);
		assert_null(strchr(fz_output_buffer(out)->p, '\033'));
		assert_non_null(strstr(fz_output_buffer(out)->p, "a\\x1b\\n"));
	}
}

/* A file with a time and a number of samples in each row; and one with samples in rows of their
 * own. */
static void other_samples(void **state)
{
	(void)state;
	for (int apart = 0; apart < 2; apart++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

		fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
		fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 0, true);
		fz_profile_thread(p, &(struct fz_thread){ 0 });
		uint32_t f = fz_profile_frame_named(p, FZ_STR("f"), FZ_STR(""), FZ_NO_LINE,
						    FZ_KIND_UNKNOWN);
		struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, f) };
		fz_profile_add_sample(p, &s, (const int64_t[]){ 5, !apart });
		fz_profile_add_sample(p, &s, (const int64_t[]){ apart ? 0 : 5, 1 });
		fz_report_text_profile(p, &plain, out);
		assert_int_equal(!!strstr(fz_output_buffer(out)->p, "Other metrics: samples;"),
				 apart);
	}
}

/* Samples of another metric are not in the states of this one. */
static void states_of_the_metric(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = two_metrics();

	for (uint32_t metric = 0; metric < 2; metric++) {
		p->default_metric = metric;
		fz_auto(fz_free_ptr) struct fz_states *states = fz_profile_states(p);
		assert_int_equal(states[0].samples, metric + 1);
		assert_int_equal(states[1].samples, metric + 1);
		assert_int_equal(states[1].gil, metric + 1);
	}
}

/* The folder of a long command's program is cut first, because the rest distinguishes commands. */
static void long_command(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile("", 1000000);

	fz_profile_set_fact(p, "command",
			    FZ_STR("/opt/interpreters/versions/3.11.7/bin/python3 app.py --all"));
	expect_profile(p, &plain,
		       "0 samples, 0 s of wall time: python3 app.py --all\n\nSampling: 0 samples "
		       "every 1.00 ms.\n");
	/* As many columns as the text before it leaves. */
	fz_profile_set_fact(p, "command",
			    FZ_STR("python3 app.py --with an-argument --and another 456789"));
	expect_profile(p, &plain,
		       "0 samples, 0 s of wall time: python3 app.py --with an-argument --and "
		       "another ...\n\nSampling: 0 samples every 1.00 ms.\n");
}

static void empty_profile(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile("", 1000000);

	expect_profile(p, &plain,
		       "0 samples, 0 s of wall time\n\nSampling: 0 samples every 1.00 ms.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_table), cmocka_unit_test(profile_limit_and_quality),
		cmocka_unit_test(other_metrics), cmocka_unit_test(other_samples),
		cmocka_unit_test(hostile_file),  cmocka_unit_test(states_of_the_metric),
		cmocka_unit_test(long_command),  cmocka_unit_test(empty_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
