/* SPDX-License-Identifier: MIT */
/* Canonical names: what a function is called wherever and however it was recorded.
 *
 * Another checkout folder, another Python version, addresses and compiler suffixes change what a
 * recording says about the same function. These rules take that away before functions are
 * matched; docs/matching.md lists them for users.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
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
/* What was taken away from names, for the report. */
struct fz_name_rules {
	const char *const *own; /* NULL-terminated "regex=text"; NULL: none */
	/* results, in the arena: the rules that changed a name, and of how many functions a side */
	struct fz_name_rule {
		const char *text;
		uint32_t functions[2];
	} * list;
	uint32_t n;
};

/* Names of two profiles that are to be compared: their roots are chosen so that as many files as
 * possible have the same name. Own rules replace what their POSIX extended regular expression
 * matches in names and files, \1 to \9 in the text being what its groups matched. rules: NULL
 * when nobody asks. Fails with FZ_EUSAGE when an own rule is none. */
int fz_names_of_pair(const struct fz_profile *const p[2], struct fz_name_rules *rules,
		     struct fz_arena *arena, struct fz_name *ret[2], struct fz_error *err);
/* The number in which code was generated, if its file has one: "<made 12>". */
bool fz_name_number(struct fz_str file, uint32_t *ret);
