/* SPDX-License-Identifier: MIT */
/* Times that programs with divan and bencher print, as stored by bindings/rust/cargo-runner. */
#pragma once

#include "bench/bench_google.h"

/* That file, beside the file of Google Benchmark's times. The caller frees. */
char *fz_bench_rust_path(const char *times);
/* Visit one time of each benchmark per run of the program: the median (bencher prints only that) of
 * one iteration, in ns. Then remove the file. A missing file has no times. */
int fz_bench_rust_take(const char *times, fz_bench_google_visit *visit, void *arg,
		       struct fz_error *err);
