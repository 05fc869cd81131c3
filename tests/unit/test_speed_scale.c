/* SPDX-License-Identifier: MIT */
/* Scaling the head to the base's speed: effects of a slower machine, waits for a processor and
 * sleep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/diff.h"
#include "compare/evidence.h"
#include "compare/judge.h"
#include "profile/speed.h"
#include "report/html.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/text.h"

#define MS 1000000LL

struct made {
	struct fz_profile *p;
	int64_t time;
	uint64_t tid; /* of the thread whose samples are added */
};

static struct made made(void)
{
	struct fz_profile *p = fz_profile_new();

	p->recording.interval_ns = MS;
	p->recording.complete = true;
	p->samples.ordered = p->samples.timed = true;
	fz_profile_set_fact(p, "clock", FZ_STR("wall"));
	fz_profile_set_fact(p, "cpu", FZ_STR("made up"));
	fz_profile_set_fact(p, "speed", FZ_STR("made up"));
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	return (struct made){ .p = p, .tid = 1 };
}

enum doing { COMPUTES, WAITS, SLEEPS };

static uint32_t stack_of(const struct made *m, uint32_t caller, const char *name)
{
	return fz_profile_stack(
		m->p, caller,
		fz_profile_frame_named(m->p, fz_str_of(name), FZ_STR("app.py"), 1, FZ_KIND_PYTHON));
}

/* A stack does that for a number of samples, on a machine with that cost of the piece of work. */
static void add_stack(struct made *m, uint32_t stack, enum doing what, int samples, uint32_t piece)
{
	int64_t interval = m->p->recording.interval_ns;
	struct fz_thread thread = { .pid = 1, .tid = m->tid, .is_main = m->tid == 1 };
	struct fz_sample s = {
		.thread = fz_profile_thread(m->p, &thread),
		.stack = stack,
		.status = what == COMPUTES ? FZ_STATUS_ON_CPU : 0,
	};
	int64_t weights[] = { interval, what == WAITS ? interval : 0 };

	for (int i = 0; i < samples; i++) {
		fz_speed_add(&m->p->speed,
			     &(struct fz_speed_probe){ .time = m->time, .cost = piece });
		s.time = m->time += interval;
		fz_profile_add_sample(m->p, &s, weights);
	}
}

static void add(struct made *m, const char *name, enum doing what, int samples, uint32_t piece)
{
	add_stack(m, stack_of(m, FZ_NONE, name), what, samples, piece);
}

/* Both sides' costs of a function, or of the run, in samples. */
struct costs {
	double base, head;
};

static struct costs compare(const struct made *base, const struct made *head, const char *name)
{
	struct fz_diff_options options = { .scale = FZ_SCALE_TIME, .match = FZ_MATCH_NAMES };
	struct fz_diff *d = NULL;
	struct fz_error err;

	if (fz_diff_new(base->p, head->p, &options, &d, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(d->speed_scale.used);
	struct costs found = { (double)d->total[FZ_BASE] / MS, (double)d->total[FZ_HEAD] / MS };
	for (uint32_t i = 0; name && i < d->function_count; i++)
		if (fz_str_eq(d->functions[i].name, fz_str_of(name)))
			found = (struct costs){ (double)d->functions[i].cost.self[FZ_BASE] / MS,
						(double)d->functions[i].cost.self[FZ_HEAD] / MS };
	fz_diff_free(d);
	return found;
}

static void assert_near(double value, double wanted)
{
	if (value < 0.97 * wanted || value > 1.03 * wanted)
		fail_msg("%.1f instead of %.1f", value, wanted);
}

static void release(struct made *a, struct made *b)
{
	fz_profile_free(a->p);
	fz_profile_free(b->p);
}

static void slower_machine_is_not_a_slower_program(void **state)
{
	struct made base = made(), head = made();

	(void)state;
	add(&base, "work", COMPUTES, 200, 8000);
	add(&base, "nap", SLEEPS, 100, 8000);
	add(&head, "work", COMPUTES, 300, 12000);
	add(&head, "nap", SLEEPS, 150, 12000);
	assert_near(compare(&base, &head, "work").head, 200);
	assert_near(compare(&base, &head, "nap").head, 150);
	assert_near(compare(&base, &head, NULL).head, 350);
	release(&base, &head);
}

/* Waits are shown as in the base, on both sides. */
static void waits_of_the_head_belong_to_the_machine(void **state)
{
	struct made base = made(), head = made();

	(void)state;
	for (int i = 0; i < 50; i++) {
		add(&base, "work", COMPUTES, 4, 8000);
		add(&base, "work", WAITS, 1, 8000);
		add(&head, "work", COMPUTES, 4, 8000);
		add(&head, "work", WAITS, 20, 8000);
	}
	assert_near(compare(&base, &head, "work").base, 250);
	assert_near(compare(&base, &head, "work").head, 250);
	release(&base, &head);
}

/* The quality of the sampling is that of the recording. */
/* JSON, lines and the page, where a thread's states are shares of its samples. */
static void write_files(const struct fz_diff *d, const struct fz_judgement *j,
			struct fz_output *out)
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_error err;

	fz_report_json_diff(d, j, out);
	fz_report_lines_diff(d, j, out);
	assert_int_equal(fz_report_html_diff(d, &o, out, &err), 0);
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		n++;
	return n;
}

static void waits_of_the_head_count_as_samples(void **state)
{
	static const struct fz_text_options plain = { .style = { .ascii = true, .columns = 80 },
						      .limit = 5,
						      .detail = FZ_TEXT_VERBOSE };
	struct fz_diff_options options = {
		.scale = FZ_SCALE_TIME, .match = FZ_MATCH_NAMES, .cells = true, .lines = true
	};
	struct made base = made(), head = made();
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_diff *d = NULL;
	struct fz_error err;

	(void)state;
	add(&base, "work", COMPUTES, 200, 8000);
	add(&head, "work", COMPUTES, 200, 8000);
	add(&head, "work", WAITS, 150, 8000);
	assert_int_equal(fz_diff_new(base.p, head.p, &options, &d, &err), 0);
	assert_true(d->speed_scale.used);
	fz_auto(fz_judgement_freep) struct fz_judgement *j = fz_judge(d, &FZ_JUDGE_DEFAULTS);
	fz_report_text_diff(d, j, &plain, out);
	assert_non_null(strstr(fz_output_buffer(out)->p, "Base: 200 samples"));
	assert_non_null(strstr(fz_output_buffer(out)->p, "Head: 350 samples"));
	write_files(d, j, out);
	assert_int_equal(count(fz_output_buffer(out)->p, "\"samples\": 350,"), 4);
	assert_int_equal(count(fz_output_buffer(out)->p, "\"cpu\": 200,"), 2);
	fz_diff_free(d);
	release(&base, &head);
}

/* A small function with the only long wait, which does twice the work in the head: that is 5 of 205
 * more, not another such wait. */
static void one_long_wait_does_not_set_the_price(void **state)
{
	struct made base = made(), head = made();

	(void)state;
	add(&base, "work", COMPUTES, 200, 8000);
	add(&base, "small", COMPUTES, 5, 8000);
	add(&base, "small", WAITS, 500, 8000);
	add(&head, "work", COMPUTES, 200, 8000);
	add(&head, "small", COMPUTES, 10, 8000);
	assert_near(compare(&base, &head, NULL).head / compare(&base, &head, NULL).base,
		    210.0 / 205);
	release(&base, &head);
}

/* If waits have their own frames, they are shown as measured, and time on a CPU includes none of
 * them. */
static void recorded_waits_are_shown_as_measured(void **state)
{
	struct made base = made(), head = made();

	(void)state;
	base.p->recording.features = head.p->recording.features = FZ_FEATURE_WAITS;
	add(&base, "work", COMPUTES, 200, 8000);
	add(&base, "<CPU wait>", WAITS, 300, 8000);
	add(&head, "work", COMPUTES, 300, 12000);
	add(&head, "<CPU wait>", WAITS, 100, 12000);
	assert_near(compare(&base, &head, "work").base, 200);
	assert_near(compare(&base, &head, "work").head, 200);
	assert_near(compare(&base, &head, "<CPU wait>").base, 300);
	assert_near(compare(&base, &head, "<CPU wait>").head, 100);
	release(&base, &head);
}

/* Observations of a run at one speed, and their cost in samples. */
static struct costs observed(const struct made *m)
{
	fz_auto(fz_free_ptr) int64_t *even = fz_calloc(m->p->samples.n, sizeof(*even));
	struct fz_walk w;

	for (size_t row = 0; row < m->p->samples.n; row++)
		even[row] = MS - fz_sample_weight(m->p, 1, row);
	fz_walk_init(&w, m->p, 0, even);
	struct costs found = { w.run_samples[0], w.run_weight[0] / MS };
	fz_walk_release(&w);
	return found;
}

/* What a call used before it had to wait is known when it waits, and was given for one place. */
static void a_slice_is_one_observation(void **state)
{
	static const struct {
		enum doing what[4];
		int samples[4], observations, cost;
	} cases[] = {
		{ { WAITS, COMPUTES, WAITS }, { 1, 4, 58 }, 1, 4 },
		{ { COMPUTES, WAITS }, { 3, 5 }, 1, 3 },
		{ { WAITS, COMPUTES }, { 25, 10 }, 1, 10 },
		{ { COMPUTES }, { 4 }, 4, 4 },
		{ { COMPUTES, WAITS }, { 30, 5 }, 30, 30 }, /* longer than a tick */
		{ { COMPUTES, WAITS, COMPUTES, WAITS }, { 4, 5, 4, 9 }, 1 + 4, 8 },
		{ { WAITS, COMPUTES, WAITS, COMPUTES }, { 1, 6, 50, 3 }, 1 + 3, 9 },
		{ { COMPUTES, WAITS, SLEEPS, COMPUTES }, { 4, 5, 6, 2 }, 1 + 8, 12 },
		{ { COMPUTES, SLEEPS, WAITS }, { 4, 5, 4 }, 9, 9 },
		{ { WAITS, SLEEPS }, { 5, 4 }, 4, 4 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct made m = made();

		add(&m, "before", COMPUTES, 7, 8000);
		for (size_t k = 0; k < FZ_ARRAY_LEN(cases[i].what); k++)
			add(&m, "call", cases[i].what[k], cases[i].samples[k], 8000);
		add(&m, "after", COMPUTES, 1, 8000);
		struct costs found = observed(&m);
		assert_float_equal(found.base, 8 + cases[i].observations, 0);
		assert_float_equal(found.head, 8 + cases[i].cost, 0);
		fz_profile_free(m.p);
	}
}

/* A module that is imported, or not, in the thread's first slice, sampled every 0.1 ms. */
static struct made imported(int samples, int rest)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct made m = made();
	uint32_t module;

	m.p->recording.interval_ns = MS / 10;
	module = stack_of(&m, FZ_NONE, "<module>");
	add(&m, "start", COMPUTES, 5, 8000);
	for (int i = 0; i < samples; i++)
		add_stack(&m, stack_of(&m, module, names[i % 8]), COMPUTES, 1, 8000);
	add_stack(&m, stack_of(&m, module, "a"), WAITS, 100, 8000);
	if (rest)
		add_stack(&m, stack_of(&m, module, "a"), COMPUTES, rest, 8000);
	add(&m, "work", COMPUTES, 3000, 8000);
	return m;
}

static enum fz_verdict verdict_on_module(struct made base, struct made head)
{
	struct fz_diff_options options = { .scale = FZ_SCALE_TIME, .match = FZ_MATCH_NAMES };
	struct fz_diff *d = NULL;
	struct fz_error err;
	enum fz_verdict found = FZ_VERDICT_UNKNOWN;

	if (fz_diff_new(base.p, head.p, &options, &d, &err) < 0)
		fail_msg("%s", err.message);
	struct fz_judgement *j = fz_judge(d, &FZ_JUDGE_DEFAULTS);
	for (uint32_t i = 0; i < d->function_count; i++)
		if (fz_str_eq(d->functions[i].name, FZ_STR("<module>")))
			found = j->total[i].verdict;
	fz_judgement_free(j);
	fz_diff_free(d);
	release(&base, &head);
	return found;
}

/* What the thread used before it entered the module may count for the module's first slice. */
static void the_first_slice_of_a_total_is_uncertain(void **state)
{
	(void)state;
	assert_int_not_equal(verdict_on_module(imported(90, 0), imported(1, 0)),
			     FZ_VERDICT_CHANGED);
	assert_int_not_equal(verdict_on_module(imported(1, 0), imported(90, 0)),
			     FZ_VERDICT_CHANGED);
	/* It goes on after the wait. */
	assert_int_equal(verdict_on_module(imported(90, 900), imported(1, 0)), FZ_VERDICT_CHANGED);
}

/* A module that runs at the end of a thread, before another thread, which may begin with a wait. */
static struct made imported_last(int samples, bool waits)
{
	struct made m = made();
	uint32_t module;

	m.p->recording.interval_ns = MS / 10;
	module = stack_of(&m, FZ_NONE, "<module>");
	add(&m, "start", COMPUTES, 3000, 8000);
	add(&m, "start", WAITS, 1, 8000);
	add(&m, "start", COMPUTES, 5, 8000);
	add_stack(&m, stack_of(&m, module, "a"), COMPUTES, samples, 8000);
	m.tid++;
	add(&m, "other", waits ? WAITS : COMPUTES, 1, 8000);
	add(&m, "other", COMPUTES, 300, 8000);
	return m;
}

static void a_wait_ends_no_slice_of_another_thread(void **state)
{
	(void)state;
	for (int waits = 0; waits < 2; waits++)
		assert_int_equal(
			verdict_on_module(imported_last(90, waits), imported_last(1, waits)),
			FZ_VERDICT_CHANGED);
}

/* A module during whose import garbage is collected, mostly waiting for a processor. */
static struct made collected(int samples)
{
	struct made m = made();
	uint32_t module, garbage;

	m.p->recording.interval_ns = MS / 10;
	module = stack_of(&m, FZ_NONE, "<module>");
	garbage = fz_profile_stack(
		m.p, module,
		fz_profile_frame_named(m.p, FZ_STR("<GC>"), FZ_STR("~"), 0, FZ_KIND_MARKER));
	add(&m, "start", COMPUTES, 5, 8000);
	add_stack(&m, stack_of(&m, module, "a"), COMPUTES, samples, 8000);
	add_stack(&m, garbage, COMPUTES, 2, 8000);
	add_stack(&m, garbage, WAITS, 2000, 8000);
	add_stack(&m, stack_of(&m, module, "a"), COMPUTES, samples, 8000);
	add(&m, "work", COMPUTES, 3000, 8000);
	return m;
}

/* Waits are no part of what a collection costs. */
static void waits_of_a_collection_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(verdict_on_module(collected(300), collected(900)), FZ_VERDICT_CHANGED);
}

/* A late sampler repeated a sample of the slice. */
static void a_repetition_in_a_slice_keeps_its_cost(void **state)
{
	struct made m = made();

	(void)state;
	add(&m, "call", WAITS, 1, 8000);
	add(&m, "call", COMPUTES, 2, 8000);
	m.time -= MS - MS / 20;
	add(&m, "call", COMPUTES, 1, 8000);
	add(&m, "call", WAITS, 3, 8000);
	assert_float_equal(observed(&m).base, 1, 0);
	assert_float_equal(observed(&m).head, 3, 0);
	fz_profile_free(m.p);
}

/* Squares of the milliseconds that a late sampler did not see. */
static double late(const struct made *m, uint32_t metric)
{
	struct fz_walk w;

	fz_walk_init(&w, m->p, metric, NULL);
	double found = fz_walk_late(&w) / MS / MS;
	fz_walk_release(&w);
	return found;
}

static void a_late_sampler_is_known_by_its_weights(void **state)
{
	struct made m = made();

	(void)state;
	add(&m, "work", COMPUTES, 5, 8000);
	m.p->recording.mode = FZ_MODE_CPU;
	assert_float_equal(late(&m, 0), 0, 0);
	m.p->metrics[0].column[1] = 9 * MS;
	m.p->metrics[0].column[2] = 71 * MS;
	m.p->metrics[0].column[4] = 11 * MS;
	assert_float_equal(late(&m, 0), 70 * 70 + 10 * 10, 1e-6);
	assert_float_equal(late(&m, FZ_METRIC_SAMPLES), 0, 0);
	m.p->recording.mode = FZ_MODE_WALL;
	assert_float_equal(late(&m, 0), 0, 0);
	fz_profile_free(m.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slower_machine_is_not_a_slower_program),
		cmocka_unit_test(waits_of_the_head_belong_to_the_machine),
		cmocka_unit_test(waits_of_the_head_count_as_samples),
		cmocka_unit_test(one_long_wait_does_not_set_the_price),
		cmocka_unit_test(recorded_waits_are_shown_as_measured),
		cmocka_unit_test(a_slice_is_one_observation),
		cmocka_unit_test(the_first_slice_of_a_total_is_uncertain),
		cmocka_unit_test(a_wait_ends_no_slice_of_another_thread),
		cmocka_unit_test(waits_of_a_collection_do_not_count),
		cmocka_unit_test(a_repetition_in_a_slice_keeps_its_cost),
		cmocka_unit_test(a_late_sampler_is_known_by_its_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
