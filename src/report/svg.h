/* SPDX-License-Identifier: MIT */
/* A static picture of a flame graph, for places that run no script. */
#pragma once

#include "report/html.h"

/* The options are those of the page; sources play no part. With `inverted` a profile is turned
 * round here, a diff must have been made inverted. Frames narrower than a pixel or so are left
 * out. Below a diff's frames stands what was removed. */
int fz_report_svg_profile(const struct fz_profile *p, const struct fz_html_options *o,
			  struct fz_output *out, struct fz_error *err);
int fz_report_svg_diff(const struct fz_diff *d, const struct fz_html_options *o,
		       struct fz_output *out, struct fz_error *err);
