/* SPDX-License-Identifier: MIT */
/* Several recordings of one side of a comparison: BASE... :: HEAD... */
#pragma once

#include "base/error.h"
#include "cli/range.h"
#include "compare/diff.h"
#include "profile/profile.h"

struct fz_cli_side {
	char **names; /* as the user wrote them */
	int n;
	int number_unit;           /* of bare numbers in folded text; 0: detect */
	struct fz_cli_range range; /* applied to each recording */
};

/* Two names, or sets with "::" between them. */
int fz_cli_sides_split(char **arguments, int n, struct fz_cli_side *ret_base,
		       struct fz_cli_side *ret_head, struct fz_error *err);
/* Load each side as one profile with the runs of all its recordings. Fails if those were recorded
 * with different settings, unless forced. */
int fz_cli_sides_load(const struct fz_cli_side *base, const struct fz_cli_side *head, bool force,
		      struct fz_profile *ret[FZ_SIDES], struct fz_error *err);
/* "a.fz", "a.fz and 2 more", "a.fz 10s-20s"; the caller frees. */
char *fz_cli_side_label(const struct fz_cli_side *side);
