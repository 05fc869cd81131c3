/* SPDX-License-Identifier: MIT */
/* CPU time of each thread, and waking up when one has used its share.
 *
 * A perf task-clock counter a thread counts the nanoseconds it ran; its overflow, once a period of
 * CPU time, wakes the sampler, so a thread is sampled in proportion to the CPU it uses and an idle
 * one never. Where perf is not allowed, /proc/PID/task/TID/schedstat is read at wall-clock
 * instants instead; it moves in steps of a scheduler tick. One clock serves any number of
 * processes: waiting ends when a thread of any is due.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct fz_cpuclock;

enum fz_cpuclock_kind {
	FZ_CPUCLOCK_PERF,
	FZ_CPUCLOCK_PERF_USER, /* only woken while the thread runs its own code, not the kernel's */
	FZ_CPUCLOCK_SCHEDSTAT,
};
extern const char *const fz_cpuclock_names[]; /* for the fact "clock" */

/* period: of CPU time in ns; 0 for as often as it goes. */
int fz_cpuclock_new(pid_t pid, bool all_threads, int64_t period, struct fz_cpuclock **ret,
		    struct fz_error *err);
void fz_cpuclock_free(struct fz_cpuclock *c);
/* One more process, or one less. */
void fz_cpuclock_add(struct fz_cpuclock *c, pid_t pid);
void fz_cpuclock_remove(struct fz_cpuclock *c, pid_t pid);
/* What this process and its children use, and theirs, counts as well, whether they are added or
 * not; at most one. Of one that was started for this, all that it has used until now, too. */
void fz_cpuclock_count_children(struct fz_cpuclock *c, pid_t pid, bool started);
enum fz_cpuclock_kind fz_cpuclock_kind(const struct fz_cpuclock *c);
/* Whether its overflows say when to sample; else the wall clock does. */
bool fz_cpuclock_drives(const struct fz_cpuclock *c);
/* The CPU on which the thread's counter ran over last; FZ_NONE when that is not known. */
uint32_t fz_cpuclock_cpu(struct fz_cpuclock *c, uint64_t tid);
/* Let a file that becomes readable end fz_cpuclock_wait too. */
void fz_cpuclock_watch(struct fz_cpuclock *c, int fd);
/* Sleep until a thread has used its share, a watched file is readable (ret_watched) or the time is
 * over; not longer than a few milliseconds, to see new threads. True when a thread is due. */
bool fz_cpuclock_wait(struct fz_cpuclock *c, int64_t ns, bool *ret_watched);
/* Has a thread of the process become due since this was asked last? */
bool fz_cpuclock_due(struct fz_cpuclock *c, pid_t pid);
/* CPU time of a thread since it was last charged; 0 when it is not due. */
int64_t fz_cpuclock_charge(struct fz_cpuclock *c, uint64_t tid);
/* Threads of the process that are still due had no stack at this instant: what they used belongs to
 * no sample. */
void fz_cpuclock_pass(struct fz_cpuclock *c, pid_t pid);
/* What threads used until now is not charged to them. */
void fz_cpuclock_skip(struct fz_cpuclock *c);
/* CPU time in ns since then, or since the processes were added. For clocks of all threads; the
 * kernel tells it to a tick. */
struct fz_cpuclock_sum {
	int64_t used;   /* of the processes and, where they count, all children */
	int64_t unseen; /* of that in no sample: threads that began and ended between two looks for
			   new ones, or before they were due */
	int64_t silent; /* of threads that could be sampled, while they had no stack */
	uint32_t silent_n;
	int64_t others; /* of processes that were not added */
};
struct fz_cpuclock_sum fz_cpuclock_sum(struct fz_cpuclock *c);
/* When to wake up next, in CPU time: after `planned`, when it was to be this time, and `last`, when
 * it was; dice is any random number. */
int64_t fz_cpuclock_next(int64_t planned, int64_t last, int64_t period, uint64_t dice);
