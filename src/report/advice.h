/* SPDX-License-Identifier: MIT */
/* Notes below a verdict: facts about the recordings that limit it, which no test can know, and the
 * command that would measure it better. docs/statistics.md has the limits.
 */
#pragma once

#include "base/buf.h"
#include "compare/judge.h"

/* "The machine was busy: ...", "The program waited for disks ...", "Runs were not interleaved:
 * ...".
 */
enum { FZ_ADVICE_MAX = 3 };
struct fz_advice {
	char *notes[FZ_ADVICE_MAX];        /* sentences without a full stop */
	const char *briefs[FZ_ADVICE_MAX]; /* the same in a few words */
	uint32_t n;
	bool busy;     /* the machine was, on a side */
	char *advice;  /* what the command is for, without a full stop; NULL with it */
	char *command; /* to be pasted into a shell, may have several lines; NULL: none would say
			  more */
};

void fz_advice_init(struct fz_advice *ret, const struct fz_diff *d, const struct fz_judgement *j);
void fz_advice_release(struct fz_advice *b);
