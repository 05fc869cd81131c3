/* SPDX-License-Identifier: MIT */
/* Times that benchmark frameworks write or print; each has a reader in a file of its own. */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* ---- bench_google.c: JSON of Google Benchmark ---- */

/* One repetition. ns: wall time of one iteration; failed: the reason, "" if it did not fail. */
typedef void fz_bench_google_visit(void *arg, struct fz_str name, double ns, struct fz_str failed);

/* Visit all repetitions in a file, in order. A missing file has none. */
int fz_bench_google_read(const char *path, fz_bench_google_visit *visit, void *arg,
			 struct fz_error *err);

/* ---- bench_go.c: what test programs of Go print, as stored by bindings/go/test-runner ---- */

/* That file, next to the file of Google Benchmark's times. The caller frees. */
char *fz_bench_go_path(const char *times);
/* Visit all times, in order, each of one iteration; names are PACKAGE.NAME. Then remove the file. A
 * missing file has no times. */
int fz_bench_go_read(const char *times, fz_bench_google_visit *visit, void *arg,
		     struct fz_error *err);

/* ---- bench_rust.c: what divan and bencher print, as stored by bindings/rust/cargo-runner ---- */

/* That file, next to the file of Google Benchmark's times. The caller frees. */
char *fz_bench_rust_path(const char *times);
/* Visit one time of each benchmark per run of the program: the median (bencher prints only that) of
 * one iteration, in ns. Then remove the file. A missing file has no times. */
int fz_bench_rust_read(const char *times, fz_bench_google_visit *visit, void *arg,
		       struct fz_error *err);

/* ---- bench_criterion.c: the folder CRITERION_HOME of criterion ---- */

/* That folder, next to the file of Google Benchmark's times. The caller frees. */
char *fz_bench_criterion_home(const char *times);
/* Visit all samples, in order of folder names, each as the time of one iteration; then remove the
 * folder. A missing folder has no samples. */
int fz_bench_criterion_read(const char *times, fz_bench_google_visit *visit, void *arg,
			    struct fz_error *err);
