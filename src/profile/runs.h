/* SPDX-License-Identifier: MIT */
/* What the runs of a recording say about themselves: how they ended, how busy the machine was
 * meanwhile, and in which order those of two recordings were taken.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* A status other than 0, or a signal that was not ours. */
bool fz_run_failed(const struct fz_run *run);
enum { FZ_ENDING_SIZE = 48 };
/* "exit status 3", "signal 11 (SEGV)", "stopped by the recorder"; "" when unknown. */
const char *fz_run_ending(const struct fz_run *run, char out[FZ_ENDING_SIZE]);
/* How many runs failed, and the first that did (NULL: none). */
uint32_t fz_profile_failed_runs(const struct fz_profile *p, const struct fz_run **ret_first);
/* "the head failed: exit status 3", "1 of the head's 3 runs failed: signal 11 (SIGSEGV)"; adds
 * nothing when none did. who: "the run" or "the head". */
void fz_profile_describe_failure(const struct fz_profile *p, const char *who, struct fz_buf *out);

/* Shares, NaN when unknown. A recording of several runs has those of all of them together. */
struct fz_busy {
	double waited; /* of the time in which the program's first thread could have run */
	double stolen; /* of the time in which processors had work */
	double others; /* of the time of all processors */
	double missed; /* of the sampler's instants: itself it came too late */
};

/* Above these the machine counts as busy; docs/statistics.md says why so much. */
#define FZ_BUSY_LIMITS \
	((struct fz_busy){ .waited = 0.05, .stolen = 0.05, .others = 0.25, .missed = 0.05 })

struct fz_busy fz_profile_busy(const struct fz_profile *p);
/* Whether one of the shares is above its limit. */
bool fz_is_busy(const struct fz_busy *b);

/* Which part of its wall time waited for a disk; NaN: it is not known. */
double fz_profile_on_disk(const struct fz_profile *p);

/* How long before its first sample nobody had looked whether the program ran, in ns; 0: it is not
 * known. Of several runs the longest. */
#define FZ_UNSEEN_FACT "start.unseen" /* "1630 us" */
int64_t fz_profile_unseen(const struct fz_profile *p);
void fz_profile_set_unseen(struct fz_profile *p, int64_t ns);

/* Which part of a steady drift of the machine would be taken for a difference between the two: 0
 * when their runs were taken in turn, 1 when all of one came before all of the other. NaN when it
 * is not known when they began. */
double fz_runs_imbalance(const struct fz_profile *a, const struct fz_profile *b);
#define FZ_IMBALANCE_LIMIT 0.5
