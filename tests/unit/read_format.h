/* SPDX-License-Identifier: MIT */
/* Reads a text that a test contains, and finds the costs of its functions. */
#pragma once

#include "format_help.h"
#include "profile/tree.h"

static inline struct fz_profile *load_text(const char *text)
{
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (load_bytes(text, strlen(text), "file", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static inline void expect_error(const char *text, const char *what)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	assert_true(load_bytes(text, strlen(text), "file", &p, &err) < 0);
	if (!strstr(err.message, what))
		fail_msg("'%s' does not say '%s'", err.message, what);
}

/* Self or total cost of the functions of a name, in a metric (NULL: the main one). */
static inline int64_t cost(const struct fz_profile *p, const char *metric, const char *name,
			   bool total)
{
	struct fz_tree_options o = FZ_TREE_DEFAULTS;
	int64_t *self, *all, sum = 0;

	o.metric = metric ? fz_profile_find_metric(p, fz_str_of(metric)) : p->default_metric;
	assert_int_not_equal(o.metric, FZ_NONE);
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
	fz_tree_function_costs(t, &self, &all);
	for (uint32_t i = 0; i < p->function_count; i++)
		if (fz_str_eq(fz_profile_text(p, p->functions[i].name), fz_str_of(name)))
			sum += total ? all[i] : self[i];
	free(self);
	free(all);
	return sum;
}

static inline int64_t sum_of(const struct fz_profile *p, uint32_t metric)
{
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		sum += fz_sample_weight(p, metric, row);
	return sum;
}

static inline int64_t sum_of_metric(const struct fz_profile *p, const char *metric)
{
	uint32_t m = fz_profile_find_metric(p, fz_str_of(metric));

	assert_int_not_equal(m, FZ_NONE);
	return sum_of(p, m);
}
