/* SPDX-License-Identifier: MIT */
/* Properties of the runs of a recording: how they ended, how busy the machine was, and the order of
 * those of two recordings.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* Whether a run ended with a status other than 0, or by a signal that was not ours. */
bool fz_run_failed(const struct fz_run *run);
enum { FZ_ENDING_SIZE = 48 };
/* "exit status 3", "signal 11 (SEGV)", "stopped by the recorder"; "" when unknown. */
const char *fz_run_ending(const struct fz_run *run, char out[FZ_ENDING_SIZE]);
/* Returns the number of failed runs; sets *ret_first to the first one, or NULL. */
uint32_t fz_profile_failed_runs(const struct fz_profile *p, const struct fz_run **ret_first);
/* "the head failed: exit status 3", "1 of the head's 3 runs failed: signal 11 (SIGSEGV)"; appends
 * nothing if none did. who: "the run" or "the head". */
void fz_profile_describe_failure(const struct fz_profile *p, const char *who, struct fz_buf *out);

/* Shares over all runs, NaN if unknown. */
struct fz_busy {
	double waited; /* of the time in which the program's first thread could have run */
	double stolen; /* of the time in which processors had work */
	double others; /* of the time of all processors */
	double missed; /* of the sampler's instants, because it was late */
};

/* Above these limits the machine counts as busy; docs/statistics.md explains them. */
#define FZ_BUSY_LIMITS \
	((struct fz_busy){ .waited = 0.05, .stolen = 0.05, .others = 0.25, .missed = 0.05 })

struct fz_busy fz_profile_busy(const struct fz_profile *p);

/* Fraction of the wall time spent waiting for a disk; NaN if unknown. */
double fz_profile_on_disk(const struct fz_profile *p);

/* How long the target may have run Python code before it was sampled. A single number applies to
 * all runs; several are one for each run, "?" if unknown. */
#define FZ_UNSEEN_FACT "start.unseen" /* "1630 us", "1630 1712 ? us" */
/* Sets unseen[run] of the first n runs, in ns, or -1 if unknown. Returns whether any is known. */
bool fz_profile_unseen(const struct fz_profile *p, int64_t *unseen, uint32_t n);
/* Sets it for all runs of `p`. */
void fz_profile_set_unseen(struct fz_profile *p, int64_t ns);
/* Sets it for the runs of `p` followed by those of `more`. */
void fz_profile_append_unseen(struct fz_profile *p, const struct fz_profile *more);

/* Fraction of a steady drift of the machine that appears as a difference between the two: 0 if
 * their runs alternated, 1 if all of one preceded all of the other. NaN if their start times are
 * unknown. */
double fz_runs_imbalance(const struct fz_profile *a, const struct fz_profile *b);
/* Whether at most half of such a drift appears; also true if the start times are unknown. */
bool fz_runs_alternate(const struct fz_profile *a, const struct fz_profile *b);
