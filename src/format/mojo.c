/* SPDX-License-Identifier: MIT */
/* Reads MOJO, austin's binary format, versions 1 to 4.
 *
 *   "MOJ" version, then events: a type byte, and its numbers and texts
 *   text: bytes up to a NUL
 *   number: 6 bits, a sign (0x40) and "more" (0x80) in the first byte, then 7 bits per byte
 *
 * A STACK starts a sample; frames follow, outermost first, then its weights. Keys of texts and
 * frames are per process, that of the last STACK. From version 4 on a stack can repeat the last one
 * of its thread.
 */
#include "format.h"
#include "import.h"

enum { VERSION_MAX = 4, TEXT_MAX = 1 << 16 };

enum event {
	EVENT_METADATA = 1,
	EVENT_STACK,
	EVENT_FRAME,
	EVENT_FRAME_INVALID,
	EVENT_FRAME_REF,
	EVENT_FRAME_KERNEL,
	EVENT_GC,
	EVENT_IDLE,
	EVENT_TIME,
	EVENT_MEMORY,
	EVENT_STRING,
	EVENT_STRING_REF,
	EVENT_STACK_REPEAT,
	EVENT_TASK_STACK,
	EVENT_TASK_WAITER,
};

struct entry {
	uint32_t thread, stack;
	int64_t time_us, bytes;
	bool idle;
};

struct reader {
	const char *name; /* of the file */
	struct fz_profile *p;
	struct fz_cursor c;
	uint32_t version;
	struct fz_map string_of, frame_of; /* hash of (pid, key) -> string, frame */
	struct fz_map last_stack;          /* thread -> stack + 1, 0: empty */
	struct entry *entries;
	size_t n, cap;
	/* of the current sample */
	bool open;
	uint64_t pid;
	struct entry now;
	/* of the file */
	bool memory, full;
	uint64_t interval_us;
};

/* ---- primitives ---- */

static int64_t read_number(struct reader *r)
{
	uint8_t byte = fz_cursor_u8(&r->c);
	bool negative = byte & 0x40;
	uint64_t v = byte & 0x3f;
	unsigned shift = 6;

	while (byte & 0x80 && !r->c.bad) {
		byte = fz_cursor_u8(&r->c);
		r->c.bad |= shift > 62;
		if (!r->c.bad)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	}
	v = FZ_MIN(v, (uint64_t)INT64_MAX);
	return negative ? -(int64_t)v : (int64_t)v;
}

static struct fz_str read_text(struct reader *r)
{
	size_t n = FZ_MIN(fz_cursor_left(&r->c), (size_t)TEXT_MAX);
	const uint8_t *end = n ? memchr(r->c.p, 0, n) : NULL;

	r->c.bad |= !end;
	if (r->c.bad)
		return FZ_STR("");
	struct fz_str s = { (const char *)r->c.p, (size_t)(end - r->c.p) };
	r->c.p = end + 1;
	return s;
}

/* Mixes both halves. Only crafted files collide, and then only names are wrong. */
static uint64_t key_of(const struct reader *r, uint64_t key)
{
	return fz_hash64(r->pid + 1) ^ fz_hash64(key);
}

/* ---- samples ---- */

static void end_sample(struct reader *r)
{
	if (!r->open)
		return;
	r->open = false;
	fz_map_put(&r->last_stack, r->now.thread, r->now.stack + 1);
	fz_profile_push(r->p, r->entries, r->n, r->cap, r->now);
}

static void begin_sample(struct reader *r)
{
	struct fz_thread t = { 0 };

	end_sample(r);
	r->pid = (uint64_t)read_number(r);
	t.pid = r->pid;
	int64_t interp = r->version >= 3 ? read_number(r) : 0;
	t.interp = (uint32_t)FZ_MAX(interp, 0);
	struct fz_str tid = read_text(r);
	if (r->c.bad)
		return;
	fz_parse_hex(tid, &t.tid);
	t.is_main = t.tid == t.pid;
	r->now = (struct entry){ .thread = fz_profile_thread(r->p, &t), .stack = FZ_NONE };
	r->open = true;
}

static void push(struct reader *r, uint32_t frame)
{
	if (r->open && frame != FZ_NONE)
		r->now.stack = fz_profile_stack(r->p, r->now.stack, frame);
}

static void push_named(struct reader *r, struct fz_str name, enum fz_kind kind)
{
	struct fz_str file = kind == FZ_KIND_MARKER ? FZ_STR("~") : FZ_STR("");

	push(r, fz_profile_frame_named(r->p, name, file, FZ_NO_LINE, kind));
}

static struct fz_str string_at(const struct reader *r, int64_t key)
{
	uint32_t string = fz_map_get(&r->string_of, key_of(r, (uint64_t)key));

	if (key == 1 || string == FZ_NONE)
		return key ? FZ_STR("<unknown>") : FZ_STR("");
	return fz_profile_text(r->p, string);
}

static void read_frame(struct reader *r)
{
	uint64_t key = (uint64_t)read_number(r);
	struct fz_str file = string_at(r, read_number(r)), name = string_at(r, read_number(r));
	int32_t line = fz_import_line(read_number(r)), place[3] = { 0 };

	for (int i = 0; i < 3 && r->version >= 2; i++)
		place[i] = fz_import_line(read_number(r));
	struct fz_function f = {
		.name = fz_profile_string(r->p, name),
		.file = fz_profile_string(r->p, file),
		.kind = (uint8_t)fz_import_kind(file, FZ_STR(""),
						fz_str_ends(file, ".so") ||
								memmem(file.p, file.n, ".so.", 4)
							? FZ_KIND_NATIVE
							: FZ_KIND_PYTHON),
	};
	struct fz_frame frame =
		fz_frame_at(fz_profile_function(r->p, &f), line ? line : FZ_NO_LINE);
	if (line && place[0])
		frame.end_line = place[0];
	if (line && place[1])
		frame.column = place[1] - 1;
	if (line && place[1] && place[2])
		frame.end_column = place[2] - 1;
	fz_map_put(&r->frame_of, key_of(r, key), fz_profile_frame(r->p, &frame));
}

static void read_metadata(struct reader *r)
{
	struct fz_str key = read_text(r), value = read_text(r);
	enum fz_mode *mode = &r->p->recording.mode;

	if (fz_str_eq(key, FZ_STR("interval"))) {
		fz_parse_u64(value, INT32_MAX, &r->interval_us);
	} else if (fz_str_eq(key, FZ_STR("mode"))) {
		*mode = fz_str_starts(value, "cpu")    ? FZ_MODE_CPU
			: fz_str_starts(value, "wall") ? FZ_MODE_WALL
						       : FZ_MODE_UNKNOWN;
		r->memory = fz_str_starts(value, "memory");
		r->full = fz_str_starts(value, "full");
	} else if (fz_str_eq(key, FZ_STR("python"))) {
		fz_profile_set_fact(r->p, "python", value);
	}
}

static void repeat_stack(struct reader *r)
{
	uint32_t stack = fz_map_get(&r->last_stack, r->now.thread);

	if (r->open)
		r->now.stack = stack == FZ_NONE ? FZ_NONE : stack - 1;
}

/* The following frames are those of a waiting task, not of a thread. */
static void skip_task(struct reader *r)
{
	end_sample(r);
	read_number(r);
	read_number(r);
}

static void read_event(struct reader *r)
{
	int64_t key;

	switch (fz_cursor_u8(&r->c)) {
	case EVENT_METADATA:
		read_metadata(r);
		break;
	case EVENT_STACK:
		begin_sample(r);
		break;
	case EVENT_FRAME:
		read_frame(r);
		break;
	case EVENT_FRAME_INVALID:
		push_named(r, FZ_STR("[invalid]"), FZ_KIND_MARKER);
		break;
	case EVENT_FRAME_REF:
		push(r, fz_map_get(&r->frame_of, key_of(r, (uint64_t)read_number(r))));
		break;
	case EVENT_FRAME_KERNEL:
		push_named(r, read_text(r), FZ_KIND_KERNEL);
		break;
	case EVENT_GC:
		push_named(r, FZ_STR("<GC>"), FZ_KIND_MARKER);
		break;
	case EVENT_IDLE:
		r->now.idle = true;
		break;
	case EVENT_TIME:
		r->now.time_us = read_number(r);
		break;
	case EVENT_MEMORY:
		r->now.bytes = read_number(r);
		break;
	case EVENT_STRING:
		key = read_number(r);
		struct fz_str s = read_text(r);
		if (!r->c.bad)
			fz_map_put(&r->string_of, key_of(r, (uint64_t)key),
				   fz_profile_string(r->p, s));
		break;
	case EVENT_STRING_REF:
		read_number(r);
		break;
	case EVENT_STACK_REPEAT:
		repeat_stack(r);
		break;
	case EVENT_TASK_STACK:
		skip_task(r);
		break;
	case EVENT_TASK_WAITER:
		read_number(r);
		read_number(r);
		break;
	default:
		r->c.bad = true;
	}
}

/* ---- the end ---- */

/* Adds samples, as in text of the same tool. */
static void add_samples(struct reader *r)
{
	struct fz_profile *p = r->p;
	bool cpu = p->recording.mode == FZ_MODE_CPU;

	p->recording.interval_ns = (int64_t)r->interval_us * 1000;
	if (r->memory)
		fz_profile_add_metric(p, FZ_STR("memory"), FZ_STR("bytes"), 0, true);
	else
		fz_profile_add_metric(p, cpu ? FZ_STR("cpu") : FZ_STR("wall"), FZ_STR("ns"), 0,
				      true);
	if (r->full) {
		fz_profile_add_metric(p, FZ_STR("cpu"), FZ_STR("ns"), 0, true);
		fz_profile_add_metric(p, FZ_STR("memory"), FZ_STR("bytes"), 0, true);
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct entry *e = &r->entries[i];
		int64_t ns = fz_import_scaled_int(e->time_us, 1e3);
		int64_t weights[3] = { r->memory ? e->bytes : ns, e->idle ? 0 : ns, e->bytes };
		struct fz_sample s = { .thread = e->thread,
				       .stack = e->stack,
				       .status = r->full && !e->idle ? FZ_STATUS_ON_CPU
								     : FZ_STATUS_UNKNOWN };
		fz_profile_add_sample(p, &s, weights);
	}
}

static void release(struct reader *r)
{
	fz_map_release(&r->string_of);
	fz_map_release(&r->frame_of);
	fz_map_release(&r->last_stack);
	free(r->entries);
}

/* Reads events until the end or any damage; everything before it is valid. */
static int read_all(struct reader *r, struct fz_error *err)
{
	const uint8_t *good = r->c.p;

	while (r->c.p < r->c.end && !r->c.bad && !r->p->over_limit) {
		good = r->c.p;
		read_event(r);
	}
	if (r->c.bad) {
		r->p->quality.dropped_bytes = (uint64_t)(r->c.end - good);
		r->open = false;
	}
	end_sample(r);
	if (!r->n && !r->p->over_limit)
		return fz_fail(err, FZ_EINPUT, "%s: no readable sample", r->name);
	return fz_profile_check(r->p, err);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_input_read_all(in, &bytes, FZ_IMPORT_FILE_MAX, err);

	if (code)
		return code;
	struct fz_str s = fz_buf_view(&bytes);
	r.c = fz_cursor_of(s.p, s.n);
	fz_cursor_bytes(&r.c, 3);
	int64_t version = read_number(&r);
	if (r.c.bad || version < 1)
		return fz_fail(err, FZ_EINPUT, "%s: not a MOJO file", r.name);
	if (version > VERSION_MAX)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: MOJO version %lld; versions up to %d are supported: let austin "
			       "write text",
			       r.name, (long long)version, VERSION_MAX);
	r.version = (uint32_t)version;
	p->samples.timed = false;
	code = read_all(&r, err);
	if (!code)
		add_samples(&r);
	return code;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	return n >= 5 && memcmp(head, "MOJ", 3) == 0 && head[3] < 0x40 ? 100 : 0;
}

const struct fz_format fz_format_mojo = {
	.name = "mojo",
	.title = "MOJO, austin's binary format",
	.suffixes = ".mojo .austin",
	.sniff = sniff,
	.read = read,
};
