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
 *
 * Until the first one is found a process that is not Python is sampled by its native stacks: the
 * root, or where that is a program that only runs others (a shell, env, make) what it has started.
 * If a Python process comes up later that was only the way to it, and its samples are dropped.
 */
#pragma once

#include "record/native/native.h"
#include "record/process.h"
#include "record/python/python.h"

struct fz_target {
	pid_t root;
	bool descendants; /* look at them too */
	bool natives;     /* a process that is not Python will do */
	struct fz_python_options options;
	bool stacks;                /* native stacks, of Python programs too */
	struct fz_profile *profile; /* both borrowed */
	struct fz_images *images;

	/* One or both: what is open. */
	struct fz_python *python;
	struct fz_native *native;
	pid_t pid;              /* of the process that is open */
	struct fz_process last; /* the last one that was Python; pid 0: none was */
	unsigned opened;        /* how often Python was found */
	unsigned entered;       /* how often a process that is not Python was opened */
	int64_t since;          /* when the search began */
	int64_t last_try;       /* fz_clock_now() of one that found nothing, or when it began */
	int64_t next_try;       /* fz_clock_now() of it */
	int64_t pause;          /* between tries */
	struct fz_map left_out; /* ids of threads that were met and not sampled */
	struct fz_error why;    /* why the root could not be opened last time */
};

void fz_target_init(struct fz_target *t, pid_t root, const struct fz_python_options *options,
		    struct fz_profile *profile, struct fz_images *images);
static inline bool fz_target_is_open(const struct fz_target *t)
{
	return t->python || t->native;
}
/* Try to open; true when something is. Else next_try says when to come again. */
bool fz_target_seek(struct fz_target *t);
/* While a process that is not Python is open, at next_try: has a Python process come up? Then that
 * is open now. */
bool fz_target_seek_python(struct fz_target *t);
/* Close what is open; the next seek starts over. */
void fz_target_drop(struct fz_target *t);
void fz_target_release(struct fz_target *t);
