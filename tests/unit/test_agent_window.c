/* SPDX-License-Identifier: MIT */
/* When an agent's window ends, also if the system's clock is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/window.h"
#include "base/clock.h"

enum { HOUR = 3600, BEGAN = 7 * 60 + 20, UNIX = 1700000000 / 60 * 60 + 20 };

/* A window of at most a minute that began 20 s after a full one. */
static bool is_over(int64_t after, int64_t clock_set_by)
{
	const struct fz_agent_window w = { .start = BEGAN * FZ_SECOND,
					   .start_unix_ns = UNIX * FZ_SECOND };

	return fz_agent_window_is_over(&w, FZ_MINUTE, (BEGAN + after) * FZ_SECOND,
				       (UNIX + after + clock_set_by) * FZ_SECOND);
}

static void test_ends_with_the_minute(void **state)
{
	(void)state;
	assert_false(is_over(0, 0));
	assert_false(is_over(39, 0));
	assert_true(is_over(40, 0));
	assert_true(is_over(HOUR, 0));
}

static void test_ends_when_the_clock_is_set(void **state)
{
	(void)state;
	assert_false(is_over(59, -HOUR));
	assert_true(is_over(60, -HOUR));
	assert_false(is_over(1, -1));
	assert_true(is_over(1, HOUR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_with_the_minute),
		cmocka_unit_test(test_ends_when_the_clock_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
