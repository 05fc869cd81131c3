/* SPDX-License-Identifier: MIT */
/* Benchmark results that a server keeps, and the series that it makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>

#include "bench/history.h"
#include "fleet/results.h"

enum { START = 1700000000 };

static struct fz_results *open_results(void)
{
	struct fz_results *r;
	struct fz_error err;
	int rc = fz_results_open(":memory:", true, &r, &err);

	if (rc && strstr(err.message, "libsqlite3"))
		skip();
	assert_int_equal(rc, 0);
	return r;
}

/* A commit of main with the count of its only benchmark, and the commit before it. */
static int64_t put(struct fz_results *r, const char *project, int n, double base, double head)
{
	char hashes[2][16], id[16];
	const struct fz_results_value values[] = {
		{ .name = FZ_STR("parse"),
		  .metric = FZ_STR("instructions"),
		  .of_base = true,
		  .count = base,
		  .limit = 0.1 },
		{ .name = FZ_STR("parse"),
		  .metric = FZ_STR("instructions"),
		  .count = head,
		  .limit = 0.1 },
	};
	struct fz_error err;
	int64_t run;
	bool is_new;

	for (int i = 0; i < 2; i++)
		snprintf(hashes[i], sizeof(hashes[i]), "%07d", n - 1 + i);
	snprintf(id, sizeof(id), "id %d", n);
	const struct fz_results_run one = {
		.project = project,
		.repository = "r",
		.id = id,
		.commit_pages = "",
		.pull = "",
		.head = { hashes[1], "main", "subject", START + n },
		.base = { hashes[0], "main", "subject", START + n - 1 },
		.branch = "main",
		.into = "main",
		.patch = "",
		.environment = "e",
		.headline = "h",
		.report = FZ_STR("{}"),
		.received = START,
		.values = values,
		.value_n = 2,
	};
	assert_int_equal(fz_results_put(r, &one, &run, &is_new, &err), 0);
	return is_new ? run : -run;
}

struct seen {
	char texts[16][64];
	int64_t ids[16];
	int n;
};

static void take_commit(void *arg, const struct fz_results_point *p)
{
	struct seen *s = arg;

	s->ids[s->n] = p->id;
	snprintf(s->texts[s->n++], sizeof(s->texts[0]), "%.*s", (int)p->sha.n, p->sha.p);
}

static void take_count(void *arg, const struct fz_results_count *c)
{
	struct seen *s = arg;

	snprintf(s->texts[s->n++], sizeof(s->texts[0]), "%.*s %.0f %.2f", (int)c->name.n, c->name.p,
		 c->count, c->limit);
}

static void test_commits(void **state)
{
	fz_auto(fz_results_closep) struct fz_results *r = open_results();
	struct fz_results_query q = {
		.project = "one", .repository = "r", .branch = "main", .most = 3
	};
	struct seen commits = { 0 }, counts = { 0 };
	struct fz_error err;

	(void)state;
	/* The later ones come first; the run in between is sent twice. */
	assert_true(put(r, "one", 4, 1300, 1300) > 0);
	int64_t run = put(r, "one", 2, 1000, 1000);
	assert_true(run > 0);
	assert_int_equal(put(r, "one", 2, 1, 1), -run);
	assert_true(put(r, "two", 9, 7, 7) > 0);
	assert_int_equal(fz_results_commits(r, &q, take_commit, &commits, &err), 0);
	assert_int_equal(commits.n, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(atoi(commits.texts[i]), i + 2);
	assert_int_equal(
		fz_results_counts(r, commits.ids[0], "instructions", take_count, &counts, &err), 0);
	assert_int_equal(counts.n, 1);
	assert_string_equal(counts.texts[0], "parse 1000 0.10");
	assert_int_equal(fz_results_counts(r, commits.ids[0], "peak", take_count, &counts, &err),
			 0);
	assert_int_equal(counts.n, 1);
}

static const struct fz_results_accepted of_parse = { .name = "parse",
						     .metric = "instructions",
						     .reason = "so",
						     .commit = "0000002",
						     .pull = "",
						     .into = "",
						     .patch = "",
						     .landed = "" };

static void take_accepted(void *arg, const struct fz_results_accepted *a)
{
	struct seen *s = arg;

	snprintf(s->texts[s->n++], sizeof(s->texts[0]), "%s %s %.2f", a->name, a->reason,
		 a->change);
}

static void take_landing(void *arg, const struct fz_results_accepted *a)
{
	struct seen *s = arg;

	snprintf(s->texts[s->n++], sizeof(s->texts[0]), "%s %s %s%.0f%s%s", a->pull, a->into,
		 a->patch, a->count[1], *a->landed ? " " : "", a->landed);
}

/* It follows its own pull request until it lands, which it does once, where it was to go. */
static void test_landed(void **state)
{
	fz_auto(fz_results_closep) struct fz_results *r = open_results();
	struct fz_results_accepted a = of_parse;
	struct seen seen = { 0 };
	struct fz_error err;

	(void)state;
	a.pull = "7";
	a.into = "main";
	put(r, "one", 2, 1000, 1300);
	assert_int_equal(fz_results_accept(r, "one", "r", &a, &err), 0);
	static const struct {
		const char *pull, *into, *patch, *landed;
		double count;
		const char *expected;
	} steps[] = {
		{ "8", "", "x", "", 5, "7 main 0" },
		{ "7", "", "x", "", 6, "7 main x6" },
		{ "", "other", "", "1", 7, "7 main x6" },
		{ "", "main", "", "2", 7, "7 main x6 2" },
		{ "", "main", "", "3", 8, "7 main x6 2" },
		{ "7", "", "y", "", 9, "7 main x6 2" },
	};
	for (size_t i = 0; i < FZ_ARRAY_LEN(steps); i++) {
		struct fz_results_accepted step = a;
		step.pull = steps[i].pull;
		step.into = steps[i].into;
		step.patch = steps[i].patch;
		step.landed = steps[i].landed;
		step.count[1] = steps[i].count;
		assert_int_equal((*step.pull ? fz_results_follow : fz_results_land)(r, "one", "r",
										    &step, &err),
				 0);
		seen.n = 0;
		assert_int_equal(fz_results_accepted(r, "one", "r", take_landing, &seen, &err), 0);
		assert_string_equal(seen.texts[0], steps[i].expected);
	}
}

static void test_accepted(void **state)
{
	fz_auto(fz_results_closep) struct fz_results *r = open_results();
	struct fz_results_accepted a = of_parse;
	struct seen seen = { 0 };
	struct fz_error err;
	bool was;

	(void)state;
	a.change = 0.3;
	put(r, "one", 2, 1000, 1300);
	assert_int_equal(fz_results_accept(r, "two", "r", &a, &err), FZ_EINPUT);
	assert_int_equal(fz_results_accept(r, "one", "r", &a, &err), 0);
	a.reason = "anew";
	assert_int_equal(fz_results_accept(r, "one", "r", &a, &err), 0);
	assert_int_equal(fz_results_accepted(r, "two", "r", take_accepted, &seen, &err), 0);
	assert_int_equal(seen.n, 0);
	assert_int_equal(fz_results_accepted(r, "one", "r", take_accepted, &seen, &err), 0);
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.texts[0], "parse anew 0.30");
	assert_int_equal(fz_results_refuse(r, "one", "r", &a, &was, &err), 0);
	assert_true(was);
	assert_int_equal(fz_results_refuse(r, "one", "r", &a, &was, &err), 0);
	assert_false(was);
}

/* A series has the limit that was stored with it, and no turn between two environments. */
static void test_series(void **state)
{
	static const struct fz_history_commit commits[] = {
		{ "a", "2026-11-20", "" },
		{ "b", "2026-11-21", "" },
		{ "c", "2026-11-22", "" },
		{ "d", "2026-11-23", "" },
	};
	fz_auto(fz_history_release) struct fz_history h = { 0 };
	fz_auto(fz_ci_config_release) struct fz_ci_config c;
	fz_auto(fz_buf_release) struct fz_buf cards = { 0 }, text = { 0 };
	const struct {
		const char *name, *environment;
		double count, limit;
	} counts[][3] = {
		{ { "up", "e", 1000, 0.1 },
		  { "within", "e", 1000, 0.1 },
		  { "moved", "e", 1000, 0 } },
		{ { "up", "e", 1200, 0.1 }, { "within", "e", 1080, 0 }, { "moved", "f", 2000, 0 } },
		{ { "up", "e", 1200, 0.1 }, { "within", "e", 1080, 0 }, { "moved", "f", 2000, 0 } },
	};

	(void)state;
	fz_history_init(&h, commits, FZ_ARRAY_LEN(commits));
	h.metric = "instructions";
	h.unit = fz_ci_unit(h.metric);
	for (uint32_t i = 0; i < FZ_ARRAY_LEN(counts); i++)
		for (size_t b = 0; b < FZ_ARRAY_LEN(counts[i]); b++)
			fz_history_add_count(&h, i, fz_str_of(counts[i][b].name),
					     fz_str_of(counts[i][b].environment),
					     counts[i][b].count, counts[i][b].limit);
	fz_ci_config_init(&c);
	fz_history_find(&h, &c, 0);
	assert_int_equal(h.series_n, 3);
	assert_true(fz_str_eq(h.series[0].name, FZ_STR("up")));
	assert_int_equal(h.series[0].turn_n, 1);
	assert_int_equal(h.series[0].turns[0].step.at, 1);
	assert_true(h.series[0].least == 0.1);
	assert_int_equal(h.series[1].turn_n + h.series[2].turn_n, 0);
	fz_history_cards(&h, 1, &cards);
	assert_non_null(strstr(cards.p, "<h2>up</h2>"));
	assert_null(strstr(cards.p, "<h2>within</h2>"));
	assert_null(strstr(cards.p, "class=\"other\""));
	assert_null(strstr(cards.p, "Dotted lines"));
	fz_history_cards(&h, 3, &cards);
	assert_non_null(strstr(cards.p, "class=\"other\""));
	assert_non_null(strstr(cards.p, "Dotted lines: the environment changed"));
	/* "moved" did not change since its environment did. */
	const char *moved = strstr(cards.p, "<h2>moved</h2>");
	assert_non_null(strstr(moved, ">same</p>"));
	assert_null(strstr(moved, "x 2"));
	fz_history_text(&h, &(struct fz_style){ .ascii = true }, &text);
	const char *row = strstr(text.p, "moved");
	assert_non_null(strstr(row, "2,000"));
	assert_null(strstr(row, "x 2"));
	assert_non_null(strstr(row, "\"first\" is the first count in the latest one"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commits),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_landed),
		cmocka_unit_test(test_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
