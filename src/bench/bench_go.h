/* SPDX-License-Identifier: MIT */
/* What test programs of Go print of their benchmarks' times, as bindings/go/test-runner keeps it.
 */
#pragma once

#include "bench/bench_google.h"

/* Where it is, beside the file of Google Benchmark's times. The caller frees. */
char *fz_bench_go_path(const char *times);
/* All figures there, in order, each a time of one iteration; names are PACKAGE.NAME. Then the file
 * is removed. One that is not there has none. */
int fz_bench_go_take(const char *times, fz_bench_google_visit *visit, void *arg,
		     struct fz_error *err);
