/* SPDX-License-Identifier: MIT */
/* The words and the arithmetic of a comparison. */
#include "compare/diff.h"

#include <math.h>

const char *const fz_match_names[] = { "full", "names", "exact", NULL };
const char *const fz_state_names[] = { "common", "new", "removed", "moved" };
const char *const fz_presence_names[] = { "unknown", "no", "yes" };

const char *fz_diff_word(const struct fz_diff_function *f)
{
	static const char *const words[FZ_SIDES][3] = {
		{ "gone or no longer recorded", "gone", "no longer recorded" },
		{ "new or newly recorded", "new", "newly recorded" },
	};

	fz_assert(f->state != FZ_MOVED);
	return f->state == FZ_COMMON ? "" : words[f->state == FZ_NEW][f->presence];
}

const char *const fz_link_names[] = { "none",  "exact", "body",          "scope",
				      "moved", "name",  "neighbourhood", "mapped" };

double fz_diff_ratio(const struct fz_diff *d, int64_t base, int64_t head)
{
	double scaled = d->factor * (double)base;

	return scaled == 0 ? NAN : ((double)head - scaled) / scaled;
}
