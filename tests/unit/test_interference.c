/* SPDX-License-Identifier: MIT */
/* Differences of wall time that other programs may cause are not changes: waits for disks and
 * processors, and sleep while others used the processors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "judged.h"
#include "profile/speed.h"

enum { MS = 1000000, COMPUTING = 8, TURNS = 150 };

enum doing { COMPUTES, SLEEPS, DISK, PROCESSOR, READS, IMPORTS, SEARCHES, COLLECTS };

struct made {
	struct fz_profile *p;
	uint16_t run;
	int64_t time;
};

static void add(struct made *m, const char *name, enum doing what, unsigned samples)
{
	if (what == READS) { /* and waits for it half of the time */
		add(m, name, DISK, samples / 2);
		add(m, name, COMPUTES, samples - samples / 2);
		return;
	}
	const char *importlib = "<frozen importlib._bootstrap>";
	bool collects = what == COLLECTS, imports = what == IMPORTS, searches = what == SEARCHES;
	const char *file = searches ? importlib : collects ? "~" : "app.py";
	uint32_t importer = fz_profile_frame_named(m->p, FZ_STR("import"), fz_str_of(importlib), 1,
						   FZ_KIND_PYTHON);
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	struct fz_sample s = {
		.run = m->run,
		.thread = fz_profile_thread(m->p, &thread),
		.stack = fz_profile_stack(
			m->p, imports ? fz_profile_stack(m->p, FZ_NONE, importer) : FZ_NONE,
			fz_profile_frame_named(m->p, fz_str_of(name), fz_str_of(file), 1,
					       collects ? FZ_KIND_MARKER : FZ_KIND_PYTHON)),
		.status = what == COMPUTES || what >= IMPORTS ? FZ_STATUS_ON_CPU : 0,
	};
	int64_t weights[] = { MS, what == PROCESSOR ? MS : 0, what == DISK ? MS : 0 };

	for (unsigned i = 0; i < samples; i++) {
		s.time = m->time += MS;
		fz_profile_add_sample(m->p, &s, weights);
	}
}

/* Besides computing, a program waits in `idle` for a number of samples in each of its `runs`. */
static struct fz_profile *program(unsigned runs, enum doing what, const unsigned *idle,
				  int others_percent)
{
	struct made m = { .p = fz_profile_new() };
	char name[8];

	m.p->recording.interval_ns = MS;
	m.p->recording.complete = true;
	m.p->samples.ordered = m.p->samples.timed = true;
	fz_profile_set_fact(m.p, "clock", FZ_STR("wall"));
	fz_profile_add_metric(m.p, FZ_STR("wall"), FZ_STR("ns"), MS, true);
	fz_profile_add_metric(m.p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(m.p, FZ_STR("disk"), FZ_STR("ns"), 0, true);
	for (m.run = 0; m.run < runs; m.run++) {
		struct fz_run run = {
			.load = { .ran_ns = 1, .machine_ns = 100, .others_ns = others_percent }
		};
		fz_profile_add_run(m.p, &run);
		m.time = 0;
		for (unsigned turn = 0; turn < TURNS; turn++)
			for (unsigned i = 0; i < COMPUTING; i++) {
				snprintf(name, sizeof(name), "f%u", i);
				add(&m, name, COMPUTES, 1 + (turn + i) % 2);
			}
		add(&m, what == COLLECTS ? "<GC>" : "idle", what, idle[m.run]);
	}
	return m.p;
}

static struct verdict judge(struct fz_profile *base, struct fz_profile *head)
{
	struct fz_diff_options by_time = { .scale = FZ_SCALE_TIME };

	return judge_with(base, head, by_time, FZ_JUDGE_DEFAULTS);
}

static struct verdict judge_one(enum doing what, unsigned base, unsigned head, int others)
{
	return judge(program(1, what, &base, others), program(1, what, &head, others));
}

static enum fz_verdict verdict_of(const struct verdict *v, const char *name)
{
	return v->j->self[number_named(v->d, name)].verdict;
}

static enum fz_verdict verdict_of_idle(const struct verdict *v)
{
	return verdict_of(v, "idle");
}

static void test_disk(void **state)
{
	static const struct {
		enum doing what;
		bool told;
	} cases[] = { { COMPUTES, true },
		      { SLEEPS, true },
		      { DISK, false },
		      { PROCESSOR, false },
		      { READS, false } };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		judged v = judge_one(cases[i].what, 100, 5000, 0);
		judged back = judge_one(cases[i].what, 5000, 100, 0);

		assert_int_equal(verdict_of_idle(&v) == FZ_VERDICT_CHANGED, cases[i].told);
		assert_int_equal(v.j->run.word == FZ_RUN_SLOWER, cases[i].told);
		assert_int_equal(verdict_of_idle(&back) == FZ_VERDICT_CHANGED, cases[i].told);
		assert_int_equal(back.j->run.word == FZ_RUN_FASTER, cases[i].told);
	}
}

/* Who holds the lock got half of a processor. */
static void test_sleep_beside_others(void **state)
{
	(void)state;
	judged quiet = judge_one(SLEEPS, 1000, 1900, 2);
	judged busy = judge_one(SLEEPS, 1000, 1900, 50);
	judged beyond = judge_one(SLEEPS, 1000, 4000, 50);

	assert_int_equal(verdict_of_idle(&quiet), FZ_VERDICT_CHANGED);
	assert_int_equal(verdict_of_idle(&busy), FZ_VERDICT_UNKNOWN);
	assert_int_equal(verdict_of_idle(&beyond), FZ_VERDICT_CHANGED);
}

/* Caches hold others' code, memory and files. */
static void test_cold_beside_others(void **state)
{
	static const struct {
		const char *name;
		enum doing what;
		unsigned within, beyond; /* of what it took before, in percent */
	} cases[] = {
		{ "idle", COMPUTES, 100, 150 },
		{ "idle", IMPORTS, 150, 300 },
		{ "idle", SEARCHES, 300, 1000 },
		{ "<GC>", COLLECTS, 200, 500 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		unsigned within = 10 * cases[i].within, beyond = 10 * cases[i].beyond;
		judged quiet = judge_one(cases[i].what, 1000, beyond, 2);
		judged unsure = judge_one(cases[i].what, 1000, within, 80);
		judged told = judge_one(cases[i].what, 1000, beyond, 80);

		assert_int_equal(verdict_of(&quiet, cases[i].name), FZ_VERDICT_CHANGED);
		assert_int_not_equal(verdict_of(&unsure, cases[i].name), FZ_VERDICT_CHANGED);
		assert_int_equal(verdict_of(&told, cases[i].name), FZ_VERDICT_CHANGED);
	}
}

/* Sets the times at which runs began: the n-th one at first + n * step. */
static struct fz_profile *begun(struct fz_profile *p, int64_t first, int64_t step)
{
	for (uint32_t i = 0; i < p->run_count; i++)
		p->runs[i].start_unix_ns = (first + i * step) * 1000 * MS;
	return p;
}

/* Alternating runs show by themselves how long a disk takes. Runs of one side after those of the
 * other do not: something else may have used the disk meanwhile. */
static void test_several(void **state)
{
	static const unsigned base[] = { 1000, 1010, 990, 1005, 995 };
	static const unsigned head[] = { 2000, 2010, 1990, 2005, 1995 };

	(void)state;
	judged alternating = judge(begun(program(5, DISK, base, 0), 1000, 20),
				   begun(program(5, DISK, head, 0), 1010, 20));
	judged apart = judge(begun(program(5, DISK, base, 0), 1000, 10),
			     begun(program(5, DISK, head, 0), 2000, 10));
	judged computing = judge(begun(program(5, COMPUTES, base, 0), 1000, 10),
				 begun(program(5, COMPUTES, head, 0), 2000, 10));

	assert_int_equal(verdict_of_idle(&alternating), FZ_VERDICT_CHANGED);
	assert_int_equal(verdict_of_idle(&apart), FZ_VERDICT_UNKNOWN);
	assert_int_equal(verdict_of_idle(&computing), FZ_VERDICT_CHANGED);
}

/* Makes all of a program slower, on a machine whose speed is known and the same throughout. */
static struct fz_profile *at_one_speed(struct fz_profile *p, int percent)
{
	fz_profile_set_fact(p, "cpu", FZ_STR("made up"));
	fz_profile_set_fact(p, "speed", FZ_STR("made up"));
	for (size_t row = 0; row < p->samples.n; row++) {
		p->metrics[0].column[row] += p->metrics[0].column[row] * percent / 100;
		p->samples.time[row] += percent; /* equal times mean one recording */
		fz_speed_add(&p->speed, &(struct fz_speed_probe){ .run = p->samples.run[row],
								  .time = p->samples.time[row],
								  .cost = 8000 });
	}
	return p;
}

/* Judges three runs per side of a program that became 12 % slower. */
static enum fz_run_word word_of(bool alternating, int others)
{
	static const unsigned idle[] = { 0, 0, 0 };
	struct fz_profile *base = at_one_speed(program(3, COMPUTES, idle, others), 0);
	struct fz_profile *head = at_one_speed(program(3, COMPUTES, idle, others), 12);

	judged v = judge(begun(base, 1000, 20), begun(head, alternating ? 1010 : 2000, 20));
	assert_true(v.d->speed_scale.used);
	return v.j->run.word;
}

/* Runs of one side, one after the other, have the same neighbours. */
static void test_neighbours_of_a_side(void **state)
{
	(void)state;
	assert_int_equal(word_of(true, 90), FZ_RUN_SLOWER);
	assert_int_equal(word_of(false, 90), FZ_RUN_UNKNOWN);
	assert_int_equal(word_of(false, 2), FZ_RUN_SLOWER);
}

/* A program of four functions, of which only the state of its thread is known. It is on
 * a CPU in one of `every` samples. */
static struct fz_profile *crowded(unsigned every, uint8_t waits)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	struct fz_sample s = { .thread = fz_profile_thread(p, &thread) };
	int64_t weight = MS;
	char name[8];

	p->recording.interval_ns = MS;
	p->recording.complete = true;
	p->recording.mode = FZ_MODE_WALL;
	p->samples.ordered = p->samples.timed = true;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), MS, true);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	for (unsigned i = 0; i < 1600 * every; i++) {
		snprintf(name, sizeof(name), "f%u", i / (4 * every) % 4);
		s.stack = fz_profile_stack(p, FZ_NONE,
					   fz_profile_frame_named(p, fz_str_of(name),
								  FZ_STR("app.py"), 1,
								  FZ_KIND_PYTHON));
		s.status = i % every == 0 ? FZ_STATUS_ON_CPU | FZ_STATUS_HAS_GIL : waits;
		s.time += MS;
		fz_profile_add_sample(p, &s, &weight);
	}
	return p;
}

static enum fz_run_word word_beside(unsigned base, unsigned head, uint8_t waits)
{
	judged v = judge(crowded(base, waits), crowded(head, waits));

	return v.j->run.word;
}

/* A thread that waits for a CPU keeps the GIL, however rarely it gets one; one that sleeps does
 * not. */
static void test_crowded_machine(void **state)
{
	(void)state;
	assert_int_equal(word_beside(15, 3, FZ_STATUS_HAS_GIL), FZ_RUN_UNKNOWN);
	assert_int_equal(word_beside(3, 15, FZ_STATUS_HAS_GIL), FZ_RUN_UNKNOWN);
	assert_int_equal(word_beside(60, 6, 0), FZ_RUN_FASTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_sleep_beside_others),
		cmocka_unit_test(test_cold_beside_others),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_neighbours_of_a_side),
		cmocka_unit_test(test_crowded_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
