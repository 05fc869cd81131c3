/* SPDX-License-Identifier: MIT */
/* The processes of a recording, if it has several. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/profile.h"

/* Print a table of the processes with most samples. */
void fz_report_processes_text(const struct fz_profile *p, const struct fz_style *style,
			      struct fz_buf *out);
/* Write member "processes" of an open object. */
void fz_report_processes_json(const struct fz_profile *p, struct fz_json *j);
