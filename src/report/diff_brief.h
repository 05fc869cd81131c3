/* SPDX-License-Identifier: MIT */
/* The sentences around a diff's short text: what is open, and how it was measured. */
#pragma once

#include "report/text.h"

/* Below the functions that changed: code that only one side has, renamed functions, and the largest
 * differences that noise could explain. Adds nothing where there is nothing. */
void fz_report_brief_rest(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_style *style, struct fz_buf *out);
/* How it was measured, what limits it, and the command that would measure it better. */
void fz_report_brief_basis(const struct fz_diff *d, const struct fz_judgement *j,
			   const struct fz_style *style, struct fz_buf *out);
