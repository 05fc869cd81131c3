/* SPDX-License-Identifier: MIT */
/* Benchmarks of counted recordings, their limits and verdicts; see ci.h.
 *
 *     0         threshold or 3 floors
 *     |--- same ---|------------------- suspect ----->  clock: + or unknown   slower
 *                                                       clock: -              disagree
 */
#include "bench/ci.h"

#include "profile/benchmarks.h"
#include "stats/jitter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

const char *const fz_ci_verdict_names[FZ_CI_VERDICTS] = {
	"same", "slower", "faster", "layout", "disagree", "new", "missing", "not comparable",
};

/* As CodSpeed's: additional cycles of a miss of the first and of the last cache. */
enum { L1_CYCLES = 5, LL_CYCLES = 100 };

void fz_ci_release(struct fz_ci_result *r)
{
	fz_arena_release(&r->arena);
	free(r->benches);
	free(r->troubles);
	free(r->notes);
	*r = FZ_CI_RESULT_INIT;
}

static void add_line(struct fz_ci_result *r, char ***list, uint32_t *n, uint32_t *cap,
		     const char *fmt, va_list ap)
{
	char text[1024], safe[2048];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *c = text; *c; c++) /* one line; fz_str_printable would escape newlines */
		*c = *c == '\n' ? ' ' : *c;
	size_t length = fz_str_printable(text, strlen(text), safe, sizeof(safe));

	fz_grow(*list, *n, *cap);
	(*list)[(*n)++] = fz_arena_strndup(&r->arena, safe, length);
}

void fz_ci_trouble(struct fz_ci_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(r, &r->troubles, &r->trouble_n, &r->trouble_cap, fmt, ap);
	va_end(ap);
}

void fz_ci_note(struct fz_ci_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(r, &r->notes, &r->note_n, &r->note_cap, fmt, ap);
	va_end(ap);
}

/* ---- collecting ---- */

static struct fz_ci_bench *find(const struct fz_ci_result *r, struct fz_str name,
				const char *metric)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (fz_str_eq(r->benches[i].name, name) &&
		    strcmp(r->benches[i].metric, metric) == 0)
			return &r->benches[i];
	return NULL;
}

struct fz_ci_bench *fz_ci_bench_of(struct fz_ci_result *r, struct fz_str name, const char *metric)
{
	struct fz_ci_bench *b = find(r, name, metric);

	if (b)
		return b;
	fz_grow(r->benches, r->n, r->cap);
	b = &r->benches[r->n++];
	*b = (struct fz_ci_bench){
		.metric = metric, .unit = fz_ci_unit(metric), .change = NAN, .floor = NAN
	};
	b->name = (struct fz_str){ fz_arena_strndup(&r->arena, name.p, name.n), name.n };
	return b;
}

/* Metrics of a recording from which counts are computed. */
struct weights {
	const char *name;
	uint32_t metric; /* FZ_NONE: cycles */
	uint32_t ir, reads, writes, i1, d1, ll;
};

/* Estimated cycles; 0 if unknown or meaningless for the metric. */
static double cycles_of(const struct weights *w, const int64_t *total)
{
	if (w->ll == FZ_NONE || fz_ci_is_of_memory(w->name))
		return 0;
	return (double)total[w->ir] + (double)total[w->reads] + (double)total[w->writes] +
	       L1_CYCLES * ((double)total[w->i1] + (double)total[w->d1]) +
	       LL_CYCLES * (double)total[w->ll];
}

static int find_weights(const struct fz_profile *p, const char *metric, struct weights *w,
			struct fz_error *err)
{
	bool cycles = strcmp(metric, "cycles") == 0;

	w->name = metric;
	w->metric = cycles ? FZ_NONE : fz_profile_find_metric(p, fz_str_of(metric));
	w->ir = fz_profile_find_metric(p, FZ_STR("instructions"));
	w->reads = fz_profile_find_metric(p, FZ_STR("reads"));
	w->writes = fz_profile_find_metric(p, FZ_STR("writes"));
	w->i1 = fz_profile_find_metric(p, FZ_STR("I1 misses"));
	w->d1 = fz_profile_find_metric(p, FZ_STR("D1 misses"));
	w->ll = fz_profile_find_metric(p, FZ_STR("LL misses"));
	if (w->ir == FZ_NONE)
		return fz_fail(err, FZ_EINPUT,
			       "was not counted; use a recording of fizeau ci or run --count");
	const char *remedy = cycles                       ? "; count with --cache"
			     : fz_ci_is_of_memory(metric) ? "; count with --memory"
							  : "";
	if (cycles ? w->ll == FZ_NONE : w->metric == FZ_NONE)
		return fz_fail(err, FZ_EINPUT, "has no '%s'%s", metric, remedy);
	return 0;
}

static void add_count(struct fz_ci_result *r, enum fz_side side, struct fz_str name,
		      const struct weights *w, const int64_t *total)
{
	struct fz_ci_bench *b = fz_ci_bench_of(r, name, w->name);
	double cycles = cycles_of(w, total);

	b->on_side[side] = true;
	b->count[side] += w->metric == FZ_NONE ? cycles : (double)total[w->metric];
	b->cycles[side] += cycles;
}

/* Add the reason why a benchmark, or the command (""), could not be measured. */
static void add_trouble(struct fz_ci_result *r, enum fz_side side, struct fz_str name,
			struct fz_str what)
{
	if (!what.n)
		return;
	fz_ci_trouble(r, "%s: %.*s%s%.*s", fz_side_names[side], (int)name.n, name.p,
		      name.n ? ": " : "", (int)what.n, what.p);
	if (!name.n)
		return;
	char safe[512];
	size_t n = fz_str_printable(what.p, what.n, safe, sizeof(safe));
	const char *trouble = fz_arena_strndup(&r->arena, safe, n);
	for (uint32_t i = 0; i < r->metrics.n; i++)
		fz_ci_bench_of(r, name, r->metrics.list[i])->trouble = trouble;
}

/* A recording without benchmarks counts as one benchmark. */
static void collect_all(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
			const struct weights *w, const char *whole)
{
	int64_t total[FZ_METRICS_MAX] = { 0 };

	for (size_t row = 0; row < p->samples.n; row++)
		for (uint32_t m = 0; m < p->metric_count; m++)
			total[m] += fz_sample_weight(p, m, row);
	if (p->samples.n)
		add_count(r, side, fz_str_of(whole), w, total);
}

int fz_ci_collect(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
		  const char *whole, struct fz_error *err)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list = { 0 };
	struct weights w[FZ_CI_METRICS_MAX];

	for (uint32_t m = 0; m < r->metrics.n; m++) {
		int rc = find_weights(p, r->metrics.list[m], &w[m], err);
		if (rc)
			return rc;
	}
	fz_benchmarks_read(p, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct fz_benchmark *b = &list.list[i];
		for (uint32_t m = 0; m < r->metrics.n && b->stack != FZ_NONE; m++)
			add_count(r, side, b->name, &w[m], b->total);
		add_trouble(r, side, b->name, b->trouble);
	}
	add_trouble(r, side, FZ_STR(""), list.trouble);
	for (uint32_t m = 0; m < r->metrics.n && !list.n; m++)
		collect_all(r, side, p, &w[m], whole);
	return 0;
}

/* ---- floors ---- */

static void raise_floor(struct fz_ci_bench *b, double off)
{
	b->floor = isnan(b->floor) ? off : FZ_MAX(b->floor, off);
}

void fz_ci_disturb(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
		   const char *whole)
{
	struct fz_ci_result again = FZ_CI_RESULT_INIT;

	again.metrics = r->metrics;
	if (fz_ci_collect(&again, side, p, whole, NULL) == 0)
		for (uint32_t i = 0; i < again.n; i++) {
			const struct fz_ci_bench *moved = &again.benches[i];
			struct fz_ci_bench *b = find(r, moved->name, moved->metric);
			double was = b ? b->count[side] : 0, now = moved->count[side];
			if (b && moved->on_side[side] && (was > 0 || now == was))
				raise_floor(b, now == was ? 0 : fabs(now / was - 1));
		}
	fz_ci_release(&again);
}

static void write_floors(const struct fz_ci_result *r, const char *metric, struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	char fact[FZ_BENCHMARK_FACT_SIZE];

	for (uint32_t i = 0; i < r->n; i++) {
		const struct fz_ci_bench *b = &r->benches[i];
		if (isnan(b->floor) || strcmp(b->metric, metric) != 0 ||
		    memchr(b->name.p, '\n', b->name.n))
			continue;
		fz_buf_add(&text, b->name.p, b->name.n);
		fz_buf_printf(&text, "\t%.9f\n", b->floor);
	}
	fz_profile_set_fact(p, fz_benchmark_floors_fact(metric, fact), fz_buf_view(&text));
}

void fz_ci_write_floors(const struct fz_ci_result *r, struct fz_profile *p)
{
	for (uint32_t i = 0; i < r->metrics.n; i++)
		write_floors(r, r->metrics.list[i], p);
}

bool fz_ci_read_floors(struct fz_ci_result *r, const struct fz_profile *p)
{
	bool all = true;

	for (uint32_t i = 0; i < r->metrics.n; i++) {
		const char *metric = r->metrics.list[i];
		struct fz_str rest = fz_benchmarks_floors(p, metric), name;
		double floor;

		all &= rest.n != 0;
		while (fz_benchmark_next_floor(&rest, &name, &floor)) {
			struct fz_ci_bench *b = find(r, name, metric);
			if (b)
				raise_floor(b, floor);
		}
	}
	return all;
}

/* ---- judging ---- */

bool fz_ci_has_counts(const struct fz_ci_bench *b, const double count[FZ_SIDES])
{
	double moves = isnan(b->floor) ? 0 : FZ_JITTER_FLOORS * b->floor;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (!b->on_side[s] || !(fabs(b->count[s] - count[s]) <= moves * count[s]))
			return false;
	return true;
}

/* True if the accepted commit is between base and head, or the change has landed in other commits.
 */
static bool is_part(const struct fz_ci_accept *a, const struct fz_ci_bench *b,
		    const struct fz_ci_rules *rules)
{
	return !a->commit || !rules->is_part || rules->is_part(rules->arg, a->commit) ||
	       (a->lands && fz_ci_has_counts(b, a->count));
}

/* An acceptance that covers the benchmark's change. */
static const struct fz_ci_accept *accepted(const struct fz_ci_bench *b,
					   const struct fz_ci_rules *rules)
{
	const struct fz_ci_config *c = rules->config;
	struct fz_ci_subject subject = { b->name, b->metric };

	for (uint32_t i = 0; i < c->accept_n; i++) {
		const struct fz_ci_accept *a = &c->accepts[i];
		if (b->change <= a->change && fz_ci_config_accepts(a, &subject) &&
		    is_part(a, b, rules))
			return a;
	}
	return NULL;
}

static void apply_accepted(struct fz_ci_bench *b, const struct fz_ci_rules *rules)
{
	const struct fz_ci_accept *a = accepted(b, rules);

	if (!a)
		return;
	b->accepted = a->reason;
	b->accepted_by = a->by;
}

static void suspect(struct fz_ci_result *r, struct fz_ci_bench *b, const struct fz_ci_rules *rules)
{
	struct fz_ci_subject subject = { b->name, b->metric };
	const char *expired = NULL;

	b->ignored = fz_ci_config_ignored(rules->config, &subject, rules->today, &expired);
	if (expired && !b->ignored)
		fz_ci_note(r, "%.*s was ignored until %s, which has passed", (int)b->name.n,
			   b->name.p, expired);
	double threshold = fz_ci_config_threshold(rules->config, &subject);
	b->limit = FZ_MAX(threshold, isnan(b->floor) ? 0 : FZ_JITTER_FLOORS * b->floor);
	if (!b->on_side[FZ_BASE] || !b->on_side[FZ_HEAD])
		return;
	double base = b->count[FZ_BASE], head = b->count[FZ_HEAD];
	b->change = base > 0 ? head / base - 1 : head > 0 ? INFINITY : 0;
	b->suspect = r->comparable && !b->trouble && fabs(b->change) > b->limit;
	if (b->suspect && b->change > 0)
		apply_accepted(b, rules);
}

void fz_ci_today(char out[FZ_CI_DAY_SIZE])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(out, FZ_CI_DAY_SIZE, "%Y-%m-%d", &utc);
}

void fz_ci_suspect(struct fz_ci_result *r, const struct fz_ci_rules *rules)
{
	for (uint32_t i = 0; i < r->n; i++)
		suspect(r, &r->benches[i], rules);
}

static enum fz_ci_verdict verdict_of(const struct fz_ci_result *r, const struct fz_ci_bench *b)
{
	const double *cycles = b->cycles;

	if (b->trouble)
		return FZ_CI_NOT_COMPARABLE;
	if (!b->on_side[FZ_BASE] || !b->on_side[FZ_HEAD])
		return b->on_side[FZ_HEAD] ? FZ_CI_NEW : FZ_CI_MISSING;
	if (!r->comparable)
		return FZ_CI_NOT_COMPARABLE;
	if (!b->suspect) {
		bool moved = cycles[FZ_BASE] > 0 &&
			     fabs(cycles[FZ_HEAD] / cycles[FZ_BASE] - 1) > b->limit;
		return moved ? FZ_CI_LAYOUT : FZ_CI_SAME;
	}
	if (b->change > 0)
		return b->wall.high < 0 ? FZ_CI_DISAGREE : FZ_CI_SLOWER;
	return b->wall.low > 0 ? FZ_CI_DISAGREE : FZ_CI_FASTER;
}

static bool closes(const struct fz_ci_bench *b, const struct fz_ci_config *c)
{
	if (b->ignored)
		return false;
	if (b->verdict == FZ_CI_SLOWER)
		return !b->accepted;
	if (b->verdict == FZ_CI_DISAGREE)
		return c->strict;
	return b->verdict == FZ_CI_MISSING && c->missing_fails;
}

/* Order: failing benchmarks, then important ones, then the rest. */
static int importance(const struct fz_ci_bench *b)
{
	static const int order[FZ_CI_VERDICTS] = {
		[FZ_CI_SLOWER] = 1,  [FZ_CI_DISAGREE] = 2,
		[FZ_CI_MISSING] = 3, [FZ_CI_NOT_COMPARABLE] = 4,
		[FZ_CI_FASTER] = 5,  [FZ_CI_LAYOUT] = 6,
		[FZ_CI_NEW] = 7,     [FZ_CI_SAME] = 8,
	};
	return b->fails ? 0 : order[b->verdict];
}

static int by_importance(const void *pa, const void *pb)
{
	const struct fz_ci_bench *a = pa, *b = pb;
	int i = importance(a), j = importance(b);
	double x = isfinite(a->change) ? fabs(a->change) : 0;
	double y = isfinite(b->change) ? fabs(b->change) : 0;

	if (i != j)
		return i - j;
	if (x != y && a->verdict != FZ_CI_SAME)
		return FZ_CMP(y, x);
	return fz_str_cmp(a->name, b->name) ?: strcmp(a->metric, b->metric);
}

static void shorten_names(struct fz_ci_result *r)
{
	fz_auto(fz_free_ptr) struct fz_str *names = fz_calloc(r->n + 1, sizeof(*names));
	fz_auto(fz_free_ptr) struct fz_short_name *shown = fz_calloc(r->n + 1, sizeof(*shown));

	for (uint32_t i = 0; i < r->n; i++)
		names[i] = r->benches[i].name;
	fz_short_names(&r->arena, names, r->n, shown);
	for (uint32_t i = 0; i < r->n; i++)
		r->benches[i].shown = shown[i];
}

void fz_ci_tally(struct fz_ci_result *r)
{
	memset(r->count, 0, sizeof(r->count));
	r->failing = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		fz_assert(r->benches[i].verdict < FZ_CI_VERDICTS);
		r->count[r->benches[i].verdict]++;
		r->failing += r->benches[i].fails;
	}
	if (r->n)
		qsort(r->benches, r->n, sizeof(*r->benches), by_importance);
	shorten_names(r);
}

/* A failing benchmark may be an accepted change that landed after a conflict was resolved, so that
 * both its patch and its counts differ. That cannot be decided here, so add a note. */
static void note_possibly_accepted(struct fz_ci_result *r, const struct fz_ci_bench *b,
				   const struct fz_ci_rules *rules)
{
	struct fz_ci_subject subject = { b->name, b->metric };

	if (!b->fails || b->verdict != FZ_CI_SLOWER)
		return;
	for (uint32_t i = 0; i < rules->config->accept_n; i++) {
		const struct fz_ci_accept *a = &rules->config->accepts[i];
		if (!a->lands || !fz_ci_config_accepts(a, &subject))
			continue;
		fz_ci_note(r,
			   "%.*s: the change accepted in %.10s (%s) is not in this branch yet and "
			   "had different counts; if this is the same change, accept this run, too",
			   (int)b->name.n, b->name.p, a->by, a->reason);
		return;
	}
}

void fz_ci_judge(struct fz_ci_result *r, const struct fz_ci_rules *rules)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct fz_ci_bench *b = &r->benches[i];
		b->verdict = verdict_of(r, b);
		b->fails = closes(b, rules->config);
		note_possibly_accepted(r, b, rules);
	}
	fz_ci_tally(r);
}

void fz_ci_accept(struct fz_ci_result *r, const struct fz_ci_rules *rules)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct fz_ci_bench *b = &r->benches[i];
		if (!b->fails || b->verdict != FZ_CI_SLOWER)
			continue;
		apply_accepted(b, rules);
		b->fails = !b->accepted;
		note_possibly_accepted(r, b, rules);
	}
	fz_ci_tally(r);
}

int fz_ci_exit(const struct fz_ci_result *r)
{
	fz_assert(r->failing <= r->n);
	if (!r->n || r->trouble_n || r->count[FZ_CI_NOT_COMPARABLE])
		return 2;
	return r->failing ? 1 : 0;
}
