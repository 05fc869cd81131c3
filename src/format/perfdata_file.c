/* SPDX-License-Identifier: MIT */
/* The layout of a perf.data file.
 *
 *   "PERFILE2" header   events: struct perf_event_attr and the ids of its counters
 *                       data: records {type, misc, size} ...
 *                       features after the data: build ids, names of events, host, ...
 *
 * In a pipe ("perf record -o -") the header has only 16 bytes, and events and features are records.
 * `perf record -z` writes a zstd stream split into records, which is unpacked as a whole. Each
 * processor has its own buffer, so records must be sorted by time.
 */
#include "perfdata_file.h"
#include "import.h"

#include <zstd.h>

/* Records written by perf itself, not the kernel. */
enum {
	RECORD_ATTR = 64,
	RECORD_TRACING_DATA = 66,
	RECORD_BUILD_ID = 67,
	RECORD_AUXTRACE = 71,
	RECORD_EVENT_UPDATE = 78,
	RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
};

enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_CPUDESC = 8,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURES = 256,
};

enum {
	FILE_HEADER = 104, /* bytes, including the bitmap of features */
	PIPE_HEADER = 16,
	ATTR_MIN = 64, /* of the first version */
	UPDATE_NAME = 2,
	BUILD_ID_BYTES = 20,
	EVENTS_MAX = 4096,
	MAP_ENTRY = 32, /* memory of an entry of a map, at most */
};

static int fail_damaged(const struct fz_perfdata *f, const char *what, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: %s", f->name, what);
}

static struct fz_str rest_of(struct fz_cursor *c)
{
	return (struct fz_str){ (const char *)c->p, fz_cursor_left(c) };
}

struct fz_str fz_perfdata_text(struct fz_cursor *c)
{
	struct fz_str s = rest_of(c);
	const char *end = s.n ? memchr(s.p, '\0', s.n) : NULL;

	if (end)
		s.n = (size_t)(end - s.p);
	return s;
}

/* ---- events ---- */

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const software_names[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

/* Name of an event in files without names. */
static struct fz_str name_by_number(const struct perf_event_attr *a)
{
	if (a->type == PERF_TYPE_HARDWARE && a->config < FZ_ARRAY_LEN(hardware_names))
		return fz_str_of(hardware_names[a->config]);
	if (a->type == PERF_TYPE_SOFTWARE && a->config < FZ_ARRAY_LEN(software_names))
		return fz_str_of(software_names[a->config]);
	return FZ_STR("event");
}

/* Adds an event; unknown fields of newer versions of perf are ignored. */
static int add_event(struct fz_perfdata *f, struct fz_str attr, struct fz_str ids,
		     struct fz_error *err)
{
	struct fz_perfdata_event e = { 0 };

	if (attr.n < ATTR_MIN)
		return fail_damaged(f, "an event is too short", err);
	if (f->event_n >= EVENTS_MAX)
		return fz_fail(err, FZ_ELIMIT, "%s: has more than %d events", f->name, EVENTS_MAX);
	memcpy(&e.attr, attr.p, FZ_MIN(attr.n, sizeof(e.attr)));
	e.name = name_by_number(&e.attr);
	struct fz_cursor c = fz_cursor_of(ids.p, ids.n);
	/* Any number of events may refer to the same list. */
	for (size_t i = 0; i < ids.n / 8 && fz_profile_takes(f->p, MAP_ENTRY); i++) {
		fz_map_put(&f->counter_of, fz_cursor_u64(&c), f->counter_n);
		fz_profile_push(f->p, f->counters, f->counter_n, f->counter_cap,
				(struct fz_perfdata_counter){ .event = f->event_n });
	}
	fz_profile_push(f->p, f->events, f->event_n, f->event_cap, e);
	return 0;
}

/* ---- features ---- */

/* {length, characters, padding} */
static struct fz_str counted_text(struct fz_cursor *c)
{
	uint32_t n = fz_cursor_u32(c);
	const uint8_t *p = fz_cursor_bytes(c, n);

	if (!p)
		return FZ_STR("");
	struct fz_cursor text = fz_cursor_of(p, n);
	return fz_perfdata_text(&text);
}

static void read_event_names(struct fz_perfdata *f, struct fz_cursor c)
{
	uint32_t n = fz_cursor_u32(&c), size = fz_cursor_u32(&c);

	for (uint32_t i = 0; i < n && !c.bad; i++) {
		fz_cursor_bytes(&c, size);
		uint32_t ids = fz_cursor_u32(&c);
		struct fz_str name = counted_text(&c);
		fz_cursor_bytes(&c, (size_t)ids * 8);
		if (!c.bad && name.n && i < f->event_n)
			f->events[i].name = name;
	}
}

static void read_command(struct fz_perfdata *f, struct fz_cursor c)
{
	uint32_t n = fz_cursor_u32(&c);

	fz_buf_reset(&f->command);
	for (uint32_t i = 0; i < n && !c.bad; i++) {
		struct fz_str word = counted_text(&c);
		if (c.bad)
			break;
		/* The recorded command follows perf's own options. */
		if (fz_str_eq(word, FZ_STR("--"))) {
			fz_buf_reset(&f->command);
			continue;
		}
		fz_buf_str(&f->command, f->command.n ? " " : "");
		fz_buf_add(&f->command, word.p, word.n);
	}
}

/* {pid, 20 bytes and their used number, path} */
static void read_build_id(struct fz_perfdata *f, struct fz_cursor c, uint16_t misc)
{
	enum { MISC_SIZE_KNOWN = 1 << 15, FIELD = 24 };
	fz_auto(fz_buf_release) struct fz_buf hex = { 0 };

	fz_cursor_u32(&c);
	const uint8_t *id = fz_cursor_bytes(&c, FIELD);
	struct fz_str path = fz_perfdata_text(&c);
	if (!id || !path.n)
		return;
	size_t n = misc & MISC_SIZE_KNOWN ? FZ_MIN(id[BUILD_ID_BYTES], BUILD_ID_BYTES)
					  : (size_t)BUILD_ID_BYTES;
	fz_buf_hex(&hex, id, n);
	uint32_t string = fz_profile_string(f->p, fz_buf_view(&hex));
	fz_profile_push(f->p, f->build_ids, f->build_id_n, f->build_id_cap,
			(struct fz_perfdata_build_id){
				.path = path,
				.hex = fz_profile_text(f->p, string),
			});
}

static void read_build_ids(struct fz_perfdata *f, struct fz_cursor c)
{
	struct perf_event_header h;

	while (fz_cursor_left(&c) >= sizeof(h)) {
		memcpy(&h, fz_cursor_bytes(&c, sizeof(h)), sizeof(h));
		if (h.size < sizeof(h))
			return;
		const uint8_t *body = fz_cursor_bytes(&c, h.size - sizeof(h));
		if (!body)
			return;
		read_build_id(f, fz_cursor_of(body, h.size - sizeof(h)), h.misc);
	}
}

static void read_feature(struct fz_perfdata *f, uint64_t which, struct fz_str data)
{
	struct fz_cursor c = fz_cursor_of(data.p, data.n);

	if (which == FEATURE_BUILD_ID)
		read_build_ids(f, c);
	else if (which == FEATURE_HOSTNAME)
		f->host = counted_text(&c);
	else if (which == FEATURE_OSRELEASE)
		f->release = counted_text(&c);
	else if (which == FEATURE_CPUDESC)
		f->cpu = counted_text(&c);
	else if (which == FEATURE_CMDLINE)
		read_command(f, c);
	else if (which == FEATURE_EVENT_DESC)
		read_event_names(f, c);
}

/* ---- records ---- */

static uint32_t event_of_id(const struct fz_perfdata *f, uint64_t id)
{
	uint32_t counter = fz_map_get(&f->counter_of, id);

	return counter == FZ_NONE ? FZ_NONE : f->counters[counter].event;
}

static uint64_t number_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static unsigned fields(uint64_t type, uint64_t which)
{
	return (unsigned)__builtin_popcountll(type & which);
}

/* Finds event and time of a record. A sample starts with IDENTIFIER IP TID TIME ADDR ID; other
 * records end with TID TIME ID STREAM_ID CPU IDENTIFIER if configured. Up to the id, the layout is
 * the same for all events of a file. */
static void place_record(const struct fz_perfdata *f, struct fz_perfdata_record *r)
{
	struct perf_event_header h = fz_perfdata_header(r);
	const uint64_t before_time = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	const uint64_t before_id = before_time | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	const uint64_t behind = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	const struct perf_event_attr *a = &f->events[0].attr;
	bool sample = h.type == PERF_RECORD_SAMPLE;
	size_t words = (h.size - sizeof(h)) / 8, at;

	r->event = 0;
	if (!sample && (!a->sample_id_all || h.type >= RECORD_ATTR))
		return;
	const uint8_t *first = r->p + sizeof(h), *end = r->p + h.size;
	if (f->event_n > 1 && a->sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) {
		bool fixed = a->sample_type & PERF_SAMPLE_IDENTIFIER;
		at = sample  ? fixed ? 0 : fields(a->sample_type, before_id)
		      : fixed ? 1
			     : 1 + fields(a->sample_type, behind);
		if (at + sample > words)
			r->event = FZ_NONE;
		else
			r->event =
				event_of_id(f, number_at(sample ? first + 8 * at : end - 8 * at));
	}
	/* Initial records of perf itself have no id. */
	a = &f->events[r->event == FZ_NONE ? 0 : r->event].attr;
	if (!(a->sample_type & PERF_SAMPLE_TIME))
		return;
	at = sample ? fields(a->sample_type, before_time)
		    : 1 + fields(a->sample_type, PERF_SAMPLE_ID | behind);
	if (at + sample <= words)
		r->time = number_at(sample ? first + 8 * at : end - 8 * at);
	if (r->time == UINT64_MAX)
		r->time = 0;
}

static bool is_kept(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM ||
	       type == PERF_RECORD_FORK || type == PERF_RECORD_SAMPLE;
}

static void add_record(struct fz_perfdata *f, const uint8_t *p)
{
	fz_profile_grow(f->p, f->records, f->n, f->cap);
	f->records[f->n] = (struct fz_perfdata_record){ .order = (uint32_t)f->n, .p = p };
	f->n++;
}

/* Unpacks a part of the stream, which may continue in the next record. */
static int unpack(struct fz_perfdata *f, ZSTD_DCtx *zstd, struct fz_str packed,
		  struct fz_error *err)
{
	ZSTD_inBuffer from = { packed.p, packed.n, 0 };

	for (;;) {
		char *room = fz_buf_reserve(&f->unpacked, ZSTD_DStreamOutSize());
		if (!room || !fz_profile_takes(f->p, ZSTD_DStreamOutSize()))
			return fz_fail(err, FZ_ELIMIT, "%s: too large", f->name);
		ZSTD_outBuffer to = { room, ZSTD_DStreamOutSize(), 0 };
		if (ZSTD_isError(ZSTD_decompressStream(zstd, &to, &from)))
			return fail_damaged(f, "cannot decompress", err);
		f->unpacked.n += to.pos;
		if (from.pos == from.size && to.pos < to.size)
			return 0;
	}
}

static int read_attr_record(struct fz_perfdata *f, struct fz_str body, struct fz_error *err)
{
	uint32_t size = 0;

	if (body.n >= ATTR_MIN)
		memcpy(&size, body.p + offsetof(struct perf_event_attr, size), sizeof(size));
	if (size < ATTR_MIN || size > body.n)
		return fail_damaged(f, "an event is too short", err);
	return add_event(f, (struct fz_str){ body.p, size },
			 (struct fz_str){ body.p + size, body.n - size }, err);
}

static void read_update(struct fz_perfdata *f, struct fz_cursor c)
{
	uint64_t what = fz_cursor_u64(&c);
	uint32_t event = event_of_id(f, fz_cursor_u64(&c));
	struct fz_str name = fz_perfdata_text(&c);

	if (!c.bad && what == UPDATE_NAME && event != FZ_NONE && name.n)
		f->events[event].name = name;
}

/* Reads records that describe the file. */
static int read_own_record(struct fz_perfdata *f, struct perf_event_header h, struct fz_cursor c,
			   ZSTD_DCtx *zstd, struct fz_error *err)
{
	struct fz_str body = rest_of(&c);
	uint64_t n;

	switch (h.type) {
	case RECORD_ATTR:
		return read_attr_record(f, body, err);
	case RECORD_EVENT_UPDATE:
		read_update(f, c);
		return 0;
	case RECORD_BUILD_ID:
		read_build_id(f, c, h.misc);
		return 0;
	case RECORD_FEATURE:
		n = fz_cursor_u64(&c);
		read_feature(f, n, rest_of(&c));
		return 0;
	case RECORD_COMPRESSED:
		return unpack(f, zstd, body, err);
	case RECORD_COMPRESSED2:
		n = fz_cursor_u64(&c);
		body = rest_of(&c);
		body.n = FZ_MIN(n, (uint64_t)body.n);
		return unpack(f, zstd, body, err);
	default:
		return 0;
	}
}

/* Number of bytes after a record that are not part of it. */
static uint64_t trailing(struct fz_perfdata *f, uint32_t type, struct fz_cursor c)
{
	if (type == RECORD_TRACING_DATA)
		return ((uint64_t)fz_cursor_u32(&c) + 7) & ~(uint64_t)7;
	if (type != RECORD_AUXTRACE)
		return 0;
	f->traced = true;
	return fz_cursor_u64(&c);
}

/* Reads records; the last may be truncated. zstd is NULL for unpacked data. */
static int read_records(struct fz_perfdata *f, struct fz_cursor c, ZSTD_DCtx *zstd,
			struct fz_error *err)
{
	struct perf_event_header h;
	int code = 0;

	while (fz_cursor_left(&c) && !code && !f->p->over_limit) {
		const uint8_t *p = c.p;
		size_t left = fz_cursor_left(&c);
		memcpy(&h, p, FZ_MIN(left, sizeof(h)));
		if (left < sizeof(h) || h.size > left) {
			f->dropped += left;
			break;
		}
		if (h.size < sizeof(h))
			return fail_damaged(f, "a record has no size", err);
		struct fz_cursor body = fz_cursor_of(p + sizeof(h), h.size - sizeof(h));
		fz_cursor_bytes(&c, h.size);
		if (is_kept(h.type))
			add_record(f, p);
		else if (zstd)
			code = read_own_record(f, h, body, zstd, err);
		uint64_t more = trailing(f, h.type, body);
		fz_cursor_bytes(&c, FZ_MIN(more, (uint64_t)fz_cursor_left(&c)));
	}
	return code ? code : fz_profile_check(f->p, err);
}

static int by_time(const void *a, const void *b)
{
	const struct fz_perfdata_record *x = a, *y = b;

	return FZ_CMP(x->time, y->time) ?: FZ_CMP(x->order, y->order);
}

static void release_zstd(ZSTD_DCtx **zstd)
{
	ZSTD_freeDCtx(*zstd);
}

static int read_data(struct fz_perfdata *f, struct fz_str data, struct fz_error *err)
{
	fz_auto(release_zstd) ZSTD_DCtx *zstd = ZSTD_createDCtx();

	fz_assert(zstd);
	f->unpacked.limit = FZ_IMPORT_FILE_MAX;
	int code = read_records(f, fz_cursor_of(data.p, data.n), zstd, err);
	if (!code)
		code = read_records(f, fz_cursor_of(f->unpacked.p, f->unpacked.n), NULL, err);
	if (code)
		return code;
	if (!f->event_n)
		return fail_damaged(f, "no event", err);
	for (size_t i = 0; i < f->n; i++)
		place_record(f, &f->records[i]);
	if (f->n)
		qsort(f->records, f->n, sizeof(*f->records), by_time);
	return 0;
}

/* ---- the file ---- */

/* The bytes at an offset; fewer if the file is truncated. */
static struct fz_str section(const struct fz_perfdata *f, uint64_t offset, uint64_t size)
{
	if (offset > f->bytes.n)
		return FZ_STR("");
	return (struct fz_str){ f->bytes.p + offset, FZ_MIN(size, f->bytes.n - offset) };
}

static int read_events(struct fz_perfdata *f, struct fz_str attrs, uint64_t size,
		       struct fz_error *err)
{
	enum { ID_SECTION = 16 };
	int code = 0;

	if (size < ATTR_MIN + ID_SECTION)
		return fail_damaged(f, "an event is too short", err);
	for (; attrs.n >= size && !code; attrs.p += size, attrs.n -= size) {
		struct fz_cursor c = fz_cursor_of(attrs.p + size - ID_SECTION, ID_SECTION);
		uint64_t offset = fz_cursor_u64(&c), bytes = fz_cursor_u64(&c);
		code = add_event(f, (struct fz_str){ attrs.p, size - ID_SECTION },
				 section(f, offset, bytes), err);
		if (!code)
			code = fz_profile_check(f->p, err);
	}
	return code;
}

static void read_features(struct fz_perfdata *f, const uint8_t *bits, uint64_t offset)
{
	struct fz_str table = section(f, offset, UINT64_MAX);
	struct fz_cursor c = fz_cursor_of(table.p, table.n);

	for (unsigned i = 0; i < FEATURES; i++) {
		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		uint64_t at = fz_cursor_u64(&c), size = fz_cursor_u64(&c);
		if (c.bad)
			return;
		read_feature(f, i, section(f, at, size));
	}
}

/* Reads a file; without size and features if perf record was killed. */
static int read_file(struct fz_perfdata *f, struct fz_error *err)
{
	struct fz_cursor c = fz_cursor_of(f->bytes.p + PIPE_HEADER, FILE_HEADER - PIPE_HEADER);
	uint64_t attr_size = fz_cursor_u64(&c), attr_at = fz_cursor_u64(&c);
	uint64_t attr_bytes = fz_cursor_u64(&c);
	uint64_t data_at = fz_cursor_u64(&c), data_bytes = fz_cursor_u64(&c);
	fz_cursor_bytes(&c, 16);
	const uint8_t *bits = fz_cursor_bytes(&c, FEATURES / 8);

	int code = read_events(f, section(f, attr_at, attr_bytes), attr_size, err);
	if (code)
		return code;
	struct fz_str data = section(f, data_at, data_bytes ? data_bytes : UINT64_MAX);
	f->dropped = data_bytes > data.n ? data_bytes - data.n : 0;
	if (data_bytes && !f->dropped)
		read_features(f, bits, data_at + data_bytes);
	return read_data(f, data, err);
}

int fz_perfdata_read(struct fz_input *in, struct fz_profile *p, struct fz_perfdata *ret,
		     struct fz_error *err)
{
	*ret = (struct fz_perfdata){ .name = fz_input_name(in), .p = p, .in = in };
	int code = fz_input_read_all(in, &ret->bytes, FZ_IMPORT_FILE_MAX, err);

	if (code)
		return code;
	struct fz_str s = fz_buf_view(&ret->bytes);
	if (fz_str_starts(s, "2ELIFREP"))
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: recorded on a machine with a different byte order; use the "
			       "output of 'perf script'",
			       ret->name);
	if (s.n < PIPE_HEADER)
		return fail_damaged(ret, "truncated header", err);
	uint64_t size = number_at((const uint8_t *)s.p + 8);
	if (size == PIPE_HEADER)
		return read_data(ret, section(ret, PIPE_HEADER, UINT64_MAX), err);
	if (size < FILE_HEADER || s.n < FILE_HEADER)
		return fail_damaged(ret, "truncated header", err);
	return read_file(ret, err);
}

void fz_perfdata_release(struct fz_perfdata *f)
{
	fz_buf_release(&f->bytes);
	fz_buf_release(&f->unpacked);
	fz_buf_release(&f->command);
	free(f->events);
	free(f->counters);
	fz_map_release(&f->counter_of);
	free(f->records);
	free(f->build_ids);
}
