/* SPDX-License-Identifier: MIT */
/* What the bindings look at to know that they are measured, and how (docs/benchmarks.md). */
#pragma once

struct fz_bench_env {
	char *before[2]; /* variables that were added to, as they were */
};

/* mode: "count" or "wall"; log, filter: NULL for none. */
void fz_bench_env_set(struct fz_bench_env *env, const char *mode, const char *log,
		      const char *filter);
void fz_bench_env_unset(struct fz_bench_env *env);
