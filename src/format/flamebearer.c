/* SPDX-License-Identifier: MIT */
/* Reads Pyroscope's flame graphs, JSON of its pages and its API.
 *
 *   {flamebearer: {names, levels: [[offset, total, self, name, ...], ...], numTicks},
 *    metadata: {format: "single", units, sampleRate}}
 *
 * A level is a row of the picture, outermost first; four numbers are a bar. It starts `offset`
 * after the end of the previous bar, and its caller is the bar above it, in the row before. The
 * first row is the total, not a function.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"

enum { NUMBERS = 4, DEPTH_MAX = 1 << 14 };

struct bar {
	int64_t start, end;
	uint32_t stack;
};

struct row {
	struct bar *bars;
	uint32_t n, cap;
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	json_t *root;
	const json_t *names;
	double scale; /* our units per unit of theirs */
	bool counts_samples;
	struct row above, now;
	uint32_t thread;
};

static void release(struct reader *r)
{
	free(r->above.bars);
	free(r->now.bars);
	fz_jsonread_release(&r->root);
}

static int fail_damaged(const struct reader *r, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: a bar of the flame graph has no parent",
		       r->name);
}

static void read_metric(struct reader *r)
{
	const json_t *metadata = json_object_get(r->root, "metadata");
	struct fz_str units = fz_jsonread_kstr(metadata, "units");
	double rate = fz_jsonread_number(json_object_get(metadata, "sampleRate"), 0);
	struct fz_import_metric m = fz_import_unit(units);

	if (fz_str_eq(units, FZ_STR("lock_nanoseconds")))
		m = (struct fz_import_metric){ FZ_STR("lock"), FZ_STR("ns"), 1 };
	else if (units.n && fz_str_eq(m.unit, FZ_STR("count")))
		m.name = units;
	r->scale = m.scale;
	r->counts_samples = fz_str_eq(m.name, FZ_STR("samples"));
	if (r->counts_samples && rate >= 1 && rate <= 1e9)
		r->p->recording.interval_ns = fz_import_scaled(1 / rate, 1e9);
	fz_import_add_metric(r->p, &m, 0, true);
}

static uint32_t frame_of(struct reader *r, int64_t name)
{
	struct fz_import_frame f = { .kind = FZ_KIND_UNKNOWN };

	if (name >= 0)
		fz_import_location(fz_jsonread_str(json_array_get(r->names, (size_t)name)), &f);
	f.kind = fz_import_kind(f.file, f.module, f.module.n ? FZ_KIND_NATIVE : FZ_KIND_UNKNOWN);
	return fz_import_frame(r->p, &f);
}

/* The bar above, searched from the last result because rows are in order; NULL if there is none. */
static const struct bar *caller_of(const struct reader *r, const struct bar *b, uint32_t *at)
{
	while (*at < r->above.n && r->above.bars[*at].end <= b->start)
		++*at;
	if (*at == r->above.n || r->above.bars[*at].start > b->start ||
	    r->above.bars[*at].end < b->end)
		return NULL;
	return &r->above.bars[*at];
}

static int add_bar(struct reader *r, const struct bar *b, int64_t self, struct fz_error *err)
{
	struct fz_sample s = { .thread = r->thread,
			       .stack = b->stack,
			       .status = FZ_STATUS_UNKNOWN };
	int64_t weight = fz_import_scaled_int(self, r->scale);

	if (r->counts_samples)
		s.count = (uint32_t)FZ_MIN(weight, (int64_t)UINT32_MAX);
	fz_profile_push(r->p, r->now.bars, r->now.n, r->now.cap, *b);
	if (weight)
		fz_profile_add_sample(r->p, &s, &weight);
	return r->p->over_limit ? fz_profile_check(r->p, err) : 0;
}

static int read_level(struct reader *r, const json_t *level, bool whole, struct fz_error *err)
{
	size_t n = json_array_size(level);
	int64_t end = 0;
	uint32_t above = 0;
	int code = 0;

	r->now.n = 0;
	for (size_t i = 0; i + NUMBERS <= n && !code; i += NUMBERS) {
		int64_t offset = fz_jsonread_int(json_array_get(level, i), -1);
		int64_t total = fz_jsonread_int(json_array_get(level, i + 1), -1);
		int64_t self = fz_jsonread_int(json_array_get(level, i + 2), -1);
		struct bar b = { .stack = FZ_NONE };
		if (offset < 0 || total < 0 || self < 0 || self > total ||
		    __builtin_add_overflow(end, offset, &b.start) ||
		    __builtin_add_overflow(b.start, total, &b.end))
			return fail_damaged(r, err);
		end = b.end;
		if (!total)
			continue;
		const struct bar *caller = whole ? NULL : caller_of(r, &b, &above);
		if (!whole && !caller)
			return fail_damaged(r, err);
		if (caller)
			b.stack = fz_profile_stack(
				r->p, caller->stack,
				frame_of(r, fz_jsonread_int(json_array_get(level, i + 3), -1)));
		code = add_bar(r, &b, self, err);
	}
	return code;
}

static int read_levels(struct reader *r, const json_t *levels, struct fz_error *err)
{
	size_t i;
	json_t *v;

	if (json_array_size(levels) > DEPTH_MAX)
		return fz_fail(err, FZ_ELIMIT, "%s: its stacks are too deep", r->name);
	json_array_foreach(levels, i, v)
	{
		int code = read_level(r, v, i == 0, err);
		if (code)
			return code;
		struct row other = r->above;
		r->above = r->now;
		r->now = other;
	}
	return 0;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_jsonread_load(in, &r.root, err);

	if (code)
		return code;
	const json_t *bearer = json_object_get(r.root, "flamebearer");
	struct fz_str format = fz_jsonread_kstr(json_object_get(r.root, "metadata"), "format");
	if (fz_str_eq(format, FZ_STR("double")))
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: a Pyroscope comparison: export both sides and compare them "
			       "with 'fizeau diff'",
			       r.name);
	p->samples.ordered = p->samples.timed = false;
	r.names = json_object_get(bearer, "names");
	r.thread = fz_profile_thread(p, &(struct fz_thread){ 0 });
	read_metric(&r);
	code = read_levels(&r, json_object_get(bearer, "levels"), err);
	if (!code && !p->samples.n)
		return fz_fail(err, FZ_EINPUT, "%s: its flame graph is empty", r.name);
	return code;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	return fz_jsonread_has_key(head, n, 1, "flamebearer") ? 90 : 0;
}

const struct fz_format fz_format_flamebearer = {
	.name = "flamebearer",
	.title = "flame graph of Pyroscope",
	.suffixes = ".json",
	.notes = "one graph; comparisons are refused, and series over time dropped",
	.sniff = sniff,
	.read = read,
};
