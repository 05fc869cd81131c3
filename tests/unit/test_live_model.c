/* SPDX-License-Identifier: MIT */
/* Figures of the live view: shares, scopes, the mark, neighbours of a function. */
#include "live/calls.h"
#include "live/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-6)

#define SECOND ((int64_t)1000000000)

/* A sampler's profile from which batches are made, as feed.c does it. */
struct source {
	struct fz_profile *p;
	uint32_t string_n, function_n, frame_n, stack_n;
};

static void source_init(struct source *s)
{
	*s = (struct source){ .p = fz_profile_new() };
	s->string_n = s->p->string_count;
}

static uint32_t thread(struct source *s, uint64_t pid, uint64_t tid)
{
	return fz_profile_thread(s->p, &(struct fz_thread){ .pid = pid, .tid = tid });
}

/* "main;handle;leaf:7" */
static uint32_t stack(struct source *s, const char *text)
{
	uint32_t at = FZ_NONE;

	for (const char *p = text; *p;) {
		size_t n = strcspn(p, ";:"), skip = n;
		int line = 1;
		if (p[n] == ':') {
			line = atoi(p + n + 1);
			skip = strcspn(p, ";");
		}
		uint32_t frame = fz_profile_frame_named(s->p, (struct fz_str){ p, n },
							FZ_STR("app.py"), line, FZ_KIND_PYTHON);
		at = fz_profile_stack(s->p, at, frame);
		p += skip + (p[skip] == ';');
	}
	return at;
}

struct seen {
	uint32_t thread;
	const char *text;
	int64_t weight;
};

static void add(struct fz_live_model *m, struct source *s, int64_t now, const struct seen *seen,
		uint32_t n)
{
	struct fz_live_cell cells[16];
	struct fz_live_states states[16] = { 0 };
	uint32_t strings = s->string_n, functions = s->function_n, frames = s->frame_n,
		 stacks = s->stack_n;

	for (uint32_t i = 0; i < n; i++) {
		cells[i] = (struct fz_live_cell){ .thread = seen[i].thread,
						  .stack = stack(s, seen[i].text),
						  .count = 1,
						  .weight = seen[i].weight };
		states[seen[i].thread].samples++;
	}
	struct fz_live_batch b = {
		.cells = cells,
		.cell_n = n,
		.states = states,
		.state_n = s->p->thread_count,
		.strings = s->p->strings + strings,
		.functions = s->p->functions + functions,
		.frames = s->p->frames + frames,
		.stacks = s->p->stacks + stacks,
		.string_n = s->p->string_count - strings,
		.function_n = s->p->function_count - functions,
		.frame_n = s->p->frame_count - frames,
		.stack_n = s->p->stack_count - stacks,
		.threads = s->p->threads,
		.thread_n = s->p->thread_count,
		.now = now,
	};
	s->string_n = s->p->string_count;
	s->function_n = s->p->function_count;
	s->frame_n = s->p->frame_count;
	s->stack_n = s->p->stack_count;
	fz_live_model_add(m, &b);
}

static const struct fz_live_row *row(const struct fz_live_model *m, uint32_t scope,
				     const char *name)
{
	for (uint32_t i = 0; i < m->row_n; i++) {
		const struct fz_function *fn = &m->mirror->functions[m->rows[i].function];
		if (m->rows[i].scope == scope &&
		    fz_str_eq(fz_profile_text(m->mirror, fn->name), fz_str_of(name)))
			return &m->rows[i];
	}
	fail_msg("no row of %s", name);
	return NULL;
}

static void test_recursion_counts_once(void **state)
{
	struct fz_live_model m;
	struct source s;

	(void)state;
	fz_live_model_init(&m);
	source_init(&s);
	uint32_t t = thread(&s, 1, 1);
	add(&m, &s, SECOND, (struct seen[]){ { t, "main;fib;fib;fib", 3 }, { t, "main", 1 } }, 2);
	const struct fz_live_row *fib = row(&m, FZ_LIVE_ALL, "fib");
	assert_int_equal(fib->now.self, 3);
	assert_int_equal(fib->now.total, 3);
	assert_int_equal(row(&m, FZ_LIVE_ALL, "main")->now.total, 4);
	assert_near(fz_live_since(&m, fib).total, 0.75);
	fz_live_model_release(&m);
	fz_profile_free(s.p);
}

static void test_scopes(void **state)
{
	struct fz_live_model m;
	struct source s;

	(void)state;
	fz_live_model_init(&m);
	source_init(&s);
	uint32_t a = thread(&s, 1, 1), b = thread(&s, 1, 2), c = thread(&s, 9, 9);
	add(&m, &s, SECOND,
	    (struct seen[]){ { a, "main;x", 2 }, { b, "run;x", 2 }, { c, "main;y", 4 } }, 3);
	assert_int_equal(m.scopes[FZ_LIVE_ALL].threads, 3);
	assert_int_equal(m.scopes[m.process_scope[a]].threads, 2);
	assert_int_equal(m.process_scope[a], m.process_scope[b]);
	assert_int_not_equal(m.process_scope[a], m.process_scope[c]);
	assert_near(fz_live_since(&m, row(&m, FZ_LIVE_ALL, "x")).self, 0.5);
	assert_near(fz_live_since(&m, row(&m, m.process_scope[a], "x")).self, 1);
	assert_near(fz_live_since(&m, row(&m, m.thread_scope[b], "x")).self, 1);
	/* No share of any scope is above one, and self adds up to the whole. */
	double sum = 0;
	for (uint32_t i = 0; i < m.row_n; i++) {
		assert_true(fz_live_since(&m, &m.rows[i]).total <= 1);
		if (m.rows[i].scope == FZ_LIVE_ALL)
			sum += fz_live_since(&m, &m.rows[i]).self;
	}
	assert_near(sum, 1);
	fz_live_model_release(&m);
	fz_profile_free(s.p);
}

static void test_mark(void **state)
{
	struct fz_live_model m;
	struct source s;

	(void)state;
	fz_live_model_init(&m);
	source_init(&s);
	uint32_t t = thread(&s, 1, 1);
	add(&m, &s, SECOND, (struct seen[]){ { t, "main;old", 30 }, { t, "main;same", 10 } }, 2);
	fz_live_model_mark(&m);
	add(&m, &s, 2 * SECOND, (struct seen[]){ { t, "main;new", 3 }, { t, "main;same", 1 } }, 2);
	assert_near(fz_live_before(&m, row(&m, FZ_LIVE_ALL, "old")).self, 0.75);
	assert_near(fz_live_since(&m, row(&m, FZ_LIVE_ALL, "old")).self, 0);
	assert_near(fz_live_before(&m, row(&m, FZ_LIVE_ALL, "new")).self, 0);
	assert_near(fz_live_since(&m, row(&m, FZ_LIVE_ALL, "new")).self, 0.75);
	assert_near(fz_live_since(&m, row(&m, FZ_LIVE_ALL, "same")).self, 0.25);
	assert_near(fz_live_before(&m, row(&m, FZ_LIVE_ALL, "same")).self, 0.25);
	fz_live_model_unmark(&m);
	assert_near(fz_live_since(&m, row(&m, FZ_LIVE_ALL, "old")).self, 30.0 / 44);
	fz_live_model_reset(&m);
	assert_int_equal(m.row_n, 0);
	add(&m, &s, 3 * SECOND, (struct seen[]){ { t, "main;old", 1 } }, 1);
	assert_near(fz_live_since(&m, row(&m, FZ_LIVE_ALL, "old")).self, 1);
	fz_live_model_release(&m);
	fz_profile_free(s.p);
}

/* A function that stops running, and one that begins, seen over a time longer than the ring. */
static void test_trend(void **state)
{
	struct fz_live_model m;
	struct source s;
	double history[FZ_LIVE_BINS];

	(void)state;
	fz_live_model_init(&m);
	source_init(&s);
	uint32_t t = thread(&s, 1, 1);
	for (int i = 0; i < 60; i++) {
		bool late = i >= 56;
		add(&m, &s, SECOND + i * SECOND / 2,
		    (struct seen[]){ { t, late ? "main;b" : "main;a", 10 } }, 1);
	}
	assert_true(fz_live_trend(&m, row(&m, FZ_LIVE_ALL, "a"), false) < -0.9);
	assert_true(fz_live_trend(&m, row(&m, FZ_LIVE_ALL, "b"), false) > 0.9);
	assert_near(fz_live_trend(&m, row(&m, FZ_LIVE_ALL, "main"), true), 0);
	fz_live_history(&m, row(&m, FZ_LIVE_ALL, "b"), false, history);
	assert_near(history[0], 0);
	assert_near(history[FZ_LIVE_BINS - 1], 1);
	fz_live_model_release(&m);
	fz_profile_free(s.p);
}

static void test_order_and_filter(void **state)
{
	struct fz_live_model m;
	struct source s;
	const struct fz_live_row **rows;

	(void)state;
	fz_live_model_init(&m);
	source_init(&s);
	uint32_t t = thread(&s, 1, 1);
	add(&m, &s, SECOND,
	    (struct seen[]){ { t, "main;alpha", 5 }, { t, "main;Beta", 9 }, { t, "main", 1 } }, 3);
	struct fz_live_query q = { .scope = FZ_LIVE_ALL, .filter = FZ_STR("") };
	assert_int_equal(fz_live_rows(&m, &q, &rows), 3);
	assert_ptr_equal(rows[0], row(&m, FZ_LIVE_ALL, "Beta"));
	free(rows);
	q.sort = FZ_LIVE_SORT_TOTAL;
	assert_int_equal(fz_live_rows(&m, &q, &rows), 3);
	assert_ptr_equal(rows[0], row(&m, FZ_LIVE_ALL, "main"));
	free(rows);
	q.sort = FZ_LIVE_SORT_NAME;
	q.filter = FZ_STR("BETA");
	assert_int_equal(fz_live_rows(&m, &q, &rows), 1);
	assert_ptr_equal(rows[0], row(&m, FZ_LIVE_ALL, "Beta"));
	free(rows);
	q.filter = FZ_STR("app.py");
	assert_int_equal(fz_live_rows(&m, &q, &rows), 3);
	free(rows);
	fz_live_model_release(&m);
	fz_profile_free(s.p);
}

static void test_calls(void **state)
{
	struct fz_live_model m;
	struct source s;
	struct fz_live_calls c;

	(void)state;
	fz_live_model_init(&m);
	source_init(&s);
	uint32_t t = thread(&s, 1, 1);
	add(&m, &s, SECOND,
	    (struct seen[]){ { t, "main;f:4;g", 60 },
			     { t, "other;f:5", 30 },
			     { t, "main;f:4;g;f:5;h", 10 },
			     { t, "main;h", 100 } },
	    4);
	fz_live_calls_of(&m, FZ_LIVE_ALL, row(&m, FZ_LIVE_ALL, "f")->function, 50, &c);
	assert_int_equal(c.total, 100);
	assert_int_equal(c.sum, 200);
	assert_int_equal(c.caller_n, 2);
	assert_int_equal(c.callers[0].total, 70);
	/* f -> g -> f -> h */
	assert_int_equal(c.call_n, 4);
	assert_int_equal(c.calls[0].self, 30);
	assert_int_equal(c.calls[1].total, 70);
	assert_int_equal(c.calls[1].self, 60);
	assert_int_equal(c.calls[3].depth, 3);
	/* The innermost call has the executing line. */
	assert_int_equal(c.line_n, 2);
	assert_int_equal(c.lines[0].line, 4);
	assert_int_equal(c.lines[0].total, 60);
	assert_int_equal(c.lines[1].total, 40);
	assert_int_equal(c.lines[1].self, 30);
	fz_live_calls_release(&c);
	fz_live_model_release(&m);
	fz_profile_free(s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_trend),
		cmocka_unit_test(test_order_and_filter),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
