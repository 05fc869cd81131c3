/* SPDX-License-Identifier: MIT */
/* Converts the chosen metric for formats that only store times, or samples of one length; fails if
 * there is no correct conversion.
 */
#pragma once

#include "profile/profile.h"

/* Length of a sample if unknown. */
enum { FZ_FIT_SAMPLE_NS = 1000000 };

/* Sets *ret_ns to the nanoseconds per unit of the default metric: 1 for times, the interval for
 * samples. Fails with FZ_EUNSUPPORTED and a remedy for other metrics, which `format` ("a Tachyon
 * file") cannot store. */
int fz_fit_time(const struct fz_profile *p, const char *format, double *ret_ns,
		struct fz_error *err);
/* Whether the default metric counts samples, and if so, whether their length is unknown. */
bool fz_fit_counts_samples(const struct fz_profile *p);
bool fz_fit_assumes_length(const struct fz_profile *p);
/* Whether the default metric is a time that was not sampled at an interval: timed calls, or a graph
 * of them. Formats that only store samples then get synthetic ones. */
bool fz_fit_makes_samples(const struct fz_profile *p);
/* Whether every sample has the same weight in the default metric, so that counts suffice. */
bool fz_fit_is_even(const struct fz_profile *p);
/* Cost in the default metric that has no stack, which graphs and lists of stacks cannot store. */
int64_t fz_fit_stackless(const struct fz_profile *p);
/* The sum of negative costs. */
int64_t fz_fit_negative(const struct fz_profile *p);
int64_t fz_fit_total(const struct fz_profile *p);
