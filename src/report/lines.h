/* SPDX-License-Identifier: MIT */
/* The cost of each source line, as JSON for editors: docs/diff-json.md, "Lines". */
#pragma once

#include "base/io.h"
#include "report/line_costs.h"

int fz_report_lines_profile(const struct fz_profile *p, uint32_t metric, struct fz_output *out,
			    struct fz_error *err);
void fz_report_lines_diff(const struct fz_diff *d, const struct fz_judgement *j,
			  struct fz_output *out);
