/* SPDX-License-Identifier: MIT */
/* A static picture of a flame graph, for use without JavaScript. */
#pragma once

#include "base/error.h"
#include "base/io.h"
#include "report/html_options.h"

/* The options are those of the page; source options are ignored. `inverted` inverts a profile; a
 * diff must already be inverted. Frames narrower than about a pixel are left out. A second block
 * below a diff's frames shows what was removed. */
int fz_report_svg_profile(const struct fz_profile *p, const struct fz_html_options *o,
			  struct fz_output *out, struct fz_error *err);
int fz_report_svg_diff(const struct fz_diff *d, const struct fz_html_options *o,
		       struct fz_output *out, struct fz_error *err);
