/* SPDX-License-Identifier: MIT */
/* Programs that are started one after the other.
 *
 *   fz_series_begin -> fz_series_run, fz_series_record (measure.h), ... -> fz_series_end
 *
 * During a series the signals that end us (Ctrl-C, SIGTERM, SIGHUP) are blocked: they end the
 * series, and what was recorded so far is kept.
 */
#pragma once

#include "record/count/count.h"
#include "record/trial.h"

struct fz_series {
	const char *command; /* its name in messages: "run" */
	const struct fz_record_options *options;
	const struct fz_notify *notify;
	struct fz_record_callbacks callbacks; /* of every run */
	bool all_signals;                     /* see fz_record_catch_signals */
	sigset_t old_mask;                    /* the mask before the series, which programs get */
	int stopped_by;                       /* the signal that ended the series; 0: none */
	bool warned[FZ_WARNINGS];             /* each warning is printed once */
	bool warned_counting;                 /* likewise */
	double patience;                      /* time limit in seconds of fz_series_run; 0: none */
	bool late;                            /* the last program exceeded it */
	void (*meanwhile)(void *arg);         /* called about five times a second while
						 fz_series_run waits; NULL */
	void *meanwhile_arg;
	unsigned other;                 /* fz_series_count: struct fz_counter */
	struct fz_count_options counts; /* likewise */
};

/* All arguments are borrowed; notify may be NULL. */
void fz_series_begin(struct fz_series *s, const char *command,
		     const struct fz_record_options *options, const struct fz_notify *notify);
/* Restore the signal mask. */
void fz_series_end(struct fz_series *s);
/* Run a program without sampling it, such as a build; a signal ends it, too. */
int fz_series_run(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		  struct fz_child *ret, struct fz_error *err);
/* True if a signal has ended the series. */
bool fz_series_stopped(struct fz_series *s);
/* The error of an interrupted series. */
int fz_series_interrupted(struct fz_error *err);

struct fz_series_run {
	struct fz_profile *profile; /* NULL: nothing was recorded; the caller frees */
	struct fz_child child;      /* how it ended; pid 0: not started */
	bool timed_out;             /* --duration ended it */
};
