/* SPDX-License-Identifier: MIT */
/* Sampling rates: accepted values, and that the grid of sampling times stays exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "record/rate.h"

static uint64_t parse(const char *text)
{
	struct fz_rate rate = { 12345 };
	struct fz_error err;

	assert_int_equal(fz_rate_parse(text, &rate, &err), 0);
	return rate.micro_hz;
}

static void test_accepted(void **state)
{
	(void)state;
	assert_int_equal(parse("1000"), 1000000000);
	assert_int_equal(parse("1khz"), 1000000000);
	assert_int_equal(parse("1K"), 1000000000);
	assert_int_equal(parse("2.5kHz"), 2500000000);
	assert_int_equal(parse("333.333333hz"), 333333333);
	assert_int_equal(parse("0.5"), 500000);
	assert_int_equal(parse(".5"), 500000);
	assert_int_equal(parse("1mhz"), 1000000000000);
	assert_int_equal(parse("max"), 0);
	assert_int_equal(parse("MAX"), 0);
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "",          "hz",    "0",
					   "0.0000001", "-1",    "1 khz",
					   "1e3",       "1.2.3", "2ghz",
					   "500mhz",    "1.1m",  "nan",
					   "inf",       "1khzx", "12345678901234567890" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(bad); i++) {
		struct fz_rate rate = { 77 };
		struct fz_error err;
		assert_int_equal(fz_rate_parse(bad[i], &rate, &err), FZ_EUSAGE);
		assert_int_equal(rate.micro_hz, 77);
	}
}

/* No rounding piles up: after an hour at 3 kHz the instant is where it should be. */
static void test_exact(void **state)
{
	struct fz_rate rate = { parse("3khz") };
	uint64_t hour = (uint64_t)3600 * 3000;

	(void)state;
	assert_int_equal(fz_rate_time(rate, 1), 333334);
	assert_int_equal(fz_rate_time(rate, 3), 1000000);
	assert_int_equal(fz_rate_time(rate, hour), 3600 * 1000000000LL);
}

static void test_round_trip(void **state)
{
	static const char *const rates[] = { "1",    "7",       "333.3",  "1khz",
					     "3khz", "9.99khz", "700khz", "1mhz" };

	(void)state;
	for (size_t r = 0; r < FZ_ARRAY_LEN(rates); r++) {
		struct fz_rate rate = { parse(rates[r]) };
		for (uint64_t n = 0; n < 100000; n += 1 + n / 7) {
			int64_t ns = fz_rate_time(rate, n);
			assert_int_equal(fz_rate_slot(rate, ns), n);
			if (n && rate.micro_hz < 1000000000000000)
				assert_int_equal(fz_rate_slot(rate, ns - 1), n - 1);
		}
	}
}

static void test_format(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(fz_rate_format((struct fz_rate){ 1000000000 }, text, sizeof(text)),
			    "1 kHz");
	assert_string_equal(fz_rate_format((struct fz_rate){ 333300000 }, text, sizeof(text)),
			    "333.3 Hz");
	assert_string_equal(fz_rate_format((struct fz_rate){ 0 }, text, sizeof(text)),
			    "back to back");
}

/* Every place in a slot is as likely as any other, and no instant is closer to the next one than
 * half an interval. */
static void test_shift(void **state)
{
	enum { INTERVAL = 1000001, PARTS = 10, N = 200000 };
	size_t in[PARTS] = { 0 };
	int64_t shift = 0;

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		int64_t next = fz_rate_shift(shift, INTERVAL, fz_hash64(i));
		assert_true(next >= 0 && next < INTERVAL);
		assert_true(next - shift >= -INTERVAL / 2 && next - shift <= INTERVAL / 2);
		shift = next;
		in[shift * PARTS / INTERVAL]++;
	}
	for (size_t i = 0; i < PARTS; i++)
		assert_true(in[i] > N / PARTS * 95 / 100 && in[i] < N / PARTS * 105 / 100);
	/* Thrown back, and never beyond an end. */
	assert_int_equal(fz_rate_shift(0, 10, 0), 5);
	assert_int_equal(fz_rate_shift(9, 10, 9), 6);
	assert_int_equal(fz_rate_shift(0, 1, 7), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_exact),    cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_format),   cmocka_unit_test(test_shift),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
