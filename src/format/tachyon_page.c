/* SPDX-License-Identifier: MIT */
/* Reads the flame graph page of CPython's sampling profiler (--flamegraph), also a differential one
 * (--diff-flamegraph), whose current side it is.
 *
 *   const EMBEDDED_DATA = {value: 1998, self: 0, filename: 0, funcname: 1, lineno: 201,
 *      thread_values: {"11325": [1998, 0]}, children: [...], strings: [...],
 *      stats: {sample_interval_usec: 1000, mode: 0, duration_sec: 2.0, ...}};
 *
 * Names are indices of strings; counts are samples, of each thread [with callees, own]. The root is
 * a function only if all stacks begin with it. A page lacks nodes with less than a thousandth of
 * all samples; their samples become the marker [not in the page] below their callers.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"
#include "tachyon.h"

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	json_t *root;
	const json_t *strings;
	int64_t interval_ns;
	uint32_t pruned; /* frame */
};

static void release(struct reader *r)
{
	fz_jsonread_release(&r->root);
}

static struct fz_str string_at(const struct reader *r, const json_t *node, const char *key)
{
	int64_t i = fz_jsonread_int(json_object_get(node, key), -1);

	return i < 0 ? FZ_STR("") : fz_jsonread_str(json_array_get(r->strings, (size_t)i));
}

static uint32_t frame_of(const struct reader *r, const json_t *node)
{
	struct fz_import_frame f = {
		.name = string_at(r, node, "funcname"),
		.file = string_at(r, node, "filename"),
		.line = fz_import_line(fz_jsonread_int(json_object_get(node, "lineno"), 0)),
		.kind = FZ_KIND_PYTHON,
	};

	if (fz_str_eq(f.file, FZ_STR(TACHYON_SPECIAL)))
		f.kind = fz_import_special(f.name);
	return fz_import_frame(r->p, &f);
}

/* Samples of a thread, or of all of them (NULL), in a node. */
struct counts {
	int64_t total, own;
};

static struct counts counts_of(const json_t *node, const char *thread)
{
	const json_t *values = json_object_get(json_object_get(node, "thread_values"), thread);

	return (struct counts){ FZ_MAX(fz_jsonread_int(json_array_get(values, 0), 0), 0),
				FZ_MAX(fz_jsonread_int(json_array_get(values, 1), 0), 0) };
}

static void add_samples(const struct reader *r, uint32_t thread, uint32_t stack, int64_t n)
{
	bool on_cpu = r->p->recording.mode == FZ_MODE_CPU;
	struct fz_sample s = { .thread = thread,
			       .stack = stack,
			       .status = on_cpu ? FZ_STATUS_ON_CPU : FZ_STATUS_UNKNOWN,
			       .count = (uint32_t)FZ_MIN(n, (int64_t)UINT32_MAX) };
	int64_t weight = fz_import_scaled_int(s.count, (double)FZ_MAX(r->interval_ns, 1));

	if (n > 0)
		fz_profile_add_sample(r->p, &s, &weight);
}

static void add_thread(const struct reader *r, const json_t *node, uint32_t stack,
		       const char *thread)
{
	struct fz_thread t = { 0 };
	struct counts here = counts_of(node, thread);
	int64_t pruned = here.total - here.own;
	const json_t *child;
	size_t i;

	fz_parse_u64(fz_str_of(thread), INT64_MAX, &t.tid);
	json_array_foreach(json_object_get(node, "children"), i, child) pruned -=
		FZ_MIN(pruned, counts_of(child, thread).total);
	uint32_t id = fz_profile_thread(r->p, &t);
	if (stack != FZ_NONE)
		add_samples(r, id, stack, here.own);
	add_samples(r, id, fz_profile_stack(r->p, stack, r->pruned), pruned);
}

/* jansson limits the depth. */
static int read_node(const struct reader *r, const json_t *node, uint32_t stack,
		     struct fz_error *err)
{
	const char *thread;
	const json_t *child;
	json_t *values;
	size_t i;
	int code = r->p->over_limit ? fz_profile_check(r->p, err) : 0;

	if (json_object_get(node, "funcname"))
		stack = fz_profile_stack(r->p, stack, frame_of(r, node));
	json_object_foreach(json_object_get(node, "thread_values"), thread, values)
		add_thread(r, node, stack, thread);
	json_array_foreach(json_object_get(node, "children"), i, child) code =
		code ? code : read_node(r, child, stack, err);
	return code;
}

static void describe(struct reader *r)
{
	struct fz_recording *to = &r->p->recording;
	const json_t *stats = json_object_get(r->root, "stats");
	int64_t mode = fz_jsonread_int(json_object_get(stats, "mode"), -1) + FZ_MODE_WALL;
	double us = fz_jsonread_number(json_object_get(stats, "sample_interval_usec"), 0);
	double seconds = fz_jsonread_number(json_object_get(stats, "duration_sec"), 0);

	if (mode >= FZ_MODE_WALL && mode <= FZ_MODE_EXCEPTION)
		to->mode = (enum fz_mode)mode;
	to->interval_ns = r->interval_ns = us >= 1 && us <= 1e9 ? fz_import_scaled(us, 1e3) : 0;
	to->duration_ns = seconds > 0 ? fz_import_scaled(seconds, 1e9) : 0;
	if (r->interval_ns)
		fz_profile_add_metric(r->p, tachyon_metric(to->mode), FZ_STR("ns"), r->interval_ns,
				      true);
	else
		fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, true);
	r->p->samples.ordered = r->p->samples.timed = false;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_jsonread_load_after(in, "const EMBEDDED_DATA = ", &r.root, err);

	if (code)
		return code;
	r.strings = json_object_get(r.root, "strings");
	describe(&r);
	r.pruned =
		fz_import_frame(p, &(struct fz_import_frame){ .name = FZ_STR("[not in the page]"),
							      .kind = FZ_KIND_MARKER });
	code = read_node(&r, r.root, FZ_NONE, err);
	if (!code && !p->samples.n)
		return fz_fail(err, FZ_EINPUT, "%s: its flame graph is empty", r.name);
	fz_profile_add_run(p, &(struct fz_run){ 0, p->recording.duration_ns });
	return code;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char *const titles[] = {
		"<title>Tachyon Profiler - Flamegraph Report<",
		"<title>Tachyon Profiler - Differential Flamegraph Report<",
	};

	(void)name;
	for (size_t i = 0; i < FZ_ARRAY_LEN(titles); i++)
		if (memmem(head, n, titles[i], strlen(titles[i])))
			return 95;
	return 0;
}

const struct fz_format fz_format_tachyon_page = {
	.name = "tachyon-page",
	.title = "flame graph page of CPython's sampling profiler",
	.suffixes = ".html",
	.notes = "functions with less than 0.1 % are not in it; the order of samples, opcodes and "
		 "the baseline are dropped",
	.sniff = sniff,
	.read = read,
};
