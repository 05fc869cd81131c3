/* SPDX-License-Identifier: MIT */
/* The line of a function that a change of its source is attributed to. */
#include "format_help.h"

#include "bench/changed_line.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
