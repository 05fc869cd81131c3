/* SPDX-License-Identifier: MIT */
/* Load the recordings that a user specified. */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* Load a recording that a user named: a file, "-", "@1", a git revision. */
int fz_cli_load(const char *name, int number_unit, struct fz_profile **ret, struct fz_error *err);
/* The same of a baseline, with a warning when it was made in another way than the recording that it
 * is compared with is `planned` to be (NULL: no matter). */
int fz_cli_load_baseline(const char *name, int number_unit, const struct fz_recording *planned,
			 struct fz_profile **ret, struct fz_error *err);
/* An error when a unit of bare numbers was given for recordings that have none. base may be NULL.
 */
int fz_cli_check_numbers(int number_unit, const struct fz_profile *base,
			 const struct fz_profile *head, struct fz_error *err);
