/* SPDX-License-Identifier: MIT */
/* Functions of a diff by name, which must be there. cmocka.h comes first. */
#pragma once

#include "compare/diff.h"

static inline uint32_t number_named(const struct fz_diff *d, const char *name)
{
	for (uint32_t i = 0; i < d->function_count; i++)
		if (fz_str_eq(d->functions[i].name, fz_str_of(name)))
			return i;
	fail_msg("no function %s", name);
	return FZ_NONE;
}

static inline const struct fz_diff_function *function_named(const struct fz_diff *d,
							    const char *name)
{
	return &d->functions[number_named(d, name)];
}
