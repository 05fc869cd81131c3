/* SPDX-License-Identifier: MIT */
/* How alike two bodies are: by their runs of three words, as multisets.
 *
 *     similarity = 2 |A and B| / (|A| + |B|)        0 nothing in common .. 1 the same runs
 *
 * A definition's own name and the classes around it count as one word whatever they are, so that a
 * renamed class or a recursive function stays what it is.
 */
#pragma once

#include "compare/outline.h"

struct fz_body {
	uint32_t *runs; /* hashes, ascending */
	uint32_t n;
};

void fz_body_init(struct fz_body *b, const struct fz_outline *o, uint32_t definition);
void fz_body_release(struct fz_body *b);
/* How many runs the two have in common. */
uint32_t fz_body_common(const struct fz_body *a, const struct fz_body *b);
/* The runs of the one that the other has not. */
void fz_body_subtract(const struct fz_body *from, const struct fz_body *what, struct fz_body *ret);
double fz_body_similarity(const struct fz_body *a, const struct fz_body *b);
