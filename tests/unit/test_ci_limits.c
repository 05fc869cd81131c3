/* SPDX-License-Identifier: MIT */
/* Limits of services: GitHub accepts 65,536 characters in a comment, ten errors and ten warnings
 * per step. All texts here are as long as possible and full of characters that must be escaped. */
#include "format_help.h"

#include "bench/report.h"

enum { GITHUB_COMMENT = 65536, GITHUB_ANNOTATIONS = 10, BENCHES = 3000 };

static const struct fz_ci_metric_list instructions = { { "instructions" }, 1 };

static void fill(char *text, size_t size)
{
	memset(text, '@', size - 1);
	text[size - 1] = '\0';
}

/* Half of the benchmarks fail, half of them only disagree; all are accepted for a long reason. */
static void make_result(struct fz_ci_result *r, char *text)
{
	*r = FZ_CI_RESULT_INIT;
	r->metrics = instructions;
	r->labels[FZ_BASE] = r->labels[FZ_HEAD] = r->environment = text;
	for (int i = 0; i < 100; i++) {
		fz_ci_trouble(r, "%s", text);
		fz_ci_note(r, "%s", text);
	}
	for (int i = 0; i < BENCHES; i++) {
		char name[2100];
		int n = snprintf(name, sizeof(name), "%d%s", i, text);
		struct fz_str s = { name, (size_t)n };
		struct fz_ci_bench *b = fz_ci_bench_of(r, s, "instructions");
		b->on_side[FZ_BASE] = b->on_side[FZ_HEAD] = b->suspect = true;
		b->count[FZ_BASE] = 1e15;
		b->count[FZ_HEAD] = 1.5e15;
		b->change = b->floor = 0.5;
		b->fails = i % 2;
		b->verdict = i % 2 ? FZ_CI_SLOWER : FZ_CI_DISAGREE;
		b->accepted = text;
	}
}

static int count_of(const struct fz_buf *text, const char *what)
{
	int n = 0;

	for (const char *at = strstr(text->p, what); at; at = strstr(at + 1, what))
		n++;
	return n;
}

static void test_limits(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_ci_result r;
	char text[2000];

	(void)state;
	fill(text, sizeof(text));
	make_result(&r, text);
	fz_ci_markdown(&r, &out);
	assert_in_range(out.n, GITHUB_COMMENT / 3, GITHUB_COMMENT);
	assert_non_null(strstr(out.p, "more benchmarks; the JSON lists all."));
	assert_string_equal(out.p + out.n - strlen("</details>\n"), "</details>\n");
	fz_buf_reset(&out);
	fz_ci_annotations(&r, &out);
	assert_int_equal(count_of(&out, "::error "), GITHUB_ANNOTATIONS);
	assert_int_equal(count_of(&out, "::warning "), GITHUB_ANNOTATIONS);
	assert_non_null(strstr(out.p, "::error title=fizeau ci::and 1,496 more benchmarks; "));
	assert_non_null(strstr(out.p, "::warning title=fizeau ci::and 1,491 more benchmarks; "));
	fz_ci_release(&r);
}

static void test_few(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_ci_result r;
	char text[20];

	(void)state;
	fill(text, sizeof(text));
	make_result(&r, text);
	r.n = 20; /* ten of each, and no trouble */
	r.trouble_n = 0;
	fz_ci_annotations(&r, &out);
	assert_int_equal(count_of(&out, "::error "), GITHUB_ANNOTATIONS);
	assert_int_equal(count_of(&out, "::warning "), GITHUB_ANNOTATIONS);
	assert_null(strstr(out.p, "more benchmark"));
	fz_ci_release(&r);
}

/* Long names lose their middle, but not where they differ. */
static void test_twins(void **state)
{
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	char name[3][300];

	(void)state;
	r.metrics = instructions;
	for (int i = 0; i < 3; i++) {
		memset(name[i], 'a', sizeof(name[i]) - 1);
		name[i][sizeof(name[i]) - 1] = '\0';
		name[i][100] = (char)('b' + FZ_MIN(i, 1)); /* in the middle */
		name[i][10] = (char)('x' + i / 2);
		fz_ci_bench_of(&r, fz_str_of(name[i]), "instructions");
	}
	fz_ci_tally(&r);
	fz_ci_markdown(&r, &out);
	for (int i = 0; i < 3; i++)
		assert_null(strstr(out.p, name[i]));
	fz_ci_annotations(&r, &out);
	fz_ci_text(&r, &(struct fz_style){ 0 }, &out);
	fz_buf_char(&out, 0);
	assert_non_null(strstr(out.p, "aaaaaaaaaaxaaa…aaaaaaab"));
	assert_non_null(strstr(out.p, "aaaaaaaaaaxaaa…aaaaaaac"));
	assert_non_null(strstr(out.p, "aaaaaaaaaayaaa"));
	/* The only metric has no column. */
	assert_non_null(strstr(out.p, " (instructions).\n"));
}

/* No letter for the end of a line, and no interval that says how noisy the clock was. */
static void test_words(void **state)
{
	static const struct {
		struct fz_pairs wall;
		const char *said;
	} cases[] = {
		{ { 8, 0.10, 0.08, 0.13, true }, "wall time +10.0 % [+8.0 %, +13.0 %]" },
		{ { 8, 0.01, -0.03, 0.08, false },
		  "wall time +1.0 % [-3.0 %, +8.0 %], inconclusive" },
		{ { 8, 0.40, -0.10, 8.867, false }, "wall time inconclusive" },
		{ { 8, 0.40, 0.008, 8.867, true }, "wall time at least +0.8 %" },
		{ { 8, -0.5, -0.7, -0.4, true }, "wall time at least -40.0 %" },
	};
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_ci_bench b = { .wall = cases[i].wall };
		fz_buf_reset(&out);
		fz_ci_clock(&b, &out);
		assert_string_equal(out.p, cases[i].said);
	}
	fz_buf_reset(&out);
	r.metrics = instructions;
	r.environment = "architecture x\nsetup \ncommand a b\n";
	fz_ci_trouble(&r, "one\ntwo");
	fz_ci_markdown(&r, &out);
	assert_non_null(strstr(out.p, "- architecture x; command a b\n"));
	assert_non_null(strstr(out.p, "one two"));
	assert_null(strstr(out.p, "floor"));
}

/* Who counted nothing knows nothing. */
static void test_nothing(void **state)
{
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	(void)state;
	fz_ci_tally(&r);
	assert_int_equal(fz_ci_exit(&r), 2);
	fz_ci_headline(&r, &out);
	assert_string_equal(out.p, "Performance could not be judged: no benchmarks were counted");
	fz_buf_reset(&out);
	fz_ci_why(&r, &out);
	assert_string_equal(out.p, "no benchmarks were counted");
	fz_buf_reset(&out);
	fz_ci_badge(&r, &out);
	assert_non_null(strstr(out.p, "performance: unknown"));
}

/* Only where something was timed. */
static void test_clock(void **state)
{
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	(void)state;
	r.metrics = instructions;
	struct fz_ci_bench *b = fz_ci_bench_of(&r, FZ_STR("test"), "instructions");
	b->verdict = FZ_CI_NEW;
	fz_ci_markdown(&r, &out);
	assert_non_null(strstr(out.p, "\n| bench&shy;mark | change | base → head | where |\n"
				      "|:--|--:|--:|:--|\n"));
	assert_non_null(strstr(out.p, "<summary>Limits and call paths<"));
	assert_null(strstr(out.p, "Wall time:"));
	b->wall.n = 9;
	fz_buf_reset(&out);
	fz_ci_markdown(&r, &out);
	assert_non_null(strstr(out.p, "<summary>Limits, wall time and call paths<"));
	assert_non_null(strstr(out.p, "; wall time "));
	assert_non_null(strstr(out.p, "Wall time:"));
}

static struct fz_ci_bench *add_judged(struct fz_ci_result *r, const char *name, double change,
				      enum fz_ci_verdict verdict)
{
	struct fz_ci_bench *b = fz_ci_bench_of(r, fz_str_of(name), r->metrics.list[0]);

	b->on_side[FZ_BASE] = b->on_side[FZ_HEAD] = true;
	b->count[FZ_BASE] = 1000;
	b->count[FZ_HEAD] = 1000 * (1 + change);
	b->change = change;
	b->limit = 0.02;
	b->verdict = verdict;
	b->fails = verdict == FZ_CI_SLOWER;
	return b;
}

static void expect_heading(struct fz_ci_result *r, const char *heading)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	fz_ci_tally(r);
	fz_ci_markdown(r, &out);
	const char *at = strstr(out.p, "### ");
	assert_memory_equal(at + 4, heading, strlen(heading));
	assert_int_equal(at[4 + strlen(heading)], '\n');
}

/* Names without their file differ at their beginning, which is what a phone shows. */
static void test_names_without_file(void **state)
{
	static const char *const names[] = { "t/a.py::test_x", "t/a.py::test_y[a::b]",
					     "t/b.py::test_x", "sort::big" };
	static const char *const shown[] = {
		"| 🔴 <code>t/a.py::<wbr>test_x</code> |",
		"| 🔴 <code>test_<wbr>y&#91;a::b&#93;</code><br><sub><code>t/a.py</code></sub> |",
		"| 🔴 <code>t/b.py::<wbr>test_x</code> |",
		"| 🔴 <code>sort::big</code> |",
	};
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf comment = { 0 };

	(void)state;
	r.metrics = instructions;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		add_judged(&r, names[i], 0.5, FZ_CI_SLOWER);
	fz_ci_tally(&r);
	fz_ci_markdown(&r, &comment);
	fz_buf_char(&comment, 0);
	for (size_t i = 0; i < FZ_ARRAY_LEN(shown); i++)
		if (!strstr(comment.p, shown[i]))
			fail_msg("no %s in %s", shown[i], comment.p);
}

/* The comment begins with what merging does to the benchmark that it changes most. */
static void test_sentence(void **state)
{
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;

	(void)state;
	r.metrics = instructions;
	add_judged(&r, "a.py::test_same", 0, FZ_CI_SAME);
	expect_heading(&r, "Merging this changes none of 1 benchmark");
	add_judged(&r, "a.py::test_fast", -0.3, FZ_CI_FASTER);
	expect_heading(&r, "Merging this makes <code>test_fast</code> 30.0&nbsp;% faster");
	struct fz_ci_bench *b = add_judged(&r, "a.py::test_x", 0.213, FZ_CI_SLOWER);
	b->place = (struct fz_ci_place){ .context = "parse_body > parse_issue_fixed",
					 .file = "shop/a b.py",
					 .line = 7 };
	expect_heading(&r, "Merging this makes <code>test_x</code> 21.3&nbsp;% slower, in "
			   "<code>parse_issue_fixed</code>; 1 faster");
	add_judged(&r, "b.py::test_x", 0.1, FZ_CI_SLOWER);
	expect_heading(&r, "Merging this makes <code>a.py::test_x</code> 21.3&nbsp;% slower, in "
			   "<code>parse_issue_fixed</code>; 1 other slower, 1 faster");
	r.benches[0].change = 2.14;
	expect_heading(&r, "Merging this makes <code>a.py::test_x</code> slower (x 3.14), in "
			   "<code>parse_issue_fixed</code>; 1 other slower, 1 faster");
	fz_ci_trouble(&r, "one");
	expect_heading(&r, "Performance could not be judged: 2 slower, 1 faster, 1 same");
}

/* The place of a change is its own function, and a link if the forge of the head is known. */
static void test_where(void **state)
{
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	(void)state;
	r.metrics = instructions;
	struct fz_ci_bench *b = add_judged(&r, "test_x", 0.5, FZ_CI_SLOWER);
	b->place =
		(struct fz_ci_place){ .context = "operator> > f", .file = "a b/c.py", .line = 7 };
	fz_ci_tally(&r);
	fz_ci_markdown(&r, &out);
	assert_non_null(strstr(
		out.p,
		"| <sub><code>f</code></sub><br><sub><code>a b/c.<wbr>py&#58;7</code></sub> |\n"));
	fz_buf_reset(&out);
	r.files = "https://github.com/me/shop/blob/1a2b/";
	fz_ci_markdown(&r, &out);
	assert_non_null(strstr(out.p,
			       "<br><sub>[<code>a b/c.<wbr>py&#58;7</code>]"
			       "(https://github.com/me/shop/blob/1a2b/a%20b/c.py#L7)</sub> |\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_names_without_file),
		cmocka_unit_test(test_sentence),
		cmocka_unit_test(test_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
