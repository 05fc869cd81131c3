/* SPDX-License-Identifier: MIT */
/* A program's CPU use over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/activity.h"

#define MS 1000000LL

enum { SLOTS = 10 };

/* As our recorder makes it, with the metric and its column of weights. */
static struct fz_profile *recording(const char *metric)
{
	struct fz_profile *p = fz_profile_new();

	p->quality.known = true;
	fz_profile_add_metric(p, fz_str_of(metric), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	return p;
}

static void sample(struct fz_profile *p, uint64_t tid, int64_t at, int64_t weight, uint8_t status)
{
	struct fz_thread thread = { .pid = 1, .tid = tid, .is_main = tid == 1 };
	struct fz_sample s = { .stack = FZ_NONE,
			       .thread = fz_profile_thread(p, &thread),
			       .time = at,
			       .status = status };

	fz_profile_add_sample(p, &s, &weight);
}

/* A second: half of it on a CPU, then off it, with a stall of 100 ms at the end. */
static struct fz_profile *half_a_second(void)
{
	struct fz_profile *p = recording("wall");

	for (int i = 1; i <= 90; i++)
		sample(p, 1, i * 10 * MS, 10 * MS, i <= 50 ? FZ_STATUS_ON_CPU : 0);
	sample(p, 1, 1000 * MS, 100 * MS, FZ_STATUS_ON_CPU);
	return p;
}

static void slots_have_the_cpus_that_were_used(void **state)
{
	static const double want[SLOTS] = { 1, 1, 1, 1, 1, 0, 0, 0, 0, 1 };
	struct fz_profile *p = half_a_second();
	double cpus[SLOTS];
	int64_t duration;

	(void)state;
	assert_true(fz_report_activity(p, SLOTS, cpus, &duration));
	assert_int_equal(duration, 1000 * MS);
	for (int i = 0; i < SLOTS; i++)
		assert_float_equal(cpus[i], want[i], 1e-9);
	fz_profile_free(p);
}

static void threads_add_up_and_cpu_time_needs_no_status(void **state)
{
	struct fz_profile *p = recording("cpu");
	double cpus[SLOTS];
	int64_t duration;

	(void)state;
	for (int i = 1; i <= 100; i++)
		for (uint64_t tid = 1; tid <= 3; tid++)
			sample(p, tid, i * 10 * MS, 5 * MS, FZ_STATUS_UNKNOWN);
	assert_true(fz_report_activity(p, SLOTS, cpus, &duration));
	for (int i = 1; i < SLOTS; i++)
		assert_float_equal(cpus[i], 1.5, 0.02);
	fz_profile_free(p);
}

static void unknown_values_are_not_shown(void **state)
{
	struct fz_profile *p = half_a_second();
	double cpus[SLOTS];
	int64_t duration;

	(void)state;
	assert_false(fz_report_activity(p, 50, cpus, &duration)); /* too few samples */
	p->samples.timed = false;
	assert_false(fz_report_activity(p, SLOTS, cpus, &duration));
	p->samples.timed = true;
	p->quality.known = false;
	assert_false(fz_report_activity(p, SLOTS, cpus, &duration));
	p->quality.known = true;
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	assert_false(fz_report_activity(p, SLOTS, cpus, &duration));
	p->run_count = 1;
	assert_true(fz_report_activity(p, SLOTS, cpus, &duration));
	sample(p, 1, 1010 * MS, 10 * MS, FZ_STATUS_UNKNOWN);
	assert_false(fz_report_activity(p, SLOTS, cpus, &duration));
	fz_profile_free(p);
}

static void numbers_out_of_range_do_no_harm(void **state)
{
	struct fz_profile *p = recording("cpu");
	double cpus[SLOTS];
	int64_t duration;

	(void)state;
	for (int i = 0; i < 20; i++) {
		sample(p, 1, i % 2 ? INT64_MAX : INT64_MIN, 10, 0);
		sample(p, 1, INT64_MAX, -1000, 0);
	}
	assert_true(fz_report_activity(p, SLOTS, cpus, &duration));
	assert_int_equal(duration, INT64_MAX);
	fz_profile_free(p);
	p = recording("cpu");
	for (int i = 0; i < 50; i++)
		sample(p, 1, INT64_MIN, 10, 0);
	assert_false(fz_report_activity(p, SLOTS, cpus, &duration));
	fz_profile_free(p);
}

static void assert_text(const struct fz_profile *p, struct fz_style style, const char *want)
{
	struct fz_buf out = { 0 };

	fz_report_activity_text(p, &style, &out);
	assert_string_equal(out.p ? out.p : "", want);
	fz_buf_release(&out);
}

static void wide_terminals_show_bars(void **state)
{
	struct fz_profile *p = half_a_second();
	const struct fz_style style = { .terminal = true, .columns = 80 };

	(void)state;
	assert_text(p, style, "CPU use: ███████████        ▂██ in 1.00 s.\n");
	assert_text(p, (struct fz_style){ .terminal = true, .columns = 80, .ascii = true },
		    "CPU use: @@@@@@@@@@@        :@@ in 1.00 s.\n");
	assert_text(p, (struct fz_style){ .terminal = true, .columns = 79 }, "");
	assert_text(p, (struct fz_style){ .columns = 200 }, "");
	for (int i = 1; i <= 90; i++)
		sample(p, 2, i * 10 * MS, 10 * MS, i <= 10 ? FZ_STATUS_ON_CPU : 0);
	assert_text(p, (struct fz_style){ .terminal = true, .columns = 40 * 2 },
		    "CPU use: ████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄                ▄▄▄▄ in 1.00 s, up to 2.0 "
		    "CPUs.\n");
	fz_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_have_the_cpus_that_were_used),
		cmocka_unit_test(threads_add_up_and_cpu_time_needs_no_status),
		cmocka_unit_test(unknown_values_are_not_shown),
		cmocka_unit_test(numbers_out_of_range_do_no_harm),
		cmocka_unit_test(wide_terminals_show_bars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
