/* SPDX-License-Identifier: MIT */
/* Stopping all threads of a process around a sample (--blocking).
 *
 * PTRACE_SEIZE lets us interrupt threads without their noticing, and the kernel lets them go when
 * we end, however we end: the target is never left stopped.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct fz_stopper;

/* own: it is a child of ours, and its exit status is waited for elsewhere. */
int fz_stop_new(pid_t pid, bool own, struct fz_stopper **ret, struct fz_error *err);
/* Let everything go. NULL is allowed. Waits for threads that cannot be reached at the moment, but
 * not for ever: what is left then is let go by the kernel when we end. */
void fz_stop_free(struct fz_stopper *s);
/* The process that it stops; the same before and after an exec. */
pid_t fz_stop_pid(const struct fz_stopper *s);
/* Stop every thread; returns when all stand, but for those that cannot in a reasonable time: they
 * do not run either. patient: wait for those that only wait for a processor. FZ_EGONE: there are
 * none left. */
int fz_stop_all(struct fz_stopper *s, bool patient);
/* Its threads, by number below fz_stop_count; they change whenever something is stopped or let go.
 * 0 for one that does not stand, whose registers cannot be read. */
size_t fz_stop_count(const struct fz_stopper *s);
pid_t fz_stop_standing(const struct fz_stopper *s, size_t i);
void fz_stop_resume(struct fz_stopper *s);
/* For as long as this object lives its threads stop at every signal, so it must be listened to:
 * pass on what made running threads stop (signals, new threads). Call after SIGCHLD. False when no
 * thread is left. */
bool fz_stop_service(struct fz_stopper *s);
