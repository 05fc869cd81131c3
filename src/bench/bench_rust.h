/* SPDX-License-Identifier: MIT */
/* What programs with divan and bencher print of their benchmarks' times, as
 * bindings/rust/cargo-runner keeps it. */
#pragma once

#include "bench/bench_google.h"

/* Where it is, beside the file of Google Benchmark's times. The caller frees. */
char *fz_bench_rust_path(const char *times);
/* For each run of the program one figure of each benchmark, the median (bencher prints no other):
 * ns of one iteration. Then the file is removed. One that is not there has none. */
int fz_bench_rust_take(const char *times, fz_bench_google_visit *visit, void *arg,
		       struct fz_error *err);
