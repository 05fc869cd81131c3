/* SPDX-License-Identifier: MIT */
/* Marks on a recording's time: stored as facts, in order, moved with ranges, for any file contents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "profile/mark.h"

#define SECOND 1000000000LL

static void marks_are_in_order_of_time(void **state)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_profile_mark *marks;

	(void)state;
	assert_true(fz_profile_add_mark(p, 20 * SECOND + 5, FZ_STR("  later ")));
	assert_true(fz_profile_add_mark(p, 0, FZ_STR("first\nline")));
	assert_true(fz_profile_add_mark(p, 2 * SECOND, FZ_STR("12.5 deploy - blue")));
	assert_false(fz_profile_add_mark(p, -1, FZ_STR("x")));
	assert_false(fz_profile_add_mark(p, 1, FZ_STR(" \n")));
	assert_string_equal(fz_profile_fact(p, "mark.1").p, "20.000000005 later");
	assert_int_equal(fz_profile_marks(p, &marks), 3);
	assert_int_equal(marks[0].time, 0);
	assert_true(fz_str_eq(marks[0].text, FZ_STR("first")));
	assert_true(fz_str_eq(marks[1].text, FZ_STR("12.5 deploy - blue")));
	assert_int_equal(marks[2].time, 20 * SECOND + 5);
	free(marks);
	fz_profile_move_marks(p, 2 * SECOND, 20 * SECOND + 6);
	assert_int_equal(fz_profile_marks(p, &marks), 2);
	assert_int_equal(marks[0].time, 0);
	assert_int_equal(marks[1].time, 18 * SECOND + 5);
	free(marks);
	fz_profile_free(p);
}

static void long_texts_are_cut_at_a_character(void **state)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_profile_mark *marks;
	char text[FZ_PROFILE_MARK_TEXT + 3];

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text + FZ_PROFILE_MARK_TEXT - 1, "\xc3\xa4", 2);
	assert_true(fz_profile_add_mark(p, 1, (struct fz_str){ text, sizeof(text) }));
	assert_int_equal(fz_profile_marks(p, &marks), 1);
	assert_int_equal(marks[0].text.n, FZ_PROFILE_MARK_TEXT - 1);
	free(marks);
	fz_profile_free(p);
}

static void number_of_marks_is_limited(void **state)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_profile_mark *marks;

	(void)state;
	for (int i = 0; i < FZ_PROFILE_MARKS; i++)
		assert_true(fz_profile_add_mark(p, i, FZ_STR("x")));
	assert_false(fz_profile_add_mark(p, 1, FZ_STR("x")));
	assert_int_equal(fz_profile_marks(p, &marks), FZ_PROFILE_MARKS);
	free(marks);
	fz_profile_free(p);
}

static void other_lines_are_skipped(void **state)
{
	static const char *const values[] = {
		"x",
		"1.5 short",
		"1.123456789",
		"1.123456789 ",
		"99999999999.000000000 far",
		"-1.000000000 x",
		".123456789 x",
		"1.12345678x y",
		"1.123456789_x",
	};
	struct fz_profile *p = fz_profile_new();
	struct fz_profile_mark *marks;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(values); i++) {
		char key[24];

		snprintf(key, sizeof(key), "mark.%zu", i);
		fz_profile_set_fact(p, key, fz_str_of(values[i]));
	}
	assert_int_equal(fz_profile_marks(p, &marks), 0);
	free(marks);
	fz_profile_move_marks(p, 0, 1);
	assert_int_equal(p->fact_count, 0);
	fz_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_in_order_of_time),
		cmocka_unit_test(long_texts_are_cut_at_a_character),
		cmocka_unit_test(number_of_marks_is_limited),
		cmocka_unit_test(other_lines_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
