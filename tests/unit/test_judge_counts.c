/* SPDX-License-Identifier: MIT */
/* Verdicts of counted recordings: differences that a run's environment may cause, and others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/gate.h"
#include "profile/benchmarks.h"
#include "judged.h"

/* main calls all of them; a run of these counts 100 million instructions. */
enum { FUNCTIONS = 4, MILLION = 1000000 };
static const char *const names[FUNCTIONS] = { "parse", "render", "load", "dump" };
static const int64_t usual[FUNCTIONS] = { 60 * MILLION, 30 * MILLION, 9 * MILLION, MILLION };

static uint32_t stack_of(struct fz_profile *p, const char *name)
{
	uint32_t root = fz_profile_stack(p, FZ_NONE,
					 fz_profile_frame_named(p, FZ_STR("main"), FZ_STR("a.py"),
								FZ_NO_LINE, FZ_KIND_PYTHON));

	return fz_profile_stack(p, root,
				fz_profile_frame_named(p, fz_str_of(name), FZ_STR("a.py"),
						       FZ_NO_LINE, FZ_KIND_PYTHON));
}

/* Runs of the usual program, with `more` in one function of each. */
static struct fz_profile *record(uint32_t runs, uint32_t function, int64_t more)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };

	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	for (uint32_t r = 0; r < runs; r++) {
		fz_profile_add_run(p, &(struct fz_run){ 0 });
		for (uint32_t i = 0; i < FUNCTIONS; i++) {
			int64_t weight = usual[i] + (i == function ? more : 0);
			struct fz_sample s = { .stack = stack_of(p, names[i]),
					       .thread = fz_profile_thread(p, &thread),
					       .run = r };
			fz_profile_add_sample(p, &s, &weight);
		}
	}
	p->recording = (struct fz_recording){ .complete = true };
	assert_int_equal(fz_profile_check(p, NULL), 0);
	return p;
}

static struct verdict judge(struct fz_profile *base, struct fz_profile *head)
{
	struct verdict v = judge_with(base, head, (struct fz_diff_options){ 0 }, FZ_JUDGE_DEFAULTS);

	assert_int_equal(v.j->method, FZ_JUDGE_COUNTS);
	return v;
}

static uint32_t changed(const struct verdict *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->d->function_count; i++)
		n += v->j->self[i].verdict == FZ_VERDICT_CHANGED ||
		     v->j->total[i].verdict == FZ_VERDICT_CHANGED;
	return n;
}

static bool closes(const struct verdict *v, enum fz_gate gate)
{
	fz_auto(fz_buf_release) struct fz_buf why = { 0 };

	return fz_gate_closes(gate, 0, v->d, v->j, &why);
}

static const struct fz_judged *self_of(const struct verdict *v, const char *name)
{
	return &v->j->self[number_named(v->d, name)];
}

static void nothing_changed(const struct verdict *v)
{
	assert_int_equal(changed(v), 0);
	assert_int_equal(v->j->run.word, FZ_RUN_SAME);
	assert_false(closes(v, FZ_GATE_FUNCTION));
	assert_false(closes(v, FZ_GATE_CHANGE));
	for (uint32_t i = 0; i < v->d->function_count; i++)
		assert_int_equal(v->j->self[i].verdict, FZ_VERDICT_UNCHANGED);
}

/* One count a side has no range: what is small may be its surroundings, either way round. */
static void counted_once(void **state)
{
	static const int64_t nothing[] = { 3, 7000, -7000, 99000, -99000 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(nothing); i++) {
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			judged v = judge(record(1, 0, 0), record(1, f, nothing[i]));
			nothing_changed(&v);
			assert_true(v.j->run.low < 0 && v.j->run.high > 0);
		}
	}
}

static void small_changes_are_found(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		judged v = judge(record(1, 0, 0), record(1, 3, sign * MILLION / 4));

		assert_int_equal(self_of(&v, "dump")->verdict, FZ_VERDICT_CHANGED);
		assert_int_equal(changed(&v), 2); /* and main, which calls it */
		assert_int_equal(v.j->run.word, sign > 0 ? FZ_RUN_SLOWER : FZ_RUN_FASTER);
		assert_true(v.j->run.low * sign > 0 && v.j->run.high * sign > 0);
		assert_int_equal(closes(&v, FZ_GATE_FUNCTION), sign > 0);
	}
}

/* Several counts that agree to the instruction leave no doubt, and still nothing to report. */
static void certain_but_too_small_to_report(void **state)
{
	(void)state;
	judged v = judge(record(3, 0, 0), record(3, 1, 50000));

	nothing_changed(&v);
	/* Known to 0.001 %, as intervals show; the smallest visible change is the smallest reported
	 * one. */
	assert_true(v.j->run.low > 0.00048 && v.j->run.high < 0.00052);
	assert_float_equal(v.j->run.smallest_visible, 0.001, 0.0001);
}

static void measured_floor_is_used(void **state)
{
	(void)state;
	struct fz_profile *base = record(1, 0, 0);

	fz_profile_set_fact(base, "floors", FZ_STR("b\t0.001000000\na\t0.004000000\n"));
	judged less = judge(base, record(1, 0, MILLION));
	assert_int_equal(changed(&less), 0);
	assert_int_equal(less.j->run.word, FZ_RUN_SAME);
	base = record(1, 0, 0);
	fz_profile_set_fact(base, "floors", FZ_STR("b\t0.001000000\na\t0.004000000\n"));
	judged more = judge(base, record(1, 0, 2 * MILLION));
	assert_int_equal(changed(&more), 2);
	/* What repeated counts show is better than a floor. */
	base = record(2, 0, 0);
	fz_profile_set_fact(base, "floors", FZ_STR("a\t0.004000000\n"));
	judged twice = judge(base, record(2, 0, MILLION));
	assert_int_equal(changed(&twice), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted_once),
		cmocka_unit_test(small_changes_are_found),
		cmocka_unit_test(certain_but_too_small_to_report),
		cmocka_unit_test(measured_floor_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
