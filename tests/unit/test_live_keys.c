/* SPDX-License-Identifier: MIT */
/* Keys of the live view: what a key sets, and the message about it. */
#include "live/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"

static void press(struct fz_live_view *v, const char *keys)
{
	for (; *keys; keys++)
		fz_live_view_key(v, (wint_t)*keys, false);
}

static void refresh_has_steps_and_limits(void **state)
{
	static const struct {
		const char *keys, *message;
		int64_t ms;
	} steps[] = {
		{ "+", "refresh every 0.05 s", 50 },
		{ "+", "refresh every 0.05 s", 50 },
		{ "-", "refresh every 0.10 s", 100 },
		{ "-", "refresh every 0.20 s", 200 },
		{ "----------", "refresh every 1.00 s", 1000 },
		{ "=", "refresh every 0.90 s", 900 },
	};
	struct fz_live_view v = { .refresh = 100 * FZ_MS };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(steps); i++) {
		press(&v, steps[i].keys);
		assert_string_equal(v.message, steps[i].message);
		assert_int_equal(v.refresh, steps[i].ms * FZ_MS);
	}
}

static void messages_disappear_after_four_seconds(void **state)
{
	struct fz_live_view v = { 0 };
	int64_t before = fz_clock_now();

	(void)state;
	fz_live_view_message(&v, "%d of %d", 1, 2);
	int64_t after = fz_clock_now();
	assert_string_equal(v.message, "1 of 2");
	assert_in_range(v.message_until, before + 4 * FZ_SECOND, after + 4 * FZ_SECOND);
}

static void keys_control_the_loop(void **state)
{
	struct fz_live_view v = { .ended = "exit status 3" };

	(void)state;
	press(&v, "rpw/squaq\nq");
	assert_string_equal(v.message, "the program has ended; there are no new samples");
	assert_true(v.frozen && v.save && v.quit && !v.typing);
	assert_string_equal(v.filter, "squaq");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refresh_has_steps_and_limits),
		cmocka_unit_test(messages_disappear_after_four_seconds),
		cmocka_unit_test(keys_control_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
