/* SPDX-License-Identifier: MIT */
/* What threads were doing, for people and for programs. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/processes.h"

/* One sentence about one thread, a table of several; nothing when no sample says anything. */
void fz_report_states_text(const struct fz_profile *p, const struct fz_style *style,
			   struct fz_buf *out);
/* The member "states" of an open object: counts of all samples and of each thread's. */
void fz_report_states_json(const struct fz_profile *p, struct fz_json *j);
/* "main", "worker-1", "tid 4711"; with its process where there are several. text: room for it,
 * where it is not the thread's own. */
struct fz_str fz_report_thread_name(const struct fz_profile *p, const struct fz_processes *ps,
				    uint32_t thread, char *text, size_t size);
