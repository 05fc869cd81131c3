/* SPDX-License-Identifier: MIT */
/* Functions that changed files: modules that became packages, moved code, files of a tree without
 * any sample. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hand_profile.h"
#include "named.h"

static struct fz_profile *with_sources(const char *text, const char *const *sources)
{
	struct fz_profile *p = hand_profile(text, 0);

	for (; *sources; sources += 2)
		fz_profile_add_source(p, fz_profile_string(p, fz_str_of(sources[0])),
				      fz_str_of(sources[1]));
	for (uint32_t i = 0; i < p->frame_count; i++)
		p->functions[p->frames[i].function].first_line = p->frames[i].line;
	return p;
}

/* The trees are folders with the sources of each side, or NULL. */
static struct fz_diff *compare_in(struct fz_profile *a, struct fz_profile *b, const char *base,
				  const char *head)
{
	const struct fz_diff_options o = { .scale = FZ_SCALE_TIME, .trees = { base, head } };
	struct fz_diff *d = NULL;
	struct fz_error err;

	if (fz_diff_new(a, b, &o, &d, &err))
		fail_msg("%s", err.message);
	return d;
}

static struct fz_diff *compare(struct fz_profile *a, struct fz_profile *b)
{
	return compare_in(a, b, NULL, NULL);
}

/* In one direction, or back. */
static struct fz_diff *compare_way(struct fz_profile *a, struct fz_profile *b, bool back)
{
	return back ? compare(b, a) : compare(a, b);
}

static void expect_word(const struct fz_diff *d, const char *name, const char *word)
{
	assert_string_equal(fz_diff_word(function_named(d, name)), word);
}

#define LOAD                                                                               \
	"def load(path):\n    with open(path) as f:\n        rows = f.read().split(';')\n" \
	"    return [row.strip() for row in rows if row]\n"
#define SAVE                                                                                \
	"def save(path, rows):\n    with open(path, 'w') as f:\n        for row in rows:\n" \
	"            f.write(str(row) + ';')\n"
#define FRESH                                                                                  \
	"def fresh(x):\n    y = {}\n    for key in sorted(x):\n        y[key] = len(x[key])\n" \
	"    return dict(y)\n"
static const char app[] = "import m\n\ndef main():\n    m.load(1)\n";

/* m.py became m/core.py, m/out.py and more that was not seen. */
static void a_module_that_became_a_package_is_found(void **state)
{
	(void)state;
	static const char *const module[] = { "app.py", app, "m.py", LOAD SAVE, NULL };
	static const char *const package[] = { "app.py",   app,  "m/core.py", LOAD FRESH,
					       "m/out.py", SAVE, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a = with_sources(
		"app.py:main:3;m.py:load:1 20\napp.py:main:3;m.py:save:5 20\n", module);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("app.py:main:3;m/core.py:load:1 20\napp.py:main:3;m/out.py:save:1 20\n"
			     "app.py:main:3;m/core.py:fresh:5 20\n",
			     package);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		assert_int_equal(function_named(d, "load")->link.how, FZ_LINK_MOVED);
		assert_int_equal(function_named(d, "save")->link.how, FZ_LINK_MOVED);
		assert_int_equal(d->link_count, 2);
		/* All of m.py is known; of the package only what was seen. */
		expect_word(d, "fresh", back ? "gone" : "new");
	}
}

/* A package whose __init__.py only imports now, which is too little time for a sample. */
static void code_that_left_init_is_found(void **state)
{
	(void)state;
	static const char *const old[] = {
		"app.py", app, "m/__init__.py", LOAD SAVE, "m/x/__init__.py", SAVE, NULL
	};
	static const char *const new[] = { "app.py", app, "m/core.py", FRESH LOAD, NULL };
	static const char *const plug_in[] = { "app.py", app, "m/y/__init__.py", LOAD SAVE, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("app.py:main:3;m/__init__.py:load:1 20\n"
			     "app.py:main:3;m/x/__init__.py:save:1 20\n",
			     old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("app.py:main:3;m/core.py:load:6 20\n", new);
	fz_auto(fz_profile_freep) struct fz_profile *c =
		with_sources("app.py:main:3;m/y/__init__.py:load:1 20\n", plug_in);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		fz_auto(fz_diff_freep) struct fz_diff *other = compare_way(a, c, back);
		assert_int_equal(function_named(d, "load")->link.how, FZ_LINK_MOVED);
		assert_int_equal(d->link_count, 1);
		assert_int_equal(other->link_count, 0);
	}
}

/* Both sides import another package's core.py. */
static void an_import_of_another_package_is_no_evidence(void **state)
{
	(void)state;
#define SITE "/v/lib/python3.11/site-packages/"
#define OTHER "import x.core\n\ndef other():\n    pass\n"
	static const char *const old[] = { SITE "o/y.py", OTHER, SITE "m/main.py", LOAD, NULL };
	static const char *const new[] = { SITE "o/y.py", OTHER, SITE "m/core.py", LOAD, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources(SITE "o/y.py:other:3 20\n" SITE "m/main.py:load:1 20\n", old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources(SITE "o/y.py:other:3 20\n" SITE "m/core.py:load:1 20\n", new);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		assert_int_equal(d->link_count, 1);
		assert_int_equal(function_named(d, "load")->link.how, FZ_LINK_MOVED);
	}
#undef OTHER
#undef SITE
}

/* The base also ran another package's copy of m. */
static void a_copy_in_another_package_does_not_match(void **state)
{
	(void)state;
#define SITE "/v/lib/python3.11/site-packages/"
	static const char *const old[] = { SITE "m.py", SAVE, SITE "o/_vendor/m/core.py", LOAD,
					   NULL };
	static const char *const new[] = { SITE "m/core.py", SAVE LOAD, NULL };
	static const char *const none[] = { SITE "o/_vendor/m/core.py", LOAD, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources(SITE "m.py:save:1 20\n" SITE "o/_vendor/m/core.py:load:1 20\n", old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources(SITE "m/core.py:save:1 20\n" SITE "m/core.py:load:5 20\n", new);
	fz_auto(fz_profile_freep) struct fz_profile *c =
		with_sources(SITE "o/_vendor/m/core.py:load:1 20\n", none);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		fz_auto(fz_diff_freep) struct fz_diff *moved = compare_way(c, b, back);
		assert_int_equal(d->link_count, 1);
		assert_int_equal(function_named(d, "save")->link.how, FZ_LINK_MOVED);
		assert_int_equal(function_named(moved, "load")->link.how, FZ_LINK_MOVED);
	}
}

/* site-packages/__init__.py is in no package. */
static void a_file_beside_packages_is_in_none(void **state)
{
	(void)state;
	static const char *const old[] = { SITE "__init__.py", SAVE, SITE "m.py", LOAD, NULL };
	static const char *const new[] = { SITE "__init__.py", "", SITE "m.py", LOAD SAVE, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources(SITE "__init__.py:save:1 20\n" SITE "m.py:load:1 20\n", old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources(SITE "m.py:save:5 20\n" SITE "m.py:load:1 20\n", new);
	fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, false);

	assert_int_equal(function_named(d, "save")->link.how, FZ_LINK_MOVED);
}
#undef SITE

/* The only lambda of a function was edited and moved past another line; of several it may be any.
 */
static void the_only_lambda_of_a_function_is_found(void **state)
{
	(void)state;
	static const char *const old[] = {
		"m.py",
		"def f(a):\n    t = lambda x: x + a\n    a += 1\n    return run(t)\n"
		"def g(a):\n    t = lambda x: x + a\n    a += 1\n    return run(t, lambda: a)\n"
		"def h(a):\n    t = lambda x: x + a\n    a += 1\n    return run(t)\n",
		NULL,
	};
	static const char *const new[] = {
		"m.py",
		"def f(a):\n    a += 1\n    return run(lambda x: x + a)\n"
		"def g(a):\n    a += 1\n    return run(lambda x: x + a, lambda: a)\n"
		"def h(a):\n    a += 1\n    def k():\n        return run(lambda x: x + a)\n"
		"    return k()\n",
		NULL,
	};
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("m.py:f:1;m.py:f.<locals>.<lambda>:2 20\n"
			     "m.py:g:5;m.py:g.<locals>.<lambda>:6 20\n"
			     "m.py:h:9;m.py:h.<locals>.<lambda>:10 20\n",
			     old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("m.py:f:1;m.py:f.<locals>.<lambda>:3 20\n"
			     "m.py:g:4;m.py:g.<locals>.<lambda>:6 20\n"
			     "m.py:h:7;m.py:h.<locals>.k:9;"
			     "m.py:h.<locals>.k.<locals>.<lambda>:10 20\n",
			     new);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		assert_int_equal(function_named(d, "f.<locals>.<lambda>")->state, FZ_COMMON);
		assert_int_not_equal(function_named(d, "g.<locals>.<lambda>")->state, FZ_COMMON);
		assert_int_not_equal(function_named(d, "h.<locals>.<lambda>")->state, FZ_COMMON);
	}
}

/* Two versions of a module in two folders, and one script that imports it: the import of one
 * version is no evidence that the other version exists, too. */
static void a_module_in_another_folder_is_found(void **state)
{
	(void)state;
	static const char *const old[] = { "/x/w/app.py", app, "/x/old/m.py", LOAD SAVE, NULL };
	static const char *const new[] = { "/x/w/app.py", app, "/x/new/m.py", FRESH LOAD SAVE,
					   NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("/x/w/app.py:main:3;/x/old/m.py:load:1 20\n"
			     "/x/w/app.py:main:3;/x/old/m.py:save:5 20\n",
			     old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("/x/w/app.py:main:3;/x/new/m.py:load:6 20\n"
			     "/x/w/app.py:main:3;/x/new/m.py:save:10 20\n",
			     new);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		assert_int_equal(function_named(d, "load")->link.how, FZ_LINK_MOVED);
		assert_int_equal(function_named(d, "save")->link.how, FZ_LINK_MOVED);
		assert_int_equal(d->link_count, 2);
	}
}

/* Without sources, and with other bodies: names suffice, except names that occur twice. */
static void a_package_has_the_names_of_its_module(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a =
		hand_profile("app.py:main:1 3\nm.py:P.go:1 3\nm.py:P.end:8 3\nm.py:twin:11 "
			     "3\nm.py:<module>:1 3\n",
			     0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(
		"app.py:main:1 3\nm/core.py:P.go:1 3\nm/b/ends.py:P.end:8 3\nm/core.py:twin:11 3\n"
		"m/other.py:twin:2 3\nm/core.py:<module>:1 3\n",
		0);
	fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);
	fz_auto(fz_diff_freep) struct fz_diff *back = compare(b, a);

	assert_int_equal(function_named(d, "P.go")->link.how, FZ_LINK_MOVED);
	assert_int_equal(function_named(d, "P.end")->link.how, FZ_LINK_MOVED);
	assert_int_equal(d->link_count, 2);
	assert_int_equal(back->link_count, 2);
}

/* The standard library's files are named lib/python3/..., which is no folder of a program. */
static void a_module_named_lib_is_not_the_standard_library(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a =
		hand_profile("app.py:main:1 3\nlib.py:P.go:1 3\nlib.py:P.end:8 3\n"
			     "/usr/lib/python3.11/site.py:main:1 3\n",
			     0);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("app.py:main:1 3\nlib/core.py:P.go:1 3\nlib/b/ends.py:P.end:8 3\n"
			     "/usr/lib/python3.11/site.py:main:1 3\n",
			     0);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		assert_int_equal(function_named(d, "P.go")->link.how, FZ_LINK_MOVED);
		assert_int_equal(function_named(d, "P.end")->link.how, FZ_LINK_MOVED);
		assert_int_equal(d->link_count, 2);
	}
}

/* A function that the other side has in another file, and did not run. */
static void a_function_that_moved_is_not_new(void **state)
{
	(void)state;
	static const char *const base[] = { "app.py", "import a, b\n\ndef main():\n    pass\n",
					    "a.py",   LOAD SAVE,
					    "b.py",   "x = 1\n" FRESH,
					    NULL };
	static const char *const head[] = { "app.py", "import a, b\n\ndef main():\n    pass\n",
					    "a.py",   SAVE,
					    "b.py",   LOAD FRESH,
					    NULL };
	static const char *const rewritten[] = {
		"app.py", "import a, b\n\ndef main():\n    pass\n",         "a.py", SAVE,
		"b.py",   "def load(path):\n    return mmap(path)\n" FRESH, NULL
	};
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("app.py:main:3;a.py:save:5 20\napp.py:main:3;b.py:fresh:2 20\n", base);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("app.py:main:3;a.py:save:1 20\napp.py:main:3;b.py:load:1 20\n"
			     "app.py:main:3;b.py:fresh:5 20\n",
			     head);
	fz_auto(fz_profile_freep) struct fz_profile *c =
		with_sources("app.py:main:3;a.py:save:1 20\napp.py:main:3;b.py:load:1 20\n"
			     "app.py:main:3;b.py:fresh:3 20\n",
			     rewritten);
	fz_auto(fz_diff_freep) struct fz_diff *moved = compare(a, b);
	fz_auto(fz_diff_freep) struct fz_diff *other = compare(a, c);

	expect_word(moved, "load", "newly recorded");
	expect_word(other, "load", "new or newly recorded");
}

/* Renamed, moved and with a new parameter: the text of a module with one function competes with
 * that function for its own text, but no function became a module. */
static void a_function_alone_in_its_file_is_found(void **state)
{
	(void)state;
#define BODY(stop)                                                                         \
	"    count = {}\n    for word in text.split(';'):\n        if word in " stop ":\n" \
	"            continue\n        count[word] = count.get(word, 0) + len(word)\n"     \
	"    return sorted(count, key=count.get)\n"
	static const char *const old[] = { "app.py", app, "m.py",
					   FRESH "def weigh(text):\n" BODY("('a', 'the')"), NULL };
	static const char *const new[] = { "app.py", app,
					   "m.py",   FRESH,
					   "t.py",   "def rank_words(text, stop):\n" BODY("stop"),
					   NULL };
#undef BODY
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("app.py:main:3;m.py:weigh:6 20\napp.py:main:3;m.py:fresh:1 20\n", old);
	fz_auto(fz_profile_freep) struct fz_profile *b = with_sources(
		"app.py:main:3;t.py:rank_words:1 20\napp.py:main:3;m.py:fresh:1 20\n", new);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		const struct fz_diff_function *f = function_named(d, back ? "weigh" : "rank_words");
		assert_string_equal(fz_link_names[f->link.how], "body");
		assert_int_equal(d->link_count, 1);
	}
}

/* `load` became `load_rows` and the name went to other code, which did not run: git calls it a
 * complete rewrite (diff -B). If the code under the name is still similar, it keeps its function.
 */
static void reused_name_is_not_a_match(void **state)
{
	(void)state;
#define MAIN "def main():\n    load(1)\n    load_rows(1)\n"
#define ROWS                                                                                    \
	"def load_rows(path):\n    with open(path) as f:\n        rows = f.read().split(';')\n" \
	"    return [row.strip() for row in rows if row]\n"
#define OTHER \
	"def load(x):\n    y = {}\n    for key in sorted(x):\n        y[key] = 1\n    return y\n"
#define EDITED                                                                             \
	"def load(path):\n    with open(path) as f:\n        rows = f.read().split(',')\n" \
	"    return [row.strip() for row in rows if row]\n"
	static const char *const old[] = { "m.py", LOAD MAIN, NULL };
	static const char *const given[] = { "m.py", OTHER ROWS MAIN, NULL };
	static const char *const kept[] = { "m.py", EDITED ROWS MAIN, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("m.py:main:5;m.py:load:1;~:read 20\n", old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("m.py:main:10;m.py:load_rows:6;~:read 20\n", given);
	fz_auto(fz_profile_freep) struct fz_profile *c =
		with_sources("m.py:main:9;m.py:load_rows:5;~:read 20\n", kept);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		fz_auto(fz_diff_freep) struct fz_diff *e = compare_way(a, c, back);
		const char *now = back ? "load" : "load_rows";
		assert_int_equal(function_named(d, now)->state, FZ_COMMON);
		assert_int_equal(function_named(d, now)->link.how, FZ_LINK_BODY);
		assert_int_equal(d->link_count, 1);
		assert_int_equal(e->link_count, 0);
		expect_word(e, "load", back ? "newly recorded" : "no longer recorded");
	}
}

/* read_short and read_long are calls of read_value now, which is therefore neither of them,
 * although one was not sampled. It took over read_long if there is no other. */
static void shared_code_is_not_a_match(void **state)
{
	(void)state;
#define READ(name, of, code, size)                                       \
	"def " name "(s" of "):\n    pos = s.pos\n    end = pos + " size \
	"\n    value = unpack(" code ", s.data[pos:end])\n    s.pos = end\n    return value\n"
#define SHORT READ("read_short", "", "'h'", "2")
#define LONG READ("read_long", "", "'l'", "4")
#define VALUE READ("read_value", ", code, size", "code", "size")
#define BY_VALUE(name) "def " name "(s):\n    return s.read_value('l', 4)\n"
	static const char *const old[] = { "m.py", SHORT LONG, NULL };
	static const char *const new[] = { "m.py",
					   VALUE BY_VALUE("read_short") BY_VALUE("read_long"),
					   NULL };
	static const char *const old_long[] = { "m.py", LONG, NULL };
	static const char *const new_long[] = { "m.py", VALUE BY_VALUE("read_long"), NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("m.py:read_short:1 20\nm.py:read_long:7 20\n", old);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("m.py:read_short:7;m.py:read_value:1 20\n", new);
	fz_auto(fz_profile_freep) struct fz_profile *c =
		with_sources("m.py:read_long:1 20\n", old_long);
	fz_auto(fz_profile_freep) struct fz_profile *e =
		with_sources("m.py:read_value:1 20\n", new_long);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		fz_auto(fz_diff_freep) struct fz_diff *only = compare_way(c, e, back);
		assert_int_equal(d->link_count, 0);
		expect_word(d, "read_long", back ? "newly recorded" : "no longer recorded");
		expect_word(d, "read_value", back ? "gone" : "new");
		assert_int_equal(only->link_count, 1);
	}
}

/* A wrapper may take the name and the line of what it wraps, as decorators that copy signatures do.
 */
static void a_wrapper_is_not_what_it_wraps(void **state)
{
	(void)state;
	static const char *const base[] = { "app.py", "import m\n", "m.py", LOAD SAVE, NULL };
	static const char *const head[] = { "app.py", "import m\n", "m.py", "import n\n" SAVE,
					    "n.py",   LOAD,         NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("app.py:f:1;m.py:accept.<locals>.load:1;m.py:load:1 "
			     "20\napp.py:f:1;m.py:save:5 20\n",
			     base);
	fz_auto(fz_profile_freep) struct fz_profile *b = with_sources(
		"app.py:f:1;n.py:accept.<locals>.load:1 20\napp.py:f:1;m.py:save:2 20\n", head);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		assert_int_equal(d->link_count, 1);
		assert_int_equal(function_named(d, "accept.<locals>.load")->state, FZ_COMMON);
		expect_word(d, "load", back ? "newly recorded" : "no longer recorded");
	}
}

/* The names of classes are names, although every class has an __init__. */
static void a_constructor_moves_with_its_class(void **state)
{
	(void)state;
#define CLASS(name, number)                                \
	"class " name ":\n    def __init__(self, font):\n" \
	"        Base.__init__(self, font, " number ")\n        self.rows = 0\n"
#define KEEP "def keep(x):\n    return x\n"
#define MORE "def one(x):\n    return x + 1\n\ndef two(x):\n    return 2 * x\n"
	static const char *const base[] = { "m.py",
					    CLASS("Single", "1") CLASS("Pair", "2") FRESH SAVE,
					    "n.py", KEEP, NULL };
	static const char *const head[] = { "m.py", "import n\n", "n.py",
					    KEEP MORE CLASS("Pair", "2") CLASS("Single", "1"),
					    NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a = with_sources(
		"m.py:Single.__init__:2 20\nm.py:fresh:9 20\nm.py:save:14 20\nn.py:keep:1 20\n",
		base);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("n.py:keep:1;n.py:Single.__init__:13 20\nn.py:one:3 20\nn.py:two:6 "
			     "20\nm.py:<module>:1 20\n",
			     head);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		assert_int_equal(d->link_count, 1);
		assert_int_equal(function_named(d, "Single.__init__")->link.how, FZ_LINK_MOVED);
	}
}

/* Two plug-ins of a kind, imported by their names in a list: code that nobody called says nothing
 * about the files, which may be on both sides. */
static void a_plugin_does_not_match_another(void **state)
{
	(void)state;
#define PLUG_IN(data)                                                                              \
	"class P:\n    data = " data "\n    def vat(self):\n        text = self.pick(self.data)\n" \
	"        return self.fill(text, 1)\n"
#define GERMAN PLUG_IN("'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n'")
#define FRENCH PLUG_IN("10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25")
	static const char *const base[] = { "app.py", app, "p/de.py", GERMAN, NULL };
	static const char *const head[] = { "app.py", app, "p/fr.py", FRENCH, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("app.py:main:3 20\napp.py:main:3;p/de.py:<module>:1 20\n", base);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("app.py:main:3 20\napp.py:main:3;p/fr.py:<module>:1 20\n", head);
	static const char *const copy[] = { "app.py", app, "p/fr.py", GERMAN, NULL };
	fz_auto(fz_profile_freep) struct fz_profile *f =
		with_sources("app.py:main:3 20\napp.py:main:3;p/fr.py:<module>:1 20\n", copy);
	fz_auto(fz_profile_freep) struct fz_profile *c = with_sources(
		"app.py:main:3;p/de.py:P.vat:3 20\napp.py:main:3;p/de.py:<module>:1 20\n", base);
	fz_auto(fz_profile_freep) struct fz_profile *e = with_sources(
		"app.py:main:3;p/fr.py:P.vat:3 20\napp.py:main:3;p/fr.py:<module>:1 20\n", head);

	for (int back = 0; back < 2; back++) {
		fz_auto(fz_diff_freep) struct fz_diff *d = compare_way(a, b, back);
		fz_auto(fz_diff_freep) struct fz_diff *called = compare_way(c, e, back);
		fz_auto(fz_diff_freep) struct fz_diff *equal = compare_way(a, f, back);
		assert_int_equal(d->link_count, 0);
		assert_int_equal(equal->link_count, 0);
		assert_int_equal(called->link_count, 2);
	}
}

/* What the base ran under that name, in other code than Python's, was there. */
static void a_function_that_was_compiled_is_not_new(void **state)
{
	(void)state;
	static const char *const base[] = { "app.py", "import a\n", NULL };
	static const char *const head[] = { "app.py", "import a\nimport b\n", "b.py",
					    "class M:\n    def new(self):\n        pass\n", NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a =
		with_sources("app.py:main:1;a.so:M.new:2 20\n", base);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		with_sources("app.py:main:1;b.py:M.new:2 20\n", head);
	a->functions[1].kind = FZ_KIND_NATIVE;
	fz_auto(fz_diff_freep) struct fz_diff *d = compare(a, b);

	assert_int_equal(function_named(d, "M.new")->presence, FZ_PRESENCE_UNKNOWN);
}

static void write_text(const char *folder, const char *name, const char *text)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Files that one side ran are read in the tree of the other. */
static void trees_show_what_is_new(void **state)
{
	(void)state;
	char base[] = "/tmp/fizeau-base-XXXXXX", head[] = "/tmp/fizeau-head-XXXXXX";
	assert_non_null(mkdtemp(base));
	assert_non_null(mkdtemp(head));
	write_text(base, "a.py", SAVE);
	write_text(head, "a.py", SAVE);
	write_text(base, "b.py", LOAD);
	write_text(head, "b.py", LOAD FRESH);
	write_text(head, "c.py", "def other():\n    pass\n");
	fz_auto(fz_free_ptr) char *base_text = fz_asprintf("%s/a.py:save:1 20\n", base);
	fz_auto(fz_free_ptr) char *head_text = fz_asprintf(
		"%s/a.py:save:1 20\n%s/b.py:load:1 9\n%s/b.py:fresh:5 9\n%s/c.py:other:1 9\n", head,
		head, head, head);
	fz_auto(fz_free_ptr) char *a_py = fz_asprintf("%s/a.py", base);
	fz_auto(fz_free_ptr) char *a_head = fz_asprintf("%s/a.py", head);
	fz_auto(fz_free_ptr) char *b_head = fz_asprintf("%s/b.py", head);
	fz_auto(fz_free_ptr) char *c_head = fz_asprintf("%s/c.py", head);
	static const char *const none[] = { NULL };
	const char *const of_base[] = { a_py, SAVE, NULL };
	const char *const of_head[] = { a_head,     SAVE,   b_head,
					LOAD FRESH, c_head, "def other():\n    pass\n",
					NULL };
	fz_auto(fz_profile_freep) struct fz_profile *a = with_sources(base_text, of_base);
	fz_auto(fz_profile_freep) struct fz_profile *b = with_sources(head_text, of_head);
	/* Counts have no sources at all. */
	fz_auto(fz_profile_freep) struct fz_profile *counted_a = with_sources(base_text, none);
	fz_auto(fz_profile_freep) struct fz_profile *counted_b = with_sources(head_text, none);
	fz_auto(fz_diff_freep) struct fz_diff *counted =
		compare_in(counted_a, counted_b, base, head);
	fz_auto(fz_diff_freep) struct fz_diff *without = compare(a, b);
	fz_auto(fz_diff_freep) struct fz_diff *with = compare_in(a, b, base, head);

	/* Nothing is read for files that take no part in matching. */
	fz_auto(fz_profile_freep) struct fz_profile *nameless = with_sources("save 20\n", none);
	fz_auto(fz_diff_freep) struct fz_diff *weak = compare_in(nameless, counted_b, base, head);

	assert_int_equal(function_named(weak, "save")->state, FZ_COMMON);
	expect_word(without, "load", "new or newly recorded");
	expect_word(with, "load", "newly recorded");
	expect_word(with, "fresh", "new");
	expect_word(with, "other", "new");
	expect_word(counted, "load", "newly recorded");
	expect_word(counted, "fresh", "new");
	expect_word(counted, "other", "new");
	for (int i = 0; i < 6; i++) {
		fz_auto(fz_free_ptr) char *path =
			fz_asprintf("%s/%c.py", i % 2 ? base : head, "abc"[i / 2]);
		unlink(path);
	}
	assert_int_equal(rmdir(base), 0);
	assert_int_equal(rmdir(head), 0);
}

/* A function of the standard library that one side was not seen to run wraps nothing. */
static void code_on_both_sides_is_not_a_wrapper(void **state)
{
	(void)state;
	static const char lib[] = "/usr/lib/python3.12/json/decoder.py";
	fz_auto(fz_free_ptr) char *text =
		fz_asprintf("a.py:main:1;%s:decode:3;a.py:f:9 20\na.py:main:1;a.py:f:9 20\n", lib);
	fz_auto(fz_profile_freep) struct fz_profile *a =
		hand_profile("a.py:main:1;a.py:g:20;a.py:f:9 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("a.py:main:1;a.py:f:9 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *c = hand_profile(text, 0);
	memcpy(a->recording.python, (uint8_t[]){ 3, 12, 1 }, 3);
	memcpy(b->recording.python, (uint8_t[]){ 3, 12, 1 }, 3);
	memcpy(c->recording.python, (uint8_t[]){ 3, 12, 1 }, 3);
	fz_auto(fz_diff_freep) struct fz_diff *wraps = compare(a, b);
	fz_auto(fz_diff_freep) struct fz_diff *none = compare(c, b);

	expect_word(none, "decode", "no longer recorded");
	for (uint32_t i = 0; i < none->node_count; i++)
		assert_false(none->nodes[i].wraps);
	bool any = false;
	for (uint32_t i = 0; i < wraps->node_count; i++)
		any |= wraps->nodes[i].wraps;
	assert_true(any);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_that_became_a_package_is_found),
		cmocka_unit_test(code_that_left_init_is_found),
		cmocka_unit_test(an_import_of_another_package_is_no_evidence),
		cmocka_unit_test(a_copy_in_another_package_does_not_match),
		cmocka_unit_test(a_file_beside_packages_is_in_none),
		cmocka_unit_test(the_only_lambda_of_a_function_is_found),
		cmocka_unit_test(a_module_in_another_folder_is_found),
		cmocka_unit_test(a_package_has_the_names_of_its_module),
		cmocka_unit_test(a_module_named_lib_is_not_the_standard_library),
		cmocka_unit_test(a_function_that_moved_is_not_new),
		cmocka_unit_test(a_function_alone_in_its_file_is_found),
		cmocka_unit_test(reused_name_is_not_a_match),
		cmocka_unit_test(shared_code_is_not_a_match),
		cmocka_unit_test(a_wrapper_is_not_what_it_wraps),
		cmocka_unit_test(a_constructor_moves_with_its_class),
		cmocka_unit_test(a_plugin_does_not_match_another),
		cmocka_unit_test(a_function_that_was_compiled_is_not_new),
		cmocka_unit_test(trees_show_what_is_new),
		cmocka_unit_test(code_on_both_sides_is_not_a_wrapper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
