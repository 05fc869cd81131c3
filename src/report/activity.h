/* SPDX-License-Identifier: MIT */
/* CPU use over time, as a line of bars. */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "profile/profile.h"

enum { FZ_ACTIVITY_SLOTS = 60 };

/* Store the average number of CPUs in use in each of n equal slots of a run, and the run's
 * duration. Needs samples with times, and CPU time or whether threads were on a CPU. False if these
 * are missing or there are too few samples for n slots. */
bool fz_report_activity(const struct fz_profile *p, uint32_t n, double *ret_cpus,
			int64_t *ret_duration_ns);
/* Print one line of bars; nothing if the terminal is too narrow. */
void fz_report_activity_text(const struct fz_profile *p, const struct fz_style *style,
			     struct fz_buf *out);
