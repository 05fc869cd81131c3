/* SPDX-License-Identifier: MIT */
/* Merging interns every table of one profile in the other:
 *
 *   string -> string, function -> function, ... stack -> stack, then samples row by row.
 *
 * Samples of a thread stay in order because those of a run are appended in order, and runs never
 * mix: a thread id of one run is a different thread in the next, which is why rows have a run. Main
 * threads are merged, so that a filter by thread finds the main thread of all runs.
 */
#include "profile/merge.h"

#include "profile/callgraph.h"
#include "profile/processes.h"
#include "profile/runs.h"
#include "profile/speed.h"

struct merger {
	struct fz_profile *into;
	const struct fz_profile *from;
	uint32_t *string, *function, *frame, *stack, *thread; /* from's index -> into's */
	uint32_t metric[FZ_METRICS_MAX];                      /* into's index -> from's */
};

static uint32_t *table(uint32_t n)
{
	return fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(uint32_t));
}

static void translate_functions(struct merger *m)
{
	m->string = table(m->from->string_count);
	for (uint32_t i = 0; i < m->from->string_count; i++)
		m->string[i] = fz_profile_string(m->into, m->from->strings[i]);
	m->function = table(m->from->function_count);
	for (uint32_t i = 0; i < m->from->function_count; i++) {
		struct fz_function f = m->from->functions[i];
		f.name = m->string[f.name];
		f.file = m->string[f.file];
		f.module = m->string[f.module];
		m->function[i] = fz_profile_function(m->into, &f);
	}
}

static void translate_stacks(struct merger *m)
{
	m->frame = table(m->from->frame_count);
	for (uint32_t i = 0; i < m->from->frame_count; i++) {
		struct fz_frame f = m->from->frames[i];
		f.function = m->function[f.function];
		m->frame[i] = fz_profile_frame(m->into, &f);
	}
	m->stack = table(m->from->stack_count);
	for (uint32_t i = 0; i < m->from->stack_count; i++) {
		const struct fz_stack *s = &m->from->stacks[i];
		uint32_t parent = s->parent == FZ_NONE ? FZ_NONE : m->stack[s->parent];
		m->stack[i] = fz_profile_stack(m->into, parent, m->frame[s->frame]);
	}
}

/* The only main thread; FZ_NONE if there are several or none. */
static uint32_t only_main(const struct fz_profile *p)
{
	uint32_t found = FZ_NONE;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		if (!p->threads[i].is_main)
			continue;
		if (found != FZ_NONE)
			return FZ_NONE;
		found = i;
	}
	return found;
}

static void translate_threads(struct merger *m)
{
	uint32_t mine = only_main(m->into), theirs = only_main(m->from);

	m->thread = table(m->from->thread_count);
	for (uint32_t i = 0; i < m->from->thread_count; i++) {
		struct fz_thread t = m->from->threads[i];
		t.name = m->string[t.name];
		m->thread[i] =
			mine != FZ_NONE && i == theirs ? mine : fz_profile_thread(m->into, &t);
	}
}

static int match_metrics(struct merger *m, struct fz_error *err)
{
	const struct fz_profile *a = m->into, *b = m->from;

	for (uint32_t i = 0; i < a->metric_count; i++) {
		uint32_t other = fz_profile_find_metric(b, fz_str_of(a->metrics[i].name));
		if (other == FZ_NONE || strcmp(a->metrics[i].unit, b->metrics[other].unit) != 0)
			return fz_fail(err, FZ_EINPUT,
				       "cannot merge recordings: only some have the metric '%s'",
				       a->metrics[i].name);
		m->metric[i] = other;
	}
	if (a->metric_count != b->metric_count)
		return fz_fail(err, FZ_EINPUT, "cannot merge recordings with different metrics");
	return 0;
}

/* Makes a column for each metric whose weight is constant in both profiles but differs between
 * them. */
static void make_columns(struct merger *m)
{
	struct fz_profile *p = m->into;

	for (uint32_t i = 0; i < p->metric_count; i++) {
		struct fz_metric *mine = &p->metrics[i];
		const struct fz_metric *other = &m->from->metrics[m->metric[i]];
		if (mine->column || (!other->column && other->each == mine->each))
			continue;
		int64_t *column = fz_calloc(FZ_MAX(p->samples.cap, 1), sizeof(*column));
		for (size_t row = 0; row < p->samples.n; row++)
			column[row] = fz_sample_weight(p, i, row);
		mine->column = column;
	}
}

static void append_samples(struct merger *m, uint32_t first_run)
{
	const struct fz_samples *s = &m->from->samples;
	int64_t weights[FZ_METRICS_MAX];

	for (size_t row = 0; row < s->n; row++) {
		struct fz_sample sample = {
			.run = (uint16_t)(first_run + (s->run ? s->run[row] : 0)),
			.thread = m->thread[s->thread[row]],
			.stack = s->stack[row] == FZ_NONE ? FZ_NONE : m->stack[s->stack[row]],
			.time = s->time[row],
			.status = s->status[row],
			.count = fz_sample_count(m->from, row),
		};
		for (uint32_t i = 0, column = 0; i < m->into->metric_count; i++)
			if (m->into->metrics[i].column)
				weights[column++] = fz_sample_weight(m->from, m->metric[i], row);
		fz_profile_add_sample(m->into, &sample, weights);
	}
}

/* ---- recordings ---- */

static double mean(double a, double b, double weight_a, double weight_b)
{
	double sum = weight_a + weight_b;

	return sum > 0 ? (a * weight_a + b * weight_b) / sum : __builtin_nan("");
}

static void merge_recording(struct fz_recording *a, const struct fz_recording *b)
{
	double wa = (double)a->duration_ns, wb = (double)b->duration_ns;

	if (a->mode != b->mode)
		a->mode = FZ_MODE_UNKNOWN;
	a->features_known &= b->features_known && a->features == b->features;
	if (a->interval_ns != b->interval_ns)
		a->interval_ns = 0;
	if (__builtin_add_overflow(a->duration_ns, b->duration_ns, &a->duration_ns))
		a->duration_ns = INT64_MAX;
	if (memcmp(a->python, b->python, sizeof(a->python)) != 0)
		memset(a->python, 0, sizeof(a->python));
	a->complete &= b->complete;
	a->reconstructed |= b->reconstructed;
	a->error_rate = mean(a->error_rate, b->error_rate, wa, wb);
	a->missed_rate = mean(a->missed_rate, b->missed_rate, wa, wb);
	a->achieved_hz = mean(a->achieved_hz, b->achieved_hz, wa, wb);
}

static void merge_quality(struct fz_quality *a, const struct fz_quality *b)
{
	a->known &= b->known;
	a->taken += b->taken;
	a->retried += b->retried;
	for (int i = 0; i < FZ_REJECTS; i++)
		a->rejected[i] += b->rejected[i];
	a->missed += b->missed;
	a->longest_gap_ns = FZ_MAX(a->longest_gap_ns, b->longest_gap_ns);
	a->dropped_bytes += b->dropped_bytes;
}

static void set_fact(struct fz_profile *p, struct fz_str key, struct fz_str value)
{
	fz_auto(fz_free_ptr) char *name = fz_strndup(key.p, key.n);

	fz_profile_set_fact(p, name, value);
}

static bool is_of_runs(struct fz_str key)
{
	return fz_str_eq(key, FZ_STR(FZ_UNSEEN_FACT));
}

/* Keeps only facts that both have, except those of processes and runs. */
static void merge_facts(struct merger *m)
{
	struct fz_profile *p = m->into;

	fz_profile_append_unseen(p, m->from);
	for (uint32_t i = p->fact_count; i-- > 0;) {
		struct fz_str key = fz_profile_text(p, p->facts[i].key);
		struct fz_str value = fz_profile_text(p, p->facts[i].value);
		if (!fz_is_process_fact(key) && !is_of_runs(key) &&
		    !fz_str_eq(fz_profile_fact(m->from, key.p), value))
			set_fact(p, key, FZ_STR(""));
	}
	for (uint32_t i = 0; i < m->from->fact_count; i++) {
		struct fz_str key = fz_profile_text(m->from, m->from->facts[i].key);
		if (fz_is_process_fact(key))
			set_fact(p, key, fz_profile_text(m->from, m->from->facts[i].value));
	}
}

static void copy_facts(struct merger *m)
{
	for (uint32_t i = 0; i < m->from->fact_count; i++)
		set_fact(m->into, fz_profile_text(m->from, m->from->facts[i].key),
			 fz_profile_text(m->from, m->from->facts[i].value));
}

static void append_probes(struct merger *m, uint32_t first_run)
{
	for (size_t i = 0; i < m->from->speed.n; i++) {
		struct fz_speed_probe probe = m->from->speed.probes[i];

		probe.run = (uint16_t)(probe.run + first_run);
		fz_speed_add(&m->into->speed, &probe);
	}
}

static void append_wakes(struct merger *m, uint32_t first_run)
{
	for (size_t i = 0; i < m->from->wakes.n; i++) {
		struct fz_wake wake = m->from->wakes.list[i];

		wake.run = (uint16_t)(wake.run + first_run);
		wake.thread = m->thread[wake.thread];
		wake.by = m->thread[wake.by];
		fz_wakes_add(&m->into->wakes, &wake);
	}
}

/* Keeps recorded totals if both have them. */
static void merge_callgraph(struct merger *m, bool fresh)
{
	const struct fz_callgraph_tables tables = { m->string, m->frame, m->metric };
	struct fz_profile *p = m->into;

	if (!m->from->callgraph || (!fresh && !p->callgraph)) {
		fz_profile_drop_callgraph(p);
		return;
	}
	if (!p->callgraph)
		p->callgraph = fz_callgraph_new(p->metric_count);
	fz_callgraph_merge(p->callgraph, p, m->from->callgraph, &tables);
}

static void copy_sources(struct merger *m)
{
	for (uint32_t i = 0; i < m->from->source_count; i++) {
		const struct fz_source_text *s = &m->from->sources[i];
		fz_profile_add_source(m->into, m->string[s->file],
				      (struct fz_str){ s->text, s->size });
	}
}

/* A profile without samples or metrics is the start of a merge, not one side of it. */
static bool is_fresh(const struct fz_profile *p)
{
	return p->metric_count == 0 && p->samples.n == 0 && p->run_count == 0;
}

static void copy_head(struct merger *m)
{
	struct fz_profile *p = m->into;

	for (uint32_t i = 0; i < m->from->metric_count; i++) {
		const struct fz_metric *metric = &m->from->metrics[i];
		fz_profile_add_metric(p, fz_str_of(metric->name), fz_str_of(metric->unit),
				      metric->each, metric->column != NULL);
		m->metric[i] = i;
	}
	p->default_metric = m->from->default_metric;
	p->recording = m->from->recording;
	p->quality = m->from->quality;
	p->stored = m->from->stored;
	p->skipped_lines = m->from->skipped_lines;
	p->samples.ordered = m->from->samples.ordered;
	p->samples.timed = m->from->samples.timed;
	p->samples.spans = m->from->samples.spans;
	copy_facts(m);
}

/* Keeps the earliest time and the owner with fewer rights: any user rather than root; with two
 * different users the origin becomes unknown. */
static void merge_stored(struct fz_stored *into, const struct fz_stored *from)
{
	into->known &= from->known;
	into->has_sources |= from->has_sources;
	into->written_unix_ns = FZ_MIN(into->written_unix_ns, from->written_unix_ns);
	if (into->owner == 0)
		into->group = from->group;
	if (into->owner == 0)
		into->owner = from->owner;
	into->known &= from->owner == 0 || from->owner == into->owner;
}

static void join(struct merger *m)
{
	struct fz_profile *p = m->into;

	make_columns(m);
	merge_recording(&p->recording, &m->from->recording);
	merge_quality(&p->quality, &m->from->quality);
	merge_stored(&p->stored, &m->from->stored);
	p->skipped_lines += m->from->skipped_lines;
	p->samples.ordered &= m->from->samples.ordered;
	p->samples.timed &= m->from->samples.timed;
	p->samples.spans &= m->from->samples.spans;
	merge_facts(m);
}

static void release(struct merger *m)
{
	free(m->string);
	free(m->function);
	free(m->frame);
	free(m->stack);
	free(m->thread);
}

int fz_profile_merge(struct fz_profile *into, const struct fz_profile *from, struct fz_error *err)
{
	fz_auto(release) struct merger m = { .into = into, .from = from };
	bool fresh = is_fresh(into);
	uint32_t first_run = fresh ? 0 : FZ_MAX(into->run_count, 1);
	uint32_t runs = FZ_MAX(from->run_count, 1);
	int r = fresh ? 0 : match_metrics(&m, err);

	fz_assert(into != from);
	if (r)
		return r;
	if (first_run + runs > UINT16_MAX)
		return fz_fail(err, FZ_ELIMIT, "more than 65,535 runs in one recording");
	if (fresh)
		copy_head(&m);
	else
		join(&m);
	while (into->run_count < first_run)
		fz_profile_add_run(into, &(struct fz_run){ 0 });
	translate_functions(&m);
	translate_stacks(&m);
	translate_threads(&m);
	copy_sources(&m);
	for (uint32_t i = 0; i < runs; i++)
		fz_profile_add_run(into,
				   i < from->run_count ? &from->runs[i] : &(struct fz_run){ 0 });
	fz_assert(into->run_count == first_run + runs);
	merge_callgraph(&m, fresh);
	append_samples(&m, first_run);
	append_probes(&m, first_run);
	append_wakes(&m, first_run);
	return fz_profile_check(into, err);
}
