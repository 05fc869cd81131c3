/* SPDX-License-Identifier: MIT */
/* What threads were doing, as text and JSON. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/processes.h"

/* Print a sentence for one thread, a table for several; nothing if no sample has a state. */
void fz_report_states_text(const struct fz_profile *p, const struct fz_style *style,
			   struct fz_buf *out);
/* Write member "states" of an open object: counts of all samples and of each thread's. */
void fz_report_states_json(const struct fz_profile *p, struct fz_json *j);
/* "main", "worker-1", "tid 4711"; with the process if there are several. text: buffer for a name
 * that is not the thread's own. */
struct fz_str fz_report_thread_name(const struct fz_profile *p, const struct fz_processes *ps,
				    uint32_t thread, char *text, size_t size);
