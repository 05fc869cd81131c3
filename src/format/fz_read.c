/* SPDX-License-Identifier: MIT */
/* Reads .fz; the layout is in fz_layout.h and docs/format.md.
 *
 * Blocks are read through a window over the input. After a block with a wrong checksum, the reader
 * searches for the next block marker inside it, so only damaged data is lost:
 *
 *   a SAMPLES block   its samples
 *   a TABLES block    names: references to them become the frame "[lost]"
 *   anything          counted in quality.dropped_bytes
 *
 * Indices in the file are mapped to those of the profile, because interning may number them
 * differently.
 */
#include "format.h"
#include "fz_columns.h"
#include "fz_reader.h"
#include "profile/speed.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

enum {
	LOST_A_BYTE = 64, /* table entries assumed per dropped byte */
	WINDOW_STEP = 256 * 1024,
	SOURCES_MAX = 20000, /* searched one by one */
};
/* Limit of bytes checksummed in damaged blocks. */
#define WASTE_MAX ((uint64_t)4 << 30)

#define LOST "[lost]"

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct fz_buf window;
	size_t at; /* position in the window */
	bool ended;
	uint64_t taken, dropped, waste;
	uint64_t lost; /* table entries */
	struct fz_buf plain;
	ZSTD_DCtx *zstd;
	bool has_setup, has_end;
	bool facts_only; /* unpack nothing else */
	int64_t interval_ns, quantum_ns;
	uint32_t columns;
	int64_t unit[FZ_METRICS_MAX], usual[FZ_METRICS_MAX];
	struct fz_file_table strings, functions, frames, stacks, threads;
	uint32_t lost_frame, lost_stack;
	struct fz_file_graph_reader graph;
};

struct block {
	uint8_t type, flags;
	uint32_t packed, plain;
	uint64_t check;
};

/* ---- window ---- */

/* Ensures n bytes at r->at, or as many as there are; negative on an input error. */
static int ensure(struct reader *r, size_t n, struct fz_error *err)
{
	if (r->at > WINDOW_STEP) {
		memmove(r->window.p, r->window.p + r->at, r->window.n - r->at);
		r->window.n -= r->at;
		r->at = 0;
	}
	while (r->window.n - r->at < n && !r->ended) {
		char *room = fz_buf_reserve(&r->window, WINDOW_STEP);
		int64_t got = fz_input_read(r->in, room, WINDOW_STEP, err);
		if (got < 0)
			return (int)got;
		r->ended = got < WINDOW_STEP;
		r->window.n += (size_t)got;
		r->taken += (uint64_t)got;
	}
	return 0;
}

static size_t available(const struct reader *r)
{
	return r->window.n - r->at;
}

static void drop(struct reader *r, size_t n)
{
	r->at += n;
	r->dropped += n;
}

/* Moves to the next mark after the byte at r->at. */
static int find_mark(struct reader *r, struct fz_error *err)
{
	drop(r, FZ_MIN(available(r), (size_t)1));
	for (;;) {
		int code = ensure(r, FZ_FZ_MARK_SIZE, err);
		if (code)
			return code;
		const char *here = r->window.p + r->at;
		const char *mark = memmem(here, available(r), FZ_FZ_MARK, FZ_FZ_MARK_SIZE);
		if (mark) {
			drop(r, (size_t)(mark - here));
			return 0;
		}
		if (r->ended) {
			drop(r, available(r));
			return 0;
		}
		drop(r, available(r) - (FZ_FZ_MARK_SIZE - 1));
	}
}

static bool parse_header(const struct reader *r, struct block *b)
{
	struct fz_cursor c = fz_cursor_of(r->window.p + r->at, available(r));
	const uint8_t *start = c.p;
	const uint8_t *mark = fz_cursor_bytes(&c, FZ_FZ_MARK_SIZE);

	b->type = fz_cursor_u8(&c);
	b->flags = fz_cursor_u8(&c);
	fz_cursor_bytes(&c, 2);
	b->packed = fz_cursor_u32(&c);
	b->plain = fz_cursor_u32(&c);
	b->check = fz_cursor_u64(&c);
	size_t checked = (size_t)(c.p - start);
	uint32_t check = fz_cursor_u32(&c);
	return !c.bad && memcmp(mark, FZ_FZ_MARK, FZ_FZ_MARK_SIZE) == 0 &&
	       check == (uint32_t)XXH3_64bits(start, checked) && b->packed <= FZ_FZ_PACKED_MAX &&
	       b->plain <= FZ_FZ_PLAIN_MAX;
}

/* Unpacks into r->plain, which grows with the actual output. */
static bool unpack(struct reader *r, const struct block *b, const char *payload)
{
	fz_buf_reset(&r->plain);
	if (!(b->flags & FZ_FZ_ZSTD)) {
		fz_buf_add(&r->plain, payload, b->packed);
		return b->packed == b->plain;
	}
	ZSTD_inBuffer src = { payload, b->packed, 0 };
	size_t left = 1;
	ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
	while (left) {
		size_t step = FZ_MIN((size_t)b->plain + 1 - r->plain.n, (size_t)WINDOW_STEP);
		ZSTD_outBuffer dst = { fz_buf_reserve(&r->plain, step), step, 0 };
		size_t before = src.pos;
		left = ZSTD_decompressStream(r->zstd, &dst, &src);
		r->plain.n += dst.pos;
		if (ZSTD_isError(left) || r->plain.n > b->plain ||
		    (dst.pos == 0 && src.pos == before))
			return false;
	}
	return r->plain.n == b->plain;
}

/* ---- tables ---- */

static void append(struct fz_file_table *t, uint32_t index)
{
	fz_push(t->at, t->n, t->cap, index);
}

static uint32_t lost_frame(struct reader *r)
{
	if (r->lost_frame == FZ_NONE)
		r->lost_frame = fz_profile_frame_named(r->p, FZ_STR(LOST), FZ_STR(""), FZ_NO_LINE,
						       FZ_KIND_MARKER);
	return r->lost_frame;
}

static uint32_t lost_stack(struct reader *r)
{
	if (r->lost_stack == FZ_NONE)
		r->lost_stack = fz_profile_stack(r->p, FZ_NONE, lost_frame(r));
	return r->lost_stack;
}

static uint32_t read_string_ref(struct reader *r, struct fz_cursor *c)
{
	uint32_t s = fz_file_translate(&r->strings, fz_cursor_varint(c));

	return s == FZ_NONE ? fz_profile_string(r->p, FZ_STR(LOST)) : s;
}

static uint32_t read_string(struct reader *r, struct fz_cursor *c)
{
	uint64_t n = fz_cursor_varint(c);
	const uint8_t *p = fz_cursor_bytes(c, n);

	return p ? fz_profile_string(r->p, (struct fz_str){ (const char *)p, n }) : 0;
}

static uint32_t read_function(struct reader *r, struct fz_cursor *c)
{
	struct fz_function f;

	f.name = read_string_ref(r, c);
	f.file = read_string_ref(r, c);
	f.module = read_string_ref(r, c);
	int64_t line = fz_cursor_zigzag(c);
	f.first_line = line >= 0 && line <= INT32_MAX ? (int32_t)line : 0;
	f.kind = fz_cursor_u8(c);
	if (f.kind >= FZ_KINDS)
		f.kind = FZ_KIND_UNKNOWN;
	return c->bad ? 0 : fz_profile_function(r->p, &f);
}

static int32_t position(int64_t v)
{
	return v >= 0 && v <= INT32_MAX ? (int32_t)v : FZ_NO_LINE;
}

static int32_t read_end(struct fz_cursor *c, int32_t start)
{
	int64_t v = fz_cursor_zigzag(c);

	return v < -INT32_MAX || v > INT32_MAX ? FZ_NO_LINE : position(start + v);
}

static uint32_t read_frame(struct reader *r, struct fz_cursor *c)
{
	struct fz_frame f = { .function = fz_file_translate(&r->functions, fz_cursor_varint(c)) };

	f.line = position(fz_cursor_zigzag(c));
	f.end_line = read_end(c, f.line);
	f.column = position(fz_cursor_zigzag(c));
	f.end_column = read_end(c, f.column);
	f.opcode = fz_cursor_u8(c);
	if (c->bad)
		return 0;
	return f.function == FZ_NONE ? lost_frame(r) : fz_profile_frame(r->p, &f);
}

static uint32_t read_stack(struct reader *r, struct fz_cursor *c)
{
	uint64_t up = fz_cursor_varint(c);
	uint32_t frame = fz_file_translate(&r->frames, fz_cursor_varint(c));
	uint32_t parent = FZ_NONE;

	if (c->bad || up > r->stacks.n) {
		c->bad = true;
		return 0;
	}
	if (up) {
		parent = fz_file_translate(&r->stacks, r->stacks.n - up);
		if (parent == FZ_NONE)
			parent = lost_stack(r);
	}
	return fz_profile_stack(r->p, parent, frame == FZ_NONE ? lost_frame(r) : frame);
}

static uint32_t read_thread(struct reader *r, struct fz_cursor *c)
{
	struct fz_thread t;

	t.pid = fz_cursor_varint(c);
	t.tid = fz_cursor_varint(c);
	t.interp = fz_cursor_varint32(c, UINT32_MAX);
	t.name = read_string_ref(r, c);
	t.is_main = fz_cursor_u8(c);
	return c->bad ? 0 : fz_profile_thread(r->p, &t);
}

typedef uint32_t read_entry(struct reader *r, struct fz_cursor *c);

/* Reads entries; a gap before the first one was in a damaged block. */
static bool read_entries(struct reader *r, struct fz_cursor *c, struct fz_file_table *t,
			 read_entry *entry)
{
	if (!c->bad && fz_cursor_left(c) == 0)
		return true; /* the block was full before this table */
	uint64_t first = fz_cursor_varint(c), n = fz_cursor_varint(c);
	if (c->bad || first < t->n || n > fz_cursor_left(c) ||
	    r->lost + (first - t->n) > r->dropped * LOST_A_BYTE || first >= FZ_NONE)
		return false;
	r->lost += first - t->n;
	while (t->n < first)
		append(t, FZ_NONE);
	for (uint64_t i = 0; i < n && !c->bad && !r->p->over_limit; i++) {
		uint32_t index = entry(r, c);
		if (!c->bad)
			append(t, index);
	}
	return !c->bad;
}

static bool read_tables(struct reader *r, struct fz_cursor *c)
{
	return read_entries(r, c, &r->strings, read_string) &&
	       read_entries(r, c, &r->functions, read_function) &&
	       read_entries(r, c, &r->frames, read_frame) &&
	       read_entries(r, c, &r->stacks, read_stack) &&
	       read_entries(r, c, &r->threads, read_thread);
}

/* ---- the other blocks ---- */

struct metric {
	struct fz_str name, unit;
	int64_t each;
	bool has_column;
};

static struct metric read_metric(struct fz_cursor *c)
{
	struct metric m = { .name = fz_file_text(c), .unit = fz_file_text(c) };

	m.each = fz_cursor_zigzag(c);
	m.has_column = fz_cursor_u8(c);
	return m;
}

static void add_metric(struct reader *r, const struct metric *m)
{
	fz_profile_add_metric(r->p, m->name, m->unit, m->each, m->has_column);
	if (!m->has_column)
		return;
	r->unit[r->columns] = fz_str_eq(m->unit, FZ_STR("ns")) ? r->quantum_ns : 1;
	r->usual[r->columns++] = m->each;
}

/* Reads everything or nothing. Later blocks repeat the first one. */
static bool read_setup(struct reader *r, struct fz_cursor *c)
{
	struct metric metrics[FZ_METRICS_MAX];

	if (r->has_setup)
		return true;
	int64_t quantum = (int64_t)fz_cursor_varint32(c, 1000 * 1000 * 1000);
	uint64_t interval = fz_cursor_varint(c);
	uint32_t chosen = fz_cursor_varint32(c, FZ_METRICS_MAX);
	uint32_t n = fz_cursor_varint32(c, FZ_METRICS_MAX);
	for (uint32_t m = 0; m < n; m++)
		metrics[m] = read_metric(c);
	if (c->bad || quantum < 1 || interval > INT64_MAX / 2 || n == 0 || chosen >= n)
		return false;
	r->quantum_ns = quantum;
	r->interval_ns = (int64_t)interval;
	for (uint32_t m = 0; m < n; m++)
		add_metric(r, &metrics[m]);
	r->p->default_metric = chosen;
	r->has_setup = true;
	return true;
}

static void add_row(struct reader *r, const struct fz_file_rows *rows, uint32_t row)
{
	int64_t weights[FZ_METRICS_MAX];
	uint32_t thread = fz_file_translate(&r->threads, rows->threads[rows->thread[row]]);
	uint32_t stack = rows->stack[row];

	if (stack != FZ_NONE) {
		stack = fz_file_translate(&r->stacks, stack);
		if (stack == FZ_NONE)
			stack = lost_stack(r);
	}
	if (thread == FZ_NONE)
		thread = fz_profile_thread(r->p, &(struct fz_thread){ 0 });
	struct fz_sample sample = {
		.run = rows->run[row],
		.thread = thread,
		.stack = stack,
		.status = rows->status[row],
		.count = rows->count[row],
	};
	if (__builtin_mul_overflow(rows->time[row], r->quantum_ns, &sample.time))
		sample.time = 0;
	for (uint32_t m = 0; m < r->columns; m++)
		weights[m] = rows->weight[m][row];
	fz_profile_add_sample(r->p, &sample, weights);
}

static bool read_samples(struct reader *r, struct fz_cursor *c)
{
	fz_auto(fz_file_rows_release) struct fz_file_rows rows = {
		.weight_count = r->columns,
		.interval_ns = r->interval_ns,
		.quantum_ns = r->quantum_ns,
	};

	if (!r->has_setup)
		return false;
	memcpy(rows.unit, r->unit, sizeof(r->unit));
	memcpy(rows.usual, r->usual, sizeof(r->usual));
	if (!fz_file_rows_decode(&rows, c))
		return false;
	if (!fz_format_rows_allowed(r->p, rows.n, r->taken)) {
		r->p->over_limit = true;
		return true;
	}
	for (uint32_t row = 0; row < rows.n; row++)
		add_row(r, &rows, row);
	return true;
}

static bool read_facts(struct reader *r, struct fz_cursor *c)
{
	return fz_file_read_facts(r->p, &r->threads, c);
}

static bool read_source(struct reader *r, struct fz_cursor *c)
{
	struct fz_str file = fz_file_text(c);

	if (c->bad)
		return false;
	if (r->p->source_count >= SOURCES_MAX)
		return true;
	fz_profile_add_source(r->p, fz_profile_string(r->p, file), fz_file_rest(c));
	return true;
}

static bool read_end_mark(struct reader *r, struct fz_cursor *c)
{
	fz_cursor_varint(c);
	r->has_end = true;
	return !c->bad;
}

static bool read_speed(struct reader *r, struct fz_cursor *c)
{
	uint64_t n = fz_cursor_varint(c);
	int64_t time = 0, cost = 0;

	if (c->bad || n > FZ_FZ_PROBES_MAX)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		uint32_t run = fz_cursor_varint32(c, UINT16_MAX),
			 cpu = fz_cursor_varint32(c, UINT16_MAX);
		int64_t later = fz_cursor_zigzag(c), more = fz_cursor_zigzag(c);

		if (c->bad || __builtin_mul_overflow(later, FZ_FZ_PROBE_QUANTUM, &later) ||
		    __builtin_add_overflow(time, later, &time) ||
		    __builtin_mul_overflow(more, FZ_FZ_COST_QUANTUM, &more) ||
		    __builtin_add_overflow(cost, more, &cost) || cost <= 0 || cost > UINT32_MAX)
			return false;
		fz_speed_add(&r->p->speed, &(struct fz_speed_probe){ .run = (uint16_t)run,
								     .cpu = (uint16_t)cpu,
								     .time = time,
								     .cost = (uint32_t)cost });
	}
	return true;
}

static bool read_graph(struct reader *r, struct fz_cursor *c)
{
	return r->has_setup && fz_file_graph_read(&r->graph, c);
}

static bool read_wakes(struct reader *r, struct fz_cursor *c)
{
	return r->has_setup && fz_file_wakes_read(r->p, &r->threads, r->quantum_ns, c);
}

static bool (*const block_readers[])(struct reader *r, struct fz_cursor *c) = {
	[FZ_FZ_SETUP] = read_setup, [FZ_FZ_TABLES] = read_tables, [FZ_FZ_SAMPLES] = read_samples,
	[FZ_FZ_FACTS] = read_facts, [FZ_FZ_SOURCE] = read_source, [FZ_FZ_END] = read_end_mark,
	[FZ_FZ_SPEED] = read_speed, [FZ_FZ_GRAPH] = read_graph,   [FZ_FZ_WAKES] = read_wakes,
};

/* ---- the whole ---- */

static bool is_wanted(const struct reader *r, const struct block *b)
{
	bool is_facts = b->type == FZ_FZ_SETUP || b->type == FZ_FZ_FACTS || b->type == FZ_FZ_END;

	return is_facts || !r->facts_only;
}

/* Reads a block, or skips damage. */
static int read_block(struct reader *r, struct fz_error *err)
{
	struct block b;
	int code = ensure(r, FZ_FZ_BLOCK_HEADER, err);

	if (code || available(r) == 0)
		return code;
	if (!parse_header(r, &b))
		return find_mark(r, err);
	code = ensure(r, FZ_FZ_BLOCK_HEADER + (size_t)b.packed, err);
	if (code)
		return code;
	size_t whole = FZ_FZ_BLOCK_HEADER + (size_t)b.packed;
	const char *payload = r->window.p + r->at + FZ_FZ_BLOCK_HEADER;
	if (available(r) < whole || XXH3_64bits(payload, b.packed) != b.check) {
		r->waste += b.packed;
		if (r->waste > WASTE_MAX)
			return fz_fail(err, FZ_EINPUT, "%s: too damaged to read",
				       fz_input_name(r->in));
		return find_mark(r, err);
	}
	bool known = b.type < FZ_ARRAY_LEN(block_readers) && block_readers[b.type];
	if (!known && (b.flags & FZ_FZ_CRITICAL))
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: written by a newer fizeau; this one cannot read it",
			       fz_input_name(r->in));
	bool good = true;
	if (known && is_wanted(r, &b)) {
		good = unpack(r, &b, payload);
		struct fz_cursor c = fz_cursor_of(r->plain.p, r->plain.n);
		good = good && block_readers[b.type](r, &c);
	}
	if (good)
		r->at += whole;
	else
		drop(r, whole);
	return 0;
}

static int read_blocks(struct reader *r, struct fz_error *err)
{
	int code = 0;

	do {
		code = read_block(r, err);
		if (!code)
			code = fz_profile_check(r->p, err);
	} while (!code && !(r->ended && available(r) == 0));
	if (code)
		return code;
	if (!r->has_setup)
		return fz_fail(err, FZ_EINPUT, "%s: truncated or damaged before the first sample",
			       fz_input_name(r->in));
	fz_file_graph_finish(&r->graph, r->dropped > 0 || !r->has_end);
	r->p->quality.dropped_bytes += r->dropped;
	if (!r->has_end || r->dropped)
		r->p->recording.complete = false;
	return 0;
}

static int read_file_header(struct reader *r, struct fz_error *err)
{
	int code = ensure(r, FZ_FZ_FILE_HEADER, err);

	if (code)
		return code;
	if (available(r) < FZ_FZ_FILE_HEADER)
		return fz_fail(err, FZ_EINPUT, "%s: truncated header", fz_input_name(r->in));
	struct fz_cursor c = fz_cursor_of(r->window.p + 8, 8);
	uint32_t version = fz_cursor_u32(&c);
	if (version != FZ_FZ_VERSION)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: format version %u; this fizeau supports version 1",
			       fz_input_name(r->in), version);
	r->at = FZ_FZ_FILE_HEADER;
	return 0;
}

static void release(struct reader *r)
{
	struct fz_file_table *tables[] = { &r->strings, &r->functions, &r->frames, &r->stacks,
					   &r->threads };

	for (size_t i = 0; i < FZ_ARRAY_LEN(tables); i++)
		free(tables[i]->at);
	fz_callgraph_free(r->graph.graph);
	fz_buf_release(&r->window);
	fz_buf_release(&r->plain);
	ZSTD_freeDCtx(r->zstd);
}

static int read_as(struct fz_input *in, bool facts_only, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = {
		.in = in,
		.p = p,
		.zstd = ZSTD_createDCtx(),
		.facts_only = facts_only,
		.lost_frame = FZ_NONE,
		.lost_stack = FZ_NONE,
		.graph = { .p = p, .strings = &r.strings, .frames = &r.frames },
	};
	fz_assert(r.zstd);
	int code = read_file_header(&r, err);

	return code ? code : read_blocks(&r, err);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	return read_as(in, false, p, err);
}

static int read_facts_only(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	return read_as(in, true, p, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	return n >= 8 && memcmp(head, FZ_FZ_MAGIC, 8) == 0 ? 100 : 0;
}

const struct fz_format fz_format_fz = {
	.name = "fz",
	.title = "Fizeau recording",
	.suffixes = ".fz",
	.sniff = sniff,
	.read = read,
	.read_facts = read_facts_only,
	.write = fz_file_write,
	.binary = true,
};
