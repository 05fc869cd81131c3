/* SPDX-License-Identifier: MIT */
/* Accepted changes; see accepted.h. */
#include "bench/accepted.h"

#include "bench/report.h"
#include "format/jsonread.h"

#include <math.h>

/* ---- JSON ---- */

void fz_ci_accepted_write(struct fz_json *j, const struct fz_results_accepted *a)
{
	fz_json_open(j, '{');
	fz_ci_json_text(j, "benchmark", a->name);
	fz_ci_json_text(j, "metric", a->metric);
	fz_json_kdouble(j, "change", a->change);
	fz_ci_json_text(j, "reason", a->reason);
	fz_ci_json_text(j, "commit", a->commit);
	fz_ci_json_text(j, "pull", a->pull);
	fz_ci_json_text(j, "into", a->into);
	fz_ci_json_text(j, "patch", a->patch);
	fz_json_kdouble(j, "base", a->count[0]);
	fz_json_kdouble(j, "head", a->count[1]);
	fz_ci_json_text(j, "landed", a->landed);
	fz_json_kint(j, "time", a->time);
	fz_json_close(j, '}');
}

static const char *text_of(const json_t *v, const char *key)
{
	const char *text = json_string_value(json_object_get(v, key));

	return text ? text : "";
}

static double number_of(const json_t *v, const char *key, double missing)
{
	const json_t *number = json_object_get(v, key);

	return json_is_number(number) ? json_number_value(number) : missing;
}

bool fz_ci_accepted_read(const json_t *v, struct fz_results_accepted *ret)
{
	*ret = (struct fz_results_accepted){
		.name = text_of(v, "benchmark"),
		.metric = fz_ci_metric(fz_str_of(text_of(v, "metric"))),
		.reason = text_of(v, "reason"),
		.commit = text_of(v, "commit"),
		.pull = text_of(v, "pull"),
		.into = text_of(v, "into"),
		.patch = text_of(v, "patch"),
		.landed = text_of(v, "landed"),
		.change = number_of(v, "change", INFINITY),
		.count = { number_of(v, "base", -1), number_of(v, "head", -1) },
		.time = fz_jsonread_int(json_object_get(v, "time"), 0),
	};
	return *ret->name && ret->metric && *ret->reason && *ret->commit;
}

/* ---- where it holds ---- */

static bool same(const char *a, const char *b)
{
	return *a && strcmp(a, b) == 0;
}

bool fz_ci_accepted_may_land(const struct fz_results_accepted *a, const struct fz_ci_compared *c)
{
	return !*a->landed && !*c->pull && same(a->into, c->branch);
}

bool fz_ci_accepted_is_here(const struct fz_results_accepted *a, const struct fz_ci_compared *c)
{
	return same(a->pull, c->pull) || same(a->commit, c->head) || same(a->landed, c->head) ||
	       (fz_ci_accepted_may_land(a, c) && same(a->patch, c->patch));
}

void fz_ci_accepted_apply(const struct fz_results_accepted *a, const struct fz_ci_compared *c,
			  struct fz_ci_config *config)
{
	bool here = fz_ci_accepted_is_here(a, c), lands = fz_ci_accepted_may_land(a, c);
	struct fz_ci_accept rule = { .glob = a->name,
				     .by = a->commit,
				     .reason = a->reason,
				     .commit = here ? NULL : a->commit,
				     .change = a->change,
				     .lands = lands,
				     .count = { a->count[0], a->count[1] } };

	fz_ci_config_accept(config, &rule, a->metric);
	if (here || !*a->landed)
		return;
	rule.commit = a->landed;
	fz_ci_config_accept(config, &rule, a->metric);
}
