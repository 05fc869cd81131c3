/* SPDX-License-Identifier: MIT */
/* Reads trace events (Chrome's about:tracing, Perfetto's old format, and many tracers).
 *
 *   [{ph: B or E or X, name, pid, tid, ts, dur}, ...]      or {traceEvents: [...], ...}
 *
 * Such files have up to three kinds of profiles, which are different views of the same time. The
 * first existing one is read:
 *
 *   CPU profiles of V8, whole ("CpuProfile") or in pieces ("Profile", "ProfileChunk")
 *   "samples" in addition to the events, with "stackFrames"
 *   calls: B opens, E closes, X is both
 *
 * Files are large, so events are read one by one and stored in short form: calls are sorted by time
 * at the end and replayed on a timeline for each thread.
 */
#include "cpuprofile.h"
#include "format.h"
#include "import.h"
#include "jsonread.h"
#include "timeline.h"

#include <math.h>
#include <stdio.h>

/* A call, a return, or both. */
struct call {
	double at,
		length; /* ns since reader.origin; length < 0: a return; INFINITY: open until one */
	uint32_t thread, frame, order;
	bool dropped;
};

/* An open call of a thread while reading, in the file's order. */
struct open {
	uint32_t call;  /* in reader.calls */
	uint32_t below; /* in reader.opens; FZ_NONE: the last */
};

/* A sampled profile while reading. */
struct sampled {
	uint32_t thread;
	double now;            /* of the last sample */
	bool placed;           /* `now` is on the clock of the events, not counted from 0 */
	double shift;          /* from the clock of endTime to that of `now`; NAN: unknown */
	struct fz_map node_of; /* id -> index in reader.nodes */
};

struct node {
	uint32_t above, stack, frame;
	bool idle;
};

/* Stack of a sample taken while V8 was idle. */
#define IDLE (FZ_NONE - 1)

struct moment {
	double at;
	uint32_t thread, stack, order;
};

struct reader {
	struct fz_jsonread_stream in;
	uint32_t without_length; /* calls with just a CPU time */
	struct fz_profile *p;
	const char *name; /* of the file */
	struct call *calls;
	uint32_t call_count, call_cap;
	int64_t origin; /* subtracted from times of calls to keep them exact */
	struct open *opens;
	uint32_t open_count, open_cap;
	struct fz_map top_of; /* thread -> index in opens + 1; 0: nothing */
	struct sampled *sampled;
	uint32_t sampled_count, sampled_cap;
	struct fz_map sampled_of; /* hash of (process, id) -> sampled */
	struct node *nodes;
	uint32_t node_count, node_cap;
	struct moment *moments;
	uint32_t moment_count, moment_cap;
	json_t *samples, *stack_frames; /* in addition to events */
};

static struct fz_str text_of(const json_t *v, char *room, size_t size)
{
	if (!json_is_integer(v))
		return fz_jsonread_str(v);
	int n = snprintf(room, size, "%lld", (long long)json_integer_value(v));
	return (struct fz_str){ room, (size_t)n };
}

/* A process or thread. Its id may be text, which is then the thread's name. */
static uint64_t id_of(const json_t *v, struct fz_str *name)
{
	struct fz_str text = fz_jsonread_str(v);
	double number = fz_jsonread_number(v, NAN);

	if (!text.n || isfinite(number))
		return (uint64_t)fz_jsonread_int(v, 0);
	*name = name->n ? *name : text;
	return fz_map_hash(text.p, text.n) >> 32;
}

static uint32_t thread_of(struct reader *r, const json_t *event, struct fz_str name)
{
	struct fz_str process = FZ_STR("");
	struct fz_thread t = {
		.pid = id_of(json_object_get(event, "pid"), &process),
		.tid = id_of(json_object_get(event, "tid"), &name),
		.name = fz_profile_string(r->p, name),
	};

	return fz_profile_thread(r->p, &t);
}

static double time_of(const json_t *event)
{
	return fz_jsonread_number(json_object_get(event, "ts"), NAN);
}

/* Microseconds since the file's first call. */
static double time_of_call(struct reader *r, const json_t *event)
{
	double at = time_of(event);

	if (!r->call_count && fabs(at) < 9e18)
		r->origin = (int64_t)at;
	return fz_jsonread_since(&r->in, event, "ts", r->origin);
}

/* ---- calls ---- */

/* The place is in the name, or in arguments, where py-spy writes it. */
static uint32_t frame_of(struct reader *r, const json_t *event)
{
	const json_t *args = json_object_get(event, "args");
	struct fz_import_frame f = { .kind = FZ_KIND_UNKNOWN };

	fz_import_location(fz_jsonread_kstr(event, "name"), &f);
	if (!f.file.n && !f.module.n) {
		f.file = fz_jsonread_kstr(args, "filename");
		int64_t line = fz_jsonread_int(json_object_get(args, "line"), 0);
		f.line = f.file.n && line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
	}
	f.kind = fz_import_kind(f.file, f.module, f.module.n ? FZ_KIND_NATIVE : FZ_KIND_UNKNOWN);
	return fz_import_frame(r->p, &f);
}

/* Adds a call with a length in microseconds. Its end is rounded, so that the next call may start
 * there.
 */
static uint32_t add_call(struct reader *r, const json_t *event, double length)
{
	double at = time_of_call(r, event) * 1e3;

	fz_profile_grow(r->p, r->calls, r->call_count, r->call_cap);
	r->calls[r->call_count] = (struct call){
		.at = round(at),
		.length = length < 0 ? length : round(at + length * 1e3) - round(at),
		.thread = thread_of(r, event, FZ_STR("")),
		.frame = length < 0 && !json_object_get(event, "name") ? FZ_NONE
								       : frame_of(r, event),
		.order = r->call_count,
	};
	return r->call_count++;
}

static void open_call(struct reader *r, const json_t *event)
{
	uint32_t call = add_call(r, event, INFINITY);
	uint32_t thread = r->calls[call].thread;
	uint32_t top = fz_map_get(&r->top_of, thread);

	fz_profile_grow(r->p, r->opens, r->open_count, r->open_cap);
	r->opens[r->open_count] = (struct open){ call, top == FZ_NONE || !top ? FZ_NONE : top - 1 };
	fz_map_put(&r->top_of, thread, ++r->open_count);
}

/* Closes a call. A call without duration is dropped, because it could be sorted after its own
 * return. */
static void close_call(struct reader *r, const json_t *event)
{
	uint32_t back = add_call(r, event, -1);
	uint32_t top = fz_map_get(&r->top_of, r->calls[back].thread);

	if (top == FZ_NONE || !top)
		return;
	const struct open *o = &r->opens[top - 1];
	if (r->calls[o->call].at == r->calls[back].at)
		r->calls[o->call].dropped = r->calls[back].dropped = true;
	fz_map_put(&r->top_of, r->calls[back].thread, o->below == FZ_NONE ? 0 : o->below + 1);
}

/* Adds a complete call; its CPU time is no substitute for its duration. */
static void add_whole(struct reader *r, const json_t *event)
{
	const json_t *duration = json_object_get(event, "dur");
	double length = fz_jsonread_number(duration, 0);

	if (length > 0 && isfinite(length))
		add_call(r, event, length);
	r->without_length += !duration && json_object_get(event, "tdur");
}

/* ---- CPU profiles ---- */

/* Starts a profile; if its start is 0, uses the time of the event. */
static void start_profile(struct sampled *s, const json_t *event, const json_t *start)
{
	double at = fz_jsonread_number(start, 0);

	s->now = at > 0 ? at : fz_jsonread_number(json_object_get(event, "ts"), 0);
	s->placed = s->now > 0;
	s->shift = NAN;
}

static uint32_t sampled_of(struct reader *r, const json_t *event)
{
	char room[32];
	struct fz_str id = text_of(json_object_get(event, "id"), room, sizeof(room));
	uint64_t pid = (uint64_t)fz_jsonread_int(json_object_get(event, "pid"), 0);
	uint32_t *slot = fz_map_slot(&r->sampled_of, fz_hash64(pid) ^ fz_map_hash(id.p, id.n));

	if (*slot == FZ_NONE) {
		*slot = r->sampled_count;
		fz_profile_push(r->p, r->sampled, r->sampled_count, r->sampled_cap,
				(struct sampled){
					.thread = thread_of(r, event, FZ_STR("")),
				});
		start_profile(&r->sampled[*slot], event, NULL);
	}
	return *slot;
}

static void add_node(struct reader *r, struct sampled *s, const json_t *v)
{
	uint32_t parent = fz_map_get(&s->node_of,
				     (uint64_t)fz_jsonread_int(json_object_get(v, "parent"), -1));
	struct node n = { .above = parent == FZ_NONE ? FZ_NONE : r->nodes[parent].stack };
	bool root;

	n.frame = fz_cpuprofile_frame(r->p, json_object_get(v, "callFrame"), 0, &root);
	n.stack = root ? n.above : fz_profile_stack(r->p, n.above, n.frame);
	n.idle = fz_cpuprofile_is_idle(json_object_get(v, "callFrame"));
	fz_map_put(&s->node_of, (uint64_t)fz_jsonread_int(json_object_get(v, "id"), -1),
		   r->node_count);
	fz_profile_push(r->p, r->nodes, r->node_count, r->node_cap, n);
}

/* Adds nodes that refer to their children instead of their parent, parents first. */
static void add_children(struct reader *r, struct sampled *s, const json_t *nodes)
{
	struct fz_map parent_of = { 0 };
	size_t i, k;
	json_t *v, *child;

	json_array_foreach(nodes, i, v) json_array_foreach(json_object_get(v, "children"), k, child)
		fz_map_put(&parent_of, (uint64_t)fz_jsonread_int(child, -1), (uint32_t)i);
	json_array_foreach(nodes, i, v)
	{
		uint64_t id = (uint64_t)fz_jsonread_int(json_object_get(v, "id"), -1);
		uint32_t parent = fz_map_get(&parent_of, id);
		if (parent != FZ_NONE && !json_object_get(v, "parent"))
			json_object_set_new(
				v, "parent",
				json_incref(json_object_get(json_array_get(nodes, parent), "id")));
		add_node(r, s, v);
	}
	fz_map_release(&parent_of);
}

/* The same stack with the line that its sample was on. */
static uint32_t on_line(struct reader *r, const struct node *n, int32_t line)
{
	struct fz_frame frame;

	if (n->idle)
		return IDLE;
	if (line <= 0 || n->stack == n->above)
		return n->stack;
	frame = r->p->frames[n->frame];
	frame.line = line;
	return fz_profile_stack(r->p, n->above, fz_profile_frame(r->p, &frame));
}

static void add_moment(struct reader *r, uint32_t thread, double at, uint32_t stack)
{
	fz_profile_grow(r->p, r->moments, r->moment_count, r->moment_cap);
	r->moments[r->moment_count] = (struct moment){ at, thread, stack, r->moment_count };
	r->moment_count++;
}

/* data: of the chunk, with its times; the profile itself if that is in one piece. */
static void add_chunk(struct reader *r, struct sampled *s, const json_t *profile,
		      const json_t *data, const json_t *lines)
{
	const json_t *deltas = json_object_get(data, "timeDeltas");
	double start = fz_jsonread_number(json_object_get(profile, "startTime"), 0);
	size_t i;
	json_t *v;

	/* A chunk with its own start may be on another clock than the events. */
	if (start > 0 && isnan(s->shift))
		s->shift = s->now - start;
	add_children(r, s, json_object_get(profile, "nodes"));
	json_array_foreach(json_object_get(profile, "samples"), i, v)
	{
		uint32_t node = fz_map_get(&s->node_of, (uint64_t)fz_jsonread_int(v, -1));
		s->now += fz_jsonread_number(json_array_get(deltas, i), 0);
		if (node != FZ_NONE)
			add_moment(r, s->thread, s->now,
				   on_line(r, &r->nodes[node],
					   fz_import_line(
						   fz_jsonread_int(json_array_get(lines, i), 0))));
	}
	double end = fz_jsonread_number(json_object_get(profile, "endTime"), NAN);
	if (!isnan(s->shift))
		end += s->shift;
	if (isnan(end))
		end = fz_jsonread_number(json_object_get(data, "endTime"), NAN);
	/* If times count from 0, an end far after the samples is on the events' clock. */
	if (end > s->now && (s->placed || end <= 2 * s->now))
		add_moment(r, s->thread, end, FZ_NONE);
}

static void read_profile_event(struct reader *r, const json_t *event, struct fz_str name)
{
	const json_t *data = json_object_get(json_object_get(event, "args"), "data");
	uint32_t at = sampled_of(r, event);
	struct sampled *s = &r->sampled[at];
	const json_t *profile = json_object_get(data, "cpuProfile");

	if (fz_str_eq(name, FZ_STR("Profile"))) {
		start_profile(s, event, json_object_get(data, "startTime"));
	} else if (fz_str_eq(name, FZ_STR("ProfileChunk"))) {
		add_chunk(r, s, profile, data, json_object_get(data, "lines"));
	} else {
		start_profile(s, event, json_object_get(profile, "startTime"));
		add_chunk(r, s, profile, profile, NULL);
	}
}

/* ---- events ---- */

static void read_metadata(struct reader *r, const json_t *event, struct fz_str name)
{
	struct fz_str value = fz_jsonread_kstr(json_object_get(event, "args"), "name");

	if (fz_str_eq(name, FZ_STR("thread_name")) && value.n)
		thread_of(r, event, value);
}

static bool is_profile(struct fz_str name)
{
	return fz_str_eq(name, FZ_STR("Profile")) || fz_str_eq(name, FZ_STR("ProfileChunk")) ||
	       fz_str_eq(name, FZ_STR("CpuProfile"));
}

static void read_event(struct reader *r, const json_t *event)
{
	struct fz_str phase = fz_jsonread_kstr(event, "ph"), name = fz_jsonread_kstr(event, "name");
	char ph = phase.n == 1 ? phase.p[0] : 0;

	if (ph == 'M')
		read_metadata(r, event, name);
	else if (ph && strchr("PIin", ph) && is_profile(name))
		read_profile_event(r, event, name);
	else if (!isfinite(time_of(event)))
		return;
	else if (ph == 'B')
		open_call(r, event);
	else if (ph == 'E')
		close_call(r, event);
	else if (ph == 'X')
		add_whole(r, event);
}

/* Reads events up to the bracket, or the end of a truncated file. */
static void read_events(struct reader *r)
{
	int c;

	if (fz_jsonread_peek(&r->in) != '[')
		return;
	fz_jsonread_take(&r->in);
	while ((c = fz_jsonread_peek(&r->in)) >= 0 && !r->p->over_limit) {
		if (c == ',' || c == ']')
			fz_jsonread_take(&r->in);
		if (c == ']')
			return;
		if (c == ',')
			continue;
		json_t *event = fz_jsonread_value(&r->in);
		if (!event)
			return;
		read_event(r, event);
		json_decref(event);
	}
}

static bool read_member(struct reader *r)
{
	json_t *key = fz_jsonread_value(&r->in);
	struct fz_str name = fz_jsonread_str(key);
	bool ok = key && fz_jsonread_peek(&r->in) == ':';

	if (ok) {
		fz_jsonread_take(&r->in);
		if (fz_str_eq(name, FZ_STR("traceEvents"))) {
			read_events(r);
		} else if (fz_str_eq(name, FZ_STR("samples"))) {
			json_decref(r->samples);
			r->samples = fz_jsonread_value(&r->in);
		} else if (fz_str_eq(name, FZ_STR("stackFrames"))) {
			json_decref(r->stack_frames);
			r->stack_frames = fz_jsonread_value(&r->in);
		} else {
			ok = fz_jsonread_skip(&r->in);
		}
	}
	json_decref(key);
	return ok;
}

static void read_file(struct reader *r)
{
	int c = fz_jsonread_peek(&r->in);

	if (c == '[') {
		read_events(r);
		return;
	}
	if (c == '{')
		fz_jsonread_take(&r->in);
	while ((c = fz_jsonread_peek(&r->in)) >= 0 && c != '}') {
		if (c == ',')
			fz_jsonread_take(&r->in);
		else if (!read_member(r))
			break;
	}
	r->in.cut |= fz_jsonread_peek(&r->in) < 0;
}

/* ---- samples in addition to events ---- */

enum { DEPTH_MAX = 4096 };

static uint32_t stack_of_frame(struct reader *r, const char *id)
{
	fz_auto(fz_free_ptr) const json_t **path = fz_calloc(DEPTH_MAX, sizeof(*path));
	uint32_t stack = FZ_NONE;
	char room[32];
	int depth = 0;

	for (const json_t *v = json_object_get(r->stack_frames, id); v && depth < DEPTH_MAX;) {
		path[depth++] = v;
		struct fz_str parent = text_of(json_object_get(v, "parent"), room, sizeof(room));
		v = parent.n ? json_object_getn(r->stack_frames, parent.p, parent.n) : NULL;
	}
	while (depth-- > 0)
		stack = fz_profile_stack(r->p, stack, frame_of(r, path[depth]));
	return stack;
}

static void read_samples_and_frames(struct reader *r)
{
	size_t i;
	json_t *v;

	json_array_foreach(r->samples, i, v)
	{
		char room[32];
		struct fz_str id = text_of(json_object_get(v, "sf"), room, sizeof(room));
		fz_auto(fz_free_ptr) char *key = fz_strndup(id.p, id.n);
		if (isfinite(time_of(v)) && !r->p->over_limit)
			add_moment(r, thread_of(r, v, FZ_STR("")), time_of(v),
				   stack_of_frame(r, key));
	}
}

/* ---- the end ---- */

static int by_moment(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread) ?: FZ_CMP(a->at, b->at) ?: FZ_CMP(a->order, b->order);
}

/* Adds samples; each lasts until the next one of its thread. */
static void add_sampled(struct reader *r)
{
	double zero = INFINITY;
	int64_t idle = 0;

	qsort(r->moments, r->moment_count, sizeof(*r->moments), by_moment);
	for (uint32_t i = 0; i < r->moment_count; i++)
		zero = FZ_MIN(zero, r->moments[i].at);
	fz_profile_add_metric(r->p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	for (uint32_t i = 0; i < r->moment_count; i++) {
		const struct moment *m = &r->moments[i];
		bool last = i + 1 == r->moment_count || m[1].thread != m->thread;
		struct fz_sample s = { .thread = m->thread,
				       .stack = m->stack,
				       .time = fz_import_scaled(m->at - zero, 1e3),
				       .status = FZ_STATUS_UNKNOWN };
		int64_t weight = last ? 0 : fz_import_scaled(m[1].at - zero, 1e3) - s.time;
		if (m->stack == IDLE)
			idle += weight;
		else if (m->stack != FZ_NONE || weight)
			fz_profile_add_sample(r->p, &s, &weight);
	}
	fz_cpuprofile_note_idle(r->p, idle);
}

/* Orders by time, returns before calls; of calls with the same start the longest is outermost. */
static int by_time(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread) ?: FZ_CMP(a->at, b->at) ?:
	       FZ_CMP(b->length < 0, a->length < 0) ?: FZ_CMP(b->length, a->length) ?:
	       FZ_CMP(a->order, b->order);
}

static bool same_name(const struct reader *r, uint32_t a, uint32_t b)
{
	return r->p->functions[r->p->frames[a].function].name ==
	       r->p->functions[r->p->frames[b].function].name;
}

/* Closes the innermost open call with the name of a return, and all above it; an unmatched return
 * is ignored. */
static void close_on(struct reader *r, struct fz_track *track, const struct call *c)
{
	uint32_t depth = track->depth;

	while (depth > 0) {
		uint32_t frame = r->p->stacks[track->open[depth - 1]].frame;
		bool waits = isinf(track->ends[depth - 1]);
		if (waits && (c->frame == FZ_NONE || same_name(r, frame, c->frame)))
			break;
		depth--;
	}
	while (depth > 0 && track->depth >= depth)
		fz_track_close(track);
}

/* Opens a call, which cannot outlast its caller. */
static bool open_on(struct reader *r, struct fz_track *track, const struct call *c)
{
	double ends = c->at + c->length;

	if (track->depth)
		ends = FZ_MIN(ends, track->ends[track->depth - 1]);
	if (isinf(c->length))
		ends = INFINITY;
	return fz_track_open(track, r->p, c->frame, ends);
}

static int play(struct reader *r, struct fz_spans *spans, struct fz_error *err)
{
	for (uint32_t i = 0; i < r->call_count && !r->p->over_limit;) {
		fz_auto(fz_track_release) struct fz_track track = { .thread = r->calls[i].thread };
		for (; i < r->call_count && r->calls[i].thread == track.thread; i++) {
			const struct call *c = &r->calls[i];
			if (c->dropped)
				continue;
			fz_track_advance(&track, c->at, spans);
			if (c->length < 0)
				close_on(r, &track, c);
			else if (!open_on(r, &track, c))
				return fz_fail(err, FZ_ELIMIT, "%s: its stacks are too deep",
					       r->name);
		}
		fz_track_advance(&track, INFINITY, spans);
	}
	return 0;
}

static int add_calls(struct reader *r, struct fz_error *err)
{
	fz_auto(fz_spans_release) struct fz_spans spans = { 0 };

	qsort(r->calls, r->call_count, sizeof(*r->calls), by_time);
	int code = play(r, &spans, err);
	if (code)
		return code;
	r->p->samples.ordered = false;
	fz_spans_add(&spans, r->p);
	return 0;
}

static void release(struct reader *r)
{
	fz_jsonread_stream_release(&r->in);
	for (uint32_t i = 0; i < r->sampled_count; i++)
		fz_map_release(&r->sampled[i].node_of);
	free(r->calls);
	free(r->opens);
	free(r->sampled);
	free(r->nodes);
	free(r->moments);
	fz_map_release(&r->top_of);
	fz_map_release(&r->sampled_of);
	json_decref(r->samples);
	json_decref(r->stack_frames);
}

/* Adds notes about the figures. */
static void add_notes(struct reader *r)
{
	uint32_t n = r->without_length;

	if (r->in.cut)
		fz_import_note_cut(r->p);
	if (n && !r->moment_count)
		fz_profile_note(r->p, "%u call%s with CPU time but no duration left out", n,
				n == 1 ? "" : "s");
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = { .in = in, .err = err },
					     .p = p,
					     .name = fz_input_name(in) };

	read_file(&r);
	if (r.in.code)
		return r.in.code;
	if (!r.moment_count)
		read_samples_and_frames(&r);
	if (p->over_limit)
		return fz_profile_check(p, err);
	add_notes(&r);
	if (r.moment_count) {
		add_sampled(&r);
		return 0;
	}
	if (!r.call_count)
		return fz_fail(err, FZ_EINPUT, "%s: no calls and no samples", r.name);
	return add_calls(&r, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	size_t at = 0;

	(void)name;
	if (fz_jsonread_has_key(head, n, 1, "traceEvents"))
		return 90;
	while (at < n && strchr(" \t\r\n", head[at]) && head[at])
		at++;
	return at < n && head[at] == '[' && fz_jsonread_has_key(head, n, 2, "ph") ? 85 : 0;
}

const struct fz_format fz_format_trace = {
	.name = "trace-event",
	.title = "trace events (Chrome, Perfetto, viztracer and others)",
	.suffixes = ".trace .json",
	.notes = "samples if there are any, else calls; asynchronous events are dropped",
	.sniff = sniff,
	.read = read,
};
