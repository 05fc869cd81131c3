/* SPDX-License-Identifier: MIT */
/* Waits, read back off the stacks of a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/waits.h"
#include "report/waits.h"

#define MS 1000000LL

static uint32_t push(struct fz_profile *p, uint32_t stack, const char *name, const char *file,
		     int32_t line, enum fz_kind kind)
{
	return fz_profile_stack(
		p, stack, fz_profile_frame_named(p, fz_str_of(name), fz_str_of(file), line, kind));
}

static void sample(struct fz_profile *p, uint32_t stack, int64_t ns)
{
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	struct fz_sample s = { .stack = stack, .thread = fz_profile_thread(p, &thread) };

	fz_profile_add_sample(p, &s, &ns);
}

/* main() fetches under a lock, through the standard library, and works. */
static struct fz_profile *recording(void)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	uint32_t main = push(p, FZ_NONE, "main", "app.py", 9, FZ_KIND_PYTHON);
	uint32_t fetch = push(p, main, "fetch", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t get =
		push(p, fetch, "Queue.get", "/usr/lib/python3.11/queue.py", 171, FZ_KIND_PYTHON);
	uint32_t lock = push(p, get, "<lock wait>", "", FZ_NO_LINE, FZ_KIND_MARKER);
	uint32_t by = push(p, lock, "<lock released by put>", "app.py", 20, FZ_KIND_MARKER);
	/* Not a marker: somebody's function of that name. */
	uint32_t named = push(p, main, "<lock wait>", "app.py", 1, FZ_KIND_PYTHON);

	sample(p, by, 30 * MS);
	sample(p, by, 10 * MS);
	sample(p, lock, 5 * MS);
	sample(p, push(p, main, "<CPU wait>", "", FZ_NO_LINE, FZ_KIND_MARKER), 2 * MS);
	sample(p, push(p, fetch, "<CPU wait>", "", FZ_NO_LINE, FZ_KIND_MARKER), 1 * MS);
	sample(p, named, 50 * MS);
	sample(p, main, 2 * MS);
	return p;
}

static void test_table(void **state)
{
	struct fz_profile *p = recording();
	struct fz_wait_table t;

	(void)state;
	fz_wait_table_init(&t, p);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.all_ns, 100 * MS);
	assert_int_equal(t.ns, 48 * MS);
	assert_int_equal(t.kind_ns[FZ_WAIT_LOCK], 45 * MS);
	assert_int_equal(t.rows[0].n, 2);
	assert_int_equal(t.rows[0].ns, 40 * MS);
	assert_int_equal(t.rows[0].longest, 30 * MS);
	/* The program's own code that waits, not the library's below it. */
	assert_true(fz_str_eq(p->strings[p->functions[t.rows[0].function].name], FZ_STR("fetch")));
	assert_int_equal(t.rows[0].line, 3);
	assert_true(fz_str_eq(p->strings[p->functions[t.rows[0].by].name],
			      FZ_STR("<lock released by put>")));
	assert_int_equal(t.rows[1].by, FZ_NONE);
	assert_int_equal(t.rows[1].ns, 5 * MS);
	/* Where a thread had no CPU says little. */
	assert_int_equal(t.rows[2].kind, FZ_WAIT_CPU);
	assert_int_equal(t.rows[2].n, 2);
	fz_wait_table_release(&t);
	fz_profile_free(p);
}

static void test_text(void **state)
{
	static const struct fz_style style = { .columns = 80, .ascii = true };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_profile *p = recording();

	(void)state;
	fz_report_waits_text(p, &style, &out);
	assert_string_equal(out.p,
			    "Waits: 48.0 ms of 100 ms: 45.0 % lock, 3.0 % CPU.\n"
			    "     time    share    times   longest  what for, where\n"
			    "  40.0 ms   40.0 %        2   30.0 ms  lock: fetch (app.py:3)\n"
			    "                                       lock released by put (app.py)\n"
			    "  5.00 ms    5.0 %        1   5.00 ms  lock: fetch (app.py:3)\n"
			    "  3.00 ms    3.0 %        2   2.00 ms  CPU\n");
	fz_profile_free(p);
}

static void test_none(void **state)
{
	static const struct fz_style style = { .columns = 80 };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_profile *p = fz_profile_new();

	(void)state;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_report_waits_text(p, &style, &out);
	assert_int_equal(out.n, 0);
	fz_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
