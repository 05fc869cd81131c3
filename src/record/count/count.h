/* SPDX-License-Identifier: MIT */
/* Counting instead of sampling: the program runs under Valgrind, and our tool there (valgrind/)
 * writes the exact tree of calling contexts with what was counted in each.
 *
 *   fz_counter_find -> fz_counter_begin -> (start and wait) -> fz_counter_read -> fz_counter_end
 *
 * If our tool is missing and the user allows it, Valgrind's own callgrind replaces it
 * (callgrind.h). Its totals are as exact, but its contexts and functions are not.
 *
 * Counts do not depend on how busy the machine is. Other sources of variation between runs are
 * fixed: random bytes, Python's hash seed, the size of the environment. Counts do not depend on the
 * processor either: programs see the same one everywhere (valgrind/processor.c).
 */
#pragma once

#include "record/count/counter.h"

/* The processor that programs see, as compilers call it. */
#define FZ_COUNTER_PROCESSOR "x86-64-v2"
/* Variables that change what libraries do and are left as the user set them; NULL-terminated. */
extern const char *const fz_counter_variables[];

/* Find Valgrind and the tool that was built for it, or its permitted replacement. Fails with
 * FZ_EUNSUPPORTED and the remedy. */
int fz_counter_find(struct fz_counter *c, struct fz_error *err);
/* Make the command that runs argv under the tool. Start it with c->environ, which is based on
 * `from` (NULL: ours). The caller frees the array; its strings live as long as c and argv. */
int fz_counter_begin(struct fz_counter *c, char *const argv[], char *const *from, char ***ret_argv,
		     struct fz_error *err);
/* Read the counts of all processes. Each marked benchmark is below a marker of its name, each
 * process is a thread. If benchmarks were requested and there are none, there are no samples. *ret
 * is NULL, or a recording of the same program to add to; on failure it is freed and set to NULL. */
int fz_counter_read(struct fz_counter *c, struct fz_profile **ret, struct fz_error *err);
/* Remove the results. */
void fz_counter_end(struct fz_counter *c);

/* Read one file of the tool, described in valgrind/write.c. The metrics must have been added. */
int fz_count_read(const void *data, size_t n, const char *name, struct fz_profile *into,
		  uint32_t process, const struct fz_count_options *options, struct fz_error *err);
/* Set *cache or *memory if the metric needs it to be counted. False if no such metric is counted.
 */
bool fz_count_needs(const char *metric, bool *cache, bool *memory);
/* Add the metrics of a counted recording. */
void fz_count_add_metrics(struct fz_profile *p, bool cache, bool memory);
