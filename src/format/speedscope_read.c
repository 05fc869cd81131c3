/* SPDX-License-Identifier: MIT */
/* Reads speedscope's JSON.
 *
 *   shared.frames[{name, file, line, col}]
 *   profiles[{type: sampled, samples: [[frame, root first]], weights: []}
 *            {type: evented, events: [{type: O or C, at, frame}]}]
 *
 * Each profile becomes a thread with its name. If profiles of a file have different units, each
 * unit is a metric.
 */
#include "format.h"

#include "import.h"
#include "jsonread.h"
#include "timeline.h"

#include <math.h>

enum { UNITS_MAX = 8 };

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	json_t *root, *frames;
	uint32_t *frame_of; /* index in shared.frames -> frame; FZ_NONE: not created yet */
	size_t frame_count;
	struct fz_import_metric units[UNITS_MAX];
	uint32_t unit_count;
	struct fz_spans spans;
	double zero; /* time of the first call of all profiles, scaled; INFINITY: none */
};

static uint32_t frame_at(struct reader *r, int64_t index)
{
	if (index < 0 || (size_t)index >= r->frame_count)
		return FZ_NONE;
	uint32_t *frame = &r->frame_of[index];
	if (*frame == FZ_NONE) {
		const json_t *v = json_array_get(r->frames, (size_t)index);
		struct fz_import_frame f = {
			.name = fz_jsonread_kstr(v, "name"),
			.file = fz_jsonread_kstr(v, "file"),
			.line = fz_import_line(fz_jsonread_int(json_object_get(v, "line"), 0)),
			.column = fz_import_line(fz_jsonread_int(json_object_get(v, "col"), 0)),
		};
		f.kind = fz_import_kind(f.file, f.module, FZ_KIND_UNKNOWN);
		*frame = fz_import_frame(r->p, &f);
	}
	return *frame;
}

static int fail_frame(const struct reader *r, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: refers to a frame missing from shared.frames", r->name);
}

/* ---- units ---- */

static uint32_t unit_of(struct reader *r, const json_t *profile)
{
	struct fz_import_metric m = fz_import_unit(fz_jsonread_kstr(profile, "unit"));

	for (uint32_t i = 0; i < r->unit_count; i++)
		if (fz_str_eq(r->units[i].name, m.name))
			return i;
	if (r->unit_count == UNITS_MAX)
		return 0;
	r->units[r->unit_count] = m;
	return r->unit_count++;
}

static double scale_of(const json_t *profile)
{
	return fz_import_unit(fz_jsonread_kstr(profile, "unit")).scale;
}

/* Adds the metrics; sampled profiles with other weights also get the number of samples. */
static void add_metrics(struct reader *r, const json_t *profiles)
{
	bool sampled = false;
	size_t i;
	json_t *v;

	json_array_foreach(profiles, i, v)
	{
		unit_of(r, v);
		sampled |= fz_str_eq(fz_jsonread_kstr(v, "type"), FZ_STR("sampled"));
	}
	for (uint32_t u = 0; u < r->unit_count; u++) {
		fz_import_add_metric(r->p, &r->units[u], 0, true);
		sampled &= !fz_str_eq(r->units[u].name, FZ_STR("samples"));
	}
	if (sampled)
		fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 0, true);
}

static void add_row(struct reader *r, uint32_t unit, struct fz_sample *s, int64_t weight,
		    bool sample)
{
	int64_t weights[UNITS_MAX + 1] = { 0 };

	weights[unit] = weight;
	if (r->p->metric_count > r->unit_count)
		weights[r->unit_count] = sample;
	fz_profile_add_sample(r->p, s, weights);
}

/* ---- profiles ---- */

static uint32_t stack_of(struct reader *r, const json_t *frames, bool *ret_bad)
{
	uint32_t stack = FZ_NONE;
	size_t i;
	json_t *v;

	json_array_foreach(frames, i, v)
	{
		uint32_t frame = frame_at(r, fz_jsonread_int(v, -1));
		*ret_bad |= frame == FZ_NONE;
		if (frame != FZ_NONE)
			stack = fz_profile_stack(r->p, stack, frame);
	}
	return stack;
}

/* Checks that there is a weight for each sample, a number of at least 0. */
static int check_weights(const struct reader *r, const json_t *samples, const json_t *weights,
			 double scale, struct fz_error *err)
{
	size_t i;
	json_t *v;
	double sum = 0;

	if (json_array_size(samples) != json_array_size(weights))
		return fz_fail(err, FZ_EINPUT, "%s: a profile has %zu samples and %zu weights",
			       r->name, json_array_size(samples), json_array_size(weights));
	json_array_foreach(weights, i, v)
	{
		double w = fz_jsonread_number(v, NAN);
		if (!(w >= 0))
			return fz_fail(err, FZ_EINPUT, "%s: a weight is %s", r->name,
				       w < 0 ? "negative" : "not a number");
		sum += w * scale;
		if (!(sum < (double)INT64_MAX / 4))
			return fz_fail(err, FZ_EINPUT, "%s: a weight is too large", r->name);
	}
	return 0;
}

static int read_sampled(struct reader *r, const json_t *profile, uint32_t thread,
			struct fz_error *err)
{
	const json_t *samples = json_object_get(profile, "samples");
	const json_t *weights = json_object_get(profile, "weights");
	double scale = scale_of(profile), now = 0;
	uint32_t unit = unit_of(r, profile);
	bool bad = false, counts = fz_str_eq(r->units[unit].name, FZ_STR("samples"));
	size_t i;
	json_t *v;
	int code = json_is_array(weights) ? check_weights(r, samples, weights, scale, err) : 0;

	if (code)
		return code;
	json_array_foreach(samples, i, v)
	{
		double w = json_is_array(weights)
				   ? fz_jsonread_number(json_array_get(weights, i), 0)
				   : 1;
		struct fz_sample s = {
			.thread = thread,
			.stack = stack_of(r, v, &bad),
			.time = fz_import_scaled(now, scale),
			.status = FZ_STATUS_UNKNOWN,
		};
		now += w;
		int64_t weight = fz_import_scaled(now, scale) - s.time;
		if (counts && weight > 1 && weight <= UINT32_MAX)
			s.count = (uint32_t)weight;
		add_row(r, unit, &s, weight, true);
		if (bad)
			return fail_frame(r, err);
	}
	return 0;
}

/* A time since `origin`; exact if both are integers, as nanoseconds since 1970 are. */
static double time_since(const json_t *v, int64_t origin)
{
	if (json_is_integer(v) && (origin >= 0) == (json_integer_value(v) >= 0))
		return (double)(json_integer_value(v) - origin);
	return fz_jsonread_number(v, NAN) - (double)origin;
}

static int read_event(struct reader *r, struct fz_track *track, const json_t *event, int64_t origin,
		      struct fz_error *err)
{
	struct fz_str type = fz_jsonread_kstr(event, "type");
	double at = time_since(json_object_get(event, "at"), origin);
	uint32_t frame = frame_at(r, fz_jsonread_int(json_object_get(event, "frame"), -1));

	if (frame == FZ_NONE)
		return fail_frame(r, err);
	if (!isfinite(at) || (track->started && at < track->now))
		return fz_fail(err, FZ_EINPUT, "%s: events are not in order of time", r->name);
	fz_track_advance(track, at, &r->spans);
	if (fz_str_eq(type, FZ_STR("O")))
		return fz_track_open(track, r->p, frame, INFINITY)
			       ? 0
			       : fz_fail(err, FZ_ELIMIT, "%s: its stacks are too deep", r->name);
	if (fz_track_top(track, r->p) != frame)
		return fz_fail(err, FZ_EINPUT, "%s: an event closes a frame that is not on top",
			       r->name);
	fz_track_close(track);
	return 0;
}

/* Reads calls; those open at the end are closed there. */
static int read_evented(struct reader *r, const json_t *profile, uint32_t thread,
			struct fz_error *err)
{
	fz_auto(fz_track_release) struct fz_track track = { .thread = thread };
	const json_t *events = json_object_get(profile, "events");
	int64_t origin = json_integer_value(json_object_get(json_array_get(events, 0), "at"));
	double end = time_since(json_object_get(profile, "endValue"), origin);
	uint32_t unit = unit_of(r, profile);
	double scale = scale_of(profile);
	size_t i;
	json_t *v;

	r->spans.n = 0;
	json_array_foreach(events, i, v)
	{
		int code = read_event(r, &track, v, origin, err);
		if (code)
			return code;
	}
	fz_track_advance(&track, isfinite(end) ? end : track.now, &r->spans);
	double zero = r->zero / scale - (double)origin;
	for (i = 0; i < r->spans.n; i++) {
		const struct fz_span *span = &r->spans.list[i];
		struct fz_sample s = {
			.thread = thread,
			.stack = span->stack,
			.time = fz_import_scaled(span->start - zero, scale),
			.status = FZ_STATUS_UNKNOWN,
		};
		int64_t stop = fz_import_scaled(span->start + span->length - zero, scale);
		add_row(r, unit, &s, stop - s.time, false);
	}
	return 0;
}

/* Start of the timeline that all profiles of calls share. */
static double zero_of(const json_t *profiles)
{
	double zero = INFINITY;
	size_t i;
	json_t *v;

	json_array_foreach(profiles, i, v)
	{
		const json_t *first = json_array_get(json_object_get(v, "events"), 0);
		double at = fz_jsonread_number(json_object_get(first, "at"), NAN);

		if (at * scale_of(v) < zero)
			zero = at * scale_of(v);
	}
	return zero;
}

static int read_profile(struct reader *r, const json_t *v, size_t number, struct fz_error *err)
{
	struct fz_str type = fz_jsonread_kstr(v, "type");
	struct fz_thread t = { .tid = number + 1,
			       .name = fz_profile_string(r->p, fz_jsonread_kstr(v, "name")) };
	uint32_t thread = fz_profile_thread(r->p, &t);

	if (fz_str_eq(type, FZ_STR("evented")))
		return read_evented(r, v, thread, err);
	if (fz_str_eq(type, FZ_STR("sampled")))
		return read_sampled(r, v, thread, err);
	return fz_fail(err, FZ_EUNSUPPORTED, "%s: has a profile of type '%.*s', which is unknown",
		       r->name, (int)FZ_MIN(type.n, 40), type.p);
}

static void release(struct reader *r)
{
	json_decref(r->root);
	free(r->frame_of);
	fz_spans_release(&r->spans);
}

int fz_speedscope_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	size_t i;
	json_t *v;
	int code = fz_jsonread_load(in, &r.root, err);

	if (code)
		return code;
	const json_t *profiles = json_object_get(r.root, "profiles");
	r.frames = json_object_get(json_object_get(r.root, "shared"), "frames");
	r.frame_count = json_array_size(r.frames);
	if (!json_array_size(profiles))
		return fz_fail(err, FZ_EINPUT, "%s: no profiles", r.name);
	r.frame_of = fz_reallocarray(NULL, FZ_MAX(r.frame_count, 1), sizeof(*r.frame_of));
	memset(r.frame_of, 0xff, r.frame_count * sizeof(*r.frame_of));
	add_metrics(&r, profiles);
	r.zero = zero_of(profiles);
	p->samples.ordered = false;
	p->samples.spans = r.unit_count == 1 && fz_str_eq(r.units[0].unit, FZ_STR("ns"));
	json_array_foreach(profiles, i, v)
	{
		code = read_profile(&r, v, i, err);
		if (code)
			return code;
	}
	return 0;
}
