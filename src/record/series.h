/* SPDX-License-Identifier: MIT */
/* Programs that are started one after the other.
 *
 *   fz_series_begin -> fz_series_run, fz_series_record (measure.h), ... -> fz_series_end
 *
 * During a series the signals that end us (Ctrl-C, SIGTERM, SIGHUP) are held back: they end the
 * series, and what was recorded so far is still there.
 */
#pragma once

#include "record/count/count.h"
#include "record/trial.h"

struct fz_series {
	const char *command; /* what messages call it: "run" */
	const struct fz_record_options *options;
	const struct fz_notify *notify;
	struct fz_record_looker looker; /* of every run */
	bool all_signals;               /* see fz_record_catch_signals */
	sigset_t old_mask;              /* as it was before, and as programs get it */
	int stopped_by;                 /* the signal that ended the series; 0: none did */
	bool warned[FZ_WARNINGS];       /* about the sampling: said once */
	bool warned_counting;           /* likewise */
	double patience; /* seconds that fz_series_run lets a program run; 0: for good */
	bool late;       /* the last one was ended because of that */
	unsigned other;  /* fz_series_count: struct fz_counter */
	struct fz_count_options counts; /* likewise */
};

/* All that is given is borrowed; notify may be NULL. */
void fz_series_begin(struct fz_series *s, const char *command,
		     const struct fz_record_options *options, const struct fz_notify *notify);
/* Signals act as usual again. */
void fz_series_end(struct fz_series *s);
/* Run something that is not sampled, such as what builds the program; a signal ends it too. */
int fz_series_run(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		  struct fz_child *ret, struct fz_error *err);
/* Whether a signal has ended the series. */
bool fz_series_stopped(struct fz_series *s);
/* The error of that. */
int fz_series_interrupted(struct fz_error *err);

struct fz_series_run {
	struct fz_profile *profile; /* NULL: nothing was recorded; the caller frees */
	struct fz_child child;      /* how it ended; not started: pid 0 */
	bool timed_out;             /* ended by us because --duration was over */
};
