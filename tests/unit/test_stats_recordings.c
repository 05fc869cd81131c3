/* SPDX-License-Identifier: MIT */
/* The statistics on real recordings: one program recorded five times (A), and five times with one
 * of its functions doing a third more work (B), by perf's task clock and by Tachyon.
 *
 * A against A must find nothing, A against B that function and nothing else. The recordings lie
 * outside the repository (FZ_SHARED, or ../shared beside the source); without them all is
 * skipped. Every test prints what it measured.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/io.h"
#include "format/format.h"
#include "profile/profile.h"
#include "stats/bh.h"
#include "stats/exposure.h"
#include "stats/quasi.h"
#include "stats/visit.h"

enum { RUNS = 5, FUNCTIONS = 4096 };
enum kind { SELF, TOTAL, KINDS };
static const char *const kind_names[KINDS] = { "self", "total" };

/* One recording as the tests see it. */
struct recording {
	double samples;
	double bursts; /* catch-up samples left out */
	struct fz_visit_sum sum[KINDS][FUNCTIONS];
};

/* Recordings of the same program, functions numbered alike in all. */
struct set {
	const char *folder;
	struct recording *runs; /* RUNS */
};

/* The functions of all recordings: strings "name\x1ffile", the index is the number. */
static struct fz_profile *names;

static char *shared_path(const char *folder, int number, const char *suffix)
{
	static const char *const guesses[] = { "../shared", "../../shared", "../../../shared" };
	const char *shared = getenv("FZ_SHARED");

	for (size_t i = 0; !shared && i < FZ_ARRAY_LEN(guesses); i++)
		if (access(guesses[i], R_OK) == 0)
			shared = guesses[i];
	return fz_asprintf("%s/profiles/pairs/aa_ab/%s/%02d%s", shared ? shared : "", folder,
			   number, suffix);
}

/* ---- visits of a recording: what a caller of stats/visit.h does ---- */

struct counting {
	struct fz_visits visits[KINDS][FUNCTIONS];
	uint64_t at;
};

/* `frames` are function numbers, root first, on the stack in one sample. */
static void count_sample(struct counting *c, const uint32_t *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fz_visits_enter(&c->visits[TOTAL][frames[i]], c->at);
	for (size_t i = 0; i < n; i++)
		fz_visits_leave(&c->visits[TOTAL][frames[i]], c->at + 1);
	if (n > 0)
		fz_visits_add(&c->visits[SELF][frames[n - 1]], c->at, 1);
	c->at++;
}

static void finish_counting(struct counting *c, struct recording *r)
{
	for (int kind = 0; kind < KINDS; kind++)
		for (uint32_t f = 0; f < FUNCTIONS; f++)
			r->sum[kind][f] = fz_visits_sum(&c->visits[kind][f]);
}

static uint32_t function_number(const char *text, size_t n)
{
	uint32_t number = fz_profile_string(names, (struct fz_str){ text, n });

	fz_assert(number < FUNCTIONS);
	return number;
}

/* {"stacks": [["name\x1ffile", ...root first], ...], "s": [stack of each sample]} */
static bool load_sequence(const char *path, struct recording *r)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	struct fz_buf text = { 0 };
	struct counting *c;
	uint32_t frames[256];
	json_t *root, *stacks, *samples, *stack, *frame, *index;
	size_t i, k;

	if (fz_input_open(path, &in, NULL) < 0)
		return false;
	struct fz_error e;
	if (fz_input_read_all(in, &text, 64 << 20, &e) < 0)
		print_message("%s\n", e.message);
	root = json_loadb(text.p, text.n, 0, NULL);
	fz_buf_release(&text);
	assert_non_null(root);
	stacks = json_object_get(root, "stacks");
	samples = json_object_get(root, "s");
	c = fz_calloc(1, sizeof(*c));
	json_array_foreach(samples, i, index)
	{
		stack = json_array_get(stacks, (size_t)json_integer_value(index));
		assert_true(json_array_size(stack) <= FZ_ARRAY_LEN(frames));
		json_array_foreach(stack, k, frame) frames[k] =
			function_number(json_string_value(frame), json_string_length(frame));
		count_sample(c, frames, json_array_size(stack));
	}
	r->samples = (double)json_array_size(samples);
	finish_counting(c, r);
	free(c);
	json_decref(root);
	return true;
}

/* The function numbers of a stack, root first; how many. */
static size_t stack_functions(const struct fz_profile *p, uint32_t stack, uint32_t *ret,
			      size_t room)
{
	size_t n = stack == FZ_NONE ? 0 : p->stacks[stack].depth;

	assert_true(n <= room);
	for (size_t i = n; i-- > 0; stack = p->stacks[stack].parent) {
		const struct fz_function *f =
			&p->functions[p->frames[p->stacks[stack].frame].function];
		struct fz_str name = fz_profile_text(p, f->name),
			      file = fz_profile_text(p, f->file);
		fz_auto(fz_free_ptr) char *both =
			fz_asprintf("%.*s\x1f%.*s", (int)name.n, name.p, (int)file.n, file.p);

		ret[i] = function_number(both, strlen(both));
	}
	return n;
}

/* A recording with times, as Tachyon makes: without its catch-up samples. */
static bool load_profile(const char *path, struct recording *r)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct counting *c;
	size_t *row, n = 0;
	int64_t *time;
	bool *burst;
	uint32_t frames[256];

	if (fz_format_load(path, &p, NULL) < 0)
		return false;
	c = fz_calloc(1, sizeof(*c));
	row = fz_calloc(p->samples.n, sizeof(*row));
	time = fz_calloc(p->samples.n, sizeof(*time));
	burst = fz_calloc(p->samples.n, sizeof(*burst));
	for (uint32_t thread = 0; thread < p->thread_count; thread++, c->at++) {
		n = 0;
		for (size_t i = 0; i < p->samples.n; i++) {
			assert_int_equal(fz_sample_count(p, i), 1);
			if (p->samples.thread[i] != thread)
				continue;
			row[n] = i;
			time[n++] = p->samples.time[i];
		}
		r->bursts += (double)fz_visit_find_bursts(time, n, p->recording.interval_ns, burst);
		for (size_t i = 0; i < n; i++) {
			if (burst[i])
				continue;
			count_sample(c, frames,
				     stack_functions(p, p->samples.stack[row[i]], frames,
						     FZ_ARRAY_LEN(frames)));
			r->samples++;
		}
	}
	finish_counting(c, r);
	free(c);
	free(row);
	free(time);
	free(burst);
	return true;
}

static void release_set(struct set *set)
{
	free(set->runs);
	set->runs = NULL;
}

static struct set load_set(const char *folder, const char *suffix)
{
	struct set set = { .folder = folder, .runs = fz_calloc(RUNS, sizeof(*set.runs)) };

	if (!names)
		names = fz_profile_new();
	for (int i = 0; i < RUNS; i++) {
		fz_auto(fz_free_ptr) char *path = shared_path(folder, i + 1, suffix);

		if (!(strcmp(suffix, ".bin") == 0 ? load_profile : load_sequence)(path,
										  &set.runs[i])) {
			release_set(&set);
			free(fz_steal(path)); /* skipping jumps over the cleanup */
			skip();
		}
	}
	return set;
}

/* ---- one run against one ---- */

enum mode { TIME, SHARE, REFERENCE, MODES };
static const char *const mode_names[MODES] = { "time", "share", "reference" };

static double reference_ratio(const struct recording *a, const struct recording *b)
{
	double base[FUNCTIONS], head[FUNCTIONS];

	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		base[f] = a->sum[SELF][f].samples;
		head[f] = b->sum[SELF][f].samples;
	}
	return fz_exposure_reference(base, head, FUNCTIONS);
}

static double exposure_ratio(enum mode mode, const struct recording *a, const struct recording *b)
{
	if (mode == TIME)
		return fz_exposure_time(1e6, 1e6);
	if (mode == SHARE)
		return fz_exposure_share(a->samples, b->samples);
	return reference_ratio(a, b);
}

/* What a series of comparisons found. */
struct tally {
	size_t comparisons, tested, below_5_percent, flagged, comparisons_flagged, runs_flagged;
};

static double per_comparison(size_t n, const struct tally *t)
{
	return (double)n / (double)t->comparisons;
}

static double below_5_percent(const struct tally *t)
{
	return (double)t->below_5_percent / (double)t->tested;
}

/* Count the p-values of a family; flags what BH rejects. */
static void tally_family(const double *p, bool *rejected, struct tally *t)
{
	size_t flagged = fz_bh(p, FUNCTIONS, FZ_FALSE_DISCOVERY_RATE, rejected);

	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		t->tested += !isnan(p[f]);
		t->below_5_percent += p[f] < 0.05;
	}
	t->flagged += flagged;
	t->comparisons_flagged += flagged > 0;
	t->comparisons++;
}

static void compare_runs(const struct recording *a, const struct recording *b, enum kind kind,
			 enum mode mode, struct fz_visit_noise noise, double delta, struct tally *t)
{
	struct fz_visit_setup setup = { .rho = exposure_ratio(mode, a, b),
					.run = { a->samples, b->samples },
					.delta = delta,
					.ordered = true,
					.noise = noise };
	struct fz_visit_null null;
	double p[FUNCTIONS];
	bool rejected[FUNCTIONS];

	fz_visit_null_fit(&setup, a->sum[kind], b->sum[kind], FUNCTIONS, &null);
	for (uint32_t f = 0; f < FUNCTIONS; f++)
		p[f] = fz_visit_test(&setup, &null, &a->sum[kind][f], &b->sum[kind][f]).p;
	tally_family(p, rejected, t);
	t->runs_flagged += fz_visit_test_run(&setup, &null, reference_ratio(a, b)).p < 0.05;
}

static void compare_all_pairs(const struct set *set, enum kind kind, enum mode mode,
			      struct fz_visit_noise noise, double delta)
{
	struct tally t = { 0 };

	for (int i = 0; i < RUNS; i++)
		for (int j = i + 1; j < RUNS; j++)
			compare_runs(&set->runs[i], &set->runs[j], kind, mode, noise, delta, &t);
	print_message("%s by %s, %s, delta %.1f %%: %.0f tested, %.2f false a pair, "
		      "P(p<.05) %.1f %%, %zu of %zu runs\n",
		      set->folder, kind_names[kind], mode_names[mode], 100 * delta,
		      per_comparison(t.tested, &t), per_comparison(t.flagged, &t),
		      100 * below_5_percent(&t), t.runs_flagged, t.comparisons);
	assert_true(per_comparison(t.tested, &t) > 30);
	assert_true(per_comparison(t.flagged, &t) <= 0.1);
	assert_true(below_5_percent(&t) <= 0.06);
	assert_int_equal(t.runs_flagged, 0);
}

static void compare_with_itself(const char *folder, const char *suffix, struct fz_visit_noise noise)
{
	struct set set = load_set(folder, suffix);

	for (enum kind kind = 0; kind < KINDS; kind++) {
		for (enum mode mode = 0; mode < MODES; mode++) {
			compare_all_pairs(&set, kind, mode, noise, 0);
			compare_all_pairs(&set, kind, mode, noise, FZ_VISIT_DELTA);
		}
	}
	release_set(&set);
}

static void test_one_run_task_clock(void **state)
{
	(void)state;
	compare_with_itself("perf_taskclock_A", ".seq.json.gz", fz_visit_noise_cpu);
	compare_with_itself("perf_taskclock_B", ".seq.json.gz", fz_visit_noise_cpu);
}

/* On a busy machine a good part of what Tachyon recorded is repetition. */
static void check_bursts(const char *folder, const char *suffix)
{
	struct set set = load_set(folder, suffix);
	double bursts = 0, samples = 0;

	for (int i = 0; i < RUNS; i++) {
		bursts += set.runs[i].bursts;
		samples += set.runs[i].samples;
	}
	print_message("%s: %.0f catch-up samples left out, %.0f kept\n", folder, bursts, samples);
	assert_true(bursts > 0.1 * samples && bursts < samples);
	release_set(&set);
}

/* Tachyon's CPU mode counts wall time of threads that were running at some point: it has the
 * stalls of a wall clock. */
static void test_one_run_tachyon(void **state)
{
	(void)state;
	check_bursts("tachyon_wall_A", ".bin");
	compare_with_itself("tachyon_cpu_A", ".bin", fz_visit_noise_wall);
	compare_with_itself("tachyon_wall_A", ".bin", fz_visit_noise_wall);
	compare_with_itself("tachyon_wall_B", ".bin", fz_visit_noise_wall);
}

/* ---- several runs a side ---- */

/* Base runs first. */
struct runs {
	const struct recording *run[2 * RUNS];
	size_t base, head;
};

static void runs_counts(const struct runs *runs, enum kind kind, double *ret)
{
	size_t n = runs->base + runs->head;

	for (uint32_t f = 0; f < FUNCTIONS; f++)
		for (size_t r = 0; r < n; r++)
			ret[f * n + r] = runs->run[r]->sum[kind][f].samples;
}

static void compare_sides(const struct runs *runs, enum kind kind, enum mode mode,
			  struct fz_change *ret, bool *ret_rejected, struct tally *t)
{
	static double counts[FUNCTIONS * 2 * RUNS];
	double exposure[2 * RUNS], whole[2 * RUNS], p[FUNCTIONS];
	struct fz_quasi_setup setup = { .base_runs = runs->base,
					.head_runs = runs->head,
					.exposure = exposure,
					.kappa = FZ_QUASI_KAPPA };
	struct fz_quasi_trend trend;
	size_t n = runs->base + runs->head;

	for (size_t r = 0; r < n; r++) {
		whole[r] = runs->run[r]->samples;
		exposure[r] = mode == SHARE ? whole[r] : 1;
	}
	if (mode == REFERENCE) {
		runs_counts(runs, SELF, counts);
		assert_true(fz_exposure_runs(counts, FUNCTIONS, n, exposure) > 10);
	}
	runs_counts(runs, kind, counts);
	fz_quasi_trend_fit(&setup, counts, FUNCTIONS, &trend);
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		ret[f] = fz_quasi_test(&setup, &trend, counts + f * n, NULL);
		p[f] = ret[f].p;
	}
	tally_family(p, ret_rejected, t);
	t->runs_flagged += fz_quasi_test(&setup, &trend, whole, NULL).p < 0.05;
}

/* Two runs against two others of the same set, in all 15 ways. */
static void split_set(const struct set *set, enum kind kind, enum mode mode, struct tally *t)
{
	static struct fz_change change[FUNCTIONS];
	static bool rejected[FUNCTIONS];

	for (int left_out = 0; left_out < RUNS; left_out++) {
		const struct recording *used[4];
		int n = 0;

		for (int i = 0; i < RUNS; i++)
			if (i != left_out)
				used[n++] = &set->runs[i];
		for (int partner = 1; partner < 4; partner++) {
			struct runs runs = { .base = 2, .head = 2 };

			runs.run[0] = used[0];
			runs.run[1] = used[partner];
			runs.run[2] = used[partner == 1 ? 2 : 1];
			runs.run[3] = used[partner == 3 ? 2 : 3];
			compare_sides(&runs, kind, mode, change, rejected, t);
		}
	}
}

static void split_with_itself(const char *const *folders, const char *suffix)
{
	for (enum mode mode = 0; mode < MODES; mode++) {
		struct tally t = { 0 };

		for (size_t i = 0; folders[i]; i++) {
			struct set set = load_set(folders[i], suffix);

			for (enum kind kind = 0; kind < KINDS; kind++)
				split_set(&set, kind, mode, &t);
			release_set(&set);
		}
		print_message(
			"%s and others, 2 against 2, %s: %zu comparisons, %zu with any false, "
			"P(p<.05) %.1f %%, %zu runs\n",
			folders[0], mode_names[mode], t.comparisons, t.comparisons_flagged,
			100 * below_5_percent(&t), t.runs_flagged);
		assert_true(per_comparison(t.comparisons_flagged, &t) <= 0.06);
		assert_true(below_5_percent(&t) <= 0.06);
		/* Whether the run changed is not a question for reference mode. */
		if (mode != REFERENCE)
			assert_true(per_comparison(t.runs_flagged, &t) <= 0.06);
	}
}

static void test_several_runs(void **state)
{
	static const char *const task_clock[] = { "perf_taskclock_A", "perf_taskclock_B", NULL };
	static const char *const tachyon[] = { "tachyon_cpu_A", "tachyon_wall_A", "tachyon_wall_B",
					       NULL };

	(void)state;
	split_with_itself(task_clock, ".seq.json.gz");
	split_with_itself(tachyon, ".bin");
}

/* B calls json eight times where A does six: what is inside js(), and its callers. */
static bool really_changed(uint32_t function)
{
	const char *name = names->strings[function].p;

	return strstr(name, "json/") || strncmp(name, "js\x1f", 3) == 0 ||
	       strncmp(name, "main\x1f", 5) == 0 || strncmp(name, "<module>\x1f/tmp/", 14) == 0;
}

struct planted {
	size_t splits, found, close, clean;
	double sum;
};

static void find_planted(const struct runs *runs, enum kind kind, enum mode mode, uint32_t target,
			 struct planted *found)
{
	static struct fz_change change[FUNCTIONS];
	static bool rejected[FUNCTIONS];
	struct tally t = { 0 };
	bool clean = true;
	double estimate;

	compare_sides(runs, kind, mode, change, rejected, &t);
	for (uint32_t f = 0; f < FUNCTIONS; f++)
		clean &= !rejected[f] || really_changed(f);
	estimate = change[target].change / change[target].base;
	found->splits++;
	found->found += rejected[target];
	found->close += fabs(estimate - 0.30) <= 0.05;
	found->clean += clean;
	found->sum += estimate;
}

/* Three of five runs a side, in all 100 ways. */
static void test_planted_change(void **state)
{
	struct set a = load_set("perf_taskclock_A", ".seq.json.gz");
	struct set b = load_set("perf_taskclock_B", ".seq.json.gz");
	const char *target = "JSONEncoder.iterencode\x1f/usr/lib/python3.15/json/encoder.py";

	(void)state;
	for (enum kind kind = 0; kind < KINDS; kind++) {
		for (enum mode mode = 0; mode < MODES; mode++) {
			struct planted found = { 0 };

			for (unsigned mask = 0; mask < 1 << (2 * RUNS); mask++) {
				struct runs runs = { .base = 3, .head = 3 };
				size_t n = 0;

				if (__builtin_popcount(mask & 31) != 3 ||
				    __builtin_popcount(mask >> 5) != 3)
					continue;
				for (int i = 0; i < 2 * RUNS; i++)
					if (mask & 1U << i)
						runs.run[n++] =
							i < RUNS ? &a.runs[i] : &b.runs[i - RUNS];
				find_planted(&runs, kind, mode,
					     function_number(target, strlen(target)), &found);
			}
			print_message(
				"planted +33 %% by %s, %s: %zu splits, found %zu, mean %+.1f %%, "
				"within 5 points %zu, nothing else %zu\n",
				kind_names[kind], mode_names[mode], found.splits, found.found,
				100 * found.sum / (double)found.splits, found.close, found.clean);
			assert_int_equal(found.splits, 100);
			assert_true(found.found >= 95);
			assert_true(found.clean >= 95);
			/* Share mode sees less: what grew makes the run longer. */
			if (mode != SHARE)
				assert_true(found.close >= 95);
		}
	}
	release_set(&a);
	release_set(&b);
}

static int release_names(void **state)
{
	(void)state;
	fz_profile_free(names);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_run_task_clock),
		cmocka_unit_test(test_one_run_tachyon),
		cmocka_unit_test(test_several_runs),
		cmocka_unit_test(test_planted_change),
	};

	return cmocka_run_group_tests(tests, NULL, release_names);
}
