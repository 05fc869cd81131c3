/* SPDX-License-Identifier: MIT */
/* What a format with fewer words than the model makes of the chosen metric: formats that hold
 * times, or samples of one length, get a time that is true, or are refused.
 */
#pragma once

#include "profile/profile.h"

/* A sample's length where nobody knows it. */
enum { FZ_FIT_SAMPLE_NS = 1000000 };

/* What one of the default metric is in nanoseconds: a time's 1, a sample's interval. Anything else
 * has no place in `format` ("a Tachyon file"): FZ_EUNSUPPORTED, and what to do. */
int fz_fit_time(const struct fz_profile *p, const char *format, double *ret_ns,
		struct fz_error *err);
/* Whether the default metric counts samples; and if so whether nobody knows how long each was. */
bool fz_fit_counts_samples(const struct fz_profile *p);
bool fz_fit_assumes_length(const struct fz_profile *p);
/* Whether the default metric is a time that nobody sampled at an interval: calls that were timed, a
 * graph of them. Samples of a format that knows nothing else are then made of it. */
bool fz_fit_makes_samples(const struct fz_profile *p);
/* Whether every sample weighs the same in the default metric, so that counts say all. */
bool fz_fit_is_even(const struct fz_profile *p);
/* What of the default metric has no stack: graphs and lists of stacks cannot hold it. */
int64_t fz_fit_stackless(const struct fz_profile *p);
int64_t fz_fit_total(const struct fz_profile *p);
