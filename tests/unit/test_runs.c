/* SPDX-License-Identifier: MIT */
/* Facts about runs: how they ended, how busy the machine was, their order; and that a .fz keeps
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>

#include "format/fz.h"
#include "format/format.h"
#include "profile/merge.h"
#include "profile/runs.h"
#include "report/recording.h"

static struct fz_profile *with_runs(const struct fz_run *runs, uint32_t n)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 1, false);
	for (uint32_t i = 0; i < n; i++)
		fz_profile_add_run(p, &runs[i]);
	return p;
}

static void check_ending(struct fz_run run, bool failed, const char *text)
{
	char out[FZ_ENDING_SIZE];

	assert_int_equal(fz_run_failed(&run), failed);
	assert_string_equal(fz_run_ending(&run, out), text);
}

static void test_ending(void **state)
{
	(void)state;
	check_ending((struct fz_run){ 0 }, false, "");
	check_ending((struct fz_run){ .outcome = FZ_OUTCOME_EXIT }, false, "exit status 0");
	check_ending((struct fz_run){ .outcome = FZ_OUTCOME_EXIT, .status = 3 }, true,
		     "exit status 3");
	check_ending((struct fz_run){ .outcome = FZ_OUTCOME_SIGNAL, .status = SIGSEGV }, true,
		     "signal 11 (SIGSEGV)");
	check_ending((struct fz_run){ .outcome = FZ_OUTCOME_SIGNAL, .status = 99 }, true,
		     "signal 99");
	check_ending((struct fz_run){ .outcome = FZ_OUTCOME_STOPPED, .status = 15 }, false,
		     "stopped by the recorder");
}

static struct fz_profile *loaded(const char *start, const char *end)
{
	static const struct fz_run run = { .outcome = FZ_OUTCOME_EXIT };
	struct fz_profile *p = with_runs(&run, 1);

	fz_profile_set_fact(p, "load.start", fz_str_of(start));
	fz_profile_set_fact(p, "load.end", fz_str_of(end));
	return p;
}

/* A recorder that was killed left no load at the end; runs that became one had other loads. */
static void test_cut(void **state)
{
	struct fz_profile *one = loaded("4.70", "4.70"), *two = loaded("4.70", "4.75");
	struct fz_profile *killed = loaded("4.70", ""), *both = fz_profile_new();
	char out[FZ_RECORDING_WORD];

	(void)state;
	assert_int_equal(fz_profile_merge(both, one, NULL), 0);
	assert_int_equal(fz_profile_merge(both, two, NULL), 0);
	assert_string_equal(fz_recording_ending(one, out), "ok");
	assert_string_equal(fz_recording_ending(killed, out), "cut");
	assert_string_equal(fz_recording_ending(both, out), "ok");
	fz_profile_free(one);
	fz_profile_free(two);
	fz_profile_free(killed);
	fz_profile_free(both);
}

/* One that failed among several is not lost where they become one recording. */
static void test_kept(void **state)
{
	static const struct fz_run runs[] = {
		{ .start_unix_ns = 5, .duration_ns = 7, .outcome = FZ_OUTCOME_EXIT },
		{ .start_unix_ns = 15,
		  .duration_ns = 9,
		  .outcome = FZ_OUTCOME_SIGNAL,
		  .status = SIGKILL,
		  .load = { 1, 2, 3, 4, 5, 60000000000, 7 } },
	};
	struct fz_profile *all = fz_profile_new();
	const struct fz_run *first;
	struct fz_error err;
	fz_auto(fz_profile_freep) struct fz_profile *back = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *one = with_runs(&runs[i], 1);
		assert_int_equal(fz_profile_merge(all, one, &err), 0);
	}
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	assert_int_equal(fz_format_fz.write(all, out, &err), 0);
	fz_profile_free(all);
	struct fz_str s = fz_buf_view(fz_output_buffer(out));
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	assert_int_equal(fz_input_open_memory(s.p, s.n, "x.fz", &in, &err), 0);
	assert_int_equal(fz_format_load_input(in, &back, &err), 0);
	assert_int_equal(back->run_count, 2);
	assert_int_equal(fz_profile_failed_runs(back, &first), 1);
	assert_ptr_equal(first, &back->runs[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(back->runs[i].start_unix_ns, runs[i].start_unix_ns);
		assert_int_equal(back->runs[i].duration_ns, runs[i].duration_ns);
		assert_int_equal(back->runs[i].outcome, runs[i].outcome);
		assert_int_equal(back->runs[i].status, runs[i].status);
		assert_memory_equal(&back->runs[i].load, &runs[i].load, sizeof(runs[i].load));
	}
}

static void test_busy(void **state)
{
	struct fz_run runs[] = {
		{ .load = { .ran_ns = 90, .waited_ns = 10, .used_ns = 100, .others_ns = 60 } },
		{ .load = { .ran_ns = 60, .waited_ns = 40, .stolen_ns = 40, .machine_ns = 600 } },
	};

	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = with_runs(runs, 2);
	p->quality = (struct fz_quality){ .known = true, .taken = 99, .missed = 1 };
	struct fz_busy b = fz_profile_busy(p);
	assert_float_equal(b.waited, 0.25, 1e-9);
	assert_float_equal(b.stolen, 0.2, 1e-9);
	assert_float_equal(b.others, 0.1, 1e-9);
	assert_float_equal(b.missed, 0.01, 1e-9);
	/* Nothing is known of an old recording, or of another tool's. */
	struct fz_run old = { .start_unix_ns = 1, .duration_ns = 1 };
	fz_auto(fz_profile_freep) struct fz_profile *q = with_runs(&old, 1);
	b = fz_profile_busy(q);
	assert_true(isnan(b.waited) && isnan(b.stolen) && isnan(b.others) && isnan(b.missed));
}

struct order {
	double imbalance;
	bool alternates;
};

/* "bhhb": the sides of runs in the order in which they began. */
static struct order of(const char *order)
{
	struct fz_profile *sides[2] = { with_runs(NULL, 0), with_runs(NULL, 0) };

	for (int i = (int)strlen(order) - 1; i >= 0; i--)
		fz_profile_add_run(
			sides[order[i] == 'h'],
			&(struct fz_run){ .start_unix_ns = order[i] == '?' ? 0 : i + 1 });
	struct order found = { fz_runs_imbalance(sides[0], sides[1]),
			       fz_runs_alternate(sides[0], sides[1]) };
	fz_profile_free(sides[0]);
	fz_profile_free(sides[1]);
	return found;
}

static double imbalance(const char *order)
{
	return of(order).imbalance;
}

static void test_imbalance(void **state)
{
	(void)state;
	assert_float_equal(imbalance("bh"), 1, 1e-9);
	assert_float_equal(imbalance("hhhbbb"), 1, 1e-9);
	assert_float_equal(imbalance("bhhhhh"), 1, 1e-9);
	assert_float_equal(imbalance("bhhb"), 0, 1e-9);
	assert_float_equal(imbalance("bhhbbh"), 1.0 / 9, 1e-9);
	assert_float_equal(imbalance("bbbhhhhhhbbb"), 0, 1e-9);
	assert_true(isnan(imbalance("b?h")));
	assert_true(isnan(imbalance("bb")));
}

static void test_alternate(void **state)
{
	(void)state;
	assert_true(of("bhbh").alternates);
	assert_true(of("bhhb").alternates);
	assert_true(of("b?h").alternates);
	assert_false(of("bh").alternates);
	assert_false(of("bbhbhh").alternates);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ending),    cmocka_unit_test(test_cut),
		cmocka_unit_test(test_kept),      cmocka_unit_test(test_busy),
		cmocka_unit_test(test_imbalance), cmocka_unit_test(test_alternate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
