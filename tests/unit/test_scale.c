/* SPDX-License-Identifier: MIT */
/* Choosing the scale for comparing two recordings, on hand-made profiles. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "hand_profile.h"
#include "named.h"

static struct fz_diff *diff_by(struct fz_profile *a, struct fz_profile *b,
			       const struct fz_diff_options *o)
{
	struct fz_diff *d = NULL;
	struct fz_error err;

	if (fz_diff_new(a, b, o, &d, &err))
		fail_msg("%s", err.message);
	return d;
}

static struct fz_diff *diff_of(struct fz_profile *a, struct fz_profile *b)
{
	struct fz_diff_options o = { 0 };

	return diff_by(a, b, &o);
}

static double percent(const struct fz_diff *d, const char *name)
{
	const int64_t *self = function_named(d, name)->cost.self;

	return 100 * fz_diff_ratio(d, self[FZ_BASE], self[FZ_HEAD]);
}

static void expect_refused(struct fz_profile *a, struct fz_profile *b,
			   const struct fz_diff_options *o, int code, const char *part)
{
	struct fz_diff *d = NULL;
	struct fz_error err = { 0 };

	assert_int_equal(fz_diff_new(a, b, o, &d, &err), code);
	if (!strstr(err.message, part))
		fail_msg("'%s' does not say '%s'", err.message, part);
}

static void record(struct fz_profile *p, bool ours, bool complete, double seconds)
{
	p->recording.complete = complete;
	p->recording.duration_ns = (int64_t)(seconds * 1e9);
	if (!p->run_count)
		fz_profile_add_run(p, &(struct fz_run){ 0 });
	p->runs[0].duration_ns = p->recording.duration_ns;
	if (ours)
		fz_profile_set_fact(p, "fizeau", FZ_STR("1"));
}

static bool warned(const struct fz_diff *d, const char *what)
{
	for (uint32_t i = 0; i < d->warning_count; i++)
		if (strstr(d->warnings[i], what))
			return true;
	return false;
}

/* Whole runs by time, also if that is only assumed; parts of a running program by second. */
static void times_are_compared_by_time(void **state)
{
	(void)state;
	static const struct {
		bool ours, complete[FZ_SIDES];
		double seconds[FZ_SIDES];
		enum fz_scale_mode scale;
		double factor;
		bool told; /* a warning that whole runs are assumed */
	} cases[] = {
		{ true, { true, true }, { 2.3, 6.4 }, FZ_SCALE_TIME, 1, false },
		{ false, { false, false }, { 2.3, 6.4 }, FZ_SCALE_TIME, 1, true },
		{ false, { true, false }, { 10.001, 20.002 }, FZ_SCALE_TIME, 1, true },
		{ false, { false, false }, { 10.001, 6.4 }, FZ_SCALE_TIME, 1, true },
		{ false, { false, false }, { 27.1, 34.2 }, FZ_SCALE_TIME, 1, true },
		{ false, { false, false }, { 10, 20 }, FZ_SCALE_WINDOW, 2, false },
		{ false, { false, false }, { 3.01, 3 }, FZ_SCALE_WINDOW, 3 / 3.01, false },
		{ false, { false, false }, { 10.0001, 10 }, FZ_SCALE_WINDOW, 1, false },
		{ false,
		  { false, false },
		  { 30.2, 10.004 },
		  FZ_SCALE_WINDOW,
		  10.004 / 30.2,
		  false },
		{ true, { false, false }, { 2.5, 7.5 }, FZ_SCALE_WINDOW, 3, false },
		{ true, { true, false }, { 2.5, 7.5 }, FZ_SCALE_WINDOW, 3, false },
		{ true, { false, false }, { 0, 7.5 }, FZ_SCALE_SHARE, 2, false },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 2\n", 1000);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 4\n", 1000);
		record(a, cases[i].ours, cases[i].complete[FZ_BASE], cases[i].seconds[FZ_BASE]);
		record(b, cases[i].ours, cases[i].complete[FZ_HEAD], cases[i].seconds[FZ_HEAD]);
		fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b);
		assert_int_equal(d->scale, cases[i].scale);
		assert_true(fabs(d->factor - cases[i].factor) < 1e-12);
		assert_int_equal(warned(d, "assumed to be"), cases[i].told);
		assert_string_equal(d->metric, "wall");
	}
}

/* On request parts are compared by time, with a warning unless they are the calls of a function. */
static void parts_by_time_are_reported(void **state)
{
	(void)state;
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };

	for (int roots = 0; roots <= FZ_SIDES; roots++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 2\n", 1000);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 4\n", 1000);
		record(a, true, false, 3);
		record(b, true, false, 3);
		if (roots > 0)
			fz_profile_set_fact(a, "root", FZ_STR("^f$"));
		if (roots > 1)
			fz_profile_set_fact(b, "root", FZ_STR("^f$"));
		fz_auto(fz_diff_freep) struct fz_diff *d = diff_by(a, b, &o);
		assert_int_equal(warned(d, "base and head are not complete runs"), roots == 0);
		assert_int_equal(warned(d, "the head is not a complete run"), roots == 1);
		assert_int_equal(warned(d, "--scale window"), roots < FZ_SIDES);
	}
}

/* Also on request, but not without a duration. */
static void windows_need_durations(void **state)
{
	(void)state;
	struct fz_diff_options o = { .scale = FZ_SCALE_WINDOW };
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 2\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 4\n", 2000);

	record(a, true, true, 3);
	expect_refused(a, b, &o, FZ_EINPUT, "the head has none; use --scale share");
	record(b, true, true, 1.5);
	o.metric = FZ_STR("samples");
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	assert_true(d->factor == 0.25); /* half the time, half the rate */
	assert_false(fz_diff_knows_whole(d));
}

/* 32 MiB on both sides are 32 MiB, whatever else was allocated. */
static void memory_is_compared_as_it_is(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 32\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("a.py:f:1 32\na.py:g:2 62\n", 0);
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	fz_auto(fz_diff_freep) struct fz_diff *asked = NULL;

	a->metrics[0].name = b->metrics[0].name = "inuse_space";
	a->metrics[0].unit = b->metrics[0].unit = "bytes";
	fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(b, a);
	assert_int_equal(d->scale, FZ_SCALE_AMOUNT);
	assert_true(d->factor == 1 && d->warning_count == 0);
	assert_true(percent(d, "f") == 0);
	/* Bytes are not a time. */
	assert_int_equal(fz_diff_new(a, b, &o, &asked, NULL), 0);
	assert_int_equal(asked->scale, FZ_SCALE_AMOUNT);
}

/* If only shares are known: one function that became four times slower, or faster, does not make
 * others look different, and twice as many samples of each are not a change. */
static void shares_use_the_agreed_scale(void **state)
{
	(void)state;
	static const char *const base = "f 1000\ng 200\nh 300\ni 250\n";
	static const struct {
		const char *head;
		double factor;
		enum fz_scale_basis basis;
	} cases[] = {
		{ "f 4000\ng 200\nh 300\ni 250\n", 1, FZ_BASIS_AGREED },
		{ "f 250\ng 200\nh 300\ni 250\n", 1, FZ_BASIS_AGREED },
		{ "f 8000\ng 400\nh 600\ni 500\n", 2, FZ_BASIS_AGREED },
		{ "f 2000\ng 400\nh 600\ni 500\n", 2, FZ_BASIS_AGREED },
		{ "f 1000\ng 200\nh 300\nnew 5000\n", 1, FZ_BASIS_AGREED },
		{ "f 300\ng 120\nh 30\ni 900\n", 1350 / 1750., FZ_BASIS_SCATTERED },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile(base, 0);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(cases[i].head, 0);
		fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b);
		assert_int_equal(d->scale, FZ_SCALE_SHARE);
		assert_int_equal(d->basis, cases[i].basis);
		assert_true(fabs(log(d->factor / cases[i].factor)) < 0.02);
		assert_true((d->factor == 1) == (cases[i].factor == 1));
		assert_true(d->factor_error > 0);
		assert_true(d->basis != FZ_BASIS_SCATTERED || d->factor_error > 0.3);
	}
}

/* One function that became four times slower does not make others look faster, whatever their
 * scale. */
static void scale_by_reference(void **state)
{
	(void)state;
	struct fz_diff_options o = { .scale = FZ_SCALE_REFERENCE };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		hand_profile("f 100\ng 200\nh 200\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("f 400\ng 100\nh 100\n", 2000);
	fz_auto(fz_profile_freep) struct fz_profile *few = hand_profile("f 6\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *fewer = hand_profile("f 3\n", 1000);

	/* Half the samples of twice the interval: as much time. */
	fz_auto(fz_diff_freep) struct fz_diff *d = diff_by(a, b, &o);
	assert_true(fabs(d->factor - 1) < 0.02 && d->factor_error > 0);
	assert_true(fabs(percent(d, "g")) < 2);
	assert_int_equal(d->scale, FZ_SCALE_REFERENCE);

	fz_auto(fz_diff_freep) struct fz_diff *none = diff_by(fewer, few, &o);
	assert_int_equal(none->scale, FZ_SCALE_SHARE);
	assert_true(none->factor == 2);
	assert_true(warned(none, "totals are made equal"));
}

static void scale_by_unit(void **state)
{
	(void)state;
	struct fz_diff_options o = { .units = { 100, 300 } };
	struct fz_diff_options none = { .scale = FZ_SCALE_UNIT };

	for (int64_t interval = 0; interval <= 1000; interval += 1000) {
		fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("f 10\n", interval);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("f 30\n", interval);
		fz_auto(fz_diff_freep) struct fz_diff *d = diff_by(a, b, &o);
		assert_int_equal(d->scale, FZ_SCALE_UNIT);
		assert_true(d->factor == 3);
		expect_refused(a, b, &none, FZ_EUSAGE, "--work BASE:HEAD");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_compared_by_time),
		cmocka_unit_test(parts_by_time_are_reported),
		cmocka_unit_test(windows_need_durations),
		cmocka_unit_test(memory_is_compared_as_it_is),
		cmocka_unit_test(shares_use_the_agreed_scale),
		cmocka_unit_test(scale_by_reference),
		cmocka_unit_test(scale_by_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
