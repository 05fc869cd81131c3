/* SPDX-License-Identifier: MIT */
/* Several recordings of one side of a comparison: BASE... :: HEAD... */
#pragma once

#include "base/error.h"
#include "diff/diff.h"
#include "profile/profile.h"

struct fz_set {
	char **names; /* as the user wrote them */
	int n;
	int number_unit; /* of bare numbers of folded text; 0: as they look */
};

/* Two names, or sets with "::" between them. */
int fz_set_split(char **arguments, int n, struct fz_set *ret_base, struct fz_set *ret_head,
		 struct fz_error *err);
/* Each set as one profile with the runs of all its recordings. Fails when those were recorded in
 * different ways, unless forced. */
int fz_set_load(const struct fz_set *base, const struct fz_set *head, bool force,
		struct fz_profile *ret[FZ_SIDES], struct fz_error *err);
/* "a.fz", "a.fz and 2 more"; the caller frees. */
char *fz_set_label(const struct fz_set *set);
