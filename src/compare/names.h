/* SPDX-License-Identifier: MIT */
/* Canonical names of functions, independent of where and how they were recorded.
 *
 * Checkout folders, Python versions, addresses and compiler suffixes change the recorded name of a
 * function. Rules strip them before functions are matched; docs/matching.md lists them for users.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"

struct fz_name {
	struct fz_str name; /* for display and matching */
	struct fz_str file; /* for display: relative to the recording's own root if it has one */
	struct fz_str key;  /* the file, as used in matching */
};

/* Returns the names of a profile's functions: an array of function_count entries in the arena.
 * Texts live as long as both the arena and the profile. */
struct fz_name *fz_names_of(const struct fz_profile *p, struct fz_arena *arena);
/* Rules that changed names, for the report. */
struct fz_name_rules {
	const char *const *own;   /* NULL-terminated "regex=text"; NULL: none */
	bool join_comprehensions; /* see comprehensions.h */
	/* results, in the arena: the rules that changed a name, and the number of functions per
	 * side */
	struct fz_name_rule {
		const char *text;
		uint32_t functions[2];
	} * list;
	uint32_t n;
};

/* Sets ret to the names of two profiles for a comparison; roots are chosen so that most files have
 * the same name. Own rules replace matches of a POSIX extended regular expression in names and
 * files; \1 to \9 in the text are the matches of its groups. rules: may be NULL. Fails with
 * FZ_EUSAGE if an own rule is invalid. */
int fz_names_of_pair(const struct fz_profile *const p[2], struct fz_name_rules *rules,
		     struct fz_arena *arena, struct fz_name *ret[2], struct fz_error *err);
/* Sets *ret to the serial number of generated code if its file has one: "<made 12>". */
bool fz_name_number(struct fz_str file, uint32_t *ret);
