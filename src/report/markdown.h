/* SPDX-License-Identifier: MIT */
/* A diff as a comment on a pull request: GitHub's markdown, never more than a comment may hold. */
#pragma once

#include "report/text.h"

enum { FZ_MARKDOWN_MAX = 60000 }; /* bytes */

/* What changed stands open, everything else in folded details. Of the options only limit and
 * labels count. */
void fz_report_markdown_diff(const struct fz_diff *d, const struct fz_judgement *j,
			     const struct fz_text_options *o, struct fz_output *out);
