/* SPDX-License-Identifier: MIT */
/* Texts beside a change: its interval, never rounded so that it seems to contain other values; and
 * the names of the measured quantity. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/judge.h"
#include "hand_profile.h"
#include "named.h"
#include "profile/heap_fact.h"
#include "report/findings.h"
#include "report/text.h"

static void check(enum fz_verdict verdict, double change, double low, double high,
		  const char *wanted)
{
	struct fz_judged judged = { .verdict = verdict, .low = low, .high = high };
	struct fz_finding finding = { .judged = &judged, .change = change };
	char text[FZ_INTERVAL_SIZE];

	fz_finding_interval(&finding, "ns", &(struct fz_style){ 0 }, text);
	assert_string_equal(text, wanted);
}

static void test_interval(void **state)
{
	(void)state;
	check(FZ_VERDICT_CHANGED, 50e6, 30e6, 80e6, "\u00b130.0 ms");
	check(FZ_VERDICT_CHANGED, 2000e6, 646e6, 5781e6, "\u2265+646 ms");
	check(FZ_VERDICT_CHANGED, -1000e6, -3000e6, -100e6, "\u2264-100 ms");
	check(FZ_VERDICT_UNKNOWN, 2000e6, 646e6, 5781e6, "\u00b13.78 s");
	check(FZ_VERDICT_UNKNOWN, -5e6, -20e6, 10e6, "\u00b115.0 ms");
	check(FZ_VERDICT_CHANGED, 50e6, NAN, NAN, "");
}

static void check_words(const char *metric, const char *unit, const char *verdict,
			const char *summary, const char *unsure)
{
	fz_auto(fz_profile_freep) struct fz_profile *base = fz_profile_new(),
						    *head = fz_profile_new();
	struct fz_diff d = { .metric = metric, .unit = unit, .profile = { base, head } };
	struct fz_judgement j = {
		.delta = 0.002,
		.method = FZ_JUDGE_COUNTS,
		.run = { .word = FZ_RUN_FASTER, .change = -0.5, .low = -0.51, .high = -0.49 }
	};
	static const struct fz_diff_function both,
		new[] = { { .state = FZ_NEW, .presence = FZ_PRESENCE_NO },
			  { .state = FZ_NEW, .presence = FZ_PRESENCE_YES } },
		gone = { .state = FZ_REMOVED, .presence = FZ_PRESENCE_NO };
	struct fz_finding rows[] = { { &both, .change = 5 },  { &both, .change = -3 },
				     { &both, .change = 4 },  { &new[0], .change = 2 },
				     { &gone, .change = -1 }, { &new[1], .change = 1 } };
	struct fz_findings f = { .rows = rows, .n = 6, .count = { [FZ_VERDICT_CHANGED] = 6 } };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	fz_findings_verdict(&d, &j, &(struct fz_style){ .ascii = true }, &out);
	assert_string_equal(out.p, verdict);
	fz_buf_reset(&out);
	fz_findings_summary(&f, &d, &j, &(struct fz_style){ .ascii = true }, &out);
	assert_string_equal(out.p, summary);
	fz_buf_reset(&out);
	j.run.word = FZ_RUN_UNKNOWN;
	fz_findings_verdict(&d, &j, &(struct fz_style){ .ascii = true }, &out);
	assert_string_equal(out.p, unsure);
	fz_buf_reset(&out);
	d.scale = FZ_SCALE_SHARE;
	j.method = FZ_JUDGE_APPROXIMATE;
	fz_findings_verdict(&d, &j, &(struct fz_style){ .ascii = true }, &out);
	assert_string_equal(out.p, "No overall verdict, because only shares are compared");
}

static void test_words(void **state)
{
	(void)state;
	check_words("cpu", "ns", "Faster by 50.0 % [-51.0 %, -49.0 %]",
		    "1 faster, 2 slower, 2 new or newly recorded, 1 gone, 0 same within +-0.2 % of "
		    "the run, 0 unsure",
		    "Unsure whether slower or faster");
	check_words("instructions", "count", "Faster by 50.0 % [-51.0 %, -49.0 %]",
		    "1 faster, 2 slower, 2 new or newly recorded, 1 gone, 0 same within +-0.2 % of "
		    "the run, 0 unsure",
		    "Unsure whether slower or faster");
	check_words(
		"peak", "bytes", "Smaller by 50.0 % [-51.0 %, -49.0 %]",
		"1 smaller, 2 larger, 2 new or newly recorded, 1 gone, 0 same within +-0.2 % of "
		"the run, 0 unsure",
		"Unsure whether larger or smaller");
	check_words(
		"allocations", "count", "Fewer by 50.0 % [-51.0 %, -49.0 %]",
		"1 with fewer, 2 with more, 2 new or newly recorded, 1 gone, 0 same within +-0.2 "
		"% of the run, 0 unsure",
		"Unsure whether more or fewer");
}

/* What is in a heap is not called and has no code: it is new or gone. */
static void rows_of_a_heap_are_no_functions(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("app.old 3\napp.same 1\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("app.new 5\napp.same 1\n", 0);
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	struct fz_text_options table = { .style = { .ascii = true, .columns = 80 },
					 .limit = 10,
					 .detail = FZ_TEXT_TABLE };
	struct fz_judged judged[3] = { 0 };
	struct fz_judgement j = { .self = judged, .total = judged, .run.visible_share = 1 };

	fz_profile_set_fact(a, "clock", FZ_STR(FZ_HEAP_CLOCK));
	fz_profile_set_fact(b, "clock", FZ_STR(FZ_HEAP_CLOCK));
	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	assert_int_equal(d->function_count, 3);
	fz_report_text_diff(d, &j, &table, out);
	fz_output_add(out, "", 1);
	const char *text = fz_output_buffer(out)->p;
	assert_non_null(strstr(text, "type or holder\n"));
	assert_non_null(strstr(text, "\nNew: 1 type or holder, self 5\n"));
	assert_non_null(strstr(text, "\nGone: 1 type or holder, self 3\n"));
	assert_null(strstr(text, "function"));
	assert_null(strstr(text, "recorded"));
}

static void the_reason_why_not_is_true(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_diff d = { .profile = { p, p }, .samples = { 1, 1 } };
	struct fz_judgement j = { 0 };

	(void)state;
	assert_string_equal(fz_findings_why_not(&d, &j), "no test exists for this metric");
	j.empty_run = true;
	assert_string_equal(fz_findings_why_not(&d, &j), "a run has no samples");
	d.samples[FZ_HEAD] = 0;
	assert_string_equal(fz_findings_why_not(&d, &j), "a side has no samples");
}

#define LOAD "def load(s, k):\n    for i in range(900): s ^= i + k\n    return s\n"

/* The short text after load of m.py, which the head still imports but did not run, became load of
 * n.py. The caller frees. */
static char *text_after_move(const char *head, double reach)
{
	fz_auto(fz_profile_freep) struct fz_profile *a =
		hand_profile("app.py:main:2;m.py:load:1 100\napp.py:main:2 50\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(head, 1000);
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	struct fz_text_options brief = { .style = { .ascii = true, .columns = 300 },
					 .brief_limit = 8 };
	struct fz_judged self[4] = { 0 };
	struct fz_judgement j = { .self = self, .total = self };

	fz_profile_add_source(a, fz_profile_string(a, FZ_STR("app.py")),
			      FZ_STR("from m import load, save\ndef main():\n    load(1, 2)\n"));
	fz_profile_add_source(a, fz_profile_string(a, FZ_STR("m.py")), FZ_STR(LOAD));
	fz_profile_add_source(
		b, fz_profile_string(b, FZ_STR("app.py")),
		FZ_STR("from m import save\nfrom n import load\ndef main():\n    load(1, 2)\n"));
	fz_profile_add_source(b, fz_profile_string(b, FZ_STR("n.py")), FZ_STR(LOAD));
	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	assert_true(d->function_count <= FZ_ARRAY_LEN(self));
	for (uint32_t i = 0; i < d->function_count; i++) {
		const int64_t *cost = d->functions[i].cost.self;
		double change = (double)(cost[FZ_HEAD] - cost[FZ_BASE]);
		self[i] = (struct fz_judged){ .verdict = d->functions[i].state == FZ_COMMON
								 ? FZ_VERDICT_UNKNOWN
								 : FZ_VERDICT_CHANGED,
					      .low = change - reach,
					      .high = change + reach };
	}
	fz_report_text_diff(d, &j, &brief, out);
	fz_output_add(out, "", 1);
	return fz_buf_take(fz_output_buffer(out));
}

/* A move that the code does not prove is a hint, and never "newly recorded". */
static void a_function_may_have_moved(void **state)
{
	static const char hint[] =
		"\nPerhaps moved: load, from m.py to n.py (to compare it as one function: --map "
		"m.py:load=n.py:load).\n";
	static const struct {
		const char *head;
		double reach; /* of the intervals of both */
		bool hint;
	} cases[] = {
		{ "app.py:main:3;n.py:load:1 105\napp.py:main:3 50\n", 9000, true },
		{ "app.py:main:3;n.py:load:1 120\napp.py:main:3 50\n", 9000, false },
		{ "app.py:main:3;n.py:load:1 150\napp.py:main:3 50\n", 90000, false },
		{ "app.py:main:3;n.py:load:1 105\napp.py:main:3;o.py:load:1 50\n", 9000, false },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_free_ptr) char *text = text_after_move(cases[i].head, cases[i].reach);
		assert_int_equal(!!strstr(text, hint), cases[i].hint);
		assert_int_equal(!!strstr(text, "Perhaps"), cases[i].hint);
		assert_null(strstr(text, "1 newly recorded"));
	}
}

#define BOOT "/usr/lib/python3.12/importlib/_bootstrap.py"
#define IMPORT(module) BOOT ":_find_and_load:1;" module ":<module>:1"

/* Findings by total of functions that certainly changed where their costs did. */
static void find(const char *base, const char *head, struct fz_findings *ret)
{
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile(base, 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(head, 0);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	struct fz_judged self[16] = { 0 }, total[16] = { 0 };
	struct fz_judgement j = { .self = self, .total = total };

	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	assert_true(d->function_count <= FZ_ARRAY_LEN(self));
	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_cost *c = &d->functions[i].cost;
		self[i].verdict =
			c->self[0] == c->self[1] ? FZ_VERDICT_UNCHANGED : FZ_VERDICT_CHANGED;
		total[i].verdict =
			c->total[0] == c->total[1] ? FZ_VERDICT_UNCHANGED : FZ_VERDICT_CHANGED;
	}
	fz_findings_init(ret, d, &j, true);
}

/* json is imported by a first, then by b: a is not faster and b not slower. */
static void moved_imports_are_not_findings(void **state)
{
	(void)state;
	static const char base[] =
		"app.py:main:1 50\n"
		"app.py:main:1;" IMPORT("a.py") " 10\n"
						"app.py:main:1;" IMPORT("a.py") ";" IMPORT(
							"j.py") " 300\n"
								"app.py:main:1;" IMPORT(
									"b.py") " 10\n";
	static const char moved[] =
		"app.py:main:1 50\n"
		"app.py:main:1;" IMPORT("a.py") " 10\n"
						"app.py:main:1;" IMPORT("b.py") ";" IMPORT(
							"j.py") " 304\n"
								"app.py:main:1;" IMPORT(
									"b.py") " 10\n";
	static const char more[] =
		"app.py:main:1 50\n"
		"app.py:main:1;" IMPORT(
			"a.py") " 10\n"
				"app.py:main:1;" IMPORT("a.py") ";" IMPORT(
					"j.py") " 300\n"
						"app.py:main:1;" IMPORT(
							"b.py") " 10\n"
								"app.py:main:1;" IMPORT("b.py") ";" IMPORT(
									"k.py") " 300\n";
	struct fz_findings f;

	find(base, moved, &f);
	assert_int_equal(f.imports, 3); /* a, b and the machinery */
	assert_true(f.imports_net == 4);
	assert_int_equal(f.count[FZ_VERDICT_CHANGED], 2); /* j and main */
	fz_findings_release(&f);
	find(base, more, &f);
	assert_int_equal(f.imports, 0);
	fz_findings_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_interval),
					    cmocka_unit_test(test_words),
					    cmocka_unit_test(rows_of_a_heap_are_no_functions),
					    cmocka_unit_test(the_reason_why_not_is_true),
					    cmocka_unit_test(a_function_may_have_moved),
					    cmocka_unit_test(moved_imports_are_not_findings) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
