/* SPDX-License-Identifier: MIT */
/* A program that we start and record: once for `run`, several times in a row for `run --runs` and
 * `compare`.
 *
 *   fz_series_begin -> fz_series_record, fz_series_record, ... -> fz_series_end
 *
 * During a series the signals that end us (Ctrl-C, SIGTERM, SIGHUP) are held back: they end the
 * series, and what was recorded so far is still there.
 */
#pragma once

#include "capture/count/count.h"
#include "capture/launch.h"
#include "session/record.h"

struct fz_trial {
	struct fz_record record; /* first: callbacks get its address */
	struct fz_child child;
	int stopped_by; /* the signal that asked us to end; 0: none did */
	bool own_group; /* started so: signals go to all of it */
};

/* For fz_sampler_options.on_signal: pass it on and remember it. */
bool fz_trial_on_signal(void *arg, const struct signalfd_siginfo *info);
/* Wait for the program, for at most so many milliseconds (-1: for good). False: still there. */
bool fz_trial_wait(struct fz_trial *t, int milliseconds);
/* The duration is over: SIGTERM, and SIGKILL when that does not help. */
void fz_trial_terminate(struct fz_trial *t);
/* "3", "signal 9", "still running": the fact "exit". */
void fz_trial_describe(const struct fz_child *child, char *out, size_t size);

struct fz_series {
	const char *command; /* "run" or "compare" */
	const struct fz_record_options *options;
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

void fz_series_begin(struct fz_series *s, const char *command,
		     const struct fz_record_options *options);
/* Signals act as usual again. */
void fz_series_end(struct fz_series *s);
/* Run something that is not sampled, such as what builds the program; a signal ends it too. */
int fz_series_run(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		  struct fz_child *ret, struct fz_error *err);
/* Whether a signal has ended the series. */
bool fz_series_stopped(struct fz_series *s);

struct fz_series_run {
	struct fz_profile *profile; /* NULL: nothing was recorded; the caller frees */
	struct fz_child child;      /* how it ended; not started: pid 0 */
	bool timed_out;             /* ended by us because --duration was over */
};

/* Record one run. Fails when the program could not be started or nothing was recorded. */
int fz_series_record(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		     struct fz_series_run *ret, struct fz_error *err);

/* The same, counting under Valgrind: what fz_series_record does with --count. */
int fz_series_count(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		    struct fz_series_run *ret, struct fz_error *err);
/* Say, once, that another program counts than was wanted, and what the user's environment decides.
 */
void fz_series_say_how(struct fz_series *s, const struct fz_counter *counter);
/* What is known of a counted run without looking into the program. folder: NULL is ours. */
void fz_trial_add_facts(struct fz_profile *p, char *const argv[], const char *folder,
			const struct fz_child *child);
