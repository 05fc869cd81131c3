/* SPDX-License-Identifier: MIT */
/* Select the metric of a profile. */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* Make it the default one; NULL: as it is. FZ_EUSAGE: there is no such metric, with those that
 * there are. */
int fz_cli_metric_choose(struct fz_profile *p, const char *name, struct fz_error *err);
