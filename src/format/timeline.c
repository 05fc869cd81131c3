/* SPDX-License-Identifier: MIT */
/* Converts calls and returns to samples; see timeline.h. */
#include "timeline.h"

#include "import.h"

#include <math.h>

void fz_track_release(struct fz_track *t)
{
	free(t->open);
	free(t->ends);
}

void fz_spans_release(struct fz_spans *spans)
{
	free(spans->list);
}

static void pass(struct fz_track *t, double until, struct fz_spans *spans)
{
	if (t->started && t->depth && until > t->now) {
		fz_push(spans->list, spans->n, spans->cap,
			(struct fz_span){ t->thread, t->open[t->depth - 1], t->now,
					  until - t->now });
	}
	if (!t->started || until > t->now)
		t->now = until;
	t->started = true;
}

void fz_track_advance(struct fz_track *t, double at, struct fz_spans *spans)
{
	while (t->depth && t->ends[t->depth - 1] <= at) {
		/* A call without a return lasts until the last event. */
		if (isfinite(t->ends[t->depth - 1]))
			pass(t, t->ends[t->depth - 1], spans);
		t->depth--;
	}
	if (isfinite(at))
		pass(t, at, spans);
}

bool fz_track_open(struct fz_track *t, struct fz_profile *p, uint32_t frame, double ends)
{
	uint32_t parent = t->depth ? t->open[t->depth - 1] : FZ_NONE;

	if (t->depth >= FZ_TRACK_DEPTH_MAX)
		return false;
	fz_grow(t->open, t->depth, t->cap);
	fz_grow(t->ends, t->depth, t->ends_cap);
	t->open[t->depth] = fz_profile_stack(p, parent, frame);
	t->ends[t->depth++] = ends;
	return true;
}

uint32_t fz_track_top(const struct fz_track *t, const struct fz_profile *p)
{
	return t->depth ? p->stacks[t->open[t->depth - 1]].frame : FZ_NONE;
}

void fz_track_close(struct fz_track *t)
{
	if (t->depth)
		t->depth--;
}

void fz_spans_add(const struct fz_spans *spans, struct fz_profile *p)
{
	double zero = INFINITY;

	for (size_t i = 0; i < spans->n; i++)
		zero = FZ_MIN(zero, spans->list[i].start);
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	p->samples.spans = true;
	for (size_t i = 0; i < spans->n; i++) {
		const struct fz_span *span = &spans->list[i];
		struct fz_sample s = {
			.thread = span->thread,
			.stack = span->stack,
			.time = fz_import_scaled(span->start - zero, 1),
			.status = FZ_STATUS_UNKNOWN,
		};
		/* Rounds ends instead of lengths, so that rounding errors do not accumulate. */
		int64_t weight = fz_import_scaled(span->start + span->length - zero, 1) - s.time;
		fz_profile_add_sample(p, &s, &weight);
	}
}
