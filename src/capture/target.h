/* SPDX-License-Identifier: MIT */
/* The process that is sampled, of all those that a command becomes or starts.
 *
 * A command is rarely a Python interpreter at once: "env", a "#!" line or a pyenv shim becomes one
 * by exec, a shell script starts one as a child. The rule:
 *
 *   - the root process itself, as soon as it holds an interpreter;
 *   - else the descendant nearest to it that does (the oldest of several).
 *
 * One process is sampled at a time. When it ends or replaces itself by exec while the root lives,
 * the search begins again, so a script that runs Python five times is recorded five times.
 */
#pragma once

#include "capture/python/python.h"

struct fz_target {
	pid_t root;
	bool descendants; /* look at them too */
	struct fz_python_options options;
	struct fz_profile *profile; /* borrowed */

	struct fz_python *python; /* NULL while searching */
	pid_t pid;                /* of the process that is open */
	unsigned opened;          /* how often one was found */
	int64_t next_try;         /* fz_clock_now() of it */
	int64_t pause;            /* between tries */
	struct fz_error why;      /* why the root could not be opened last time */
};

void fz_target_init(struct fz_target *t, pid_t root, const struct fz_python_options *options,
		    struct fz_profile *profile);
/* Try to open; true when t->python is there. Else next_try says when to come again. */
bool fz_target_seek(struct fz_target *t);
/* Close what is open; the next seek starts over. */
void fz_target_drop(struct fz_target *t);
