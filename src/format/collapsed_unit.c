/* SPDX-License-Identifier: MIT */
/* Guesses the unit of the numbers in folded text.
 *
 * Folded text does not contain its unit. Most tools write samples; some write microseconds (bcc's
 * offcputime, stackcollapse-xdebug.php) or nanoseconds (async-profiler's totals, tracing-flame),
 * which must not be reported as a billion samples. Sampled times can be recognised: every number is
 * a multiple of the sampling interval, and some stack has a single sample.
 *
 *     1000000 | interval    nanoseconds: in microseconds these would be whole seconds
 *     1000 | interval       microseconds: a sampler that wakes every few milliseconds
 *     1000000000 total      not samples, but the unit is unknown
 *     0.25                  not samples; counted in millionths
 */
#include "collapsed_unit.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "format.h"

const char *const fz_number_unit_names[] = { "auto",  "ns",  "us",  "ms",    "s", "samples",
					     "bytes", "KiB", "MiB", "count", NULL };

uint8_t fz_number_unit(struct fz_str name)
{
	uint8_t i = 0;

	while (fz_number_unit_names[i] && !fz_str_eq(name, fz_str_of(fz_number_unit_names[i])))
		i++;
	return fz_number_unit_names[i] ? i : 0;
}

static const struct meaning {
	const char *name, *metric, *unit;
	double scale;
} meanings[] = {
	{ "ns", "time", "ns", 1 },
	{ "us", "time", "ns", 1e3 },
	{ "ms", "time", "ns", 1e6 },
	{ "s", "time", "ns", 1e9 },
	{ "samples", "samples", "count", 1 },
	{ "bytes", "memory", "bytes", 1 },
	{ "KiB", "memory", "bytes", 1024 },
	{ "MiB", "memory", "bytes", 1024 * 1024 },
	{ "count", "units", "count", 1 },
	{ "millionths", "millionths", "count", 1e6 },
};

enum { MANY_SAMPLES = 1000000000 };
static const double most_lost = 0.01; /* part of the sum that rounding may change */
static const double shortest_interval = 1e5, longest_interval = 1e10; /* ns */

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static void note_number(struct fz_collapsed_numbers *all, uint64_t number)
{
	for (size_t i = 0; i < all->different; i++)
		if (all->seen[i] == number)
			return;
	if (all->different < FZ_COLLAPSED_SEEN)
		all->seen[all->different++] = number;
}

void fz_collapsed_count_number(struct fz_collapsed_numbers *all, uint64_t whole, double fraction)
{
	all->fractions |= fraction != 0;
	all->lost += fabs(fraction - round(fraction));
	all->exact += (double)whole + fraction;
	if (!whole)
		return;
	note_number(all, whole);
	all->divisor = greatest_divisor(whole, all->divisor);
	all->least = all->least ? FZ_MIN(all->least, whole) : whole;
	if (__builtin_add_overflow(all->sum, whole, &all->sum))
		all->sum = UINT64_MAX;
}

static const struct meaning *meaning_named(const char *name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(meanings); i++)
		if (strcmp(meanings[i].name, name) == 0)
			return &meanings[i];
	fz_assert(!"an unknown unit");
	return NULL;
}

/* Whether all numbers are multiples of the smallest, like multiples of an interval. A few numbers
 * may be multiples by chance. */
static bool are_multiples(const struct fz_collapsed_numbers *all)
{
	return !all->fractions && all->different == FZ_COLLAPSED_SEEN && all->least == all->divisor;
}

static const struct meaning *guess(const struct fz_collapsed_numbers *all, const char **ret_why)
{
	if (are_multiples(all) && all->divisor % 1000000 == 0) {
		*ret_why = "nanoseconds, because all are multiples of the smallest, a million or "
			   "more";
		return meaning_named("ns");
	}
	if (are_multiples(all) && all->divisor % 1000 == 0) {
		*ret_why = "microseconds, because all are multiples of the smallest, some "
			   "thousands";
		return meaning_named("us");
	}
	if (all->lost > most_lost * all->exact) {
		*ret_why = "millionths, because whole numbers would change the shares";
		return meaning_named("millionths");
	}
	if (all->sum >= MANY_SAMPLES) {
		*ret_why = "counts of an unknown unit, because the numbers are large";
		return meaning_named("count");
	}
	return meaning_named("samples");
}

/* Returns the interval if the times may come from samples, else 0. */
static int64_t interval_of(const struct fz_collapsed_numbers *all, double scale)
{
	double interval = (double)all->divisor * scale;

	return are_multiples(all) && interval >= shortest_interval && interval < longest_interval
		       ? (int64_t)interval
		       : 0;
}

struct fz_collapsed_reading fz_collapsed_read_numbers(const struct fz_collapsed_numbers *all,
						      unsigned unit, bool are_samples)
{
	const char *why = NULL;
	const struct meaning *m = unit          ? meaning_named(fz_number_unit_names[unit])
				  : are_samples ? meaning_named("samples")
						: guess(all, &why);
	bool samples = strcmp(m->metric, "samples") == 0;

	return (struct fz_collapsed_reading){
		.metric = m->metric,
		.unit = m->unit,
		.scale = m->scale,
		.each = samples                      ? 1
			: strcmp(m->unit, "ns") == 0 ? interval_of(all, m->scale)
						     : 0,
		.guess = why,
	};
}
