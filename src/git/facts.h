/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "profile/profile.h"

/* Commit, branch and dirtiness of the git checkout around a folder, queried in the background. */
struct fz_git {
	pid_t pid; /* 0: not running */
	int out;
};

/* Starts the query; does nothing without a checkout or git. */
void fz_git_start(struct fz_git *g, const char *folder);
/* Like fz_git_finish if the answer is available, else does nothing; never waits. */
void fz_git_poll(struct fz_git *g, struct fz_profile *p);
/* Waits for the answer, at most two seconds, and sets the facts. */
void fz_git_finish(struct fz_git *g, struct fz_profile *p);
