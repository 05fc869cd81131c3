/* SPDX-License-Identifier: MIT */
/* What the bare numbers of folded text stand for: samples, unless the user or the numbers
 * themselves say otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FZ_COLLAPSED_SEEN = 8 };

/* Of all numbers of a file. */
struct fz_collapsed_numbers {
	uint64_t seen[FZ_COLLAPSED_SEEN]; /* the first that differ */
	size_t different;                 /* of them */
	uint64_t divisor;                 /* of all of them; 0: none yet */
	uint64_t least, sum;
	bool fractions; /* then nothing is known of their divisor */
};

/* What becomes of them. */
struct fz_collapsed_reading {
	const char *metric, *unit; /* "time", "ns" */
	double scale;              /* of `unit` in one of the numbers */
	int64_t each;              /* of `unit` in one sample; 0: they were not sampled */
	const char *guess;         /* what they are taken for, and why; NULL: nothing was guessed */
};

void fz_collapsed_count_number(struct fz_collapsed_numbers *all, uint64_t whole, double fraction);
/* unit: index of fz_number_unit_names. are_samples: the text itself says what they are. */
struct fz_collapsed_reading fz_collapsed_read_numbers(const struct fz_collapsed_numbers *all,
						      unsigned unit, bool are_samples);
