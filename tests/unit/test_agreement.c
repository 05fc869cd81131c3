/* SPDX-License-Identifier: MIT */
/* No verdict contradicts its interval: for synthetic recordings of all kinds of machines, single
 * and multiple runs, on every scale; and for all shared profiles (FZ_SHARED; skipped if missing),
 * each compared with its neighbours. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../stats/verdict_rates.h"
#include "agree.h"
#include "format/format.h"
#include "judged.h"
#include "repeats.h"

static const enum fz_scale_mode scales[] = { FZ_SCALE_AUTO, FZ_SCALE_SHARE, FZ_SCALE_REFERENCE };

/* ---- made up ---- */

static void check_made(const struct machine *m, unsigned runs, double planted)
{
	struct chance c = { .seed = 11 + runs };

	for (int k = 0; k < repeats(4); k++) {
		for (size_t s = 0; s < FZ_ARRAY_LEN(scales); s++) {
			struct fz_profile *base = made_side(&c, m, runs, 0, 1);
			struct fz_profile *head = made_side(&c, m, runs, m->between, planted);
			judged v = judge_with(base, head,
					      (struct fz_diff_options){ .scale = scales[s] },
					      FZ_JUDGE_DEFAULTS);

			check_agreement(v.d, v.j);
		}
	}
}

static void test_made_up(void **state)
{
	static const double planted[] = { 0, 0.2, 1, 1.15, 1.4, 30 };

	(void)state;
	for (size_t m = 0; m < MACHINES; m++)
		for (unsigned runs = 1; runs <= 3; runs += 2)
			for (size_t p = 0; p < FZ_ARRAY_LEN(planted); p++)
				check_made(&machines[m], runs, planted[p]);
}

/* ---- the whole run ---- */

static bool is_whole(const struct fz_diff *d, uint32_t f)
{
	const int64_t *total = d->functions[f].cost.total;

	return (double)total[FZ_BASE] >= 0.95 * (double)d->total[FZ_BASE] &&
	       (double)total[FZ_HEAD] >= 0.95 * (double)d->total[FZ_HEAD];
}

/* A function that makes up all of the run has the run's verdict. */
static void test_whole(void **state)
{
	struct machine even = { "even", .clock = "perf task-clock", .run = 0.02, .own = 0.01 };
	unsigned certain = 0, asked = 0;

	(void)state;
	for (int k = 0; k < 40; k++) {
		struct chance c = { .seed = 100 + (uint64_t)k };
		struct fz_profile *base = made_side(&c, &even, 1, 0, 1);
		struct fz_profile *head = made_side(&c, &even, 1, 0.02 * k, 1);
		judged v = judge_with(base, head, (struct fz_diff_options){ 0 }, FZ_JUDGE_DEFAULTS);
		bool slower = v.j->run.word == FZ_RUN_SLOWER;

		for (uint32_t f = 0; f < v.d->function_count; f++) {
			if (!is_whole(v.d, f))
				continue;
			asked++;
			assert_int_equal(v.j->total[f].verdict == FZ_VERDICT_CHANGED, slower);
		}
		certain += slower;
	}
	assert_true(asked > 0 && certain > 5 && certain < 40);
}

/* ---- files ---- */

enum { FILES_MAX = 64, LARGEST = 2 << 20 };

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct folder {
	char *file[FILES_MAX], *below[FILES_MAX];
	size_t files, folders;
};

static void add_entry(struct folder *in, const char *folder, const char *name)
{
	char *path = fz_asprintf("%s/%s", folder, name);
	struct stat st;

	if (name[0] == '.' || stat(path, &st) < 0)
		free(path);
	else if (S_ISDIR(st.st_mode) && in->folders < FILES_MAX)
		in->below[in->folders++] = path;
	else if (S_ISREG(st.st_mode) && st.st_size <= LARGEST && in->files < FILES_MAX)
		in->file[in->files++] = path;
	else
		free(path);
}

static bool list(const char *folder, struct folder *ret)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	*ret = (struct folder){ 0 };
	if (!d)
		return false;
	while ((e = readdir(d)))
		add_entry(ret, folder, e->d_name);
	closedir(d);
	qsort(ret->file, ret->files, sizeof(*ret->file), compare_names);
	return true;
}

static void check_files(const struct fz_profile *base, const struct fz_profile *head,
			unsigned *compared)
{
	for (size_t s = 0; s < FZ_ARRAY_LEN(scales); s++) {
		struct fz_diff_options options = { .scale = scales[s], .force = true };
		struct fz_judge_options how = FZ_JUDGE_DEFAULTS;
		struct fz_diff *d;

		how.paths = true;
		if (fz_diff_new(base, head, &options, &d, NULL) < 0)
			continue;
		struct fz_judgement *j = fz_judge(d, &how);
		check_agreement(d, j);
		++*compared;
		fz_judgement_free(j);
		fz_diff_free(d);
	}
}

static void check_folder(const char *path, unsigned *compared)
{
	const size_t beside = (size_t)repeats(4);
	struct fz_profile *profile[FILES_MAX] = { 0 };
	struct folder in;

	if (!list(path, &in))
		return;
	for (size_t i = 0; i < in.files; i++)
		if (fz_format_load(in.file[i], &profile[i], NULL) < 0)
			profile[i] = NULL;
	for (size_t a = 0; a < in.files; a++)
		for (size_t b = a > beside ? a - beside : 0; b < FZ_MIN(a + beside, in.files); b++)
			if (profile[a] && profile[b])
				check_files(profile[a], profile[b], compared);
	for (size_t i = 0; i < in.files; i++) {
		fz_profile_free(profile[i]);
		free(in.file[i]);
	}
	for (size_t i = 0; i < in.folders; i++) {
		check_folder(in.below[i], compared);
		free(in.below[i]);
	}
}

static void test_files(void **state)
{
	const char *shared = getenv("FZ_SHARED");
	fz_auto(fz_free_ptr) char *folder = fz_asprintf("%s/profiles", shared ? shared : "");
	unsigned compared = 0;

	(void)state;
	check_folder(folder, &compared);
	print_message("%u comparisons of files\n", compared);
	if (!compared)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_up),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
