/* SPDX-License-Identifier: MIT */
/* The sides of a comparison: how they are split, loaded and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "base/io.h"
#include "cli/load.h"
#include "cli/sides.h"
#include "format/format.h"
#include "refused.h"

#define SECOND 1000000000LL

/* ---- splitting ---- */

/* Split "a b :: c", words separated by single spaces. */
static int split(const char *text, struct fz_cli_side *base, struct fz_cli_side *head,
		 struct fz_error *err)
{
	static char buffer[200];
	static char *words[32];
	int n = 0;
	char *rest = NULL;

	snprintf(buffer, sizeof(buffer), "%s", text);
	for (char *w = strtok_r(buffer, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		words[n++] = w;
	return fz_cli_sides_split(words, n, base, head, err);
}

static void test_split(void **state)
{
	struct fz_cli_side base, head;
	struct fz_error err;

	(void)state;
	assert_int_equal(split("a b", &base, &head, &err), 0);
	assert_int_equal(base.n, 1);
	assert_int_equal(head.n, 1);
	assert_string_equal(base.names[0], "a");
	assert_string_equal(head.names[0], "b");
	assert_int_equal(split("a b c :: d e", &base, &head, &err), 0);
	assert_int_equal(base.n, 3);
	assert_int_equal(head.n, 2);
	assert_string_equal(base.names[2], "c");
	assert_string_equal(head.names[0], "d");
	/* A set of one is a set, too. */
	assert_int_equal(split("a :: b", &base, &head, &err), 0);
	assert_true(base.n == 1 && head.n == 1);
	/* Only "::" alone separates. */
	assert_int_equal(split(":: b", &base, &head, &err), FZ_EUSAGE);
	assert_int_equal(split("a::b c", &base, &head, &err), 0);
	assert_string_equal(base.names[0], "a::b");
}

static void test_wrong_split(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "",
		  "expected two recordings, BASE HEAD, none (the last two of a program), or two "
		  "sets, BASE... :: HEAD...; got 0" },
		{ "a", "expected two recordings, BASE HEAD, none (the last two of a program), or "
		       "two sets, BASE... :: HEAD...; got 1" },
		{ "a b c", "expected two recordings, BASE HEAD, none (the last two of a program), "
			   "or two sets, BASE... :: HEAD...; got 3" },
		{ ":: a", "no recording before '::'" },
		{ "a ::", "no recording after '::'" },
		{ "::", "no recording before '::'" },
		{ "a :: b :: c", "more than one '::'" },
		{ "a :: ::", "more than one '::'" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_cli_side base = { .n = 77 }, head = { .n = 77 };
		struct fz_error err;

		assert_refused(split(cases[i].text, &base, &head, &err), err, cases[i].message);
		assert_true(base.n == 77 && head.n == 77);
	}
}

/* ---- labels ---- */

static void check_label(const struct fz_cli_side *side, const char *expected)
{
	fz_auto(fz_free_ptr) char *label = fz_cli_side_label(side);

	assert_string_equal(label, expected);
}

static void test_labels(void **state)
{
	char a[] = "a.fz", b[] = "b.fz";
	char *names[] = { a, b, b };

	(void)state;
	check_label(&(struct fz_cli_side){ names, 1 }, "a.fz");
	check_label(&(struct fz_cli_side){ names, 3 }, "a.fz and 2 more");
	check_label(&(struct fz_cli_side){ names, 1, .range = { .text = "10s-20s" } },
		    "a.fz 10s-20s");
	check_label(&(struct fz_cli_side){ names, 2, .range = { .text = "-50%" } },
		    "a.fz and 1 more -50%");
}

/* ---- loading ---- */

static char folder[] = "/tmp/fizeau_sides_XXXXXX";

static int make_tmp(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_tmp(void **state)
{
	static const char *const names[] = { "a.fz",    "b.fz",     "c.fz",     "cpu.fz",
					     "copy.fz", "other.fz", "x.folded", "y.folded" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(folder);
}

/* A run of n samples at `start`, saved. */
static void save(const char *path, int64_t start, int n, enum fz_mode mode, const char *program)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	int64_t weight = SECOND / 1000;
	struct fz_output *out;

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(
		p, &(struct fz_run){ .start_unix_ns = start * SECOND, .duration_ns = n * weight });
	p->samples.ordered = p->samples.timed = true;
	p->recording.interval_ns = weight;
	p->recording.mode = mode;
	fz_profile_set_fact(p, "mode", fz_str_of(fz_mode_names[mode]));
	fz_profile_set_fact(p, "program", fz_str_of(program));
	for (int i = 0; i < n; i++) {
		uint32_t frame = fz_profile_frame_named(p, FZ_STR("work"), FZ_STR("app.py"), 1,
							FZ_KIND_PYTHON);
		struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, frame),
				       .thread = fz_profile_thread(p, &thread),
				       .time = i * weight + start };
		fz_profile_add_sample(p, &s, &weight);
	}
	assert_int_equal(fz_output_open(path, &out, NULL), 0);
	assert_int_equal(fz_format_by_name("fz")->write(p, out, NULL), 0);
	assert_int_equal(fz_output_close(out, NULL), 0);
}

static int load_ranges(const char *text, const struct fz_cli_range *range, bool force,
		       struct fz_profile *ret[FZ_SIDES], struct fz_error *err)
{
	struct fz_cli_side base, head;

	ret[FZ_BASE] = ret[FZ_HEAD] = NULL;
	assert_int_equal(split(text, &base, &head, err), 0);
	if (range)
		base.range = *range;
	return fz_cli_sides_load(&base, &head, force, ret, err);
}

static int load(const char *text, bool force, struct fz_profile *ret[FZ_SIDES],
		struct fz_error *err)
{
	return load_ranges(text, NULL, force, ret, err);
}

static void release(struct fz_profile *p[FZ_SIDES])
{
	fz_profile_free(p[FZ_BASE]);
	fz_profile_free(p[FZ_HEAD]);
}

static void test_load(void **state)
{
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err;

	(void)state;
	save("a.fz", 1000, 5, FZ_MODE_WALL, "app.py");
	save("b.fz", 2000, 6, FZ_MODE_WALL, "app.py");
	save("c.fz", 3000, 7, FZ_MODE_WALL, "app.py");
	assert_int_equal(load("a.fz b.fz", false, p, &err), 0);
	assert_true(p[FZ_BASE]->samples.n == 5 && p[FZ_HEAD]->samples.n == 6);
	release(p);
	/* The runs of all recordings of a side. */
	assert_int_equal(load("a.fz b.fz :: c.fz", false, p, &err), 0);
	assert_true(p[FZ_BASE]->samples.n == 11 && p[FZ_BASE]->run_count == 2);
	assert_true(p[FZ_HEAD]->samples.n == 7 && p[FZ_HEAD]->run_count == 1);
	release(p);
}

/* The range is cut from each recording of its side, and of that side alone. */
static void test_ranges(void **state)
{
	struct fz_cli_range half = { .to = { .kind = FZ_CLI_INSTANT_PART, .value = 0.5 } };
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err;

	(void)state;
	save("a.fz", 1000, 10, FZ_MODE_WALL, "app.py");
	save("b.fz", 2000, 10, FZ_MODE_WALL, "app.py");
	save("c.fz", 3000, 10, FZ_MODE_WALL, "app.py");
	assert_int_equal(load_ranges("a.fz b.fz", &half, false, p, &err), 0);
	assert_true(p[FZ_BASE]->samples.n == 5 && p[FZ_HEAD]->samples.n == 10);
	release(p);
	assert_int_equal(load_ranges("a.fz b.fz :: c.fz", &half, false, p, &err), 0);
	assert_true(p[FZ_BASE]->samples.n == 10 && p[FZ_HEAD]->samples.n == 10);
	release(p);
}

/* One file under two names is not two runs. */
static void test_same_recording(void **state)
{
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err;

	(void)state;
	save("a.fz", 1000, 5, FZ_MODE_WALL, "app.py");
	save("copy.fz", 1000, 5, FZ_MODE_WALL, "app.py");
	save("b.fz", 2000, 6, FZ_MODE_WALL, "app.py");
	assert_refused(load("b.fz a.fz copy.fz :: b.fz", false, p, &err), err,
		       "a.fz and copy.fz are the same recording; specify it once");
	/* Both sides may have it. */
	assert_int_equal(load("a.fz :: copy.fz", false, p, &err), 0);
	release(p);
}

/* Recordings without times are distinguished by name. */
static void test_same_text(void **state)
{
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(i ? "y.folded" : "x.folded", "w");
		assert_true(f && fputs("main;work 3\n", f) >= 0 && fclose(f) == 0);
	}
	assert_refused(load("x.folded x.folded :: y.folded", false, p, &err), err,
		       "x.folded and x.folded are the same recording; specify it once");
	assert_int_equal(load("x.folded y.folded :: y.folded", false, p, &err), 0);
	release(p);
}

static void test_different_settings(void **state)
{
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err;

	(void)state;
	save("a.fz", 1000, 5, FZ_MODE_WALL, "app.py");
	save("cpu.fz", 2000, 5, FZ_MODE_CPU, "app.py");
	assert_int_equal(load("a.fz cpu.fz :: a.fz", false, p, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "a.fz and cpu.fz cannot be combined: "));
	assert_int_equal(load("a.fz cpu.fz :: a.fz", true, p, &err), 0);
	assert_int_equal(p[FZ_BASE]->run_count, 2);
	release(p);
}

static void test_different_programs(void **state)
{
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err;

	(void)state;
	save("a.fz", 1000, 5, FZ_MODE_WALL, "app.py");
	save("other.fz", 2000, 5, FZ_MODE_WALL, "other.py");
	struct heard h = hear();
	assert_int_equal(load("a.fz other.fz :: a.fz", false, p, &err), 0);
	assert_string_equal(heard(&h), "fizeau: warning: a.fz and other.fz are of different "
				       "programs: 'app.py' and 'other.py'\n");
	release(p);
}

/* The error is that of the first side that has one, although both are read at once; nothing is
 * left to free. */
static void test_missing(void **state)
{
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err;

	(void)state;
	save("a.fz", 1000, 5, FZ_MODE_WALL, "app.py");
	assert_true(load("./no-1 ./no-2", false, p, &err) < 0);
	assert_non_null(strstr(err.message, "./no-1: "));
	assert_true(load("a.fz ./no-2", false, p, &err) < 0);
	assert_non_null(strstr(err.message, "./no-2: "));
	/* (Files that exist, but hold no profile, are found out while both are read.) */
	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(i ? "y.folded" : "x.folded", "w");
		assert_true(f && fputs("\1\2\3", f) >= 0 && fclose(f) == 0);
	}
	assert_true(load("x.folded y.folded", false, p, &err) < 0);
	assert_non_null(strstr(err.message, "x.folded: "));
	assert_true(load("a.fz y.folded", false, p, &err) < 0);
	assert_non_null(strstr(err.message, "y.folded: "));
	assert_true(load("a.fz :: a.fz ./no-2", false, p, &err) < 0);
	assert_true(!p[FZ_BASE] && !p[FZ_HEAD]);
}

/* ---- bare numbers ---- */

static void test_numbers(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *bare = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *other = fz_profile_new();
	struct fz_error err;

	(void)state;
	bare->numbers.bare = true;
	assert_int_equal(fz_cli_check_numbers(0, NULL, other, &err), 0);
	assert_int_equal(fz_cli_check_numbers(1, NULL, bare, &err), 0);
	assert_int_equal(fz_cli_check_numbers(1, bare, other, &err), 0);
	assert_refused(fz_cli_check_numbers(1, NULL, other, &err), err,
		       "--input-unit only applies to folded stacks without a unit");
	assert_refused(fz_cli_check_numbers(1, other, other, &err), err,
		       "--input-unit only applies to folded stacks without a unit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_wrong_split),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_same_recording),
		cmocka_unit_test(test_same_text),
		cmocka_unit_test(test_different_settings),
		cmocka_unit_test(test_different_programs),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, make_tmp, remove_tmp);
}
