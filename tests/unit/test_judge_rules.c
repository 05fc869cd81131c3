/* SPDX-License-Identifier: MIT */
/* Properties of verdicts, independent of the method: on synthetic recordings in which every
 * function's cost is known to the sample. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "judged.h"
#include "profile/merge.h"
#include "profile/range.h"
#include "profile/runs.h"
#include "profile/speed.h"

/* ---- recordings: stacks "main;a;b", each with a number of visits and their length ---- */

struct cost {
	const char *stack;
	unsigned samples;
};

struct recording {
	const char *metric, *unit, *clock;
	unsigned runs;
	const double *pace; /* of each run; NULL: all alike */
	int64_t late;       /* by how much all samples are later */
	bool weighed;       /* each sample has its own weight */
	struct cost start;  /* runs before all others, in one stretch */
};

static const struct recording usual = {
	.metric = "cpu", .unit = "ns", .clock = "perf task-clock", .runs = 1
};
enum { INTERVAL = 1000000, EACH_COUNT = 1000, LONGEST = 3 };

static uint32_t stack_of(struct fz_profile *p, const char *text)
{
	uint32_t stack = FZ_NONE;

	while (*text) {
		size_t n = strcspn(text, ";");
		stack = fz_profile_stack(p, stack,
					 fz_profile_frame_named(p, (struct fz_str){ text, n },
								FZ_STR("app.py"), 10,
								FZ_KIND_PYTHON));
		text += n + (text[n] == ';');
	}
	return stack;
}

/* Functions take turns, for one to three samples at a time. */
static void add_run(struct fz_profile *p, const struct recording *r, uint16_t run, uint32_t thread,
		    const struct cost *costs, size_t n)
{
	fz_auto(fz_free_ptr) double *left = fz_calloc(n, sizeof(*left));
	double pace = r->pace ? r->pace[run] : 1;
	int64_t time = r->late, weight = INTERVAL;
	size_t busy = n;

	for (unsigned i = 0; i < r->start.samples; i++) {
		struct fz_sample s = { .run = run,
				       .thread = thread,
				       .stack = stack_of(p, r->start.stack),
				       .time = time += INTERVAL };
		fz_profile_add_sample(p, &s, r->weighed ? &weight : NULL);
	}
	for (size_t i = 0; i < n; i++)
		left[i] = round(costs[i].samples * pace);
	for (unsigned turn = 0; busy > 0; turn++) {
		busy = 0;
		for (size_t i = 0; i < n; i++) {
			uint32_t stack = stack_of(p, costs[i].stack);
			double visit = FZ_MIN(left[i], 1 + (turn + i) % LONGEST);
			for (left[i] -= visit; visit > 0; visit--) {
				struct fz_sample s = { .run = run,
						       .thread = thread,
						       .stack = stack,
						       .time = time += INTERVAL };
				fz_profile_add_sample(p, &s, r->weighed ? &weight : NULL);
			}
			busy += left[i] > 0;
		}
	}
}

static struct fz_profile *record(const struct recording *r, const struct cost *costs, size_t n)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t thread =
		fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	bool is_time = strcmp(r->unit, "ns") == 0;

	p->recording.interval_ns = is_time ? INTERVAL : 0;
	p->recording.complete = true;
	p->samples.ordered = p->samples.timed = true;
	fz_profile_set_fact(p, "clock", fz_str_of(r->clock));
	fz_profile_add_metric(p, fz_str_of(r->metric), fz_str_of(r->unit),
			      is_time ? INTERVAL : EACH_COUNT, r->weighed);
	for (uint16_t run = 0; run < r->runs; run++) {
		fz_profile_add_run(p, &(struct fz_run){ 0 });
		add_run(p, r, run, thread, costs, n);
	}
	return p;
}

static struct verdict judge(struct fz_profile *base, struct fz_profile *head)
{
	struct fz_diff_options by_time = { .scale = FZ_SCALE_TIME };

	return judge_with(base, head, by_time, FZ_JUDGE_DEFAULTS);
}

static enum fz_verdict self_of(const struct verdict *v, const char *name)
{
	return v->j->self[number_named(v->d, name)].verdict;
}

static double width_of(const struct verdict *v)
{
	return v->j->run.high - v->j->run.low;
}

/* A program of ten functions of equal cost, except for the first, with its number of samples. */
enum { FUNCTIONS = 10, EACH = 3000 };
static const char *const stacks[FUNCTIONS] = { "main;f0", "main;f1", "main;f2", "main;f3",
					       "main;f4", "main;f5", "main;f6", "main;f7",
					       "main;f8", "main;f9" };

static struct fz_profile *program(const struct recording *r, unsigned first, unsigned others)
{
	struct cost costs[FUNCTIONS];

	for (size_t i = 0; i < FUNCTIONS; i++)
		costs[i] = (struct cost){ stacks[i], i ? others : first };
	return record(r, costs, FUNCTIONS);
}

/* ---- rules ---- */

/* Only one recording is certain to be like itself: two runs whose counts happen to agree are two.
 */
static void test_identical(void **state)
{
	struct recording later = usual;

	(void)state;
	later.late = 17;
	judged itself = judge(program(&usual, EACH, EACH), program(&usual, EACH, EACH));
	assert_int_equal(itself.j->method, FZ_JUDGE_IDENTICAL);
	assert_int_equal(itself.j->run.word, FZ_RUN_SAME);
	assert_true(width_of(&itself) == 0);
	judged another = judge(program(&usual, EACH, EACH), program(&later, EACH, EACH));
	assert_int_equal(another.j->method, FZ_JUDGE_VISITS);
	assert_true(another.j->run.change == 0 && width_of(&another) > 0.01);
}

/* A clock that goes on while others run is noisier than a CPU clock that stands still; what calls
 * itself a CPU clock and has steps of a scheduler tick is none. */
static void test_clocks(void **state)
{
	struct recording wall = usual, steps = usual;

	(void)state;
	wall.metric = wall.clock = "wall";
	steps.clock = "schedstat";
	judged by_cpu = judge(program(&usual, EACH, EACH), program(&usual, EACH + 30, EACH));
	judged by_wall = judge(program(&wall, EACH, EACH), program(&wall, EACH + 30, EACH));
	judged by_steps = judge(program(&steps, EACH, EACH), program(&steps, EACH + 30, EACH));
	assert_true(by_cpu.j->cpu_clock);
	assert_false(by_wall.j->cpu_clock);
	assert_false(by_steps.j->cpu_clock);
	assert_true(width_of(&by_wall) > 1.1 * width_of(&by_cpu));
	assert_true(width_of(&by_steps) > 1.1 * width_of(&by_cpu));
}

/* One function, two, all of them: each is judged by itself, and what stands still is not charged
 * with it. */
static void test_which_function_changed(void **state)
{
	struct cost two[FUNCTIONS], base[FUNCTIONS];

	(void)state;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		base[i] = (struct cost){ stacks[i], EACH };
		two[i] = (struct cost){ stacks[i], i < 2 ? 2 * EACH : EACH };
	}
	judged one = judge(program(&usual, EACH, EACH), program(&usual, 3 * EACH / 2, EACH));
	assert_int_equal(self_of(&one, "f0"), FZ_VERDICT_CHANGED);
	judged both = judge(record(&usual, base, FUNCTIONS), record(&usual, two, FUNCTIONS));
	for (size_t i = 0; i < FUNCTIONS; i++) {
		const char *name = stacks[i] + strlen("main;");
		assert_int_equal(self_of(&both, name) == FZ_VERDICT_CHANGED, i < 2);
		if (i)
			assert_int_not_equal(self_of(&one, name), FZ_VERDICT_CHANGED);
	}
	judged slowly =
		judge(program(&usual, EACH, EACH), program(&usual, EACH * 1.08, EACH * 1.08));
	for (uint32_t i = 0; i < slowly.d->function_count; i++)
		assert_int_not_equal(slowly.j->self[i].verdict, FZ_VERDICT_CHANGED);
	assert_int_equal(slowly.j->run.word, FZ_RUN_UNKNOWN);
}

/* A recorder that was given no time begins late. What only ran until then is not new in the other
 * recording; what ran for longer is. */
static void test_begun_late(void **state)
{
	enum { LATE = 400 };
	struct recording late = usual, early = usual;

	(void)state;
	early.start = (struct cost){ "main;start", LATE };
	judged new = judge(program(&usual, EACH, EACH), program(&early, EACH, EACH));
	assert_int_equal(self_of(&new, "start"), FZ_VERDICT_CHANGED);
	late.late = LATE * INTERVAL;
	judged unseen = judge(program(&late, EACH, EACH), program(&early, EACH, EACH));
	assert_int_equal(self_of(&unseen, "start"), FZ_VERDICT_UNKNOWN);
	judged gone = judge(program(&early, EACH, EACH), program(&late, EACH, EACH));
	assert_int_equal(self_of(&gone, "start"), FZ_VERDICT_UNKNOWN);
	/* What was started by a script that took its time may begin late by any clock. */
	struct fz_profile *found_late = program(&usual, EACH, EACH);
	fz_profile_set_unseen(found_late, LATE * INTERVAL);
	judged by_script = judge(found_late, program(&early, EACH, EACH));
	assert_int_equal(self_of(&by_script, "start"), FZ_VERDICT_UNKNOWN);
	early.start.samples = 4 * LATE;
	judged longer = judge(program(&late, EACH, EACH), program(&early, EACH, EACH));
	assert_int_equal(self_of(&longer, "start"), FZ_VERDICT_CHANGED);
}

/* A program that a script starts has its first sample late, which means nothing if it is known
 * since when it ran. Of several runs found late, each is as unsure as it is. */
static void test_started_by_a_script(void **state)
{
	enum { LATE = 400 };
	struct recording late = usual, early = usual;

	(void)state;
	early.start = (struct cost){ "main;start", LATE };
	late.late = LATE * INTERVAL;
	struct fz_profile *base = program(&late, EACH, EACH), *head = program(&early, EACH, EACH);
	fz_profile_set_unseen(base, 2 * INTERVAL);
	fz_profile_set_unseen(head, 2 * INTERVAL);
	judged one = judge(base, head);
	assert_int_equal(self_of(&one, "start"), FZ_VERDICT_CHANGED);

	base = fz_profile_new();
	for (int run = 0; run < 4; run++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = program(&usual, EACH, EACH);

		fz_profile_set_unseen(p, run == 2 ? LATE * INTERVAL : INTERVAL);
		assert_int_equal(fz_profile_merge(base, p, NULL), 0);
	}
	assert_string_equal(fz_profile_fact(base, FZ_UNSEEN_FACT).p, "1000 1000 400000 1000 us");
	early.runs = 4;
	judged four = judge(base, program(&early, EACH, EACH));
	assert_int_equal(self_of(&four, "start"), FZ_VERDICT_CHANGED);
	const struct fz_judged *start = &four.j->self[number_named(four.d, "start")];
	assert_true(start->low < 4 * 0.75 * LATE * INTERVAL &&
		    start->low > 4 * 0.5 * LATE * INTERVAL);
}

/* Twice as much was done in twice the time: nothing changed. As much in twice the time: it did, and
 * swapping the sides says the opposite. */
static void test_by_unit(void **state)
{
	struct fz_diff_options twice = { .scale = FZ_SCALE_UNIT, .units = { 100, 200 } };
	struct fz_diff_options same = { .scale = FZ_SCALE_UNIT, .units = { 100, 100 } };
	static const double paces[] = { 1, 1.004, 0.998 };
	struct recording three = usual;

	(void)state;
	three.runs = 3;
	three.pace = paces;
	judged work = judge_with(program(&three, EACH, EACH), program(&three, 2 * EACH, 2 * EACH),
				 twice, FZ_JUDGE_DEFAULTS);
	assert_true(fabs(work.j->run.change) < 0.001);
	assert_int_not_equal(work.j->run.word, FZ_RUN_SLOWER);
	assert_int_not_equal(work.j->run.word, FZ_RUN_FASTER);
	for (uint32_t i = 0; i < work.d->function_count; i++)
		assert_int_not_equal(work.j->self[i].verdict, FZ_VERDICT_CHANGED);
	judged cost = judge_with(program(&three, EACH, EACH), program(&three, 2 * EACH, 2 * EACH),
				 same, FZ_JUDGE_DEFAULTS);
	assert_true(fabs(cost.j->run.change - 1) < 0.001);
	assert_int_equal(cost.j->run.word, FZ_RUN_SLOWER);
	assert_true(cost.j->run.low > 0 && cost.j->run.low < 1 && cost.j->run.high > 1);
	judged back = judge_with(program(&three, 2 * EACH, 2 * EACH), program(&three, EACH, EACH),
				 same, FZ_JUDGE_DEFAULTS);
	assert_int_equal(back.j->run.word, FZ_RUN_FASTER);
	assert_true(back.j->run.low > -1);
}

/* A run is called slower or faster at 5 %, and its interval agrees. */
static void test_run_level(void **state)
{
	static const double paces[] = { 0.97, 1.02, 1.01 };
	struct recording three = usual;
	unsigned changed = 0, nearly = 0;

	(void)state;
	three.runs = 3;
	three.pace = paces;
	for (unsigned more = 0; more <= 600; more += 15) {
		judged v = judge(program(&three, EACH, EACH),
				 program(&three, EACH + more, EACH + more));
		bool called = v.j->run.word == FZ_RUN_SLOWER || v.j->run.word == FZ_RUN_FASTER;

		assert_int_equal(called, v.j->run.p < 0.05 && v.j->run.low > 0);
		if (called)
			assert_int_equal(v.j->run.word, FZ_RUN_SLOWER);
		assert_int_equal(v.j->run.p<0.045, v.j->run.low> 0 && v.j->run.p < 0.045);
		changed += called;
		nearly += v.j->run.p > 0.05 && v.j->run.p < 0.15;
	}
	assert_true(changed > 0 && nearly > 0);
}

/* So many more runs, and 5 % of the run (or of what a typical function is, by share) would show;
 * one fewer, and not. */
static void test_more_runs(void **state)
{
	static const double goals[] = { 0.05, 0.02, 0.2 };
	static const enum fz_scale_mode scales[] = { FZ_SCALE_TIME, FZ_SCALE_SHARE };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(goals) * FZ_ARRAY_LEN(scales); i++) {
		struct fz_diff_options options = { .scale = scales[i % FZ_ARRAY_LEN(scales)] };
		struct fz_judge_options how = FZ_JUDGE_DEFAULTS;
		how.run_delta = goals[i / FZ_ARRAY_LEN(scales)];
		judged v = judge_with(program(&usual, EACH, EACH), program(&usual, EACH + 30, EACH),
				      options, how);
		const struct fz_judged_run *run = &v.j->run;
		double margin = run->visible_share < 1 ? how.delta : 0;
		double visible = run->smallest_visible - margin, goal = how.run_delta - margin;

		assert_true(visible / sqrt(1 + run->more_runs) <= goal * (1 + 1e-9));
		if (run->more_runs > 0)
			assert_true(visible / sqrt(run->more_runs) > goal);
	}
}

/* When runs begin: one side's at 1, 3, 5, ... or at 1, 2, 3, ..., the other's after each or after
 * all. */
static struct fz_profile *begun(struct fz_profile *p, int64_t first, int64_t step)
{
	for (uint32_t run = 0; run < p->run_count; run++)
		p->runs[run].start_unix_ns = first + run * step;
	return p;
}

/* What a machine drifts by meanwhile no side shows: only runs that are taken in turn are free of
 * it. */
static void test_interleaved(void **state)
{
	static const double paces[] = { 1, 1.01, 0.99, 1.005, 0.995 };
	struct recording five = usual;

	(void)state;
	five.runs = 5;
	five.pace = paces;
	judged in_turn = judge(begun(program(&five, EACH, EACH), 1, 2),
			       begun(program(&five, 1.03 * EACH, 1.03 * EACH), 2, 2));
	judged apart = judge(begun(program(&five, EACH, EACH), 1, 1),
			     begun(program(&five, 1.03 * EACH, 1.03 * EACH), 6, 1));
	judged unknown =
		judge(program(&five, EACH, EACH), program(&five, 1.03 * EACH, 1.03 * EACH));
	assert_true(width_of(&apart) > 1.2 * width_of(&in_turn));
	assert_true(width_of(&unknown) > 0.99 * width_of(&apart));
}

/* At a known speed, on a machine that others also used. */
static struct fz_profile *beside_others(double part, double each)
{
	struct recording weighed = usual;
	weighed.weighed = true;
	struct fz_profile *p = program(&weighed, each, each);
	int64_t end = fz_profile_end(p);

	fz_profile_set_fact(p, "cpu", FZ_STR("made up"));
	fz_profile_set_fact(p, "speed", FZ_STR("made up"));
	for (int64_t time = 0; time < end; time += 4 * INTERVAL)
		fz_speed_add(&p->speed, &(struct fz_speed_probe){ .time = time, .cost = 8000 });
	p->runs[0].duration_ns = end;
	p->runs[0].load.machine_ns = 2 * end;
	p->runs[0].load.others_ns = (int64_t)(part * 2 * (double)end);
	return p;
}

/* Other load slows down code in ways that the piece of work, which measures the speed, does not
 * show. */
static void test_neighbours(void **state)
{
	(void)state;
	judged quiet = judge(beside_others(0, EACH), beside_others(0, EACH + 1));
	judged busy = judge(beside_others(0, EACH), beside_others(0.5, EACH + 1));
	judged unmeasured = judge(program(&usual, EACH, EACH), program(&usual, EACH + 1, EACH));

	assert_true(width_of(&busy) > 1.5 * width_of(&quiet));
	assert_true(width_of(&quiet) < 0.7 * width_of(&unmeasured));
}

/* What a function calls changed, it did not: its paths are judged by their totals only. */
static void test_families_of_paths(void **state)
{
	static const struct cost base[] = { { "main;load;parse", 3000 }, { "main;load", 3000 },
					    { "main;show", 3000 },       { "main;sort", 3000 },
					    { "main;send", 3000 },       { "main;wait", 3000 } };
	struct cost head[FZ_ARRAY_LEN(base)];

	(void)state;
	memcpy(head, base, sizeof(base));
	head[0].samples = 9000;
	judged v = judge(record(&usual, base, FZ_ARRAY_LEN(base)),
			 record(&usual, head, FZ_ARRAY_LEN(base)));
	uint32_t load = number_named(v.d, "load"), parse = number_named(v.d, "parse");
	assert_int_equal(v.j->total[load].verdict, FZ_VERDICT_CHANGED);
	assert_int_not_equal(v.j->self[load].verdict, FZ_VERDICT_CHANGED);
	for (uint32_t i = 0; i < v.d->node_count; i++) {
		bool is_load = v.d->nodes[i].function == load;
		bool is_parse = v.d->nodes[i].function == parse;

		assert_int_equal(v.j->path_self[i].verdict == FZ_VERDICT_CHANGED, is_parse);
		assert_int_equal(isfinite(v.j->path_self[i].low), is_parse);
		if (is_load || is_parse)
			assert_int_equal(v.j->path_total[i].verdict, FZ_VERDICT_CHANGED);
		if (is_load)
			assert_true(v.j->path_total[i].low > 0);
	}
}

/* A function with the same cost on other paths: it is unchanged, the paths are not. */
static void test_paths_of_unchanged(void **state)
{
	static const struct cost base[] = {
		{ "main;a;f", 600 }, { "main;b;f", 400 }, { "main;c;g", 500 }, { "main;rest", 4000 }
	};
	static const struct cost head[] = {
		{ "main;a;f", 400 }, { "main;b;f", 600 }, { "main;c;g", 500 }, { "main;rest", 4200 }
	};
	struct recording counted = { "instructions", "count", "", 2, NULL, 0 };

	(void)state;
	judged v = judge(record(&counted, base, 4), record(&counted, head, 4));
	uint32_t f = number_named(v.d, "f"), g = number_named(v.d, "g");
	assert_int_equal(v.j->method, FZ_JUDGE_COUNTS);
	assert_int_equal(v.j->self[f].verdict, FZ_VERDICT_UNCHANGED);
	for (uint32_t i = 0; i < v.d->node_count; i++) {
		if (v.d->nodes[i].function == f)
			assert_int_equal(v.j->path_self[i].verdict, FZ_VERDICT_UNKNOWN);
		if (v.d->nodes[i].function == g)
			assert_int_equal(v.j->path_self[i].verdict, FZ_VERDICT_UNCHANGED);
	}
}

enum { CALLERS = 12 };

/* f below many callers, once with one of them that changed by itself. */
static struct verdict judge_many_paths(unsigned before, unsigned after)
{
	static const char *const paths[CALLERS] = {
		"main;a;f", "main;b;f", "main;c;f", "main;d;f", "main;e;f", "main;g;f",
		"main;h;f", "main;i;f", "main;j;f", "main;k;f", "main;l;f", "main;m;f",
	};
	struct cost sides[FZ_SIDES][CALLERS + 1];

	for (size_t i = 0; i < CALLERS; i++) {
		sides[FZ_BASE][i] = (struct cost){ paths[i], i ? 12 : 24 };
		sides[FZ_HEAD][i] = (struct cost){ paths[i], i ? 24 : 12 };
	}
	sides[FZ_BASE][1].samples = before;
	sides[FZ_HEAD][1].samples = after;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		sides[s][CALLERS] = (struct cost){ "main;rest", 4000 };
	return judge(record(&usual, sides[FZ_BASE], CALLERS + 1),
		     record(&usual, sides[FZ_HEAD], CALLERS + 1));
}

/* A function that certainly changed while none of its paths did by itself: those that went its way
 * are the sum, the others are not; where one did by itself, none is. */
static void test_paths_of_a_sum(void **state)
{
	(void)state;
	for (int alone = 0; alone < 2; alone++) {
		judged v = judge_many_paths(12, alone ? 400 : 24);
		uint32_t f = number_named(v.d, "f"), changed = 0;
		assert_int_equal(v.j->self[f].verdict, FZ_VERDICT_CHANGED);
		for (uint32_t i = 0; i < v.d->node_count; i++) {
			const struct fz_diff_node *node = &v.d->nodes[i];
			bool grew = node->cost.self[FZ_HEAD] > node->cost.self[FZ_BASE];
			bool of_sum = node->function == f && grew && !alone;
			changed += node->function == f &&
				   v.j->path_self[i].verdict == FZ_VERDICT_CHANGED;
			assert_int_equal(v.j->path_self[i].of_sum, of_sum);
			assert_int_equal(v.j->path_total[i].of_sum, of_sum);
		}
		assert_int_equal(changed, alone);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identical),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_which_function_changed),
		cmocka_unit_test(test_begun_late),
		cmocka_unit_test(test_started_by_a_script),
		cmocka_unit_test(test_by_unit),
		cmocka_unit_test(test_run_level),
		cmocka_unit_test(test_more_runs),
		cmocka_unit_test(test_interleaved),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_families_of_paths),
		cmocka_unit_test(test_paths_of_unchanged),
		cmocka_unit_test(test_paths_of_a_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
