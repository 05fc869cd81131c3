/* SPDX-License-Identifier: MIT */
/* --metric: see metric.h. */
#include "cli/metric.h"

#include "base/buf.h"

int fz_cli_metric_choose(struct fz_profile *p, const char *name, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf names = { 0 };

	if (!name)
		return 0;
	uint32_t metric = fz_profile_find_metric(p, fz_str_of(name));
	if (metric == FZ_NONE && strcmp(name, "samples") == 0)
		metric = fz_profile_count_samples(p);
	if (metric != FZ_NONE) {
		p->default_metric = metric;
		p->metric_chosen = true;
		return 0;
	}
	for (uint32_t i = 0; i < p->metric_count; i++)
		fz_buf_printf(&names, "%s%s", i ? ", " : "", p->metrics[i].name);
	return fz_fail(err, FZ_EUSAGE, "--metric: the recording has no metric '%s'; it has %s",
		       name, names.p);
}
