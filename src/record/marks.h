/* SPDX-License-Identifier: MIT */
/* The time that marked parts of a program take when it runs unchanged.
 *
 * A program marks a part by calling access() on /.fizeau/start/NAME and /.fizeau/stop/NAME. The
 * kernel stops it at such calls until we have handled them (seccomp's user notifications); between
 * two of them it runs as usual.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "record/launch.h"

struct fz_mark {
	struct fz_str name;
	int64_t ns;   /* total of all visits */
	double work;  /* ns of each visit divided by the machine's cost per work then; 0: unknown */
	uint32_t n;   /* number of complete visits */
	int64_t open; /* when it was entered; 0: not inside */
};

/* A part, by index, was entered and left. */
struct fz_mark_visit {
	uint32_t mark;
	int64_t from, to;
};

struct fz_marks {
	struct fz_arena arena;
	struct fz_mark *list;
	uint32_t n, cap;
	int64_t whole_ns;             /* from start to end of the program */
	double whole_work;            /* likewise; 0: unknown */
	struct fz_mark_visit *visits; /* kept until the machine's speed is known */
	size_t visit_n, visit_cap;
	int status; /* from waitpid */
	bool timed_out, stopped;
};

/* Run a program and time its parts. Its process group is killed after `seconds` (0: never) or when
 * a signal of `ending` is pending. Fails if it cannot be started; FZ_EUNSUPPORTED if seccomp's
 * notifications are not available. */
int fz_marks_run(struct fz_marks *m, char *const argv[], const struct fz_launch_place *place,
		 const sigset_t *mask, const sigset_t *ending, double seconds,
		 struct fz_error *err);
void fz_marks_release(struct fz_marks *m);
