/* SPDX-License-Identifier: MIT */
/* Reads profiles of the Firefox Profiler: as recorded by Firefox ("gecko"), and as written by its
 * web page, samply, CPython and others ("processed").
 *
 *   samples -> stackTable {prefix, frame} -> frameTable {func or location} -> funcTable -> strings
 *
 * Processed tables are columns, {stack: [..], time: [..]}; gecko's are rows with a schema, {schema:
 * {stack: 0, time: 1}, data: [[..], ..]}; cell() hides which. Over the years tables moved from the
 * threads to "shared", file names to "sources", and parents from "prefix" to "prefixOffset"; all
 * places are supported.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"

enum { NESTED_MAX = 8 };

enum metric { METRIC_WALL, METRIC_SAMPLES, METRIC_CPU, METRIC_BYTES, METRICS };

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	json_t *root;
	double interval_ms, cpu_scale;
	uint32_t index_of[METRICS]; /* in the profile; FZ_NONE if absent */
	uint64_t thread_number;
	/* of the current thread */
	const json_t *thread, *shared, *stacks, *frames, *functions, *resources, *strings;
	uint32_t *stack_of; /* row of the stack table -> stack */
	uint32_t *frame_of; /* row of the frame table -> frame; FZ_NONE: not created yet */
	size_t stack_count, frame_count;
};

/* ---- tables ---- */

static const json_t *cell(const json_t *table, size_t row, const char *column)
{
	const json_t *data = json_object_get(table, "data");

	if (!data)
		return json_array_get(json_object_get(table, column), row);
	const json_t *at = json_object_get(json_object_get(table, "schema"), column);
	return json_is_integer(at) && json_integer_value(at) >= 0
		       ? json_array_get(json_array_get(data, row), (size_t)json_integer_value(at))
		       : NULL;
}

static size_t row_count(const json_t *table, const char *column)
{
	const json_t *data = json_object_get(table, "data");

	return json_array_size(data ? data : json_object_get(table, column));
}

/* Reads a row number in another table; false if invalid. */
static bool cell_row(const json_t *table, size_t row, const char *column, size_t rows, size_t *ret)
{
	const json_t *v = cell(table, row, column);

	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) >= rows)
		return false;
	*ret = (size_t)json_integer_value(v);
	return true;
}

static struct fz_str cell_string(const struct reader *r, const json_t *table, size_t row,
				 const char *column)
{
	size_t at;

	if (!cell_row(table, row, column, json_array_size(r->strings), &at))
		return FZ_STR("");
	return fz_jsonread_str(json_array_get(r->strings, at));
}

/* Finds a table of the thread, or the shared one. */
static const json_t *find_table(const struct reader *r, const char *name)
{
	const json_t *v = json_object_get(r->thread, name);

	return v ? v : json_object_get(r->shared, name);
}

/* ---- frames ---- */

static struct fz_str function_file(const struct reader *r, size_t function)
{
	const json_t *sources = json_object_get(r->shared, "sources");
	size_t source;

	if (cell_row(r->functions, function, "source", row_count(sources, "filename"), &source))
		return cell_string(r, sources, source, "filename");
	return cell_string(r, r->functions, function, "fileName");
}

/* The library of a function without a file. Names of resources are those of libraries for native
 * code, of hosts for scripts. */
static struct fz_str function_module(const struct reader *r, size_t function)
{
	size_t resource;
	const json_t *js = cell(r->functions, function, "isJS");

	if (json_is_true(js) || !cell_row(r->functions, function, "resource",
					  row_count(r->resources, "name"), &resource))
		return FZ_STR("");
	return cell_string(r, r->resources, resource, "name");
}

static uint32_t processed_frame(struct reader *r, size_t row, size_t function)
{
	struct fz_import_frame f = {
		.name = cell_string(r, r->functions, function, "name"),
		.file = function_file(r, function),
		.first_line = fz_import_line(
			fz_jsonread_int(cell(r->functions, function, "lineNumber"), 0)),
		.line = fz_import_line(fz_jsonread_int(cell(r->frames, row, "line"), 0)),
		.column = fz_import_line(fz_jsonread_int(cell(r->frames, row, "column"), 0)),
	};

	if (!f.file.n)
		f.module = function_module(r, function);
	f.kind = fz_import_kind(f.file, f.module, f.module.n ? FZ_KIND_NATIVE : FZ_KIND_UNKNOWN);
	return fz_import_frame(r->p, &f);
}

static uint32_t gecko_frame(struct reader *r, size_t row)
{
	struct fz_import_frame f = { .kind = FZ_KIND_UNKNOWN };

	fz_import_location(cell_string(r, r->frames, row, "location"), &f);
	f.line = fz_import_line(fz_jsonread_int(cell(r->frames, row, "line"), 0));
	f.kind = fz_import_kind(f.file, f.module, f.module.n ? FZ_KIND_NATIVE : FZ_KIND_UNKNOWN);
	return fz_import_frame(r->p, &f);
}

static uint32_t frame_at(struct reader *r, size_t row)
{
	size_t function;

	if (r->frame_of[row] == FZ_NONE)
		r->frame_of[row] =
			cell_row(r->frames, row, "func", row_count(r->functions, "name"), &function)
				? processed_frame(r, row, function)
				: gecko_frame(r, row);
	return r->frame_of[row];
}

/* ---- stacks ---- */

static bool parent_of(const struct reader *r, size_t row, size_t *ret)
{
	size_t offset;

	if (cell_row(r->stacks, row, "prefixOffset", row + 1, &offset)) {
		*ret = row - offset;
		return offset > 0;
	}
	/* Must be an earlier row, so that there are no cycles. */
	return cell_row(r->stacks, row, "prefix", row, ret);
}

static void make_stacks(struct reader *r)
{
	for (size_t row = 0; row < r->stack_count; row++) {
		uint32_t above = FZ_NONE;
		size_t parent, frame;
		if (parent_of(r, row, &parent))
			above = r->stack_of[parent];
		r->stack_of[row] = above;
		if (!cell_row(r->stacks, row, "frame", r->frame_count, &frame))
			continue;
		uint32_t made = frame_at(r, frame);
		const struct fz_function *f = &r->p->functions[r->p->frames[made].function];
		bool root = above == FZ_NONE &&
			    fz_str_eq(fz_profile_text(r->p, f->name), FZ_STR("(root)"));
		if (!root)
			r->stack_of[row] = fz_profile_stack(r->p, above, made);
	}
}

/* ---- threads ---- */

/* Reads a number, or a text that starts with one: "1234", "1234.2". */
static uint64_t read_id(const json_t *v)
{
	struct fz_str s = fz_jsonread_str(v);
	uint64_t id = 0;
	size_t n = 0;

	if (json_is_integer(v))
		return (uint64_t)FZ_MAX(json_integer_value(v), 0);
	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	fz_parse_u64((struct fz_str){ s.p, n }, INT64_MAX, &id);
	return id;
}

static uint32_t thread_of(struct reader *r)
{
	struct fz_str name = fz_jsonread_kstr(r->thread, "name");
	struct fz_thread t = {
		.pid = read_id(json_object_get(r->thread, "pid")),
		.tid = read_id(json_object_get(r->thread, "tid")),
		.name = fz_profile_string(r->p, name),
		.is_main = json_is_true(json_object_get(r->thread, "isMainThread")) ||
			   fz_str_eq(name, FZ_STR("GeckoMain")),
	};

	r->thread_number++;
	if (!t.tid)
		t.tid = r->thread_number;
	return fz_profile_thread(r->p, &t);
}

static void set(const struct reader *r, int64_t *weights, enum metric m, int64_t value)
{
	if (r->index_of[m] != FZ_NONE)
		weights[r->index_of[m]] = value;
}

static void add_sample(struct reader *r, const json_t *samples, size_t row, struct fz_sample *s)
{
	struct fz_str type = fz_jsonread_kstr(samples, "weightType");
	double weight = fz_jsonread_number(cell(samples, row, "weight"), 1);
	double cpu = fz_jsonread_number(cell(samples, row, "threadCPUDelta"), 0);
	int64_t weights[METRICS] = { 0 };
	size_t stack;

	s->stack = FZ_NONE;
	if (cell_row(samples, row, "stack", r->stack_count, &stack))
		s->stack = r->stack_of[stack];
	set(r, weights, METRIC_CPU, fz_import_scaled(cpu, r->cpu_scale));
	if (fz_str_eq(type, FZ_STR("bytes"))) {
		set(r, weights, METRIC_BYTES, fz_import_scaled(weight, 1));
	} else if (fz_str_eq(type, FZ_STR("tracing-ms"))) {
		set(r, weights, METRIC_WALL, fz_import_scaled(weight, 1e6));
	} else {
		set(r, weights, METRIC_SAMPLES, fz_import_scaled(weight, 1));
		set(r, weights, METRIC_WALL, fz_import_scaled(weight * r->interval_ms, 1e6));
		if (weight > 1 && weight < UINT32_MAX)
			s->count = (uint32_t)weight;
	}
	fz_profile_add_sample(r->p, s, weights);
}

static void read_samples(struct reader *r)
{
	const json_t *samples = json_object_get(r->thread, "samples");
	struct fz_sample s = { .thread = thread_of(r), .status = FZ_STATUS_UNKNOWN };
	size_t n = row_count(samples, "stack");
	double now = 0;

	for (size_t row = 0; row < n && !r->p->over_limit; row++) {
		now += fz_jsonread_number(cell(samples, row, "timeDeltas"), 0);
		now = fz_jsonread_number(cell(samples, row, "time"), now);
		s.time = fz_import_scaled(now, 1e6);
		s.count = 1;
		add_sample(r, samples, row, &s);
	}
}

static void read_thread(struct reader *r, const json_t *thread, const json_t *shared)
{
	r->thread = thread;
	r->shared = shared;
	r->stacks = find_table(r, "stackTable");
	r->frames = find_table(r, "frameTable");
	r->functions = find_table(r, "funcTable");
	r->resources = find_table(r, "resourceTable");
	r->strings = find_table(r, "stringArray");
	if (!json_is_array(r->strings))
		r->strings = find_table(r, "stringTable");
	r->stack_count = row_count(r->stacks, "frame");
	r->frame_count = FZ_MAX(row_count(r->frames, "func"), row_count(r->frames, "location"));
	r->stack_of = fz_reallocarray(r->stack_of, r->stack_count + 1, sizeof(*r->stack_of));
	r->frame_of = fz_reallocarray(r->frame_of, r->frame_count + 1, sizeof(*r->frame_of));
	memset(r->frame_of, 0xff, (r->frame_count + 1) * sizeof(*r->frame_of));
	make_stacks(r);
	read_samples(r);
}

/* ---- the whole ---- */

/* In the gecko format, a process is a whole profile inside its parent's. */
static void read_process(struct reader *r, const json_t *process, int depth)
{
	const json_t *shared = json_object_get(process, "shared");
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(process, "threads"), i, v) if (!r->p->over_limit)
		read_thread(r, v, shared);
	if (depth < NESTED_MAX)
		json_array_foreach(json_object_get(process, "processes"), i, v)
			read_process(r, v, depth + 1);
}

struct seen {
	bool bytes, others, cpu, any;
};

static void inspect_process(const json_t *process, struct seen *seen, int depth)
{
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(process, "threads"), i, v)
	{
		const json_t *samples = json_object_get(v, "samples");
		seen->any |= json_is_object(samples);
		bool bytes = fz_str_eq(fz_jsonread_kstr(samples, "weightType"), FZ_STR("bytes"));
		seen->bytes |= bytes;
		seen->others |= !bytes;
		seen->cpu |= json_object_get(samples, "threadCPUDelta") ||
			     json_object_get(json_object_get(samples, "schema"), "threadCPUDelta");
	}
	if (depth < NESTED_MAX)
		json_array_foreach(json_object_get(process, "processes"), i, v)
			inspect_process(v, seen, depth + 1);
}

static void add_metric(struct reader *r, enum metric m, bool wanted, const char *name,
		       const char *unit)
{
	r->index_of[m] = FZ_NONE;
	if (wanted)
		r->index_of[m] =
			fz_profile_add_metric(r->p, fz_str_of(name), fz_str_of(unit), 0, true);
}

static void add_metrics(struct reader *r, const struct seen *seen)
{
	const json_t *meta = json_object_get(r->root, "meta");
	struct fz_str cpu_unit =
		fz_jsonread_kstr(json_object_get(meta, "sampleUnits"), "threadCPUDelta");
	struct fz_import_metric cpu = fz_import_metric(FZ_STR("cpu"), cpu_unit);
	bool cpu_time = seen->cpu && fz_str_eq(cpu.unit, FZ_STR("ns"));

	r->interval_ms = fz_jsonread_number(json_object_get(meta, "interval"), 0);
	if (!(r->interval_ms > 0 && r->interval_ms < 1e9))
		r->interval_ms = 0;
	r->cpu_scale = cpu.scale;
	add_metric(r, METRIC_WALL, r->interval_ms > 0, "wall", "ns");
	add_metric(r, METRIC_SAMPLES, true, "samples", "count");
	add_metric(r, METRIC_CPU, cpu_time, "cpu", "ns");
	add_metric(r, METRIC_BYTES, seen->bytes, "bytes", "bytes");
	if (!seen->others)
		r->p->default_metric = r->index_of[METRIC_BYTES];
	r->p->recording.interval_ns = fz_import_scaled(r->interval_ms, 1e6);
	fz_profile_set_fact(r->p, "program", fz_jsonread_kstr(meta, "product"));
	if (json_object_get(meta, "startTime"))
		fz_profile_add_run(
			r->p,
			&(struct fz_run){
				.start_unix_ns = fz_import_scaled(
					fz_jsonread_number(json_object_get(meta, "startTime"), 0),
					1e6) });
}

/* Makes times relative to the first sample, and moves the start of the run there. In the file they
 * are relative to the start of the recording or of some process. */
static void move_times(struct fz_profile *p)
{
	int64_t first = INT64_MAX;

	for (size_t row = 0; row < p->samples.n; row++)
		first = FZ_MIN(first, p->samples.time[row]);
	for (size_t row = 0; row < p->samples.n; row++)
		p->samples.time[row] -= first;
	if (p->samples.n && p->run_count && p->runs[0].start_unix_ns &&
	    __builtin_add_overflow(p->runs[0].start_unix_ns, first, &p->runs[0].start_unix_ns))
		p->runs[0].start_unix_ns = 0;
}

static void release(struct reader *r)
{
	json_decref(r->root);
	free(r->stack_of);
	free(r->frame_of);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	struct seen seen = { 0 };
	int code = fz_jsonread_load(in, &r.root, err);

	if (code)
		return code;
	/* Firefox's developer tools wrap it in another object. */
	json_t *inner = json_object_get(r.root, "profile");
	if (json_is_object(inner) && !json_object_get(r.root, "threads")) {
		json_incref(inner);
		json_decref(r.root);
		r.root = inner;
	}
	inspect_process(r.root, &seen, 0);
	if (!seen.any)
		return fz_fail(err, FZ_EINPUT, "%s: no thread with samples", r.name);
	add_metrics(&r, &seen);
	read_process(&r, r.root, 0);
	move_times(p);
	return 0;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	for (unsigned depth = 1; depth <= 2; depth++) {
		bool meta = fz_jsonread_has_key(head, n, depth, "meta");
		if (meta &&
		    (fz_jsonread_has_key(head, n, depth + 1, "preprocessedProfileVersion") ||
		     fz_jsonread_has_key(head, n, depth + 1, "interval") ||
		     fz_jsonread_has_key(head, n, depth, "threads")))
			return 85;
	}
	/* From Firefox's developer tools: the profile comes last. */
	if (fz_jsonread_has_key(head, n, 1, "label") &&
	    fz_jsonread_has_key(head, n, 1, "duration") &&
	    fz_jsonread_has_key(head, n, 1, "markers"))
		return 40;
	return fz_jsonread_has_key(head, n, 1, "threads") &&
			       fz_jsonread_has_key(head, n, 3, "samples")
		       ? 50
		       : 0;
}

const struct fz_format fz_format_gecko = {
	.name = "gecko",
	.title = "Firefox Profiler (Firefox, samply, CPython's --gecko)",
	.suffixes = ".json",
	.notes = "read in all versions; markers and counters are dropped",
	.sniff = sniff,
	.read = read,
};
