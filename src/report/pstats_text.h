/* SPDX-License-Identifier: MIT */
/* A profile as the table that CPython's sampling profiler prints. */
#pragma once

#include "base/error.h"
#include "report/text.h"

struct fz_pstats_options {
	bool per_line;   /* rows are lines, as in CPython, not functions */
	bool no_summary; /* no "Summary of Interesting Functions" */
};

/* Append CPython's lines before the table: number of samples, sampling rate, and percentage of
 * rejected samples. Appends nothing if these are unknown. */
void fz_report_pstats_sampling(const struct fz_profile *p, struct fz_buf *out);
/* Uses style, limit and sort of the text options. */
int fz_report_pstats(const struct fz_profile *p, const struct fz_text_options *text,
		     const struct fz_pstats_options *o, struct fz_output *out,
		     struct fz_error *err);
