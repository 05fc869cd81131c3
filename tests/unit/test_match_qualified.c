/* SPDX-License-Identifier: MIT */
/* Matching plain names on one side with qualified ones on the other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "hand_profile.h"
#include "named.h"

/* "name first_line, name first_line" */
static void set_first_lines(struct fz_profile *p, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, " ");
		int32_t line = (int32_t)strtol(text + n, NULL, 10);
		for (uint32_t i = 0; i < p->function_count; i++)
			if (fz_str_eq(p->strings[p->functions[i].name], (struct fz_str){ text, n }))
				p->functions[i].first_line = line;
		text += strcspn(text, ",");
		text += strspn(text, ", ");
	}
}

struct both {
	struct fz_profile *on[FZ_SIDES];
	struct fz_diff *d;
};

static void pair_release(struct both *p)
{
	fz_diff_free(p->d);
	fz_profile_free(p->on[FZ_BASE]);
	fz_profile_free(p->on[FZ_HEAD]);
}
#define pair fz_auto(pair_release) struct both

static void compare(struct both *p)
{
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	struct fz_error err;

	if (fz_diff_new(p->on[FZ_BASE], p->on[FZ_HEAD], &o, &p->d, &err))
		fail_msg("%s", err.message);
}

static struct both of_texts(const char *base, const char *head)
{
	struct both p = { .on = { hand_profile(base, 0), hand_profile(head, 0) } };

	compare(&p);
	return p;
}

static void expect_common(const struct fz_diff *d)
{
	for (uint32_t i = 0; i < d->function_count; i++)
		if (d->functions[i].state != FZ_COMMON)
			fail_msg("%.*s is %s", (int)d->functions[i].name.n, d->functions[i].name.p,
				 fz_state_names[d->functions[i].state]);
}

static const char *const plain =
	"a.py:main:36;a.py:area:6 40\na.py:main:36;a.py:load:16 30\n"
	"a.py:main:36;a.py:helper:30;a.py:<genexpr>:31 10\na.py:main:36;a.py:<lambda>:33 10\n";
static const char *const qualified =
	"a.py:main:36;a.py:Shape.area:6 40\na.py:main:36;a.py:Store.load:17 30\n"
	"a.py:main:36;a.py:helper:30;a.py:helper.<locals>.<genexpr>:31 10\n"
	"a.py:main:36;a.py:main.<locals>.<lambda>:33 10\n";

static void a_plain_name_is_the_qualified_one_of_its_line(void **state)
{
	(void)state;
	pair p = of_texts(plain, qualified);
	pair back = of_texts(qualified, plain);

	expect_common(p.d);
	expect_common(back.d);
	assert_int_equal(p.d->link_count, 0);
	assert_int_equal(function_named(p.d, "Shape.area")->cost.total[FZ_BASE], 40);
	assert_int_equal(function_named(back.d, "Shape.area")->cost.total[FZ_BASE], 40);
	assert_int_equal(p.d->rules[p.d->rule_count - 1].functions[FZ_BASE], 4);
	assert_int_equal(p.d->rules[p.d->rule_count - 1].functions[FZ_HEAD], 0);
}

/* CPython 3.9 records __init__. Each side ran the one of another class. */
static void plain_names_of_both_sides_come_from_the_sources(void **state)
{
	(void)state;
	static const char *const text[] = {
		"class Row:\n    def __init__(self):\n        pass\n",
		"import row\nclass Table:\n    def __init__(self):\n        pass\n",
	};

	for (int missing = 0; missing < 2; missing++) {
		pair p = { .on = { hand_profile("a.py:__init__:2 40\n", 0),
				   hand_profile("a.py:__init__:3 9\n", 0) } };
		set_first_lines(p.on[FZ_BASE], "__init__ 2");
		set_first_lines(p.on[FZ_HEAD], "__init__ 3");
		for (int s = 0; s < FZ_SIDES - missing; s++)
			fz_profile_add_source(p.on[s], fz_profile_string(p.on[s], FZ_STR("a.py")),
					      fz_str_of(text[s]));
		compare(&p);
		if (missing) {
			expect_common(p.d);
			continue;
		}
		assert_int_equal(function_named(p.d, "Row.__init__")->state, FZ_REMOVED);
		assert_int_equal(function_named(p.d, "Table.__init__")->state, FZ_NEW);
	}
}

static void names_of_two_versions_of_python_are_plain_and_qualified(void **state)
{
	(void)state;
	/* The newer side has no class, but its version of Python records classes. */
	pair p = { .on = { hand_profile("a.py:load:3 9\n", 0),
			   hand_profile("a.py:load:3 9\n", 0) } };
	p.on[FZ_BASE]->recording.python[0] = p.on[FZ_HEAD]->recording.python[0] = 3;
	p.on[FZ_BASE]->recording.python[1] = 10;
	p.on[FZ_HEAD]->recording.python[1] = 12;
	compare(&p);
	expect_common(p.d);
	assert_int_equal(p.d->rule_count, 0);
}

static void first_lines_separate_methods_of_one_name(void **state)
{
	(void)state;
	pair p = { .on = { hand_profile("a.py:main:1;a.py:run:4 40\na.py:main:1;a.py:run:4;"
					"a.py:step:9 5\n",
					0),
			   hand_profile("a.py:main:1;a.py:A.run:5 40\na.py:main:1;a.py:B.run:22 7\n"
					"a.py:main:1;a.py:A.run:4;a.py:A.step:9 5\n",
					0) } };

	set_first_lines(p.on[FZ_BASE], "main 1, run 3, step 8");
	set_first_lines(p.on[FZ_HEAD], "main 1, A.run 3, B.run 20, A.step 8");
	compare(&p);
	assert_int_equal(function_named(p.d, "A.run")->state, FZ_COMMON);
	assert_int_equal(function_named(p.d, "A.step")->state, FZ_COMMON);
	assert_int_equal(function_named(p.d, "B.run")->state, FZ_NEW);
	assert_int_equal(function_named(p.d, "B.run")->cost.total[FZ_BASE], 0);
}

/* One side knows where functions begin, the other only what lines ran. */
static void lines_belong_to_the_nearest_function_above(void **state)
{
	(void)state;
	for (int known = 0; known < FZ_SIDES; known++) {
		pair p = { .on = { hand_profile("a.py:A.run:4 40\na.py:B.run:22 7\n", 0),
				   hand_profile("a.py:run:5 40\na.py:other:40;a.py:run:6 2\n",
						0) } };
		set_first_lines(p.on[FZ_BASE], known == 0 ? "A.run 3, B.run 20" : "");
		set_first_lines(p.on[FZ_HEAD], known == 1 ? "run 3, other 39" : "");
		compare(&p);
		if (known == 0) {
			assert_int_equal(function_named(p.d, "A.run")->cost.total[FZ_HEAD], 42);
			assert_int_equal(function_named(p.d, "B.run")->state, FZ_REMOVED);
		} else { /* run begins at 3, and nothing else does: it may hold both */
			assert_int_equal(function_named(p.d, "run")->cost.total[FZ_BASE], 47);
		}
	}
}

static void indistinguishable_methods_are_compared_as_one(void **state)
{
	(void)state;
	pair p = of_texts("a.py:main:1;a.py:run:4 40\na.py:main:1;a.py:run:22 7\n",
			  "a.py:main:1;a.py:A.run:4 40\na.py:main:1;a.py:B.run:22 7\n");

	expect_common(p.d);
	assert_int_equal(function_named(p.d, "run")->cost.total[FZ_BASE], 47);
	assert_int_equal(function_named(p.d, "run")->cost.total[FZ_HEAD], 47);
}

static void source_of_the_plain_side_gives_the_qualified_name(void **state)
{
	(void)state;
	static const char source[] = "class A:\n"
				     "    def run(self):\n"
				     "        return [x for x in self]\n";
	/* Comments above the class moved everything down. */
	pair p = { .on = { hand_profile("a.py:run:3;a.py:<listcomp>:3 40\n", 0),
			   hand_profile("a.py:A.run:13;a.py:A.run.<locals>.<listcomp>:13 40\n"
					"a.py:B.run:26 9\n",
					0) } };

	fz_profile_add_source(p.on[FZ_BASE], p.on[FZ_BASE]->functions[0].file, FZ_STR(source));
	set_first_lines(p.on[FZ_BASE], "run 2, <listcomp> 3");
	set_first_lines(p.on[FZ_HEAD], "A.run 12, A.run.<locals>.<listcomp> 13, B.run 25");
	compare(&p);
	assert_int_equal(function_named(p.d, "A.run")->state, FZ_COMMON);
	assert_int_equal(function_named(p.d, "A.run.<locals>.<listcomp>")->state, FZ_COMMON);
	assert_int_equal(function_named(p.d, "B.run")->state, FZ_NEW);
}

static void sides_that_both_have_classes_are_left_alone(void **state)
{
	(void)state;
	pair p = of_texts("a.py:A.go:3 9\na.py:area:6 40\n",
			  "a.py:A.go:3 9\na.py:Shape.area:6 40\n");

	assert_int_equal(p.d->rule_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_name_is_the_qualified_one_of_its_line),
		cmocka_unit_test(plain_names_of_both_sides_come_from_the_sources),
		cmocka_unit_test(names_of_two_versions_of_python_are_plain_and_qualified),
		cmocka_unit_test(first_lines_separate_methods_of_one_name),
		cmocka_unit_test(lines_belong_to_the_nearest_function_above),
		cmocka_unit_test(indistinguishable_methods_are_compared_as_one),
		cmocka_unit_test(source_of_the_plain_side_gives_the_qualified_name),
		cmocka_unit_test(sides_that_both_have_classes_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
