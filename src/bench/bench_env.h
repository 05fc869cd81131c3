/* SPDX-License-Identifier: MIT */
/* Variables that tell the bindings whether and how to measure (docs/benchmarks.md). */
#pragma once

#include "base/environ.h"
#include "base/str.h"

/* mode: "count" or "wall"; log, filter: NULL for none. times: the file for Google Benchmark's times
 * (bench_times.h), in the same folder as criterion's; NULL: they do not measure time. */
void fz_bench_env_set(struct fz_environ *e, const char *mode, const char *log, const char *filter,
		      const char *times);
/* After fz_bench_env_set: let harnesses run only the named benchmarks, once or for a short time. */
void fz_bench_env_only(struct fz_environ *e, const struct fz_str *names, size_t n);
