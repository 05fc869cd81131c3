/* SPDX-License-Identifier: MIT */
/* The process that is sampled, among all those that a command becomes or starts.
 *
 * A command is rarely a Python interpreter at once: "env", a "#!" line or a pyenv shim becomes one
 * by exec, a shell script starts one as a child. The rule:
 *
 *   - the root process itself, once it contains an interpreter;
 *   - otherwise the nearest descendant that does (the oldest of several).
 *
 * One process is sampled at a time. When it ends or calls exec while the root lives, the search
 * starts again, so a script that runs Python five times is recorded five times.
 *
 * Until the first interpreter is found, a process that is not Python is sampled by its native
 * stacks: the root, or its descendant if the root only runs others (a shell, env, make). If a
 * Python process appears later, the other one only led to it, and its samples are dropped.
 */
#pragma once

#include "record/native/native.h"
#include "record/process.h"
#include "record/python/python.h"

struct fz_target {
	pid_t root;
	bool descendants; /* search them, too */
	bool natives;     /* accept a process that is not Python */
	struct fz_python_options options;
	bool stacks;                /* native stacks, also of Python programs */
	struct fz_profile *profile; /* both borrowed */
	struct fz_images *images;

	/* What is open: one or both. */
	struct fz_python *python;
	struct fz_native *native;
	pid_t pid;              /* of the process that is open */
	struct fz_process last; /* the last Python process; pid 0: none */
	unsigned opened;        /* how often Python was found */
	unsigned entered;       /* how often a process that is not Python was opened */
	int64_t since;          /* when the search began */
	int64_t last_try; /* fz_clock_now() of the last failed try, or of the program's start */
	int64_t next_try; /* fz_clock_now() of the next */
	int64_t pause;    /* between tries */
	struct fz_map left_out; /* ids of threads that were found but not sampled */
	struct fz_error why;    /* why the root was refused or could not be opened */
};

void fz_target_init(struct fz_target *t, pid_t root, const struct fz_python_options *options,
		    struct fz_profile *profile, struct fz_images *images);
static inline bool fz_target_is_open(const struct fz_target *t)
{
	return t->python || t->native;
}
/* Try to open a process; true on success. Otherwise try again at next_try. */
bool fz_target_seek(struct fz_target *t);
/* Call at next_try while a process that is not Python is open: opens a Python process instead, if
 * one has appeared, and returns true. */
bool fz_target_seek_python(struct fz_target *t);
/* Close what is open; the next seek starts over. */
void fz_target_drop(struct fz_target *t);
void fz_target_release(struct fz_target *t);
