/* SPDX-License-Identifier: MIT */
/* Compares two counted sides; benchmarks that were renamed in the head are mapped. */
#include "bench/ci.h"

/* The mapping ":old=:new", with special characters escaped. */
static char *map_of(struct fz_ci_result *r, const struct fz_ci_bench *b)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	const struct fz_str names[] = { fz_str_of(b->was), b->name };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_buf_str(&text, i ? "=:" : ":");
		for (size_t k = 0; k < names[i].n; k++) {
			if (names[i].p[k] == '=' || names[i].p[k] == '\\')
				fz_buf_char(&text, '\\');
			fz_buf_char(&text, names[i].p[k]);
		}
	}
	return fz_arena_strndup(&r->arena, text.p, text.n);
}

/* The renamed benchmarks for fz_diff_options.maps; the caller frees the array. */
static const char **maps_of(struct fz_ci_result *r)
{
	const char **maps = fz_calloc(r->n + 1ul, sizeof(*maps));
	size_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->benches[i].was && strcmp(r->benches[i].metric, r->metrics.list[0]) == 0)
			maps[n++] = map_of(r, &r->benches[i]);
	return maps;
}

int fz_ci_diff(struct fz_ci_result *r, const struct fz_profile *base, const struct fz_profile *head,
	       const char *metric, struct fz_comparison **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) const char **maps = maps_of(r);
	/* Cycles are estimated from several counts; instructions are the largest part. */
	bool cycles = strcmp(metric, "cycles") == 0;
	struct fz_comparison_options o = {
		.diff = { .scale = FZ_SCALE_TIME,
			  .metric = fz_str_of(cycles ? "instructions" : metric),
			  .maps = maps,
			  .trees = { r->trees[FZ_BASE], r->trees[FZ_HEAD] },
			  .cells = true,
			  .lines = true,
			  .force = true },
	};

	return fz_comparison_new(base, head, &o, ret, err);
}
