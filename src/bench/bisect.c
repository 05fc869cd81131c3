/* SPDX-License-Identifier: MIT */
/* The search for a commit; see bisect.h.
 *
 *   good ---o---o---(o)---o---o--- bad       git selects the middle of the remaining commits,
 *                    |                       we count it: nearer to good's count or to bad's?
 *                    '--> good or bad
 *
 * Counts are exact, so one run decides. The user's tree and git's own bisect state are not touched:
 * commits are checked out in the cache.
 */
#include "bench/bisect.h"

#include "profile/benchmarks.h"
#include "bench/baseline.h"
#include "bench/texts.h"
#include "git/halving.h"

#include <math.h>

/* Smaller changes are not searched for. */
#define CHANGE_MIN 0.001
/* A change must exceed this many floors. */
#define FLOORS 3

/* Find the commits that may be the cause: reachable from the earliest bad one, not from a good one.
 */
static int find_candidates(struct fz_bisect *b, struct fz_halving *ret, struct fz_error *err)
{
	const struct fz_ci_search *s = &b->search;
	fz_auto(fz_free_ptr) const char **good = fz_calloc(s->n + 1ul, sizeof(*good));
	size_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->steps[i].side == FZ_CI_GOOD)
			good[n++] = s->steps[i].commit;
	return fz_halving_find(&b->workspace.repository, s->steps[b->bad].commit, good,
			       b->options->first_parent, ret, err);
}

/* ---- counting ---- */

static uint32_t step_of(const struct fz_bisect *b, const char *commit)
{
	for (uint32_t i = 0; i < b->search.n; i++)
		if (strcmp(b->search.steps[i].commit, commit) == 0)
			return i;
	return FZ_NONE;
}

/* The searched benchmark's count in a recording; NaN if it is missing. */
static double count_in(const struct fz_bisect *b, const struct fz_profile *p)
{
	struct fz_ci_result r = FZ_CI_RESULT_INIT;
	double count = NAN;

	r.metrics = b->config.metrics;
	if (!fz_ci_collect(&r, FZ_HEAD, p, b->workspace.whole, NULL))
		for (uint32_t i = 0; i < r.n; i++)
			if (r.benches[i].on_side[FZ_HEAD] &&
			    fz_str_eq(r.benches[i].name, fz_str_of(b->search.name)))
				count = r.benches[i].count[FZ_HEAD];
	fz_ci_release(&r);
	return count;
}

static const char *keep(struct fz_bisect *b, const char *text)
{
	return fz_arena_strndup(&b->search.arena, text, strlen(text));
}

/* The stored counts of a commit in the environment of GOOD, which is counted first; NULL if there
 * are none. With -k counts are neither read nor stored, because they may differ a little. */
static struct fz_profile *find_kept(struct fz_bisect *b, const char *commit)
{
	struct fz_profile *p = NULL;
	struct fz_kept from;

	if (b->options->filter || !b->n || !b->profiles[0])
		return NULL;
	struct fz_str environment = fz_profile_fact(b->profiles[0], "environment");
	bool found = fz_baseline_find(&b->baselines, commit, environment, &p, &from);
	fz_counts_warn(&b->baselines, "bisect", b->notify);
	return found ? p : NULL;
}

static void keep_counts(struct fz_bisect *b, const char *commit, const struct fz_revision *counted)
{
	enum fz_baseline_place place = (enum fz_baseline_place)b->options->save;
	struct fz_error err;

	if (!b->options->filter && counted->profile && !counted->trouble &&
	    fz_counts_save(&b->baselines, place, commit, counted->profile, "bisect", b->notify,
			   &place, &err))
		fz_notify_warn(b->notify, "bisect: %s", err.message);
}

/* Count a commit and add a step; its profile is NULL if that was not possible. ret_other: NULL, or
 * gets the counts in another environment. */
static int count_commit(struct fz_bisect *b, const char *commit, struct fz_profile **ret_other,
			uint32_t *ret, struct fz_error *err)
{
	fz_auto(fz_revision_title_release) struct fz_revision_title title = { 0 };
	fz_auto(fz_revision_release) struct fz_revision counted = { 0 };

	counted.profile = find_kept(b, commit);
	if (!counted.profile) {
		fz_notify_progress(b->notify, "counting %.10s", commit);
		int rc = fz_revision_count(&b->workspace, commit, ret_other != NULL, &counted, err);
		if (rc)
			return rc;
		keep_counts(b, commit, &counted);
	}
	fz_revision_title(&b->workspace.repository, commit, &title);
	struct fz_ci_step *step = fz_ci_search_add(&b->search, commit, title.day, title.subject);
	*ret = b->search.n - 1;
	fz_push(b->profiles, b->n, b->cap, fz_steal(counted.profile));
	if (!b->profiles[*ret])
		step->why = keep(b, counted.trouble);
	if (ret_other)
		*ret_other = fz_steal(counted.other);
	return 0;
}

/* ---- the two ends ---- */

static int count_end(struct fz_bisect *b, int end, struct fz_profile **ret_other, uint32_t *ret,
		     struct fz_error *err)
{
	int rc = count_commit(b, b->ends[end], ret_other, ret, err);

	if (!rc && !b->profiles[*ret])
		rc = fz_fail(err, FZ_EINPUT, "%s: %s", b->options->ends[end],
			     b->search.steps[*ret].why);
	return rc;
}

static int collect(struct fz_bisect *b, struct fz_ci_result *r, uint32_t base, uint32_t head,
		   struct fz_error *err)
{
	r->metrics = b->config.metrics;
	int rc = fz_ci_collect(r, FZ_BASE, b->profiles[base], b->workspace.whole, err);
	if (!rc)
		rc = fz_ci_collect(r, FZ_HEAD, b->profiles[head], b->workspace.whole, err);
	for (uint32_t i = 0; i < r->n && !rc; i++) {
		struct fz_ci_bench *one = &r->benches[i];
		double before = one->count[FZ_BASE], after = one->count[FZ_HEAD];
		double floor = isnan(one->floor) ? 0 : FLOORS * one->floor;
		if (!one->on_side[FZ_BASE] || !one->on_side[FZ_HEAD] || one->trouble)
			continue;
		one->change = before > 0 ? after / before - 1 : after > 0 ? INFINITY : 0;
		one->limit = FZ_MAX(b->options->threshold > 0 ? b->options->threshold : CHANGE_MIN,
				    floor);
		one->suspect = fabs(one->change) > one->limit;
	}
	return rc;
}

/* The size of a change in either direction. */
static double size_of(const struct fz_ci_bench *bench)
{
	double ratio = 1 + bench->change;

	return ratio > 0 ? fabs(log(ratio)) : INFINITY;
}

/* The error if there is no benchmark to search for. */
static int no_benchmark(const struct fz_bisect *b, struct fz_error *err)
{
	const struct fz_ci_result *r = &b->search.ends;

	if (!r->n)
		return fz_fail(err, FZ_EINPUT, "no benchmarks were counted");
	if (b->options->filter)
		return fz_fail(
			err, FZ_EINPUT,
			"no benchmark in both %s and %s has a name that contains '%s'; '%.*s' "
			"is one of %u",
			b->options->ends[0], b->options->ends[1], b->options->filter,
			(int)r->benches[0].name.n, r->benches[0].name.p, r->n);
	return fz_fail(err, FZ_EINPUT, "%s and %s have no benchmark in common", b->options->ends[0],
		       b->options->ends[1]);
}

/* Choose the benchmark that changed most between the ends; none if they do not differ. */
static int choose_benchmark(struct fz_bisect *b, struct fz_error *err)
{
	struct fz_ci_result *r = &b->search.ends;
	struct fz_ci_bench *most = NULL;
	uint32_t common = 0, changed = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		struct fz_ci_bench *one = &r->benches[i];
		if (isnan(one->change) || !fz_benchmark_wanted(one->name, b->options->filter))
			continue;
		common++;
		changed += one->suspect;
		if (one->suspect && (!most || size_of(one) > size_of(most)))
			most = one;
	}
	if (!common)
		return no_benchmark(b, err);
	if (most)
		b->search.name = fz_arena_strndup(&b->search.arena, most->name.p, most->name.n);
	if (changed > 1)
		fz_notify_note(b->notify,
			       "%u benchmarks differ; searching for the change of '%s' (use -k to "
			       "select another)",
			       changed, b->search.name);
	return 0;
}

static void report_step(struct fz_bisect *b, uint32_t step)
{
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };

	fz_ci_search_line(&b->search, &b->search.steps[step], &line);
	fz_notify_note(b->notify, "%s", line.p);
}

static int count_ends(struct fz_bisect *b, struct fz_error *err)
{
	struct fz_ci_search *s = &b->search;
	fz_auto(fz_profile_freep) struct fz_profile *other = NULL;
	uint32_t good, bad;
	int rc = count_end(b, 0, &other, &good, err);

	if (!rc)
		rc = count_end(b, 1, NULL, &bad, err);
	s->ends.metrics = b->config.metrics;
	if (!rc)
		rc = fz_ci_collect(&s->ends, FZ_BASE, b->profiles[good], b->workspace.whole, err);
	if (rc)
		return rc;
	if (other)
		fz_ci_disturb(&s->ends, FZ_BASE, other, b->workspace.whole);
	/* collect() adds to the counts, so reset them. */
	for (uint32_t i = 0; i < s->ends.n; i++)
		s->ends.benches[i].count[FZ_BASE] = s->ends.benches[i].cycles[FZ_BASE] = 0;
	rc = collect(b, &s->ends, good, bad, err);
	s->good = s->last_good = good;
	s->bad = b->bad = bad;
	s->steps[good].side = FZ_CI_GOOD;
	s->steps[bad].side = FZ_CI_BAD;
	if (!rc)
		rc = choose_benchmark(b, err);
	if (rc || !s->name)
		return rc;
	s->steps[good].count = count_in(b, b->profiles[good]);
	s->steps[bad].count = count_in(b, b->profiles[bad]);
	report_step(b, good);
	report_step(b, bad);
	return 0;
}

/* ---- the search ---- */

static bool is_bad(const struct fz_bisect *b, double count)
{
	const struct fz_ci_search *s = &b->search;
	double good = s->steps[s->good].count, bad = s->steps[s->bad].count;

	if (b->options->threshold > 0 && good > 0)
		return (count / good - 1) * (bad > good ? 1 : -1) > b->options->threshold;
	return (count - good) / (bad - good) > 0.5;
}

/* Decide whether a step is good, bad or skipped. */
static void judge_step(struct fz_bisect *b, uint32_t at)
{
	struct fz_ci_step *step = &b->search.steps[at];

	if (b->profiles[at]) {
		step->count = count_in(b, b->profiles[at]);
		if (isnan(step->count))
			step->why = "does not have this benchmark";
	}
	step->side = step->why ? FZ_CI_SKIPPED : is_bad(b, step->count) ? FZ_CI_BAD : FZ_CI_GOOD;
	b->skipped = step->side == FZ_CI_SKIPPED ? b->skipped + 1 : 0;
	if (step->side == FZ_CI_BAD)
		b->bad = at;
	if (step->side == FZ_CI_GOOD)
		b->search.last_good = at;
	report_step(b, at);
}

/* Choose one of the remaining commits. If one cannot be built, its neighbours often cannot either,
 * so each skip in a row moves further from the middle. NULL if all of them were skipped. */
static const char *choose(const struct fz_bisect *b, const struct fz_halving *left)
{
	enum { AWAY = 8 };
	size_t n = 0, pick = 0, seen = 0;

	for (size_t i = 0; i < left->n; i++)
		n += step_of(b, left->list[i]) == FZ_NONE;
	if (n)
		pick = FZ_MIN(n * b->skipped / AWAY, n - 1);
	for (size_t i = 0; i < left->n; i++)
		if (step_of(b, left->list[i]) == FZ_NONE && seen++ == pick)
			return left->list[i];
	return NULL;
}

/* If GOOD is on another branch than BAD, the search starts at their merge base, if that is good. */
static int begin_where_they_parted(struct fz_bisect *b, struct fz_error *err)
{
	const char *const words[] = { "merge-base", b->ends[0], b->ends[1], NULL };
	fz_auto(fz_free_ptr) char *parting = fz_repository_query(&b->workspace.repository, words);
	uint32_t step;

	if (!parting)
		return fz_fail(err, FZ_EUSAGE, "%s and %s have no history in common",
			       b->options->ends[0], b->options->ends[1]);
	if (strcmp(parting, b->ends[0]) == 0)
		return 0;
	int rc = count_commit(b, parting, NULL, &step, err);
	if (rc)
		return rc;
	judge_step(b, step);
	enum fz_ci_side side = b->search.steps[step].side;
	if (side == FZ_CI_GOOD)
		return 0;
	return fz_fail(err, FZ_EINPUT,
		       "%s is not an ancestor of %s, and their merge base %.10s %s; specify a GOOD "
		       "that is an ancestor of %s",
		       b->options->ends[0], b->options->ends[1], parting,
		       side == FZ_CI_BAD ? "is bad, too: the change is between it and GOOD"
					 : "cannot be counted",
		       b->options->ends[1]);
}

static int search(struct fz_bisect *b, struct fz_error *err)
{
	struct fz_ci_search *s = &b->search;
	int rc = begin_where_they_parted(b, err);

	while (!rc) {
		fz_auto(fz_halving_release) struct fz_halving left = { 0 };
		uint32_t step;
		rc = find_candidates(b, &left, err);
		if (rc)
			return rc;
		s->range = FZ_MAX(s->range, (uint32_t)left.n);
		const char *next = choose(b, &left);
		if (!next && left.n <= 1) {
			s->found = b->bad;
			return 0;
		}
		if (!next) {
			s->hidden = fz_steal(left.list);
			s->hidden_n = (uint32_t)left.n;
			left.n = 0;
			return 0;
		}
		rc = count_commit(b, next, NULL, &step, err);
		if (!rc)
			judge_step(b, step);
	}
	return rc;
}

/* ---- what the commit did ---- */

/* Find the step of the found commit's first parent, and count it if necessary. */
static int find_before(struct fz_bisect *b, struct fz_error *err)
{
	struct fz_ci_search *s = &b->search;
	fz_auto(fz_free_ptr) char *spec = fz_asprintf("%s^", s->steps[s->found].commit);
	fz_auto(fz_free_ptr) char *parent = NULL;
	int rc = fz_repository_commit(&b->workspace.repository, spec, &parent, err);

	if (rc)
		return rc;
	uint32_t step = step_of(b, parent);
	if (step == FZ_NONE) {
		rc = count_commit(b, parent, NULL, &step, err);
		if (rc)
			return rc;
		judge_step(b, step);
	}
	s->parent = s->steps[step].side != FZ_CI_SKIPPED;
	s->before = s->parent ? step : s->last_good;
	return 0;
}

static int explain(struct fz_bisect *b, struct fz_error *err)
{
	struct fz_ci_search *s = &b->search;
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	const char *metric = b->config.metrics.list[0];
	uint32_t head = b->bad;

	s->before = s->last_good;
	int rc = s->found == FZ_NONE ? 0 : find_before(b, err);
	if (!rc)
		rc = collect(b, &s->change, s->before, head, err);
	if (!rc)
		rc = fz_ci_diff(&s->change, b->profiles[s->before], b->profiles[head], metric, &c,
				err);
	if (rc)
		return rc;
	const struct fz_repository *r = &b->workspace.repository;
	fz_auto(fz_free_ptr) char *base_root = fz_texts_root(r, b->profiles[s->before]);
	fz_auto(fz_free_ptr) char *head_root = fz_texts_root(r, b->profiles[head]);
	const char *const roots[FZ_SIDES] = { base_root, head_root };
	fz_ci_locate(&s->change, c->diff, metric, roots);
	return 0;
}

/* ---- all of it ---- */

static int find_ends(struct fz_bisect *b, struct fz_error *err)
{
	struct fz_repository *r = &b->workspace.repository;
	int status = 1;

	for (int i = 0; i < 2; i++)
		if (*b->options->ends[i] == '-' ||
		    fz_repository_commit(r, b->options->ends[i], &b->ends[i], NULL))
			return fz_revision_unknown(r, b->options->ends[i], err);
	if (strcmp(b->ends[0], b->ends[1]) == 0)
		return fz_fail(err, FZ_EUSAGE, "%s and %s are the same commit", b->options->ends[0],
			       b->options->ends[1]);
	const char *const reversed[] = { "merge-base", "--is-ancestor", b->ends[1], b->ends[0],
					 NULL };
	int rc = fz_repository_git(r, NULL, reversed, NULL, NULL, &status, err);
	if (!rc && status == 0)
		rc = fz_fail(err, FZ_EUSAGE,
			     "%s is an ancestor of %s; specify the earlier commit first, also when "
			     "searching for an improvement",
			     b->options->ends[1], b->options->ends[0]);
	if (!rc && r->dirty && strcmp(b->options->ends[1], "HEAD") == 0)
		fz_notify_note(b->notify, "uncommitted edits are ignored");
	return rc;
}

int fz_bisect_make(struct fz_bisect *b, const struct fz_bisect_options *o,
		   const struct fz_notify *notify, struct fz_error *err)
{
	*b = (struct fz_bisect){ .options = o,
				 .notify = notify,
				 .workspace = FZ_WORKSPACE_NONE,
				 .search = FZ_CI_SEARCH_INIT };
	fz_ci_config_init(&b->config);
	int rc = fz_revision_open(&b->workspace, "bisect", &o->count, o->argv, notify, &b->config,
				  err);
	if (!rc && o->filter)
		fz_environ_set(&b->workspace.environ, "FIZEAU_BENCH_FILTER", o->filter);
	if (!rc)
		rc = fz_workspace_cache_folder("baselines", &b->cache, err);
	b->baselines = (struct fz_baselines){ &b->workspace.repository, b->cache, o->server };
	if (!rc)
		rc = find_ends(b, err);
	if (!rc)
		rc = count_ends(b, err);
	if (!rc && b->search.name)
		rc = search(b, err);
	if (!rc && b->search.name)
		rc = explain(b, err);
	return rc;
}

void fz_bisect_close(struct fz_bisect *b)
{
	fz_workspace_close(&b->workspace);
}

void fz_bisect_release(struct fz_bisect *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		fz_profile_free(b->profiles[i]);
	free(b->profiles);
	free(b->cache);
	free(b->ends[0]);
	free(b->ends[1]);
	fz_ci_search_release(&b->search);
	fz_ci_config_release(&b->config);
}
