/* SPDX-License-Identifier: MIT */
/* Reads traces of PyTorch's profiler (Kineto): costs of operators and modules on the GPU.
 *
 *   {schemaVersion, traceEvents: [{ph: "X", cat, name, pid, tid, ts, dur, args}, ...]}
 *
 *   cat                     meaning
 *   python_function         a frame of Python, or a module: "nn.Module: Linear_0"
 *   cpu_op                  an operator: "aten::mm"
 *   user_annotation         a part named by the program; "ProfilerStep#7" is a step
 *   cuda_runtime etc.       a call that may launch work, with a `correlation`
 *   kernel, gpu_memcpy ...  the work, with the same `correlation`, on a stream of a GPU
 *
 * Calls of a thread nest by their times. Work of a GPU belongs below the operator that launched it:
 *
 *   thread   |-- nn.Module: Linear_0 -----------|
 *              |-- aten::mm ----------------|
 *                  |cudaLaunchKernel| -- correlation 9 --.
 *   stream                                  |-- gemm --|<'     Linear_0;aten::mm;gemm
 *
 * Steps are runs. Work belongs to the step that launched it; events outside of steps are omitted. A
 * file with at most one step is a single run.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"
#include "timeline.h"

#include <math.h>

enum { STEPS_MAX = UINT16_MAX };

enum { METRIC_WALL, METRIC_GPU, METRICS };

enum role { ROLE_NONE, ROLE_CALL, ROLE_LAUNCH, ROLE_WORK };

struct call {
	double at, length; /* ns since reader.epoch */
	uint32_t thread, frame, order;
};

/* Work of a GPU. */
struct work {
	double at, length;
	uint32_t thread, frame;
	uint64_t correlation, external; /* 0: unknown */
};

struct step {
	double at, end;
};

/* Place of a call, known once the events of its thread are processed. */
struct made {
	double at;
	uint32_t thread, above, stack; /* above: without the call itself */
};

struct reader {
	struct fz_jsonread_stream in;
	struct fz_profile *p;
	struct call *calls;
	uint32_t call_count, call_cap;
	struct work *works;
	uint32_t work_count, work_cap;
	struct step *steps;
	uint32_t step_count, step_cap;
	struct fz_map launch_of;   /* correlation -> order of the call */
	struct fz_map operator_of; /* external id -> order of the call */
	struct made *made;         /* by order */
	int64_t epoch;             /* us of the file's first event; subtracted to keep precision */
	bool begun;                /* epoch is known */
	double zero;               /* the earliest start, relative to epoch */
};

/* ---- events ---- */

/* Role of a category, recognised by its end, because it may start with a vendor's name. Older
 * versions use other names. */
static enum role role_of(struct fz_str cat)
{
	static const struct {
		const char *end;
		enum role role;
	} roles[] = {
		{ "cpu_op", ROLE_CALL },     { "python_function", ROLE_CALL },
		{ "_runtime", ROLE_LAUNCH }, { "_driver", ROLE_LAUNCH },
		{ "kernel", ROLE_WORK },     { "gpu_memcpy", ROLE_WORK },
		{ "gpu_memset", ROLE_WORK }, { "Operator", ROLE_CALL },
		{ "Runtime", ROLE_LAUNCH },  { "Kernel", ROLE_WORK },
		{ "Memcpy", ROLE_WORK },     { "Memset", ROLE_WORK },
	};

	if (fz_str_eq(cat, FZ_STR("user_annotation")))
		return ROLE_CALL;
	for (size_t i = 0; i < FZ_ARRAY_LEN(roles); i++)
		if (fz_str_ends(cat, roles[i].end))
			return roles[i].role;
	return ROLE_NONE;
}

/* "torch/nn/modules/module.py(1501): _call_impl" */
static void name_python(struct fz_str text, struct fz_import_frame *f)
{
	const char *colon = memmem(text.p, text.n, "): ", 3);
	const char *open = colon ? memrchr(text.p, '(', (size_t)(colon - text.p)) : NULL;
	uint64_t line;

	f->kind = FZ_KIND_PYTHON;
	if (!open || open == text.p ||
	    !fz_parse_u64((struct fz_str){ open + 1, (size_t)(colon - open - 1) }, INT32_MAX,
			  &line))
		return;
	f->file = (struct fz_str){ text.p, (size_t)(open - text.p) };
	f->first_line = (int32_t)line;
	f->name = (struct fz_str){ colon + 3, text.n - (size_t)(colon + 3 - text.p) };
}

static uint32_t frame_of(struct reader *r, const json_t *event, struct fz_str cat)
{
	struct fz_import_frame f = { .name = fz_jsonread_kstr(event, "name"),
				     .kind = FZ_KIND_NATIVE };

	if (fz_str_eq(cat, FZ_STR("python_function")))
		name_python(f.name, &f);
	else if (fz_str_eq(cat, FZ_STR("user_annotation")))
		f.kind = FZ_KIND_MARKER;
	return fz_import_frame(r->p, &f);
}

static uint32_t thread_of(struct reader *r, const json_t *event)
{
	return fz_profile_thread(
		r->p, &(struct fz_thread){
			      .pid = (uint64_t)fz_jsonread_int(json_object_get(event, "pid"), 0),
			      .tid = (uint64_t)fz_jsonread_int(json_object_get(event, "tid"), 0) });
}

static uint64_t id_of(const json_t *args, const char *key)
{
	return (uint64_t)FZ_MAX(fz_jsonread_int(json_object_get(args, key), 0), 0);
}

static uint64_t external_of(const json_t *args)
{
	uint64_t id = id_of(args, "External id");

	return id ? id : id_of(args, "external id");
}

static void add_call(struct reader *r, const json_t *event, const struct call *times,
		     enum role role)
{
	const json_t *args = json_object_get(event, "args");
	uint64_t id = role == ROLE_LAUNCH ? id_of(args, "correlation") : external_of(args);
	struct call c = *times;

	c.thread = thread_of(r, event);
	c.frame = frame_of(r, event, fz_jsonread_kstr(event, "cat"));
	c.order = r->call_count;
	if (id)
		fz_map_put(role == ROLE_LAUNCH ? &r->launch_of : &r->operator_of, id, c.order);
	fz_profile_push(r->p, r->calls, r->call_count, r->call_cap, c);
}

static void add_work(struct reader *r, const json_t *event, const struct call *times)
{
	const json_t *args = json_object_get(event, "args");

	fz_profile_push(r->p, r->works, r->work_count, r->work_cap,
			(struct work){
				.at = times->at,
				.length = times->length,
				.thread = thread_of(r, event),
				.frame = frame_of(r, event, fz_jsonread_kstr(event, "cat")),
				.correlation = id_of(args, "correlation"),
				.external = external_of(args),
			});
}

static void add_step(struct reader *r, const struct call *times)
{
	fz_profile_push(r->p, r->steps, r->step_count, r->step_cap,
			(struct step){ times->at, times->at + times->length });
}

static void read_thread_name(struct reader *r, const json_t *event)
{
	struct fz_str value = fz_jsonread_kstr(json_object_get(event, "args"), "name");
	struct fz_thread t = { .name = fz_profile_string(r->p, fz_str_trimmed(value)) };

	if (!fz_str_eq(fz_jsonread_kstr(event, "name"), FZ_STR("thread_name")) ||
	    !json_is_integer(json_object_get(event, "tid")))
		return;
	t.pid = (uint64_t)fz_jsonread_int(json_object_get(event, "pid"), 0);
	t.tid = (uint64_t)fz_jsonread_int(json_object_get(event, "tid"), 0);
	fz_profile_thread(r->p, &t);
}

/* Reads the times of an event; false if invalid. */
static bool read_times(struct reader *r, const json_t *event, struct call *ret)
{
	double at = fz_jsonread_number(json_object_get(event, "ts"), NAN);
	double length = fz_jsonread_number(json_object_get(event, "dur"), NAN);

	if (!isfinite(at) || !isfinite(length) || length < 0)
		return false;
	if (!r->begun)
		r->epoch = fabs(at) < 9e18 ? (int64_t)at : 0;
	r->begun = true;
	at = fz_jsonread_since(&r->in, event, "ts", r->epoch) * 1e3;
	*ret = (struct call){ .at = round(at), .length = round(at + length * 1e3) - round(at) };
	return true;
}

static void read_whole(struct reader *r, const json_t *event)
{
	struct fz_str cat = fz_jsonread_kstr(event, "cat");
	enum role role = role_of(cat);
	struct call times;

	if (role == ROLE_NONE || !read_times(r, event, &times))
		return;
	if (role == ROLE_WORK)
		add_work(r, event, &times);
	else if (fz_str_eq(cat, FZ_STR("user_annotation")) &&
		 fz_str_starts(fz_jsonread_kstr(event, "name"), "ProfilerStep#"))
		add_step(r, &times);
	else
		add_call(r, event, &times, role);
}

static bool read_event(void *arg, const json_t *event)
{
	struct reader *r = arg;
	struct fz_str phase = fz_jsonread_kstr(event, "ph");

	if (fz_str_eq(phase, FZ_STR("M")))
		read_thread_name(r, event);
	else if (fz_str_eq(phase, FZ_STR("X")))
		read_whole(r, event);
	return !r->p->over_limit;
}

/* ---- stacks ---- */

/* Orders by time; of calls with the same start the longest is outermost. */
static int by_time(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread) ?: FZ_CMP(a->at, b->at) ?:
	       FZ_CMP(b->length, a->length) ?: FZ_CMP(a->order, b->order);
}

/* Opens a call, which cannot outlast its caller. */
static bool open_on(struct reader *r, struct fz_track *track, const struct call *c)
{
	uint32_t above = track->depth ? track->open[track->depth - 1] : FZ_NONE;
	double ends = c->at + c->length;

	if (track->depth)
		ends = FZ_MIN(ends, track->ends[track->depth - 1]);
	if (!fz_track_open(track, r->p, c->frame, ends))
		return false;
	r->made[c->order] = (struct made){ c->at, c->thread, above, track->open[track->depth - 1] };
	return true;
}

static int play(struct reader *r, struct fz_spans *spans, struct fz_error *err)
{
	qsort(r->calls, r->call_count, sizeof(*r->calls), by_time);
	for (uint32_t i = 0; i < r->call_count && !r->p->over_limit;) {
		fz_auto(fz_track_release) struct fz_track track = { .thread = r->calls[i].thread };
		for (; i < r->call_count && r->calls[i].thread == track.thread; i++) {
			fz_track_advance(&track, r->calls[i].at, spans);
			if (!open_on(r, &track, &r->calls[i]))
				return fz_fail(err, FZ_ELIMIT, "%s: its stacks are too deep",
					       fz_input_name(r->in.in));
		}
		fz_track_advance(&track, INFINITY, spans);
	}
	return r->p->over_limit ? fz_profile_check(r->p, err) : 0;
}

/* ---- steps ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct step *a = pa, *b = pb;

	return FZ_CMP(a->at, b->at);
}

/* Sorts steps and removes overlaps: processes of one file have the same steps at slightly different
 * times. */
static void order_steps(struct reader *r)
{
	uint32_t n = 0;

	if (r->step_count)
		qsort(r->steps, r->step_count, sizeof(*r->steps), by_start);
	for (uint32_t i = 0; i < r->step_count; i++) {
		struct step s = r->steps[i];
		if (n && s.at < r->steps[n - 1].end) {
			double middle = (s.at + s.end) / 2;
			if (middle < r->steps[n - 1].end)
				continue;
			s.at = r->steps[n - 1].end;
		}
		if (s.end > s.at)
			r->steps[n++] = s;
	}
	r->step_count = n;
}

/* The first step that ends after a time; step_count: none. */
static uint32_t step_after(const struct reader *r, double at)
{
	uint32_t low = 0, high = r->step_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (r->steps[middle].end > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void add_runs(struct reader *r)
{
	struct fz_recording *recording = &r->p->recording;

	order_steps(r);
	/* A single run from the first event on. */
	if (r->step_count < 2 || r->step_count > STEPS_MAX) {
		r->step_count = 0;
		fz_profile_push(r->p, r->steps, r->step_count, r->step_cap,
				(struct step){ -INFINITY, INFINITY });
		fz_profile_add_run(r->p, &(struct fz_run){ 0 });
		return;
	}
	for (uint32_t i = 0; i < r->step_count; i++) {
		int64_t ns = fz_import_scaled(r->steps[i].end - r->steps[i].at, 1);
		fz_profile_add_run(r->p, &(struct fz_run){ .duration_ns = ns });
		recording->duration_ns += FZ_MIN(ns, INT64_MAX - recording->duration_ns);
	}
	recording->complete = true;
}

/* ---- samples ---- */

struct row {
	uint32_t step, thread, stack;
	double at;
	int metric;
};

static double start_of(const struct reader *r, uint32_t step)
{
	return isfinite(r->steps[step].at) ? r->steps[step].at : r->zero;
}

static void add_row(struct reader *r, const struct row *row, int64_t weight)
{
	struct fz_sample s = { .run = (uint16_t)row->step,
			       .thread = row->thread,
			       .stack = row->stack,
			       .time = fz_import_scaled(row->at - start_of(r, row->step), 1),
			       .status = FZ_STATUS_UNKNOWN };
	int64_t weights[METRICS] = { [METRIC_WALL] = 0 };

	weights[row->metric] = weight;
	fz_profile_add_sample(r->p, &s, weights);
}

/* Adds the part of a span within a step. */
static void add_part(struct reader *r, const struct fz_span *span, uint32_t step)
{
	double end = FZ_MIN(span->start + span->length, r->steps[step].end);
	double zero = start_of(r, step);
	struct row row = { .step = step,
			   .thread = span->thread,
			   .stack = span->stack,
			   .at = FZ_MAX(span->start, r->steps[step].at),
			   .metric = METRIC_WALL };

	/* Rounds ends instead of lengths, so that rounding errors do not accumulate. */
	add_row(r, &row, fz_import_scaled(end - zero, 1) - fz_import_scaled(row.at - zero, 1));
}

static void add_spans(struct reader *r, const struct fz_spans *spans)
{
	for (size_t i = 0; i < spans->n; i++) {
		const struct fz_span *span = &spans->list[i];
		double end = span->start + span->length;
		for (uint32_t k = step_after(r, span->start);
		     k < r->step_count && r->steps[k].at < end && !r->p->over_limit; k++)
			add_part(r, span, k);
	}
}

/* Finds where work was launched: by the runtime's call, else by its operator, else just its
 * stream. */
static struct made launch_of(const struct reader *r, const struct work *w)
{
	uint32_t call = w->correlation ? fz_map_get(&r->launch_of, w->correlation) : FZ_NONE;
	struct made made = { w->at, w->thread, FZ_NONE, FZ_NONE };

	if (call != FZ_NONE) {
		made = r->made[call];
		made.stack = made.above;
	} else if (w->external && w->external != w->correlation) {
		call = fz_map_get(&r->operator_of, w->external);
		if (call != FZ_NONE)
			made = r->made[call];
	}
	return made;
}

static void add_works(struct reader *r)
{
	for (uint32_t i = 0; i < r->work_count && !r->p->over_limit; i++) {
		const struct work *w = &r->works[i];
		struct made made = launch_of(r, w);
		struct row row = { .step = step_after(r, made.at),
				   .thread = made.thread,
				   .at = w->at,
				   .metric = METRIC_GPU };
		if (row.step == r->step_count || r->steps[row.step].at > made.at)
			continue;
		row.stack = fz_profile_stack(r->p, made.stack, w->frame);
		add_row(r, &row, fz_import_scaled(w->length, 1));
	}
}

/* ---- the file ---- */

static void find_zero(struct reader *r)
{
	r->zero = INFINITY;
	for (uint32_t i = 0; i < r->call_count; i++)
		r->zero = FZ_MIN(r->zero, r->calls[i].at);
	for (uint32_t i = 0; i < r->work_count; i++)
		r->zero = FZ_MIN(r->zero, r->works[i].at);
}

static bool make_table(struct reader *r)
{
	size_t n = (size_t)r->call_count + 1;

	if (fz_profile_takes(r->p, n * sizeof(*r->made)))
		r->made = fz_calloc(n, sizeof(*r->made));
	return r->made;
}

static void release(struct reader *r)
{
	fz_jsonread_stream_release(&r->in);
	free(r->calls);
	free(r->works);
	free(r->steps);
	free(r->made);
	fz_map_release(&r->launch_of);
	fz_map_release(&r->operator_of);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = { .in = in, .err = err }, .p = p };
	fz_auto(fz_spans_release) struct fz_spans spans = { 0 };

	fz_jsonread_each(&r.in, "traceEvents", read_event, &r);
	if (r.in.code)
		return r.in.code;
	if (p->over_limit || !make_table(&r))
		return fz_profile_check(p, err);
	if (!r.call_count && !r.work_count)
		return fz_fail(err, FZ_EINPUT, "%s: a PyTorch trace without operators and kernels",
			       fz_input_name(in));
	if (r.in.cut)
		fz_import_note_cut(p);
	int code = play(&r, &spans, err);
	if (code)
		return code;
	find_zero(&r);
	add_runs(&r);
	p->samples.ordered = false;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, FZ_STR("gpu"), FZ_STR("ns"), 0, true);
	p->default_metric = r.work_count ? METRIC_GPU : METRIC_WALL;
	add_spans(&r, &spans);
	add_works(&r);
	return 0;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	bool torch =
		memmem(head, n, "\"cpu_op\"", 8) || memmem(head, n, "\"python_function\"", 17) ||
		memmem(head, n, "\"External id\"", 13) || memmem(head, n, "\"external id\"", 13) ||
		fz_jsonread_has_key(head, n, 1, "deviceProperties");

	(void)name;
	return torch && (fz_jsonread_has_key(head, n, 1, "traceEvents") ||
			 fz_jsonread_has_key(head, n, 1, "schemaVersion"))
		       ? 95
		       : 0;
}

const struct fz_format fz_format_kineto = {
	.name = "kineto",
	.title = "PyTorch profiler trace (Kineto)",
	.suffixes = ".pt.trace.json .json",
	.notes = "steps are runs; ranges and waits on the GPU, flows and arguments are dropped",
	.sniff = sniff,
	.read = read,
};
