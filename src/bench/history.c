/* SPDX-License-Identifier: MIT */
/* Series of counts over commits, and their changes; see history.h. */
#include "bench/history.h"

#include "profile/benchmarks.h"

#include <math.h>

/* One count of a recording; those of a series are a list, in the order of adding. */
struct fz_history_count {
	uint32_t next, commit, environment;
	double count;
};

static struct fz_str kept(struct fz_history *h, struct fz_str s)
{
	return (struct fz_str){ fz_arena_strndup(&h->arena, s.p, s.n), s.n };
}

static const char *kept_text(struct fz_history *h, const char *s)
{
	return fz_arena_strndup(&h->arena, s, strlen(s));
}

void fz_history_init(struct fz_history *h, const struct fz_history_commit *commits, uint32_t n)
{
	*h = (struct fz_history){ .n = n };
	h->commits = fz_calloc(n + 1ul, sizeof(*h->commits));
	for (uint32_t i = 0; i < n; i++)
		h->commits[i] = (struct fz_history_commit){ kept_text(h, commits[i].commit),
							    kept_text(h, commits[i].day),
							    kept_text(h, commits[i].subject) };
}

void fz_history_release(struct fz_history *h)
{
	for (uint32_t i = 0; i < h->series_n; i++) {
		free(h->series[i].count);
		free(h->series[i].environment);
		free(h->series[i].turns);
	}
	free(h->series);
	free(h->counts);
	fz_map_release(&h->names);
	free(h->environments);
	free(h->commits);
	fz_arena_release(&h->arena);
	*h = (struct fz_history){ 0 };
}

/* ---- adding ---- */

static uint32_t series_of(struct fz_history *h, struct fz_str name)
{
	uint32_t *slot = fz_map_slot(&h->names, fz_map_hash(name.p, name.n));

	if (*slot != FZ_NONE)
		return *slot;
	fz_grow(h->series, h->series_n, h->series_cap);
	h->series[h->series_n] =
		(struct fz_history_series){ .name = kept(h, name), .oldest = FZ_NONE };
	*slot = h->series_n;
	return h->series_n++;
}

static uint32_t environment_of(struct fz_history *h, struct fz_str text)
{
	for (uint32_t i = 0; i < h->environment_n; i++)
		if (fz_str_eq(fz_str_of(h->environments[i]), text))
			return i;
	fz_grow(h->environments, h->environment_n, h->environment_cap);
	h->environments[h->environment_n] = fz_arena_strndup(&h->arena, text.p, text.n);
	return h->environment_n++;
}

/* Returns the index of the series. */
static uint32_t add_count(struct fz_history *h, uint32_t commit, struct fz_str name,
			  uint32_t environment, double count)
{
	uint32_t index = series_of(h, name);
	struct fz_history_series *s = &h->series[index];

	fz_assert(commit < h->n && environment < h->environment_n);
	fz_grow(h->counts, h->count_n, h->count_cap);
	if (s->oldest == FZ_NONE)
		s->oldest = h->count_n;
	else
		h->counts[s->latest].next = h->count_n;
	s->latest = h->count_n;
	h->counts[h->count_n++] = (struct fz_history_count){ FZ_NONE, commit, environment, count };
	return index;
}

void fz_history_add_count(struct fz_history *h, uint32_t commit, struct fz_str name,
			  struct fz_str environment, double count, double limit)
{
	fz_assert(h->metric);
	uint32_t index = add_count(h, commit, name, environment_of(h, environment), count);
	struct fz_history_series *s = &h->series[index];

	s->limit = FZ_MAX(s->limit, limit);
}

int fz_history_add(struct fz_history *h, uint32_t commit, const struct fz_profile *p,
		   const char *metric, const char *filter, struct fz_error *err)
{
	struct fz_ci_result r = FZ_CI_RESULT_INIT;
	struct fz_str command = fz_profile_fact(p, "command");
	fz_auto(fz_free_ptr) char *whole =
		command.n ? fz_strndup(command.p, command.n) : fz_strdup("whole program");
	uint32_t environment = environment_of(h, fz_profile_fact(p, "environment"));

	r.metrics = (struct fz_ci_metric_list){ { metric }, 1 };
	int rc = fz_ci_collect(&r, FZ_HEAD, p, whole, err);
	for (uint32_t i = 0; i < r.n && !rc; i++) {
		if (!fz_benchmark_wanted(r.benches[i].name, filter) || r.benches[i].trouble)
			continue;
		add_count(h, commit, r.benches[i].name, environment, r.benches[i].count[FZ_HEAD]);
		h->metric = metric;
		h->unit = fz_ci_unit(metric);
	}
	fz_ci_release(&r);
	return rc;
}

/* ---- series ---- */

/* The number of counts of a series by environment. */
static uint32_t *known_by(const struct fz_history *h, const struct fz_history_series *s)
{
	uint32_t *known = fz_calloc(h->environment_n + 1ul, sizeof(*known));

	for (uint32_t i = s->oldest; i != FZ_NONE; i = h->counts[i].next)
		known[h->counts[i].environment]++;
	return known;
}

static void fill(struct fz_history *h, struct fz_history_series *s)
{
	fz_auto(fz_free_ptr) uint32_t *known = known_by(h, s);

	s->count = fz_calloc(h->n + 1ul, sizeof(*s->count));
	s->environment = fz_calloc(h->n + 1ul, sizeof(*s->environment));
	for (uint32_t i = 0; i < h->n; i++) {
		s->count[i] = NAN;
		s->environment[i] = FZ_NONE;
	}
	for (uint32_t i = s->oldest; i != FZ_NONE; i = h->counts[i].next) {
		const struct fz_history_count *c = &h->counts[i];
		uint32_t *of = &s->environment[c->commit];
		if (*of != FZ_NONE && known[*of] >= known[c->environment])
			continue;
		*of = c->environment;
		s->count[c->commit] = c->count;
	}
	for (uint32_t i = 0; i < h->n; i++)
		if (s->environment[i] != FZ_NONE)
			s->last = i;
	s->first = s->last;
	for (uint32_t i = s->last; i-- > 0;)
		if (s->environment[i] == s->environment[s->last])
			s->first = i;
		else
			s->moved |= s->environment[i] != FZ_NONE;
}

/* Find turns among the commits at[0..n), which were counted in one environment. */
static void find_turns(struct fz_history_series *s, const uint32_t *at, uint32_t n)
{
	fz_auto(fz_free_ptr) double *cost = fz_calloc(n + 1ul, sizeof(*cost));
	fz_auto(fz_free_ptr) struct fz_step *steps = NULL;

	for (uint32_t i = 0; i < n; i++)
		cost[i] = s->count[at[i]];
	size_t count = fz_steps_find(cost, n, s->least, &steps);
	if (!count)
		return;
	s->turns = fz_reallocarray(s->turns, s->turn_n + count, sizeof(*s->turns));
	for (size_t i = 0; i < count; i++) {
		struct fz_history_turn *turn = &s->turns[s->turn_n++];
		*turn = (struct fz_history_turn){ .step = steps[i] };
		turn->step.at = at[steps[i].at];
		turn->step.since = at[steps[i].since];
	}
}

static void find_all_turns(const struct fz_history *h, struct fz_history_series *s)
{
	fz_auto(fz_free_ptr) uint32_t *at = fz_calloc(h->n + 1ul, sizeof(*at));
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		if (s->environment[i] == FZ_NONE)
			continue;
		if (n && s->environment[at[n - 1]] != s->environment[i]) {
			find_turns(s, at, n);
			n = 0;
		}
		at[n++] = i;
	}
	find_turns(s, at, n);
}

/* The size of a series' largest turn in either direction. */
static double size_of(const struct fz_history_series *s)
{
	double size = 0;

	for (uint32_t i = 0; i < s->turn_n; i++) {
		double ratio = 1 + fz_step_change(&s->turns[i].step);
		size = FZ_MAX(size, ratio > 0 ? fabs(log(ratio)) : INFINITY);
	}
	return size;
}

static int by_size(const void *pa, const void *pb)
{
	const struct fz_history_series *a = pa, *b = pb;
	double x = size_of(a), y = size_of(b);

	return FZ_CMP(y, x) ?: fz_str_cmp(a->name, b->name);
}

void fz_history_find(struct fz_history *h, const struct fz_ci_config *config, double threshold)
{
	for (uint32_t i = 0; i < h->series_n; i++) {
		struct fz_history_series *s = &h->series[i];
		fill(h, s);
		s->least = threshold > 0 ? threshold
			   : s->limit > 0
				   ? s->limit
				   : fz_ci_config_threshold(
					     config, &(struct fz_ci_subject){ s->name, h->metric });
		find_all_turns(h, s);
	}
	if (h->series_n)
		qsort(h->series, h->series_n, sizeof(*h->series), by_size);
	free(h->counts);
	h->counts = NULL;
	h->count_n = h->count_cap = 0;
}

/* ---- where ---- */

static void set_place(struct fz_history *h, struct fz_history_turn *turn,
		      const struct fz_ci_place *place)
{
	turn->place = *place;
	if (place->context)
		turn->place.context = kept_text(h, place->context);
	if (place->file)
		turn->place.file = kept_text(h, place->file);
}

void fz_history_locate(struct fz_history *h, uint32_t since, uint32_t at,
		       const struct fz_profile *base, const struct fz_profile *head,
		       const char *const roots[FZ_SIDES])
{
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	struct fz_ci_result r = FZ_CI_RESULT_INIT;

	r.metrics = (struct fz_ci_metric_list){ { h->metric }, 1 };
	/* A turn without a place is valid. */
	if (fz_ci_diff(&r, base, head, h->metric, &c, NULL))
		return;
	for (uint32_t i = 0; i < h->series_n; i++)
		fz_ci_bench_of(&r, h->series[i].name, h->metric)->suspect = true;
	fz_ci_locate(&r, c->diff, h->metric, roots);
	for (uint32_t i = 0; i < h->series_n; i++)
		for (uint32_t t = 0; t < h->series[i].turn_n; t++) {
			struct fz_history_turn *turn = &h->series[i].turns[t];
			if (turn->step.at == at && turn->step.since == since)
				set_place(h, turn,
					  &fz_ci_bench_of(&r, h->series[i].name, h->metric)->place);
		}
	fz_ci_release(&r);
}
