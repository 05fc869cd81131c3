/* SPDX-License-Identifier: MIT */
/* Shared by the files of the public interface; not included elsewhere. */
#pragma once

#include "base/error.h"
#include "fizeau.h"
#include "profile/profile.h"

/* The library's error; the public one has the same layout. */
struct fz_error *fz_api_error(struct fizeau_error *err);
int fz_api_no_argument(struct fizeau_error *err);
/* Copy the caller's options, whose size is that of its header, older or newer than ours: members
 * that it does not have are 0, and members that we do not have must be 0. ret: `size` zeros. */
int fz_api_take_options(void *ret, size_t size, const void *options, struct fizeau_error *err);
/* Make an object of the interface, which takes ownership of the profile. */
struct fizeau_profile *fz_api_profile(struct fz_profile *p);
