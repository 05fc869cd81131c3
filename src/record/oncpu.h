/* SPDX-License-Identifier: MIT */
/* Whether threads are on a CPU, for samples that are taken by the wall clock.
 *
 * The state of a thread in /proc does not distinguish running from waiting for a turn. Its CPU time
 * does, but advances in steps of a scheduler tick. So both are combined: a sample counts as on a
 * CPU if its thread was runnable at that instant and has CPU time that no earlier sample accounts
 * for. The share of such samples is then the share of CPU time, on a crowded machine too.
 */
#pragma once

#include <sys/types.h>

#include "record/asleep.h"

struct fz_oncpu;

enum fz_oncpu_answer {
	FZ_ONCPU_UNKNOWN,
	FZ_ONCPU_NO,      /* it sleeps */
	FZ_ONCPU_DISK,    /* it waits uninterruptibly, usually for a disk */
	FZ_ONCPU_WAITING, /* it is runnable, but others run */
	FZ_ONCPU_YES,
};

/* process: borrowed, to find out what threads sleep for; NULL: not needed. always: find it out with
 * every reading, else only in fz_oncpu_asleep. */
struct fz_oncpu *fz_oncpu_new(pid_t pid, struct fz_process *process, bool always);
/* NULL is allowed. */
void fz_oncpu_free(struct fz_oncpu *o);
/* Call once for each sample of a thread with a stack. The sample stands for the `elapsed` ns up to
 * `now`. */
enum fz_oncpu_answer fz_oncpu_check(struct fz_oncpu *o, uint64_t tid, uint32_t stack, int64_t now,
				    int64_t elapsed);
/* What a thread sleeps for, after fz_oncpu_check reported that it does; NULL if unknown.
 * *ret_stopped: a signal or a debugger has stopped it. */
const struct fz_asleep *fz_oncpu_asleep(struct fz_oncpu *o, uint64_t tid, bool *ret_stopped);
/* The errno with which that could not be read for some thread; 0 if there was none. */
int fz_oncpu_trouble(const struct fz_oncpu *o);
/* The CPU on which the thread was last runnable; FZ_NONE if unknown. */
uint32_t fz_oncpu_cpu(struct fz_oncpu *o, uint64_t tid);
