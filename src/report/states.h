/* SPDX-License-Identifier: MIT */
/* What threads were doing, for people and for programs. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/profile.h"

/* One sentence about one thread, a table of several; nothing when no sample says anything. */
void fz_report_states_text(const struct fz_profile *p, const struct fz_style *style,
			   struct fz_buf *out);
/* The member "states" of an open object: counts of all samples and of each thread's. */
void fz_report_states_json(const struct fz_profile *p, struct fz_json *j);
