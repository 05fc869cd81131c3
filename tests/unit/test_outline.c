/* SPDX-License-Identifier: MIT */
/* Parsing sources: definitions, bodies, imports, and the links that follow from them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "compare/body.h"
#include "compare/imports.h"
#include "hand_profile.h"
#include "named.h"

static const char source[] = "import os\n"
			     "\n"
			     "@decorate(\n"
			     "    'def no(): ')\n"
			     "def f(a, b=[1,\n"
			     "2]) -> dict[str, int]:\n"
			     "    \"\"\"def not_me():\n"
			     "    class Nor:\n"
			     "    \"\"\"\n"
			     "    def g(): return a  # class Comment:\n"
			     "    return {\n"
			     "g: 1}\n"
			     "class C(B):\n"
			     "\tasync def m(self):\n"
			     "\t\ttext = 'it''s' \\\n"
			     "    \"x\"\n"
			     "\t\treturn text\n"
			     "\n"
			     "\tclass D:\n"
			     "\t\tdef m(self): pass\n"
			     "if f: x = lambda: 0\n";

static void definitions_have_exact_ranges(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int32_t first, line, last;
	} expected[] = {
		{ "<module>", 1, 1, INT32_MAX }, { "f", 3, 5, 12 },
		{ "f.<locals>.g", 10, 10, 10 },  { "C", 13, 13, 20 },
		{ "C.m", 14, 14, 17 },           { "C.D", 19, 19, 20 },
		{ "C.D.m", 20, 20, 20 },
	};
	struct fz_outline o;

	fz_outline_init(&o, fz_str_of(source));
	assert_int_equal(o.n, FZ_ARRAY_LEN(expected));
	for (uint32_t i = 0; i < o.n; i++) {
		assert_true(fz_str_eq(o.definitions[i].name, fz_str_of(expected[i].name)));
		assert_int_equal(o.definitions[i].first_line, expected[i].first);
		assert_int_equal(o.definitions[i].line, expected[i].line);
		assert_int_equal(o.definitions[i].last_line, expected[i].last);
		assert_int_equal(fz_outline_find(&o, fz_str_of(expected[i].name)), i);
	}
	assert_int_equal(fz_outline_find_at(&o, FZ_STR("f"), 3), 1);
	assert_int_equal(fz_outline_find_at(&o, FZ_STR("f"), 5), 1);
	assert_int_equal(fz_outline_find_at(&o, FZ_STR("f"), 6), FZ_NONE);
	assert_int_equal(fz_outline_find_at(&o, FZ_STR("m"), 20), 6);
	assert_int_equal(fz_outline_at(&o, 11), 1);
	assert_int_equal(fz_outline_at(&o, 10), 2);
	assert_int_equal(fz_outline_at(&o, 16), 4);
	assert_int_equal(fz_outline_at(&o, 21), 0);
	fz_outline_release(&o);
	fz_outline_init(&o, FZ_STR("def f():\n    return 1\nx = 1\n"));
	assert_int_equal(fz_outline_at(&o, 1), 1);
	assert_int_equal(fz_outline_at(&o, 3), 0);
	fz_outline_release(&o);
	fz_outline_init(&o, FZ_STR(""));
	assert_int_equal(fz_outline_at(&o, 1), 0);
	fz_outline_release(&o);
}

/* How alike the first definitions of two texts are. */
static double alike(const char *a, const char *b)
{
	struct fz_outline x, y;
	struct fz_body p, q;

	fz_outline_init(&x, fz_str_of(a));
	fz_outline_init(&y, fz_str_of(b));
	fz_body_init(&p, &x, 1);
	fz_body_init(&q, &y, 1);
	double similarity = fz_body_similarity(&p, &q);
	fz_body_release(&p);
	fz_body_release(&q);
	fz_outline_release(&x);
	fz_outline_release(&y);
	return similarity;
}

static void reformatted_bodies_are_equal(void **state)
{
	(void)state;
	static const char plain[] = "def walk(n):\n    '''doc'''\n    for x in n.all: walk(x)\n"
				    "    return go(n, 'a')\n";

	assert_true(alike(plain, plain) == 1);
	assert_true(alike(plain, "def stroll(n: Node) -> int:\n  # note\n  for x in (n.all):\n"
				 "    stroll(x,)\n  return go(\n    n, \"a\",\n  )\n") == 1);
	assert_true(alike(plain, "def walk(n):\n    with n as m:\n        print(m)\n") == 0);
	double half = alike(plain, "def walk(n):\n    for x in n.all: walk(x)\n    raise Stop\n");
	assert_true(half > 0.5 && half < 1);
}

static void odd_texts_do_no_harm(void **state)
{
	(void)state;
	static const char *const texts[] = { "",
					     "def",
					     "class",
					     "def f(",
					     "@",
					     "'''",
					     "x = '\n",
					     "async",
					     ("\xef\xbb\xbf"
					      "def f():\n"),
					     ")]}",
					     "\\",
					     "def f(): (\n",
					     "from",
					     "from . import (a,\n",
					     "import ",
					     "from ..... import a",
					     "\t\r\n\f" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		struct fz_outline o;
		struct fz_body b;
		struct fz_imports s = { 0 };
		fz_outline_init(&o, fz_str_of(texts[i]));
		fz_body_init(&b, &o, o.n - 1);
		fz_imports_add(&s, FZ_STR("a.py"), fz_str_of(texts[i]), 1);
		fz_imports_release(&s);
		fz_body_release(&b);
		fz_outline_release(&o);
	}
	/* Deeper than anything that is kept. */
	struct fz_buf deep = { 0 };
	for (int i = 0; i < 100; i++)
		fz_buf_printf(&deep, "%*sdef f():\n", i, "");
	struct fz_outline o;
	fz_outline_init(&o, fz_buf_view(&deep));
	assert_true(o.n > 60 && o.n < 100);
	fz_outline_release(&o);
	fz_buf_release(&deep);
}

static void imports_are_resolved(void **state)
{
	(void)state;
	static const char text[] = "import os.path as p, json\n"
				   "  from .html import (Renderer,\n    other)\n"
				   "from .. import up; x = 1\nfrom a.b.c import d as e, f\n"
				   "# import commented\nimportant = 1\n";
	static const char *const yes[] = { "os/path.py",
					   "lib/python3/json/__init__.py",
					   "pkg/sub/html.py",
					   "pkg/up.py",
					   "a/b/c.py",
					   "b/c.py",
					   "a/b/c/d.py",
					   "a/b/c/f.py",
					   "pkg/sub/html/other.py",
					   "site-packages/a/b/c/__init__.py" };
	static const char *const no[] = { "html.py", "sub/deep/html.py", "a/b/c/e.py",
					  "commented.py", "pkg/sub/up.py" };
	struct fz_imports s = { 0 };

	fz_imports_add(&s, FZ_STR("pkg/sub/a.py"), fz_str_of(text), 2);
	for (size_t i = 0; i < FZ_ARRAY_LEN(yes); i++)
		if (fz_imports_find(&s, fz_str_of(yes[i])) != 2)
			fail_msg("%s is not imported", yes[i]);
	for (size_t i = 0; i < FZ_ARRAY_LEN(no); i++)
		if (fz_imports_find(&s, fz_str_of(no[i])) != 0)
			fail_msg("%s is imported", no[i]);
	fz_imports_release(&s);
}

/* ---- links ---- */

/* A function with its first line, and enough words in it to be known by. */
#define BODY(name, a, b)                                                \
	"def " name "(x):\n    total = " a "(x) + 1\n    for y in x." b \
	":\n        total += y * 2\n    return total\n"

static void add_source(struct fz_profile *p, const char *file, const char *text)
{
	fz_profile_add_source(p, fz_profile_string(p, fz_str_of(file)), fz_str_of(text));
}

static struct fz_diff *compare(struct fz_profile *a, struct fz_profile *b)
{
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	struct fz_diff *d = NULL;
	struct fz_error err;

	if (fz_diff_new(a, b, &o, &d, &err))
		fail_msg("%s", err.message);
	return d;
}

static void bodies_identify_functions(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("m.py:old:1 2\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("m.py:fresh:1 2\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *c = hand_profile("m.py:fresh:1 2\n", 0);
	add_source(a, "m.py", BODY("old", "count", "parts"));
	add_source(b, "m.py", BODY("fresh", "count", "parts"));
	add_source(c, "m.py", "def fresh(x):\n    return sorted(str(y) for y in x)\n");
	a->functions[0].first_line = b->functions[0].first_line = c->functions[0].first_line = 1;
	fz_auto(fz_diff_freep) struct fz_diff *same = compare(a, b);
	fz_auto(fz_diff_freep) struct fz_diff *other = compare(a, c);

	assert_int_equal(function_named(same, "fresh")->link.how, FZ_LINK_BODY);
	assert_int_equal(same->link_count, 1);
	assert_int_equal(other->link_count, 0);
	assert_string_equal(fz_diff_word(function_named(other, "fresh")), "new");
	assert_string_equal(fz_diff_word(function_named(other, "old")), "gone");
}

static void code_that_did_not_run_is_not_a_match(void **state)
{
	(void)state;
	/* The head still has `old`, and the base had `fresh`: twins; each side ran one of them. */
	static const char both[] = BODY("old", "count", "parts") BODY("fresh", "count", "parts");
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("m.py:old:1 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("m.py:fresh:6 20\n", 0);
	a->functions[0].first_line = 1;
	b->functions[0].first_line = 6;
	fz_auto(fz_diff_freep) struct fz_diff *unknown = compare(a, b);
	add_source(a, "m.py", both);
	add_source(b, "m.py", both);
	fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);

	assert_int_equal(d->link_count, 0);
	assert_string_equal(fz_diff_word(function_named(d, "fresh")), "newly recorded");
	assert_string_equal(fz_diff_word(function_named(d, "old")), "no longer recorded");
	assert_string_equal(fz_diff_word(function_named(unknown, "fresh")),
			    "new or newly recorded");
}

static void unsampled_functions_compete(void **state)
{
	(void)state;
	/* The head's true heir of `old` was not sampled; `fresh` resembles it, but less. */
	static const char heirs[] =
		BODY("heir", "count", "parts") "def fresh(x):\n    total = count(x) + 1\n    for y "
					       "in x.parts:\n        print(y)\n";
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("m.py:old:1 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("m.py:fresh:6 20\n", 0);
	a->functions[0].first_line = 1;
	b->functions[0].first_line = 6;
	add_source(a, "m.py", BODY("old", "count", "parts"));
	add_source(b, "m.py", heirs);
	fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);

	assert_int_equal(d->link_count, 0);
}

static void a_file_that_is_still_imported_did_not_move(void **state)
{
	(void)state;
	/* Copies of one function in two files; each side ran one of them and imports both. */
	static const char main_text[] = "import one, two\n\ndef main():\n    pass\n";
	static const char copy[] = BODY("work", "count", "parts");
	static const char *const files[] = { "one.py", "two.py" };
	struct fz_profile *p[2];

	for (int imports = 0; imports < 2; imports++) {
		for (int s = 0; s < 2; s++) {
			fz_auto(fz_free_ptr) char *text =
				fz_asprintf("m.py:main:3;%s:work:1 20\n", files[s]);
			p[s] = hand_profile(text, 0);
			p[s]->functions[1].first_line = 1;
			add_source(p[s], "m.py", imports ? main_text : "def main():\n    pass\n");
			add_source(p[s], files[s], copy);
		}
		fz_auto(fz_diff_freep) struct fz_diff *d = compare(p[0], p[1]);
		assert_int_equal(d->link_count, imports ? 0 : 1);
		fz_diff_free(fz_steal(d));
		fz_profile_free(p[0]);
		fz_profile_free(p[1]);
	}
}

static void ambiguous_match_is_refused(void **state)
{
	(void)state;
	static const char twins[] = BODY("one", "count", "parts") BODY("two", "count", "parts");
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("m.py:old:1 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("m.py:one:1 20\nm.py:two:6 20\n", 0);
	a->functions[0].first_line = b->functions[0].first_line = 1;
	b->functions[1].first_line = 6;
	add_source(a, "m.py", BODY("old", "count", "parts"));
	add_source(b, "m.py", twins);
	fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);

	assert_int_equal(d->link_count, 0);
}

/* A class of two methods, and what else it contains. */
#define CLASS(name, start)                                                                        \
	"class " name ":\n"                                                                       \
	"    def __init__(self):\n        self.x = " start "\n"                                   \
	"    def work(self, x):\n        total = count(x) + 1\n        return go(total, x.parts " \
	"* 2)\n"

static uint32_t links_of_classes(const char *base, const char *head)
{
	fz_auto(fz_profile_freep) struct fz_profile *a =
		hand_profile("m.py:Box.__init__:2 20\nm.py:Box.work:4 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("m.py:BoxFast.__init__:2 20\nm.py:BoxFast.work:4 20\n", 0);
	struct fz_profile *p[] = { a, b };

	for (int s = 0; s < 2; s++) {
		p[s]->functions[0].first_line = 2;
		p[s]->functions[1].first_line = 4;
	}
	add_source(a, "m.py", base);
	add_source(b, "m.py", head);
	fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);
	return d->link_count;
}

static void members_follow_their_class(void **state)
{
	(void)state;
	static const char base_more[] = "    def a(self): return load(self)\n"
					"    def b(self): return save(self)\n"
					"    def c(self): return list(self)\n";
	static const char head_more[] = "    def p(self): print(self)\n"
					"    def q(self): raise Stop\n"
					"    def r(self): yield 1\n";
	fz_auto(fz_free_ptr) char *base = fz_asprintf("%s%s", CLASS("Box", "1"), base_more);
	fz_auto(fz_free_ptr) char *head =
		fz_asprintf("%s%s", CLASS("BoxFast", "dict(b='c')"), head_more);

	/* One method of two, and the names of the classes; then one of five. */
	assert_int_equal(links_of_classes(CLASS("Box", "1"), CLASS("BoxFast", "dict(b='c')")), 2);
	assert_int_equal(links_of_classes(base, head), 1);
}

/* Of one name in m.py: samples of the function that begins on a line. */
struct seen {
	int32_t line;
	uint32_t samples;
};

static struct fz_profile *profile_of(const char *name, const struct seen *seen, size_t n,
				     const char *text)
{
	struct fz_profile *p = hand_profile("m.py:main:90 20\n", 0);

	for (size_t i = 0; i < n && seen[i].line; i++) {
		struct fz_function f = { .name = fz_profile_string(p, fz_str_of(name)),
					 .file = fz_profile_string(p, FZ_STR("m.py")),
					 .first_line = seen[i].line,
					 .kind = FZ_KIND_PYTHON };
		struct fz_frame frame = { .function = fz_profile_function(p, &f),
					  .line = seen[i].line,
					  .end_line = FZ_NO_LINE,
					  .column = FZ_NO_LINE,
					  .end_column = FZ_NO_LINE,
					  .opcode = FZ_NO_OPCODE };
		struct fz_sample sample = { .stack = fz_profile_stack(p, 0,
								      fz_profile_frame(p, &frame)),
					    .count = seen[i].samples };
		fz_profile_add_sample(p, &sample, NULL);
	}
	if (text)
		add_source(p, "m.py", text);
	return p;
}

struct expected {
	uint32_t samples[2];
	const char *word; /* of what one side alone ran */
};

/* The functions of that name, and no others, with these samples on both sides. */
static void expect_functions(const struct fz_diff *d, const char *name, const struct expected *e,
			     size_t n)
{
	fz_auto(fz_free_ptr) int64_t *all = fz_calloc(d->function_count * 2, sizeof(*all));
	uint32_t count = 0;

	for (uint32_t i = 0; i < d->node_count; i++)
		for (int s = 0; s < 2; s++)
			all[d->nodes[i].function * 2 + s] += d->nodes[i].cost.self[s];
	for (uint32_t f = 0; f < d->function_count; f++) {
		bool found = false;
		if (!fz_str_eq(d->functions[f].name, fz_str_of(name)))
			continue;
		count++;
		for (size_t i = 0; i < n; i++)
			found |= all[f * 2] == e[i].samples[0] &&
				 all[f * 2 + 1] == e[i].samples[1] &&
				 (d->functions[f].state == FZ_COMMON ||
				  strcmp(fz_diff_word(&d->functions[f]), e[i].word) == 0);
		if (!found)
			fail_msg("%s of %ld and %ld samples: %s", name, (long)all[f * 2],
				 (long)all[f * 2 + 1], fz_diff_word(&d->functions[f]));
	}
	assert_int_equal(count, n);
}

#define LISTS(first, second)                                       \
	"def f(x):\n" first "    a = [one(y) for y in x]\n" second \
	"    c = [three(y) for y in b]\n    return c\n"

/* Neither order nor number identifies a comprehension: each side may have samples of others. */
static void comprehensions_match_by_line(void **state)
{
	(void)state;
	static const char name[] = "f.<locals>.<listcomp>";
	static const char base[] = LISTS("", "    b = [two(y) for y in a]\n");
	static const char moved[] = LISTS("    check(x)\n", "    b = [two(y) for y in a]\n");
	static const char edited[] = LISTS("    check(x)\n", "    b = [zwei(y) for y in a]\n");
	static const char dropped[] = LISTS("    check([y for y in x])\n", "    b = a\n");
	static const struct {
		struct seen base[3], head[3];
		const char *text;
		struct expected expected[3];
		size_t n;
	} cases[] = {
		{ { { 2, 20 }, { 4, 30 } },
		  { { 4, 50 }, { 5, 70 } },
		  moved,
		  { { { 20, 0 }, "no longer recorded" },
		    { { 0, 50 }, "newly recorded" },
		    { { 30, 70 }, NULL } },
		  3 },
		{ { { 2, 20 } },
		  { { 5, 25 } },
		  moved,
		  { { { 20, 0 }, "no longer recorded" }, { { 0, 25 }, "newly recorded" } },
		  2 },
		{ { { 2, 20 }, { 3, 30 } },
		  { { 3, 40 }, { 4, 70 } },
		  edited,
		  { { { 20, 40 }, NULL }, { { 30, 70 }, NULL } },
		  2 },
		{ { { 3, 30 } },
		  { { 2, 35 } },
		  dropped,
		  { { { 30, 0 }, "gone or no longer recorded" },
		    { { 0, 35 }, "new or newly recorded" } },
		  2 },
		/* Without texts all there is to go by is their order. */
		{ { { 2, 20 } }, { { 5, 25 } }, NULL, { { { 20, 25 }, NULL } }, 1 },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *a =
			profile_of(name, cases[i].base, 3, cases[i].text ? base : NULL);
		fz_auto(fz_profile_freep) struct fz_profile *b =
			profile_of(name, cases[i].head, 3, cases[i].text);
		fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);
		expect_functions(d, name, cases[i].expected, cases[i].n);
	}
}

/* A property and its setter have one name; each side may have seen the other one. */
static void definitions_of_one_name_match_in_order(void **state)
{
	(void)state;
	static const char text[] = "class C:\n    @property\n    def x(self):\n        return 1\n"
				   "    @x.setter\n    def x(self, v):\n        self.y = v\n";
	fz_auto(fz_free_ptr) char *later = fz_asprintf("import os\n%s", text);
	static const struct {
		struct seen base[2], head[2];
		struct expected expected[2];
		size_t n;
	} cases[] = {
		{ { { 2, 20 }, { 5, 30 } },
		  { { 6, 40 } },
		  { { { 20, 0 }, "no longer recorded" }, { { 30, 40 }, NULL } },
		  2 },
		{ { { 2, 20 } },
		  { { 6, 40 } },
		  { { { 20, 0 }, "no longer recorded" }, { { 0, 40 }, "newly recorded" } },
		  2 },
		{ { { 5, 20 } }, { { 6, 40 } }, { { { 20, 40 }, NULL } }, 1 },
		{ { { 2, 20 } }, { { 3, 40 } }, { { { 20, 40 }, NULL } }, 1 },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *a =
			profile_of("C.x", cases[i].base, 2, text);
		fz_auto(fz_profile_freep) struct fz_profile *b =
			profile_of("C.x", cases[i].head, 2, later);
		fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);
		expect_functions(d, "C.x", cases[i].expected, cases[i].n);
	}
}

#define STEPS                                                                            \
	"    a = alpha(x) + beta(x)\n    for y in a.parts:\n        a += gamma(y) * 3\n" \
	"    b = delta(a, 'none')\n"

static uint32_t splits_of(const char *base, const char *head)
{
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("m.py:whole:1 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("m.py:whole:1 20\nm.py:whole:1;m.py:part:9 20\n", 0);

	add_source(a, "m.py", base);
	add_source(b, "m.py", head);
	fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);
	for (uint32_t i = 0; i < d->split_count; i++) {
		assert_int_equal(d->splits[i].function, number_named(d, "part"));
		assert_int_equal(d->splits[i].from, number_named(d, "whole"));
	}
	assert_string_equal(fz_diff_word(function_named(d, "part")), "new");
	assert_int_equal(d->link_count, 0);
	return d->split_count;
}

/* Its code was in the other function, which now calls the new one instead. */
static void extracted_code_is_reported(void **state)
{
	(void)state;
	static const char whole[] = "def whole(x):\n    x = check(x)\n" STEPS "    return b\n";
	static const char part[] = "def part(x):\n" STEPS "    return b\n";
	fz_auto(fz_free_ptr) char *split =
		fz_asprintf("def whole(x):\n    x = check(x)\n    return part(x)\n%s", part);
	fz_auto(fz_free_ptr) char *copied = fz_asprintf("%s    part(x)\n%s", whole, part);
	fz_auto(fz_free_ptr) char *elsewhere =
		fz_asprintf("def whole(x):\n    x = check(x)\n    return other(x)\n%s", part);

	assert_int_equal(splits_of(whole, split), 1);
	assert_int_equal(splits_of(whole, copied), 0);
	assert_int_equal(splits_of(whole, elsewhere), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions_have_exact_ranges),
		cmocka_unit_test(reformatted_bodies_are_equal),
		cmocka_unit_test(odd_texts_do_no_harm),
		cmocka_unit_test(imports_are_resolved),
		cmocka_unit_test(bodies_identify_functions),
		cmocka_unit_test(code_that_did_not_run_is_not_a_match),
		cmocka_unit_test(unsampled_functions_compete),
		cmocka_unit_test(ambiguous_match_is_refused),
		cmocka_unit_test(members_follow_their_class),
		cmocka_unit_test(comprehensions_match_by_line),
		cmocka_unit_test(definitions_of_one_name_match_in_order),
		cmocka_unit_test(extracted_code_is_reported),
		cmocka_unit_test(a_file_that_is_still_imported_did_not_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
