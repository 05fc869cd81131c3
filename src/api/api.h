/* SPDX-License-Identifier: MIT */
/* What the files of the public interface share; nothing else includes this. */
#pragma once

#include "base/error.h"
#include "fizeau.h"
#include "profile/profile.h"

/* The public error is the library's under another name. */
struct fz_error *fz_api_error(struct fizeau_error *err);
int fz_api_no_argument(struct fizeau_error *err);
/* The caller's options are as long as its header says, which may be older or newer than ours: what
 * it does not know is 0, and what we do not know must be. `ret` is `size` zeros. */
int fz_api_take_options(void *ret, size_t size, const void *options, struct fizeau_error *err);
/* An object of the interface, which owns the profile from now on. */
struct fizeau_profile *fz_api_profile(struct fz_profile *p);
