/* SPDX-License-Identifier: MIT */
/* Writes .fz: a stream of blocks, each with everything new since the last one; see fz_layout.h.
 *
 *   fz_file_writer_add -> pending rows -> flush: [SETUP] [FACTS] TABLES SAMPLES -> fd or output
 *
 * Times are stored in quanta: 1 us for intervals of 100 us and more, finer below, 1 ns without a
 * known interval. Rounding errors of weights in ns are carried over to the thread's next sample, so
 * sums are exact to a quantum.
 */
#include "fz.h"

#include "base/writebehind.h"
#include "fz_columns.h"
#include "format.h"
#include "profile/speed.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <errno.h>
#include <math.h>
#include <zstd.h>

enum {
	LEVEL = 3,
	SETUP_EVERY = 64,      /* flushes; limits the loss if the first block is damaged */
	QUALITY_EVERY = 8,     /* flushes */
	TABLE_BYTES = 1 << 20, /* start another block at this size */
	QUANTA_AN_INTERVAL = 100,
};

/* State of a thread while its samples are written. */
struct lane {
	int64_t last_time; /* in quanta */
	bool seen;
	int64_t carry[FZ_METRICS_MAX];
	uint32_t local; /* index in the current block, if block == writer.block */
	uint64_t block;
};

struct fz_file_writer {
	struct fz_write_behind *file; /* NULL: write to `out` */
	struct fz_output *out;
	const struct fz_profile *p;
	ZSTD_CCtx *zstd;
	int64_t interval_ns, quantum_ns;
	struct fz_file_rows rows;     /* pending; n counts */
	struct fz_speed_track probes; /* pending */
	struct fz_wakes wakes;        /* pending */
	struct lane *lanes;
	uint32_t lane_count;
	uint64_t block; /* number of SAMPLES blocks, from 1 */
	uint64_t flushes, samples;
	uint32_t strings, functions, frames, stacks, threads; /* already written */
	struct named {
		uint32_t name;
		bool is_main;
	} * named; /* stored state of each written thread */
	uint32_t named_cap;
	uint64_t facts_hash;
	struct fz_buf plain, packed;
};

/* ---- blocks ---- */

static void put(struct fz_file_writer *w, const void *p, size_t n)
{
	if (w->out)
		fz_output_add(w->out, p, n);
	else
		fz_write_behind_add(w->file, p, n);
}

/* Compresses w->plain, each part separately for better statistics. */
static void compress(struct fz_file_writer *w, const size_t *ends, size_t parts)
{
	ZSTD_inBuffer src = { w->plain.p, 0, 0 };

	fz_buf_reset(&w->packed);
	ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
	for (size_t i = 0; i < parts; i++) {
		bool last = i + 1 == parts;
		size_t left;
		src.size = ends[i];
		do {
			char *room = fz_buf_reserve(&w->packed, ZSTD_CStreamOutSize());
			ZSTD_outBuffer dst = { room, ZSTD_CStreamOutSize(), 0 };
			left = ZSTD_compressStream2(w->zstd, &dst, &src,
						    last ? ZSTD_e_end : ZSTD_e_flush);
			fz_assert(!ZSTD_isError(left));
			w->packed.n += dst.pos;
		} while (left || src.pos < src.size);
	}
}

/* Writes w->plain as a block and clears it. */
static void put_block(struct fz_file_writer *w, enum fz_file_block type, const size_t *ends,
		      size_t parts)
{
	fz_auto(fz_buf_release) struct fz_buf head = { 0 };
	size_t whole = w->plain.n;

	if (ends)
		compress(w, ends, parts);
	else
		compress(w, &whole, 1);
	bool zstd = w->packed.n < w->plain.n;
	const struct fz_buf *payload = zstd ? &w->packed : &w->plain;
	fz_buf_add(&head, FZ_FZ_MARK, FZ_FZ_MARK_SIZE);
	fz_buf_u8(&head, (uint8_t)type);
	fz_buf_u8(&head, zstd ? FZ_FZ_ZSTD : 0);
	fz_buf_u8(&head, 0);
	fz_buf_u8(&head, 0);
	fz_buf_u32(&head, (uint32_t)payload->n);
	fz_buf_u32(&head, (uint32_t)w->plain.n);
	fz_buf_u64(&head, XXH3_64bits(payload->p, payload->n));
	fz_buf_u32(&head, (uint32_t)XXH3_64bits(head.p, head.n));
	fz_assert(head.n == FZ_FZ_BLOCK_HEADER);
	put(w, head.p, head.n);
	put(w, payload->p, payload->n);
	fz_buf_reset(&w->plain);
}

static void add_text(struct fz_buf *b, struct fz_str s)
{
	fz_buf_varint(b, s.n);
	fz_buf_add(b, s.p, s.n);
}

static void put_setup(struct fz_file_writer *w)
{
	fz_buf_varint(&w->plain, (uint64_t)w->quantum_ns);
	fz_buf_varint(&w->plain, (uint64_t)w->interval_ns);
	fz_buf_varint(&w->plain, w->p->default_metric);
	fz_buf_varint(&w->plain, w->p->metric_count);
	for (uint32_t m = 0; m < w->p->metric_count; m++) {
		const struct fz_metric *metric = &w->p->metrics[m];
		add_text(&w->plain, fz_str_of(metric->name));
		add_text(&w->plain, fz_str_of(metric->unit));
		fz_buf_zigzag(&w->plain, metric->each);
		fz_buf_u8(&w->plain, metric->column != NULL);
	}
	put_block(w, FZ_FZ_SETUP, NULL, 0);
}

/* ---- tables ---- */

typedef void add_entry(struct fz_file_writer *w, uint32_t i);

static void add_string(struct fz_file_writer *w, uint32_t i)
{
	add_text(&w->plain, fz_profile_text(w->p, i));
}

static void add_function(struct fz_file_writer *w, uint32_t i)
{
	const struct fz_function *f = &w->p->functions[i];

	fz_assert(f->name < w->strings && f->file < w->strings && f->module < w->strings);
	fz_buf_varint(&w->plain, f->name);
	fz_buf_varint(&w->plain, f->file);
	fz_buf_varint(&w->plain, f->module);
	fz_buf_zigzag(&w->plain, f->first_line);
	fz_buf_u8(&w->plain, f->kind);
}

static void add_frame(struct fz_file_writer *w, uint32_t i)
{
	const struct fz_frame *f = &w->p->frames[i];

	fz_assert(f->function < w->functions);
	fz_buf_varint(&w->plain, f->function);
	fz_buf_zigzag(&w->plain, f->line);
	fz_buf_zigzag(&w->plain, (int64_t)f->end_line - f->line);
	fz_buf_zigzag(&w->plain, f->column);
	fz_buf_zigzag(&w->plain, (int64_t)f->end_column - f->column);
	fz_buf_u8(&w->plain, f->opcode);
}

static void add_stack(struct fz_file_writer *w, uint32_t i)
{
	const struct fz_stack *s = &w->p->stacks[i];

	fz_assert(s->frame < w->frames && (s->parent == FZ_NONE || s->parent < i));
	fz_buf_varint(&w->plain, s->parent == FZ_NONE ? 0 : i - s->parent);
	fz_buf_varint(&w->plain, s->frame);
}

static void add_thread(struct fz_file_writer *w, uint32_t i)
{
	const struct fz_thread *t = &w->p->threads[i];

	fz_assert(t->name < w->strings);
	fz_buf_varint(&w->plain, t->pid);
	fz_buf_varint(&w->plain, t->tid);
	fz_buf_varint(&w->plain, t->interp);
	fz_buf_varint(&w->plain, t->name);
	fz_buf_u8(&w->plain, t->is_main);
	fz_grow(w->named, i, w->named_cap);
	w->named[i] = (struct named){ t->name, t->is_main };
}

/* Adds entries [*done, count) of a table, as many as fit: first index, number, the entries. True if
 * all were added. */
static bool add_entries(struct fz_file_writer *w, uint32_t *done, uint32_t count, add_entry *add)
{
	size_t start = w->plain.n, at = start;
	struct fz_buf entries = w->plain;
	uint32_t first = *done;

	/* The number precedes the entries but is known later, so build these separately. */
	w->plain = (struct fz_buf){ 0 };
	while (*done < count && at + w->plain.n < TABLE_BYTES)
		add(w, (*done)++);
	struct fz_buf added = w->plain;
	w->plain = entries;
	fz_buf_varint(&w->plain, first);
	fz_buf_varint(&w->plain, *done - first);
	fz_buf_add(&w->plain, added.p, added.n);
	fz_buf_release(&added);
	return *done == count;
}

static bool tables_done(const struct fz_file_writer *w)
{
	const struct fz_profile *p = w->p;

	return w->strings == p->string_count && w->functions == p->function_count &&
	       w->frames == p->frame_count && w->stacks == p->stack_count &&
	       w->threads == p->thread_count;
}

/* Writes tables in an order in which each refers only to earlier ones. */
static void put_tables(struct fz_file_writer *w)
{
	const struct fz_profile *p = w->p;

	while (!tables_done(w)) {
		/* A full block ends the chain, so no entry precedes the ones it refers to. */
		(void)(add_entries(w, &w->strings, p->string_count, add_string) &&
		       add_entries(w, &w->functions, p->function_count, add_function) &&
		       add_entries(w, &w->frames, p->frame_count, add_frame) &&
		       add_entries(w, &w->stacks, p->stack_count, add_stack) &&
		       add_entries(w, &w->threads, p->thread_count, add_thread));
		put_block(w, FZ_FZ_TABLES, NULL, 0);
	}
}

/* ---- facts ---- */

static void add_field(struct fz_buf *b, enum fz_file_field tag, struct fz_buf *content)
{
	fz_buf_varint(b, tag);
	fz_buf_varint(b, content->n);
	fz_buf_add(b, content->p, content->n);
	fz_buf_reset(content);
}

static void add_number(struct fz_buf *b, enum fz_file_field tag, int64_t v)
{
	fz_auto(fz_buf_release) struct fz_buf c = { 0 };

	fz_buf_zigzag(&c, v);
	add_field(b, tag, &c);
}

static void add_double(struct fz_buf *b, enum fz_file_field tag, double v)
{
	fz_auto(fz_buf_release) struct fz_buf c = { 0 };
	uint64_t bits;

	if (isnan(v))
		return;
	memcpy(&bits, &v, sizeof(bits));
	fz_buf_u64(&c, bits);
	add_field(b, tag, &c);
}

static void add_recording(const struct fz_profile *p, struct fz_buf *b)
{
	const struct fz_recording *r = &p->recording;
	fz_auto(fz_buf_release) struct fz_buf c = { 0 };

	add_number(b, FZ_FZ_MODE, r->mode);
	if (r->features_known)
		add_number(b, FZ_FZ_FEATURES, r->features);
	add_number(b, FZ_FZ_INTERVAL, r->interval_ns);
	add_number(b, FZ_FZ_DURATION, r->duration_ns);
	fz_buf_add(&c, r->python, sizeof(r->python));
	add_field(b, FZ_FZ_PYTHON, &c);
	add_number(b, FZ_FZ_FLAGS,
		   (r->complete ? FZ_FZ_COMPLETE : 0) |
			   (r->reconstructed ? FZ_FZ_RECONSTRUCTED : 0) |
			   (p->samples.ordered ? 0 : FZ_FZ_UNORDERED) |
			   (p->samples.timed ? 0 : FZ_FZ_UNTIMED) |
			   (p->samples.spans ? FZ_FZ_SPANS : 0));
	add_double(b, FZ_FZ_ERROR_RATE, r->error_rate);
	add_double(b, FZ_FZ_MISSED_RATE, r->missed_rate);
	add_double(b, FZ_FZ_ACHIEVED_HZ, r->achieved_hz);
	if (p->skipped_lines)
		add_number(b, FZ_FZ_SKIPPED_LINES, p->skipped_lines);
}

/* Adds names that changed after their threads were written. */
static void add_thread_names(const struct fz_file_writer *w, struct fz_buf *b)
{
	fz_auto(fz_buf_release) struct fz_buf c = { 0 };

	for (uint32_t i = 0; i < w->threads; i++) {
		const struct fz_thread *t = &w->p->threads[i];
		struct fz_str name = fz_profile_text(w->p, t->name);
		if (t->name == w->named[i].name && t->is_main == w->named[i].is_main)
			continue;
		fz_buf_varint(&c, i);
		fz_buf_u8(&c, t->is_main);
		fz_buf_add(&c, name.p, name.n);
		add_field(b, FZ_FZ_THREAD, &c);
	}
}

/* Adds the fields after the duration of a run; see docs/format.md. */
static void add_outcome(const struct fz_run *run, struct fz_buf *c)
{
	const struct fz_load *l = &run->load;
	const int64_t times[] = { l->ran_ns,    l->waited_ns,  l->used_ns,     l->others_ns,
				  l->stolen_ns, l->machine_ns, l->unsampled_ns };

	fz_buf_u8(c, (uint8_t)run->outcome);
	fz_buf_zigzag(c, run->status);
	for (size_t i = 0; i < FZ_ARRAY_LEN(times); i++)
		fz_buf_zigzag(c, times[i]);
}

static void add_lists(const struct fz_profile *p, struct fz_buf *b)
{
	fz_auto(fz_buf_release) struct fz_buf c = { 0 };

	for (uint32_t i = 0; i < p->fact_count; i++) {
		struct fz_str value = fz_profile_text(p, p->facts[i].value);
		add_text(&c, fz_profile_text(p, p->facts[i].key));
		fz_buf_add(&c, value.p, value.n);
		add_field(b, FZ_FZ_FACT, &c);
	}
	for (uint32_t i = 0; i < p->run_count; i++) {
		fz_buf_varint(&c, i);
		fz_buf_zigzag(&c, p->runs[i].start_unix_ns);
		fz_buf_zigzag(&c, p->runs[i].duration_ns);
		add_outcome(&p->runs[i], &c);
		add_field(b, FZ_FZ_RUN, &c);
	}
}

static void add_quality(const struct fz_quality *q, struct fz_buf *b)
{
	fz_auto(fz_buf_release) struct fz_buf c = { 0 };

	if (!q->known && !q->dropped_bytes)
		return;
	fz_buf_u8(&c, q->known);
	fz_buf_varint(&c, q->taken);
	fz_buf_varint(&c, q->retried);
	fz_buf_varint(&c, q->missed);
	fz_buf_zigzag(&c, q->longest_gap_ns);
	fz_buf_varint(&c, q->dropped_bytes);
	fz_buf_varint(&c, FZ_REJECTS);
	for (int i = 0; i < FZ_REJECTS; i++)
		fz_buf_varint(&c, q->rejected[i]);
	add_field(b, FZ_FZ_QUALITY, &c);
}

/* Writes facts; during recording only changed ones, and now and then the counters. */
static void put_facts(struct fz_file_writer *w, bool final)
{
	add_recording(w->p, &w->plain);
	add_lists(w->p, &w->plain);
	add_thread_names(w, &w->plain);
	uint64_t hash = XXH3_64bits(w->plain.p, w->plain.n);
	if (final || hash != w->facts_hash || w->flushes % QUALITY_EVERY == 0) {
		if (!final && hash == w->facts_hash)
			fz_buf_reset(&w->plain);
		add_quality(&w->p->quality, &w->plain);
		w->facts_hash = hash;
		if (w->plain.n)
			put_block(w, FZ_FZ_FACTS, NULL, 0);
	}
	fz_buf_reset(&w->plain);
}

static void put_sources(struct fz_file_writer *w)
{
	for (uint32_t i = 0; i < w->p->source_count; i++) {
		const struct fz_source_text *s = &w->p->sources[i];
		struct fz_str file = fz_profile_text(w->p, s->file);
		if ((uint64_t)s->size + file.n > FZ_FZ_PACKED_MAX / 2)
			continue;
		add_text(&w->plain, file);
		fz_buf_add(&w->plain, s->text, s->size);
		put_block(w, FZ_FZ_SOURCE, NULL, 0);
	}
}

/* ---- samples ---- */

static struct lane *lane_of(struct fz_file_writer *w, uint32_t thread)
{
	if (thread >= w->lane_count) {
		uint32_t n = FZ_MAX(thread + 1, w->lane_count * 2);
		w->lanes = fz_reallocarray(w->lanes, n, sizeof(*w->lanes));
		memset(w->lanes + w->lane_count, 0, (n - w->lane_count) * sizeof(*w->lanes));
		w->lane_count = n;
	}
	return &w->lanes[thread];
}

/* Rounds a weight in ns to a multiple of the quantum, including the carried error; if it is the
 * time since the thread's last sample, that stored time is used. */
static int64_t round_weight(const struct fz_file_writer *w, struct lane *l, uint32_t m,
			    int64_t weight, int64_t elapsed)
{
	int64_t quantum = w->quantum_ns, due, rounded;

	if (__builtin_add_overflow(weight, l->carry[m], &due))
		return weight / quantum * quantum;
	if (due % quantum == 0)
		rounded = due;
	else if (l->seen && due - elapsed <= quantum && elapsed - due <= quantum)
		rounded = elapsed;
	else
		rounded = fz_file_round_quanta(due, quantum) * quantum;
	l->carry[m] = due - rounded;
	return rounded;
}

static void put_samples(struct fz_file_writer *w)
{
	size_t ends[FZ_FZ_COLUMNS_MAX];

	if (!w->rows.n)
		return;
	size_t parts = fz_file_rows_encode(&w->rows, &w->plain, ends);
	put_block(w, FZ_FZ_SAMPLES, ends, parts);
	w->rows.n = 0;
	w->rows.thread_count = 0;
	w->block++;
}

/* Writes each probe as the difference to the previous one. */
static void put_probes(struct fz_file_writer *w)
{
	struct fz_speed_probe last = { 0 };

	if (!w->probes.n)
		return;
	fz_buf_varint(&w->plain, w->probes.n);
	for (size_t i = 0; i < w->probes.n; i++) {
		struct fz_speed_probe probe = w->probes.probes[i];

		fz_buf_varint(&w->plain, probe.run);
		fz_buf_varint(&w->plain, probe.cpu);
		fz_buf_zigzag(&w->plain,
			      fz_file_round_quanta(probe.time - last.time, FZ_FZ_PROBE_QUANTUM));
		fz_buf_zigzag(&w->plain, fz_file_round_quanta((int64_t)probe.cost - last.cost,
							      FZ_FZ_COST_QUANTUM));
		last.time += fz_file_round_quanta(probe.time - last.time, FZ_FZ_PROBE_QUANTUM) *
			     FZ_FZ_PROBE_QUANTUM;
		last.cost +=
			fz_file_round_quanta((int64_t)probe.cost - last.cost, FZ_FZ_COST_QUANTUM) *
			FZ_FZ_COST_QUANTUM;
	}
	put_block(w, FZ_FZ_SPEED, NULL, 0);
	w->probes.n = 0;
}

static void put_wakes(struct fz_file_writer *w)
{
	if (!w->wakes.n)
		return;
	fz_file_wakes_encode(&w->wakes, w->quantum_ns, &w->plain);
	put_block(w, FZ_FZ_WAKES, NULL, 0);
	w->wakes.n = 0;
}

static void write_pending(struct fz_file_writer *w)
{
	if (w->flushes % SETUP_EVERY == 0)
		put_setup(w);
	put_facts(w, false);
	put_tables(w);
	put_samples(w);
	put_probes(w);
	put_wakes(w);
	w->flushes++;
}

void fz_file_writer_add(struct fz_file_writer *w, const struct fz_sample *s, const int64_t *weights)
{
	struct fz_file_rows *r = &w->rows;
	struct lane *l = lane_of(w, s->thread);
	int64_t time = fz_file_round_quanta(s->time, w->quantum_ns);
	uint32_t row = r->n++;

	if (l->block != w->block) {
		l->block = w->block;
		l->local = r->thread_count++;
		r->threads[l->local] = s->thread;
	}
	r->thread[row] = l->local;
	r->stack[row] = s->stack;
	r->time[row] = time;
	r->status[row] = s->status;
	r->run[row] = s->run;
	r->count[row] = FZ_MAX(s->count, 1);
	int64_t elapsed = (int64_t)((uint64_t)time - (uint64_t)l->last_time) * w->quantum_ns;
	for (uint32_t m = 0; m < r->weight_count; m++)
		r->weight[m][row] =
			r->unit[m] == 1 ? weights[m] : round_weight(w, l, m, weights[m], elapsed);
	l->last_time = time;
	l->seen = true;
	w->samples++;
	if (r->n == FZ_FZ_ROWS_MAX)
		write_pending(w);
}

void fz_file_writer_add_probe(struct fz_file_writer *w, const struct fz_speed_probe *probe)
{
	fz_speed_add(&w->probes, probe);
	if (w->probes.n == FZ_FZ_PROBES_MAX)
		put_probes(w);
}

void fz_file_writer_add_wake(struct fz_file_writer *w, const struct fz_wake *wake)
{
	fz_wakes_add(&w->wakes, wake);
	if (w->wakes.n == FZ_FZ_WAKES_MAX)
		write_pending(w); /* also writes the threads that the wakes refer to */
}

/* Writes the graph once, after the tables it refers to. */
static void put_graph(struct fz_file_writer *w)
{
	const struct fz_callgraph *g = w->p->callgraph;

	for (enum fz_file_graph list = 0; g && list < FZ_FZ_GRAPHS; list++)
		for (uint32_t done = 0; done < fz_file_graph_count(g, list);) {
			fz_file_graph_encode(g, list, &done, &w->plain);
			put_block(w, FZ_FZ_GRAPH, NULL, 0);
		}
}

/* ---- the whole ---- */

/* Fine enough to be far below the resolution of sampling, coarse enough for small numbers. */
static int64_t choose_quantum(int64_t interval_ns)
{
	int64_t quantum = 1;

	if (interval_ns <= 0)
		return 1;
	while (quantum < 1000 && quantum * 10 * QUANTA_AN_INTERVAL <= interval_ns)
		quantum *= 10;
	return quantum;
}

static struct fz_file_writer *writer_new(const struct fz_profile *p, struct fz_write_behind *file,
					 struct fz_output *out)
{
	struct fz_file_writer *w = fz_calloc(1, sizeof(*w));
	uint32_t columns = 0;

	w->file = file;
	w->out = out;
	w->p = p;
	w->block = 1;
	w->interval_ns = FZ_MAX(p->recording.interval_ns, 0);
	w->quantum_ns = choose_quantum(w->interval_ns);
	for (uint32_t m = 0; m < p->metric_count; m++)
		columns += p->metrics[m].column != NULL;
	fz_file_rows_init(&w->rows, FZ_FZ_ROWS_MAX, columns);
	w->rows.n = 0;
	w->rows.interval_ns = w->interval_ns;
	w->rows.quantum_ns = w->quantum_ns;
	for (uint32_t m = 0, column = 0; m < p->metric_count; m++) {
		if (!p->metrics[m].column)
			continue;
		bool is_time = strcmp(p->metrics[m].unit, "ns") == 0;
		w->rows.unit[column] = is_time ? w->quantum_ns : 1;
		w->rows.usual[column++] = p->metrics[m].each;
	}
	w->zstd = ZSTD_createCCtx();
	fz_assert(w->zstd);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	fz_buf_add(&w->plain, FZ_FZ_MAGIC, 8);
	fz_buf_u32(&w->plain, FZ_FZ_VERSION);
	fz_buf_u32(&w->plain, 0);
	put(w, w->plain.p, w->plain.n);
	fz_buf_reset(&w->plain);
	return w;
}

static int report(int error, struct fz_error *err)
{
	if (!error)
		return 0;
	errno = error;
	return fz_fail_errno(err, "the recording cannot be written");
}

struct fz_file_writer *fz_file_writer_new(int fd, struct fz_profile *p)
{
	return writer_new(p, fz_write_behind_new(fd), NULL);
}

int fz_file_writer_flush(struct fz_file_writer *w, struct fz_error *err)
{
	write_pending(w);
	return report(fz_write_behind_error(w->file), err);
}

int fz_file_writer_save(struct fz_file_writer *w, struct fz_error *err)
{
	write_pending(w);
	return report(fz_write_behind_wait(w->file), err);
}

static void finish(struct fz_file_writer *w)
{
	write_pending(w);
	put_facts(w, true);
	put_sources(w);
	put_graph(w);
	fz_buf_varint(&w->plain, w->samples);
	put_block(w, FZ_FZ_END, NULL, 0);
}

int fz_file_writer_finish(struct fz_file_writer *w, struct fz_error *err)
{
	finish(w);
	return report(fz_write_behind_finish(w->file), err);
}

void fz_file_writer_free(struct fz_file_writer *w)
{
	if (!w)
		return;
	fz_file_rows_release(&w->rows);
	free(w->lanes);
	free(w->named);
	free(w->probes.probes);
	free(w->wakes.list);
	fz_write_behind_free(w->file);
	ZSTD_freeCCtx(w->zstd);
	fz_buf_release(&w->plain);
	fz_buf_release(&w->packed);
	free(w);
}

int fz_file_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	struct fz_file_writer *w = writer_new(p, NULL, out);
	const struct fz_samples *s = &p->samples;
	int64_t weights[FZ_METRICS_MAX];

	(void)err;
	for (size_t row = 0; row < s->n; row++) {
		struct fz_sample sample = {
			.run = s->run ? s->run[row] : 0,
			.thread = s->thread[row],
			.stack = s->stack[row],
			.time = s->time[row],
			.status = s->status[row],
			.count = fz_sample_count(p, row),
		};
		for (uint32_t m = 0, column = 0; m < p->metric_count; m++)
			if (p->metrics[m].column)
				weights[column++] = p->metrics[m].column[row];
		fz_file_writer_add(w, &sample, weights);
	}
	for (size_t i = 0; i < p->speed.n; i++)
		fz_file_writer_add_probe(w, &p->speed.probes[i]);
	for (size_t i = 0; i < p->wakes.n; i++)
		fz_file_writer_add_wake(w, &p->wakes.list[i]);
	finish(w);
	fz_file_writer_free(w);
	return 0;
}
