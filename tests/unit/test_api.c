/* SPDX-License-Identifier: MIT */
/* The public interface, as a user calls it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fizeau.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fizeau_profile *load(const char *text)
{
	struct fizeau_profile *p = NULL;
	struct fizeau_error err;

	if (fizeau_profile_load_memory(text, strlen(text), "text.folded", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void walk_a_profile(void **state)
{
	(void)state;
	struct fizeau_profile *p = load("main;work;work 3\nmain;idle 1\n");

	assert_string_equal(fizeau_profile_metric(p), "samples");
	assert_string_equal(fizeau_profile_unit(p), "count");
	assert_int_equal(fizeau_profile_samples(p), 4);
	assert_int_equal(fizeau_profile_total(p), 4);
	assert_string_equal(fizeau_profile_fact(p, "command"), "");
	assert_int_equal(fizeau_profile_function_count(p), 3);
	assert_string_equal(fizeau_profile_function(p, 0)->name, "main");
	assert_string_equal(fizeau_profile_function(p, 1)->name, "work");
	assert_int_equal(fizeau_profile_function(p, 1)->self, 3);
	assert_int_equal(fizeau_profile_function(p, 1)->total, 3);
	assert_null(fizeau_profile_function(p, 3));
	fizeau_profile_free(p);
}

static void walk_a_diff(void **state)
{
	(void)state;
	struct fizeau_profile *base = load("main;work 3\nmain;old 1\n");
	struct fizeau_profile *head = load("main;work 6\nmain;fresh 2\n");
	struct fizeau_diff_options options = { .scale = FIZEAU_SCALE_TIME };
	struct fizeau_diff *d = NULL;
	struct fizeau_diff_function f;
	struct fizeau_diff_node n;

	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), 0);
	assert_int_equal(fizeau_diff_scale(d), FIZEAU_SCALE_TIME);
	assert_true(fizeau_diff_factor(d) == 1);
	assert_int_equal(fizeau_diff_elided_count(d), 1);
	assert_int_equal(fizeau_diff_elided_time(d), 1);
	assert_int_equal(fizeau_diff_function_count(d), 4);
	assert_int_equal(fizeau_diff_function(d, 1, &f), 0);
	assert_string_equal(f.name, "work");
	assert_int_equal(f.cost.base_self, 3);
	assert_int_equal(f.cost.head_self, 6);
	assert_true(f.cost.diff_self == 3);
	assert_int_equal(fizeau_diff_function(d, 4, &f), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_node_count(d), 4);
	assert_int_equal(fizeau_diff_node(d, 0, &n), 0);
	assert_int_equal(n.parent, -1);
	assert_int_equal(n.size, 4);
	assert_int_equal(fizeau_diff_node(d, 2, &n), 0);
	assert_int_equal(n.parent, 0);
	assert_int_equal(n.state, FIZEAU_NEW);
	assert_int_equal(fizeau_diff_node(d, 4, &n), FIZEAU_EUSAGE);
	assert_non_null(fizeau_diff_warning(d, 0));
	assert_null(fizeau_diff_warning(d, 99));
	fizeau_diff_free(d);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
}

static void errors_say_what_is_wrong(void **state)
{
	(void)state;
	struct fizeau_profile *p = NULL, *good = load("a 1\n");
	struct fizeau_diff *d = NULL;
	struct fizeau_error err;
	struct fizeau_diff_options options = { .metric = "instructions" };

	assert_true(fizeau_profile_load("/does/not/exist", &p, &err) < 0);
	assert_non_null(strstr(err.message, "/does/not/exist"));
	assert_int_equal(fizeau_profile_load_memory("", 0, "nothing", &p, &err), FIZEAU_EINPUT);
	assert_null(p);
	assert_int_equal(fizeau_diff_new(good, good, &options, &d, &err), FIZEAU_EINPUT);
	assert_non_null(strstr(err.message, "instructions"));
	assert_null(d);
	assert_int_equal(fizeau_profile_write(good, "pdf", "x", &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_profile_write(good, NULL, "x", &err), FIZEAU_EUSAGE);
	assert_true(fizeau_profile_write(good, "json", "/does/not/exist/x", &err) < 0);
	fizeau_profile_free(good);
}

static void reports_are_written(void **state)
{
	(void)state;
	static const char *const formats[] = { "text", "html", "svg", "json", "folded" };
	struct fizeau_profile *p = load("a;b 1\n");
	struct fizeau_diff *d = NULL;
	char folder[] = "fizeau-api-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	assert_int_equal(fizeau_diff_new(p, p, NULL, &d, NULL), 0);
	snprintf(path, sizeof(path), "%s/out", folder);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		assert_int_equal(fizeau_profile_write(p, formats[i], path, NULL), 0);
		assert_int_equal(access(path, R_OK), 0);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(fizeau_diff_write(d, formats[i], path, NULL), 0);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
	fizeau_diff_free(d);
	fizeau_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_a_profile),
		cmocka_unit_test(walk_a_diff),
		cmocka_unit_test(errors_say_what_is_wrong),
		cmocka_unit_test(reports_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
