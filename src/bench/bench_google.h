/* SPDX-License-Identifier: MIT */
/* What a program with Google Benchmark writes down of its own times, as JSON. */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* One repetition: ns of one iteration, as its clock on the wall says; failed: "" when it did not.
 */
typedef void fz_bench_google_visit(void *arg, struct fz_str name, double ns, struct fz_str failed);

/* All repetitions in a file, in order. One that is not there has none. */
int fz_bench_google_read(const char *path, fz_bench_google_visit *visit, void *arg,
			 struct fz_error *err);
