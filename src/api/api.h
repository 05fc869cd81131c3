/* SPDX-License-Identifier: MIT */
/* Shared by the files of the public interface; not included elsewhere. */
#pragma once

#include <locale.h>

#include "base/error.h"
#include "fizeau.h"
#include "profile/profile.h"

/* The library's error; the public one has the same layout. */
struct fz_error *fz_api_error(struct fizeau_error *err);
int fz_api_no_argument(struct fizeau_error *err);
/* Copy the caller's options, whose size is that of its header, older or newer than ours: members
 * that it lacks are set to 0, and members that we do not know must be 0. ret: `size` zeros. */
int fz_api_copy_options(void *ret, size_t size, const void *options, struct fizeau_error *err);
/* Make an object of the interface, which takes ownership of the profile. */
struct fizeau_profile *fz_api_profile(struct fz_profile *p);

/* Numbers in files have a decimal point in any locale. printf and strtod follow LC_NUMERIC, which a
 * host program may have set, but "0,5" is not valid in JSON, SVG and CSS. During calls of the
 * library its thread uses the C locale for numbers; the process's locale and other threads are not
 * affected. */
struct fz_numeric {
	locale_t before, ours; /* ours: 0 if unchanged */
};

struct fz_numeric fz_numeric_enter(void);
void fz_numeric_leave(struct fz_numeric *n); /* for fz_auto */
