/* SPDX-License-Identifier: MIT */
/* The gate's rules: fizeau.ini, limits and floors, the verdict of each benchmark, the exit status,
 * and where a change lies. */
#include "format_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/environment.h"
#include "bench/report.h"
#include "profile/benchmarks.h"

/* ---- fizeau.ini ---- */

static void parse(struct fz_ci_config *c, const char *text)
{
	struct fz_error err;

	fz_ci_config_init(c);
	if (fz_ci_config_parse(c, text, "fizeau.ini", &err))
		fail_msg("%s", err.message);
}

static void test_config(void **state)
{
	fz_auto(fz_ci_config_release) struct fz_ci_config c;
	const char *expired = NULL;

	(void)state;
	parse(&c, "; the gate of this project\n"
		  "[ci] ; all of it\nmetric = bytes\nthreshold = 3 %\nwall = no\npairs = 12\n"
		  "wall-seconds = 1.5\ntimeout = 20\nstrict = yes\nmissing = fail\n"
		  "[benchmark test_*]\nthreshold = +5%\nwall = yes\n"
		  "[benchmark test_slow]\nthreshold = 0.5\nignore = waits for a server\n"
		  "until = 2026-05-01\n"
		  "[benchmark always]\nignore = for good\n"
		  "[accept test_a]\nchange = 20 %\nreason = is clearer\ncommit = 1a2b\n");
	assert_int_equal(c.metrics.n, 1);
	assert_string_equal(c.metrics.list[0], "bytes");
	assert_true(c.strict && c.missing_fails && !c.wall);
	assert_int_equal(c.pairs, 12);
	assert_true(c.wall_seconds == 1.5 && c.timeout == 20);
	assert_true(fz_ci_config_threshold(
			    &c, &(struct fz_ci_subject){ FZ_STR("other"), "bytes" }) == 0.03);
	assert_true(fz_ci_config_threshold(
			    &c, &(struct fz_ci_subject){ FZ_STR("test_a"), "bytes" }) == 0.05);
	/* The last one that matches wins. */
	assert_true(fz_ci_config_threshold(
			    &c, &(struct fz_ci_subject){ FZ_STR("test_slow"), "bytes" }) == 0.5);
	assert_true(fz_ci_config_wall(&c, &(struct fz_ci_subject){ FZ_STR("test_a"), "bytes" }));
	assert_false(fz_ci_config_wall(&c, &(struct fz_ci_subject){ FZ_STR("other"), "bytes" }));
	assert_string_equal(
		fz_ci_config_ignored(&c, &(struct fz_ci_subject){ FZ_STR("test_slow"), "bytes" },
				     "2026-05-01", &expired),
		"waits for a server");
	assert_null(expired);
	assert_null(fz_ci_config_ignored(&c,
					 &(struct fz_ci_subject){ FZ_STR("test_slow"), "bytes" },
					 "2026-05-02", &expired));
	assert_string_equal(expired, "2026-05-01");
	assert_non_null(fz_ci_config_ignored(
		&c, &(struct fz_ci_subject){ FZ_STR("always"), "bytes" }, "2999-01-01", &expired));
	assert_int_equal(c.accept_n, 1);
	assert_string_equal(c.accepts[0].commit, "1a2b");
}

/* Each is one line that names the file, the line where there is one, and the key. */
static void test_config_errors(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "[ci]\nx\n", "fizeau.ini:2: expected [section] or 'key = value'" },
		{ "[ci]\n[benchmark a[1]]\nwall = no\n", "fizeau.ini:2: text after a section's ]" },
		{ "[ci] wall = no\n", "fizeau.ini:1: text after a section's ]" },
		{ "[ci]\nthresold = 1\n", "fizeau.ini:2: unknown key 'thresold'; did you "
					  "mean 'threshold'?" },
		{ "[ci]\n\nquux = 1\n", "fizeau.ini:3: unknown key 'quux' in [ci]" },
		{ "threshold = 1\n", "fizeau.ini:1: unknown section []" },
		{ "[benchmark]\nwall = no\n", "fizeau.ini:2: unknown section [benchmark]" },
		{ "[ci]\nwall = perhaps\n", "fizeau.ini:2: 'wall' must be yes or no" },
		{ "[ci]\nthreshold = -5 %\n", "'threshold' must be a share" },
		{ "[ci]\nthreshold = 5 % %\n", "'threshold' must be a share" },
		{ "[ci]\nthreshold = 1e400\n", "'threshold' must be a share" },
		{ "[ci]\nthreshold = 5\n", "'threshold' must be a share" },
		{ "[ci]\npairs = 0\n", "'pairs' must be a number from 1 to 1000" },
		{ "[ci]\npairs = 1001\n", "'pairs' must be a number from 1 to 1000" },
		{ "[ci]\ntimeout = 0\n", "'timeout' must be a positive number of seconds" },
		{ "[ci]\nmetric = wall\n", "'metric' must be a comma-separated list of instr" },
		{ "[ci]\nmetric = peak,\n", "'metric' must be a comma-separated list of" },
		{ "[ci]\nmetric = peak, live, peak\n",
		  "'metric' must be a comma-separated list of" },
		{ "[accept a]\nmetric =\n", "'metric' must be a comma-separated list of" },
		{ "[ci]\nmissing = no\n", "'missing' must be warn or fail" },
		{ "[benchmark a]\nignore = x\nuntil = tomorrow\n", "'until' must be a date" },
		{ "[benchmark a]\nignore = x\nuntil = 2026-13-01\n", "'until' must be a date" },
		{ "[benchmark a]\nignore = x\nuntil = 2026-12-00\n", "'until' must be a date" },
		{ "[benchmark a]\nuntil = 2026-01-01\n", "'until' requires 'ignore'" },
		{ "[benchmark a]\nignore =\n", "'ignore' must be a text" },
		{ "[accept a]\nreason = x\n", "'change' and 'reason' are required" },
		{ "[accept a]\nchange = 5 %\n", "'change' and 'reason' are required" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_ci_config_release) struct fz_ci_config c;
		struct fz_error err = { 0 };
		fz_ci_config_init(&c);
		assert_int_equal(fz_ci_config_parse(&c, cases[i].text, "fizeau.ini", &err),
				 FZ_EINPUT);
		if (!strstr(err.message, cases[i].message) || strchr(err.message, '\n'))
			fail_msg("'%s' instead of '%s'", err.message, cases[i].message);
	}
}

/* ---- verdicts ---- */

static bool no_commit(void *arg, const char *commit)
{
	(void)arg;
	return strcmp(commit, "part") == 0;
}

static struct fz_ci_rules rules_of(const struct fz_ci_config *c)
{
	return (struct fz_ci_rules){ .config = c, .today = "2026-11-20", .is_part = no_commit };
}

struct row {
	const char *name;
	double base, head; /* 0: it is not there */
	double floor;      /* 0: not known */
	double cycles[FZ_SIDES];
	double low, high; /* of the clock; both 0: not measured */
	enum fz_ci_verdict verdict;
	bool fails;
};

static const struct fz_ci_metric_list by_instructions = { { "instructions" }, 1 };

static void add_row(struct fz_ci_result *r, const struct row *row)
{
	struct fz_ci_bench *b = fz_ci_bench_of(r, fz_str_of(row->name), "instructions");

	b->on_side[FZ_BASE] = row->base > 0;
	b->on_side[FZ_HEAD] = row->head > 0;
	b->count[FZ_BASE] = row->base;
	b->count[FZ_HEAD] = row->head;
	memcpy(b->cycles, row->cycles, sizeof(b->cycles));
	if (row->floor > 0)
		b->floor = row->floor;
	if (row->low != 0 || row->high != 0)
		b->wall = (struct fz_pairs){ .n = 8, .low = row->low, .high = row->high };
}

static void judge(struct fz_ci_result *r, const char *config, const struct row *rows, size_t n)
{
	fz_auto(fz_ci_config_release) struct fz_ci_config c;
	struct fz_ci_rules rules;

	parse(&c, config);
	rules = rules_of(&c);
	for (size_t i = 0; i < n; i++)
		add_row(r, &rows[i]);
	fz_ci_suspect(r, &rules);
	fz_ci_judge(r, &rules);
	for (size_t i = 0; i < n; i++) {
		const struct fz_ci_bench *b =
			fz_ci_bench_of(r, fz_str_of(rows[i].name), "instructions");
		if (b->verdict != rows[i].verdict || b->fails != rows[i].fails)
			fail_msg("%s: %s%s", rows[i].name, fz_ci_verdict_names[b->verdict],
				 b->fails ? ", fails" : "");
	}
}

static void test_verdicts(void **state)
{
	static const struct row rows[] = {
		{ "equal", 1000, 1000, 0, { 0 }, 0, 0, FZ_CI_SAME, false },
		{ "within the threshold", 1000, 1019, 0, { 0 }, 0, 0, FZ_CI_SAME, false },
		{ "past it", 1000, 1021, 0, { 0 }, 0, 0, FZ_CI_SLOWER, true },
		{ "less", 1000, 900, 0, { 0 }, 0, 0, FZ_CI_FASTER, false },
		{ "within three floors", 1000, 1060, 0.021, { 0 }, 0, 0, FZ_CI_SAME, false },
		{ "past three floors", 1000, 1070, 0.021, { 0 }, 0, 0, FZ_CI_SLOWER, true },
		{ "clock agrees", 1000, 1500, 0, { 0 }, 0.1, 0.2, FZ_CI_SLOWER, true },
		{ "clock cannot tell", 1000, 1500, 0, { 0 }, -0.1, 0.2, FZ_CI_SLOWER, true },
		{ "clock denies", 1000, 1500, 0, { 0 }, -0.2, -0.1, FZ_CI_DISAGREE, false },
		{ "clock denies less", 1000, 700, 0, { 0 }, 0.1, 0.2, FZ_CI_DISAGREE, false },
		{ "other misses", 1000, 1000, 0, { 100, 110 }, 0, 0, FZ_CI_LAYOUT, false },
		{ "as many misses", 1000, 1000, 0, { 100, 101 }, 0, 0, FZ_CI_SAME, false },
		{ "came", 0, 1000, 0, { 0 }, 0, 0, FZ_CI_NEW, false },
		{ "went", 1000, 0, 0, { 0 }, 0, 0, FZ_CI_MISSING, false },
		{ "test_ignored", 1000, 9000, 0, { 0 }, 0, 0, FZ_CI_SLOWER, false },
		{ "test_expired", 1000, 9000, 0, { 0 }, 0, 0, FZ_CI_SLOWER, true },
		{ "test_accepted", 1000, 1200, 0, { 0 }, 0, 0, FZ_CI_SLOWER, false },
		{ "test_too_much", 1000, 1300, 0, { 0 }, 0, 0, FZ_CI_SLOWER, true },
		{ "test_of_part", 1000, 1200, 0, { 0 }, 0, 0, FZ_CI_SLOWER, false },
		{ "test_of_other", 1000, 1200, 0, { 0 }, 0, 0, FZ_CI_SLOWER, true },
	};
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;

	(void)state;
	r.metrics = by_instructions;
	judge(&r,
	      "[benchmark test_ignored]\nignore = x\n"
	      "[benchmark test_expired]\nignore = x\nuntil = 2026-11-19\n"
	      "[accept test_accepted]\nchange = 25 %\nreason = x\n"
	      "[accept test_too_much]\nchange = 25 %\nreason = x\n"
	      "[accept test_of_part]\nchange = 25 %\nreason = x\ncommit = part\n"
	      "[accept test_of_other]\nchange = 25 %\nreason = x\ncommit = other\n",
	      rows, FZ_ARRAY_LEN(rows));
	assert_int_equal(r.failing, 7);
	assert_int_equal(fz_ci_exit(&r), 1);
	/* What fails comes first, what is the same last. */
	assert_true(r.benches[0].fails && r.benches[6].fails && !r.benches[7].fails);
	assert_int_equal(r.benches[r.n - 1].verdict, FZ_CI_SAME);
	assert_int_equal(r.note_n, 1);
	assert_non_null(strstr(r.notes[0], "test_expired was ignored until 2026-11-19"));
}

static void test_strict(void **state)
{
	static const struct row rows[] = {
		{ "clock denies", 1000, 1500, 0, { 0 }, -0.2, -0.1, FZ_CI_DISAGREE, true },
		{ "went", 1000, 0, 0, { 0 }, 0, 0, FZ_CI_MISSING, true },
	};
	static const struct row calm[] = {
		{ "less", 1000, 500, 0, { 0 }, 0, 0, FZ_CI_FASTER, false },
	};
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_ci_release) struct fz_ci_result good = FZ_CI_RESULT_INIT;

	(void)state;
	judge(&r, "[ci]\nstrict = yes\nmissing = fail\n", rows, FZ_ARRAY_LEN(rows));
	assert_int_equal(fz_ci_exit(&r), 1);
	judge(&good, "", calm, FZ_ARRAY_LEN(calm));
	assert_int_equal(fz_ci_exit(&good), 0);
	/* A failure outweighs what was measured. */
	fz_ci_trouble(&r, "head: it hung");
	assert_int_equal(fz_ci_exit(&r), 2);
}

/* A benchmark has a verdict by each metric; a rule may be of one of them. */
static void test_metrics(void **state)
{
	static const struct {
		const char *name, *metric;
		double base, head;
		bool fails, accepted;
		double limit;
	} rows[] = {
		{ "test_a", "instructions", 1000, 1000, false, false, 0.02 },
		{ "test_a", "peak", 1000, 2000, true, false, 0.1 },
		{ "test_b", "instructions", 1000, 1100, true, false, 0.02 },
		{ "test_b", "peak", 1000, 1500, false, true, 0.1 },
		{ "test_b", "bytes", 1000, 1100, true, false, 0.02 },
		{ "test_b", "allocations", 10, 11, true, false, 0.02 },
		{ "test_c", "peak", 1000, 1090, false, false, 0.1 },
	};
	fz_auto(fz_ci_config_release) struct fz_ci_config c;
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	(void)state;
	parse(&c, "[ci]\nmetric = instructions, peak, bytes, allocations\n"
		  "[benchmark *]\nmetric = peak\nthreshold = 10 %\n"
		  "[accept test_b]\nmetric = peak, live\nchange = 60 %\nreason = a cache\n");
	struct fz_ci_rules rules = rules_of(&c);
	r.metrics = c.metrics;
	for (size_t i = 0; i < FZ_ARRAY_LEN(rows); i++) {
		struct fz_ci_bench *b = fz_ci_bench_of(&r, fz_str_of(rows[i].name), rows[i].metric);
		b->on_side[FZ_BASE] = b->on_side[FZ_HEAD] = true;
		b->count[FZ_BASE] = rows[i].base;
		b->count[FZ_HEAD] = rows[i].head;
	}
	assert_int_equal(r.n, FZ_ARRAY_LEN(rows));
	fz_ci_suspect(&r, &rules);
	fz_ci_judge(&r, &rules);
	for (size_t i = 0; i < FZ_ARRAY_LEN(rows); i++) {
		const struct fz_ci_bench *b =
			fz_ci_bench_of(&r, fz_str_of(rows[i].name), rows[i].metric);
		assert_int_equal(b->fails, rows[i].fails);
		assert_int_equal(b->accepted != NULL, rows[i].accepted);
		assert_true(b->limit == rows[i].limit);
	}
	assert_int_equal(fz_ci_exit(&r), 1);
	fz_ci_why(&r, &out);
	assert_string_equal(out.p, "test_a takes 2.0 times the peak bytes (limit 10.0 %); 3 more "
				   "failures");
	fz_buf_reset(&out);
	fz_ci_headline(&r, &out);
	assert_string_equal(out.p, "Performance regression: 1 slower, 3 larger, 1 with more, 2 "
				   "same");
	assert_string_equal(fz_ci_word_of_all(&r, FZ_CI_SLOWER, "worse"), "worse");
	fz_buf_reset(&out);
	fz_ci_markdown(&r, &out);
	assert_non_null(
		strstr(out.p, "larger | <sub>1,000&nbsp;B → 1.07&nbsp;KiB<br>bytes</sub> |"));
	assert_non_null(strstr(out.p, "more | <sub>10 → 11<br>allocations</sub> |"));
	fz_buf_reset(&out);
	fz_ci_junit(&r, &out);
	assert_non_null(strstr(out.p, "name=\"test_a (instructions)\""));
}

static void expect_skipped(const struct fz_ci_result *r)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	fz_ci_junit(r, &out);
	assert_non_null(strstr(out.p, "tests=\"5\" failures=\"3\" errors=\"0\" skipped=\"2\""));
	assert_non_null(strstr(out.p, "<skipped message="));
}

/* An accepted change applies to one name, even if that looks like a pattern. */
static void test_accepted(void **state)
{
	static const struct {
		const char *name;
		double head;
		bool accepted;
	} rows[] = {
		{ "test[*]", 1200, true },       { "test[1]", 1200, false },
		{ "test_other", 1200, false },   { "test_squashed", 1200.5, true },
		{ "test_another", 1220, false },
	};
	static const struct fz_ci_accept meant = {
		.glob = "test[*]", .change = 0.3, .reason = "so", .commit = "part", .by = "part"
	};
	static const struct fz_ci_accept elsewhere = { .glob = "test_other",
						       .change = 0.3,
						       .reason = "so",
						       .commit = "other",
						       .by = "other" };
	/* Their commits never arrive; one of them is there with its counts. */
	static const struct fz_ci_accept lands = { .glob = "test_squashed",
						   .change = 0.3,
						   .reason = "so",
						   .commit = "gone",
						   .by = "part",
						   .lands = true,
						   .count = { 1000, 1200 } };
	struct fz_ci_accept other = lands;
	fz_auto(fz_ci_config_release) struct fz_ci_config c;
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;

	(void)state;
	fz_ci_config_init(&c);
	fz_ci_config_accept(&c, &meant, "instructions");
	fz_ci_config_accept(&c, &elsewhere, "instructions");
	fz_ci_config_accept(&c, &lands, "instructions");
	other.glob = "test_another";
	fz_ci_config_accept(&c, &other, "instructions");
	struct fz_ci_rules rules = rules_of(&c);
	r.metrics = c.metrics;
	for (size_t i = 0; i < FZ_ARRAY_LEN(rows); i++) {
		struct fz_ci_bench *b = fz_ci_bench_of(&r, fz_str_of(rows[i].name), "instructions");
		b->on_side[FZ_BASE] = b->on_side[FZ_HEAD] = true;
		b->count[FZ_BASE] = 1000;
		b->count[FZ_HEAD] = rows[i].head;
		b->floor = 0.0002;
	}
	fz_ci_suspect(&r, &rules);
	fz_ci_judge(&r, &rules);
	for (size_t i = 0; i < FZ_ARRAY_LEN(rows); i++) {
		const struct fz_ci_bench *b =
			fz_ci_bench_of(&r, fz_str_of(rows[i].name), "instructions");
		assert_int_equal(b->accepted != NULL, rows[i].accepted);
		assert_int_equal(b->fails, !rows[i].accepted);
		assert_true(!rows[i].accepted || strcmp(b->accepted_by, "part") == 0);
	}
	/* Only for the benchmark that it may be, and for no other that fails. */
	assert_int_equal(r.note_n, 1);
	assert_non_null(strstr(r.notes[0], "test_another: the change accepted in part (so)"));
	expect_skipped(&r);
}

static void test_incomparable(void **state)
{
	static const struct row rows[] = {
		{ "more", 1000, 1500, 0, { 0 }, 0, 0, FZ_CI_NOT_COMPARABLE, false },
		{ "came", 0, 1500, 0, { 0 }, 0, 0, FZ_CI_NEW, false },
	};
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;

	(void)state;
	r.comparable = false;
	judge(&r, "", rows, FZ_ARRAY_LEN(rows));
	assert_int_equal(fz_ci_exit(&r), 2);
}

/* ---- recordings ---- */

enum { IR, READS, WRITES, I1, D1, LL, METRICS };

static uint32_t frame_of(struct fz_profile *p, const char *name, int line)
{
	struct fz_function f = { .name = fz_profile_string(p, fz_str_of(name)),
				 .file = fz_profile_string(p, FZ_STR("parse.py")),
				 .first_line = line,
				 .kind = FZ_KIND_PYTHON };
	struct fz_frame frame = fz_frame_at(fz_profile_function(p, &f), FZ_NO_LINE);

	return fz_profile_frame(p, &frame);
}

static void add_count(struct fz_profile *p, uint32_t stack, int64_t instructions)
{
	struct fz_sample s = { .stack = stack };

	fz_profile_add_sample(p, &s, (int64_t[METRICS]){ instructions, 20, 10, 1, 2, 3 });
}

/* parse -> body -> {prepare, issue}; and a benchmark that is always the same. */
static struct fz_profile *counted_both(int64_t prepare, int64_t issue)
{
	static const char *const metrics[METRICS] = { "instructions", "reads",     "writes",
						      "I1 misses",    "D1 misses", "LL misses" };
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	for (size_t i = 0; i < METRICS; i++)
		fz_profile_add_metric(p, fz_str_of(metrics[i]), FZ_STR("count"), 0, true);
	uint32_t parse = fz_profile_stack(p, fz_benchmark_root(p, FZ_STR("test_parse")),
					  frame_of(p, "parse", 30));
	uint32_t body = fz_profile_stack(p, parse, frame_of(p, "body", 20));
	add_count(p, body, 1000);
	add_count(p, fz_profile_stack(p, body, frame_of(p, "prepare", 10)), prepare);
	add_count(p, fz_profile_stack(p, body, frame_of(p, "issue", 5)), issue);
	add_count(p, fz_benchmark_root(p, FZ_STR("test_title")), 700);
	return p;
}

static struct fz_profile *counted(int64_t issue)
{
	return counted_both(5000, issue);
}

static void collect(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
		    const char *metric)
{
	struct fz_error err;

	r->metrics = (struct fz_ci_metric_list){ { metric }, 1 };
	if (fz_ci_collect(r, side, p, "all of it", &err))
		fail_msg("%s", err.message);
}

static void test_collect(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = counted(2000);
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_ci_release) struct fz_ci_result cycles = FZ_CI_RESULT_INIT;
	struct fz_error err;

	(void)state;
	fz_benchmark_add_trouble(p, FZ_STR("test_bad"), "failed: \x1b[2Jno");
	fz_benchmark_add_trouble(p, FZ_STR(""), "the command ended with status 1");
	collect(&r, FZ_HEAD, p, "instructions");
	assert_int_equal(r.n, 3);
	const struct fz_ci_bench *b = fz_ci_bench_of(&r, FZ_STR("test_parse"), "instructions");
	assert_true(b->on_side[FZ_HEAD] && !b->on_side[FZ_BASE]);
	assert_true(b->count[FZ_HEAD] == 8000);
	/* Accesses, 5 for a miss of a first cache, 100 for one of the last. */
	assert_true(b->cycles[FZ_HEAD] == 8000 + 3 * (30 + 5 * 3 + 100 * 3));
	b = fz_ci_bench_of(&r, FZ_STR("test_bad"), "instructions");
	assert_string_equal(b->trouble, "failed: \\x1b[2Jno");
	assert_int_equal(r.trouble_n, 2);
	assert_string_equal(r.troubles[0], "head: test_bad: failed: \\x1b[2Jno");
	assert_string_equal(r.troubles[1], "head: the command ended with status 1");
	collect(&cycles, FZ_HEAD, p, "cycles");
	b = fz_ci_bench_of(&cycles, FZ_STR("test_title"), "cycles");
	assert_true(b->count[FZ_HEAD] == 700 + 30 + 15 + 300);
	r.metrics.list[0] = "bytes";
	assert_int_equal(fz_ci_collect(&r, FZ_BASE, p, "", &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "has no 'bytes'"));
}

/* A benchmark that failed on one side is neither new nor missing. */
static void test_failed_benchmark(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = counted(2000);
	fz_auto(fz_profile_freep) struct fz_profile *q = counted(2000);
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_ci_config_release) struct fz_ci_config c;

	(void)state;
	add_count(p, fz_benchmark_root(p, FZ_STR("test_bad")), 100);
	fz_benchmark_add_trouble(q, FZ_STR("test_bad"), "failed: it could not");
	collect(&r, FZ_BASE, p, "instructions");
	collect(&r, FZ_HEAD, q, "instructions");
	parse(&c, "");
	struct fz_ci_rules rules = rules_of(&c);
	fz_ci_suspect(&r, &rules);
	fz_ci_judge(&r, &rules);
	assert_int_equal(fz_ci_bench_of(&r, FZ_STR("test_bad"), "instructions")->verdict,
			 FZ_CI_NOT_COMPARABLE);
	assert_int_equal(r.count[FZ_CI_SAME], 2);
	assert_int_equal(fz_ci_exit(&r), 2);
}

static void test_unmarked(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list;
	struct fz_sample s = { 0 };

	(void)state;
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	uint32_t main = fz_profile_stack(p, FZ_NONE, frame_of(p, "main", 1));
	s.stack = main;
	fz_profile_add_sample(p, &s, (int64_t[]){ 30 });
	s.stack = fz_profile_stack(p, main, frame_of(p, "run", 2));
	fz_profile_add_sample(p, &s, (int64_t[]){ 12 });
	s.stack = FZ_NONE;
	fz_profile_add_sample(p, &s, (int64_t[]){ 1 });
	collect(&r, FZ_BASE, p, "instructions");
	assert_int_equal(r.n, 1);
	assert_true(fz_str_eq(r.benches[0].name, FZ_STR("all of it")));
	assert_true(r.benches[0].count[FZ_BASE] == 43);
	/* The same as a benchmark of that name. */
	fz_benchmark_of_all(p, FZ_STR("all of it"));
	fz_benchmarks_read(p, &list);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.list[0].total[0], 43);
	assert_int_equal(p->stacks[p->samples.stack[1]].depth, 3);
}

static void test_floors(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = counted(2000);
	fz_auto(fz_profile_freep) struct fz_profile *more = counted(2080);
	fz_auto(fz_profile_freep) struct fz_profile *less = counted(1840);
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_ci_release) struct fz_ci_result again = FZ_CI_RESULT_INIT;

	(void)state;
	collect(&r, FZ_BASE, p, "instructions");
	assert_true(isnan(r.benches[0].floor));
	fz_ci_disturb(&r, FZ_BASE, more, "");
	fz_ci_disturb(&r, FZ_BASE, less, "");
	const struct fz_ci_bench *b = fz_ci_bench_of(&r, FZ_STR("test_parse"), "instructions");
	assert_true(fabs(b->floor - 160.0 / 8000) < 1e-12);
	assert_true(fz_ci_bench_of(&r, FZ_STR("test_title"), "instructions")->floor == 0);
	/* They travel with the recording. */
	fz_ci_write_floors(&r, p);
	collect(&again, FZ_BASE, p, "instructions");
	assert_false(fz_ci_read_floors(&again, more));
	assert_true(fz_ci_read_floors(&again, p));
	assert_true(fabs(fz_ci_bench_of(&again, FZ_STR("test_parse"), "instructions")->floor -
			 0.02) < 1e-9);
	assert_true(fz_ci_bench_of(&again, FZ_STR("test_title"), "instructions")->floor == 0);
	fz_profile_set_fact(p, "floors", FZ_STR("\ttest_parse\ntest_parse\t-1\ntest_parse\t\nx"));
	assert_true(fz_ci_read_floors(&again, p));
	assert_int_equal(again.n, 2);
}

static void locate(struct fz_ci_result *r, const struct fz_profile *base,
		   const struct fz_profile *head)
{
	char head_root[] = "/tmp/fz-test-ci-XXXXXX", file[64];
	const char *roots[FZ_SIDES] = { "/base", mkdtemp(head_root) };
	fz_auto(fz_ci_config_release) struct fz_ci_config c;
	fz_auto(fz_comparison_freep) struct fz_comparison *found = NULL;
	struct fz_error err;

	parse(&c, "");
	struct fz_ci_rules rules = rules_of(&c);
	collect(r, FZ_BASE, base, "instructions");
	collect(r, FZ_HEAD, head, "instructions");
	fz_ci_suspect(r, &rules);
	if (fz_ci_diff(r, base, head, "instructions", &found, &err))
		fail_msg("%s", err.message);
	snprintf(file, sizeof(file), "%s/parse.py", head_root);
	fclose(fopen(file, "w"));
	fz_ci_locate(r, found->diff, "instructions", roots);
	unlink(file);
	rmdir(head_root);
	fz_ci_judge(r, &rules);
}

static void test_locate(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = counted(2000);
	fz_auto(fz_profile_freep) struct fz_profile *q = counted(6000);
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;

	(void)state;
	locate(&r, p, q);
	const struct fz_ci_bench *b = fz_ci_bench_of(&r, FZ_STR("test_parse"), "instructions");
	assert_int_equal(b->verdict, FZ_CI_SLOWER);
	assert_string_equal(b->place.context, "body > issue");
	assert_true(b->place.change == 4000 && b->place.base == 2000);
	assert_string_equal(b->place.file, "parse.py");
	assert_int_equal(b->place.line, 5);
	/* What did not change is nowhere. */
	assert_null(fz_ci_bench_of(&r, FZ_STR("test_title"), "instructions")->place.context);
}

/* A callee that holds 80 % of the change is where it lies; of 79 % its caller is. */
static void test_locate_most(void **state)
{
	static const struct {
		int64_t prepare, issue;
		const char *context;
	} cases[] = {
		{ 200, 800, "body > issue" },   { 210, 790, "parse > body" },
		{ 790, 210, "parse > body" },   { 800, 200, "body > prepare" },
		{ -200, -800, "body > issue" }, { -210, -790, "parse > body" },
		{ -500, 1500, "body > issue" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = counted(2000);
		fz_auto(fz_profile_freep) struct fz_profile *q =
			counted_both(5000 + cases[i].prepare, 2000 + cases[i].issue);
		fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;

		locate(&r, p, q);
		assert_string_equal(
			fz_ci_bench_of(&r, FZ_STR("test_parse"), "instructions")->place.context,
			cases[i].context);
	}
}

/* ---- environments ---- */

static void describe(struct fz_environment *e, struct fz_buf *out)
{
	fz_buf_reset(out);
	fz_environment_describe(e, out);
}

static void test_environment(void **state)
{
	char *argv[] = { (char *)"sh", (char *)"/home/me/project/run.sh", NULL };
	char *elsewhere[] = { (char *)"sh", (char *)"/srvs/xy/checkou/run.sh", NULL };
	char *other[] = { (char *)"sh", (char *)"run.sh", (char *)"more", NULL };
	struct fz_environment e = { .argv = argv,
				    .folder = "/home/me/project",
				    .root = "/home/me/project",
				    .prefix = "",
				    .valgrind = "3.19.0" };
	struct fz_environment there = e;
	fz_auto(fz_buf_release) struct fz_buf a = { 0 }, b = { 0 };
	struct fz_str x, y;

	(void)state;
	unsetenv("PYTHONHASHSEED");
	describe(&e, &a);
	/* The checkout may lie elsewhere, where paths are as long. */
	there.argv = elsewhere;
	there.folder = there.root = "/srvs/xy/checkou";
	describe(&there, &b);
	assert_string_equal(a.p, b.p);
	assert_false(fz_environment_differ(fz_buf_view(&a), fz_buf_view(&b), &x, &y));
	assert_non_null(strstr(a.p, "\ncommand sh ./run.sh\n"));
	assert_non_null(strstr(a.p, "\nprocessor x86-64-v2\n"));
	there = e;
	there.root = "/srv/x";
	describe(&there, &b);
	assert_non_null(strstr(a.p, "\npath 4 2 7\n"));
	assert_non_null(strstr(b.p, "\npath 3 1\n"));
	there = e;
	there.valgrind = "3.24.0";
	describe(&there, &b);
	assert_true(fz_environment_differ(fz_buf_view(&a), fz_buf_view(&b), &x, &y));
	assert_true(fz_str_starts(x, "counter Valgrind 3.19.0") &&
		    fz_str_starts(y, "counter Valgrind 3.24.0"));
	there = e;
	there.argv = other;
	describe(&there, &b);
	assert_true(fz_environment_differ(fz_buf_view(&a), fz_buf_view(&b), &x, &y));
	there = e;
	there.cache = true;
	describe(&there, &b);
	assert_string_not_equal(a.p, b.p);
	there = e;
	there.setup = "make";
	describe(&there, &b);
	assert_string_not_equal(a.p, b.p);
	setenv("PYTHONHASHSEED", "7", 1);
	describe(&e, &b);
	unsetenv("PYTHONHASHSEED");
	assert_true(fz_environment_differ(fz_buf_view(&a), fz_buf_view(&b), &x, &y));
	assert_true(fz_str_eq(x, FZ_STR("")) && fz_str_eq(y, FZ_STR("variable PYTHONHASHSEED=7")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),           cmocka_unit_test(test_config_errors),
		cmocka_unit_test(test_verdicts),         cmocka_unit_test(test_strict),
		cmocka_unit_test(test_metrics),          cmocka_unit_test(test_incomparable),
		cmocka_unit_test(test_collect),          cmocka_unit_test(test_unmarked),
		cmocka_unit_test(test_failed_benchmark), cmocka_unit_test(test_floors),
		cmocka_unit_test(test_locate),           cmocka_unit_test(test_locate_most),
		cmocka_unit_test(test_environment),      cmocka_unit_test(test_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
