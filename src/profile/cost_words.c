/* SPDX-License-Identifier: MIT */
/* Words by kinds of units; see cost_words.h. */
#include "profile/cost_words.h"

#include "base/base.h"

#include <string.h>

const struct fz_cost_words fz_cost_words_for_programs = { "slower", "faster", "slower",
							  "faster", "is",     "are" };
static const struct fz_cost_words of_bytes = {
	"larger", "smaller", "larger", "smaller", "is", "are"
};
static const struct fz_cost_words of_events = { "more",       "fewer", "with more",
						"with fewer", "has",   "have" };

static const struct {
	const char *unit, *metric; /* metric NULL: any other */
	const struct fz_cost_words *words;
} kinds[] = {
	{ "ns", NULL, &fz_cost_words_for_programs },
	{ "bytes", NULL, &of_bytes },
	{ "count", "samples", &fz_cost_words_for_programs },
	{ "count", "instructions", &fz_cost_words_for_programs },
	{ "count", "cycles", &fz_cost_words_for_programs },
	/* From programs that give times without a unit. */
	{ "count", "wall", &fz_cost_words_for_programs },
	{ "count", "cpu", &fz_cost_words_for_programs },
};

const char *fz_cost_noun(const char *metric, const char *unit)
{
	if (strcmp(unit, "bytes") == 0)
		return "bytes";
	bool is_time = strcmp(unit, "ns") == 0 || strcmp(metric, "samples") == 0 ||
		       strcmp(metric, "wall") == 0 || strcmp(metric, "cpu") == 0;
	return is_time ? "time" : metric;
}

const struct fz_cost_words *fz_cost_words(const char *metric, const char *unit)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].unit, unit) == 0 &&
		    (!kinds[i].metric || strcmp(kinds[i].metric, metric) == 0))
			return kinds[i].words;
	return &of_events;
}
