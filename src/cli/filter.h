/* SPDX-License-Identifier: MIT */
/* Select samples: by thread, by function, without waiting threads, or below a root function. */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

struct fz_cli_filter {
	const char *const *threads; /* NULL-terminated names or ids; empty: all */
	const char *functions;      /* extended regular expression; NULL: all */
	const char *root;           /* likewise: where stacks begin */
	bool no_idle;               /* drop samples of waiting threads */
};

/* Fails if the text of an option is not an extended regular expression. */
int fz_cli_check_regex(const char *option, const char *text, struct fz_error *err);
/* Keep only matching samples of each profile, and store the filter in a fact. FZ_ENOSAMPLE if
 * none of the profiles has any. NULL profiles are skipped. */
int fz_cli_filter_keep(const struct fz_cli_filter *wanted, struct fz_profile *const *profiles,
		       size_t n, struct fz_error *err);
