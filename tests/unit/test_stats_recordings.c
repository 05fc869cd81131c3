/* SPDX-License-Identifier: MIT */
/* Verdicts on real recordings: one program recorded five times (A), and five times with a third
 * more work in one of its functions (B), by perf's task clock and by Tachyon, on a busy machine.
 *
 * All choices of one or two runs per side of the same version are compared: nothing may have
 * changed. Three runs of A against three of B must show the change, with the order of samples and
 * without. The recordings are outside the repository (FZ_SHARED); missing ones are skipped. Every
 * test prints its counts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/io.h"
#include "compare/diff.h"
#include "compare/judge.h"
#include "format/format.h"
#include "profile/merge.h"

enum { RUNS = 5 };

/* Recordings of one version by one sampler. */
struct set {
	const char *folder, *suffix;
	struct fz_profile *run[RUNS];
};

static const enum fz_scale_mode scales[] = { FZ_SCALE_TIME, FZ_SCALE_SHARE, FZ_SCALE_REFERENCE };

/* ---- loading ---- */

/* "name\x1ffile" */
static uint32_t frame_of(struct fz_profile *p, const char *text)
{
	const char *file = strchr(text, '\x1f');

	assert_non_null(file);
	return fz_profile_frame_named(p, (struct fz_str){ text, (size_t)(file - text) },
				      fz_str_of(file + 1), FZ_NO_LINE, FZ_KIND_PYTHON);
}

static struct fz_profile *new_sequence(void)
{
	struct fz_profile *p = fz_profile_new();

	p->recording.interval_ns = 1000000;
	p->recording.complete = true;
	p->samples.ordered = true;
	fz_profile_set_fact(p, "clock", FZ_STR("perf task-clock"));
	fz_profile_add_metric(p, FZ_STR("cpu"), FZ_STR("ns"), 1000000, false);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	return p;
}

/* {"stacks": [["name\x1ffile", ...root first], ...], "s": [stack of each sample]} */
static struct fz_profile *read_sequence(json_t *root)
{
	struct fz_profile *p = new_sequence();
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	json_t *stacks = json_object_get(root, "stacks"), *stack, *frame, *index;
	fz_auto(fz_free_ptr) uint32_t *id = fz_calloc(json_array_size(stacks) + 1, sizeof(*id));
	struct fz_sample sample = { .thread = fz_profile_thread(p, &thread) };
	size_t i, k;

	json_array_foreach(stacks, i, stack)
	{
		id[i] = FZ_NONE;
		json_array_foreach(stack, k, frame) id[i] =
			fz_profile_stack(p, id[i], frame_of(p, json_string_value(frame)));
	}
	json_array_foreach(json_object_get(root, "s"), i, index)
	{
		sample.stack = id[json_integer_value(index)];
		fz_profile_add_sample(p, &sample, NULL);
	}
	return p;
}

static struct fz_profile *load_sequence(const char *path)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	struct fz_profile *p;
	struct fz_buf text = { 0 };

	if (fz_input_open(path, &in, NULL) < 0)
		return NULL;
	assert_int_equal(fz_input_read_all(in, &text, 64 << 20, NULL), 0);
	json_t *root = json_loadb(text.p, text.n, 0, NULL);
	fz_buf_release(&text);
	assert_non_null(root);
	p = read_sequence(root);
	json_decref(root);
	return p;
}

static bool load_set(struct set *set)
{
	const char *shared = getenv("FZ_SHARED");

	for (int i = 0; i < RUNS; i++) {
		fz_auto(fz_free_ptr) char *path =
			fz_asprintf("%s/profiles/pairs/aa_ab/%s/%02d%s", shared ? shared : "",
				    set->folder, i + 1, set->suffix);

		if (strcmp(set->suffix, ".bin") == 0)
			fz_format_load(path, &set->run[i], NULL);
		else
			set->run[i] = load_sequence(path);
		if (!set->run[i])
			return false;
	}
	return true;
}

static void release_set(struct set *set)
{
	for (int i = 0; i < RUNS; i++)
		fz_profile_free(set->run[i]);
}

/* ---- comparing ---- */

struct tally {
	size_t comparisons, with_false, functions, runs, tested, small, tested_runs;
	double width;
};

struct comparison {
	struct fz_profile *side[FZ_SIDES];
	struct fz_diff *d;
	struct fz_judgement *j;
};

static void release(struct comparison *c)
{
	fz_judgement_free(c->j);
	fz_diff_free(c->d);
	fz_profile_free(c->side[FZ_BASE]);
	fz_profile_free(c->side[FZ_HEAD]);
}

/* Runs whose bits are set, of each side. */
static struct comparison compare(const struct set *base, unsigned base_runs, const struct set *head,
				 unsigned head_runs, enum fz_scale_mode scale)
{
	struct comparison c = { { fz_profile_new(), fz_profile_new() } };
	struct fz_diff_options options = { .match = FZ_MATCH_NAMES, .scale = scale };
	struct fz_judge_options how = FZ_JUDGE_DEFAULTS;

	for (int i = 0; i < RUNS; i++) {
		if (base_runs >> i & 1)
			assert_int_equal(fz_profile_merge(c.side[FZ_BASE], base->run[i], NULL), 0);
		if (head_runs >> i & 1)
			assert_int_equal(fz_profile_merge(c.side[FZ_HEAD], head->run[i], NULL), 0);
	}
	assert_int_equal(fz_diff_new(c.side[FZ_BASE], c.side[FZ_HEAD], &options, &c.d, NULL), 0);
	c.j = fz_judge(c.d, &how);
	return c;
}

static bool is_changed(const struct fz_judgement *j, uint32_t f)
{
	return j->self[f].verdict == FZ_VERDICT_CHANGED ||
	       j->total[f].verdict == FZ_VERDICT_CHANGED;
}

static void tally_comparison(const struct comparison *c, struct tally *t)
{
	size_t wrong = 0;

	for (uint32_t f = 0; f < c->d->function_count; f++) {
		wrong += is_changed(c->j, f);
		t->tested += !isnan(c->j->self[f].p);
		t->small += c->j->self[f].p < 0.05;
	}
	t->functions += wrong;
	t->with_false += wrong > 0;
	t->runs += c->j->run.word == FZ_RUN_SLOWER || c->j->run.word == FZ_RUN_FASTER;
	t->tested_runs += !isnan(c->j->run.low);
	t->width += isnan(c->j->run.low) ? 0 : (c->j->run.high - c->j->run.low) / 2;
	t->comparisons++;
}

/* Every way to take n runs a side; which side is which does not matter. */
static void split_set(const struct set *set, int n, enum fz_scale_mode scale, struct tally *t)
{
	for (unsigned a = 1; a < 1 << RUNS; a++) {
		for (unsigned b = a + 1; b < 1 << RUNS; b++) {
			if (a & b || __builtin_popcount(a) != n || __builtin_popcount(b) != n)
				continue;
			struct comparison c = compare(set, a, set, b, scale);

			tally_comparison(&c, t);
			release(&c);
		}
	}
}

static void compare_with_itself(const char *folder, const char *suffix)
{
	struct set set = { .folder = folder, .suffix = suffix };

	if (!load_set(&set)) {
		release_set(&set);
		skip();
	}
	for (size_t s = 0; s < FZ_ARRAY_LEN(scales); s++) {
		for (int n = 1; n <= 2; n++) {
			struct tally t = { 0 };

			split_set(&set, n, scales[s], &t);
			print_message("%s, %d-%d, %s: %zu comparisons, %zu with a false function "
				      "(%zu), %zu runs, P(p<.05) %.1f %%, half width %.0f %%\n",
				      folder, n, n, fz_scale_names[scales[s]], t.comparisons,
				      t.with_false, t.functions, t.runs,
				      100 * (double)t.small / (double)t.tested,
				      100 * t.width / (double)t.tested_runs);
			assert_true(20 * t.with_false <= t.comparisons);
			assert_true(20 * t.small <= t.tested);
			/* Scaled by the typical function, the run itself is not judged. */
			if (scales[s] == FZ_SCALE_TIME)
				assert_true(20 * t.runs <= t.comparisons);
		}
	}
	release_set(&set);
}

static void test_task_clock(void **state)
{
	(void)state;
	compare_with_itself("perf_taskclock_A", ".seq.json.gz");
	compare_with_itself("perf_taskclock_B", ".seq.json.gz");
}

static void test_tachyon(void **state)
{
	(void)state;
	compare_with_itself("tachyon_cpu_A", ".bin");
	compare_with_itself("tachyon_wall_A", ".bin");
	compare_with_itself("tachyon_wall_B", ".bin");
}

/* ---- what was planted ---- */

/* Samples as folded text has them: how many of each stack, and no clock. */
static void forget_order(struct set *set)
{
	for (int i = 0; i < RUNS; i++) {
		struct fz_profile *p = set->run[i];

		p->samples.ordered = false;
		p->recording.interval_ns = 0;
		fz_profile_set_fact(p, "clock", FZ_STR(""));
		for (size_t k = 0; k < p->samples.n; k++)
			p->samples.status[k] |= FZ_STATUS_UNKNOWN;
	}
}

/* The encoder and the decoder of JSON do a third more, and so does what calls them. */
static bool is_planted(const struct fz_diff_function *f)
{
	static const char *const planted[] = { "js",
					       "dumps",
					       "loads",
					       "main",
					       "<module>",
					       "JSONEncoder.encode",
					       "JSONEncoder.iterencode",
					       "JSONDecoder.decode",
					       "JSONDecoder.raw_decode" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(planted); i++)
		if (fz_str_eq(f->name, fz_str_of(planted[i])))
			return true;
	return false;
}

static void find_planted(const struct comparison *c, bool *found, bool *wrong)
{
	for (uint32_t f = 0; f < c->d->function_count; f++) {
		const struct fz_diff_function *function = &c->d->functions[f];

		if (!is_planted(function))
			*wrong |= is_changed(c->j, f);
		if (fz_str_eq(function->name, FZ_STR("JSONEncoder.iterencode")))
			*found |= c->j->self[f].verdict == FZ_VERDICT_CHANGED &&
				  c->j->self[f].low > 0;
	}
}

static void compare_planted(const struct set *base, const struct set *head,
			    enum fz_scale_mode scale)
{
	unsigned comparisons = 0, found = 0, wrong = 0;

	for (unsigned a = 1; a < 1 << RUNS; a++) {
		for (unsigned b = 1; b < 1 << RUNS; b++) {
			if (__builtin_popcount(a) != 3 || __builtin_popcount(b) != 3 ||
			    (a + b) % 4 != 0)
				continue;
			struct comparison c = compare(base, a, head, b, scale);
			bool is_found = false, is_wrong = false;

			find_planted(&c, &is_found, &is_wrong);
			found += is_found;
			wrong += is_wrong;
			comparisons++;
			release(&c);
		}
	}
	print_message("three against three, %s, %s: found in %u of %u, false in %u\n",
		      base->run[0]->samples.ordered ? "in order" : "without order",
		      fz_scale_names[scale], found, comparisons, wrong);
	assert_true(12 * found >= 11 * comparisons);
	assert_true(20 * wrong <= comparisons);
}

static void test_planted(void **state)
{
	struct set base = { "perf_taskclock_A", ".seq.json.gz", { 0 } };
	struct set head = { "perf_taskclock_B", ".seq.json.gz", { 0 } };

	(void)state;
	if (!load_set(&base) || !load_set(&head)) {
		release_set(&base);
		release_set(&head);
		skip();
	}
	compare_planted(&base, &head, FZ_SCALE_TIME);
	compare_planted(&base, &head, FZ_SCALE_SHARE);
	forget_order(&base);
	forget_order(&head);
	compare_planted(&base, &head, FZ_SCALE_TIME);
	compare_planted(&base, &head, FZ_SCALE_SHARE);
	release_set(&base);
	release_set(&head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task_clock),
		cmocka_unit_test(test_tachyon),
		cmocka_unit_test(test_planted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
