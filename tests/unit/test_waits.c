/* SPDX-License-Identifier: MIT */
/* Waits, recovered from the stacks of a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "format/format.h"
#include "profile/critical.h"
#include "profile/filter.h"
#include "profile/range.h"
#include "profile/wait_graph.h"
#include "report/waits.h"

#define MS 1000000LL

static uint32_t push(struct fz_profile *p, uint32_t stack, const char *name, const char *file,
		     int32_t line, enum fz_kind kind)
{
	return fz_profile_stack(
		p, stack, fz_profile_frame_named(p, fz_str_of(name), fz_str_of(file), line, kind));
}

static uint32_t marker(struct fz_profile *p, uint32_t stack, const char *name)
{
	return push(p, stack, name, "", FZ_NO_LINE, FZ_KIND_MARKER);
}

static struct fz_profile *without_samples(void)
{
	struct fz_profile *p = fz_profile_new();

	p->recording.features = FZ_FEATURE_WAITS;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	return p;
}

static void sample(struct fz_profile *p, uint32_t stack, int64_t ns)
{
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	struct fz_sample s = { .stack = stack, .thread = fz_profile_thread(p, &thread) };

	fz_profile_add_sample(p, &s, &ns);
}

/* main() fetches under a lock, through the standard library, and works. */
static struct fz_profile *recording(void)
{
	struct fz_profile *p = without_samples();

	p->recording.features_known = true;
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	uint32_t main = push(p, FZ_NONE, "main", "app.py", 9, FZ_KIND_PYTHON);
	uint32_t fetch = push(p, main, "fetch", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t get =
		push(p, fetch, "Queue.get", "/usr/lib/python3.11/queue.py", 171, FZ_KIND_PYTHON);
	uint32_t lock = marker(p, get, "<lock wait>");
	uint32_t by = push(p, lock, "<lock released by put>", "app.py", 20, FZ_KIND_MARKER);
	/* Not a marker: a program's function of that name. */
	uint32_t named = push(p, main, "<lock wait>", "app.py", 1, FZ_KIND_PYTHON);

	sample(p, by, 30 * MS);
	sample(p, by, 10 * MS);
	sample(p, lock, 5 * MS);
	sample(p, marker(p, main, "<CPU wait>"), 2 * MS);
	sample(p, marker(p, fetch, "<CPU wait>"), 1 * MS);
	sample(p, named, 50 * MS);
	sample(p, main, 2 * MS);
	return p;
}

static void test_table(void **state)
{
	struct fz_profile *p = recording();
	struct fz_wait_table t;

	(void)state;
	fz_wait_table_init(&t, p);
	assert_int_equal(t.rows.n, 3);
	assert_int_equal(t.all_ns, 100 * MS);
	assert_int_equal(t.ns, 48 * MS);
	assert_int_equal(t.kind_ns[FZ_WAIT_LOCK], 45 * MS);
	assert_int_equal(t.rows.rows[0].n, 2);
	assert_int_equal(t.rows.rows[0].ns, 40 * MS);
	assert_int_equal(t.rows.rows[0].longest, 30 * MS);
	/* The program's own code that waits, not the library's below it. */
	assert_true(fz_str_eq(p->strings[p->functions[t.rows.rows[0].at.function].name],
			      FZ_STR("fetch")));
	assert_int_equal(t.rows.rows[0].at.line, 3);
	assert_true(fz_str_eq(p->strings[p->functions[t.rows.rows[0].at.by].name],
			      FZ_STR("<lock released by put>")));
	assert_int_equal(t.rows.rows[1].at.by, FZ_NONE);
	assert_int_equal(t.rows.rows[1].ns, 5 * MS);
	/* The place where a thread had no CPU is not informative. */
	assert_int_equal(t.rows.rows[2].at.kind, FZ_WAIT_CPU);
	assert_int_equal(t.rows.rows[2].n, 2);
	fz_wait_table_release(&t);
	fz_profile_free(p);
}

static void test_text(void **state)
{
	static const struct fz_style style = { .columns = 80, .ascii = true };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_profile *p = recording();

	(void)state;
	fz_report_waits_text(p, &style, &out);
	assert_string_equal(out.p,
			    "Waits: 48.0 ms of 100 ms: 45.0 % lock, 3.0 % CPU.\n"
			    "     time    share    times   longest  reason, where\n"
			    "  40.0 ms   40.0 %        2   30.0 ms  lock: fetch (app.py:3)\n"
			    "                                       lock released by put (app.py)\n"
			    "  5.00 ms    5.0 %        1   5.00 ms  lock: fetch (app.py:3)\n"
			    "  3.00 ms    3.0 %        2   2.00 ms  CPU\n"
			    "Made others wait:\n"
			    "  40.0 ms   40.0 %  put (app.py)\n"
			    "  40.0 ms   40.0 %    lock: fetch (app.py)\n");
	fz_profile_free(p);
}

/* If one function made many others wait, all but the first few are only counted. */
static void test_text_of_many(void **state)
{
	static const struct fz_style style = { .columns = 80, .ascii = true };
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_profile *p = recording();

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		uint32_t stack = push(p, FZ_NONE, names[i], "app.py", 30, FZ_KIND_PYTHON);
		stack = marker(p, stack, "<lock wait>");
		stack = push(p, stack, "<lock released by put>", "app.py", 20, FZ_KIND_MARKER);
		sample(p, stack, (int64_t)(i + 1) * MS);
	}
	fz_report_waits_text(p, &style, &out);
	assert_non_null(strstr(out.p, "\n                      and 3 more\n"));
	fz_profile_free(p);
}

/* What a sampler cannot know is not there. */
static void test_sampled(void **state)
{
	static const struct fz_style style = { .columns = 80, .ascii = true };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_profile *p = recording();

	(void)state;
	p->recording.features = FZ_FEATURE_SAMPLED_WAITS;
	fz_report_waits_text(p, &style, &out);
	assert_string_equal(out.p, "Waits, sampled: 48.0 ms of 100 ms: 45.0 % lock, 3.0 % CPU.\n"
				   "     time    share  samples  reason, where\n"
				   "  40.0 ms   40.0 %        2  lock: fetch (app.py:3)\n"
				   "                             lock released by put (app.py)\n"
				   "  5.00 ms    5.0 %        1  lock: fetch (app.py:3)\n"
				   "  3.00 ms    3.0 %        2  CPU\n");
	/* In other tools' files it is unknown which samples are waits. */
	out.n = 0;
	p->recording.features = 0;
	fz_report_waits_text(p, &style, &out);
	assert_non_null(strstr(out.p, "Waits: 48.0 ms"));
	assert_null(strstr(out.p, "longest"));
	fz_profile_free(p);
}

static void test_sampled_json(void **state)
{
	struct fz_profile *p = recording();

	(void)state;
	for (int exact = 0; exact < 2; exact++) {
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
		struct fz_json j;
		p->recording.features = exact ? FZ_FEATURE_WAITS : FZ_FEATURE_SAMPLED_WAITS;
		fz_json_init(&j, out, 0);
		fz_json_open(&j, '{');
		fz_report_waits_json(p, &j);
		fz_json_close(&j, '}');
		fz_output_str(out, "\n");
		const char *text = fz_output_buffer(out)->p;
		assert_int_equal(strstr(text, "\"longest_ns\"") != NULL, exact);
		assert_int_equal(strstr(text, "\"n\"") != NULL, exact);
		assert_int_equal(strstr(text, "\"samples\"") != NULL, !exact);
	}
	fz_profile_free(p);
}

static void test_none(void **state)
{
	static const struct fz_style style = { .columns = 80 };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_profile *p = fz_profile_new();

	(void)state;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_report_waits_text(p, &style, &out);
	assert_int_equal(out.n, 0);
	fz_profile_free(p);
}

/* ---- who waits for whom ---- */

static void test_graph(void **state)
{
	struct fz_profile *p = without_samples();
	struct fz_wait_table t;
	struct fz_wait_graph g;

	(void)state;
	uint32_t a = push(p, FZ_NONE, "a", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t other_line = push(p, FZ_NONE, "a", "app.py", 4, FZ_KIND_PYTHON);
	uint32_t b = push(p, FZ_NONE, "b", "app.py", 9, FZ_KIND_PYTHON);
	uint32_t stacks[] = { a, other_line, a, b };
	static const char *const frames[][2] = { { "<lock wait>", "<lock released by put>" },
						 { "<lock wait>", "<lock released by put>" },
						 { "<GIL wait>", "<GIL released by put>" },
						 { "<socket wait>", "<woken by sh>" } };
	for (int i = 0; i < 4; i++) {
		uint32_t wait = push(p, stacks[i], frames[i][0], "", FZ_NO_LINE, FZ_KIND_MARKER);
		sample(p,
		       push(p, wait, frames[i][1], i < 3 ? "app.py" : "", FZ_NO_LINE,
			    FZ_KIND_MARKER),
		       (i == 3 ? 11 : 4) * MS);
	}
	fz_wait_table_init(&t, p);
	assert_int_equal(t.rows.n, 4);
	fz_wait_graph_init(&g, p, &t);
	/* Three rows of one pair are one edge; put() made others wait longest. */
	assert_int_equal(g.n, 2);
	assert_true(fz_str_eq(g.edges[0].name, FZ_STR("put")));
	assert_int_equal(g.edges[0].ns, 12 * MS);
	assert_int_equal(g.edges[0].kind_ns[FZ_WAIT_LOCK], 8 * MS);
	assert_int_equal(g.edges[0].kind_ns[FZ_WAIT_GIL], 4 * MS);
	assert_true(fz_str_eq(g.edges[1].name, FZ_STR("sh")));
	fz_wait_graph_release(&g);
	fz_wait_table_release(&t);
	fz_profile_free(p);
}

/* ---- the longest chain ---- */

static void at(struct fz_profile *p, uint64_t tid, uint32_t stack, int64_t time, int64_t ns)
{
	struct fz_thread thread = { .pid = 1, .tid = tid, .is_main = tid == 1 };
	struct fz_sample s = { .stack = stack,
			       .thread = fz_profile_thread(p, &thread),
			       .time = time };

	fz_profile_add_sample(p, &s, &ns);
}

static void wake(struct fz_profile *p, uint64_t tid, uint64_t by, int64_t time)
{
	struct fz_thread thread = { .pid = 1, .tid = tid, .is_main = tid == 1 };
	struct fz_thread waker = { .pid = 1, .tid = by, .is_main = by == 1 };

	fz_wakes_add(&p->wakes, &(struct fz_wake){ .time = time,
						   .thread = fz_profile_thread(p, &thread),
						   .by = fz_profile_thread(p, &waker) });
}

/* main parses until 10 ms, starts the worker, waits for its lock from 12 to 50, reports until 60.
 * The worker sleeps from 20 to 30 and works from then on; a third thread is busy all the time. */
static struct fz_profile *three_threads(void)
{
	struct fz_profile *p = without_samples();

	fz_profile_add_run(p, &(struct fz_run){ .duration_ns = 60 * MS });
	uint32_t parse = push(p, FZ_NONE, "parse", "app.py", 1, FZ_KIND_PYTHON);
	uint32_t report = push(p, FZ_NONE, "report", "app.py", 2, FZ_KIND_PYTHON);
	uint32_t work = push(p, FZ_NONE, "work", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t lock = marker(p, report, "<lock wait>");
	uint32_t by = push(p, lock, "<lock released by work>", "app.py", 3, FZ_KIND_MARKER);
	uint32_t nap = marker(p, work, "<sleep wait>");

	for (int ms = 1; ms <= 12; ms++)
		at(p, 1, parse, ms * MS, MS);
	at(p, 1, by, 50 * MS, 38 * MS);
	for (int ms = 51; ms <= 60; ms++)
		at(p, 1, report, ms * MS, MS);
	/* Ticks fall on half of what the worker computes. */
	for (int ms = 11; ms < 20; ms += 2)
		at(p, 2, work, ms * MS, 2 * MS);
	at(p, 2, nap, 30 * MS, 10 * MS);
	for (int ms = 31; ms < 50; ms += 2)
		at(p, 2, work, ms * MS, 2 * MS);
	for (int ms = 1; ms <= 60; ms++)
		at(p, 3, work, ms * MS, MS);
	wake(p, 2, 1, 10 * MS);
	wake(p, 1, 2, 50 * MS);
	return p;
}

static int64_t in_chain(const struct fz_profile *p, const struct fz_critical *c, const char *name,
			enum fz_wait kind)
{
	int64_t ns = 0;

	for (uint32_t i = 0; i < c->rows.n; i++) {
		const struct fz_wait_place *at_place = &c->rows.rows[i].at;
		if (at_place->kind == kind && at_place->function != FZ_NONE &&
		    fz_str_eq(p->strings[p->functions[at_place->function].name], fz_str_of(name)))
			ns += c->rows.rows[i].ns;
	}
	return ns;
}

static void test_chain(void **state)
{
	struct fz_profile *p = three_threads();
	struct fz_critical c;

	(void)state;
	assert_true(fz_critical_init(&c, p));
	assert_int_equal(c.ns, 60 * MS);
	assert_int_equal(c.unknown_ns, 0);
	assert_int_equal(c.threads, 2);
	/* What main waited for is the worker's, from its birth on; what else main did then, and the
	 * third thread, do not count. */
	assert_int_equal(in_chain(p, &c, "parse", FZ_WAIT_KINDS), 10 * MS);
	assert_int_equal(in_chain(p, &c, "work", FZ_WAIT_KINDS), 30 * MS);
	assert_int_equal(in_chain(p, &c, "work", FZ_WAIT_SLEEP), 10 * MS);
	assert_int_equal(in_chain(p, &c, "report", FZ_WAIT_KINDS), 10 * MS);
	assert_int_equal(in_chain(p, &c, "report", FZ_WAIT_LOCK), 0);
	static const int64_t parts[][2] = { { 0, 10 }, { 10, 50 }, { 50, 60 } };
	assert_int_equal(c.n, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(c.parts[i].from, parts[i][0] * MS);
		assert_int_equal(c.parts[i].to, parts[i][1] * MS);
	}
	fz_critical_release(&c);
	/* Samples that were taken away would be missing in it. */
	struct fz_filter filter = FZ_FILTER_DEFAULTS;
	bool threads[] = { true, false, true };
	filter.threads = threads;
	fz_profile_filter(p, &filter);
	assert_false(fz_critical_init(&c, p));
	fz_profile_free(p);
}

/* A range has its part of a wait, of a chain, and of both its parts make up the whole. */
static void test_chain_of_range(void **state)
{
	static const struct fz_range ranges[] = { { 0, 25 * MS }, { 25 * MS, 60 * MS } };
	static const int64_t naps[] = { 5 * MS, 5 * MS }, locks[] = { 13 * MS, 25 * MS };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fz_profile *p = three_threads();
		struct fz_wait_table t;
		struct fz_critical c;

		fz_profile_keep_range(p, &ranges[i]);
		fz_wait_table_init(&t, p);
		assert_int_equal(t.kind_ns[FZ_WAIT_SLEEP], naps[i]);
		assert_int_equal(t.kind_ns[FZ_WAIT_LOCK], locks[i]);
		fz_wait_table_release(&t);
		assert_true(fz_critical_init(&c, p));
		/* At the end of the first range main is still waiting, and the ender of that wait
		 * is unknown. */
		assert_in_range(c.ns, ranges[i].to_ns - ranges[i].from_ns - MS,
				ranges[i].to_ns - ranges[i].from_ns);
		assert_int_equal(in_chain(p, &c, "work", FZ_WAIT_SLEEP), i ? 5 * MS : 0);
		fz_critical_release(&c);
		fz_profile_free(p);
	}
}

/* Lengths of waits are rounded: a wait that seems to begin before the end of the previous one must
 * hide neither that one nor its ender. */
static void test_chain_is_rounded(void **state)
{
	struct fz_profile *p = without_samples();
	struct fz_critical c;

	(void)state;
	uint32_t work = push(p, FZ_NONE, "work", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t lock = marker(p, work, "<lock wait>");
	uint32_t nap = marker(p, work, "<sleep wait>");
	uint32_t cpu = marker(p, work, "<CPU wait>");

	at(p, 1, nap, 10 * MS, 10 * MS);
	at(p, 1, cpu, 11 * MS, MS + 1000);
	at(p, 1, lock, 30 * MS, 19 * MS + 2000);
	at(p, 1, cpu, 31 * MS, MS + 1000);
	at(p, 2, nap, 30 * MS, 12 * MS);
	wake(p, 1, 2, 30 * MS);
	wake(p, 2, 1, 18 * MS);
	assert_true(fz_critical_init(&c, p));
	assert_int_equal(in_chain(p, &c, "work", FZ_WAIT_SLEEP), 22 * MS);
	assert_int_equal(in_chain(p, &c, "work", FZ_WAIT_LOCK), 0);
	assert_int_equal(c.threads, 2);
	fz_critical_release(&c);
	fz_profile_free(p);
}

/* A damaged file may contain times before the start. */
static void test_chain_from_before(void **state)
{
	struct fz_profile *p = without_samples();
	struct fz_critical c;

	(void)state;
	uint32_t work = push(p, FZ_NONE, "work", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t lock = marker(p, work, "<lock wait>");
	at(p, 1, lock, 30 * MS, 10 * MS);
	at(p, 2, lock, -5 * MS, 10 * MS);
	wake(p, 1, 2, -10 * MS);
	assert_true(fz_critical_init(&c, p));
	assert_int_equal(c.ns + c.unknown_ns, 30 * MS);
	assert_true(c.unknown_ns >= 0);
	for (size_t i = 0; i < c.n; i++)
		assert_true(c.parts[i].from >= 0 && c.parts[i].to <= 30 * MS);
	fz_critical_release(&c);
	fz_profile_free(p);
}

/* Threads that wake each other within one quantum of time must not make an endless chain, and a
 * chain ends at a thread whose starter is unknown. */
static void test_chain_in_circles(void **state)
{
	struct fz_profile *p = without_samples();
	struct fz_critical c;

	(void)state;
	uint32_t work = push(p, FZ_NONE, "work", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t lock = marker(p, work, "<lock wait>");
	at(p, 1, lock, 30 * MS, 10 * MS);
	at(p, 2, lock, 30 * MS, 10 * MS);
	at(p, 2, work, 19 * MS, MS);
	at(p, 1, work, 35 * MS, MS);
	for (int i = 0; i < 3; i++) {
		wake(p, 1, 2, 30 * MS);
		wake(p, 2, 1, 30 * MS);
	}
	assert_true(fz_critical_init(&c, p));
	assert_int_equal(c.ns + c.unknown_ns, 35 * MS);
	fz_critical_release(&c);
	fz_profile_free(p);
}

/* ---- in a file ---- */

static void test_file(void **state)
{
	char path[] = "/tmp/fizeau-wakes-XXXXXX";
	struct fz_profile *p = three_threads(), *again;
	struct fz_error err;
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	assert_int_equal(fz_format_save(p, &fz_format_fz, path, &err), 0);
	assert_int_equal(fz_format_load(path, &again, &err), 0);
	assert_int_equal(again->wakes.n, p->wakes.n);
	for (size_t i = 0; i < p->wakes.n; i++)
		assert_memory_equal(&again->wakes.list[i], &p->wakes.list[i],
				    sizeof(struct fz_wake));
	fz_profile_free(again);
	fz_profile_free(p);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_of_many),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_sampled_json),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_chain_of_range),
		cmocka_unit_test(test_chain_is_rounded),
		cmocka_unit_test(test_chain_from_before),
		cmocka_unit_test(test_chain_in_circles),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
