/* SPDX-License-Identifier: MIT */
/* Self values of nodes by thread and bucket of time, limited in number to keep pages small. */
#pragma once

#include "profile/tree.h"
#include "report/page_columns.h"

struct fz_slice {
	uint32_t node, thread, bucket;
	int64_t self;
};

/* Sorted by (node, thread, bucket); zero values left out. */
struct fz_slices {
	struct fz_slice *list;
	size_t n;
	uint32_t buckets; /* equal parts of the time; 0: no slices */
};

/* Collect slices in `buckets` equal parts of the time from 0 to `end`. Halves that number until
 * there are at most `most` slices more than (node, thread) pairs with a value.
 */
void fz_slices_build(struct fz_slices *s, const struct fz_tree *t, int64_t end, uint32_t buckets,
		     size_t most);
void fz_slices_release(struct fz_slices *s);
void fz_slices_columns(const struct fz_slices *s, struct fz_columns *columns);
