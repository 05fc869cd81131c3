/* SPDX-License-Identifier: MIT */
/* Writes .bin files that CPython 3.15's replay accepts; the layout is in tachyon.h.
 *
 * The format has no weights: a sample is one interval, and cost is the number of samples. A row
 * with the cost of several (the recorder was late, or equal samples were merged) is therefore
 * written that many times, an interval apart, ending at its own time; tachyon_plan.c computes the
 * numbers so that shares are preserved. Stacks deeper than 256 keep their innermost frames, as in
 * CPython. Times are whole microseconds; runs follow one another.
 *
 * The samples are compressed in memory, two or three bytes each, because the header before them
 * contains their size.
 */
#include "metric_fit.h"
#include "tachyon.h"
#include "tachyon_plan.h"

#include <math.h>
#include <zstd.h>

enum { RECORDS = 64 * 1024, LEVEL = 5, REPEATS_MAX = 8192 };

/* State of one (tid, interpreter) that its next record is relative to. */
struct lane {
	uint64_t tid;
	uint32_t interp;
	uint64_t now_us;
	uint32_t stack; /* profile stack of the last record */
	uint32_t depth;
	uint32_t frames[TACHYON_DEPTH]; /* file frames, innermost first */
	struct fz_buf repeats;          /* (delta, status) pairs not written yet */
	uint32_t repeat_count;
};

struct writer {
	const struct fz_profile *p;
	struct fz_tachyon_plan plan;
	uint32_t *lane_of_thread;
	struct lane **lanes;
	size_t lane_count, lane_cap;
	uint32_t *string_index, *frame_index; /* in the file; FZ_NONE: not used yet */
	uint32_t string_count, frame_count;
	struct fz_buf strings, frames; /* encoded tables */
	struct fz_buf records, packed;
	ZSTD_CStream *zstd; /* NULL: not compressed */
	uint64_t samples;
	uint64_t last_us;
	uint64_t *run_start_us;
};

static void compress(struct writer *w, ZSTD_EndDirective end)
{
	ZSTD_inBuffer src = { w->records.p, w->records.n, 0 };
	size_t left;

	if (!w->zstd) {
		fz_buf_add(&w->packed, w->records.p, w->records.n);
		fz_buf_reset(&w->records);
		return;
	}
	do {
		char *room = fz_buf_reserve(&w->packed, ZSTD_CStreamOutSize());
		ZSTD_outBuffer dst = { room, ZSTD_CStreamOutSize(), 0 };
		left = ZSTD_compressStream2(w->zstd, &dst, &src, end);
		fz_assert(!ZSTD_isError(left));
		w->packed.n += dst.pos;
	} while (src.pos < src.size || (end == ZSTD_e_end && left));
	fz_buf_reset(&w->records);
}

/* ---- tables ---- */

/* The entry after the profile's last one is "~". */
static uint32_t add_string(struct writer *w, struct fz_str s)
{
	fz_buf_varint(&w->strings, s.n);
	fz_buf_add(&w->strings, s.p, s.n);
	return w->string_count++;
}

static uint32_t string_index(struct writer *w, uint32_t string)
{
	if (w->string_index[string] == FZ_NONE)
		w->string_index[string] =
			add_string(w, string < w->p->string_count ? fz_profile_text(w->p, string)
								  : FZ_STR(TACHYON_SPECIAL));
	return w->string_index[string];
}

/* Whether a function is written with the file "~" and no line, because it is not code or has no
 * file; Tachyon shows just its name. */
static bool is_special(const struct writer *w, const struct fz_function *f)
{
	return f->kind == FZ_KIND_MARKER || f->kind == FZ_KIND_TASK ||
	       fz_profile_text(w->p, f->file).n == 0;
}

static int64_t range_end(int32_t start, int32_t end)
{
	return start == FZ_NO_LINE || end == FZ_NO_LINE ? 0 : (int64_t)end - start;
}

static uint32_t frame_index(struct writer *w, uint32_t frame)
{
	const struct fz_frame *f = &w->p->frames[frame];
	const struct fz_function *function = &w->p->functions[f->function];

	if (w->frame_index[frame] != FZ_NONE)
		return w->frame_index[frame];
	w->frame_index[frame] = w->frame_count++;
	bool special = is_special(w, function);
	int32_t line = special ? FZ_NO_LINE : f->line;
	uint32_t file = string_index(w, special ? w->p->string_count : function->file);
	uint32_t name = string_index(w, function->name);
	fz_buf_varint(&w->frames, file);
	fz_buf_varint(&w->frames, name);
	fz_buf_zigzag(&w->frames, line);
	fz_buf_zigzag(&w->frames, special ? 0 : range_end(f->line, f->end_line));
	fz_buf_zigzag(&w->frames, special ? FZ_NO_LINE : f->column);
	fz_buf_zigzag(&w->frames, special ? 0 : range_end(f->column, f->end_column));
	fz_buf_u8(&w->frames, f->opcode);
	return w->frame_index[frame];
}

/* ---- records ---- */

static void begin_record(struct writer *w, const struct lane *l, enum tachyon_encoding encoding)
{
	fz_buf_u64(&w->records, l->tid);
	fz_buf_u32(&w->records, l->interp);
	fz_buf_u8(&w->records, encoding);
}

static void flush_repeats(struct writer *w, struct lane *l)
{
	if (!l->repeat_count)
		return;
	begin_record(w, l, TACHYON_REPEAT);
	fz_buf_varint(&w->records, l->repeat_count);
	fz_buf_add(&w->records, l->repeats.p, l->repeats.n);
	fz_buf_reset(&l->repeats);
	l->repeat_count = 0;
}

static void add_moment(struct lane *l, struct fz_buf *to, uint64_t us, uint8_t status)
{
	fz_buf_varint(to, us - l->now_us);
	fz_buf_u8(to, status);
	l->now_us = us;
}

static void add_frames(struct writer *w, const uint32_t *frames, uint32_t n)
{
	fz_buf_varint(&w->records, n);
	for (uint32_t i = 0; i < n; i++)
		fz_buf_varint(&w->records, frames[i]);
}

/* Writes the change of a stack, choosing the encoding like CPython. */
static void add_change(struct writer *w, struct lane *l, uint64_t us, uint8_t status,
		       const uint32_t *frames, uint32_t depth, uint32_t shared)
{
	bool full = shared == 0 || (shared < l->depth && shared < depth / 2);
	bool suffix = !full && shared == l->depth;
	begin_record(w, l, full ? TACHYON_FULL : suffix ? TACHYON_SUFFIX : TACHYON_POP_PUSH);
	add_moment(l, &w->records, us, status);
	if (suffix)
		fz_buf_varint(&w->records, shared);
	else if (!full)
		fz_buf_varint(&w->records, l->depth - shared);
	add_frames(w, frames, full ? depth : depth - shared);
	memcpy(l->frames, frames, depth * sizeof(*frames));
	l->depth = depth;
}

static void add_repeat(struct writer *w, struct lane *l, uint64_t us, uint8_t status)
{
	add_moment(l, &l->repeats, us, status);
	if (++l->repeat_count == REPEATS_MAX)
		flush_repeats(w, l);
}

static uint32_t shared_frames(const struct lane *l, const uint32_t *frames, uint32_t depth)
{
	uint32_t n = 0;

	while (n < depth && n < l->depth && frames[depth - 1 - n] == l->frames[l->depth - 1 - n])
		n++;
	return n;
}

static void add_sample(struct writer *w, struct lane *l, uint64_t us, uint8_t status,
		       uint32_t stack)
{
	us = FZ_MAX(us, l->now_us);
	w->last_us = FZ_MAX(w->last_us, us);
	w->samples++;
	if (w->records.n >= RECORDS)
		compress(w, ZSTD_e_continue);
	if (stack == l->stack) {
		add_repeat(w, l, us, status);
		return;
	}
	uint32_t frames[TACHYON_DEPTH], depth = 0;
	for (uint32_t at = stack; at != FZ_NONE && depth < TACHYON_DEPTH;
	     at = w->p->stacks[at].parent)
		frames[depth++] = frame_index(w, w->p->stacks[at].frame);
	l->stack = stack;
	uint32_t shared = shared_frames(l, frames, depth);
	if (shared == depth && depth == l->depth) { /* they differ only in truncated frames */
		add_repeat(w, l, us, status);
		return;
	}
	flush_repeats(w, l);
	add_change(w, l, us, status, frames, depth, shared);
}

static void add_row(struct writer *w, size_t row)
{
	const struct fz_samples *s = &w->p->samples;
	struct lane *l = w->lanes[w->lane_of_thread[s->thread[row]]];
	uint64_t n = w->plan.of_row[row], interval_us = (uint64_t)w->plan.interval_ns / 1000;
	int64_t time = s->timed ? FZ_MAX(s->time[row], 0) : 0;
	uint64_t us = w->run_start_us[s->run ? s->run[row] : 0] + (uint64_t)time / 1000;
	/* The format lacks these. */
	uint8_t status = s->status[row] & ~(FZ_STATUS_GC | FZ_STATUS_BESIDE);

	if (w->p->threads[s->thread[row]].is_main)
		status |= FZ_STATUS_MAIN_THREAD;
	for (uint64_t i = n; i-- > 0;) {
		uint64_t before = i * interval_us;
		if (!s->timed)
			add_sample(w, l, l->now_us + interval_us, status, s->stack[row]);
		else
			add_sample(w, l, us > before ? us - before : 0, status, s->stack[row]);
	}
}

/* ---- set-up ---- */

/* Threads that are the same in the format share a lane; one without an id gets a number. */
static void find_lanes(struct writer *w)
{
	struct fz_map by_id = { 0 };

	w->lane_of_thread = fz_calloc(w->p->thread_count, sizeof(*w->lane_of_thread));
	for (uint32_t i = 0; i < w->p->thread_count; i++) {
		const struct fz_thread *t = &w->p->threads[i];
		uint64_t tid = t->tid ? t->tid : i + 1;
		uint32_t *slot = fz_map_slot(&by_id, fz_hash64(tid) ^ t->interp);
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)w->lane_count;
			fz_grow(w->lanes, w->lane_count, w->lane_cap);
			struct lane *l = fz_calloc(1, sizeof(*l));
			l->tid = tid;
			l->interp = t->interp;
			l->stack = FZ_NONE;
			w->lanes[w->lane_count++] = l;
		}
		w->lane_of_thread[i] = *slot;
	}
	fz_map_release(&by_id);
}

static void place_runs(struct writer *w)
{
	const struct fz_samples *s = &w->p->samples;
	uint32_t runs = FZ_MAX(w->p->run_count, 1);
	uint64_t start = 0;

	for (size_t row = 0; s->run && row < s->n; row++)
		runs = FZ_MAX(runs, s->run[row] + 1u);
	w->run_start_us = fz_calloc(runs, sizeof(*w->run_start_us));
	for (size_t row = 0; row < s->n; row++) {
		uint64_t *length = &w->run_start_us[s->run ? s->run[row] : 0];
		*length = FZ_MAX(*length, (uint64_t)FZ_MAX(s->time[row], 0) / 1000 + 1);
	}
	for (uint32_t i = 0; i < runs; i++) {
		uint64_t length = w->run_start_us[i];
		w->run_start_us[i] = start;
		start += length;
	}
}

static uint32_t *none_array(size_t n)
{
	uint32_t *a = fz_reallocarray(NULL, n, sizeof(*a));

	memset(a, 0xff, n * sizeof(*a));
	return a;
}

static void init(struct writer *w, bool compressed)
{
	const struct fz_profile *p = w->p;

	w->string_index = none_array((size_t)p->string_count + 1);
	w->frame_index = none_array(p->frame_count);
	if (compressed) {
		w->zstd = ZSTD_createCStream();
		fz_assert(w->zstd);
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	}
	find_lanes(w);
	place_runs(w);
}

static void release(struct writer *w)
{
	for (size_t i = 0; i < w->lane_count; i++) {
		fz_buf_release(&w->lanes[i]->repeats);
		free(w->lanes[i]);
	}
	free(w->lanes);
	free(w->lane_of_thread);
	free(w->string_index);
	free(w->frame_index);
	free(w->run_start_us);
	fz_tachyon_plan_release(&w->plan);
	ZSTD_freeCStream(w->zstd);
	fz_buf_release(&w->strings);
	fz_buf_release(&w->frames);
	fz_buf_release(&w->records);
	fz_buf_release(&w->packed);
}

/* ---- the file ---- */

static void add_double(struct fz_buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	fz_buf_u64(b, bits);
}

static void add_header(const struct writer *w, struct fz_buf *b)
{
	const struct fz_recording *r = &w->p->recording;
	uint64_t strings_at = TACHYON_HEADER + w->packed.n;
	uint32_t config = r->mode;

	if (r->features_known)
		config |= TACHYON_CONFIG_FEATURES_KNOWN | (r->features & 31)
								  << TACHYON_CONFIG_FEATURES_SHIFT;
	fz_buf_u32(b, TACHYON_MAGIC);
	fz_buf_u32(b, TACHYON_VERSION);
	fz_buf_add(b, r->python, 3);
	fz_buf_u8(b, 0);
	fz_buf_u64(b, 0); /* start, on any clock; times are relative to it */
	fz_buf_u64(b, (uint64_t)w->plan.interval_ns / 1000);
	fz_buf_u64(b, w->samples);
	fz_buf_u32(b, (uint32_t)w->lane_count);
	fz_buf_u64(b, strings_at);
	fz_buf_u64(b, strings_at + w->strings.n);
	fz_buf_u32(b, w->zstd ? TACHYON_ZSTD : 0);
	fz_buf_u32(b, config);
	fz_assert(b->n == TACHYON_HEADER);
}

static double known_or_zero(double v)
{
	return isnan(v) ? 0 : v;
}

static void add_stats(const struct writer *w, struct fz_buf *b)
{
	const struct fz_recording *r = &w->p->recording;
	double seconds = r->duration_ns ? (double)r->duration_ns / 1e9 : (double)w->last_us / 1e6;
	double hz = isnan(r->achieved_hz) && seconds > 0 ? (double)w->samples / seconds
							 : known_or_zero(r->achieved_hz);

	add_double(b, seconds);
	add_double(b, hz);
	add_double(b, known_or_zero(r->error_rate));
	add_double(b, known_or_zero(r->missed_rate));
	fz_buf_u32(b, (isnan(r->error_rate) ? 0 : TACHYON_STATS_HAS_ERROR) |
			      (isnan(r->missed_rate) ? 0 : TACHYON_STATS_HAS_MISSED));
	fz_buf_u32(b, 0);
	fz_buf_str(b, TACHYON_STATS_MAGIC);
	fz_buf_u32(b, 1);
	fz_buf_u32(b, TACHYON_STATS);
}

static void write_file(const struct writer *w, struct fz_output *out)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	add_header(w, &b);
	fz_output_add(out, b.p, b.n);
	fz_output_add(out, w->packed.p, w->packed.n);
	fz_output_add(out, w->strings.p, w->strings.n);
	fz_output_add(out, w->frames.p, w->frames.n);
	fz_buf_reset(&b);
	add_stats(w, &b);
	uint64_t size =
		TACHYON_HEADER + w->packed.n + w->strings.n + w->frames.n + b.n + TACHYON_FOOTER;
	fz_buf_u32(&b, w->string_count);
	fz_buf_u32(&b, w->frame_count);
	fz_buf_u64(&b, size);
	fz_buf_u64(&b, 0);
	fz_buf_u64(&b, 0);
	fz_output_add(out, b.p, b.n);
}

static int write_profile(const struct fz_profile *p, bool compressed, struct fz_output *out,
			 struct fz_error *err)
{
	fz_auto(release) struct writer w = { .p = p };
	int r = fz_tachyon_plan_init(&w.plan, p, err);

	if (r)
		return r;
	init(&w, compressed);
	for (size_t row = 0; row < p->samples.n; row++)
		add_row(&w, row);
	for (size_t i = 0; i < w.lane_count; i++)
		flush_repeats(&w, w.lanes[i]);
	compress(&w, ZSTD_e_end);
	if (fz_fit_makes_samples(p))
		add_string(&w, FZ_STR(TACHYON_MADE));
	write_file(&w, out);
	return 0;
}

int fz_tachyon_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return write_profile(p, true, out, err);
}

int fz_tachyon_write_plain(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return write_profile(p, false, out, err);
}
