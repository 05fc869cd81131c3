/* SPDX-License-Identifier: MIT */
/* Times at which the behavior of a program changed (stats/composition.h), as sentences and as
 * ranges to compare. */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "profile/profile.h"
#include "stats/composition.h"

struct fz_phases {
	const struct fz_profile *profile;
	int64_t end; /* ns: of the time that the slots are equal parts of */
	double *costs;
	uint32_t function[FZ_COMPOSITION_KINDS]; /* of each kind, FZ_NONE: all others */
	size_t kinds;
	size_t at[FZ_COMPOSITION_CHANGES]; /* slots */
	size_t n;
};

/* Changes by self time; none without times, of several runs, and of too few samples. */
void fz_phases_find(struct fz_phases *ret, const struct fz_profile *p, uint32_t metric);
void fz_phases_release(struct fz_phases *phases);
/* When change i was, ns. */
int64_t fz_phases_time(const struct fz_phases *phases, size_t i);
/* The function that most of the time went to then. */
struct fz_str fz_phases_name(const struct fz_phases *phases, size_t i);
/* "encode 2 % -> 61 %, parse 70 % -> 3 %" */
void fz_phases_words(const struct fz_phases *phases, size_t i, const char *arrow,
		     struct fz_buf *out);
/* "--base-range 0s-4.2s --head-range 4.2s-9s": what lies between the change and the ones beside it.
 */
void fz_phases_ranges(const struct fz_phases *phases, size_t i, struct fz_buf *out);
/* The changes, each with the command that compares before and after. name: of the recording. */
void fz_report_phases_text(const struct fz_profile *p, const char *name,
			   const struct fz_style *style, struct fz_buf *out);
