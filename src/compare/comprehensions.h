/* SPDX-License-Identifier: MIT */
/* Comprehensions of two versions of Python, of which one calls them and the other inlines them:
 *
 *   3.11     main  f  f.<locals>.<listcomp>  g     ->   main  f  g
 *   3.12     main  f  g
 *
 * Python 3.12 and later inline all but generator expressions and a few in classes (PEP 709). What a
 * function costs with its comprehensions is known for every version.
 */
#pragma once

#include "profile/profile.h"

/* Whether the versions of Python of both sides are known. */
bool fz_diff_knows_python_versions(const struct fz_profile *base, const struct fz_profile *head);
/* Whether one side's Python inlines comprehensions and the other's calls them, and there are any.
 * If a version is unknown: whether only one side has any. */
bool fz_diff_joins_comprehensions(const struct fz_profile *base, const struct fz_profile *head);
/* Moves the samples of every called comprehension to the function around it, with their line
 * and without their calls. Fails with FZ_ELIMIT if the profile has no room for the new stacks. */
int fz_diff_join_comprehensions(struct fz_profile *p, struct fz_error *err);
/* The name of a function in a comprehension, as if that were inlined: "f.<locals>.<lambda>" for
 * "f.<locals>.<listcomp>.<lambda>". */
struct fz_str fz_name_without_comprehensions(struct fz_arena *arena, struct fz_str name);
