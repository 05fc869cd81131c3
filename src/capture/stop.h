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
/* Let everything go. NULL is allowed. */
void fz_stop_free(struct fz_stopper *s);
/* Stop every thread; returns when all stand. FZ_EGONE: there are none left. */
int fz_stop_all(struct fz_stopper *s);
void fz_stop_resume(struct fz_stopper *s);
/* Pass on what made running threads stop (signals, new threads). Call after SIGCHLD. */
void fz_stop_service(struct fz_stopper *s);
