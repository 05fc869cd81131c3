/* SPDX-License-Identifier: MIT */
/* Times at which a program's behaviour changed (stats/composition.h), as sentences and as ranges to
 * compare. */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "profile/profile.h"
#include "stats/composition.h"

struct fz_phases {
	const struct fz_profile *profile;
	int64_t end; /* ns; the slots are equal parts of the time up to here */
	double *costs;
	uint32_t function[FZ_COMPOSITION_KINDS]; /* by kind; FZ_NONE: all others */
	size_t kinds;
	size_t at[FZ_COMPOSITION_CHANGES]; /* slots */
	size_t n;
};

/* Find changes by self time; none without times, with several runs, or with too few samples. */
void fz_phases_find(struct fz_phases *ret, const struct fz_profile *p, uint32_t metric);
void fz_phases_release(struct fz_phases *phases);
/* Time of change i, ns. */
int64_t fz_phases_time(const struct fz_phases *phases, size_t i);
/* The function that gained most time at change i. */
struct fz_str fz_phases_name(const struct fz_phases *phases, size_t i);
/* Append "encode 2 % -> 61 %, parse 70 % -> 3 %". */
void fz_phases_words(const struct fz_phases *phases, size_t i, const char *arrow,
		     struct fz_buf *out);
/* Append "--base-range 0s-4.2s --head-range 4.2s-9s": the ranges between change i and its
 * neighbours.
 */
void fz_phases_ranges(const struct fz_phases *phases, size_t i, struct fz_buf *out);
/* Print the changes, each with the command that compares before and after. name: the
 * recording's. */
void fz_report_phases_text(const struct fz_profile *p, const char *name,
			   const struct fz_style *style, struct fz_buf *out);
