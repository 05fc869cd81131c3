/* SPDX-License-Identifier: MIT */
/* Timing suspects: base and head run alternately until the interval of their ratio decides, all
 * pairs are done or the time is over; see ci_run.h.
 *
 * If the machine's speed is known in every run, times are divided by the cost of a fixed piece of
 * work meanwhile (record/speed.h), which cancels the influence of a shared machine.
 *
 * Handling both marks takes about 10 us. If a body is so short that this matters, the harness times
 * rounds instead, as in `fizeau bench --wall`; if it cannot, the benchmark is not timed.
 */
#include "bench/ci_run.h"

#include "base/clock.h"
#include "record/marks.h"
#include "profile/benchmarks.h"
#include "bench/benchmarks.h"
#include "bench/bench_env.h"
#include "bench/bench_times.h"
#include "stats/order.h"

#include <unistd.h>

#define SHORT_NS 1e6 /* the marks take a hundredth of this */

struct timing {
	struct fz_ci_bench *bench;
	bool marked;
	enum { BY_MARKS, BY_ROUNDS, BY_NOTHING } by;
	double *ns[FZ_SIDES], *work[FZ_SIDES]; /* of each pair */
};

struct clock_runs {
	struct timing *list;
	size_t n;
	unsigned pairs;
};

static struct fz_str name_of(const struct timing *t, enum fz_side s)
{
	bool was = s == FZ_BASE && t->bench->was;

	return was ? fz_str_of(t->bench->was) : t->bench->name;
}

static void add_times(struct timing *t, const struct fz_marks *m, enum fz_side s, unsigned pair)
{
	double *ns = &t->ns[s][pair], *work = &t->work[s][pair];
	struct fz_str name = name_of(t, s);

	*ns = m->n ? 0 : (double)m->whole_ns;
	*work = m->n ? 0 : m->whole_work;
	for (uint32_t i = 0; i < m->n; i++) {
		if (!fz_str_eq(m->list[i].name, name))
			continue;
		*ns = (double)m->list[i].ns;
		*work = m->list[i].work;
		t->marked = true;
	}
}

/* ---- times that Google Benchmark, criterion, divan, bencher and Go measure themselves ---- */

struct itself {
	struct clock_runs *runs;
	enum fz_side side;
	bool any;
};

/* Keep the shortest of several times, because other load can only make them longer. */
static void add_repetition(void *arg, struct fz_str name, double ns, struct fz_str failed)
{
	struct itself *own = arg;
	struct clock_runs *t = own->runs;

	for (size_t i = 0; i < t->n && !own->any; i++)
		t->list[i].ns[own->side][t->pairs] = t->list[i].work[own->side][t->pairs] = 0;
	own->any = true;
	for (size_t i = 0; i < t->n; i++) {
		double *least = &t->list[i].ns[own->side][t->pairs];
		if (!failed.n && fz_str_eq(name, name_of(&t->list[i], own->side)))
			*least = *least > 0 ? FZ_MIN(*least, ns) : ns;
	}
}

static void choose(const struct clock_runs *t, enum fz_side s, struct fz_environ *e)
{
	fz_auto(fz_free_ptr) struct fz_str *names = fz_calloc(t->n + 1, sizeof(*names));

	for (size_t i = 0; i < t->n; i++)
		names[i] = name_of(&t->list[i], s);
	fz_bench_env_only(e, names, t->n);
}

static int time_side(struct fz_ci_run *c, struct clock_runs *t, enum fz_side s,
		     struct fz_error *err)
{
	fz_auto(fz_environ_release) struct fz_environ marking;
	struct fz_launch_place place = { .folder = c->checkout[s].folder,
					 .no_input = true,
					 .output = c->workspace.output,
					 .errors = -1 };
	fz_auto(fz_marks_release) struct fz_marks m = { 0 };
	sigset_t ending = fz_trial_ending();

	/* Harnesses mark one execution of each body, as when counting. */
	fz_auto(fz_free_ptr) char *times = fz_asprintf("%s/times.json", c->workspace.scratch.path);
	fz_checkout_environ(&c->workspace, &c->checkout[s], &marking);
	fz_bench_env_set(&marking, "count", NULL, NULL, times);
	choose(t, s, &marking);
	place.environ = marking.list;
	int rc = fz_marks_run(&m, (char **)c->workspace.argv, &place, &c->workspace.series.old_mask,
			      &ending, c->config.timeout, err);
	if (rc)
		return rc;
	if (m.timed_out)
		return fz_fail(err, FZ_EINPUT, "took longer than %g s", c->config.timeout);
	for (size_t i = 0; i < t->n; i++)
		add_times(&t->list[i], &m, s, t->pairs);
	struct itself itself = { .runs = t, .side = s };
	rc = fz_bench_google_read(times, add_repetition, &itself, err);
	if (!rc)
		rc = fz_bench_criterion_read(times, add_repetition, &itself, err);
	if (!rc)
		rc = fz_bench_go_read(times, add_repetition, &itself, err);
	if (!rc)
		rc = fz_bench_rust_read(times, add_repetition, &itself, err);
	unlink(times);
	return rc;
}

/* ---- bodies that are too short to time one execution ---- */

static double median_round(const struct fz_profile *p, struct fz_str name)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list;

	fz_benchmarks_read(p, &list);
	for (uint32_t i = 0; i < list.n; i++)
		if (fz_str_eq(list.list[i].name, name) && list.list[i].round_n)
			return fz_median(list.list[i].rounds, list.list[i].round_n);
	return 0;
}

static int time_rounds(struct fz_ci_run *c, struct timing *one, enum fz_side s, unsigned pair,
		       struct fz_error *err)
{
	fz_auto(fz_environ_release) struct fz_environ own;
	fz_auto(fz_profile_freep) struct fz_profile *measured = NULL;
	struct fz_str name = name_of(one, s);
	fz_auto(fz_free_ptr) char *filter = fz_strndup(name.p, name.n);
	struct fz_bench_options options = { .what = FZ_BENCH_WALL,
					    .filter = filter,
					    .timeout = c->config.timeout };
	struct fz_launch_place place = { .folder = c->checkout[s].folder,
					 .output = c->workspace.output,
					 .errors = -1 };

	fz_checkout_environ(&c->workspace, &c->checkout[s], &own);
	place.environ = own.list;
	int rc = fz_bench_measure(&c->workspace.series, &options, (char **)c->workspace.argv,
				  &place, &measured, err);
	if (!rc) {
		one->ns[s][pair] = median_round(measured, name);
		one->work[s][pair] = 0;
	}
	return rc;
}

/* Time both sides of a pair by rounds. If the first pair shows that the harness does not time
 * rounds, use the marks if either side is long enough; otherwise the benchmark is not timed. */
static int pair_by_rounds(struct fz_ci_run *c, struct timing *one, enum fz_side first,
			  unsigned pair, struct fz_error *err)
{
	double marked[FZ_SIDES] = { one->ns[FZ_BASE][pair], one->ns[FZ_HEAD][pair] };
	int rc = time_rounds(c, one, first, pair, err);

	if (!rc)
		rc = time_rounds(c, one, first == FZ_BASE ? FZ_HEAD : FZ_BASE, pair, err);
	if (rc || pair || (one->ns[FZ_BASE][0] > 0 && one->ns[FZ_HEAD][0] > 0))
		return rc;
	one->by = FZ_MAX(marked[FZ_BASE], marked[FZ_HEAD]) < SHORT_NS ? BY_NOTHING : BY_MARKS;
	for (enum fz_side s = 0; s < FZ_SIDES && one->by == BY_MARKS; s++)
		one->ns[s][0] = marked[s];
	return 0;
}

/* Time short bodies by rounds. Those for which no time is left in the first pair are not timed. */
static int time_short(struct fz_ci_run *c, struct clock_runs *t, enum fz_side first, int64_t end,
		      struct fz_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->n && !rc; i++) {
		struct timing *one = &t->list[i];
		double least = FZ_MIN(one->ns[FZ_BASE][0], one->ns[FZ_HEAD][0]);
		if (!t->pairs && one->marked && least < SHORT_NS)
			one->by = fz_clock_now() < end ? BY_ROUNDS : BY_NOTHING;
		if (one->by == BY_NOTHING)
			one->ns[FZ_BASE][0] = 0;
		if (one->by == BY_ROUNDS)
			rc = pair_by_rounds(c, one, first, t->pairs, err);
	}
	return rc;
}

/* How often the test is evaluated: after 8, 16, 32, ... pairs, and at the end. */
static unsigned looks_of(unsigned pairs)
{
	unsigned looks = 1;

	for (unsigned n = FZ_PAIRS_MIN; n < pairs; n *= 2)
		looks++;
	return looks;
}

/* True if every run has timed it. */
static bool are_known(double *const of[FZ_SIDES], unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++)
		if (of[FZ_BASE][i] <= 0 || of[FZ_HEAD][i] <= 0)
			return false;
	return pairs > 0;
}

static bool look(struct clock_runs *t, unsigned looks)
{
	bool decided = true;

	for (size_t i = 0; i < t->n; i++) {
		struct timing *one = &t->list[i];
		if (!are_known(one->ns, t->pairs))
			continue;
		double **by = are_known(one->work, t->pairs) ? one->work : one->ns;
		one->bench->wall =
			fz_pairs_test(by[FZ_BASE], by[FZ_HEAD], t->pairs, looks, one->bench->limit);
		decided &= one->bench->wall.decided;
	}
	return decided;
}

static void keep_medians(struct clock_runs *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			if (t->list[i].bench->wall.n)
				t->list[i].bench->wall_ns[s] =
					fz_median(t->list[i].ns[s], t->pairs);
}

static int run_pairs(struct fz_ci_run *c, struct clock_runs *t, struct fz_error *err)
{
	unsigned most = FZ_MAX(c->config.pairs, (unsigned)FZ_PAIRS_MIN), next = FZ_PAIRS_MIN;
	unsigned looks = looks_of(most);
	int64_t end = fz_clock_now() + (int64_t)(c->config.wall_seconds * 1e9);
	int rc = 0;

	while (!rc && t->pairs < most) {
		enum fz_side first = t->pairs % 2 ? FZ_HEAD : FZ_BASE;
		if (fz_series_stopped(&c->workspace.series))
			return fz_series_interrupted(err);
		fz_notify_progress(c->notify, "ci: timing suspects, pair %u of at most %u",
				   t->pairs + 1, most);
		rc = time_side(c, t, first, err);
		if (!rc)
			rc = time_side(c, t, first == FZ_BASE ? FZ_HEAD : FZ_BASE, err);
		if (!rc)
			rc = time_short(c, t, first, end, err);
		t->pairs += !rc;
		if (!rc && fz_clock_now() > end)
			most = t->pairs;
		if (!rc && (t->pairs == next || t->pairs == most)) {
			if (look(t, looks))
				break;
			next *= 2;
		}
	}
	return rc;
}

int fz_ci_run_time(struct fz_ci_run *c, struct fz_error *err)
{
	struct clock_runs t = { .list = fz_calloc(c->result.n + 1, sizeof(*t.list)) };
	struct fz_error why;
	int rc = 0;

	for (uint32_t i = 0; i < c->result.n; i++) {
		struct fz_ci_bench *b = &c->result.benches[i];
		struct fz_ci_subject subject = { b->name, b->metric };
		if (!b->suspect || b->ignored || !fz_ci_config_wall(&c->config, &subject))
			continue;
		t.list[t.n].bench = b;
		for (enum fz_side s = 0; s < FZ_SIDES; s++) {
			size_t room = c->config.pairs + FZ_PAIRS_MIN;
			t.list[t.n].ns[s] = fz_calloc(room, sizeof(double));
			t.list[t.n].work[s] = fz_calloc(room, sizeof(double));
		}
		t.n++;
	}
	if (t.n)
		rc = fz_ci_run_check_out_base(c, &why);
	if (!rc && t.n)
		rc = run_pairs(c, &t, &why);
	fz_notify_progress_end(c->notify);
	if (rc && fz_series_stopped(&c->workspace.series))
		rc = fz_series_interrupted(err);
	else if (rc)
		fz_ci_note(&c->result, "not confirmed by wall time: %s", why.message), rc = 0;
	keep_medians(&t);
	for (size_t i = 0; i < t.n; i++)
		for (enum fz_side s = 0; s < FZ_SIDES; s++) {
			free(t.list[i].ns[s]);
			free(t.list[i].work[s]);
		}
	free(t.list);
	return rc;
}
