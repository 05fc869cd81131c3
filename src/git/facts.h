/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "profile/profile.h"

/* Commit, branch and dirtiness of the git checkout around a folder, found by git itself in the
 * background. */
struct fz_git {
	pid_t pid; /* 0: not running */
	int out;
};

/* Does nothing when the folder is in no checkout or there is no git. */
void fz_git_start(struct fz_git *g, const char *folder);
/* As fz_git_finish when the answer is there, else nothing: never waits. */
void fz_git_poll(struct fz_git *g, struct fz_profile *p);
/* Collect the answer (waits for it, at most two seconds) and set the facts. */
void fz_git_finish(struct fz_git *g, struct fz_profile *p);
