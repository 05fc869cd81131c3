/* SPDX-License-Identifier: MIT */
/* The waits of threads: reason, place, and the function that ended them; empty for a recording
 * without waits. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/profile.h"

void fz_report_waits_text(const struct fz_profile *p, const struct fz_style *style,
			  struct fz_buf *out);
/* Write member "waits" of an open object. */
void fz_report_waits_json(const struct fz_profile *p, struct fz_json *j);
