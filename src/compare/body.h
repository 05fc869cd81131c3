/* SPDX-License-Identifier: MIT */
/* Similarity of two bodies, as multisets of runs of three words.
 *
 *     similarity = 2 |A and B| / (|A| + |B|)        0 nothing in common .. 1 the same runs
 *
 * A definition's own name and its classes' names are replaced by a fixed word, so renaming a class
 * or a recursive function keeps the similarity.
 */
#pragma once

#include "compare/outline.h"

struct fz_body {
	uint32_t *runs; /* hashes, ascending */
	uint32_t n;
};

void fz_body_init(struct fz_body *b, const struct fz_outline *o, uint32_t definition);
void fz_body_release(struct fz_body *b);
/* Returns the number of common runs. */
uint32_t fz_body_common(const struct fz_body *a, const struct fz_body *b);
/* Sets *ret to the runs of `from` that are not in `what`. */
void fz_body_subtract(const struct fz_body *from, const struct fz_body *what, struct fz_body *ret);
double fz_body_similarity(const struct fz_body *a, const struct fz_body *b);
