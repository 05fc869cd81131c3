/* SPDX-License-Identifier: MIT */
/* What programs with criterion write down of their own times, where CRITERION_HOME says. */
#pragma once

#include "bench/bench_google.h"

/* Where it is, beside the file of Google Benchmark's times. The caller frees. */
char *fz_bench_criterion_home(const char *times);
/* All samples there, by the names of folders, each a time of one iteration; then the folder is
 * removed. One that is not there has none. */
int fz_bench_criterion_take(const char *times, fz_bench_google_visit *visit, void *arg,
			    struct fz_error *err);
