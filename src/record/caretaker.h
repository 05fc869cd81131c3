/* SPDX-License-Identifier: MIT */
/* A second process that clears up when we cannot: who is killed by SIGKILL, as by a machine that
 * runs out of memory, leaves programs running and worktrees known to git.
 *
 * One at a time; the programs are those that launch.h starts somewhere else than where we are.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"
#include "git/worktree.h"

struct fz_caretaker {
	int line;  /* open as long as we live */
	pid_t pid; /* 0: there is none */
};
#define FZ_CARETAKER_NONE ((struct fz_caretaker){ .line = -1 })

/* From now on the scratch folder, its worktrees and a running program are taken care of. */
int fz_caretaker_start(struct fz_caretaker *c, const struct fz_scratch *s, struct fz_error *err);
/* All is cleared up: it ends. */
void fz_caretaker_stop(struct fz_caretaker *c);
/* The program that runs; 0: none does any more. The forked child calls it itself before it becomes
 * the program. */
void fz_caretaker_mind(pid_t program);
