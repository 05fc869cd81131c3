/* SPDX-License-Identifier: MIT */
/* Parts of a recording: by mode, thread, function and root, and why there may be none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/filter.h"
#include "cli/mode.h"
#include "hand_profile.h"
#include "refused.h"

/* ---- modes ---- */

/* Four samples: with the GIL, on a CPU, both, with the GIL and an exception. */
static struct fz_profile *four(enum fz_mode mode)
{
	static const uint8_t status[] = { FZ_STATUS_HAS_GIL, FZ_STATUS_ON_CPU,
					  FZ_STATUS_ON_CPU | FZ_STATUS_HAS_GIL,
					  FZ_STATUS_HAS_GIL | FZ_STATUS_HAS_EXCEPTION };
	struct fz_profile *p = hand_profile("a 1\nb 1\nc 1\nd 1\n", 1000);

	memcpy(p->samples.status, status, sizeof(status));
	p->recording.mode = mode;
	return p;
}

static void test_mode_names(void **state)
{
	(void)state;
	for (int i = 0; fz_cli_mode_names[i]; i++)
		assert_string_equal(fz_mode_names[fz_cli_mode(i)], fz_cli_mode_names[i]);
}

static void check_mode(enum fz_mode mode, size_t kept)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = four(FZ_MODE_WALL);
	struct fz_error err;

	assert_int_equal(fz_cli_mode_keep(p, mode, "a.fz", &err), 0);
	assert_int_equal(p->samples.n, kept);
	assert_int_equal(p->recording.mode, mode);
	if (mode != FZ_MODE_WALL)
		assert_string_equal(fz_profile_fact(p, "mode").p, fz_mode_names[mode]);
}

static void test_modes(void **state)
{
	(void)state;
	check_mode(FZ_MODE_WALL, 4);
	check_mode(FZ_MODE_CPU, 2);
	check_mode(FZ_MODE_GIL, 3);
	check_mode(FZ_MODE_EXCEPTION, 1);
}

static void test_modes_not_recorded(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *cpu = four(FZ_MODE_CPU);
	fz_auto(fz_profile_freep) struct fz_profile *bare = hand_profile("a 1\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *unknown = four(FZ_MODE_UNKNOWN);
	struct fz_error err;

	(void)state;
	assert_refused(fz_cli_mode_keep(cpu, FZ_MODE_WALL, "a.fz", &err), err,
		       "--mode wall: a.fz was recorded with --mode cpu and has no other samples");
	assert_int_equal(cpu->samples.n, 4);
	bare->recording.mode = FZ_MODE_WALL;
	assert_refused(fz_cli_mode_keep(bare, FZ_MODE_GIL, "a.fz", &err), err,
		       "--mode gil: a.fz has no samples of this mode; record with --mode gil");
	assert_int_equal(bare->samples.n, 1);
	/* Recordings of other tools do not store their mode. */
	assert_int_equal(fz_cli_mode_keep(unknown, FZ_MODE_WALL, "a.fz", &err), 0);
	assert_int_equal(unknown->samples.n, 4);
}

/* ---- filters ---- */

static const char *const nothing[] = { NULL };

static struct fz_profile *program(void)
{
	struct fz_profile *p = hand_profile("app.py:main:1;app.py:work:5;json.py:dump:9 3\n"
					    "app.py:main:1;app.py:idle:7 2\n"
					    "2@app.py:serve:20;app.py:work:5 4\n"
					    "3@app.py:serve:20 1\n",
					    1000);

	p->threads[1].name = fz_profile_string(p, FZ_STR("worker"));
	return p;
}

static uint64_t count(const struct fz_profile *p)
{
	uint64_t n = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		n += p->samples.count ? p->samples.count[row] : 1;
	return n;
}

static void check_filter(const struct fz_cli_filter *wanted, uint64_t kept, const char *fact)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = program();
	struct fz_error err;

	assert_int_equal(fz_cli_filter_keep(wanted, &p, 1, &err), 0);
	assert_int_equal(count(p), kept);
	assert_string_equal(fz_profile_fact(p, "part").p, fact);
}

static void test_filters(void **state)
{
	static const char *const by_name[] = { "worker", NULL }, *const by_id[] = { "3", NULL },
				 *const main_and_3[] = { "main", "3", NULL };

	(void)state;
	check_filter(&(struct fz_cli_filter){ nothing }, 10, "");
	check_filter(&(struct fz_cli_filter){ by_name }, 4, "--thread worker");
	check_filter(&(struct fz_cli_filter){ by_id }, 1, "--thread 3");
	check_filter(&(struct fz_cli_filter){ main_and_3 }, 6, "--thread main --thread 3");
	check_filter(&(struct fz_cli_filter){ nothing, .functions = "^work$" }, 7,
		     "--filter ^work$");
	check_filter(&(struct fz_cli_filter){ nothing, .functions = "json" }, 3, "--filter json");
	check_filter(&(struct fz_cli_filter){ by_name, .functions = "work" }, 4,
		     "--thread worker --filter work");
}

/* Stacks begin at the root, and samples without it are dropped. */
static void test_root(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = program();
	struct fz_cli_filter wanted = { nothing, .root = "work" };
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_filter_keep(&wanted, &p, 1, &err), 0);
	assert_int_equal(count(p), 7);
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t s = p->samples.stack[row];
		while (p->stacks[s].parent != FZ_NONE)
			s = p->stacks[s].parent;
		uint32_t f = p->frames[p->stacks[s].frame].function;
		assert_string_equal(p->strings[p->functions[f].name].p, "work");
	}
}

static void test_nothing_left(void **state)
{
	static const char *const nobody[] = { "nobody", NULL };
	static const struct {
		struct fz_cli_filter wanted;
		const char *message;
	} cases[] = {
		{ { nobody },
		  "--thread: no samples of 'nobody'; the threads are 1, worker (2), 3" },
		{ { nothing, .functions = "^x" },
		  "--filter: no sample has a function whose name or file matches '^x'" },
		{ { nothing, .root = "^x" },
		  "--root: no selected sample has a function whose name or file matches '^x'" },
		{ { nobody, .functions = "work" },
		  "--thread: no samples of 'nobody'; the threads are 1, worker (2), 3" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = program();
		struct fz_error err;

		assert_fails(fz_cli_filter_keep(&cases[i].wanted, &p, 1, &err), FZ_ENOSAMPLE, err,
			     cases[i].message);
	}
}

static void test_many_threads(void **state)
{
	static const char *const nobody[] = { "nobody", NULL };
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_error err;

	(void)state;
	for (int i = 1; i <= 20; i++)
		fz_buf_printf(&text, "%d@f 1\n", i);
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile(text.p, 1000);
	assert_fails(fz_cli_filter_keep(&(struct fz_cli_filter){ nobody }, &p, 1, &err),
		     FZ_ENOSAMPLE, err,
		     "--thread: no samples of 'nobody'; the threads are 1, 2, 3, 4, 5, 6, 7, 8, "
		     "9, 10, 11, 12, ...");
}

/* In a comparison one side may have none of the samples: the function may be new. */
static void test_one_side(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *base = hand_profile("a.py:f:1 3\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *head = program();
	struct fz_profile *both[] = { base, head }, *half[] = { base, NULL };
	struct fz_cli_filter wanted = { nothing, .functions = "work" };
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_filter_keep(&wanted, both, 2, &err), 0);
	assert_true(count(base) == 0 && count(head) == 7);
	assert_int_equal(fz_cli_filter_keep(&wanted, half, 2, &err), FZ_ENOSAMPLE);
	/* There is nothing to complain about without any profile. */
	half[0] = NULL;
	assert_int_equal(fz_cli_filter_keep(&wanted, half, 2, &err), 0);
}

static void test_regex(void **state)
{
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_check_regex("--filter", "a|(b+)", &err), 0);
	assert_refused(fz_cli_check_regex("--filter", "(", &err), err,
		       "--filter: invalid extended regular expression '(': Unmatched ( or \\( (see "
		       "regex(7))");
	assert_refused(fz_cli_check_regex("--root", "a{99999}", &err), err,
		       "--root: invalid extended regular expression 'a{99999}': Regular expression "
		       "too big (see regex(7))");
	assert_refused(fz_cli_check_regex("--own", "[\033", &err), err,
		       "--own: invalid extended regular expression '[\\x1b': Unmatched [, [^, [:, "
		       "[., or [= (see regex(7))");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mode_names),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_modes_not_recorded),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_one_side),
		cmocka_unit_test(test_regex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
