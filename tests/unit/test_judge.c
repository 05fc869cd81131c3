/* SPDX-License-Identifier: MIT */
/* Verdicts of whole comparisons, on synthetic recordings and on real ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "compare/judge_internal.h"
#include "format/format.h"
#include "profile/merge.h"
#include "agree.h"
#include "judged.h"

/* ---- recordings: main calls f0 .. f29, the k-th with a share of 1/(k + 3) ---- */

enum { FUNCTIONS = 30 };

struct script {
	const char *metric, *unit, *clock;
	double samples; /* of a run */
	uint32_t runs;
	int changed;   /* this function ... */
	double factor; /* ... by which it costs more */
	bool unordered;
	bool single;    /* visits of one sample, not of 1 to 4 */
	int lines;      /* each visit is at one of this many lines; 0: always at one */
	int stall;      /* samples of every fiftieth visit; 0: as the others */
	int collection; /* samples of one in a thousand visits, in a collection of garbage */
	bool complete;
	int64_t interval;
};

static const struct script usual = { .metric = "cpu",
				     .unit = "ns",
				     .clock = "perf task-clock",
				     .samples = 20000,
				     .runs = 1,
				     .changed = -1,
				     .complete = true,
				     .interval = 1000000 };

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 12) + 0.5) / 4503599627370496.0;
}

static double cost_of(const struct script *s, int f)
{
	return (f == s->changed ? s->factor : 1) / (f + 3);
}

static uint32_t collecting(struct fz_profile *p, uint32_t stack)
{
	return fz_profile_stack(
		p, stack,
		fz_profile_frame_named(p, FZ_STR("<GC>"), FZ_STR("~"), 0, FZ_KIND_MARKER));
}

static uint32_t stack_of(struct fz_profile *p, int f, int line)
{
	char name[8];
	uint32_t root =
		fz_profile_frame_named(p, FZ_STR("main"), FZ_STR("app.py"), 1, FZ_KIND_PYTHON);
	int n = snprintf(name, sizeof(name), "f%d", f);
	uint32_t leaf =
		fz_profile_frame_named(p, (struct fz_str){ name, (size_t)n }, FZ_STR("app.py"),
				       10 + f + FUNCTIONS * line, FZ_KIND_PYTHON);

	return fz_profile_stack(p, fz_profile_stack(p, FZ_NONE, root), leaf);
}

/* Visits of 1 to 4 samples. */
static void add_run(struct fz_profile *p, const struct script *s, uint16_t run, uint32_t thread)
{
	double all = 0, unchanged = 0;
	int64_t time = 0;
	int visits = 0;

	for (int f = 0; f < FUNCTIONS; f++) {
		all += cost_of(s, f);
		unchanged += 1.0 / (f + 3);
	}
	for (double left = s->samples * all / unchanged; left > 0;) {
		double at = uniform() * all;
		int f = 0;

		while (f < FUNCTIONS - 1 && (at -= cost_of(s, f)) > 0)
			f++;
		int n = s->single ? 1 : 1 + (int)(4 * uniform());
		int line = s->lines ? (int)(s->lines * uniform()) : 0;
		if (s->stall && ++visits % 50 == 0)
			n = s->stall;
		bool collects = s->collection && uniform() < 0.001;
		if (collects)
			n = s->collection;
		for (; n > 0; n--, left--) {
			uint32_t stack = stack_of(p, f, line);
			struct fz_sample sample = { .run = run,
						    .thread = thread,
						    .stack =
							    collects ? collecting(p, stack) : stack,
						    .time = time += s->interval };

			fz_profile_add_sample(p, &sample, NULL);
		}
	}
}

static struct fz_profile *record(const struct script *s)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	uint32_t id = fz_profile_thread(p, &thread);

	p->recording.interval_ns = s->interval;
	p->recording.complete = s->complete;
	p->samples.ordered = p->samples.timed = !s->unordered;
	fz_profile_set_fact(p, "clock", fz_str_of(s->clock));
	fz_profile_add_metric(p, fz_str_of(s->metric), fz_str_of(s->unit),
			      strcmp(s->unit, "ns") == 0 ? s->interval : 1, false);
	for (uint32_t run = 0; run < s->runs; run++) {
		fz_profile_add_run(p, &(struct fz_run){ 0 });
		add_run(p, s, (uint16_t)run, id);
	}
	return p;
}

static struct verdict judge_pair(struct fz_profile *base, struct fz_profile *head,
				 enum fz_scale_mode scale)
{
	struct fz_diff_options options = { .scale = scale };

	return judge_with(base, head, options, FZ_JUDGE_DEFAULTS);
}

static struct verdict judge(const struct script *base, const struct script *head)
{
	struct fz_profile *a = record(base), *b = record(head);

	return judge_pair(a, b, FZ_SCALE_AUTO);
}

static uint32_t count(const struct fz_judged *list, uint32_t n, enum fz_verdict verdict)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		found += list[i].verdict == verdict;
	return found;
}

static uint32_t changed(const struct verdict *v)
{
	return count(v->j->self, v->d->function_count, FZ_VERDICT_CHANGED) +
	       count(v->j->total, v->d->function_count, FZ_VERDICT_CHANGED);
}

static bool holds(const struct fz_judged *v, double change)
{
	return v->low <= change && change <= v->high;
}

/* The shown difference lies in the interval, which is finite. There is none of what only repeated
 * samples saw. */
static void check_intervals(const struct verdict *v)
{
	bool bursts = v->j->bursts[FZ_BASE] || v->j->bursts[FZ_HEAD];

	for (uint32_t i = 0; i < v->d->function_count; i++) {
		const struct fz_diff_cost *cost = &v->d->functions[i].cost;
		double self = fz_diff_delta(v->d, cost->self[FZ_BASE], cost->self[FZ_HEAD]);
		double total = fz_diff_delta(v->d, cost->total[FZ_BASE], cost->total[FZ_HEAD]);

		assert_true(holds(&v->j->self[i], self) || (bursts && isnan(v->j->self[i].low)));
		assert_true(holds(&v->j->total[i], total) || (bursts && isnan(v->j->total[i].low)));
	}
	check_agreement(v->d, v->j);
}

static void test_same_file(void **state)
{
	struct fz_profile *a, *b;

	(void)state;
	seed = 5;
	a = record(&usual);
	seed = 5;
	b = record(&usual);
	judged v = judge_pair(a, b, FZ_SCALE_AUTO);
	assert_int_equal(v.j->method, FZ_JUDGE_IDENTICAL);
	assert_int_equal(count(v.j->self, v.d->function_count, FZ_VERDICT_UNCHANGED),
			 v.d->function_count);
	assert_int_equal(count(v.j->path_total, v.d->node_count, FZ_VERDICT_UNCHANGED),
			 v.d->node_count);
	assert_int_equal(v.j->run.word, FZ_RUN_SAME);
	check_intervals(&v);
}

/* Runs of the same program: never "changed", and "unchanged" takes several: one run a side does not
 * show how much a function varies from run to run. */
static void test_same_program(void **state)
{
	struct script many = usual;

	(void)state;
	seed = 13;
	judged few = judge(&usual, &usual);
	assert_int_equal(few.j->method, FZ_JUDGE_VISITS);
	assert_true(few.j->cpu_clock);
	assert_int_equal(changed(&few), 0);
	assert_int_equal(few.j->run.word, FZ_RUN_UNKNOWN);
	check_intervals(&few);
	many.samples = 60000;
	many.runs = 5;
	judged sure = judge(&many, &many);
	assert_int_equal(changed(&sure), 0);
	assert_int_equal(sure.j->run.word, FZ_RUN_SAME);
	assert_true(count(sure.j->self, sure.d->function_count, FZ_VERDICT_UNCHANGED) > 12);
	check_intervals(&sure);
}

static void test_one_run(void **state)
{
	struct script head = usual;

	(void)state;
	seed = 6;
	head.changed = 4;
	head.factor = 2;
	judged v = judge(&usual, &head);
	uint32_t f4 = number_named(v.d, "f4"), f0 = number_named(v.d, "f0");

	assert_int_equal(v.d->scale, FZ_SCALE_TIME);
	assert_int_equal(v.j->self[f4].verdict, FZ_VERDICT_CHANGED);
	assert_int_equal(v.j->total[f4].verdict, FZ_VERDICT_CHANGED);
	assert_true(v.j->self[f4].low > 0 && v.j->self[f4].z > 0);
	assert_int_not_equal(v.j->self[f0].verdict, FZ_VERDICT_CHANGED);
	assert_int_equal(count(v.j->self, v.d->function_count, FZ_VERDICT_CHANGED), 1);
	check_intervals(&v);
	/* In nanoseconds: about one more of what the base had. */
	assert_true(fabs(v.j->self[f4].low + v.j->self[f4].high) / 2 >
		    0.8 * (double)v.d->functions[f4].cost.self[FZ_BASE]);
	assert_int_equal(v.j->run.word, FZ_RUN_UNKNOWN);
	assert_true(v.j->run.change > 0.04 && v.j->run.smallest_visible > 0.05);
	assert_true(v.j->run.more_runs >= 1);
}

/* Numbers of a recording in which most functions changed: the weight of a large one made a change
 * certain at p = 0.057, because its interval, which is not exactly the inverse of the test,
 * excluded 0. */
static void test_not_even_alone(void **state)
{
	static const struct {
		double p;
		bool certain;
	} cases[] = { { 0.0568, false }, { 0.049, true }, { NAN, true } };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_diff d = { .factor = 1, .total = { 391000000, 924000000 } };
		struct fz_judged_run run = { .low = NAN };
		struct fz_inference c = {
			.d = &d, .run = &run, .method = FZ_JUDGE_VISITS, .reach = 1
		};
		struct fz_diff_cost cost = { .self = { 99097000, 141541776 } };
		const struct fz_diff_cost *costs[] = { &cost };
		struct fz_change change = { .base = 99097000,
					    .head = 141541776,
					    .low = 17713,
					    .high = 102565705,
					    .p = cases[i].p,
					    .tested = true };
		bool rejected = true;
		struct fz_hypotheses k = {
			.n = 1, .cost = costs, .change = { &change }, .rejected = { &rejected }
		};
		fz_hypotheses_withdraw(&c, &k, FZ_FAMILY_SELF, 0);
		assert_int_equal(rejected, cases[i].certain);
	}
}

/* A recorder without a CPU takes no samples for a while, and the next one has all of that time. */
static void miss(struct fz_profile *p, size_t gaps, size_t length)
{
	struct fz_metric *metric = &p->metrics[0];
	size_t n = p->samples.n;

	p->recording.mode = FZ_MODE_CPU;
	metric->column = fz_calloc(n, sizeof(*metric->column));
	for (size_t i = 0; i < n; i++)
		metric->column[i] = metric->each;
	for (size_t g = 0; g < gaps; g++) {
		size_t from = (size_t)(((double)g + uniform() / 2) * (double)n / (double)gaps);
		for (size_t i = from; i < FZ_MIN(from + length, n - 1); i++) {
			metric->column[i + 1] += metric->column[i];
			metric->column[i] = 0;
		}
	}
}

/* Pairs of short runs in which a function was certainly changed: `changed` or, if that is -1, any.
 * The head's recorder misses 5 stretches of that many samples of 600. */
static int count_late(int changed, double factor, size_t length)
{
	struct script base = usual, head = usual;
	int found = 0;

	base.samples = head.samples = 600;
	head.changed = changed;
	head.factor = factor;
	for (seed = 100; seed < 140; seed += 2) {
		uint64_t own = seed;
		struct fz_profile *before = record(&base), *after = record(&head);
		miss(after, 5, length);
		judged v = judge_pair(before, after, FZ_SCALE_TIME);
		uint32_t f = changed < 0 ? FZ_NONE : number_named(v.d, "f1");
		found += f == FZ_NONE
				 ? count(v.j->self, v.d->function_count, FZ_VERDICT_CHANGED) > 0
				 : v.j->self[f].verdict == FZ_VERDICT_CHANGED;
		check_intervals(&v);
		seed = own;
	}
	return found;
}

static void test_late_sampler(void **state)
{
	(void)state;
	/* Without it, 14 of the 20. */
	assert_true(count_late(-1, 1, 18) <= 2);
	assert_true(count_late(1, 3, 3) > 17);
}

/* Only paths of changed functions are judged. */
static void test_paths(void **state)
{
	struct script head = usual;

	(void)state;
	seed = 7;
	head.changed = 4;
	head.factor = 2;
	judged v = judge(&usual, &head);
	uint32_t f4 = number_named(v.d, "f4");

	for (uint32_t i = 0; i < v.d->node_count; i++) {
		bool is_f4 = v.d->nodes[i].function == f4;

		if (is_f4)
			assert_int_equal(v.j->path_self[i].verdict, FZ_VERDICT_CHANGED);
		else
			assert_int_not_equal(v.j->path_self[i].verdict, FZ_VERDICT_CHANGED);
		assert_int_equal(isnan(v.j->path_self[i].low), !is_f4);
		/* One path: it is the function. */
		if (is_f4)
			assert_true(fabs(v.j->path_self[i].low - v.j->self[f4].low) < 1);
	}
}

/* Paths of an unchanged function are unchanged, but not where they changed against each other. */
static void test_unchanged_paths(void **state)
{
	struct script many = usual;
	uint32_t unchanged = 0;

	(void)state;
	seed = 15;
	many.samples = 60000;
	many.runs = 5;
	struct fz_profile *a = record(&many), *b = record(&many);
	uint32_t other = fz_profile_stack(
		b, FZ_NONE,
		fz_profile_frame_named(b, FZ_STR("other"), FZ_STR("app.py"), 90, FZ_KIND_PYTHON));
	uint32_t f10 = stack_of(b, 10, 0), moved = 0;
	uint32_t elsewhere = fz_profile_stack(b, other, b->stacks[f10].frame);
	for (size_t row = 0; row < b->samples.n; row++)
		if (b->samples.stack[row] == f10 && moved++ % 2)
			b->samples.stack[row] = elsewhere;
	judged v = judge_pair(a, b, FZ_SCALE_TIME);
	uint32_t f = number_named(v.d, "f10");

	assert_int_equal(v.j->self[f].verdict, FZ_VERDICT_UNCHANGED);
	for (uint32_t i = 0; i < v.d->node_count; i++) {
		enum fz_verdict function = v.j->self[v.d->nodes[i].function].verdict;
		if (v.d->nodes[i].function == f)
			assert_int_equal(v.j->path_self[i].verdict, FZ_VERDICT_UNKNOWN);
		else if (function == FZ_VERDICT_UNCHANGED)
			assert_int_equal(v.j->path_self[i].verdict, FZ_VERDICT_UNCHANGED);
		unchanged += v.j->path_self[i].verdict == FZ_VERDICT_UNCHANGED;
	}
	assert_true(unchanged > 10);
}

/* By share nothing can be said about the run, but about what would have shown of a function; more
 * runs show more, and the estimate of how many agrees with what they then do. */
static void test_shares(void **state)
{
	struct script base = usual;

	(void)state;
	seed = 16;
	struct fz_profile *a = record(&base), *b = record(&base);
	judged one = judge_pair(a, b, FZ_SCALE_SHARE);
	assert_int_equal(one.j->run.word, FZ_RUN_UNKNOWN);
	assert_true(isnan(one.j->run.change) && isnan(one.j->run.low) && isnan(one.j->run.p));
	assert_true(one.j->run.visible_share == FZ_JUDGE_TYPICAL_SHARE);
	assert_true(one.j->run.smallest_visible > 0.002);
	assert_true(one.j->run.smallest_visible < FZ_JUDGE_TYPICAL_SHARE);
	base.runs = 5;
	a = record(&base);
	b = record(&base);
	judged five = judge_pair(a, b, FZ_SCALE_SHARE);
	assert_int_equal(five.j->method, FZ_JUDGE_RUNS);
	assert_int_equal(five.j->run.word, FZ_RUN_UNKNOWN);
	assert_true(five.j->run.smallest_visible < one.j->run.smallest_visible);
	assert_true(five.j->run.more_runs == 0);
}

/* Head by base, at an end of the interval. */
static double ratio_at(const struct fz_diff *d, const struct fz_diff_function *f, double change)
{
	return 1 + change / (d->factor * (double)f->cost.self[FZ_BASE]);
}

/* Ratios invert. */
static void test_swap(void **state)
{
	struct script head = usual;
	uint64_t start;

	(void)state;
	head.changed = 2;
	head.factor = 1.5;
	head.interval = usual.interval / 2;
	start = seed = 8;
	struct fz_profile *a = record(&usual), *b = record(&head);
	judged there = judge_pair(a, b, FZ_SCALE_TIME);
	seed = start;
	a = record(&usual);
	b = record(&head);
	judged back = judge_pair(b, a, FZ_SCALE_TIME);
	for (uint32_t i = 0; i < there.d->function_count; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%.*s", (int)there.d->functions[i].name.n,
			 there.d->functions[i].name.p);
		const struct fz_judged *x = &there.j->self[i];
		uint32_t of_back = number_named(back.d, name);
		const struct fz_judged *y = &back.j->self[of_back];

		assert_int_equal(x->verdict, y->verdict);
		assert_true(isnan(x->p) ? isnan(y->p) : fabs(x->p - y->p) < 1e-9);
		if (there.d->functions[i].cost.self[FZ_BASE] == 0)
			continue;
		double low = ratio_at(there.d, &there.d->functions[i], x->low);
		double high = ratio_at(back.d, &back.d->functions[of_back], y->high);
		assert_true(low < 1 || x->verdict == FZ_VERDICT_CHANGED);
		assert_true(fabs(low * high - 1) < 1e-6);
	}
	assert_int_equal(there.j->run.word == FZ_RUN_SLOWER, back.j->run.word == FZ_RUN_FASTER);
}

/* Every fourth sample of one side, at four times the interval, as a slower sampler would have taken
 * it: estimates stay where they were, intervals get wider, and nothing else is called changed. */
static void test_thinning(void **state)
{
	struct script base = usual, head = usual;
	struct fz_profile *thin = fz_profile_new();
	double widths[2] = { 0 };
	uint32_t f4;

	(void)state;
	seed = 17;
	head.changed = 4;
	head.factor = 3;
	base.single = head.single = true;
	struct fz_profile *a = record(&base), *b = record(&head);
	struct fz_error err;
	assert_int_equal(fz_profile_merge(thin, b, &err), 0);
	thin->samples.n = 0;
	thin->metrics[0].each = 4 * usual.interval;
	thin->recording.interval_ns = 4 * usual.interval;
	for (size_t row = 3; row < b->samples.n; row += 4) {
		struct fz_sample sample = { .thread = b->samples.thread[row],
					    .stack = b->samples.stack[row],
					    .time = b->samples.time[row] };
		fz_profile_add_sample(thin, &sample, NULL);
	}
	struct fz_profile *a2 = fz_profile_new();
	assert_int_equal(fz_profile_merge(a2, a, &err), 0);
	judged full = judge_pair(a, b, FZ_SCALE_TIME);
	judged thinned = judge_pair(a2, thin, FZ_SCALE_TIME);

	f4 = number_named(thinned.d, "f4");
	assert_int_equal(thinned.j->self[f4].verdict, FZ_VERDICT_CHANGED);
	assert_true(fabs(thinned.j->run.change - full.j->run.change) < 0.01);
	for (uint32_t i = 0; i < thinned.d->function_count; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%.*s", (int)thinned.d->functions[i].name.n,
			 thinned.d->functions[i].name.p);
		const struct fz_judged *x = &thinned.j->self[i];
		uint32_t of_full = number_named(full.d, name);
		const struct fz_judged *y = &full.j->self[of_full];
		const struct fz_diff_cost *cost = &full.d->functions[of_full].cost;
		double change = fz_diff_delta(full.d, cost->self[FZ_BASE], cost->self[FZ_HEAD]);

		/* main has all of the difference below it. */
		if (i != f4 && strcmp(name, "main") != 0)
			assert_int_not_equal(x->verdict, FZ_VERDICT_CHANGED);
		widths[0] += y->high - y->low;
		widths[1] += x->high - x->low;
		assert_true(x->low <= change && change <= x->high);
	}
	assert_true(widths[1] > widths[0]);
}

/* Half of one function's samples could not be read in the head: neither it nor the marker is
 * called changed. */
static void test_unreadable(void **state)
{
	struct fz_profile *a, *b;
	uint32_t taken, marker, size = 0;

	(void)state;
	seed = 14;
	a = record(&usual);
	b = record(&usual);
	taken = stack_of(b, 0, 0);
	marker = fz_profile_stack(b, b->stacks[taken].parent,
				  fz_profile_frame_named(b, FZ_STR("[unreadable]"), FZ_STR(""),
							 FZ_NO_LINE, FZ_KIND_MARKER));
	for (size_t row = 0; row < b->samples.n; row++)
		if (b->samples.stack[row] == taken && size++ % 2)
			b->samples.stack[row] = marker;
	judged v = judge_pair(a, b, FZ_SCALE_TIME);
	uint32_t f0 = number_named(v.d, "f0"), lost = number_named(v.d, "[unreadable]");

	assert_true(v.d->functions[lost].cost.self[FZ_HEAD] > 1000 * usual.interval);
	assert_int_equal(v.j->self[lost].verdict, FZ_VERDICT_UNKNOWN);
	assert_true(isnan(v.j->self[lost].p) && isnan(v.j->self[lost].low));
	assert_int_equal(v.j->self[f0].verdict, FZ_VERDICT_UNKNOWN);
	assert_int_equal(changed(&v), 0);
}

static void test_several_runs(void **state)
{
	struct script base = usual, head = usual;

	(void)state;
	seed = 9;
	base.runs = 3;
	head.runs = 5;
	judged same = judge(&base, &head);
	assert_int_equal(same.j->method, FZ_JUDGE_RUNS);
	assert_int_equal(changed(&same), 0);
	assert_int_equal(same.j->run.word, FZ_RUN_SAME);
	assert_true(same.j->run.smallest_visible < 0.05);
	assert_true(same.j->run.more_runs == 0);
	assert_true(fabs(same.j->run.change) < 0.02);
	check_intervals(&same);
	head.changed = 3;
	head.factor = 1.3;
	judged slower = judge(&base, &head);
	assert_int_equal(count(slower.j->self, slower.d->function_count, FZ_VERDICT_CHANGED), 1);
	assert_int_equal(slower.j->self[number_named(slower.d, "f3")].verdict, FZ_VERDICT_CHANGED);
	check_intervals(&slower);
}

static void test_approximate(void **state)
{
	struct script base = usual, head = usual;

	(void)state;
	seed = 10;
	base.unordered = head.unordered = true;
	base.complete = head.complete = false;
	base.interval = head.interval = 0;
	base.metric = head.metric = "samples";
	base.unit = head.unit = "count";
	head.changed = 0;
	head.factor = 3;
	judged v = judge(&base, &head);
	assert_int_equal(v.j->method, FZ_JUDGE_APPROXIMATE);
	assert_int_equal(v.d->scale, FZ_SCALE_SHARE);
	assert_int_equal(v.j->self[number_named(v.d, "f0")].verdict, FZ_VERDICT_CHANGED);
	/* The others agree that the head has fewer samples of each, and are not blue. */
	assert_int_equal(v.d->basis, FZ_BASIS_AGREED);
	assert_int_equal(count(v.j->self, v.d->function_count, FZ_VERDICT_CHANGED), 1);
	/* The run is not judged by share. */
	assert_int_equal(v.j->run.word, FZ_RUN_UNKNOWN);
	assert_true(isnan(v.j->run.change) && isnan(v.j->run.p));
}

/* A stall is many samples of one line; so the lines of functions show that there are stalls, if the
 * order of samples does not. */
static void test_stalls_without_order(void **state)
{
	struct script base = usual, head;
	uint32_t with_lines = 0, without = 0;

	(void)state;
	base.unordered = true;
	base.complete = false;
	base.interval = 0;
	base.metric = "samples";
	base.unit = "count";
	base.clock = "";
	base.samples = 4000;
	base.stall = 100;
	for (uint64_t first = 1; first <= 40; first++) {
		seed = first;
		base.lines = 0;
		judged same = judge(&base, &base);
		without += changed(&same) > 0;
		seed = first;
		base.lines = 3;
		judged by_line = judge(&base, &base);
		with_lines += changed(&by_line) > 0;
	}
	assert_true(without > 20);
	assert_true(with_lines <= 2);
	/* Nor do lines hide a change: of a function whose lines stayed, and of one that was edited.
	 */
	base.stall = 0;
	head = base;
	head.changed = 0;
	head.factor = 3;
	for (int lines = 3; lines < 6; lines++) {
		head.lines = lines;
		judged v = judge(&base, &head);
		assert_int_equal(v.j->self[number_named(v.d, "f0")].verdict, FZ_VERDICT_CHANGED);
	}
}

static int count_collecting(int changed, double factor, int *ret_found)
{
	int with_false = 0;

	*ret_found = 0;
	for (int k = 0; k < 20; k++) {
		struct script base = usual, head = usual;
		base.collection = head.collection = 200;
		head.changed = changed;
		head.factor = factor;
		judged v = judge(&base, &head);
		bool any = false;
		for (int f = 0; f < FUNCTIONS; f++) {
			char name[16];
			snprintf(name, sizeof(name), "f%d", f);
			bool is = v.j->total[number_named(v.d, name)].verdict == FZ_VERDICT_CHANGED;
			any |= f != changed && is;
			*ret_found += f == changed && is;
		}
		with_false += any;
	}
	return with_false;
}

/* Which function collects garbage is chance. */
static void test_collections(void **state)
{
	(void)state;
	int found;

	seed = 1;
	assert_true(count_collecting(-1, 1, &found) <= 2);
	assert_true(count_collecting(0, 2, &found) <= 2);
	assert_int_equal(found, 20);
}

static void test_counts(void **state)
{
	struct script base = usual, head = usual;
	uint32_t f5;

	(void)state;
	base.metric = head.metric = "instructions";
	base.unit = head.unit = "count";
	base.runs = head.runs = 2;
	base.samples = head.samples = 60000;
	head.changed = 5;
	head.factor = 1.5;
	seed = 11;
	judged v = judge(&base, &head);
	assert_int_equal(v.j->method, FZ_JUDGE_COUNTS);
	f5 = number_named(v.d, "f5");
	assert_int_equal(v.j->self[f5].verdict, FZ_VERDICT_CHANGED);
	assert_true(v.j->self[f5].low > 0 && isnan(v.j->self[f5].p));
	assert_true(count(v.j->self, v.d->function_count, FZ_VERDICT_CHANGED) <= 2);
	check_intervals(&v);
	assert_int_equal(v.j->run.word, FZ_RUN_SLOWER);
	/* What was counted with instructions repeats as they do; others may call theirs the same.
	 */
	base.metric = head.metric = "bytes";
	base.unit = head.unit = "bytes";
	judged sampled = judge(&base, &head);
	assert_int_equal(sampled.j->method, FZ_JUDGE_NONE);
	base.clock = head.clock = "instructions and memory";
	judged counted = judge(&base, &head);
	assert_int_equal(counted.j->method, FZ_JUDGE_COUNTS);
	f5 = number_named(counted.d, "f5");
	assert_int_equal(counted.j->self[f5].verdict, FZ_VERDICT_CHANGED);
}

static void test_nothing_to_judge(void **state)
{
	struct script empty = usual, bytes = usual;

	(void)state;
	seed = 12;
	empty.samples = 0;
	judged none = judge(&empty, &usual);
	assert_int_equal(none.j->method, FZ_JUDGE_NONE);
	assert_true(none.j->empty_run);
	assert_int_equal(changed(&none), 0);
	assert_int_equal(count(none.j->self, none.d->function_count, FZ_VERDICT_UNKNOWN),
			 none.d->function_count);
	bytes.metric = "heap";
	bytes.unit = "bytes";
	judged heap = judge(&bytes, &bytes);
	assert_int_equal(heap.j->method, FZ_JUDGE_NONE);
	assert_false(heap.j->empty_run);
	assert_true(isnan(heap.j->self[0].low) && isnan(heap.j->run.smallest_visible));
	struct fz_profile *more = record(&usual);
	fz_profile_add_run(more, &(struct fz_run){ 0 });
	judged one_empty = judge_pair(record(&usual), more, FZ_SCALE_TIME);
	assert_int_equal(one_empty.j->method, FZ_JUDGE_NONE);
	assert_true(one_empty.j->empty_run);
}

/* A difference of two profiles is not a sample of anything. */
static void test_subtracted(void **state)
{
	(void)state;
	seed = 13;
	struct fz_profile *base = record(&usual), *head = record(&usual);
	struct fz_metric *metric = &base->metrics[0];
	uint32_t subtracted = base->samples.stack[0];

	metric->column = fz_calloc(base->samples.n, sizeof(*metric->column));
	for (size_t i = 0; i < base->samples.n; i++)
		metric->column[i] = base->samples.stack[i] == subtracted ? -1 : metric->each;
	judged v = judge_pair(base, head, FZ_SCALE_AUTO);
	assert_int_equal(v.j->method, FZ_JUDGE_NONE);
	assert_int_equal(v.j->run.word, FZ_RUN_UNKNOWN);
}

/* Real Tachyon recordings of one program, each with each, end to end. */
static void test_recordings(void **state)
{
	static const char *const folders[] = { "tachyon_cpu_A", "tachyon_wall_A",
					       "tachyon_wall_B" };
	const char *shared = getenv("FZ_SHARED");
	uint32_t pairs = 0, wrong = 0, runs = 0;

	(void)state;
	if (!shared)
		skip();
	for (size_t k = 0; k < FZ_ARRAY_LEN(folders); k++) {
		for (int a = 1; a <= 5; a++) {
			for (int b = a + 1; b <= 5; b++) {
				fz_auto(fz_free_ptr) char *pa =
					fz_asprintf("%s/profiles/pairs/aa_ab/%s/%02d.bin", shared,
						    folders[k], a);
				fz_auto(fz_free_ptr) char *pb =
					fz_asprintf("%s/profiles/pairs/aa_ab/%s/%02d.bin", shared,
						    folders[k], b);
				struct fz_profile *base, *head;

				if (fz_format_load(pa, &base, NULL) < 0)
					skip();
				assert_int_equal(fz_format_load(pb, &head, NULL), 0);
				judged v = judge_pair(base, head, FZ_SCALE_TIME);
				assert_int_equal(v.j->method, FZ_JUDGE_VISITS);
				assert_false(v.j->cpu_clock);
				assert_true(v.j->bursts[FZ_BASE] > 0);
				check_intervals(&v);
				wrong += changed(&v);
				runs += v.j->run.word == FZ_RUN_SLOWER ||
					v.j->run.word == FZ_RUN_FASTER;
				pairs++;
			}
		}
	}
	print_message(
		"%u comparisons of a program with itself: %u functions called changed, %u runs\n",
		pairs, wrong, runs);
	assert_true(wrong <= pairs / 10);
	assert_int_equal(runs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_file),
		cmocka_unit_test(test_same_program),
		cmocka_unit_test(test_one_run),
		cmocka_unit_test(test_not_even_alone),
		cmocka_unit_test(test_late_sampler),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_unchanged_paths),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_thinning),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_several_runs),
		cmocka_unit_test(test_approximate),
		cmocka_unit_test(test_stalls_without_order),
		cmocka_unit_test(test_collections),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_nothing_to_judge),
		cmocka_unit_test(test_subtracted),
		cmocka_unit_test(test_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
