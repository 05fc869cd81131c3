/* SPDX-License-Identifier: MIT */
/* The previous measurement of benchmarks; see benchmarks.h. */
#include "bench/benchmarks.h"

#include "format/format.h"
#include "store/store.h"

void fz_bench_base_release(struct fz_bench_base *base)
{
	fz_benchmarks_release(&base->list);
	fz_profile_free(base->profile);
	free(base->path);
}

static bool is_alike(const char *path, const struct fz_profile *p)
{
	fz_auto(fz_profile_freep) struct fz_profile *facts = NULL;

	return !fz_store_facts(path, &facts, NULL) && fz_benchmarks_any(facts) &&
	       fz_str_eq(fz_profile_fact(facts, "clock"), fz_profile_fact(p, "clock")) &&
	       fz_str_eq(fz_profile_fact(facts, "command"), fz_profile_fact(p, "command"));
}

void fz_bench_base_find(const char *folder, const struct fz_profile *p, struct fz_bench_base *ret)
{
	*ret = (struct fz_bench_base){ 0 };

	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };

	if (fz_store_list(folder, &l, NULL, NULL))
		return;
	for (size_t i = 0; i < l.n; i++) {
		if (!is_alike(l.paths[i], p) || fz_format_load(l.paths[i], &ret->profile, NULL))
			continue;
		ret->path = fz_strdup(l.paths[i]);
		fz_benchmarks_read(ret->profile, &ret->list);
		return;
	}
}
