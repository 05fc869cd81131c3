/* SPDX-License-Identifier: MIT */
/* When a program used the CPU, as a line of bars. */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "profile/profile.h"

enum { FZ_ACTIVITY_SLOTS = 60 };

/* CPUs in use on average in each of n slots of one run that we recorded, and how long that was.
 * Needs CPU time, or whether threads were on a CPU, of samples whose time is known; false: there is
 * none, or too little for so many. */
bool fz_report_activity(const struct fz_profile *p, uint32_t n, double *ret_cpus,
			int64_t *ret_duration_ns);
/* In a line, in a terminal that is wide enough. */
void fz_report_activity_text(const struct fz_profile *p, const struct fz_style *style,
			     struct fz_buf *out);
