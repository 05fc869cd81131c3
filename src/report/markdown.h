/* SPDX-License-Identifier: MIT */
/* A diff as a comment on a pull request: GitHub's markdown, within the size limit of a comment. */
#pragma once

#include "report/text.h"

enum { FZ_MARKDOWN_MAX = 60000 }; /* bytes */

/* What changed is shown openly, everything else in folded details. Only the options limit and
 * labels are used. */
void fz_report_markdown_diff(const struct fz_diff *d, const struct fz_judgement *j,
			     const struct fz_text_options *o, struct fz_output *out);
