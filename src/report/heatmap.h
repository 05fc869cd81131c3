/* SPDX-License-Identifier: MIT */
/* Heat maps: the cost of each line of each source file, for a profile or a diff.
 *
 * Either one HTML file, or a folder with index.html and a page per source file. The source text is
 * the text stored in the profiles.
 */
#pragma once

#include "report/html.h"

/* Write a single page. The options are those of pages; `inverted` is ignored. */
int fz_report_heatmap_profile(const struct fz_profile *p, const struct fz_html_options *o,
			      struct fz_output *out, struct fz_error *err);
int fz_report_heatmap_diff(const struct fz_diff *d, const struct fz_html_options *o,
			   struct fz_output *out, struct fz_error *err);
/* Write a folder, which is created if necessary; older pages in it are replaced. */
int fz_report_heatmap_profile_folder(const struct fz_profile *p, const struct fz_html_options *o,
				     const char *folder, struct fz_error *err);
int fz_report_heatmap_diff_folder(const struct fz_diff *d, const struct fz_html_options *o,
				  const char *folder, struct fz_error *err);
