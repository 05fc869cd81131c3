/* SPDX-License-Identifier: MIT */
/* Words for a cost that grew or shrank, by unit: a program is slower (time), larger (bytes) or has
 * more (counts). Machine-readable files use one word for all, "slower", for a higher cost. */
#pragma once

struct fz_cost_words {
	const char *more, *less;           /* of one: "slower", "faster" */
	const char *many_more, *many_less; /* after a number: "2 slower", "2 with more" */
	const char *is, *are;              /* verb before them: "the run is slower" */
};

/* The words of machine-readable files. */
extern const struct fz_cost_words fz_cost_words_for_programs;

/* Noun for a function's own cost: "time" (also for samples), "bytes", or what is counted. */
const char *fz_cost_noun(const char *metric, const char *unit);

/* Words for a metric and its unit. Samples, instructions and cycles count as time. */
const struct fz_cost_words *fz_cost_words(const char *metric, const char *unit);
