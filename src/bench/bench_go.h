/* SPDX-License-Identifier: MIT */
/* Times that Go's test programs print, as stored by bindings/go/test-runner. */
#pragma once

#include "bench/bench_google.h"

/* That file, beside the file of Google Benchmark's times. The caller frees. */
char *fz_bench_go_path(const char *times);
/* Visit all times, in order, each of one iteration; names are PACKAGE.NAME. Then remove the file. A
 * missing file has no times. */
int fz_bench_go_take(const char *times, fz_bench_google_visit *visit, void *arg,
		     struct fz_error *err);
