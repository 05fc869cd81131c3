/* SPDX-License-Identifier: MIT */
/* A program that we start and record, and its end. */
#pragma once

#include "record/launch.h"
#include "record/record.h"

/* Milliseconds that a program may take to end after SIGTERM. */
enum { FZ_TRIAL_PATIENCE_MS = 2000 };

struct fz_trial {
	struct fz_record record; /* first: callbacks get its address */
	struct fz_child child;
	int stopped_by; /* the signal that ended us; 0: none */
	bool own_group; /* it has its own process group: signal the whole group */
};

/* The signals that end a recording: Ctrl-C, SIGTERM, SIGHUP. */
sigset_t fz_trial_ending(void);
/* For fz_sampling.on_signal: pass the signal on and store it in stopped_by. */
bool fz_trial_on_signal(void *arg, const struct signalfd_siginfo *info);
/* Wait until the program ends, at most `milliseconds` (-1: no limit). False if it still runs. */
bool fz_trial_wait(struct fz_trial *t, int milliseconds);
/* End the program: SIGTERM, then SIGKILL after FZ_TRIAL_PATIENCE_MS. */
void fz_trial_terminate(struct fz_trial *t);
/* Write the fact "exit": "3", "signal 9" or "still running". */
void fz_trial_describe(const struct fz_child *child, char *out, size_t size);
