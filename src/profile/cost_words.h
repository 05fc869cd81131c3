/* SPDX-License-Identifier: MIT */
/* What people call a cost that grew or shrank, by what it is a cost of: a program is slower by its
 * time, larger by its bytes, and of what is counted it has more. Files for programs have one word
 * for all, "slower", which there means that it costs more. */
#pragma once

struct fz_cost_words {
	const char *more, *less;           /* of one: "slower", "faster" */
	const char *many_more, *many_less; /* after how many: "2 slower", "2 with more" */
	const char *is, *are;              /* between them and what changed: "the run is slower" */
};

/* Those that files for programs have. */
extern const struct fz_cost_words fz_cost_words_for_programs;

/* What it is that a function has of its own: "time" (samples stand for it), "bytes", or what is
 * counted. */
const char *fz_cost_noun(const char *metric, const char *unit);

/* Of a metric and its unit. Samples, instructions and cycles stand for time. */
const struct fz_cost_words *fz_cost_words(const char *metric, const char *unit);
