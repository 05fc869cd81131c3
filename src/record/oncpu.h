/* SPDX-License-Identifier: MIT */
/* Whether threads are on a CPU, for samples that are taken by the wall clock.
 *
 * The state that /proc shows for a thread does not tell one that runs from one that waits for its
 * turn. Its CPU time does, but moves in steps of a scheduler tick while the thread runs. Together
 * they are right: a sample counts as on a CPU when its thread could run at that instant and there
 * is CPU time that no earlier sample accounts for. So the share of such samples is the share of
 * CPU time, on a crowded machine too.
 */
#pragma once

#include <sys/types.h>

#include "record/asleep.h"

struct fz_oncpu;

enum fz_oncpu_answer {
	FZ_ONCPU_UNKNOWN,
	FZ_ONCPU_NO,      /* it sleeps */
	FZ_ONCPU_DISK,    /* it waits for a disk or the like: nothing interrupts that */
	FZ_ONCPU_WAITING, /* it could run, but others do */
	FZ_ONCPU_YES,
};

/* process: borrowed; what threads sleep for can be found out, too. NULL: it cannot. always: at each
 * look; else only when it is asked for. */
struct fz_oncpu *fz_oncpu_new(pid_t pid, struct fz_process *process, bool always);
/* NULL is allowed. */
void fz_oncpu_free(struct fz_oncpu *o);
/* Asked once for each sample of a thread with a stack, which stands for `elapsed` ns up to `now`.
 */
enum fz_oncpu_answer fz_oncpu_ask(struct fz_oncpu *o, uint64_t tid, uint32_t stack, int64_t now,
				  int64_t elapsed);
/* What it sleeps for, after it was said that it does, if it was not stopped. NULL: not known. */
const struct fz_asleep *fz_oncpu_asleep(struct fz_oncpu *o, uint64_t tid, bool *ret_stopped);
/* Why a thread could not be asked that at a look, as errno; 0: all could. */
int fz_oncpu_trouble(const struct fz_oncpu *o);
/* The CPU on which the thread was seen last when it could run; FZ_NONE when that is not known. */
uint32_t fz_oncpu_cpu(struct fz_oncpu *o, uint64_t tid);
