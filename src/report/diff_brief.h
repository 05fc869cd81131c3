/* SPDX-License-Identifier: MIT */
/* The sentences below the tables of a diff's short text: open questions, and how it was
 * measured. */
#pragma once

#include "report/text.h"

/* Append code that only one side has, renamed functions, and the largest differences that noise
 * could explain. Appends nothing if there are none. */
void fz_report_brief_rest(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_style *style, struct fz_buf *out);
/* Append how the diff was measured, what limits it, and the command that would measure it
 * better. */
void fz_report_brief_basis(const struct fz_diff *d, const struct fz_judgement *j,
			   const struct fz_style *style, struct fz_buf *out);
