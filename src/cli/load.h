/* SPDX-License-Identifier: MIT */
/* Load the recordings that a user specified. */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* Load a recording that a user named: a file, "-", "@1", a git revision. */
int fz_cli_load(const char *name, int number_unit, struct fz_profile **ret, struct fz_error *err);
/* The same for a baseline, with a warning if its settings differ from the `planned` ones of the
 * recording to compare it with (NULL: not checked). */
int fz_cli_load_baseline(const char *name, int number_unit, const struct fz_recording *planned,
			 struct fz_profile **ret, struct fz_error *err);
/* Fails if a unit of bare numbers was given for recordings without such numbers. base may be NULL.
 */
int fz_cli_check_numbers(int number_unit, const struct fz_profile *base,
			 const struct fz_profile *head, struct fz_error *err);
