/* SPDX-License-Identifier: MIT */
/* The line that a change of a function's cost is attributed to. */
#include "format_help.h"

#include "bench/changed_line.h"
#include "bench/ci.h"
#include "profile/benchmarks.h"

static const char before[] = "import os\n"
			     "\n"
			     "# of issues\n"
			     "def issue(text):\n"
			     "    a = [1]\n"
			     "    a.sort()\n"
			     "\n"
			     "    return a\n"
			     "def prepare(text):\n"
			     "    return 1\n";

static const struct {
	const char *what, *text; /* NULL: not recorded */
	int32_t line;
} cases[] = {
	{ "nothing changed", before, 0 },
	{ "no text", NULL, 0 },
	{ "a line replaced, below a new comment",
	  "import os\n\n# of issues\ndef issue(text):\n    a = [1]\n    # twice\n"
	  "    a.sort(1)\n\n    return a\ndef prepare(text):\n    return 1\n",
	  7 },
	{ "a line removed",
	  "import os\n\n# of issues\ndef issue(text):\n    a = [1]\n\n    return a\n"
	  "def prepare(text):\n    return 1\n",
	  7 },
	{ "a line added at the end",
	  "import os\n\n# of issues\ndef issue(text):\n    a = [1]\n    a.sort()\n\n    return a\n"
	  "    print()\ndef prepare(text):\n    return 1\n",
	  9 },
	{ "its neighbours changed, and only comments of its own",
	  "import re\n\n# of us\ndef issue(text):\n    # so\n    a = [1]\n    a.sort()\n\n"
	  "    return a\ndef prepare(text):\n    return 2\n",
	  0 },
	{ "the last line removed",
	  "import os\n\n# of issues\ndef issue(text):\n    a = [1]\n    a.sort()\n\n"
	  "def prepare(text):\n    return 1\n",
	  6 },
	{ "its \"def\" changed as well",
	  "import os\n\n# of issues\ndef issue(text, n=2):\n    a = [1]\n    a.sort(n)\n\n"
	  "    return a\ndef prepare(text):\n    return 1\n",
	  6 },
	{ "only its \"def\" changed",
	  "import os\n\n# of issues\ndef issue(text, n=2):\n    a = [1]\n    a.sort()\n\n"
	  "    return a\ndef prepare(text):\n    return 1\n",
	  4 },
	{ "it moved below another, and a line changed",
	  "import os\n\ndef prepare(text):\n    return 1\n# of issues\ndef issue(text):\n"
	  "    a = [1]\n    a.sort(1)\n\n    return a\n",
	  8 },
	{ "it moved below another",
	  "import os\n\ndef prepare(text):\n    return 1\n# of issues\ndef issue(text):\n"
	  "    a = [1]\n    a.sort()\n\n    return a\n",
	  0 },
	{ "a line removed above it",
	  "# of issues\ndef issue(text):\n    a = [1]\n    a.sort()\n\n"
	  "    return a\ndef prepare(text):\n    return 1\n",
	  0 },
};

static struct fz_profile *profile_of(const char *text, int line)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_function f = { .name = fz_profile_string(p, FZ_STR("issue")),
				 .file = fz_profile_string(p, FZ_STR("parse.py")),
				 .first_line = line,
				 .kind = FZ_KIND_PYTHON };
	struct fz_frame frame = fz_frame_at(fz_profile_function(p, &f), FZ_NO_LINE);
	struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, fz_profile_frame(p, &frame)) };

	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	fz_profile_add_sample(p, &s, (int64_t[]){ 100 });
	if (text)
		fz_profile_add_source(p, f.file, fz_str_of(text));
	return p;
}

static int32_t line_of(const char *text)
{
	const char *def = text ? strstr(text, "def issue") : NULL;
	int32_t line = 1;

	for (const char *c = text; def && c < def; c++)
		line += *c == '\n';
	return def ? line : 4;
}

static void test_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		const char *text = cases[i].text;
		fz_auto(fz_profile_freep) struct fz_profile *p = profile_of(before, 4);
		fz_auto(fz_profile_freep) struct fz_profile *q = profile_of(text, line_of(text));
		fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
		struct fz_error err;

		if (fz_diff_new(p, q, &(struct fz_diff_options){ 0 }, &d, &err))
			fail_msg("%s", err.message);
		assert_int_equal(d->function_count, 1);
		int32_t line = fz_changed_line(d, &d->functions[0]);
		if (line != cases[i].line)
			fail_msg("%s: line %d", cases[i].what, line);
	}
}

/* ---- which line of a path an annotation is on ---- */

#define CLEAN "def clean(t):\n    return t.lower()\n"
#define UNIQUE "def unique(w):\n    for x in w:\n        yield x\n"
#define COUNT "def count(t):\n    t = clean(t)\n    return len(t)\n"
#define CALLS "def count(t):\n    t = clean(t.strip())\n    return len(unique(t))\n"
#define OTHER "def count(t):\n    t = clean(t)\n    return handlers[t](t)\n"
#define DEEPER "def more(t):\n    # unique\n    return unique(t)\n"
#define CALLS_MORE "def count(t):\n    t = clean(t)\n    return len(more(t))\n"
#define PARSER "class Parser:\n    def __init__(self):\n        self.n = 1\n"
#define MAKES "def count(t):\n    t = clean(t)\n    return Parser(t)\n"

static const struct {
	const char *what, *text[FZ_SIDES], *stack[FZ_SIDES];
	int32_t line;
} paths[] = {
	{ "a new function: the call that was added",
	  { CLEAN COUNT, CLEAN UNIQUE CALLS },
	  { "count", "count unique" },
	  8 },
	{ "a new function that no changed line names",
	  { CLEAN COUNT, CLEAN UNIQUE OTHER },
	  { "count", "count unique" },
	  3 },
	{ "new functions that call each other: the innermost call",
	  { CLEAN COUNT, CLEAN UNIQUE DEEPER CALLS_MORE },
	  { "count", "count more unique" },
	  8 },
	{ "a new class",
	  { CLEAN COUNT, CLEAN PARSER MAKES },
	  { "count", "count Parser.__init__" },
	  8 },
	{ "a function that was there and is called now",
	  { CLEAN UNIQUE COUNT, CLEAN UNIQUE CALLS },
	  { "count", "count unique" },
	  8 },
	{ "a changed function",
	  { CLEAN COUNT, "def clean(t):\n    return t.upper()\n" COUNT },
	  { "count clean", "count clean" },
	  2 },
	{ "an unchanged function whose call changed",
	  { CLEAN COUNT, CLEAN CALLS },
	  { "count clean", "count clean" },
	  4 },
	{ "a function that moved, and whose call changed",
	  { CLEAN COUNT, CALLS CLEAN },
	  { "count clean", "count clean" },
	  2 },
	{ "nothing changed: the function",
	  { CLEAN COUNT, CLEAN COUNT },
	  { "count clean", "count clean" },
	  1 },
};

static uint32_t push_function(struct fz_profile *p, uint32_t stack, const char *text,
			      struct fz_str name)
{
	const char *dot = memrchr(name.p, '.', name.n);
	size_t tail = dot ? (size_t)(dot - name.p) + 1 : 0;
	fz_auto(fz_free_ptr) char *def =
		fz_asprintf("def %.*s(", (int)(name.n - tail), name.p + tail);
	const char *at = strstr(text, def);
	struct fz_function f = { .name = fz_profile_string(p, name),
				 .file = fz_profile_string(p, FZ_STR("p.py")),
				 .first_line = 1,
				 .kind = FZ_KIND_PYTHON };

	assert_non_null(at);
	for (const char *c = text; c < at; c++)
		f.first_line += *c == '\n';
	struct fz_frame frame = fz_frame_at(fz_profile_function(p, &f), FZ_NO_LINE);
	return fz_profile_stack(p, stack, fz_profile_frame(p, &frame));
}

static struct fz_profile *profile_of_path(const char *text, const char *path, int64_t count)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_str rest = fz_str_of(path);

	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	struct fz_sample s = { .stack = fz_benchmark_root(p, FZ_STR("test_it")) };
	while (rest.n)
		s.stack = push_function(p, s.stack, text, fz_str_take_word(&rest));
	fz_profile_add_sample(p, &s, &count);
	fz_profile_add_source(p, fz_profile_string(p, FZ_STR("p.py")), fz_str_of(text));
	return p;
}

static void test_place(void **state)
{
	const char *const roots[FZ_SIDES] = { "/nonexistent", "/nonexistent" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(paths); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p =
			profile_of_path(paths[i].text[0], paths[i].stack[0], 1000);
		fz_auto(fz_profile_freep) struct fz_profile *q =
			profile_of_path(paths[i].text[1], paths[i].stack[1], 3000);
		fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
		fz_auto(fz_comparison_freep) struct fz_comparison *found = NULL;
		struct fz_error err;

		r.metrics = (struct fz_ci_metric_list){ { "instructions" }, 1 };
		struct fz_ci_bench *b = fz_ci_bench_of(&r, FZ_STR("test_it"), "instructions");
		b->suspect = true;
		if (fz_ci_diff(&r, p, q, "instructions", &found, &err))
			fail_msg("%s", err.message);
		fz_ci_locate(&r, found->diff, "instructions", roots);
		assert_string_equal(b->place.file, "p.py");
		if (b->place.line != paths[i].line)
			fail_msg("%s: line %d", paths[i].what, b->place.line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
