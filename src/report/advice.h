/* SPDX-License-Identifier: MIT */
/* Notes below a verdict: facts about the recordings that limit it and that no test can detect, and
 * the command that would measure it better. docs/statistics.md has the limits.
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
	bool busy;     /* the machine was busy while a side was recorded */
	bool each;     /* the command must run once with each version */
	char *advice;  /* purpose of the command, without a full stop; NULL if there is none */
	char *command; /* to paste into a shell; may have several lines, and "BASE..." where the
			  user must name files; NULL: none would help */
};

void fz_advice_init(struct fz_advice *ret, const struct fz_diff *d, const struct fz_judgement *j);
void fz_advice_release(struct fz_advice *b);
