/* SPDX-License-Identifier: MIT */
/* One self-contained HTML file: the viewer (web/) with the embedded data of a profile or a diff. */
#pragma once

#include "base/error.h"
#include "base/io.h"
#include "report/html_options.h"

int fz_report_html_profile(const struct fz_profile *p, const struct fz_html_options *o,
			   struct fz_output *out, struct fz_error *err);
/* The diff must have `cells` and `lines`, and must not be inverted: the page inverts it. */
int fz_report_html_diff(const struct fz_diff *d, const struct fz_html_options *o,
			struct fz_output *out, struct fz_error *err);
