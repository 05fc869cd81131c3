/* SPDX-License-Identifier: MIT */
/* Converts a stack printed with one frame per line, innermost first, to a line of folded text. For
 * the readers of bpftrace's and bcc's output. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>

struct fz_unfolded {
	struct fz_buf text; /* of the frames */
	struct fz_unfolded_frame {
		size_t at, n; /* in text */
		bool kernel;
	} * frames;
	size_t count, cap;
	struct fz_buf root; /* the name of the program, outside of all frames */
	struct fz_buf line; /* the result */
};

/* Start the next stack. */
void fz_unfolded_reset(struct fz_unfolded *u);
/* Adds a frame; those beyond a limit that no profiler reaches are omitted. */
void fz_unfolded_add(struct fz_unfolded *u, struct fz_str name, bool kernel);
/* Returns the stack with its number, "app;main;work 3", valid until the next one. */
struct fz_str fz_unfolded_line(struct fz_unfolded *u, struct fz_str number);
void fz_unfolded_release(struct fz_unfolded *u);
