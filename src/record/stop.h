/* SPDX-License-Identifier: MIT */
/* Stopping all threads of a process around a sample (--blocking).
 *
 * With PTRACE_SEIZE threads do not notice that we interrupt them, and the kernel releases them when
 * we end for any reason: the target is never left stopped.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct fz_stopper;

/* Seize all threads of a process. own: it is our child, and another part waits for its exit status.
 */
int fz_stop_new(pid_t pid, bool own, struct fz_stopper **ret, struct fz_error *err);
/* Release all threads. Waits up to 2 s for threads that do not respond; the kernel releases the
 * rest when we end. NULL is allowed. */
void fz_stop_free(struct fz_stopper *s);
/* The pid of the process. */
pid_t fz_stop_pid(const struct fz_stopper *s);
/* Stop every thread. Returns when all have stopped, except those that do not respond in time, which
 * sleep in the kernel. patient: wait longer for threads that wait for a processor. FZ_EGONE if no
 * thread is left. */
int fz_stop_all(struct fz_stopper *s, bool patient);
/* The tid of thread i, below fz_stop_count, if it has stopped; else 0: its registers cannot be
 * read. The numbers change whenever threads are stopped or released. */
size_t fz_stop_count(const struct fz_stopper *s);
pid_t fz_stop_standing(const struct fz_stopper *s, size_t i);
void fz_stop_resume(struct fz_stopper *s);
/* Continue threads that stopped by themselves (for signals or new threads). While this object
 * lives, threads stop at every signal, so call this after every SIGCHLD. False if no thread is
 * left. */
bool fz_stop_service(struct fz_stopper *s);
