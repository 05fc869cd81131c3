/* SPDX-License-Identifier: MIT */
/* Walks backwards through samples and wakes; see the picture in the header. Time only decreases
 * during the walk, so samples and wakes after it can be dropped and one pass is enough. The
 * recording starts at 0; earlier samples of a damaged file count as 0, and earlier wakes are
 * ignored.
 */
#include "profile/critical.h"

/* Largest rounding error of times and weights in a recording (docs/format.md), ns. */
enum { ROUNDED = 3000 };

/* The remaining part of a thread: its samples and wakes up to the current time, in order of
 * time. */
struct lane {
	size_t first_sample, samples, first_wake, wakes;
	int64_t cpu_ns;     /* CPU time on the chain */
	int64_t sampled_ns; /* sampled CPU time on the chain */
};

struct timed_sample {
	size_t row;
	int64_t time;
	uint32_t thread;
	bool on_chain;
};

/* On a CPU, at an unknown place. */
static const struct fz_wait_place nowhere = { FZ_NONE, FZ_NO_LINE, FZ_NONE, FZ_WAIT_KINDS };

struct walk {
	const struct fz_profile *p;
	struct fz_critical *ret;
	struct fz_wait_places places;
	struct timed_sample *samples; /* of the run, in order of thread and time */
	struct fz_wake *wakes;        /* likewise */
	struct lane *lanes;           /* of threads */
	bool *met;                    /* of threads: on the chain */
	size_t sample_n, wake_n;
	uint16_t run;
};

static int64_t weight_of(const struct walk *w, const struct timed_sample *s)
{
	return FZ_MAX(fz_sample_weight(w->p, w->p->default_metric, s->row), 0);
}

static const struct fz_wait_place *place_of(struct walk *w, const struct timed_sample *s)
{
	uint32_t stack = w->p->samples.stack[s->row];

	return stack == FZ_NONE ? &nowhere : fz_wait_place_of(&w->places, stack);
}

/* ---- in order ---- */

static int compare_samples(const void *pa, const void *pb)
{
	const struct timed_sample *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread) ?: FZ_CMP(a->time, b->time) ?: FZ_CMP(a->row, b->row);
}

static int compare_wakes(const void *pa, const void *pb)
{
	const struct fz_wake *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread) ?: FZ_CMP(a->time, b->time) ?: FZ_CMP(a->by, b->by);
}

static void add_run(struct walk *w, uint16_t run)
{
	const struct fz_samples *s = &w->p->samples;

	w->run = run;
	w->sample_n = w->wake_n = 0;
	memset(w->lanes, 0, w->p->thread_count * sizeof(*w->lanes));
	for (size_t row = 0; row < s->n; row++)
		if ((s->run ? s->run[row] : 0) == run)
			w->samples[w->sample_n++] =
				(struct timed_sample){ .row = row,
						       .time = FZ_MAX(s->time[row], 0),
						       .thread = s->thread[row] };
	for (size_t i = 0; i < w->p->wakes.n; i++)
		if (w->p->wakes.list[i].run == run && w->p->wakes.list[i].time >= 0)
			w->wakes[w->wake_n++] = w->p->wakes.list[i];
	if (w->sample_n)
		qsort(w->samples, w->sample_n, sizeof(*w->samples), compare_samples);
	if (w->wake_n)
		qsort(w->wakes, w->wake_n, sizeof(*w->wakes), compare_wakes);
	for (size_t i = w->sample_n; i-- > 0;) {
		w->lanes[w->samples[i].thread].first_sample = i;
		w->lanes[w->samples[i].thread].samples++;
	}
	for (size_t i = w->wake_n; i-- > 0;) {
		w->lanes[w->wakes[i].thread].first_wake = i;
		w->lanes[w->wakes[i].thread].wakes++;
	}
}

/* ---- backwards ---- */

static struct timed_sample *last_sample(const struct walk *w, const struct lane *l)
{
	return l->samples ? &w->samples[l->first_sample + l->samples - 1] : NULL;
}

static const struct fz_wake *last_wake(const struct walk *w, const struct lane *l)
{
	return l->wakes ? &w->wakes[l->first_wake + l->wakes - 1] : NULL;
}

static void drop_later(const struct walk *w, struct lane *l, int64_t time)
{
	while (l->samples && last_sample(w, l)->time > time)
		l->samples--;
	while (l->wakes && last_wake(w, l)->time > time)
		l->wakes--;
}

/* Drops the wait that a wake ended, since the chain continues in the waker. */
static void drop_wait(const struct walk *w, struct lane *l, int64_t time)
{
	while (l->samples && last_sample(w, l)->time == time)
		l->samples--;
}

/* Returns the start of a wait of that length. Lengths are rounded, so it is not before the end of
 * the preceding sample or wake. */
static int64_t begin_of_wait(const struct walk *w, const struct lane *l, int64_t end, int64_t ns)
{
	const struct timed_sample *before = last_sample(w, l);
	const struct fz_wake *wake = last_wake(w, l);
	int64_t begin = FZ_MAX(end - ns, 0), nearest = begin + ROUNDED;

	if (before && before->time <= nearest)
		begin = FZ_MAX(begin, before->time);
	if (wake && wake->time <= nearest)
		begin = FZ_MAX(begin, wake->time);
	return FZ_MIN(begin, end);
}

/* Takes samples of CPU time back to the previous wake or wait; returns the start of the first one,
 * which matters if there is neither. */
static int64_t add_samples(struct walk *w, struct lane *l, int64_t time)
{
	const struct fz_wake *wake = last_wake(w, l);
	struct timed_sample *s;
	int64_t since = time;

	while ((s = last_sample(w, l)) && (!wake || s->time > wake->time) &&
	       place_of(w, s)->kind == FZ_WAIT_KINDS) {
		s->on_chain = true;
		l->sampled_ns += weight_of(w, s);
		since = FZ_MIN(since, s->time - weight_of(w, s));
		l->samples--;
	}
	return FZ_MAX(since, 0);
}

static void add_part(struct walk *w, uint32_t thread, int64_t from, int64_t to)
{
	struct fz_critical *c = w->ret;

	if (from >= to)
		return;
	fz_push(c->parts, c->n, c->cap, (struct fz_critical_part){ from, to, thread, w->run });
}

/* Walks back through *thread from *time to its latest wake, and sets *thread to the waker; false if
 * it reaches the start of the thread. Sets *time to that time. */
static bool follow(struct walk *w, uint32_t *thread, int64_t *time)
{
	struct lane *l = &w->lanes[*thread];
	int64_t end = *time;

	for (;;) {
		drop_later(w, l, *time);
		int64_t since = add_samples(w, l, *time);
		const struct timed_sample *wait = last_sample(w, l);
		const struct fz_wake *wake = last_wake(w, l);
		bool woken = wake && (!wait || wait->time <= wake->time);

		if (wait && !woken)
			since = wait->time;
		if (woken)
			since = wake->time;
		fz_assert(since <= *time);
		l->cpu_ns += *time - since;
		*time = since;
		if (!wait || woken) {
			add_part(w, *thread, since, end);
			if (!woken)
				return false;
			drop_wait(w, l, since);
			l->wakes--;
			*thread = wake->by;
			return true;
		}
		l->samples--;
		*time = begin_of_wait(w, l, since, weight_of(w, wait));
		fz_wait_rows_add(&w->ret->rows, place_of(w, wait), 1, since - *time);
	}
}

/* Adds the exact CPU time of each thread, distributed over its samples. */
static void add_cpu(struct walk *w)
{
	for (size_t i = 0; i < w->sample_n; i++) {
		const struct timed_sample *s = &w->samples[i];
		const struct lane *l = &w->lanes[s->thread];
		if (s->on_chain && l->sampled_ns)
			fz_wait_rows_add(&w->ret->rows, place_of(w, s), 1,
					 (int64_t)((double)weight_of(w, s) * (double)l->cpu_ns /
						   (double)l->sampled_ns));
	}
	for (uint32_t i = 0; i < w->p->thread_count; i++)
		if (w->lanes[i].cpu_ns && !w->lanes[i].sampled_ns)
			fz_wait_rows_add(&w->ret->rows, &nowhere, 0, w->lanes[i].cpu_ns);
}

/* The main thread of the run, or FZ_NONE. */
static uint32_t find_main(const struct walk *w)
{
	for (uint32_t i = 0; i < w->p->thread_count; i++)
		if (w->p->threads[i].is_main && w->lanes[i].samples)
			return i;
	return FZ_NONE;
}

static void reverse(struct fz_critical_part *parts, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct fz_critical_part part = parts[i];
		parts[i] = parts[n - 1 - i];
		parts[n - 1 - i] = part;
	}
}

static void walk_run(struct walk *w, uint16_t run)
{
	struct fz_critical *c = w->ret;
	size_t before = c->n;

	add_run(w, run);
	uint32_t thread = find_main(w);
	if (thread == FZ_NONE)
		return;
	int64_t time = last_sample(w, &w->lanes[thread])->time;
	c->ns += time;
	while (follow(w, &thread, &time))
		continue;
	c->ns -= time;
	c->unknown_ns += time;
	add_cpu(w);
	reverse(c->parts + before, c->n - before);
}

static void count_threads(struct walk *w)
{
	for (size_t i = 0; i < w->ret->n; i++) {
		w->ret->threads += !w->met[w->ret->parts[i].thread];
		w->met[w->ret->parts[i].thread] = true;
	}
}

bool fz_critical_init(struct fz_critical *c, const struct fz_profile *p)
{
	struct walk w = { .p = p, .ret = c };

	*c = (struct fz_critical){ 0 };
	if (!p->wakes.n || !p->samples.timed || fz_profile_fact(p, "waits.lost").n ||
	    !fz_wait_places_init(&w.places, p))
		return false;
	w.samples = fz_calloc(p->samples.n + 1, sizeof(*w.samples));
	w.wakes = fz_calloc(p->wakes.n, sizeof(*w.wakes));
	w.lanes = fz_calloc(p->thread_count + 1ul, sizeof(*w.lanes));
	w.met = fz_calloc(p->thread_count + 1ul, sizeof(*w.met));
	for (uint32_t run = 0; run < FZ_MAX(p->run_count, 1); run++)
		walk_run(&w, (uint16_t)run);
	count_threads(&w);
	fz_wait_rows_sort(&c->rows);
	fz_wait_places_release(&w.places);
	free(w.samples);
	free(w.wakes);
	free(w.lanes);
	free(w.met);
	return true;
}

void fz_critical_release(struct fz_critical *c)
{
	fz_wait_rows_release(&c->rows);
	free(c->parts);
	*c = (struct fz_critical){ 0 };
}
