/* SPDX-License-Identifier: MIT */
/* Interprets the bare numbers of folded text: as samples, unless the user or the numbers themselves
 * indicate otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FZ_COLLAPSED_SEEN = 8 };

/* Statistics of all numbers in a file. */
struct fz_collapsed_numbers {
	uint64_t seen[FZ_COLLAPSED_SEEN]; /* the first distinct ones */
	size_t different;                 /* number of these */
	uint64_t divisor;                 /* of all numbers; 0: none yet */
	uint64_t least, sum;
	bool fractions; /* then the divisor is unknown */
	double lost;    /* by rounding each number to a whole one */
	double exact;   /* the sum with fractions */
};

/* The interpretation. */
struct fz_collapsed_reading {
	const char *metric, *unit; /* "time", "ns" */
	double scale;              /* number of `unit`s per number */
	int64_t each;              /* number of `unit`s per sample; 0: not sampled */
	const char *guess;         /* the guess and its reason; NULL if not guessed */
};

void fz_collapsed_count_number(struct fz_collapsed_numbers *all, uint64_t whole, double fraction);
/* unit: index in fz_number_unit_names. are_samples: the text itself marks them as samples. */
struct fz_collapsed_reading fz_collapsed_read_numbers(const struct fz_collapsed_numbers *all,
						      unsigned unit, bool are_samples);
