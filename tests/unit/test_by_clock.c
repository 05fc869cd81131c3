/* SPDX-License-Identifier: MIT */
/* Programs that run for a fixed time, on a machine whose speed differs between the sides: doing
 * more or less work is not a change. Synthetic recordings of five programs that cycle through their
 * functions for two seconds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../stats/verdict_rates.h"
#include "agree.h"
#include "judged.h"
#include "profile/speed.h"

enum { PROGRAMS = 5, PAIRS = 15, PARTS_MOST = 12, SECONDS_NS = 2000000000 };

/* Functions of a round, with the samples that each takes at full speed. */
struct rounds {
	int parts;
	double length[PARTS_MOST];
	int64_t until; /* ns; 0: a number of rounds instead */
	int rounds;
	bool cpu;
};

static struct rounds program_of(int which)
{
	struct rounds r = { .parts = 1 + 2 * which, .until = SECONDS_NS, .cpu = which % 2 };

	for (int i = 0; i < r.parts; i++)
		r.length[i] = 0.5 / (1 + i) + 0.1;
	return r;
}

/* pace: the logarithm of how much longer the machine takes for everything; waits: for a CPU, in
 * samples, for each on one. */
static struct fz_profile *record(struct chance *c, const struct rounds *r, double pace,
				 double waits)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t thread =
		fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	struct fz_sample s = { .thread = thread, .time = (int64_t)(c->seed % 1000) };
	int64_t look = 0;
	double left = 0, own = 0.02 * chance_normal(c);

	p->recording.interval_ns = MADE_INTERVAL;
	p->recording.complete = true;
	p->samples.ordered = p->samples.timed = true;
	fz_profile_set_fact(p, "clock", r->cpu ? FZ_STR("perf task-clock") : FZ_STR("wall"));
	fz_profile_set_fact(p, "cpu", FZ_STR("made up"));
	fz_profile_set_fact(p, "speed", FZ_STR("made up"));
	fz_profile_add_metric(p, r->cpu ? FZ_STR("cpu") : FZ_STR("wall"), FZ_STR("ns"),
			      MADE_INTERVAL, true);
	fz_profile_add_metric(p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
	for (int round = 0; r->until ? s.time < r->until : round < r->rounds; round++) {
		for (int i = 0; i < r->parts; i++) {
			s.stack = made_stack(p, i);
			left += r->length[i] * exp(pace + own) * (0.8 + 0.4 * chance_uniform(c));
			for (; left >= 1; left--) {
				if (s.time >= look) {
					double cost =
						MADE_PIECE * exp(pace + 0.01 * chance_normal(c));
					fz_speed_add(&p->speed, &(struct fz_speed_probe){
									.time = s.time,
									.cost = (uint32_t)cost });
					look += MADE_PROBE_EVERY;
				}
				made_sample(p, &s, true);
				while (!r->cpu && chance_uniform(c) < waits / (1 + waits))
					made_sample(p, &s, false);
			}
		}
	}
	p->recording.duration_ns = s.time + 5000000 + (int64_t)(1e7 * chance_uniform(c));
	fz_profile_add_run(p, &(struct fz_run){ .duration_ns = p->recording.duration_ns });
	return p;
}

static unsigned certain(const struct verdict *v)
{
	unsigned n = v->j->run.word == FZ_RUN_SLOWER || v->j->run.word == FZ_RUN_FASTER;

	for (uint32_t i = 0; i < v->d->function_count; i++)
		n += v->j->self[i].verdict == FZ_VERDICT_CHANGED ||
		     v->j->total[i].verdict == FZ_VERDICT_CHANGED;
	return n;
}

static bool is_warned(const struct fz_diff *d)
{
	for (uint32_t i = 0; i < d->warning_count; i++)
		if (strstr(d->warnings[i], "fixed time"))
			return true;
	return false;
}

static void test_nothing_changed(void **state)
{
	struct chance c = { .seed = 31 };
	unsigned wrong = 0, pairs = 0;

	(void)state;
	for (int which = 0; which < PROGRAMS; which++) {
		struct rounds r = program_of(which);

		for (int k = 0; k < PAIRS; k++, pairs++) {
			double slower = 0.1 + 0.5 * chance_uniform(&c);
			struct fz_profile *base = record(&c, &r, 0, 0.1);
			struct fz_profile *head = record(&c, &r, slower, 0.2 + 2 * slower);
			judged v = judge_with(base, head, (struct fz_diff_options){ 0 },
					      FZ_JUDGE_DEFAULTS);

			assert_true(v.d->speed_scale.used);
			check_agreement(v.d, v.j);
			assert_true(is_warned(v.d));
			wrong += certain(&v) > 0;
		}
	}
	print_message("%u of %u pairs have anything certain\n", wrong, pairs);
	assert_true(20 * wrong <= pairs);
}

/* One function that takes three times as much is still found. */
static void test_one_changed(void **state)
{
	struct chance c = { .seed = 32 };
	struct rounds r = program_of(3), dearer = r;

	(void)state;
	dearer.length[2] *= 4;
	judged v = judge_with(record(&c, &r, 0, 0), record(&c, &dearer, 0.1, 0),
			      (struct fz_diff_options){ 0 }, FZ_JUDGE_DEFAULTS);
	for (uint32_t i = 0; i < v.d->function_count; i++)
		if (fz_str_eq(v.d->functions[i].name, FZ_STR("f2")))
			assert_int_equal(v.j->self[i].verdict, FZ_VERDICT_CHANGED);
}

/* What does the same work takes longer on a slower machine: nothing to warn of, and a change of
 * it is found. */
static void test_same_work(void **state)
{
	struct chance c = { .seed = 33 };
	struct rounds r = program_of(4), less = r;

	(void)state;
	r.until = less.until = 0;
	r.rounds = 900;
	less.rounds = 450;
	judged same = judge_with(record(&c, &r, 0, 0), record(&c, &r, 0.3, 0),
				 (struct fz_diff_options){ 0 }, FZ_JUDGE_DEFAULTS);
	assert_false(is_warned(same.d));
	assert_int_equal(certain(&same), 0);
	judged faster = judge_with(record(&c, &r, 0, 0), record(&c, &less, 0.3, 0),
				   (struct fz_diff_options){ 0 }, FZ_JUDGE_DEFAULTS);
	assert_false(is_warned(faster.d));
	assert_int_equal(faster.j->run.word, FZ_RUN_FASTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_changed),
		cmocka_unit_test(test_one_changed),
		cmocka_unit_test(test_same_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
