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
#include "record/launch.h"

struct fz_mark {
	struct fz_str name;
	int64_t ns;   /* all times it was entered */
	double work;  /* ns, each divided by the cost of the piece of work then; 0: not known */
	uint32_t n;   /* how often it was left */
	int64_t open; /* entered then and not left; 0: not inside */
};

/* One time that a part was entered and left: which, from when to when. */
struct fz_mark_visit {
	uint32_t mark;
	int64_t from, to;
};

struct fz_marks {
	struct fz_arena arena;
	struct fz_mark *list;
	uint32_t n, cap;
	int64_t whole_ns;             /* from start to end of the program */
	double whole_work;            /* likewise; 0: not known */
	struct fz_mark_visit *visits; /* until the machine's speed is known */
	size_t visit_n, visit_cap;
	int status; /* as waitpid gives it */
	bool timed_out, stopped;
};

/* Run a program and time its parts; it and all it started are killed after so many seconds (0:
 * never) or when a signal of `ending` is pending. Fails when it could not be started, or
 * FZ_EUNSUPPORTED where the kernel does not let us look. */
int fz_marks_run(struct fz_marks *m, char *const argv[], const struct fz_launch_place *place,
		 const sigset_t *mask, const sigset_t *ending, double seconds,
		 struct fz_error *err);
void fz_marks_release(struct fz_marks *m);
