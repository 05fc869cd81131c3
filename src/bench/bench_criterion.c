/* SPDX-License-Identifier: MIT */
/* Reading criterion's times; see bench_times.h.
 *
 *   HOME/sort/100/new/benchmark.json   {"title": "sort/100", ...}
 *   HOME/sort/100/new/sample.json      {"iters": [10, 20], "times": [1250, 2500], ...}: ns
 */
#include "bench/bench_times.h"

#include "format/jsonread.h"

#include <fts.h>
#include <stdio.h>
#include <string.h>

char *fz_bench_criterion_home(const char *times)
{
	return fz_asprintf("%s.criterion", times);
}

static int load(const char *path, json_t **ret, struct fz_error *err)
{
	struct fz_input *in = NULL;
	int rc = fz_input_open(path, &in, err);

	if (!rc)
		rc = fz_jsonread_load(in, ret, err);
	fz_input_close(in);
	return rc;
}

/* path: a sample.json. */
static int take(const char *path, fz_bench_google_visit *visit, void *arg, struct fz_error *err)
{
	int folder = (int)(strrchr(path, '/') - path);
	fz_auto(fz_free_ptr) char *beside = fz_asprintf("%.*s/benchmark.json", folder, path);
	fz_auto(fz_jsonread_release) json_t *benchmark = NULL, *sample = NULL;
	int rc = load(beside, &benchmark, err);

	if (!rc)
		rc = load(path, &sample, err);
	if (rc)
		return rc;
	struct fz_str name = fz_jsonread_kstr(benchmark, "title");
	const json_t *times = json_object_get(sample, "times");
	const json_t *iters = json_object_get(sample, "iters");
	for (size_t i = 0; i < json_array_size(times) && name.n; i++) {
		double ns = fz_jsonread_number(json_array_get(times, i), -1);
		double iterations = fz_jsonread_number(json_array_get(iters, i), -1);
		if (ns > 0 && iterations > 0)
			visit(arg, name, ns / iterations, FZ_STR(""));
	}
	return 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int fz_bench_criterion_read(const char *times, fz_bench_google_visit *visit, void *arg,
			    struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *home = fz_bench_criterion_home(times);
	FTS *walk = fts_open((char *[]){ home, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *e;
	int rc = 0;

	/* The folder "base" beside "new" has a copy. */
	while (walk && (e = fts_read(walk)))
		if (e->fts_info == FTS_F && fz_str_ends(fz_str_of(e->fts_path), "/new/sample.json"))
			rc = rc ? rc : take(e->fts_path, visit, arg, err);
	if (walk)
		fts_close(walk);
	walk = fts_open((char *[]){ home, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (walk && (e = fts_read(walk)))
		if (e->fts_info != FTS_D && e->fts_info != FTS_NS)
			remove(e->fts_accpath);
	if (walk)
		fts_close(walk);
	return rc;
}
