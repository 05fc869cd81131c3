/* SPDX-License-Identifier: MIT */
/* Ranges of a recording's time: they add up to the whole, and two ranges of one recording are
 * judged as parts of one run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../stats/chance.h"
#include "base/io.h"
#include "compare/judge.h"
#include "format/format.h"
#include "profile/range.h"
#include "profile/speed.h"
#include "repeats.h"

#define MS 1000000LL

/* ---- what a range holds ---- */

enum { FUNCTIONS = 6 };

static uint32_t stack_of(struct fz_profile *p, int function)
{
	char name[] = "f0";

	name[1] = (char)('0' + function);
	uint32_t below = fz_profile_stack(
		p, FZ_NONE,
		fz_profile_frame_named(p, FZ_STR("main"), FZ_STR("app.py"), 1, FZ_KIND_PYTHON));
	return fz_profile_stack(p, below,
				fz_profile_frame_named(p, fz_str_of(name), FZ_STR("app.py"),
						       10 + function, FZ_KIND_PYTHON));
}

static void add(struct fz_profile *p, uint16_t run, uint64_t tid, int function, int64_t time,
		int64_t weight)
{
	struct fz_thread thread = { .pid = 1, .tid = tid, .is_main = tid == 1 };

	fz_profile_add_sample(p,
			      &(struct fz_sample){ .run = run,
						   .thread = fz_profile_thread(p, &thread),
						   .stack = stack_of(p, function),
						   .time = time },
			      &weight);
}

static struct fz_profile *empty_by(struct fz_str clock, struct fz_str metric,
				   const int64_t *durations, size_t runs)
{
	struct fz_profile *p = fz_profile_new();

	p->recording.interval_ns = MS;
	fz_profile_set_fact(p, "clock", clock);
	fz_profile_add_metric(p, metric, FZ_STR("ns"), 0, true);
	for (size_t run = 0; run < runs; run++) {
		fz_profile_add_run(p, &(struct fz_run){ .start_unix_ns = 1000 * MS,
							.duration_ns = durations[run] });
		p->recording.duration_ns += durations[run];
	}
	return p;
}

static struct fz_profile *empty(const int64_t *durations, size_t runs)
{
	return empty_by(FZ_STR("perf task-clock"), FZ_STR("cpu"), durations, runs);
}

/* Two runs, three threads, stalls; the same from the same seed. */
static struct fz_profile *recording(uint64_t seed)
{
	static const int64_t durations[] = { 1000 * MS, 700 * MS };
	struct chance c = { seed };
	struct fz_profile *p = empty(durations, 2);

	for (uint16_t run = 0; run < 2; run++)
		for (uint64_t tid = 1; tid <= 3; tid++)
			for (int64_t time = -MS, step; time <= durations[run]; time += step) {
				step = (int64_t)(chance_exponential(&c) * 3 * MS) + 1;
				add(p, run, tid, (int)(chance_uniform(&c) * FUNCTIONS), time, step);
			}
	for (int64_t time = 0; time < durations[0]; time += 4 * MS)
		fz_speed_add(&p->speed, &(struct fz_speed_probe){ .time = time, .cost = 8000 });
	p->recording.complete = true;
	p->runs[0].load.machine_ns = 1;
	return p;
}

static int64_t weigh(const struct fz_profile *p)
{
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		sum += fz_sample_weight(p, 0, row);
	return sum;
}

static void ranges_add_up_to_the_whole(void **state)
{
	struct chance c = { 1 };

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct fz_profile *whole = recording(round);
		uint64_t samples = 0, looks = 0;
		int64_t weight = 0, time = 0, end = fz_profile_end(whole);

		for (int64_t from = 0, to; from < end; from = to) {
			struct fz_profile *part = recording(round);
			to = from + 1 + (int64_t)(chance_uniform(&c) * 400 * MS);
			samples += fz_profile_keep_range(part, &(struct fz_range){ from, to });
			weight += weigh(part);
			looks += part->speed.n;
			time += part->recording.duration_ns;
			assert_false(part->recording.complete);
			assert_int_equal(part->runs[0].load.machine_ns, 0);
			fz_profile_free(part);
		}
		assert_int_equal(samples, fz_profile_sample_total(whole));
		assert_int_equal(weight, weigh(whole));
		assert_int_equal(looks, whole->speed.n);
		/* Each run ends where it was stopped, or with its last sample. */
		assert_true(time >= 1700 * MS && time < 1700 * MS + 100 * MS);
		fz_profile_free(whole);
	}
}

/* Of a trace's sample each range has the part that lies in it. */
static void intervals_are_cut_at_the_edges(void **state)
{
	static const struct {
		int64_t from, to, weight, first, end;
	} cases[] = {
		{ 0, 20, 20, 0, 20 },  /* the first alone */
		{ 5, 8, 3, 0, 3 },     /* within it */
		{ 5, 25, 20, 0, 20 },  /* parts of two */
		{ 20, 30, 10, 0, 10 }, /* edges are edges of samples */
		{ 32, 40, 0, 0, 8 },   /* nothing ran */
		{ 0, 60, 50, 0, 60 },
	};
	static const int64_t duration = 0;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_profile *p = empty(&duration, 1);

		p->samples.spans = true;
		add(p, 0, 1, 0, 0, 20);
		add(p, 0, 1, 1, 20, 10);
		add(p, 0, 1, 0, 40, 20);
		assert_int_equal(fz_profile_end(p), 60);
		fz_profile_keep_range(p, &(struct fz_range){ cases[i].from, cases[i].to });
		assert_int_equal(weigh(p), cases[i].weight);
		for (size_t row = 0; row < p->samples.n; row++)
			assert_true(p->samples.time[row] >= cases[i].first &&
				    fz_sample_end(p, row) <= cases[i].end);
		fz_profile_free(p);
	}
}

/* Folded text of what we recorded counts samples, late ones too, and so does that of its ranges. */
static void folded_text_of_a_range_counts_samples(void **state)
{
	(void)state;
	for (int part = 0; part < 2; part++) {
		struct fz_profile *p = recording(1);
		struct fz_output *out = fz_output_memory();
		struct fz_error err;

		p->quality.known = true;
		fz_profile_set_fact(p, "fizeau", FZ_STR("0.1.0"));
		if (part)
			fz_profile_keep_range(p, &(struct fz_range){ 100 * MS, 400 * MS });
		assert_int_equal(fz_format_folded.write(p, out, &err), 0);
		assert_true(fz_output_buffer(out)->n > 0);
		assert_null(memchr(fz_output_buffer(out)->p, '#', fz_output_buffer(out)->n));
		fz_output_abort(out);
		fz_profile_free(p);
	}
}

static void times_start_at_the_beginning(void **state)
{
	static const int64_t duration[] = { 100 * MS };
	struct fz_profile *p = empty(duration, 1);

	(void)state;
	for (int i = 1; i <= 100; i++)
		add(p, 0, 1, 0, i * MS, MS);
	fz_speed_add(&p->speed, &(struct fz_speed_probe){ .time = 39 * MS, .cost = 1 });
	fz_speed_add(&p->speed, &(struct fz_speed_probe){ .time = 42 * MS, .cost = 2 });
	assert_int_equal(fz_profile_end(p), 100 * MS);
	assert_int_equal(fz_profile_keep_range(p, &(struct fz_range){ 40 * MS, 60 * MS }), 20);
	assert_int_equal(p->samples.time[0], 0);
	assert_int_equal(p->samples.time[19], 19 * MS);
	assert_int_equal(p->runs[0].start_unix_ns, 1040 * MS);
	assert_int_equal(p->runs[0].duration_ns, 20 * MS);
	assert_int_equal(p->recording.duration_ns, 20 * MS);
	assert_int_equal(p->speed.n, 1);
	assert_int_equal(p->speed.probes[0].time, 2 * MS);
	assert_string_equal(fz_profile_fact(p, FZ_RANGE_FACT).p, "40.0 ms to 60.0 ms");
	fz_profile_free(p);
}

/* ---- how two ranges are judged ---- */

enum { SECONDS = 60, RECORDINGS = 12, SPLITS = 10 };

/* A program that is in one of two moods for a second or so. In each it goes from function to
 * function every few milliseconds, so that all of them are seen many times. */
static struct fz_profile *moody(struct chance *c, int64_t changes_at)
{
	static const int64_t duration[] = { SECONDS * 1000 * MS };
	struct fz_profile *p = empty(duration, 1);
	int mood = 0, function = 0;

	for (int64_t time = MS; time <= duration[0]; time += MS) {
		if (chance_uniform(c) < 0.0007)
			mood = !mood;
		if (chance_uniform(c) < 0.3)
			function = (int)(chance_uniform(c) * 3) + 3 * mood;
		/* The last function takes over half of what one of each mood did. */
		bool other = time >= changes_at && function % 3 == 0 && chance_uniform(c) < 0.7;
		add(p, 0, 1, other ? FUNCTIONS : function, time, MS);
	}
	return p;
}

/* Functions that are called changed between ranges of two copies of a recording, named by their
 * number as bits. Frees the copies. */
static unsigned changed(struct fz_profile *base, struct fz_profile *head,
			const struct fz_range *base_range, const struct fz_range *head_range)
{
	struct fz_diff_options options = { .match = FZ_MATCH_NAMES };
	struct fz_judge_options how = FZ_JUDGE_DEFAULTS;
	struct fz_diff *d = NULL;
	struct fz_error err;
	unsigned bits = 0;

	assert_true(fz_profile_keep_range(base, base_range) > 0);
	assert_true(fz_profile_keep_range(head, head_range) > 0);
	if (fz_diff_new(base, head, &options, &d, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(d->scale, FZ_SCALE_WINDOW);
	assert_true(fz_diff_is_one_recording(d));
	struct fz_judgement *j = fz_judge(d, &how);
	for (uint32_t i = 0; i < d->function_count; i++)
		if (j->self[i].verdict == FZ_VERDICT_CHANGED ||
		    j->total[i].verdict == FZ_VERDICT_CHANGED)
			bits |= 1u << (d->functions[i].name.p[1] - '0') % 31;
	fz_judgement_free(j);
	fz_diff_free(d);
	fz_profile_free(base);
	fz_profile_free(head);
	return bits;
}

static unsigned changed_mood(uint64_t seed, int64_t changes_at, const struct fz_range *base,
			     const struct fz_range *head)
{
	return changed(moody(&(struct chance){ seed }, changes_at),
		       moody(&(struct chance){ seed }, changes_at), base, head);
}

/* Two ranges of at least a quarter of the recording, one after the other. */
static void split(struct chance *c, struct fz_range *first, struct fz_range *second)
{
	int64_t all = SECONDS * 1000 * MS, quarter = all / 4;
	int64_t middle = quarter + (int64_t)(chance_uniform(c) * (double)(all - 2 * quarter));

	*first = (struct fz_range){ (int64_t)(chance_uniform(c) * (double)(middle - quarter)),
				    middle };
	*second = (struct fz_range){ middle, middle + quarter +
						     (int64_t)(chance_uniform(c) *
							       (double)(all - middle - quarter)) };
}

static void ranges_of_a_steady_program_are_the_same(void **state)
{
	struct chance c = { 2 };
	int wrong = 0;

	(void)state;
	for (int i = 0; i < repeats(RECORDINGS) * SPLITS; i++) {
		struct fz_range first, second;

		split(&c, &first, &second);
		wrong += changed_mood((uint64_t)(i / SPLITS), INT64_MAX, &first, &second) != 0;
	}
	print_message("%d of %d pairs of ranges have a false change\n", wrong,
		      repeats(RECORDINGS) * SPLITS);
	assert_true(wrong <= RECORDINGS * SPLITS / 20);
}

static void changes_are_found(void **state)
{
	int64_t half = SECONDS * 500 * MS;
	struct fz_range first = { 0, half }, second = { half, INT64_MAX };

	(void)state;
	for (uint64_t seed = 0; seed < (uint64_t)repeats(RECORDINGS); seed++)
		assert_true(changed_mood(seed, half, &first, &second) & 1u << FUNCTIONS);
}

/* By the wall clock; in its second half it waits for a processor most of the time. */
static struct fz_profile *starved(struct chance *c)
{
	static const int64_t duration[] = { 4000 * MS };
	struct fz_profile *p = empty_by(FZ_STR("wall"), FZ_STR("wall"), duration, 1);
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };

	fz_profile_set_fact(p, "cpu", FZ_STR("made up"));
	fz_profile_set_fact(p, "speed", FZ_STR("made up"));
	fz_profile_add_metric(p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
	for (int64_t time = MS, waits = 0; time <= duration[0]; time += MS) {
		bool second = time > duration[0] / 2;
		int64_t weights[] = { MS, waits-- > 0 ? MS : 0 };

		if (second && waits < 0 && chance_uniform(c) < 0.3)
			waits = (int64_t)(chance_exponential(c) * 8);
		struct fz_sample s = {
			.thread = fz_profile_thread(p, &thread),
			.stack = stack_of(p, (int)(chance_uniform(c) * FUNCTIONS)),
			.time = time,
			.status = weights[1] ? 0 : FZ_STATUS_ON_CPU,
		};
		fz_profile_add_sample(p, &s, weights);
	}
	for (int64_t time = 0; time < duration[0]; time += 4 * MS)
		fz_speed_add(&p->speed, &(struct fz_speed_probe){ .time = time, .cost = 8000 });
	return p;
}

static void starved_range_is_not_a_faster_program(void **state)
{
	struct fz_range first = { 0, 2000 * MS }, second = { 2000 * MS, INT64_MAX };

	(void)state;
	for (uint64_t seed = 0; seed < (uint64_t)repeats(RECORDINGS); seed++)
		assert_int_equal(changed(starved(&(struct chance){ seed }),
					 starved(&(struct chance){ seed }), &first, &second),
				 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_add_up_to_the_whole),
		cmocka_unit_test(intervals_are_cut_at_the_edges),
		cmocka_unit_test(folded_text_of_a_range_counts_samples),
		cmocka_unit_test(times_start_at_the_beginning),
		cmocka_unit_test(ranges_of_a_steady_program_are_the_same),
		cmocka_unit_test(changes_are_found),
		cmocka_unit_test(starved_range_is_not_a_faster_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
