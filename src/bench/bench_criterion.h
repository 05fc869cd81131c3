/* SPDX-License-Identifier: MIT */
/* Times that programs with criterion write to the folder CRITERION_HOME. */
#pragma once

#include "bench/bench_google.h"

/* That folder, beside the file of Google Benchmark's times. The caller frees. */
char *fz_bench_criterion_home(const char *times);
/* Visit all samples, in order of folder names, each as the time of one iteration; then remove the
 * folder. A missing folder has no samples. */
int fz_bench_criterion_take(const char *times, fz_bench_google_visit *visit, void *arg,
			    struct fz_error *err);
