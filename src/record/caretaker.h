/* SPDX-License-Identifier: MIT */
/* A second process that cleans up when we cannot: if SIGKILL ends us, for example because memory
 * ran out, programs would keep running and worktrees would stay registered in git.
 *
 * There is one caretaker at a time. It covers the programs that launch.h starts with a struct
 * fz_launch_place.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"
#include "git/worktree.h"

struct fz_caretaker {
	int line;  /* open as long as we live */
	pid_t pid; /* 0: none */
};
#define FZ_CARETAKER_NONE ((struct fz_caretaker){ .line = -1 })

/* From now on, if we die, the scratch folder is removed with its worktrees, and a running program
 * is killed. */
int fz_caretaker_start(struct fz_caretaker *c, const struct fz_scratch *s, struct fz_error *err);
/* End the caretaker; everything is cleaned up. */
void fz_caretaker_stop(struct fz_caretaker *c);
/* Set the running program; 0: none. The forked child calls this itself before exec. */
void fz_caretaker_mind(pid_t program);
