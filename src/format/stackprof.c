/* SPDX-License-Identifier: MIT */
/* Reads stackprof's JSON (Ruby).
 *
 *   frames: {id: {name, file, line}}
 *   raw:    [depth, id, ... (root first), times, depth, ...]; raw_lines has lines in place of ids
 *   raw_timestamp_deltas: [microseconds since the sample before, ...]
 *
 * The weight of a sample is the time since the one before; without these times it is the interval.
 * Without `raw` there are no stacks.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"

struct frame {
	uint64_t id;
	struct fz_import_frame text;
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	struct frame *frames;
	uint32_t frame_n, frame_cap;
	struct fz_map frame_of; /* id -> in frames */
	const json_t *raw, *lines, *deltas;
	bool timed;       /* the metric is time */
	int64_t interval; /* weight of a sample */
	uint32_t thread;
	size_t seen; /* samples so far */
};

/* Ids are numbers; as keys of an object they are texts. */
static void read_frames(struct reader *r, json_t *frames)
{
	const char *key;
	json_t *v;

	json_object_foreach(frames, key, v)
	{
		struct frame f = { 0 };
		if (!fz_parse_u64(fz_str_of(key), UINT64_MAX, &f.id))
			continue;
		f.text.name = fz_jsonread_kstr(v, "name");
		f.text.file = fz_jsonread_kstr(v, "file");
		if (fz_str_eq(f.text.file, FZ_STR("<cfunc>")))
			f.text.file = FZ_STR("");
		f.text.first_line = fz_import_line(fz_jsonread_int(json_object_get(v, "line"), 0));
		f.text.kind = fz_str_starts(f.text.name, "(") ? FZ_KIND_MARKER : FZ_KIND_UNKNOWN;
		fz_map_put(&r->frame_of, f.id, r->frame_n);
		fz_profile_push(r->p, r->frames, r->frame_n, r->frame_cap, f);
	}
}

static int fail_damaged(const struct reader *r, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: invalid stacks", r->name);
}

/* Reads the stack of `depth` ids at an index of raw; false if an id is unknown. */
static bool read_stack(struct reader *r, size_t at, size_t depth, uint32_t *ret)
{
	uint32_t stack = FZ_NONE;

	for (size_t i = at; i < at + depth; i++) {
		uint32_t k = fz_map_get(&r->frame_of,
					(uint64_t)fz_jsonread_int(json_array_get(r->raw, i), -1));
		if (k == FZ_NONE)
			return false;
		struct fz_import_frame f = r->frames[k].text;
		f.line = fz_import_line(fz_jsonread_int(json_array_get(r->lines, i), 0));
		stack = fz_profile_stack(r->p, stack, fz_import_frame(r->p, &f));
	}
	*ret = stack;
	return true;
}

static int64_t delta_at(const struct reader *r, size_t i)
{
	return FZ_MAX(fz_jsonread_int(json_array_get(r->deltas, i), 0), 0);
}

/* Adds one row for consecutive samples with the same stack. */
static void add_row(struct reader *r, uint32_t stack, uint32_t times)
{
	double ns = 0;

	for (size_t i = r->seen; r->deltas && i < r->seen + times; i++)
		ns += (double)delta_at(r, i) * 1e3;
	int64_t weight =
		r->deltas ? fz_import_scaled(ns, 1) : fz_import_scaled((double)r->interval, times);
	struct fz_sample s = {
		.thread = r->thread, .stack = stack, .status = FZ_STATUS_UNKNOWN, .count = times
	};
	fz_profile_add_sample(r->p, &s, &weight);
	r->seen += times;
}

static int read_raw(struct reader *r, struct fz_error *err)
{
	size_t n = json_array_size(r->raw), at = 0;

	while (at < n) {
		int64_t depth = fz_jsonread_int(json_array_get(r->raw, at++), -1);
		uint32_t stack;
		if (depth < 0 || (uint64_t)depth >= n - at ||
		    !read_stack(r, at, (size_t)depth, &stack))
			return fail_damaged(r, err);
		at += (size_t)depth;
		int64_t times = fz_jsonread_int(json_array_get(r->raw, at++), -1);
		if (times < 0 || times > UINT32_MAX ||
		    (r->deltas && (uint64_t)times > json_array_size(r->deltas) - r->seen))
			return fail_damaged(r, err);
		if (times)
			add_row(r, stack, (uint32_t)times);
		if (r->p->over_limit)
			return fz_profile_check(r->p, err);
	}
	return r->seen ? 0 : fz_fail(err, FZ_EINPUT, "%s: no samples", r->name);
}

/* Number of samples in raw. */
static uint64_t count_samples(const json_t *raw)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < json_array_size(raw);) {
		int64_t depth = fz_jsonread_int(json_array_get(raw, at), -1);
		if (depth < 0 || (uint64_t)depth >= json_array_size(raw) - at)
			return 0;
		at += (size_t)depth + 1;
		int64_t times = fz_jsonread_int(json_array_get(raw, at++), 0);
		sum += (uint64_t)FZ_MAX(times, 0);
	}
	return sum;
}

/* Reads the mode: microseconds of time, a number of objects, or custom events. */
static void read_mode(struct reader *r, const json_t *root)
{
	struct fz_str mode = fz_jsonread_kstr(root, "mode");
	int64_t interval = FZ_MAX(fz_jsonread_int(json_object_get(root, "interval"), 0), 0);
	bool cpu = fz_str_eq(mode, FZ_STR("cpu"));
	struct fz_import_metric m = { cpu ? FZ_STR("cpu") : FZ_STR("wall"), FZ_STR("ns"), 1 };

	r->timed = cpu || fz_str_eq(mode, FZ_STR("wall"));
	r->interval = r->timed ? fz_import_scaled_int(interval, 1e3) : FZ_MAX(interval, 1);
	if (r->timed) {
		r->p->recording.mode = cpu ? FZ_MODE_CPU : FZ_MODE_WALL;
		r->p->recording.interval_ns = r->interval;
	} else {
		bool object = fz_str_eq(mode, FZ_STR("object"));
		m = (struct fz_import_metric){ object ? FZ_STR("objects") : FZ_STR("events"),
					       FZ_STR("count"), 1 };
	}
	/* Only wall time is the time between samples. */
	const json_t *deltas = json_object_get(root, "raw_timestamp_deltas");
	if (r->timed && !cpu && json_array_size(deltas) == count_samples(r->raw))
		r->deltas = deltas;
	fz_import_add_metric(r->p, &m, 0, true);
	fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, false);
}

static void release(struct reader *r)
{
	free(r->frames);
	fz_map_release(&r->frame_of);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_jsonread_release) json_t *root = NULL;
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_jsonread_load(in, &root, err);

	if (code)
		return code;
	r.raw = json_object_get(root, "raw");
	if (!json_array_size(r.raw))
		return fz_fail(err, FZ_EUNSUPPORTED, "%s: no stacks: run StackProf with raw: true",
			       r.name);
	r.lines = json_object_get(root, "raw_lines");
	read_frames(&r, json_object_get(root, "frames"));
	p->samples.timed = p->samples.ordered = false;
	r.thread = fz_profile_thread(p, &(struct fz_thread){ .is_main = true });
	read_mode(&r, root);
	return read_raw(&r, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	return fz_jsonread_has_key(head, n, 1, "gc_samples") &&
			       fz_jsonread_has_key(head, n, 1, "missed_samples")
		       ? 95
		       : 0;
}

const struct fz_format fz_format_stackprof = {
	.name = "stackprof",
	.title = "stackprof JSON (Ruby)",
	.suffixes = ".json",
	.notes = "recorded with raw: true; threads are not recorded",
	.sniff = sniff,
	.read = read,
};
