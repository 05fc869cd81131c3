/* SPDX-License-Identifier: MIT */
/* A list of them; the header says what for. */
#include "profile/wakes.h"

void fz_wakes_add(struct fz_wakes *w, const struct fz_wake *wake)
{
	fz_grow(w->list, w->n, w->cap);
	w->list[w->n++] = *wake;
}

void fz_wakes_keep_range(struct fz_wakes *w, int64_t from, int64_t to)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct fz_wake wake = w->list[i];

		if (wake.time < from || wake.time > to)
			continue;
		wake.time -= from;
		w->list[kept++] = wake;
	}
	w->n = kept;
}
