/* SPDX-License-Identifier: MIT */
/* Canonical names: what a function is called wherever and however it was recorded.
 *
 * Another checkout folder, another Python version, addresses and compiler suffixes change what a
 * recording says about the same function. These rules take that away before functions are
 * matched; docs/diff-json.md lists them for users.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "profile/profile.h"

struct fz_name {
	struct fz_str name; /* for display and matching */
	struct fz_str file; /* for display: relative to the recording's own root where it has one */
	struct fz_str key;  /* the file as it takes part in matching */
};

/* Names of a profile's functions: an array of function_count entries in the arena. Texts live as
 * long as the arena and the profile. */
struct fz_name *fz_names_of(const struct fz_profile *p, struct fz_arena *arena);
/* Names of two profiles that are to be compared: their roots are chosen so that as many files as
 * possible have the same name. */
void fz_names_of_pair(const struct fz_profile *const p[2], struct fz_arena *arena,
		      struct fz_name *ret[2]);
