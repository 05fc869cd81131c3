/* SPDX-License-Identifier: MIT */
/* The time that marked parts of a program take when it runs as usual.
 *
 * A program marks a part by asking for the files /.fizeau/start/NAME and /.fizeau/stop/NAME. The
 * kernel stops it at such questions until we have looked (seccomp's user notifications): between
 * two of them it runs as it always does, and nothing of ours is in it.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "capture/launch.h"

struct fz_mark {
	struct fz_str name;
	int64_t ns;   /* all times it was entered */
	uint32_t n;   /* how often it was left */
	int64_t open; /* entered then and not left; 0: not inside */
};

struct fz_marks {
	struct fz_arena arena;
	struct fz_mark *list;
	uint32_t n, cap;
	int64_t whole_ns; /* from start to end of the program */
	int status;       /* as waitpid gives it */
	bool timed_out, stopped;
};

/* Run a program and time its parts; it and all it started are killed after so many seconds (0:
 * never) or when a signal of `ending` is pending. Fails when it could not be started, or
 * FZ_EUNSUPPORTED where the kernel does not let us look. */
int fz_marks_run(struct fz_marks *m, char *const argv[], const struct fz_launch_place *place,
		 const sigset_t *mask, const sigset_t *ending, double seconds,
		 struct fz_error *err);
void fz_marks_release(struct fz_marks *m);
