/* SPDX-License-Identifier: MIT */
/* Converts the chosen metric for formats that cannot express it; see metric_fit.h. */
#include "metric_fit.h"

bool fz_fit_counts_samples(const struct fz_profile *p)
{
	const struct fz_metric *m = &p->metrics[p->default_metric];

	return strcmp(m->name, "samples") == 0 && strcmp(m->unit, "count") == 0;
}

bool fz_fit_assumes_length(const struct fz_profile *p)
{
	return fz_fit_counts_samples(p) && p->recording.interval_ns <= 0;
}

bool fz_fit_makes_samples(const struct fz_profile *p)
{
	return p->recording.interval_ns <= 0 && !fz_fit_counts_samples(p);
}

int fz_fit_time(const struct fz_profile *p, const char *format, double *ret_ns,
		struct fz_error *err)
{
	if (!p->metric_count)
		return fz_fail(err, FZ_EINPUT, "the profile has no metric to write");
	const struct fz_metric *m = &p->metrics[p->default_metric];
	if (strcmp(m->unit, "ns") == 0)
		*ret_ns = 1;
	else if (fz_fit_assumes_length(p))
		*ret_ns = FZ_FIT_SAMPLE_NS;
	else if (fz_fit_counts_samples(p))
		*ret_ns = (double)p->recording.interval_ns;
	else
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s stores times, and '%s' is not a time; --metric samples writes "
			       "sample counts, and -o FILE.pb.gz stores every metric",
			       format, m->name);
	return 0;
}

bool fz_fit_is_even(const struct fz_profile *p)
{
	const struct fz_metric *m = &p->metrics[p->default_metric];
	double each = 0;

	for (size_t row = 0; m->column && row < p->samples.n; row++) {
		double own = (double)m->column[row] / fz_sample_count(p, row);
		if (each != 0 && own != each)
			return false;
		each = own;
	}
	return true;
}

int64_t fz_fit_total(const struct fz_profile *p)
{
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		sum += fz_sample_weight(p, p->default_metric, row);
	return sum;
}

int64_t fz_fit_stackless(const struct fz_profile *p)
{
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] == FZ_NONE)
			sum += fz_sample_weight(p, p->default_metric, row);
	return sum;
}

int64_t fz_fit_negative(const struct fz_profile *p)
{
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		sum += FZ_MIN(fz_sample_weight(p, p->default_metric, row), (int64_t)0);
	return sum;
}
