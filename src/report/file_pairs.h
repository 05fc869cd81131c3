/* SPDX-License-Identifier: MIT */
/* Pairs files of the base with files of the head: each with the one that has most of the cost of
 * the functions that they share. */
#pragma once

#include "base/map.h"

struct fz_file_pair {
	uint32_t base, head; /* the caller's numbers */
	double cost;
};

struct fz_file_pairs {
	struct fz_file_pair *list;
	uint32_t n, cap;
	struct fz_map known;
};

/* Count the cost of a function that is in these files. */
void fz_file_pairs_add(struct fz_file_pairs *p, uint32_t base, uint32_t head, double cost);
/* Keep the pairs with most cost, each file once on its side; they are in that order. */
void fz_file_pairs_choose(struct fz_file_pairs *p);
void fz_file_pairs_release(struct fz_file_pairs *p);
