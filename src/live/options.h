/* SPDX-License-Identifier: MIT */
/* What a live view shows, and where. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "record/rate.h"
#include "record/sampler_state.h"

struct fz_live_options {
	const char *title; /* the command or program */
	pid_t pid;         /* the process started or attached to */
	bool started;      /* by us */
	enum fz_clock clock;
	struct fz_rate rate;
	enum fz_color_when color;
	int output;            /* file with the program's output; -1: not collected */
	int signals;           /* signalfd that ends a view after the sampling has ended */
	const char *recording; /* the file that is being written */
	/* Create a file for a copy of the recording so far; the caller frees *ret_path. */
	int (*new_copy)(void *arg, char **ret_path, struct fz_error *err);
	void *arg;
};
