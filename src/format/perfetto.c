/* SPDX-License-Identifier: MIT */
/* Reads Perfetto's trace protobuf: samples if there are any, else slices of tracks.
 *
 *   Trace: packets, each of a sequence (one writer), with a time by a clock
 *     interned_data     names, frames and stacks, numbered within the sequence
 *     track_descriptor  a track: a thread, or anything named by the program
 *     track_event       a slice begins or ends on a track
 *     perf_sample, streaming_profile_packet   a stack of a thread
 *
 * Costs are differences on one track, so clocks need not be aligned; an incremental clock counts
 * from its last packet. Slices of threads are calls. Other tracks overlap with threads and are read
 * only if no thread has a slice.
 */
#include "format.h"
#include "import.h"
#include "perfetto_interned.h"
#include "timeline.h"
#include "wire.h"

#include <math.h>

struct clock {
	uint64_t now, unit; /* now: of an incremental one; unit: ns */
	bool incremental;
};

/* One writer. */
struct sequence {
	uint64_t id, track, clock; /* track and clock: defaults for packets */
};

struct track {
	uint64_t uuid, pid, tid;
	uint32_t name; /* string */
	bool is_thread;
	uint32_t thread; /* of the profile, at the end */
};

struct event {
	double at, length; /* ns; length < 0: an end; INFINITY: open until an end */
	uint32_t track, frame, order;
};

struct moment {
	uint32_t track, stack;
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	struct fz_perfetto_interned interned;
	struct fz_map sequence_of, track_of; /* id, uuid -> index */
	struct fz_map clock_of;              /* hash of (sequence, id) -> index */
	struct sequence *sequences;
	uint32_t sequence_count, sequence_cap;
	struct clock *clocks;
	uint32_t clock_count, clock_cap;
	struct track *tracks;
	uint32_t track_count, track_cap;
	struct event *events;
	uint32_t event_count, event_cap;
	struct moment *moments;
	uint32_t moment_count, moment_cap;
	uint64_t epoch; /* the first time */
	bool has_epoch, compressed;
	/* of the current packet */
	struct sequence *sequence;
};

/* ---- clocks ---- */

enum { CLOCK_OF_SEQUENCE = 64, CLOCK_GLOBAL = 128 };

static uint32_t *clock_slot(struct reader *r, uint64_t id)
{
	bool own = id >= CLOCK_OF_SEQUENCE && id < CLOCK_GLOBAL;

	return fz_map_slot(&r->clock_of, own ? fz_hash64(r->sequence->id + 1) ^ id : id);
}

static void read_clock(struct reader *r, struct fz_str message)
{
	uint64_t id = 0, now = 0, incremental = 0, unit = 0;

	fz_wire_read(message,
		     FZ_WIRE_FIELDS({ 1, &id }, { 2, &now }, { 3, &incremental }, { 4, &unit }));
	unit = unit ? unit : 1;
	uint32_t *slot = clock_slot(r, id);
	if (*slot == FZ_NONE) {
		*slot = r->clock_count;
		fz_profile_grow(r->p, r->clocks, r->clock_count, r->clock_cap);
		r->clock_count++;
	}
	r->clocks[*slot] = (struct clock){ now * unit, unit, incremental };
}

static void read_clocks(struct reader *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);

	while (fz_wire_next(&w))
		if (w.field == 1 && w.type == FZ_WIRE_BYTES)
			read_clock(r, w.bytes);
}

/* Converts to nanoseconds since the first time in the file. */
static double time_of(struct reader *r, uint64_t timestamp, uint64_t clock)
{
	uint32_t at = *clock_slot(r, clock);
	uint64_t now = timestamp;

	if (at != FZ_NONE) {
		struct clock *c = &r->clocks[at];
		now *= c->unit;
		if (c->incremental)
			now = c->now += now;
	}
	if (!r->has_epoch)
		r->epoch = now;
	r->has_epoch = true;
	return (double)(int64_t)(now - r->epoch);
}

/* ---- tracks ---- */

static struct track *track_of(struct reader *r, uint64_t uuid)
{
	uint32_t *slot = fz_map_slot(&r->track_of, uuid);

	if (*slot == FZ_NONE) {
		*slot = r->track_count;
		fz_profile_push(r->p, r->tracks, r->track_count, r->track_cap,
				(struct track){ .uuid = uuid });
	}
	return &r->tracks[*slot];
}

static void read_thread(struct reader *r, struct fz_str message, struct track *ret)
{
	struct fz_str name = FZ_STR("");

	ret->is_thread = true;
	fz_wire_read(message,
		     FZ_WIRE_FIELDS({ 1, &ret->pid }, { 2, &ret->tid }, { 5, .bytes = &name }));
	if (name.n)
		ret->name = fz_profile_string(r->p, name);
}

/* Reads a descriptor; a later one of the same track may have fewer fields. */
static void read_track(struct reader *r, struct fz_str message)
{
	struct fz_str name = FZ_STR(""), thread = { NULL, 0 };
	struct track t = { 0 };

	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &t.uuid }, { 2, .bytes = &name },
					     { 4, .bytes = &thread }));
	t.name = fz_profile_string(r->p, name);
	if (thread.p)
		read_thread(r, thread, &t);
	struct track *known = track_of(r, t.uuid);
	if (!known->is_thread || t.is_thread) {
		t.name = t.name ? t.name : known->name;
		*known = t;
	}
}

/* The track of a thread without descriptor, referenced by samples and older events. */
static uint32_t track_of_thread(struct reader *r, uint64_t pid, uint64_t tid)
{
	struct track *t = track_of(r, fz_hash64(pid + 1) ^ fz_hash64(~tid));

	t->is_thread = true;
	t->pid = pid;
	t->tid = tid;
	return (uint32_t)(t - r->tracks);
}

/* ---- events ---- */

/* An event of the old macros, with phases like JSON traces. */
struct legacy {
	uint64_t phase, duration_us, pid, tid, name; /* tid: NO_TID if absent */
};
#define NO_TID UINT64_MAX

static uint32_t event_frame(struct reader *r, struct fz_str name)
{
	struct fz_import_frame f = { .kind = FZ_KIND_UNKNOWN };

	fz_import_location(name, &f);
	f.kind = fz_import_kind(f.file, f.module, f.module.n ? FZ_KIND_NATIVE : FZ_KIND_UNKNOWN);
	return fz_import_frame(r->p, &f);
}

enum { TYPE_BEGIN = 1, TYPE_END };

static void read_event(struct reader *r, struct fz_str message, double at)
{
	struct legacy legacy = { .tid = NO_TID };
	uint64_t type = 0, name_id = 0, track = r->sequence->track;
	struct fz_str name = FZ_STR(""), old = FZ_STR("");

	fz_wire_read(message, FZ_WIRE_FIELDS({ 6, .bytes = &old }, { 9, &type }, { 10, &name_id },
					     { 11, &track }, { 23, .bytes = &name }));
	fz_wire_read(old, FZ_WIRE_FIELDS({ 1, &legacy.name }, { 2, &legacy.phase },
					 { 3, &legacy.duration_us }, { 18, &legacy.pid },
					 { 19, &legacy.tid }));
	bool begins = type == TYPE_BEGIN || legacy.phase == 'B',
	     ends = type == TYPE_END || legacy.phase == 'E';
	if (!begins && !ends && legacy.phase != 'X')
		return;
	if (!name.n)
		name = fz_perfetto_event_name(&r->interned, name_id ? name_id : legacy.name);
	struct event e = {
		.at = at,
		.length = ends     ? -1
			  : begins ? INFINITY
				   : (double)legacy.duration_us * 1e3,
		.track = legacy.tid != NO_TID ? track_of_thread(r, legacy.pid, legacy.tid)
					      : (uint32_t)(track_of(r, track) - r->tracks),
		.frame = ends ? FZ_NONE : event_frame(r, name),
		.order = r->event_count,
	};
	fz_profile_push(r->p, r->events, r->event_count, r->event_cap, e);
}

/* ---- samples ---- */

static void add_moment(struct reader *r, uint32_t track, uint64_t stack)
{
	uint32_t at = fz_perfetto_stack(&r->interned, stack);

	if (at == FZ_NONE)
		return;
	fz_profile_push(r->p, r->moments, r->moment_count, r->moment_cap,
			(struct moment){ track, at });
}

static void read_perf_sample(struct reader *r, struct fz_str message)
{
	uint64_t pid = 0, tid = 0, stack = 0;

	fz_wire_read(message, FZ_WIRE_FIELDS({ 2, &pid }, { 3, &tid }, { 4, &stack }));
	if (stack)
		add_moment(r, track_of_thread(r, pid, tid), stack);
}

static void add_streamed(void *arg, uint64_t stack)
{
	struct reader *r = arg;

	add_moment(r, (uint32_t)(track_of(r, r->sequence->track) - r->tracks), stack);
}

static void read_streamed(struct reader *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);

	while (fz_wire_next(&w))
		if (w.field == 1)
			fz_wire_numbers(&w, add_streamed, r);
}

/* ---- packets ---- */

#define NO_CLOCK UINT64_MAX

/* The fields of a packet that are read, in whatever order they came. */
struct packet {
	uint64_t timestamp, clock, sequence; /* clock: NO_CLOCK if absent */
	struct fz_str interned, defaults, clocks, track, event, sample, streamed;
};

static struct sequence *sequence_of(struct reader *r, uint64_t id)
{
	uint32_t *slot = fz_map_slot(&r->sequence_of, id);

	if (*slot == FZ_NONE) {
		*slot = r->sequence_count;
		fz_profile_push(r->p, r->sequences, r->sequence_count, r->sequence_cap,
				(struct sequence){ .id = id });
	}
	return &r->sequences[*slot];
}

static void read_defaults(struct reader *r, struct fz_str message)
{
	struct fz_str event = FZ_STR("");

	fz_wire_read(message, FZ_WIRE_FIELDS({ 11, .bytes = &event }, { 58, &r->sequence->clock }));
	fz_wire_read(event, FZ_WIRE_FIELDS({ 11, &r->sequence->track }));
}

static void handle(struct reader *r, const struct packet *k)
{
	r->sequence = sequence_of(r, k->sequence);
	r->interned.sequence = k->sequence;
	read_defaults(r, k->defaults);
	read_clocks(r, k->clocks);
	fz_perfetto_intern(&r->interned, k->interned);
	if (k->track.n)
		read_track(r, k->track);
	/* Incremental clocks advance with every packet that has a time. */
	double at = k->timestamp || k->event.n
			    ? time_of(r, k->timestamp,
				      k->clock == NO_CLOCK ? r->sequence->clock : k->clock)
			    : 0;
	if (k->event.n)
		read_event(r, k->event, at);
	if (k->sample.n)
		read_perf_sample(r, k->sample);
	read_streamed(r, k->streamed);
}

static bool read_packet(struct reader *r, struct fz_str message)
{
	struct packet k = { .clock = NO_CLOCK,
			    .interned = FZ_STR(""),
			    .defaults = FZ_STR(""),
			    .clocks = FZ_STR(""),
			    .streamed = FZ_STR("") };
	struct fz_str packed = FZ_STR(""), zstd = FZ_STR("");
	bool ok = fz_wire_read(
		message, FZ_WIRE_FIELDS({ 6, .bytes = &k.clocks }, { 8, &k.timestamp },
					{ 10, &k.sequence }, { 11, .bytes = &k.event },
					{ 12, .bytes = &k.interned }, { 50, .bytes = &packed },
					{ 54, .bytes = &k.streamed }, { 58, &k.clock },
					{ 59, .bytes = &k.defaults }, { 60, .bytes = &k.track },
					{ 66, .bytes = &k.sample }, { 133, .bytes = &zstd }));

	r->compressed |= packed.n || zstd.n;
	if (ok)
		handle(r, &k);
	return ok;
}

/* Reads packets until the end or any damage; everything before it is valid. */
static int read_packets(struct reader *r, struct fz_str trace, struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(trace);
	const uint8_t *good = w.c.p;

	while (fz_wire_next(&w)) {
		if (w.field == 1 && w.type == FZ_WIRE_BYTES && !read_packet(r, w.bytes))
			break;
		if (r->p->over_limit)
			return fz_profile_check(r->p, err);
		good = w.c.p;
	}
	r->p->quality.dropped_bytes = (uint64_t)((const uint8_t *)trace.p + trace.n - good);
	if (r->event_count || r->moment_count)
		return 0;
	if (r->compressed)
		return fz_fail(
			err, FZ_EUNSUPPORTED,
			"%s: compressed packets: 'traceconv decompress_packets' decompresses them",
			r->name);
	return fz_fail(err, FZ_EINPUT,
		       "%s: a Perfetto trace without track slices and stack samples", r->name);
}

/* ---- the end ---- */

static void make_thread(struct reader *r, struct track *t)
{
	struct fz_thread thread = { .pid = t->pid, .tid = t->tid, .name = t->name };

	if (!t->is_thread)
		thread.tid = t->uuid;
	t->thread = fz_profile_thread(r->p, &thread);
}

static int by_time(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	return FZ_CMP(a->track, b->track) ?: FZ_CMP(a->at, b->at) ?: FZ_CMP(a->order, b->order);
}

/* Opens or closes a slice; a slice cannot outlast the enclosing one. */
static bool play_event(struct reader *r, struct fz_track *track, const struct event *e)
{
	double ends = e->at + e->length;

	if (e->length < 0) {
		fz_track_close(track);
		return true;
	}
	if (track->depth)
		ends = FZ_MIN(ends, track->ends[track->depth - 1]);
	return fz_track_open(track, r->p, e->frame, ends);
}

static int play_track(struct reader *r, const struct event *events, uint32_t n,
		      struct fz_spans *spans, struct fz_error *err)
{
	struct track *t = &r->tracks[events[0].track];

	make_thread(r, t);
	fz_auto(fz_track_release) struct fz_track track = { .thread = t->thread };
	for (uint32_t i = 0; i < n; i++) {
		fz_track_advance(&track, events[i].at, spans);
		if (!play_event(r, &track, &events[i]))
			return fz_fail(err, FZ_ELIMIT, "%s: its stacks are too deep", r->name);
	}
	fz_track_advance(&track, INFINITY, spans);
	return 0;
}

/* Processes the slices of threads, or if there are none, of all tracks. */
static int play(struct reader *r, struct fz_spans *spans, struct fz_error *err)
{
	bool threads = false;
	int code = 0;

	for (uint32_t i = 0; i < r->event_count; i++)
		threads |= r->tracks[r->events[i].track].is_thread;
	qsort(r->events, r->event_count, sizeof(*r->events), by_time);
	for (uint32_t i = 0, end; i < r->event_count && !r->p->over_limit && !code; i = end) {
		for (end = i; end < r->event_count; end++)
			if (r->events[end].track != r->events[i].track)
				break;
		if (!threads || r->tracks[r->events[i].track].is_thread)
			code = play_track(r, &r->events[i], end - i, spans, err);
	}
	return !code && r->p->over_limit ? fz_profile_check(r->p, err) : code;
}

static int add_slices(struct reader *r, struct fz_error *err)
{
	fz_auto(fz_spans_release) struct fz_spans spans = { 0 };
	int code = play(r, &spans, err);

	if (code)
		return code;
	r->p->samples.timed = true;
	fz_spans_add(&spans, r->p);
	return 0;
}

static void add_samples(struct reader *r)
{
	fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	for (uint32_t i = 0; i < r->moment_count && !r->p->over_limit; i++) {
		struct track *t = &r->tracks[r->moments[i].track];
		make_thread(r, t);
		fz_profile_add_sample(r->p,
				      &(struct fz_sample){ .thread = t->thread,
							   .stack = r->moments[i].stack,
							   .status = FZ_STATUS_UNKNOWN },
				      NULL);
	}
}

static void release(struct reader *r)
{
	fz_map_release(&r->interned.map);
	fz_map_release(&r->clock_of);
	fz_map_release(&r->sequence_of);
	fz_map_release(&r->track_of);
	free(r->sequences);
	free(r->clocks);
	free(r->tracks);
	free(r->events);
	free(r->moments);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in), .interned.p = p };
	int code = fz_input_read_all(in, &bytes, FZ_IMPORT_FILE_MAX, err);

	if (!code)
		code = read_packets(&r, fz_buf_view(&bytes), err);
	if (code)
		return code;
	p->samples.ordered = p->samples.timed = false;
	if (!r.moment_count)
		return add_slices(&r, err);
	add_samples(&r);
	return 0;
}

/* Whether a message is a packet: these have a sequence or a time, unlike similar messages. */
static bool is_packet(struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	bool typical = false;

	while (fz_wire_next(&w))
		typical |= (w.type == FZ_WIRE_VARINT && (w.field == 8 || w.field == 10)) ||
			   (w.field == 36 && w.bytes.n == 16);
	return typical && !w.c.bad;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_wire w = fz_wire_of((struct fz_str){ (const char *)head, n });

	(void)name;
	return fz_wire_next(&w) && w.field == 1 && w.type == FZ_WIRE_BYTES && is_packet(w.bytes)
		       ? 90
		       : 0;
}

const struct fz_format fz_format_perfetto = {
	.name = "perfetto",
	.title = "Perfetto trace",
	.suffixes = ".pftrace .perfetto-trace",
	.notes = "read: samples, or else slices of threads; written: a metric of time, as slices",
	.sniff = sniff,
	.read = read,
	.write = fz_perfetto_write,
	.binary = true,
};
