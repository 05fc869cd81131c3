/* SPDX-License-Identifier: MIT */
/* Matching the lines of two texts, and the report of lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "compare/lines.h"
#include "hand_profile.h"
#include "report/lines.h"

/* "1=1 2- -2 3=3": numbers of lines from 1, in order. */
static void expect_pairs(const char *base, const char *head, const char *want)
{
	struct fz_line_list text[FZ_SIDES];
	fz_auto(fz_buf_release) struct fz_buf got = { 0 };
	uint32_t n;

	fz_lines_init(&text[FZ_BASE], fz_str_of(base));
	fz_lines_init(&text[FZ_HEAD], fz_str_of(head));
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(text, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = pairs[i].on_side[FZ_BASE], h = pairs[i].on_side[FZ_HEAD];
		if (b == FZ_NONE)
			fz_buf_printf(&got, " -%u", h + 1);
		else if (h == FZ_NONE)
			fz_buf_printf(&got, " %u-", b + 1);
		else
			fz_buf_printf(&got, " %u=%u", b + 1, h + 1);
	}
	assert_string_equal(got.n ? got.p : "", want);
	fz_lines_release(&text[FZ_BASE]);
	fz_lines_release(&text[FZ_HEAD]);
}

static void pairs(void **state)
{
	(void)state;
	expect_pairs("", "", "");
	expect_pairs("a\nb\n", "a\r\n  b", " 1=1 2=2");
	expect_pairs("a\nb\nc\n", "a\nx\nc\n", " 1=1 2- -2 3=3");
	expect_pairs("a\nb\nc\nd\n", "a\nx\nb\nc\ny\n", " 1=1 -2 2=3 3=4 4- -5");
	expect_pairs("", "a\nb\n", " -1 -2");
	expect_pairs("a\nb\nc\n", "x\ny\n", " 1- 2- 3- -1 -2");
	expect_pairs("a\nb\nc\nb\nd\na\nb\n", "b\nd\nc\na\nb\na\n",
		     " 1- 2=1 3- 4- 5=2 -3 6=4 7=5 -6");
}

/* Two long texts that differ at both ends, and much in between. */
static void long_texts(void **state)
{
	(void)state;
	fz_auto(fz_buf_release) struct fz_buf base = { 0 }, head = { 0 };
	struct fz_line_list text[FZ_SIDES];
	uint32_t n, common = 0, at[FZ_SIDES] = { 0 };

	for (int i = 0; i < 5000; i++) {
		fz_buf_printf(&base, i % 10 ? "line %d\n" : i % 20 ? "old %d\n" : "\n", i);
		fz_buf_printf(&head, i % 10 ? "line %d\n" : i % 20 ? "new %d\n" : "\n", i);
		if (i % 500 == 7)
			fz_buf_str(&head, "more\n");
	}
	fz_buf_str(&base, "old end\n");
	fz_buf_str(&head, "new end\n");
	fz_lines_init(&text[FZ_BASE], fz_str_of(base.p));
	fz_lines_init(&text[FZ_HEAD], fz_str_of(head.p + strlen("\n")));
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(text, &n);
	for (uint32_t i = 0; i < n; i++) {
		common += pairs[i].on_side[FZ_BASE] != FZ_NONE &&
			  pairs[i].on_side[FZ_HEAD] != FZ_NONE;
		for (int s = 0; s < FZ_SIDES; s++)
			if (pairs[i].on_side[s] != FZ_NONE)
				assert_int_equal(pairs[i].on_side[s], at[s]++);
	}
	assert_int_equal(at[FZ_BASE], text[FZ_BASE].n);
	assert_int_equal(at[FZ_HEAD], text[FZ_HEAD].n);
	/* all but the old lines, the first line and the end */
	assert_int_equal(common, 5000 - 250 - 1);
	fz_lines_release(&text[FZ_BASE]);
	fz_lines_release(&text[FZ_HEAD]);
}

/* Nothing is unique, so nothing is found. */
static void long_repetitive_texts(void **state)
{
	(void)state;
	fz_auto(fz_buf_release) struct fz_buf base = { 0 }, head = { 0 };
	struct fz_line_list text[FZ_SIDES];
	uint32_t n;

	for (int i = 0; i < 1500; i++) {
		fz_buf_str(&base, i % 2 ? "a\n" : "b\n");
		fz_buf_str(&head, i % 2 ? "c\n" : "d\n");
	}
	fz_lines_init(&text[FZ_BASE], fz_str_of(base.p));
	fz_lines_init(&text[FZ_HEAD], fz_str_of(head.p));
	free(fz_lines_align(text, &n));
	assert_int_equal(n, 3000);
	fz_lines_release(&text[FZ_BASE]);
	fz_lines_release(&text[FZ_HEAD]);
}

static void expect_report(struct fz_output *out, const char *from, const char *want)
{
	const char *p = strstr(fz_output_buffer(out)->p, from);

	assert_non_null(p);
	assert_string_equal(p, want);
}

static struct fz_profile *make(const char *samples, const char *source)
{
	struct fz_profile *p = hand_profile(samples, 1000000);

	if (source)
		fz_profile_add_source(p, fz_profile_string(p, FZ_STR("/r/app.py")),
				      fz_str_of(source));
	return p;
}

static void one_profile(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p =
		make("/r/app.py:main:1;/r/app.py:f:3 3\n/r/app.py:main:9 1\n~:<GC>:0 1\n",
		     "main()\ndef f():\n\treturn \"1\"\n");
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_error err;

	assert_int_equal(fz_report_lines_profile(p, FZ_NONE, out, &err), 0);
	/* Line 9 costs, and the text that was kept does not have it. */
	expect_report(
		out, "  \"files\"",
		"  \"files\": [\n"
		"    {\n"
		"      \"name\": \"app.py\",\n"
		"      \"file\": \"/r/app.py\",\n"
		"      \"self\": 4000000,\n"
		"      \"total\": 4000000,\n"
		"      \"lines\": [\n"
		"        {\"line\": 1, \"self\": 0, \"total\": 3000000, \"text\": \"main()\"},\n"
		"        {\"line\": 3, \"self\": 3000000, \"total\": 3000000, \"text\": "
		"\"\\u0009return \\\"1\\\"\"},\n"
		"        {\"line\": 9, \"self\": 1000000, \"total\": 1000000}\n"
		"      ]\n"
		"    }\n"
		"  ]\n"
		"}\n");
}

static void compare(struct fz_profile *base, struct fz_profile *head, struct fz_output *out)
{
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_error err;
	struct fz_diff_options options = { .scale = FZ_SCALE_TIME };

	assert_int_equal(fz_diff_new(base, head, &options, &d, &err), 0);
	struct fz_judgement *j = fz_judge(d, &FZ_JUDGE_DEFAULTS);
	fz_report_lines_diff(d, j, out);
	fz_judgement_free(j);
}

/* An edited line and what came in its place have one difference; each new line has its own. */
static void two_texts(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *base =
		make("/r/app.py:f:1 5\n/r/app.py:f:2 400\n", "a\nold\nz\n");
	fz_auto(fz_profile_freep) struct fz_profile *head =
		make("/r/app.py:f:1 5\n/r/app.py:f:2 30\n/r/app.py:f:3 40\n/r/app.py:f:5 "
		     "7\n/r/app.py:f:6 8\n",
		     "a\nnew\nnewer\nz\nend\nmore\n");
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

	compare(base, head, out);
	expect_report(
		out, "      \"aligned\"",
		"      \"aligned\": true,\n"
		"      \"places\": [\n"
		"        {\"line\": 1, \"lines\": 1, \"base_line\": 1, \"base_lines\": 1, "
		"\"base_self\": 5000000, \"head_self\": 5000000, \"diff_self\": 0, "
		"\"verdict\": \"changed\", \"function\": 0, \"text\": [\"a\"]},\n"
		"        {\"line\": 2, \"lines\": 2, \"base_line\": 2, \"base_lines\": 1, "
		"\"base_self\": 400000000, \"head_self\": 70000000, \"diff_self\": -330000000, "
		"\"verdict\": \"changed\", \"function\": 0, \"text\": [\"new\", \"newer\"]},\n"
		"        {\"line\": 5, \"lines\": 1, \"base_line\": 4, \"base_lines\": 0, "
		"\"base_self\": 0, \"head_self\": 7000000, \"diff_self\": 7000000, "
		"\"verdict\": \"changed\", \"function\": 0, \"text\": [\"end\"]},\n"
		"        {\"line\": 6, \"lines\": 1, \"base_line\": 4, \"base_lines\": 0, "
		"\"base_self\": 0, \"head_self\": 8000000, \"diff_self\": 8000000, "
		"\"verdict\": \"changed\", \"function\": 0, \"text\": [\"more\"]}\n"
		"      ]\n"
		"    }\n"
		"  ]\n"
		"}\n");
}

/* Without texts, lines cannot be matched. */
static void no_text(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *base = make("/r/app.py:f:2 400\n", NULL);
	fz_auto(fz_profile_freep) struct fz_profile *head = make("/r/app.py:f:2 30\n", "a\nb\n");
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

	compare(base, head, out);
	expect_report(out, "      \"aligned\"",
		      "      \"aligned\": false\n"
		      "    }\n"
		      "  ]\n"
		      "}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(long_repetitive_texts),
		cmocka_unit_test(one_profile),
		cmocka_unit_test(two_texts),
		cmocka_unit_test(no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
