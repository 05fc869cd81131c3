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

/* Four runs of main, of which work takes the given part in thousandths. */
static struct fizeau_profile *build(int part, const char *program)
{
	struct fizeau_builder_options options = {
		.metric = "cpu", .unit = "ns", .interval_ns = 1000, .complete = 1, .ordered = 1
	};
	struct fizeau_builder *b = fizeau_builder_new(&options);
	struct fizeau_frame frames[] = { { "main", "app.py", 3 }, { "work", "app.py", 9 } };
	struct fizeau_profile *p = NULL;

	fizeau_builder_fact(b, "program", program);
	for (int run = 0; run < 4; run++) {
		if (run)
			fizeau_builder_next_run(b);
		for (int i = 0; i < 3000; i++) {
			frames[1].name = i % 1000 < part ? "work" : i % 2 ? "rest" : "other";
			fizeau_builder_add(b, frames, 2, 1000);
		}
	}
	assert_int_equal(fizeau_builder_build(b, &p, NULL), 0);
	return p;
}

static void a_built_profile_is_judged(void **state)
{
	(void)state;
	struct fizeau_profile *base = build(200, "app"), *head = build(300, "app");
	struct fizeau_diff_options options = { .scale = FIZEAU_SCALE_REFERENCE };
	struct fizeau_diff *d = NULL;
	struct fizeau_diff_function f;
	struct fizeau_function_verdict v;
	struct fizeau_run_verdict run;
	struct fizeau_link link;

	assert_int_equal(fizeau_profile_run_count(base), 4);
	assert_int_equal(fizeau_profile_samples(base), 12000);
	assert_int_equal(fizeau_profile_total(base), 12000000);
	assert_string_equal(fizeau_profile_unit(base), "ns");
	assert_string_equal(fizeau_profile_fact(base, "program"), "app");
	assert_int_equal(fizeau_diff_new(base, head, NULL, &d, NULL), 0);
	assert_int_equal(fizeau_diff_scale(d), FIZEAU_SCALE_TIME);
	fizeau_diff_run_verdict(d, &run);
	assert_int_equal(run.word, FIZEAU_RUN_SAME);
	assert_true(run.low <= 0 && run.high >= 0 && run.smallest_visible > 0);
	for (size_t i = 0; fizeau_diff_function(d, i, &f) == 0; i++) {
		assert_int_equal(fizeau_diff_function_verdict(d, i, &v), 0);
		assert_int_equal(fizeau_diff_link(d, i, &link), 0);
		assert_string_equal(link.how, "exact");
		assert_string_equal(link.name, f.name);
		if (strcmp(f.name, "work") == 0) {
			assert_int_equal(v.self, FIZEAU_CHANGED);
			assert_true(v.self_low > 0 && v.self_low < f.cost.diff_self);
		} else if (strcmp(f.name, "main") == 0) {
			assert_int_equal(v.self, FIZEAU_UNCHANGED);
		}
	}
	assert_int_equal(fizeau_diff_function_verdict(d, 99, &v), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_link(d, 99, &link), FIZEAU_EUSAGE);
	fizeau_diff_free(d);
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), 0);
	assert_int_equal(fizeau_diff_scale(d), FIZEAU_SCALE_REFERENCE);
	assert_true(fizeau_diff_factor(d) < 1);
	fizeau_diff_free(d);
	options.scale = FIZEAU_SCALE_UNIT;
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), FIZEAU_EUSAGE);
	options.base_units = 100;
	options.head_units = 200;
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), 0);
	assert_true(fizeau_diff_factor(d) == 2);
	fizeau_diff_free(d);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
}

static void profiles_merge(void **state)
{
	(void)state;
	struct fizeau_profile *a = build(200, "app"), *b = build(300, "app");
	struct fizeau_profile *other = load("main;work 3\n"), *both = NULL;
	const struct fizeau_profile *list[] = { a, b, other };
	struct fizeau_error err;

	assert_int_equal(fizeau_profile_merge(list, 2, &both, &err), 0);
	assert_int_equal(fizeau_profile_run_count(both), 8);
	assert_int_equal(fizeau_profile_total(both),
			 fizeau_profile_total(a) + fizeau_profile_total(b));
	fizeau_profile_free(both);
	both = NULL;
	assert_true(fizeau_profile_merge(list, 3, &both, &err) < 0);
	assert_true(strlen(err.message) > 10);
	assert_int_equal(fizeau_profile_merge(list, 0, &both, &err), FIZEAU_EUSAGE);
	assert_null(both);
	fizeau_builder_free(fizeau_builder_new(NULL));
	fizeau_builder_free(NULL);
	fizeau_profile_free(a);
	fizeau_profile_free(b);
	fizeau_profile_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_a_profile),
		cmocka_unit_test(walk_a_diff),
		cmocka_unit_test(a_built_profile_is_judged),
		cmocka_unit_test(profiles_merge),
		cmocka_unit_test(errors_say_what_is_wrong),
		cmocka_unit_test(reports_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
