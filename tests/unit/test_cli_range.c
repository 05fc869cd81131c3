/* SPDX-License-Identifier: MIT */
/* Ranges of time as users write them, and what they keep of a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/range.h"
#include "profile/mark.h"
#include "profile/range.h"
#include "refused.h"

#define SECOND 1000000000LL

/* ---- instants ---- */

static void test_instants(void **state)
{
	static const struct {
		const char *text;
		enum fz_cli_instant_kind kind;
		double value;
	} cases[] = {
		{ "10", FZ_CLI_INSTANT_NS, 10e9 },    { "10s", FZ_CLI_INSTANT_NS, 10e9 },
		{ "0.5s", FZ_CLI_INSTANT_NS, 0.5e9 }, { "500ms", FZ_CLI_INSTANT_NS, 500e6 },
		{ "7us", FZ_CLI_INSTANT_NS, 7e3 },    { "3ns", FZ_CLI_INSTANT_NS, 3 },
		{ "25%", FZ_CLI_INSTANT_PART, 0.25 }, { "100%", FZ_CLI_INSTANT_PART, 1 },
		{ "0", FZ_CLI_INSTANT_NS, 0 },        { "10 s", FZ_CLI_INSTANT_NS, 10e9 },
		{ ".5", FZ_CLI_INSTANT_NS, 0.5e9 },   { "1000000000", FZ_CLI_INSTANT_NS, 1e18 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_cli_instant at = { 0 };
		struct fz_error err;

		assert_int_equal(
			set_option(fz_cli_range_set_instant, "from", cases[i].text, &at, &err), 0);
		assert_int_equal(at.kind, cases[i].kind);
		assert_true(at.value == cases[i].value);
	}
}

static void test_mark_as_instant(void **state)
{
	struct fz_cli_instant at = { 0 };
	struct fz_error err;

	(void)state;
	assert_int_equal(set_option(fz_cli_range_set_instant, "to", "@go-live 2", &at, &err), 0);
	assert_int_equal(at.kind, FZ_CLI_INSTANT_MARK);
	assert_true(fz_str_eq(at.mark, FZ_STR("go-live 2")));
}

static void test_wrong_instants(void **state)
{
	static const char *const texts[] = {
		"",    "s",   "%",   "@",    "-1",         "-1s",   "1e3",  "0x10",     "inf",
		"nan", "1,5", "10m", "101%", "1000000001", "1.2.3", "10ss", "\xff\xfe", "1\n2",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		struct fz_cli_instant at = { .kind = FZ_CLI_INSTANT_NS, .value = 7 };
		struct fz_error err;

		assert_int_equal(set_option(fz_cli_range_set_instant, "from", texts[i], &at, &err),
				 FZ_EUSAGE);
		/* What was there stays. */
		assert_int_equal(at.kind, FZ_CLI_INSTANT_NS);
		assert_true(at.value == 7);
	}
	struct fz_error err;
	assert_refused(set_option(fz_cli_range_set_instant, "from", "10m", NULL, &err), err,
		       "invalid --from '10m': use a time such as 10s, 500ms, 25% or @MARKER");
}

/* ---- ranges ---- */

static struct fz_cli_range range_of(const char *text)
{
	struct fz_cli_range r = { 0 };
	struct fz_error err;

	assert_int_equal(set_option(fz_cli_range_set, "base-range", text, &r, &err), 0);
	assert_string_equal(r.text, text);
	return r;
}

static void test_ranges(void **state)
{
	(void)state;
	struct fz_cli_range r = range_of("10s-20s");
	assert_true(r.from.value == 10e9 && r.to.value == 20e9);
	/* The unit of the end is that of the start, too. */
	r = range_of("10-20ms");
	assert_true(r.from.value == 10e6 && r.to.value == 20e6);
	r = range_of("0-50%");
	assert_true(r.from.kind == FZ_CLI_INSTANT_PART && r.to.value == 0.5);
	r = range_of("10s - 20s");
	assert_true(r.from.value == 10e9 && r.to.value == 20e9);
	r = range_of("-50%");
	assert_true(r.from.kind == FZ_CLI_INSTANT_NONE && r.to.value == 0.5);
	r = range_of("30s-");
	assert_true(r.from.value == 30e9 && r.to.kind == FZ_CLI_INSTANT_NONE);
}

static void test_ranges_of_marks(void **state)
{
	(void)state;
	struct fz_cli_range r = range_of("@deploy-");
	assert_true(fz_str_eq(r.from.mark, FZ_STR("deploy")) && !r.to.kind);
	/* The text of a mark may have dashes. */
	r = range_of("@go-live-10s");
	assert_true(fz_str_eq(r.from.mark, FZ_STR("go-live")) && r.to.value == 10e9);
	r = range_of("-@go-live");
	assert_true(!r.from.kind && fz_str_eq(r.to.mark, FZ_STR("go-live")));
	r = range_of("@a-@b");
	assert_true(fz_str_eq(r.from.mark, FZ_STR("a")) && fz_str_eq(r.to.mark, FZ_STR("b")));
}

static void test_wrong_ranges(void **state)
{
	static const char *const texts[] = {
		"",      "-",   " - ", "  -",     "--",    "10s",   "@deploy",
		"-5-10", "5--", "x-y", "10s-20m", "1-2-3", "101%-",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		struct fz_cli_range r = { .from = { .kind = FZ_CLI_INSTANT_NS, .value = 7 } };
		struct fz_error err;

		if (set_option(fz_cli_range_set, "base-range", texts[i], &r, &err) != FZ_EUSAGE)
			fail_msg("accepted as a range: '%s'", texts[i]);
		assert_true(r.from.value == 7);
	}
	struct fz_error err;
	assert_refused(set_option(fz_cli_range_set, "base-range", "10s", NULL, &err), err,
		       "invalid --base-range '10s': use a range such as 10s-20s, 0%-50% or "
		       "@MARKER-");
}

/* ---- what a range keeps ---- */

/* Ten samples, one at the end of each of ten seconds. */
static struct fz_profile *ten_seconds(void)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	int64_t weight = SECOND;

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ .duration_ns = 10 * SECOND });
	p->samples.ordered = p->samples.timed = true;
	for (int i = 1; i <= 10; i++) {
		uint32_t frame = fz_profile_frame_named(p, FZ_STR("work"), FZ_STR("app.py"), i,
							FZ_KIND_PYTHON);
		struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, frame),
				       .thread = fz_profile_thread(p, &thread),
				       .time = i * SECOND - 1 };
		fz_profile_add_sample(p, &s, &weight);
	}
	assert_int_equal(fz_profile_check(p, NULL), 0);
	return p;
}

static size_t kept(const char *text)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = ten_seconds();
	struct fz_cli_range r = range_of(text);
	struct fz_error err;

	fz_profile_add_mark(p, 4 * SECOND, FZ_STR("deploy"));
	assert_int_equal(fz_cli_range_keep(&r, "a.fz", p, &err), 0);
	return p->samples.n;
}

static void test_keep(void **state)
{
	(void)state;
	assert_int_equal(kept("0-"), 10);
	assert_int_equal(kept("2s-5s"), 3);
	assert_int_equal(kept("-50%"), 5);
	assert_int_equal(kept("@deploy-"), 6);
	assert_int_equal(kept("-@deploy"), 4);
	/* The end may lie behind the recording. */
	assert_int_equal(kept("8s-1000000s"), 2);
	assert_int_equal(kept("-100%"), 10);
}

/* A range that ends behind the recording is named by the recording's end. */
static void test_fact(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = ten_seconds();
	struct fz_cli_range r = range_of("8s-1000000s");
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_range_keep(&r, "a.fz", p, &err), 0);
	assert_string_equal(fz_profile_fact(p, FZ_RANGE_FACT).p, "8.00 s to 10.0 s");
}

/* A range that was not given keeps everything. */
static void test_keep_all(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = ten_seconds();
	struct fz_cli_range none = { 0 };
	struct fz_error err;

	(void)state;
	assert_false(fz_cli_range_given(&none));
	assert_int_equal(fz_cli_range_keep(&none, "a.fz", p, &err), 0);
	assert_int_equal(p->samples.n, 10);
}

static void test_empty_range(void **state)
{
	static const struct {
		const char *range, *message;
	} cases[] = {
		{ "5s-5s", "a.fz: the range from 5.00 s to 5.00 s is empty" },
		{ "6s-5s", "a.fz: the range from 6.00 s to 5.00 s is empty" },
		{ "10s-20s", "a.fz: the range starts at 10.0 s, after the end at 10.0 s" },
		{ "1ms-2ms", "a.fz: no samples from 1.00 ms to 2.00 ms; use a longer range" },
		{ "@deploy-",
		  "a.fz: has no markers; add some with 'fizeau mark' or --markers FILE" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = ten_seconds();
		struct fz_cli_range r = range_of(cases[i].range);
		struct fz_error err;

		assert_refused(fz_cli_range_keep(&r, "a.fz", p, &err), err, cases[i].message);
	}
}

/* A wrong mark is answered with those that there are, but not with all of a thousand. */
static void test_unknown_mark(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = ten_seconds();
	struct fz_cli_range r = range_of("@c\033-");
	struct fz_error err;

	(void)state;
	fz_profile_add_mark(p, SECOND, FZ_STR("a"));
	fz_profile_add_mark(p, 2 * SECOND, FZ_STR("b"));
	assert_refused(fz_cli_range_keep(&r, "a.fz", p, &err), err,
		       "a.fz: has no marker 'c\\x1b'; the markers are a, b");
	for (int i = 0; i < 20; i++)
		fz_profile_add_mark(p, (3 + i) * 1000000, FZ_STR("m"));
	assert_refused(
		fz_cli_range_keep(&r, "a.fz", p, &err), err,
		"a.fz: has no marker 'c\\x1b'; the markers are m, m, m, m, m, m, m, m, m, m, "
		"m, m, ...");
}

static void test_without_times(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = ten_seconds();
	struct fz_cli_range r = range_of("1s-2s"), marks = { .marks = "log" };
	struct fz_error err;

	(void)state;
	p->samples.timed = false;
	assert_refused(
		fz_cli_range_keep(&r, "a.folded", p, &err), err,
		"a.folded: samples have no times, so time ranges and markers cannot be used");
	assert_refused(
		fz_cli_range_keep(&marks, "a.folded", p, &err), err,
		"a.folded: samples have no times, so time ranges and markers cannot be used");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instants),
		cmocka_unit_test(test_mark_as_instant),
		cmocka_unit_test(test_wrong_instants),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_ranges_of_marks),
		cmocka_unit_test(test_wrong_ranges),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_fact),
		cmocka_unit_test(test_keep_all),
		cmocka_unit_test(test_empty_range),
		cmocka_unit_test(test_unknown_mark),
		cmocka_unit_test(test_without_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
