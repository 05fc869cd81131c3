/* SPDX-License-Identifier: MIT */
/* Reads dhat.out, JSON of Valgrind's DHAT and of the dhat crate for Rust.
 *
 *   {dhatFileVersion: 2, mode: "heap", ftbl: ["[root]", "0x1: f (a.c:4)", ...],
 *    pps: [{tb, tbk, gb, gbk, eb, ebk, rb, wb, fs: [2, 3]}, ...]}
 *
 * A program point is a stack, fs, innermost first, with sums over the blocks allocated there: total
 * bytes and blocks, at the global maximum and at the end, and bytes read and written. Valgrind's
 * own malloc is the innermost frame of every stack and is omitted, as in massif; its cost goes to
 * its callers.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"
#include "valgrind.h"

enum { VERSION = 2 };

/* Possible figures of a program point. */
static const struct column {
	const char *key, *flag; /* flag: key that is set if the file has the figure; NULL: always */
	const char *heap, *copy, *other;
	bool bytes;
} columns[] = {
	{ "tb", NULL, "allocated", "copied", "units", true },
	{ "tbk", NULL, "allocated_blocks", "copied_blocks", "events", false },
	{ "gb", "bklt", "peak", NULL, NULL, true },
	{ "gbk", "bklt", "peak_blocks", NULL, NULL, false },
	{ "eb", "bklt", "at_end", NULL, NULL, true },
	{ "ebk", "bklt", "at_end_blocks", NULL, NULL, false },
	{ "rb", "bkacc", "read", NULL, NULL, true },
	{ "wb", "bkacc", "written", NULL, NULL, true },
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	json_t *root;
	const json_t *table; /* of frames */
	uint32_t *frames;    /* of its entries; FZ_NONE: not created yet */
	const struct column *kept[FZ_ARRAY_LEN(columns)]; /* one per metric */
	bool heap;
	uint32_t thread;
};

static void release(struct reader *r)
{
	free(r->frames);
	fz_jsonread_release(&r->root);
}

/* Adds the metrics of a mode: "heap", "copy", or "ad-hoc" for events defined by the program; Rust's
 * start with "rust-". */
static void read_metrics(struct reader *r)
{
	struct fz_str mode = fz_jsonread_kstr(r->root, "mode");
	bool copy = fz_str_eq(mode, FZ_STR("copy"));

	r->heap = fz_str_ends(mode, "heap");
	for (size_t i = 0; i < FZ_ARRAY_LEN(columns); i++) {
		const struct column *c = &columns[i];
		const char *name = r->heap ? c->heap : copy ? c->copy : c->other;
		bool bytes = c->bytes && (r->heap || copy);
		if (!name || (c->flag && !json_is_true(json_object_get(r->root, c->flag))))
			continue;
		r->kept[r->p->metric_count] = c;
		fz_profile_add_metric(r->p, fz_str_of(name),
				      bytes ? FZ_STR("bytes") : FZ_STR("count"), 0, true);
	}
}

/* The index in the table of frames of an element of a stack, or FZ_NONE. */
static uint32_t entry_of(const struct reader *r, const json_t *v)
{
	int64_t at = fz_jsonread_int(v, -1);

	return at >= 0 && (uint64_t)at < json_array_size(r->table) ? (uint32_t)at : FZ_NONE;
}

static struct fz_str place_of(const struct reader *r, uint32_t entry)
{
	return fz_jsonread_str(json_array_get(r->table, entry));
}

static uint32_t frame_of(struct reader *r, uint32_t entry)
{
	if (r->frames[entry] == FZ_NONE)
		r->frames[entry] = fz_valgrind_frame(r->p, place_of(r, entry));
	return r->frames[entry];
}

static int read_stack(struct reader *r, const json_t *fs, uint32_t *ret, struct fz_error *err)
{
	size_t n = json_array_size(fs), first = 0;

	for (size_t i = 0; i < n; i++)
		if (entry_of(r, json_array_get(fs, i)) == FZ_NONE)
			return fz_fail(err, FZ_EINPUT,
				       "%s: damaged: a stack refers to a missing frame", r->name);
	while (r->heap && first + 1 < n &&
	       fz_valgrind_is_own(place_of(r, entry_of(r, json_array_get(fs, first)))))
		first++;
	*ret = FZ_NONE;
	for (size_t i = n; i-- > first;)
		*ret = fz_profile_stack(r->p, *ret,
					frame_of(r, entry_of(r, json_array_get(fs, i))));
	return 0;
}

static int read_point(struct reader *r, const json_t *point, struct fz_error *err)
{
	struct fz_sample s = { .thread = r->thread, .status = FZ_STATUS_UNKNOWN };
	int64_t weights[FZ_ARRAY_LEN(columns)];

	for (uint32_t i = 0; i < r->p->metric_count; i++) {
		weights[i] = fz_jsonread_int(json_object_get(point, r->kept[i]->key), 0);
		if (weights[i] < 0)
			return fz_fail(err, FZ_EINPUT, "%s: a stack has a negative '%s'", r->name,
				       r->kept[i]->key);
	}
	int code = read_stack(r, json_object_get(point, "fs"), &s.stack, err);
	if (!code)
		fz_profile_add_sample(r->p, &s, weights);
	return code;
}

static int read_points(struct reader *r, struct fz_error *err)
{
	const json_t *points = json_object_get(r->root, "pps");
	size_t n = json_array_size(r->table), i;
	json_t *v;

	if (!json_array_size(points))
		return fz_fail(err, FZ_EINPUT, "%s: no stacks: DHAT counted nothing", r->name);
	if (!fz_profile_takes(r->p, n * sizeof(*r->frames)))
		return fz_profile_check(r->p, err);
	r->frames = fz_calloc(n + 1, sizeof(*r->frames));
	memset(r->frames, 0xff, n * sizeof(*r->frames));
	json_array_foreach(points, i, v)
	{
		int code = read_point(r, v, err);
		if (!code && r->p->over_limit)
			code = fz_profile_check(r->p, err);
		if (code)
			return code;
	}
	return 0;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_jsonread_load(in, &r.root, err);

	if (code)
		return code;
	int64_t version = fz_jsonread_int(json_object_get(r.root, "dhatFileVersion"), 0);
	if (version != VERSION)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: DHAT file version %lld; only version %d is supported: record "
			       "with Valgrind 3.17 or newer",
			       r.name, (long long)version, VERSION);
	p->samples.ordered = p->samples.timed = false;
	r.table = json_object_get(r.root, "ftbl");
	r.thread = fz_profile_thread(
		p, &(struct fz_thread){
			   .pid = (uint64_t)FZ_MAX(
				   fz_jsonread_int(json_object_get(r.root, "pid"), 0), 0) });
	fz_profile_set_fact(p, "command", fz_jsonread_kstr(r.root, "cmd"));
	read_metrics(&r);
	return read_points(&r, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	return fz_jsonread_has_key(head, n, 1, "dhatFileVersion") ? 95 : 0;
}

const struct fz_format fz_format_dhat = {
	.name = "dhat",
	.title = "DHAT, Valgrind's and Rust's",
	.suffixes = ".dhat .json",
	.notes = "lifetimes, maxima of single stacks and accesses by offset are dropped",
	.sniff = sniff,
	.read = read,
};
