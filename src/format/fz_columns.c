/* SPDX-License-Identifier: MIT */
/* Column codec of .fz; see fz_columns.h.
 *
 * Layout: rows n, threads m, m thread indices, then the columns, each with one number per row:
 *   thread  0: as predicted, else 1 + index in the block's threads
 *   stack   0: as the thread's last, 1: empty, else 2 + stack; all low bytes, then all the rest
 *   time    difference from the prediction of struct grid; the first row: from 0
 *   status  byte exclusive-or the thread's last
 *   run, count: one byte says whether they are there (else run 0, count 1)
 *   weights one byte chooses the prediction: the thread's last weight, or the time that passed
 * Signed numbers are zigzag. Arithmetic wraps, as the numbers come from a file.
 */
#include "fz_columns.h"

enum prediction { PREDICT_LAST, PREDICT_ELAPSED };

void fz_file_rows_init(struct fz_file_rows *r, uint32_t n, uint32_t weight_count)
{
	r->n = n;
	r->weight_count = weight_count;
	r->threads = fz_reallocarray(NULL, n, sizeof(*r->threads));
	r->thread = fz_reallocarray(NULL, n, sizeof(*r->thread));
	r->stack = fz_reallocarray(NULL, n, sizeof(*r->stack));
	r->time = fz_reallocarray(NULL, n, sizeof(*r->time));
	r->status = fz_reallocarray(NULL, n, sizeof(*r->status));
	r->run = fz_reallocarray(NULL, n, sizeof(*r->run));
	r->count = fz_reallocarray(NULL, n, sizeof(*r->count));
	for (uint32_t m = 0; m < weight_count; m++)
		r->weight[m] = fz_reallocarray(NULL, n, sizeof(int64_t));
}

void fz_file_rows_release(struct fz_file_rows *r)
{
	void *arrays[] = { r->threads, r->thread, r->stack, r->time, r->status, r->run, r->count };

	for (size_t i = 0; i < FZ_ARRAY_LEN(arrays); i++)
		free(arrays[i]);
	for (uint32_t m = 0; m < r->weight_count; m++)
		free(r->weight[m]);
	*r = (struct fz_file_rows){ 0 };
}

static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* ---- predictions, the same in both directions ---- */

/* Predicts the next thread: the one that followed this one last time, initially in order. */
struct order {
	uint32_t *next;
	uint32_t last;
};

static struct order order_new(uint32_t threads)
{
	struct order o = { .next = fz_reallocarray(NULL, threads, sizeof(*o.next)) };

	for (uint32_t i = 0; i < threads; i++)
		o.next[i] = i + 1 < threads ? i + 1 : 0;
	o.last = threads ? threads - 1 : 0;
	return o;
}

static uint32_t order_predict(const struct order *o)
{
	return o->next[o->last];
}

static void order_learn(struct order *o, uint32_t thread)
{
	o->next[o->last] = thread;
	o->last = thread;
}

/* Predicts the time of the next row. Rows of different threads at the same instant form a tick;
 * ticks are an interval apart on a grid, plus the usual lateness so far. */
struct grid {
	int64_t interval_ns, quantum_ns;
	uint32_t *tick_of; /* of each thread: its last tick; 0: none */
	uint32_t tick;
	int64_t last; /* in quanta */
	int64_t at_ns;
	int64_t late; /* in quanta */
	bool is_tick;
};

static struct grid grid_new(const struct fz_file_rows *r)
{
	return (struct grid){
		.interval_ns = r->interval_ns,
		.quantum_ns = r->quantum_ns,
		.tick_of = fz_calloc(r->thread_count, sizeof(uint32_t)),
	};
}

static int64_t grid_predict(struct grid *g, uint32_t thread)
{
	g->is_tick = g->tick == 0 || g->tick_of[thread] == g->tick;
	if (!g->is_tick || !g->interval_ns || g->tick == 0)
		return g->last;
	g->at_ns = add(g->at_ns, g->interval_ns);
	return add(g->at_ns / g->quantum_ns, g->late);
}

static void grid_learn(struct grid *g, uint32_t thread, int64_t time)
{
	g->last = time;
	if (g->is_tick) {
		int64_t off = sub(mul(time, g->quantum_ns), g->at_ns);
		if (g->tick == 0) {
			g->at_ns = mul(time, g->quantum_ns);
		} else if (g->interval_ns) {
			/* Late by whole intervals: the grid continues from here. */
			int64_t skipped = off / g->interval_ns;
			g->at_ns = add(g->at_ns, mul(skipped, g->interval_ns));
			off %= g->interval_ns;
			g->late += (off / g->quantum_ns - g->late) / 4;
		}
		g->tick++;
	}
	g->tick_of[thread] = g->tick;
}

/* Predicts the weight of a row from the previous one of the same thread. */
struct pace {
	int64_t *weight, *time; /* of each thread */
	bool *seen;
};

static struct pace pace_new(const struct fz_file_rows *r, uint32_t m)
{
	struct pace p = {
		.weight = fz_reallocarray(NULL, r->thread_count, sizeof(*p.weight)),
		.time = fz_calloc(r->thread_count, sizeof(*p.time)),
		.seen = fz_calloc(r->thread_count, sizeof(*p.seen)),
	};

	for (uint32_t i = 0; i < r->thread_count; i++)
		p.weight[i] = r->usual[m] / r->unit[m];
	return p;
}

static void pace_release(struct pace *p)
{
	free(p->weight);
	free(p->time);
	free(p->seen);
}

/* In units of the column. */
static int64_t pace_predict(const struct pace *p, const struct fz_file_rows *r, uint32_t row,
			    uint32_t m, enum prediction how)
{
	uint32_t t = r->thread[row];

	if (how == PREDICT_LAST || !p->seen[t])
		return p->weight[t];
	int64_t elapsed = sub(r->time[row], p->time[t]);
	return r->unit[m] == r->quantum_ns ? elapsed : mul(elapsed, r->quantum_ns);
}

static void pace_learn(struct pace *p, const struct fz_file_rows *r, uint32_t row, int64_t units)
{
	uint32_t t = r->thread[row];

	p->weight[t] = units;
	p->time[t] = r->time[row];
	p->seen[t] = true;
}

/* ---- encoding ---- */

static void encode_threads(const struct fz_file_rows *r, struct fz_buf *out)
{
	struct order o = order_new(r->thread_count);

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t t = r->thread[i];
		fz_buf_varint(out, t == order_predict(&o) ? 0 : (uint64_t)t + 1);
		order_learn(&o, t);
	}
	free(o.next);
}

static uint64_t *stack_codes(const struct fz_file_rows *r)
{
	uint64_t *codes = fz_reallocarray(NULL, r->n, sizeof(*codes));
	uint64_t *last = fz_calloc(r->thread_count, sizeof(*last));

	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t code = r->stack[i] == FZ_NONE ? 1 : (uint64_t)r->stack[i] + 2;
		codes[i] = code == last[r->thread[i]] ? 0 : code;
		last[r->thread[i]] = code;
	}
	free(last);
	return codes;
}

static size_t encode_stacks(const struct fz_file_rows *r, struct fz_buf *out, size_t *ends)
{
	fz_auto(fz_free_ptr) uint64_t *codes = stack_codes(r);

	for (uint32_t i = 0; i < r->n; i++)
		fz_buf_u8(out, (uint8_t)codes[i]);
	ends[0] = out->n;
	for (uint32_t i = 0; i < r->n; i++)
		fz_buf_varint(out, codes[i] >> 8);
	ends[1] = out->n;
	return 2;
}

static void encode_times(const struct fz_file_rows *r, struct fz_buf *out)
{
	struct grid g = grid_new(r);

	for (uint32_t i = 0; i < r->n; i++) {
		int64_t predicted = grid_predict(&g, r->thread[i]);
		fz_buf_zigzag(out, sub(r->time[i], predicted));
		grid_learn(&g, r->thread[i], r->time[i]);
	}
	free(g.tick_of);
}

static void encode_status(const struct fz_file_rows *r, struct fz_buf *out)
{
	fz_auto(fz_free_ptr) uint8_t *last = fz_calloc(r->thread_count, 1);

	for (uint32_t i = 0; i < r->n; i++) {
		fz_buf_u8(out, r->status[i] ^ last[r->thread[i]]);
		last[r->thread[i]] = r->status[i];
	}
}

static void encode_runs(const struct fz_file_rows *r, struct fz_buf *out)
{
	bool any_run = false, any_count = false;

	for (uint32_t i = 0; i < r->n; i++) {
		any_run |= r->run[i] != 0;
		any_count |= r->count[i] > 1;
	}
	fz_buf_u8(out, any_run);
	for (uint32_t i = 0; i < r->n && any_run; i++)
		fz_buf_varint(out, r->run[i]);
	fz_buf_u8(out, any_count);
	for (uint32_t i = 0; i < r->n && any_count; i++)
		fz_buf_varint(out, r->count[i]);
}

static void encode_weights(const struct fz_file_rows *r, uint32_t m, enum prediction how,
			   struct fz_buf *out)
{
	struct pace p = pace_new(r, m);

	fz_buf_u8(out, how);
	for (uint32_t i = 0; i < r->n; i++) {
		int64_t units = r->weight[m][i] / r->unit[m];
		fz_buf_zigzag(out, sub(units, pace_predict(&p, r, i, m, how)));
		pace_learn(&p, r, i, units);
	}
	pace_release(&p);
}

/* Uses the prediction with fewer bytes, as an estimate of the compressed size. */
static void encode_weights_best(const struct fz_file_rows *r, uint32_t m, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf other = { 0 };
	size_t start = out->n, zeros = 0, other_zeros = 0;

	encode_weights(r, m, PREDICT_LAST, out);
	encode_weights(r, m, PREDICT_ELAPSED, &other);
	for (size_t i = start + 1; i < out->n; i++)
		zeros += out->p[i] == 0;
	for (size_t i = 1; i < other.n; i++)
		other_zeros += other.p[i] == 0;
	size_t cost = (out->n - start) * 2 - zeros, other_cost = other.n * 2 - other_zeros;
	if (other_cost < cost) {
		out->n = start;
		fz_buf_add(out, other.p, other.n);
	}
}

size_t fz_file_rows_encode(const struct fz_file_rows *r, struct fz_buf *out,
			   size_t ends[FZ_FZ_COLUMNS_MAX])
{
	size_t n = 0;

	fz_buf_varint(out, r->n);
	fz_buf_varint(out, r->thread_count);
	for (uint32_t i = 0; i < r->thread_count; i++)
		fz_buf_varint(out, r->threads[i]);
	encode_threads(r, out);
	ends[n++] = out->n;
	n += encode_stacks(r, out, ends + n);
	encode_times(r, out);
	ends[n++] = out->n;
	encode_status(r, out);
	ends[n++] = out->n;
	encode_runs(r, out);
	ends[n++] = out->n;
	for (uint32_t m = 0; m < r->weight_count; m++) {
		encode_weights_best(r, m, out);
		ends[n++] = out->n;
	}
	return n;
}

/* ---- decoding ---- */

static bool decode_threads(struct fz_file_rows *r, struct fz_cursor *c)
{
	struct order o = order_new(r->thread_count);

	for (uint32_t i = 0; i < r->n && !c->bad; i++) {
		uint32_t code = fz_cursor_varint32(c, r->thread_count);
		r->thread[i] = code ? code - 1 : order_predict(&o);
		order_learn(&o, r->thread[i]);
	}
	free(o.next);
	return !c->bad;
}

static bool decode_stacks(struct fz_file_rows *r, struct fz_cursor *c)
{
	const uint8_t *low = fz_cursor_bytes(c, r->n);
	fz_auto(fz_free_ptr) uint64_t *last = fz_calloc(r->thread_count, sizeof(*last));

	for (uint32_t i = 0; i < r->n && !c->bad; i++) {
		uint64_t code = fz_cursor_varint(c) << 8 | low[i];
		if (code == 0)
			code = last[r->thread[i]];
		if (code == 0 || code - 1 > FZ_NONE)
			return false;
		last[r->thread[i]] = code;
		r->stack[i] = code == 1 ? FZ_NONE : (uint32_t)(code - 2);
	}
	return !c->bad;
}

static bool decode_times(struct fz_file_rows *r, struct fz_cursor *c)
{
	struct grid g = grid_new(r);

	for (uint32_t i = 0; i < r->n; i++) {
		int64_t predicted = grid_predict(&g, r->thread[i]);
		r->time[i] = add(predicted, fz_cursor_zigzag(c));
		grid_learn(&g, r->thread[i], r->time[i]);
	}
	free(g.tick_of);
	return !c->bad;
}

static bool decode_status(struct fz_file_rows *r, struct fz_cursor *c)
{
	const uint8_t *p = fz_cursor_bytes(c, r->n);
	fz_auto(fz_free_ptr) uint8_t *last = fz_calloc(r->thread_count, 1);

	for (uint32_t i = 0; p && i < r->n; i++)
		r->status[i] = last[r->thread[i]] ^= p[i];
	return p != NULL;
}

static bool decode_runs(struct fz_file_rows *r, struct fz_cursor *c)
{
	bool any = fz_cursor_u8(c);

	for (uint32_t i = 0; i < r->n; i++)
		r->run[i] = any ? (uint16_t)fz_cursor_varint32(c, UINT16_MAX) : 0;
	any = fz_cursor_u8(c);
	for (uint32_t i = 0; i < r->n; i++)
		r->count[i] = any ? fz_cursor_varint32(c, UINT32_MAX) : 1;
	return !c->bad;
}

static bool decode_weights(struct fz_file_rows *r, uint32_t m, struct fz_cursor *c)
{
	enum prediction how = fz_cursor_u8(c);

	if (how > PREDICT_ELAPSED)
		return false;
	struct pace p = pace_new(r, m);
	for (uint32_t i = 0; i < r->n; i++) {
		int64_t units = add(pace_predict(&p, r, i, m, how), fz_cursor_zigzag(c));
		r->weight[m][i] = mul(units, r->unit[m]);
		pace_learn(&p, r, i, units);
	}
	pace_release(&p);
	return !c->bad;
}

bool fz_file_rows_decode(struct fz_file_rows *r, struct fz_cursor *c)
{
	uint32_t n = fz_cursor_varint32(c, FZ_FZ_ROWS_MAX);
	uint32_t threads = fz_cursor_varint32(c, n);

	if (c->bad || (n && !threads))
		return false;
	fz_file_rows_init(r, n, r->weight_count);
	r->thread_count = threads;
	for (uint32_t i = 0; i < threads; i++)
		r->threads[i] = fz_cursor_varint32(c, FZ_NONE - 1);
	bool good = !c->bad && decode_threads(r, c) && decode_stacks(r, c) && decode_times(r, c) &&
		    decode_status(r, c) && decode_runs(r, c);
	for (uint32_t m = 0; m < r->weight_count && good; m++)
		good = decode_weights(r, m, c);
	return good;
}
