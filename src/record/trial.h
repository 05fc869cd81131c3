/* SPDX-License-Identifier: MIT */
/* A program that we start and record, and its end. */
#pragma once

#include "record/launch.h"
#include "record/record.h"

/* Milliseconds that a program has to end when it is asked to. */
enum { FZ_TRIAL_PATIENCE_MS = 2000 };

struct fz_trial {
	struct fz_record record; /* first: callbacks get its address */
	struct fz_child child;
	int stopped_by; /* the signal that asked us to end; 0: none did */
	bool own_group; /* started so: signals go to all of it */
};

/* The signals that end a recording: Ctrl-C, SIGTERM, SIGHUP. */
sigset_t fz_trial_ending(void);
/* For fz_sampling.on_signal: pass it on and remember it. */
bool fz_trial_on_signal(void *arg, const struct signalfd_siginfo *info);
/* Wait for the program, for at most so many milliseconds (-1: for good). False: still there. */
bool fz_trial_wait(struct fz_trial *t, int milliseconds);
/* The duration is over: SIGTERM, and SIGKILL when that does not help. */
void fz_trial_terminate(struct fz_trial *t);
/* "3", "signal 9", "still running": the fact "exit". */
void fz_trial_describe(const struct fz_child *child, char *out, size_t size);
