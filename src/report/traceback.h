/* SPDX-License-Identifier: MIT */
/* Stacks of threads in CPython's traceback format: most recent call last, each frame with its
 * source line, marks under the running part, and its variables if they were read. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "profile/locals.h"
#include "profile/profile.h"

enum fz_traceback_state {
	FZ_TRACEBACK_ON_CPU = 1,  /* running or runnable */
	FZ_TRACEBACK_OFF_CPU = 2, /* waiting; neither bit: unknown */
};

struct fz_traceback {
	uint64_t pid;
	uint32_t thread, stack;         /* of the profile */
	unsigned status;                /* enum fz_status bits */
	unsigned state;                 /* enum fz_traceback_state bits */
	bool unreadable;                /* the innermost frames could not be read */
	uint8_t python[3];              /* version, for the names of instructions */
	const struct fz_locals *locals; /* NULL: they were not read */
};

/* Print a traceback, with source lines if the profile has the text. */
void fz_report_traceback(const struct fz_profile *p, const struct fz_traceback *t,
			 const struct fz_style *style, struct fz_buf *out);
void fz_report_traceback_json(const struct fz_profile *p, const struct fz_traceback *t,
			      struct fz_json *json);
