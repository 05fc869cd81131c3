/* SPDX-License-Identifier: MIT */
/* Times that a program with Google Benchmark writes as JSON. */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* One repetition. ns: wall time of one iteration; failed: the reason, "" if it did not fail. */
typedef void fz_bench_google_visit(void *arg, struct fz_str name, double ns, struct fz_str failed);

/* Visit all repetitions in a file, in order. A missing file has none. */
int fz_bench_google_read(const char *path, fz_bench_google_visit *visit, void *arg,
			 struct fz_error *err);
