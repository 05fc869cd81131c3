/* SPDX-License-Identifier: MIT */
/* The time of a thread that lost its CPU in the middle of a change goes to its next sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "record/owed.h"

#include "base/clock.h"

static void test_settle(void **state)
{
	(void)state;
	const struct fz_python_stack read = { .thread = 2 }, other = { .thread = 0 };
	const struct fz_python_stack midway = { .thread = 2, .rejected = true, .midway = true };
	const struct fz_python_stack fast = { .thread = 2, .rejected = true };
	struct fz_owed owed = { 0 };

	assert_int_equal(fz_owed_settle(&owed, &read, 5), 5);
	assert_int_equal(fz_owed_settle(&owed, &midway, 5), 0);
	assert_int_equal(fz_owed_settle(&owed, &midway, 6), 0);
	assert_int_equal(fz_owed_sum(&owed), 11);
	assert_int_equal(fz_owed_settle(&owed, &other, 7), 7);
	assert_int_equal(fz_owed_settle(&owed, &read, 5), 16);
	assert_int_equal(fz_owed_settle(&owed, &read, 5), 5);
	/* It went on, but cannot be read. */
	assert_int_equal(fz_owed_settle(&owed, &midway, 5), 0);
	assert_int_equal(fz_owed_settle(&owed, &fast, 5), 10);
	/* It does not go on. */
	assert_int_equal(fz_owed_settle(&owed, &midway, 60 * FZ_MS), 0);
	assert_int_equal(fz_owed_settle(&owed, &midway, 60 * FZ_MS), 120 * FZ_MS);
	assert_int_equal(fz_owed_settle(&owed, &read, 5), 5);
	fz_owed_release(&owed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
