/* SPDX-License-Identifier: MIT */
/* Reads .bin in one pass over a stream; the layout is in tachyon.h.
 *
 * The tables come after the samples, so frame numbers are unresolved at first: stacks are interned
 * in a draft tree {parent, frame number}, a few thousand nodes for any number of samples, and
 * translated once the tables are known.
 *
 *   thread state: frames[] and nodes[] root first; a record drops some from the end, adds some
 *   draft:        node -> {parent node, frame number}
 *
 * Damage in the sample region loses the rest of it; without the tables everything is lost.
 */
#include "format.h"
#include "import.h"
#include "tachyon.h"
#include "tachyon_source.h"

enum {
	DEPTH_MAX = 1 << 20, /* CPython writes at most TACHYON_DEPTH */
	FRAME_BYTES_MIN = 7, /* in the frame table */
};
#define TABLE_BYTES_MAX ((uint64_t)4 << 30)

struct header {
	bool swapped;
	uint8_t python[3];
	uint64_t start_us, interval_us, samples, strings_at, frames_at;
	uint32_t threads, compression, config;
};

/* State that a thread's next record is relative to. */
struct thread_state {
	uint64_t now_us;
	uint32_t depth, cap;
	uint32_t *frames, *nodes; /* root first */
};

struct draft_node {
	uint32_t parent, frame;
	uint32_t last; /* the child of the last lookup, or FZ_NONE */
};

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct header h;
	struct fz_tachyon_source source;
	struct thread_state *threads; /* by profile thread */
	size_t thread_count, thread_cap;
	uint64_t last_tid; /* the thread of the previous record, a likely match */
	uint32_t last_interp, last_thread;
	uint32_t deepest; /* frames */
	struct draft_node *draft;
	uint32_t draft_count, draft_cap, frame_max;
	struct fz_map draft_map; /* (parent + 1, frame) -> node */
	uint32_t *pushed;        /* scratch: innermost first, as in the file */
	size_t pushed_cap;
	struct fz_str *strings;
	bool made; /* samples were synthesized from times */
	uint32_t string_count;
};

static uint32_t get32(const struct header *h, const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return h->swapped ? __builtin_bswap32(v) : v;
}

static uint64_t get64(const struct header *h, const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return h->swapped ? __builtin_bswap64(v) : v;
}

static double get_double(const struct header *h, const uint8_t *at)
{
	uint64_t bits = get64(h, at);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Betas of 3.15, also version 1, had a 32-bit count of samples, which shifts later fields. Read in
 * the final layout, such a file would have its frame table before its strings. */
static void parse_counts(struct header *h, const uint8_t *b)
{
	h->samples = get64(h, b + TACHYON_AT_SAMPLES);
	h->threads = get32(h, b + TACHYON_AT_THREADS);
	h->strings_at = get64(h, b + TACHYON_AT_STRINGS);
	h->frames_at = get64(h, b + TACHYON_AT_FRAMES);
	h->compression = get32(h, b + TACHYON_AT_COMPRESSION);
	h->config = get32(h, b + TACHYON_AT_CONFIG);
	if (h->strings_at >= TACHYON_HEADER && h->strings_at <= h->frames_at)
		return;
	h->samples = get32(h, b + TACHYON_AT_SAMPLES);
	h->threads = get32(h, b + TACHYON_AT_THREADS - 4);
	h->strings_at = get64(h, b + TACHYON_AT_STRINGS - 4);
	h->frames_at = get64(h, b + TACHYON_AT_FRAMES - 4);
	h->compression = get32(h, b + TACHYON_AT_COMPRESSION - 4);
	h->config = 0;
}

static bool is_zero(const uint8_t *b, size_t n)
{
	while (n && !b[n - 1])
		n--;
	return n == 0;
}

static int read_header(struct reader *r, struct fz_error *err)
{
	struct header *h = &r->h;
	const char *name = fz_input_name(r->in);
	uint8_t b[TACHYON_HEADER];
	int64_t n = fz_input_read(r->in, b, sizeof(b), err);
	uint32_t magic;

	if (n < 0)
		return (int)n;
	if (n < (int64_t)sizeof(b))
		return fz_fail(err, FZ_EINPUT, "%s: truncated header", name);
	if (is_zero(b, sizeof(b)))
		return fz_fail(err, FZ_EINPUT,
			       "%s: an unfinished Tachyon recording; its tables were not written, "
			       "so nothing can be recovered",
			       name);
	memcpy(&magic, b, sizeof(magic));
	h->swapped = magic != TACHYON_MAGIC;
	uint32_t version = get32(h, b + TACHYON_AT_VERSION);
	if (version != TACHYON_VERSION)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: Tachyon format version %u; only version 1 is supported", name,
			       version);
	memcpy(h->python, b + TACHYON_AT_PYTHON, sizeof(h->python));
	h->start_us = get64(h, b + TACHYON_AT_START);
	h->interval_us = get64(h, b + TACHYON_AT_INTERVAL);
	parse_counts(h, b);
	if (h->strings_at < TACHYON_HEADER || h->frames_at < h->strings_at ||
	    h->frames_at - h->strings_at > TABLE_BYTES_MAX || h->interval_us > INT64_MAX / 1000)
		return fz_fail(err, FZ_EINPUT, "%s: the header is damaged", name);
	if ((h->config & TACHYON_CONFIG_MODE) > FZ_MODE_EXCEPTION)
		return fz_fail(err, FZ_EINPUT, "%s: unknown recording mode %u", name,
			       h->config & TACHYON_CONFIG_MODE);
	return 0;
}

/* ---- samples ---- */

static struct thread_state *find_thread(struct reader *r, uint64_t tid, uint32_t interp,
					uint32_t *ret_index)
{
	if (r->thread_count && r->last_tid == tid && r->last_interp == interp) {
		*ret_index = r->last_thread;
		return &r->threads[r->last_thread];
	}
	struct fz_thread thread = { .tid = tid, .interp = interp };
	uint32_t index = fz_profile_thread(r->p, &thread);
	if (r->p->thread_count > r->h.threads)
		return NULL;
	if (index == r->thread_count) {
		fz_profile_push(r->p, r->threads, r->thread_count, r->thread_cap,
				(struct thread_state){ .now_us = r->h.start_us });
	}
	r->last_tid = tid;
	r->last_interp = interp;
	r->last_thread = *ret_index = index;
	return &r->threads[index];
}

static uint32_t draft_child(struct reader *r, uint32_t parent, uint32_t frame)
{
	/* Most calls repeat the last one from the same place. */
	if (parent != FZ_NONE && r->draft[parent].last != FZ_NONE &&
	    r->draft[r->draft[parent].last].frame == frame)
		return r->draft[parent].last;
	uint32_t *slot = fz_map_slot(&r->draft_map, FZ_KEY(parent + 1, frame));

	if (*slot == FZ_NONE) {
		*slot = r->draft_count;
		fz_profile_push(r->p, r->draft, r->draft_count, r->draft_cap,
				(struct draft_node){ parent, frame, FZ_NONE });
		r->frame_max = FZ_MAX(r->frame_max, frame);
	}
	if (parent != FZ_NONE)
		r->draft[parent].last = *slot;
	return *slot;
}

/* Pushes pushed[0..n) on the `keep` outermost frames. Unchanged frames need no lookup: FULL records
 * mostly repeat the thread's stack. */
static void change_stack(struct reader *r, struct thread_state *t, uint32_t keep, uint32_t n)
{
	uint32_t depth = keep + n, i = keep;

	if (depth > t->cap) {
		t->cap = FZ_MAX(depth, t->cap * 2);
		t->frames = fz_reallocarray(t->frames, t->cap, sizeof(*t->frames));
		t->nodes = fz_reallocarray(t->nodes, t->cap, sizeof(*t->nodes));
	}
	while (i < depth && i < t->depth && t->frames[i] == r->pushed[depth - 1 - i])
		i++;
	uint32_t node = i ? t->nodes[i - 1] : FZ_NONE;
	for (; i < depth; i++) {
		t->frames[i] = r->pushed[depth - 1 - i];
		t->nodes[i] = node = draft_child(r, node, t->frames[i]);
	}
	t->depth = depth;
	r->deepest = FZ_MAX(r->deepest, depth);
}

static bool read_pushed(struct reader *r, uint64_t n)
{
	if (n > DEPTH_MAX)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t frame = fz_tachyon_source_varint(&r->source);
		if (frame >= FZ_NONE || r->source.bad)
			return false;
		if (i >= r->pushed_cap) {
			r->pushed_cap = r->pushed_cap ? r->pushed_cap * 2 : 256;
			r->pushed = fz_reallocarray(r->pushed, r->pushed_cap, sizeof(*r->pushed));
		}
		r->pushed[i] = (uint32_t)frame;
	}
	return true;
}

static bool read_change(struct reader *r, struct thread_state *t, unsigned encoding)
{
	uint64_t argument = encoding == TACHYON_FULL ? 0 : fz_tachyon_source_varint(&r->source);
	uint64_t n = fz_tachyon_source_varint(&r->source);

	if (r->source.bad || argument > t->depth)
		return false;
	uint32_t keep =
		encoding == TACHYON_POP_PUSH ? t->depth - (uint32_t)argument : (uint32_t)argument;
	/* SUFFIX keeps the outermost `argument` frames of the stack; CPython always keeps all. */
	if (n + keep > DEPTH_MAX || !read_pushed(r, n))
		return false;
	change_stack(r, t, keep, (uint32_t)n);
	return true;
}

static bool read_moment(struct reader *r, struct thread_state *t, uint8_t *ret_status)
{
	uint64_t delta = fz_tachyon_source_varint(&r->source);

	*ret_status = fz_tachyon_source_byte(&r->source);
	t->now_us += delta; /* modulo 2^64, like the writer's subtraction */
	return !r->source.bad;
}

static bool add_sample(struct reader *r, uint32_t thread, uint8_t status)
{
	const struct thread_state *t = &r->threads[thread];
	uint64_t us = t->now_us - r->h.start_us;

	/* A time before the start is from a different clock: the samples are valid, but not their
	 * times. */
	if (us > INT64_MAX / 1000) {
		r->p->samples.timed = false;
		us = 0;
	}
	if (!fz_format_rows_allowed(r->p, 1, r->source.taken)) {
		r->p->over_limit = true;
		return false;
	}
	struct fz_sample sample = {
		.thread = thread,
		.stack = t->depth ? t->nodes[t->depth - 1] : FZ_NONE,
		.time = (int64_t)us * 1000,
		.status = status,
	};
	r->p->threads[thread].is_main |= (status & FZ_STATUS_MAIN_THREAD) != 0;
	fz_profile_add_sample(r->p, &sample, NULL);
	return true;
}

static bool read_repeats(struct reader *r, uint32_t thread)
{
	uint64_t n = fz_tachyon_source_varint(&r->source);
	uint8_t status;

	for (; n && !r->source.bad; n--)
		if (!read_moment(r, &r->threads[thread], &status) || !add_sample(r, thread, status))
			return false;
	return !r->source.bad;
}

/* Reads a record; false if invalid. */
static bool read_record(struct reader *r)
{
	const uint8_t *b = fz_tachyon_source_bytes(&r->source, TACHYON_RECORD);
	uint32_t thread;
	uint8_t status;

	if (!b)
		return false;
	unsigned encoding = b[TACHYON_RECORD - 1];
	struct thread_state *t = find_thread(r, get64(&r->h, b), get32(&r->h, b + 8), &thread);
	if (!t || encoding > TACHYON_POP_PUSH)
		return false;
	if (encoding == TACHYON_REPEAT)
		return read_repeats(r, thread);
	return read_moment(r, t, &status) && read_change(r, t, encoding) &&
	       add_sample(r, thread, status);
}

static int read_samples(struct reader *r, struct fz_error *err)
{
	struct fz_tachyon_source *s = &r->source;
	uint64_t size = r->h.strings_at - TACHYON_HEADER;

	fz_tachyon_source_init(s, r->in, size, r->h.compression == TACHYON_ZSTD);
	bool good = true;
	while (good && !fz_tachyon_source_at_end(s))
		good = read_record(r) && !s->error;
	if (s->error)
		return fz_tachyon_source_skip(s, err);
	if (r->p->over_limit)
		return fz_profile_check(r->p, err);
	if (r->p->thread_count > r->h.threads)
		return fz_fail(err, FZ_EINPUT,
			       "%s: damaged: more threads than the %u in its header",
			       fz_input_name(r->in), r->h.threads);
	bool damaged = !good || s->bad;
	/* The first damaged record may have used up all bytes. */
	if (damaged)
		r->p->quality.dropped_bytes = FZ_MAX(size - s->taken, 1);
	else if (r->p->samples.n != r->h.samples)
		return fz_fail(err, FZ_EINPUT,
			       "%s: damaged: %zu samples instead of the %llu in its header",
			       fz_input_name(r->in), r->p->samples.n,
			       (unsigned long long)r->h.samples);
	return fz_tachyon_source_skip(s, err);
}

/* ---- tables ---- */

static int cut_short(const struct reader *r, struct fz_error *err)
{
	return fz_fail(
		err, FZ_EINPUT,
		"%s: truncated; the tables at its end are missing, so nothing can be recovered",
		fz_input_name(r->in));
}

static int bad_table(const struct reader *r, const char *what, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: the %s table is damaged", fz_input_name(r->in), what);
}

static int read_strings(struct reader *r, struct fz_cursor c, uint32_t count, struct fz_error *err)
{
	if (count > fz_cursor_left(&c))
		return bad_table(r, "string", err);
	r->strings = fz_calloc(count, sizeof(*r->strings));
	r->string_count = count;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t n = fz_cursor_varint(&c);
		const uint8_t *p = fz_cursor_bytes(&c, n);
		if (!p)
			return bad_table(r, "string", err);
		r->strings[i] = (struct fz_str){ (const char *)p, n };
	}
	return 0;
}

/* Whether a file belongs to the wrapper through which Tachyon starts a script. */
static bool is_internal(struct fz_str file)
{
	return fz_str_ends(file, "_sync_coordinator.py");
}

/* Ends of ranges are stored relative to their start; an unknown start has no end. */
static int32_t end_of(int32_t start, int64_t delta)
{
	int64_t v;

	if (start == FZ_NO_LINE || __builtin_add_overflow(start, delta, &v) || v < 0 ||
	    v > INT32_MAX)
		return FZ_NO_LINE;
	return (int32_t)v;
}

static int32_t position(int64_t v)
{
	return v < 0 || v > INT32_MAX ? FZ_NO_LINE : (int32_t)v;
}

static bool read_frame(struct reader *r, struct fz_cursor *c, uint32_t *ret)
{
	uint32_t file = fz_cursor_varint32(c, UINT32_MAX);
	uint32_t name = fz_cursor_varint32(c, UINT32_MAX);
	struct fz_frame frame;

	frame.line = position(fz_cursor_zigzag(c));
	frame.end_line = end_of(frame.line, fz_cursor_zigzag(c));
	frame.column = position(fz_cursor_zigzag(c));
	frame.end_column = end_of(frame.column, fz_cursor_zigzag(c));
	frame.opcode = fz_cursor_u8(c);
	if (c->bad || file >= r->string_count || name >= r->string_count)
		return false;
	if (is_internal(r->strings[file])) {
		*ret = FZ_NONE;
		return true;
	}
	struct fz_function function = {
		.name = fz_profile_string(r->p, r->strings[name]),
		.file = fz_profile_string(r->p, r->strings[file]),
		.kind = fz_str_eq(r->strings[file], FZ_STR(TACHYON_SPECIAL))
				? fz_import_special(r->strings[name])
				: FZ_KIND_PYTHON,
	};
	frame.function = fz_profile_function(r->p, &function);
	*ret = fz_profile_frame(r->p, &frame);
	return true;
}

/* Translates draft stacks and their samples, omitting internal frames. */
static int translate_stacks(struct reader *r, const uint32_t *frames, struct fz_error *err)
{
	fz_auto(fz_free_ptr) uint32_t *real = fz_calloc(r->draft_count, sizeof(*real));
	struct fz_samples *s = &r->p->samples;

	for (uint32_t i = 0; i < r->draft_count; i++) {
		const struct draft_node *d = &r->draft[i];
		uint32_t parent = d->parent == FZ_NONE ? FZ_NONE : real[d->parent];
		uint32_t frame = frames[d->frame];
		real[i] = frame == FZ_NONE ? parent : fz_profile_stack(r->p, parent, frame);
		if (r->p->over_limit)
			return fz_profile_check(r->p, err);
	}
	for (size_t row = 0; row < s->n; row++)
		if (s->stack[row] != FZ_NONE)
			s->stack[row] = real[s->stack[row]];
	return 0;
}

static int read_frames(struct reader *r, struct fz_cursor c, uint32_t count, struct fz_error *err)
{
	if (count > fz_cursor_left(&c) / FRAME_BYTES_MIN)
		return bad_table(r, "frame", err);
	if (r->draft_count && r->frame_max >= count)
		return fz_fail(err, FZ_EINPUT, "%s: damaged: a sample has frame %u of %u",
			       fz_input_name(r->in), r->frame_max, count);
	fz_auto(fz_free_ptr) uint32_t *frames = fz_calloc(count, sizeof(*frames));
	for (uint32_t i = 0; i < count; i++)
		if (!read_frame(r, &c, &frames[i]))
			return bad_table(r, "frame", err);
	if (r->p->over_limit)
		return fz_profile_check(r->p, err);
	return translate_stacks(r, frames, err);
}

static double plausible(double v, double max)
{
	return v >= 0 && v <= max ? v : __builtin_nan("");
}

/* Finds the block by its trailer, because according to CPython's documentation it may grow at the
 * front. */
static void read_stats(struct reader *r, const uint8_t *end, size_t n)
{
	struct fz_recording *to = &r->p->recording;
	const uint8_t *trailer = end - TACHYON_TRAILER;

	if (n < TACHYON_STATS_OLD || memcmp(trailer, TACHYON_STATS_MAGIC, 8) != 0 ||
	    get32(&r->h, trailer + 8) != 1)
		return;
	uint32_t size = get32(&r->h, trailer + 12);
	if (size > n || (size != TACHYON_STATS_OLD && size < TACHYON_STATS))
		return;
	const uint8_t *b = end - size;
	double seconds = plausible(get_double(&r->h, b), 1e9);
	if (seconds > 0)
		to->duration_ns = (int64_t)(seconds * 1e9 + 0.5);
	to->achieved_hz = plausible(get_double(&r->h, b + 8), 1e12);
	if (size == TACHYON_STATS_OLD)
		return;
	uint32_t presence = get32(&r->h, b + 32);
	if (presence & TACHYON_STATS_HAS_ERROR)
		to->error_rate = plausible(get_double(&r->h, b + 16), 100);
	if (presence & TACHYON_STATS_HAS_MISSED)
		to->missed_rate = plausible(get_double(&r->h, b + 24), 100);
}

static int read_tables(struct reader *r, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };
	size_t strings = r->h.frames_at - r->h.strings_at;
	int code = fz_input_read_all(r->in, &b, TABLE_BYTES_MAX, err);

	if (code)
		return code;
	if (b.n < strings + TACHYON_FOOTER)
		return cut_short(r, err);
	const uint8_t *footer = (const uint8_t *)b.p + b.n - TACHYON_FOOTER;
	code = read_strings(r, fz_cursor_of(b.p, strings), get32(&r->h, footer), err);
	if (code)
		return code;
	r->made =
		r->string_count && fz_str_eq(r->strings[r->string_count - 1], FZ_STR(TACHYON_MADE));
	size_t rest = b.n - strings - TACHYON_FOOTER;
	read_stats(r, footer, rest);
	return read_frames(r, fz_cursor_of(b.p + strings, rest), get32(&r->h, footer + 4), err);
}

/* ---- the whole ---- */

struct fz_str tachyon_metric(enum fz_mode mode)
{
	static const char *const names[] = {
		[FZ_MODE_UNKNOWN] = "wall", [FZ_MODE_WALL] = "wall",
		[FZ_MODE_CPU] = "cpu",      [FZ_MODE_GIL] = "gil",
		[FZ_MODE_ALL] = "wall",     [FZ_MODE_EXCEPTION] = "exception",
	};

	return fz_str_of(names[mode]);
}

static void describe(struct reader *r)
{
	struct fz_recording *to = &r->p->recording;
	const struct header *h = &r->h;

	to->mode = (enum fz_mode)(h->config & TACHYON_CONFIG_MODE);
	to->features_known = h->config & TACHYON_CONFIG_FEATURES_KNOWN;
	if (to->features_known)
		to->features = h->config >> TACHYON_CONFIG_FEATURES_SHIFT & 31;
	to->interval_ns = (int64_t)h->interval_us * 1000;
	memcpy(to->python, h->python, sizeof(to->python));
	if (to->interval_ns)
		fz_profile_add_metric(r->p, tachyon_metric(to->mode), FZ_STR("ns"), to->interval_ns,
				      false);
	else
		fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, false);
}

/* Sets the duration to the end of the last sample if there are no statistics. */
static void finish_run(struct reader *r)
{
	const struct fz_samples *s = &r->p->samples;
	int64_t last = 0;

	/* A stack of exactly this depth is most likely truncated. */
	if (r->deepest == TACHYON_DEPTH)
		fz_profile_set_fact(r->p, "stacks.cut", FZ_STR("256"));
	if (r->made) {
		r->p->recording.interval_ns = 0;
		fz_profile_set_fact(r->p, "samples.made", FZ_STR("of times"));
	}
	for (size_t row = 0; row < s->n; row++)
		last = FZ_MAX(last, s->time[row]);
	if (!r->p->recording.duration_ns)
		r->p->recording.duration_ns = last;
	fz_profile_add_run(r->p, &(struct fz_run){ 0, r->p->recording.duration_ns });
}

static void release(struct reader *r)
{
	for (size_t i = 0; i < r->thread_count; i++) {
		free(r->threads[i].frames);
		free(r->threads[i].nodes);
	}
	free(r->threads);
	free(r->draft);
	free(r->pushed);
	free(r->strings);
	fz_map_release(&r->draft_map);
	fz_tachyon_source_release(&r->source);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = in, .p = p };
	int code = read_header(&r, err);

	if (code)
		return code;
	describe(&r);
	code = read_samples(&r, err);
	if (!code)
		code = read_tables(&r, err);
	if (!code)
		finish_run(&r);
	return code;
}

/* A file with this suffix that starts with zeros is a killed recording. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	if (n >= 4 && (memcmp(head, "HCAT", 4) == 0 || memcmp(head, "TACH", 4) == 0))
		return 100;
	return n >= TACHYON_HEADER && is_zero(head, TACHYON_HEADER) &&
			       fz_str_ends(fz_str_of(name), ".bin")
		       ? 50
		       : 0;
}

const struct fz_format fz_format_tachyon = {
	.name = "tachyon",
	.title = "Tachyon binary (CPython's profiling.sampling)",
	.suffixes = ".bin",
	.sniff = sniff,
	.read = read,
	.write = fz_tachyon_write,
	.binary = true,
};
