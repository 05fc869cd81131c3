/* SPDX-License-Identifier: MIT */
/* CPU time of each thread, and waking up when one has used its share.
 *
 * A perf task-clock counter per thread counts the nanoseconds it ran; it overflows once per period
 * of CPU time and wakes the sampler, so a thread is sampled in proportion to the CPU it uses and
 * never while idle. Where perf is not allowed, /proc/PID/task/TID/schedstat is read at wall-clock
 * instants instead; it advances in steps of a scheduler tick. One clock serves any number of
 * processes: waiting ends when a thread of any of them is due.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct fz_cpuclock;

enum fz_cpuclock_kind {
	FZ_CPUCLOCK_PERF,
	FZ_CPUCLOCK_PERF_USER, /* overflows only while the thread runs in user mode */
	FZ_CPUCLOCK_SCHEDSTAT,
};
extern const char *const fz_cpuclock_names[]; /* for the fact "clock" */

/* period: CPU time in ns, above 0. Fails if process `pid` has ended or no clock may be read. */
int fz_cpuclock_new(pid_t pid, bool all_threads, int64_t period, struct fz_cpuclock **ret,
		    struct fz_error *err);
void fz_cpuclock_free(struct fz_cpuclock *c);
/* Add or remove a process. */
void fz_cpuclock_add(struct fz_cpuclock *c, pid_t pid);
void fz_cpuclock_remove(struct fz_cpuclock *c, pid_t pid);
/* Also count the CPU time of this process and all its descendants, whether they are added or not.
 * At most one process. started: we started it, so its time until now counts, too. */
void fz_cpuclock_count_children(struct fz_cpuclock *c, pid_t pid, bool started);
enum fz_cpuclock_kind fz_cpuclock_kind(const struct fz_cpuclock *c);
/* True if overflows decide when to sample, false if the wall clock does. */
bool fz_cpuclock_drives(const struct fz_cpuclock *c);
/* The CPU on which the thread's counter last overflowed; FZ_NONE if unknown. */
uint32_t fz_cpuclock_cpu(struct fz_cpuclock *c, uint64_t tid);
/* Let fz_cpuclock_wait also end when fd becomes readable. */
void fz_cpuclock_watch(struct fz_cpuclock *c, int fd);
/* Sleep until a thread is due, a watched file is readable (*ret_watched) or `ns` have passed, but
 * at most a few milliseconds, to find new threads. Returns true if a thread is due. */
bool fz_cpuclock_wait(struct fz_cpuclock *c, int64_t ns, bool *ret_watched);
/* True if a thread of the process has become due since the last call. */
bool fz_cpuclock_due(struct fz_cpuclock *c, pid_t pid);
/* Charge a thread: returns its CPU time in ns since the last charge; 0 if it is not due. */
int64_t fz_cpuclock_charge(struct fz_cpuclock *c, uint64_t tid);
/* Threads of the process that are still due had no stack at this instant: count their CPU time as
 * silent. */
void fz_cpuclock_pass(struct fz_cpuclock *c, pid_t pid);
/* Discard the CPU time that threads have used until now. */
void fz_cpuclock_skip(struct fz_cpuclock *c);
/* CPU time in ns since fz_cpuclock_skip, or since the processes were added. Only for clocks of all
 * threads; accurate to a scheduler tick. */
struct fz_cpuclock_sum {
	int64_t used;   /* by the processes and, if counted, all their descendants */
	int64_t unseen; /* part of it in no sample: threads that started and ended between two scans
			 * or before they were due */
	int64_t silent; /* by known threads while they had no stack */
	uint32_t silent_n;
	int64_t others; /* by processes that were not added */
};
struct fz_cpuclock_sum fz_cpuclock_sum(struct fz_cpuclock *c);
/* The CPU time in ns at which to wake up next. This wake-up was due at `planned` and came at
 * `last`; dice: a random number. */
int64_t fz_cpuclock_next(int64_t planned, int64_t last, int64_t period, uint64_t dice);
