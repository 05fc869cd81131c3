/* SPDX-License-Identifier: MIT */
/* Gates: what makes them fail and what does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "compare/gate.h"

struct scene {
	struct fz_diff_function functions[2];
	struct fz_judged self[2], total[2];
	struct fz_diff d;
	struct fz_judgement j;
};

/* The run went from 100 to 110 for certain; f from 40 to 42 and g from 60 to 68 by self; only
 * the change of g is certain. */
static struct scene *scene(void)
{
	static struct scene s;

	s = (struct scene){
		.functions = { { .name = FZ_STR("f"),
				 .cost = { .self = { 40, 42 }, .total = { 100, 110 } } },
			       { .name = FZ_STR("g"),
				 .cost = { .self = { 60, 68 }, .total = { 60, 68 } } } },
		.self = { { .verdict = FZ_VERDICT_UNKNOWN }, { .verdict = FZ_VERDICT_CHANGED } },
		.d = { .factor = 1, .metric = "cpu", .unit = "ns", .function_count = 2 },
		.j = { .run = { .word = FZ_RUN_SLOWER, .change = 0.1 } },
	};
	s.d.functions = s.functions;
	s.j.self = s.self;
	s.j.total = s.total;
	return &s;
}

static void expect(const struct scene *s, enum fz_gate gate, double threshold, bool closed,
		   const char *said)
{
	struct fz_buf why = { 0 };

	assert_int_equal(fz_gate_closes(gate, threshold, &s->d, &s->j, &why), closed);
	assert_string_equal(why.p ? why.p : "", said);
	fz_buf_release(&why);
}

static void the_run(void **state)
{
	(void)state;
	struct scene *s = scene();

	expect(s, FZ_GATE_NONE, 0, false, "");
	expect(s, FZ_GATE_REGRESSION, 0.05, true,
	       "the run is slower by 10.0 %, past the threshold of 5.0 %");
	expect(s, FZ_GATE_CHANGE, 0.1, true,
	       "the run is slower by 10.0 %, past the threshold of 10.0 %");
	expect(s, FZ_GATE_REGRESSION, 0.101, false, "");
	s->j.run.word = FZ_RUN_UNKNOWN;
	expect(s, FZ_GATE_REGRESSION, 0, false, "");
	expect(s, FZ_GATE_CHANGE, 0, false, "");
	s->j.run = (struct fz_judged_run){ .word = FZ_RUN_FASTER, .change = -0.1 };
	expect(s, FZ_GATE_REGRESSION, 0, false, "");
	expect(s, FZ_GATE_CHANGE, 0.05, true,
	       "the run is faster by 10.0 %, past the threshold of 5.0 %");
}

static void missing_verdict_of_run_is_reported(void **state)
{
	(void)state;
	struct scene *s = scene();

	s->j.run = (struct fz_judged_run){ .word = FZ_RUN_UNKNOWN, .change = NAN };
	expect(s, FZ_GATE_REGRESSION, 0, false,
	       "no verdict for the run, so the gate was not applied; shares and windows never have "
	       "one");
}

static void functions(void **state)
{
	(void)state;
	struct scene *s = scene();

	expect(s, FZ_GATE_FUNCTION, 0.05, true,
	       "a function is slower, past the threshold of 5.0 %: g");
	expect(s, FZ_GATE_FUNCTION, 0.2, false, "");
	/* Relative to the scaled base: 66 to 68, which is 3.03 %. */
	s->d.factor = 1.1;
	expect(s, FZ_GATE_FUNCTION, 0.03, true,
	       "a function is slower, past the threshold of 3.0 %: g");
	expect(s, FZ_GATE_FUNCTION, 0.032, false, "");
	s->d.factor = 1;
	s->total[0].verdict = FZ_VERDICT_CHANGED;
	expect(s, FZ_GATE_FUNCTION, 0.05, true,
	       "functions are slower, past the threshold of 5.0 %: f most of all");
	s->self[1].verdict = s->total[0].verdict = FZ_VERDICT_UNCHANGED;
	expect(s, FZ_GATE_FUNCTION, 0, false, "");
	/* A cheaper function is not a regression; a new one exceeds every threshold. */
	s->self[1].verdict = FZ_VERDICT_CHANGED;
	s->functions[1].cost = (struct fz_diff_cost){ .self = { 60, 6 }, .total = { 60, 6 } };
	expect(s, FZ_GATE_FUNCTION, 0, false, "");
	s->functions[1].cost = (struct fz_diff_cost){ .self = { 0, 6 }, .total = { 0, 6 } };
	expect(s, FZ_GATE_FUNCTION, 100, true,
	       "a function is slower, past the threshold of 10,000 %: g");
}

/* A run is not slower by its bytes, and of what is counted it has more. */
static void words(void **state)
{
	(void)state;
	struct scene *s = scene();

	s->d.metric = "peak";
	s->d.unit = "bytes";
	expect(s, FZ_GATE_REGRESSION, 0.05, true,
	       "the run is larger by 10.0 %, past the threshold of 5.0 %");
	expect(s, FZ_GATE_FUNCTION, 0.05, true,
	       "a function is larger, past the threshold of 5.0 %: g");
	s->d.metric = "allocations";
	s->d.unit = "count";
	expect(s, FZ_GATE_REGRESSION, 0.05, true,
	       "the run has more by 10.0 %, past the threshold of 5.0 %");
	s->total[0].verdict = FZ_VERDICT_CHANGED;
	expect(s, FZ_GATE_FUNCTION, 0.05, true,
	       "functions have more, past the threshold of 5.0 %: f most of all");
	s->j.run = (struct fz_judged_run){ .word = FZ_RUN_FASTER, .change = -0.1 };
	expect(s, FZ_GATE_CHANGE, 0.05, true,
	       "the run has fewer by 10.0 %, past the threshold of 5.0 %");
	s->d.metric = "instructions";
	expect(s, FZ_GATE_CHANGE, 0.05, true,
	       "the run is faster by 10.0 %, past the threshold of 5.0 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_run),
		cmocka_unit_test(missing_verdict_of_run_is_reported),
		cmocka_unit_test(functions),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
