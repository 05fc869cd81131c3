/* SPDX-License-Identifier: MIT */
/* Activity by track and slot, self values by bucket; see page_time.h.
 *
 * A sample stands for the time before it, so its weight is spread over the slots before it; a slice
 * has all of it at its instant. A thread's activity follows from the sample's state:
 *
 *   GC | on a CPU | runnable without a CPU | waiting for the GIL | waiting | unknown
 */
#include "report/page_time.h"

#include "profile/mark.h"
#include "profile/range.h"
#include "profile/states.h"
#include "report/page.h"
#include "report/page_chart.h"
#include "report/page_slices.h"
#include "report/phases.h"

#include <ctype.h>

enum state { RUNS, COLLECTS, READY, WAITS_FOR_GIL, WAITS, UNKNOWN, STATES };
static const char *const state_names[STATES] = { "on a CPU",          "collecting garbage",
						 "waiting for a CPU", "waiting for the GIL",
						 "waiting",           "unknown" };

/* Unit of activity: fraction of a slot. */
enum { PARTS = 200 };

struct track {
	char *label;
	uint32_t threads;
	double weight;
};

struct fz_page_time {
	const struct fz_profile *profile;
	int64_t end;
	struct track *tracks;
	uint32_t n;
	uint32_t thread_count;
	uint32_t *track_of; /* by thread; FZ_NONE: no sample */
	double *activity;   /* by track, state and slot: ns */
	int64_t missed[FZ_PAGE_SLOTS];
	struct fz_slices slices;
	struct fz_chart chart;
	struct fz_phases phases;
};

/* ---- tracks ---- */

/* Kind of a thread: "worker-*" for "worker-17 (tid 4711)" and "worker-3". Freed by the caller. */
static char *kind_of(const struct fz_page_thread *t)
{
	struct fz_buf kind = { 0 };
	const char *end = strstr(t->label, " (tid ");

	if (t->process)
		fz_buf_printf(&kind, "%s: ", t->process);
	for (const char *c = t->label; *c && c != end; c++) {
		bool digit = isdigit((unsigned char)*c);

		if (!digit)
			fz_buf_char(&kind, *c);
		else if (kind.n == 0 || kind.p[kind.n - 1] != '*')
			fz_buf_char(&kind, '*');
	}
	return fz_buf_take(&kind);
}

/* Index of the track with that label, added if new. Takes ownership of the label. */
static uint32_t add_track(struct fz_page_time *time, struct fz_map *known, char *label)
{
	uint32_t *slot = fz_map_slot(known, fz_hash_bytes(label, strlen(label)));

	if (*slot != FZ_NONE) {
		free(label);
		return *slot;
	}
	time->tracks[time->n] = (struct track){ .label = label };
	return *slot = time->n++;
}

static int compare_weights(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return FZ_CMP(y, x);
}

/* Merge the tracks with the least weight. */
static void join_small(struct fz_page_time *time)
{
	fz_auto(fz_free_ptr) double *order = fz_calloc(time->n, sizeof(*order));
	fz_auto(fz_free_ptr) uint32_t *now = fz_calloc(time->n, sizeof(*now));
	uint32_t kept = 0;
	struct track others = { .label = NULL };

	for (uint32_t i = 0; i < time->n; i++)
		order[i] = time->tracks[i].weight;
	qsort(order, time->n, sizeof(*order), compare_weights);
	for (uint32_t i = 0; i < time->n; i++) {
		struct track *t = &time->tracks[i];
		bool keeps = t->weight > order[FZ_PAGE_TRACKS - 1] && kept < FZ_PAGE_TRACKS - 1;

		now[i] = keeps ? kept : FZ_NONE;
		if (keeps) {
			time->tracks[kept++] = *t;
			continue;
		}
		others.threads += t->threads;
		others.weight += t->weight;
		free(t->label);
	}
	others.label = fz_strdup("others");
	time->tracks[kept] = others;
	time->n = kept + 1;
	for (uint32_t i = 0; i < time->thread_count; i++)
		if (time->track_of[i] != FZ_NONE)
			time->track_of[i] =
				now[time->track_of[i]] == FZ_NONE ? kept : now[time->track_of[i]];
}

static char *own_label(const struct fz_page_thread *t)
{
	return t->process ? fz_asprintf("%s: %s", t->process, t->label) : fz_strdup(t->label);
}

static void make_tracks(struct fz_page_time *time, const struct fz_page_thread *threads,
			const double *weights)
{
	fz_auto(fz_map_release) struct fz_map known = { 0 };
	uint32_t seen = 0;

	time->track_of = fz_calloc(time->thread_count + 1ul, sizeof(*time->track_of));
	time->tracks = fz_calloc(time->thread_count + 1ul, sizeof(*time->tracks));
	for (uint32_t i = 0; i < time->thread_count; i++)
		seen += weights[i] >= 0;
	for (uint32_t i = 0; i < time->thread_count; i++) {
		time->track_of[i] = FZ_NONE;
		if (weights[i] < 0)
			continue;
		uint32_t k = add_track(time, &known,
				       seen > FZ_PAGE_TRACKS ? kind_of(&threads[i])
							     : own_label(&threads[i]));
		time->track_of[i] = k;
		time->tracks[k].threads++;
		time->tracks[k].weight += weights[i];
	}
	if (time->n > FZ_PAGE_TRACKS)
		join_small(time);
}

/* ---- activity ---- */

/* How to read the samples of a profile. */
struct view {
	const struct fz_profile *p;
	uint32_t metric, wait; /* FZ_NONE: none */
	bool cpu, cpu_known;
};

static struct view view_of(const struct fz_profile *p, uint32_t metric)
{
	fz_auto(fz_free_ptr) struct fz_states *states = fz_profile_states(p);
	bool ns = metric < p->metric_count && strcmp(p->metrics[metric].unit, "ns") == 0;

	return (struct view){ .p = p,
			      .metric = ns ? metric : FZ_NONE,
			      .wait = fz_profile_find_metric(p, FZ_STR("wait")),
			      .cpu = ns && strcmp(p->metrics[metric].name, "cpu") == 0,
			      .cpu_known = states[p->thread_count].cpu > 0 };
}

/* Time that a sample stands for, ns. */
static double weigh(const struct view *v, size_t row)
{
	if (v->metric == FZ_NONE)
		return (double)v->p->recording.interval_ns * fz_sample_count(v->p, row);
	return (double)FZ_MAX(fz_sample_weight(v->p, v->metric, row), 0);
}

static enum state state_of(const struct view *v, uint8_t status)
{
	if (status & FZ_STATUS_GC)
		return COLLECTS;
	if (v->cpu || (status & FZ_STATUS_ON_CPU))
		return RUNS;
	if (status & FZ_STATUS_GIL_REQUESTED)
		return WAITS_FOR_GIL;
	if (v->cpu_known && !(status & FZ_STATUS_UNKNOWN))
		return WAITS;
	return status & FZ_STATUS_HAS_GIL ? RUNS : UNKNOWN;
}

static void spread(struct fz_page_time *time, uint32_t track, enum state state, double from,
		   double to)
{
	double slot = (double)time->end / FZ_PAGE_SLOTS;
	double *out = time->activity + ((size_t)track * STATES + state) * FZ_PAGE_SLOTS;
	uint32_t first = (uint32_t)FZ_MIN(from / slot, FZ_PAGE_SLOTS - 1);

	for (uint32_t i = first; i < FZ_PAGE_SLOTS && (double)i * slot < to; i++)
		out[i] += FZ_MIN(to, (double)(i + 1) * slot) - FZ_MAX(from, (double)i * slot);
}

static void add_row(struct fz_page_time *time, const struct view *v, size_t row)
{
	const struct fz_samples *s = &v->p->samples;
	double to = (double)FZ_MAX(fz_sample_end(v->p, row), 0);
	double weight = FZ_MIN(weigh(v, row), to);
	double waited = v->wait == FZ_NONE ? 0 : (double)fz_sample_weight(v->p, v->wait, row);
	uint32_t track = time->track_of[s->thread[row]];

	if (s->status[row] & FZ_STATUS_BESIDE)
		return;
	waited = FZ_MAX(0, FZ_MIN(waited, weight));
	spread(time, track, READY, to - weight, to - weight + waited);
	spread(time, track, state_of(v, s->status[row]), to - weight + waited, to);
}

/* Count the sampler's missed instants, which are part of the weights, equally for all threads. */
static void count_missed(struct fz_page_time *time, const struct view *v)
{
	const struct fz_profile *p = v->p;
	int64_t interval = p->recording.interval_ns, last = INT64_MIN;

	if (v->cpu || interval <= 0 || v->metric == FZ_NONE || !p->metrics[v->metric].column ||
	    p->recording.features & FZ_FEATURE_WAITS)
		return;
	for (size_t row = 0; row < p->samples.n; row++) {
		int64_t at = p->samples.time[row];
		double slots = weigh(v, row) / (double)interval - 0.5;

		if (at == last || slots < 1)
			continue;
		last = at;
		uint32_t slot = (uint32_t)((__int128)FZ_MAX(at, 0) * FZ_PAGE_SLOTS / time->end);
		time->missed[FZ_MIN(slot, FZ_PAGE_SLOTS - 1)] += (int64_t)slots;
	}
}

/* Weight of each thread; negative: no sample. Freed by the caller. */
static double *weigh_threads(const struct view *v)
{
	double *weights = fz_calloc(v->p->thread_count + 1ul, sizeof(*weights));

	for (uint32_t i = 0; i < v->p->thread_count; i++)
		weights[i] = -1;
	for (size_t row = 0; row < v->p->samples.n; row++) {
		double *w = &weights[v->p->samples.thread[row]];

		*w = FZ_MAX(*w, 0) + weigh(v, row);
	}
	return weights;
}

/* ---- runs ---- */

/* Time and node of a sample; false if its thread is unknown. */
static bool piece_of(const struct fz_tree *t, const struct view *v, size_t row,
		     struct fz_chart_piece *ret)
{
	const struct fz_samples *s = &v->p->samples;
	int64_t to = fz_sample_end(v->p, row);
	double length = s->spans ? (double)fz_sample_span(v->p, row) : weigh(v, row);
	uint32_t node = s->stack[row] == FZ_NONE ? FZ_NONE : t->stack_node[s->stack[row]];

	*ret = (struct fz_chart_piece){ s->thread[row], node,
					length < (double)to ? to - (int64_t)length : 0, to };
	return node != FZ_NONE && ret->from < ret->to && !(s->status[row] & FZ_STATUS_BESIDE);
}

static int compare_pieces(const void *pa, const void *pb)
{
	const struct fz_chart_piece *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread) ?: FZ_CMP(a->from, b->from) ?: FZ_CMP(a->to, b->to) ?:
	       FZ_CMP(a->node, b->node);
}

/* Make the pieces of each thread disjoint, and join those of a node within sampling distance
 * `near`. Returns the new number. */
static size_t join_pieces(struct fz_chart_piece *list, size_t n, int64_t near)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct fz_chart_piece piece = list[i], *last = kept ? &list[kept - 1] : NULL;
		bool follows = last && last->thread == piece.thread;

		if (follows && piece.from - last->to <= near)
			piece.from = last->to;
		if (piece.from >= piece.to)
			continue;
		if (follows && piece.from == last->to && piece.node == last->node)
			last->to = piece.to;
		else
			list[kept++] = piece;
	}
	return kept;
}

static void build_chart(struct fz_page_time *time, const struct fz_tree *t, const struct view *v)
{
	const struct fz_profile *p = v->p;
	fz_auto(fz_free_ptr) struct fz_chart_piece *list =
		fz_reallocarray(NULL, p->samples.n + 1, sizeof(*list));
	size_t n = 0;
	bool sorted = true;

	for (size_t row = 0; row < p->samples.n; row++) {
		if (!piece_of(t, v, row, &list[n]))
			continue;
		sorted &= n == 0 || compare_pieces(&list[n - 1], &list[n]) <= 0;
		n++;
	}
	if (!sorted)
		qsort(list, n, sizeof(*list), compare_pieces);
	n = join_pieces(list, n, p->samples.spans ? 0 : FZ_MAX(p->recording.interval_ns, 0) / 2);
	fz_chart_build(&time->chart, t, list, n, time->end, FZ_PAGE_RUNS);
}

struct fz_page_time *fz_page_time_new(const struct fz_tree *t, const struct fz_page_thread *threads)
{
	const struct fz_profile *p = t->profile;
	struct view v = view_of(p, t->metric);
	int64_t end = p->samples.timed && p->samples.n ? fz_profile_end(p) : 0;

	if (p->run_count > 1 || p->per_round || end < FZ_PAGE_SLOTS)
		return NULL;
	struct fz_page_time *time = fz_calloc(1, sizeof(*time));
	fz_auto(fz_free_ptr) double *weights = weigh_threads(&v);
	time->profile = p;
	time->end = end;
	time->thread_count = p->thread_count;
	make_tracks(time, threads, weights);
	time->activity = fz_calloc((size_t)time->n * STATES * FZ_PAGE_SLOTS, sizeof(double));
	for (size_t row = 0; row < p->samples.n; row++)
		add_row(time, &v, row);
	count_missed(time, &v);
	fz_slices_build(&time->slices, t, end, FZ_PAGE_SLOTS, FZ_PAGE_SLICES);
	build_chart(time, t, &v);
	fz_phases_find(&time->phases, p, t->metric);
	return time;
}

void fz_page_time_free(struct fz_page_time *time)
{
	if (!time)
		return;
	for (uint32_t i = 0; i < time->n; i++)
		free(time->tracks[i].label);
	free(time->tracks);
	free(time->track_of);
	free(time->activity);
	fz_slices_release(&time->slices);
	fz_chart_release(&time->chart);
	fz_phases_release(&time->phases);
	free(time);
}

/* ---- the page ---- */

void fz_page_time_columns(const struct fz_page_time *time, struct fz_columns *columns)
{
	if (!time)
		return;
	size_t n = (size_t)time->n * STATES * FZ_PAGE_SLOTS;
	double slot = (double)time->end / FZ_PAGE_SLOTS;
	fz_auto(fz_free_ptr) int64_t *scratch =
		fz_calloc(FZ_MAX(n, time->thread_count) + 1, sizeof(*scratch));

	for (size_t i = 0; i < n; i++)
		scratch[i] = (int64_t)(time->activity[i] * PARTS / slot + 0.5);
	fz_columns_numbers(columns, "time.activity", scratch, n);
	fz_columns_numbers(columns, "time.missed", time->missed, FZ_PAGE_SLOTS);
	for (uint32_t i = 0; i < time->thread_count; i++)
		scratch[i] = time->track_of[i] == FZ_NONE ? 0 : time->track_of[i] + 1;
	fz_columns_numbers(columns, "time.track", scratch, time->thread_count);
	fz_slices_columns(&time->slices, columns);
	fz_chart_columns(&time->chart, time->thread_count, columns);
}

static void write_marks(const struct fz_profile *p, struct fz_json *j)
{
	fz_auto(fz_free_ptr) struct fz_profile_mark *marks = NULL;
	size_t n = fz_profile_marks(p, &marks);

	fz_json_kopen(j, "marks", '[');
	for (size_t i = 0; i < n; i++) {
		fz_json_open(j, '{');
		fz_json_kint(j, "ns", marks[i].time);
		fz_json_kstr(j, "text", marks[i].text);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

static void write_changes(const struct fz_phases *phases, struct fz_json *j)
{
	fz_json_kopen(j, "changes", '[');
	for (size_t i = 0; i < phases->n; i++) {
		fz_auto(fz_buf_release) struct fz_buf words = { 0 };
		fz_auto(fz_buf_release) struct fz_buf ranges = { 0 };

		fz_phases_words(phases, i, "\u2192", &words);
		fz_phases_ranges(phases, i, &ranges);
		fz_json_open(j, '{');
		fz_json_kint(j, "ns", fz_phases_time(phases, i));
		fz_json_kstr(j, "name", fz_phases_name(phases, i));
		fz_json_kstr(j, "words", fz_buf_view(&words));
		fz_json_kstr(j, "ranges", fz_buf_view(&ranges));
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

void fz_page_time_header(const struct fz_page_time *time, struct fz_json *j)
{
	if (!time)
		return;
	fz_json_kopen(j, "time", '{');
	fz_json_kint(j, "end_ns", time->end);
	fz_json_kint(j, "slots", FZ_PAGE_SLOTS);
	fz_json_kint(j, "parts", PARTS);
	fz_json_kint(j, "buckets", time->slices.buckets);
	fz_chart_header(&time->chart, j);
	write_marks(time->profile, j);
	write_changes(&time->phases, j);
	fz_json_kopen(j, "states", '[');
	for (int i = 0; i < STATES; i++)
		fz_json_str(j, fz_str_of(state_names[i]));
	fz_json_close(j, ']');
	fz_json_kopen(j, "tracks", '[');
	for (uint32_t i = 0; i < time->n; i++) {
		fz_json_open(j, '{');
		fz_json_kstr(j, "label", fz_str_of(time->tracks[i].label));
		fz_json_kint(j, "threads", time->tracks[i].threads);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}
