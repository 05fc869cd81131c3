/* SPDX-License-Identifier: MIT */
/* What the bindings look at to know that they are measured, and how (docs/benchmarks.md). */
#pragma once

#include "base/environ.h"
#include "base/str.h"

/* mode: "count" or "wall"; log, filter: NULL for none. times: the file to which Google Benchmark is
 * to write what it measures (bench_google.h), and beside which criterion is (bench_criterion.h);
 * NULL: they are not to take their time. */
void fz_bench_env_set(struct fz_environ *e, const char *mode, const char *log, const char *filter,
		      const char *times);
/* Of these two only the named ones, once or for a short time each; after fz_bench_env_set. */
void fz_bench_env_only(struct fz_environ *e, const struct fz_str *names, size_t n);
