/* SPDX-License-Identifier: MIT */
/* Source files that are not in the recording: read them from disk (report/disk_source.h) and
 * warn. */
#pragma once

#include "cli/output.h"

/* Whether --source-root has anything to do; `records`: what is shown is recorded now. */
int fz_cli_source_check(const struct fz_cli_output *o, bool records, struct fz_error *err);
/* To the one profile, or both, of a page that is to be written; to nothing of another report. */
void fz_cli_source_add(const struct fz_cli_output *o, struct fz_profile *const *p, int n);
