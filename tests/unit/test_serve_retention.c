/* SPDX-License-Identifier: MIT */
/* Old data is deleted by a clock that may be wrong. */
#include "serve_requests.h"

#include <stdio.h>

#include "base/clock.h"
#include "serve/retention.h"

enum { DAYS = 30 };

static const int64_t start = INT64_C(1600000000) * FZ_SECOND;
static struct fz_retention retention;
static char said[256];
static int said_n;

static void note(const char *text)
{
	snprintf(said, sizeof(said), "%s", text);
	said_n++;
}

static bool go_on(void *arg, int64_t rows)
{
	(void)arg;
	(void)rows;
	return true;
}

static struct fz_retention_clock at(int64_t days, int64_t monotonic_days)
{
	return (struct fz_retention_clock){ start + days * FZ_DAY,
					    FZ_SECOND + monotonic_days * FZ_DAY };
}

static void push(const char *version, int64_t age_days, unsigned status, const char *wanted)
{
	fz_auto(fz_free_ptr) char *parameters =
		fz_asprintf("service=api version=%s host=h start=%lld", version,
			    (long long)((start - age_days * FZ_DAY) / FZ_SECOND));

	expect_typed(status, wanted, fz_answer_push, "default", parameters, "",
		     FZ_STR("main;work 30\n"));
}

static bool is_there(const char *version)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	fz_auto(fz_free_ptr) char *parameters =
		fz_asprintf("base=api@%s head=api@%s", version, version);

	return request_typed(fz_answer_json, "default", parameters, "", FZ_STR(""), &text) == 200;
}

static void run(struct fz_retention_clock clock)
{
	fz_retention_run(&retention, &server, clock, go_on, NULL);
}

/* As after a start: nothing in memory. */
static void restart(void)
{
	retention = (struct fz_retention){ 0 };
	atomic_store(&server.oldest_minute, 0);
	said_n = 0;
}

static void test_clock_ahead(void **state)
{
	(void)state;
	server.say = note;
	server.options.retain_days = DAYS;
	/* Without data the present is unknown: nothing is too old for it. */
	run(at(40, 0));
	assert_int_equal(said_n, 0);
	push("old", 20, 200, "stored");
	push("new", 0, 200, "stored");
	run(at(40, 0));
	assert_true(is_there("old") && is_there("new"));
	assert_int_equal(said_n, 1);
	restart();
	run(at(40, 0));
	assert_true(is_there("old") && is_there("new"));
	assert_int_equal(said_n, 1);
	assert_non_null(strstr(said, "the clock is 40 days later than the newest data"));
	/* It also accepts what it would keep; a push that seems new changes nothing. */
	push("late", 25, 200, "stored");
	push("arrived", -39, 200, "stored");
	run(at(40, 1));
	assert_true(is_there("old") && is_there("new") && is_there("late"));
	assert_int_equal(said_n, 1);
	/* The clock is set. */
	run(at(1, 1));
	assert_true(is_there("old"));
	push("older", 31, 422, "older than the retention of 30 days");
	run(at(12, 12));
	assert_false(is_there("old"));
	assert_true(is_there("new"));
}

static void test_clock_behind(void **state)
{
	(void)state;
	restart();
	push("2", 0, 200, "stored");
	run(at(-10000, 0));
	/* The present is not lost: it does not have to catch up for years. */
	run(at(1, 1));
	assert_true(is_there("2"));
	assert_int_equal(said_n, 0);
	run(at(31, 31));
	assert_false(is_there("2"));
}

/* A push later than the server's clock is refused, but may be right if that clock is behind. */
static void test_pushes_with_a_clock_behind(void **state)
{
	static const char later[] = "service=api version=3 host=h start=4000000000";

	(void)state;
	restart();
	atomic_store(&server.newest_minute, 0);
	expect_typed(422, "more than an hour in the future", fz_answer_push, "default", later, "",
		     FZ_STR("main 1\n"));
	atomic_store(&server.newest_minute, 4000000000 / 60 - 100);
	expect_typed(503, "the server's clock is behind", fz_answer_push, "default", later, "",
		     FZ_STR("main 1\n"));
	/* What it can judge is judged. */
	push("3", -50, 200, "stored");
	fz_retention_begin(&server);
	assert_int_equal(atomic_load(&server.newest_minute), (start + 50 * FZ_DAY) / FZ_MINUTE);
	push("4", -51, 200, "stored");
	assert_int_equal(atomic_load(&server.newest_minute), (start + 51 * FZ_DAY) / FZ_MINUTE);
}

static void test_advance(void **state)
{
	struct fz_retention t = { 0 };

	(void)state;
	assert_int_equal(fz_retention_advance(&t, at(2, 0).unix_ns, at(5, 0)), at(2, 0).unix_ns);
	assert_int_equal(fz_retention_advance(&t, 0, at(6, 1)), at(4, 0).unix_ns);
	assert_int_equal(fz_retention_advance(&t, 0, at(3, 2)), at(3, 0).unix_ns);
	assert_int_equal(fz_retention_advance(&t, 0, at(8, 3)), at(6, 0).unix_ns);
	assert_int_equal(fz_retention_advance(&t, 0, at(9, 5)), at(9, 0).unix_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_advance),
		cmocka_unit_test(test_clock_ahead),
		cmocka_unit_test(test_clock_behind),
		cmocka_unit_test(test_pushes_with_a_clock_behind),
	};

	return cmocka_run_group_tests(tests, open_server, close_server);
}
