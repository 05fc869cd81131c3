/* SPDX-License-Identifier: MIT */
/* Several runs shown as one: sums are divided by the number of runs of their side, and marked so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/comparison.h"
#include "profile/benchmarks.h"
#include "profile/per_run.h"
#include "report/findings.h"

/* n runs with 10 samples of f and 5 of g, each of `each` ns (0: 1,000 to 1,014 in a column). */
static struct fz_profile *with_runs(uint32_t n, int64_t each, int64_t more)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread main = { .pid = 1, .tid = 1, .is_main = true };

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), each, each == 0);
	p->recording.complete = true;
	p->recording.interval_ns = 1000;
	p->samples.ordered = p->samples.timed = true;
	for (uint32_t run = 0; run < n; run++) {
		fz_profile_add_run(p, &(struct fz_run){ 0 });
		for (int i = 0; i < 15; i++) {
			uint32_t frame =
				fz_profile_frame_named(p, i % 3 ? FZ_STR("f") : FZ_STR("g"),
						       FZ_STR("x.py"), 1, FZ_KIND_PYTHON);
			struct fz_sample s = { .run = (uint16_t)run,
					       .stack = fz_profile_stack(p, FZ_NONE, frame),
					       .thread = fz_profile_thread(p, &main) };
			int64_t weight = 1000 + i + more;
			fz_profile_add_sample(p, &s, each ? NULL : &weight);
		}
	}
	return p;
}

static int64_t cost_of(const struct fz_profile *p, uint32_t stack)
{
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] == stack)
			sum += fz_sample_weight(p, 0, row);
	return sum;
}

static void test_profile(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *one = with_runs(1, 0, 0);
	for (uint32_t n = 1; n <= 7; n++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = with_runs(n, 0, 0);
		fz_profile_per_run(p);
		fz_profile_per_run(p);
		assert_int_equal(p->per_run, n > 1);
		for (uint32_t stack = 0; stack < p->stack_count; stack++)
			assert_int_equal(cost_of(p, stack), cost_of(one, stack));
	}
	fz_auto(fz_profile_freep) struct fz_profile *even = with_runs(3, 1000, 0);
	fz_profile_per_run(even);
	assert_int_equal(even->metrics[0].each, 333);
	assert_int_equal(fz_profile_sample_total(even), 45);
}

/* Costs of lines are divided as those of functions are. */
static void check_lines(const struct fz_tree *t, const struct fz_tree *single)
{
	assert_int_equal(t->line_count, 2);
	assert_int_equal(single->line_count, 2);
	for (size_t i = 0; i < t->line_count; i++) {
		assert_int_equal(t->lines[i].total, single->lines[i].total);
		assert_int_equal(t->lines[i].once, single->lines[i].once);
	}
}

/* The same work has the same cost, whatever the numbers of runs; sums still add up. */
static void check_diff(uint32_t base_runs, uint32_t head_runs)
{
	struct fz_profile *base = with_runs(base_runs, 0, 0), *head = with_runs(head_runs, 0, 500);
	fz_auto(fz_profile_freep) struct fz_profile *one = with_runs(1, 0, 0);
	fz_auto(fz_profile_freep) struct fz_profile *other = with_runs(1, 0, 500);
	struct fz_diff *d, *single;
	struct fz_error err;
	int64_t sum[FZ_SIDES] = { 0 };
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	struct fz_diff_options o = { .lines = true };

	assert_int_equal(fz_diff_new(base, head, &o, &d, &err), 0);
	assert_int_equal(fz_diff_new(one, other, &o, &single, &err), 0);
	struct fz_judgement *j = fz_judge(d, &FZ_JUDGE_DEFAULTS);
	double width = j->self[0].high - j->self[0].low;
	struct fz_judged_run run = j->run;
	fz_diff_per_run(d, j, base, head);
	assert_float_equal((j->self[0].high - j->self[0].low) * head_runs, width, 1e-6 * width);
	assert_memory_equal(&run, &j->run, sizeof(run));
	assert_float_equal(d->factor, single->factor, 1e-12);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		assert_int_equal(d->total[s], single->total[s]);
	for (uint32_t i = 0; i < d->node_count; i++)
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			sum[s] += d->nodes[i].cost.self[s];
	assert_int_equal(sum[FZ_BASE], d->total[FZ_BASE]);
	assert_int_equal(sum[FZ_HEAD], d->total[FZ_HEAD]);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		check_lines(d->tree[s], single->tree[s]);
	fz_findings_headline(d, j, &(struct fz_style){ 0 }, &text);
	assert_int_equal(strstr(text.p, " of wall time per run") != NULL,
			 base_runs > 1 || head_runs > 1);
	fz_judgement_free(j);
	fz_diff_free(d);
	fz_diff_free(single);
	fz_profile_free(base);
	fz_profile_free(head);
}

static void test_diff(void **state)
{
	(void)state;
	check_diff(1, 1);
	check_diff(3, 3);
	check_diff(3, 1);
	check_diff(2, 5);
}

/* A benchmark's time is that of one round, however many there were. */
static void test_rounds(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_thread main = { .pid = 1, .tid = 1, .is_main = true };

	(void)state;
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_set_fact(p, "bench", FZ_STR("both"));
	for (int i = 0; i < 7; i++) {
		struct fz_str name = i < 3 ? FZ_STR("three") : i < 6 ? FZ_STR("3") : FZ_STR("one");
		struct fz_sample s = { .stack = fz_benchmark_root(p, name),
				       .thread = fz_profile_thread(p, &main) };
		fz_profile_add_sample(p, &s, (int64_t[]){ 0, 100 + i });
		fz_profile_add_sample(p, &s, (int64_t[]){ 50, 0 });
	}
	fz_profile_per_run(p);
	fz_profile_per_round(p);
	int64_t wall[3] = { 0 }, counts = 0;
	for (size_t row = 0; row < p->samples.n; row++) {
		counts += fz_sample_weight(p, 0, row);
		wall[p->samples.stack[row]] += fz_sample_weight(p, 1, row);
	}
	assert_int_equal(counts, 350);
	assert_int_equal(wall[0], 101);
	assert_int_equal(wall[1], 104);
	assert_int_equal(wall[2], 106);
}

/* A comparison shows costs of one run, changes neither profile, and is the same again. */
static void test_comparison(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *base = with_runs(3, 0, 0);
	fz_auto(fz_profile_freep) struct fz_profile *head = with_runs(2, 0, 500);
	int64_t before[FZ_SIDES] = { cost_of(base, 0), cost_of(head, 0) };

	for (int again = 0; again < 2; again++) {
		fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
		assert_int_equal(fz_comparison_new(base, head, NULL, &c, NULL), 0);
		assert_true(c->diff->per_run && c->diff->factor == 1);
		assert_int_equal(c->diff->total[FZ_BASE], 15 * 1000 + 14 * 15 / 2);
		assert_int_equal(c->diff->total[FZ_HEAD], 15 * 1500 + 14 * 15 / 2);
		assert_ptr_equal(c->diff->recorded[FZ_HEAD], head);
		assert_int_equal(cost_of(base, 0), before[FZ_BASE]);
		assert_int_equal(cost_of(head, 0), before[FZ_HEAD]);
		assert_false(base->per_run || head->per_run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_comparison),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
