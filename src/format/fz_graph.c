/* SPDX-License-Identifier: MIT */
/* Writes and reads the recorded call graph of a .fz.
 *
 *   block: functions n, selves n, calls n, metrics, stated | list, first, n | entries
 *
 * Each block has the sizes of the whole graph. With a lost block its totals would be wrong, so the
 * profile gets the graph only if it was read completely.
 */
#include "fz_reader.h"

enum { BLOCK_BYTES = 4 << 20 };

uint32_t fz_file_graph_count(const struct fz_callgraph *g, enum fz_file_graph list)
{
	return list == FZ_FZ_GRAPH_FUNCTIONS ? g->n
	       : list == FZ_FZ_GRAPH_SELVES  ? g->self_n
					     : g->call_n;
}

/* ---- writing ---- */

static void add_row(const struct fz_callgraph *g, uint32_t row, struct fz_buf *out)
{
	const int64_t *values = fz_callgraph_row(g, row);

	fz_buf_u8(out, values != NULL);
	for (uint32_t m = 0; values && m < g->metrics; m++)
		fz_buf_zigzag(out, values[m]);
}

static void add_function(const struct fz_callgraph *g, uint32_t i, struct fz_buf *out)
{
	const struct fz_callgraph_function *f = &g->functions[i];

	fz_buf_varint(out, f->frame);
	fz_buf_varint(out, f->variant);
	fz_buf_u8(out, f->inner);
	fz_buf_varint(out, f->calls);
	fz_buf_varint(out, f->primitive);
	add_row(g, f->total, out);
}

static void add_self(const struct fz_callgraph *g, uint32_t i, struct fz_buf *out)
{
	const struct fz_callgraph_self *s = &g->selves[i];

	fz_buf_varint(out, s->function);
	fz_buf_varint(out, s->frame);
	add_row(g, s->cost, out);
}

static void add_call(const struct fz_callgraph *g, uint32_t i, struct fz_buf *out)
{
	const struct fz_callgraph_call *c = &g->calls[i];

	fz_buf_varint(out, c->caller);
	fz_buf_varint(out, c->frame);
	fz_buf_varint(out, c->callee);
	fz_buf_varint(out, c->calls);
	fz_buf_varint(out, c->primitive);
	add_row(g, c->self, out);
	add_row(g, c->total, out);
}

void fz_file_graph_encode(const struct fz_callgraph *g, enum fz_file_graph list, uint32_t *done,
			  struct fz_buf *out)
{
	static void (*const add[])(const struct fz_callgraph *g, uint32_t i, struct fz_buf *out) = {
		[FZ_FZ_GRAPH_FUNCTIONS] = add_function,
		[FZ_FZ_GRAPH_SELVES] = add_self,
		[FZ_FZ_GRAPH_CALLS] = add_call,
	};
	fz_auto(fz_buf_release) struct fz_buf entries = { 0 };
	uint32_t first = *done, count = fz_file_graph_count(g, list);

	while (*done < count && entries.n < BLOCK_BYTES)
		add[list](g, (*done)++, &entries);
	for (enum fz_file_graph l = 0; l < FZ_FZ_GRAPHS; l++)
		fz_buf_varint(out, fz_file_graph_count(g, l));
	fz_buf_varint(out, g->metrics);
	fz_buf_varint(out, g->stated);
	fz_buf_u8(out, (uint8_t)list);
	fz_buf_varint(out, first);
	fz_buf_varint(out, *done - first);
	fz_buf_add(out, entries.p, entries.n);
}

/* ---- reading ---- */

static const int64_t *read_row(const struct fz_file_graph_reader *r, struct fz_cursor *c,
			       int64_t values[FZ_METRICS_MAX])
{
	if (!fz_cursor_u8(c))
		return NULL;
	for (uint32_t m = 0; m < r->graph->metrics; m++)
		values[m] = fz_cursor_zigzag(c);
	return values;
}

/* Reads an index of the file and maps it to the profile. */
static uint32_t read_index(const struct fz_file_table *t, struct fz_cursor *c)
{
	uint32_t i = fz_file_translate(t, fz_cursor_varint(c));

	c->bad |= i == FZ_NONE;
	return c->bad ? 0 : i;
}

/* Reads a reference to an earlier entry. */
static uint32_t read_node(const struct fz_file_graph_reader *r, struct fz_cursor *c)
{
	uint64_t i = fz_cursor_varint(c);

	c->bad |= i >= r->graph->n;
	return c->bad ? 0 : (uint32_t)i;
}

static void read_function(struct fz_file_graph_reader *r, struct fz_cursor *c)
{
	uint32_t frame = read_index(r->frames, c), variant = read_index(r->strings, c);
	bool inner = fz_cursor_u8(c);
	uint64_t calls = fz_cursor_varint(c), primitive = fz_cursor_varint(c);
	int64_t values[FZ_METRICS_MAX];
	const int64_t *total = read_row(r, c, values);

	if (c->bad)
		return;
	uint32_t at = fz_callgraph_function(r->graph, r->p, frame, variant, inner);
	/* A duplicate would shift the indices of later entries. */
	c->bad |= at + 1 != r->graph->n || r->graph->n != r->done[FZ_FZ_GRAPH_FUNCTIONS] + 1;
	r->graph->functions[at].calls = calls;
	r->graph->functions[at].primitive = primitive;
	fz_callgraph_total(r->graph, r->p, at, total);
}

static void read_self(struct fz_file_graph_reader *r, struct fz_cursor *c)
{
	uint32_t function = read_node(r, c), frame = read_index(r->frames, c);
	int64_t values[FZ_METRICS_MAX];
	const int64_t *cost = read_row(r, c, values);

	c->bad |= !cost;
	if (!c->bad)
		fz_callgraph_self(r->graph, r->p, function, frame, cost);
}

static void read_call(struct fz_file_graph_reader *r, struct fz_cursor *c)
{
	struct fz_callgraph_call call = { .caller = read_node(r, c) };
	int64_t a[FZ_METRICS_MAX], b[FZ_METRICS_MAX];

	call.frame = read_index(r->frames, c);
	call.callee = read_node(r, c);
	call.calls = fz_cursor_varint(c);
	call.primitive = fz_cursor_varint(c);
	const int64_t *self = read_row(r, c, a), *total = read_row(r, c, b);
	if (!c->bad)
		fz_callgraph_call(r->graph, r->p, &call, self, total);
}

/* Reads the sizes of the whole graph, which must be the same in all blocks. */
static bool read_whole(struct fz_file_graph_reader *r, struct fz_cursor *c)
{
	uint32_t whole[FZ_FZ_GRAPHS];

	for (enum fz_file_graph l = 0; l < FZ_FZ_GRAPHS; l++)
		whole[l] = fz_cursor_varint32(c, UINT32_MAX);
	uint32_t metrics = fz_cursor_varint32(c, FZ_METRICS_MAX);
	uint32_t stated = fz_cursor_varint32(c, UINT32_MAX);
	if (c->bad || metrics != r->p->metric_count)
		return false;
	if (!r->graph) {
		r->graph = fz_callgraph_new(r->p->metric_count);
		r->graph->stated = stated;
		memcpy(r->whole, whole, sizeof(whole));
	}
	return r->graph->stated == stated && memcmp(r->whole, whole, sizeof(whole)) == 0;
}

bool fz_file_graph_read(struct fz_file_graph_reader *r, struct fz_cursor *c)
{
	static void (*const read[])(struct fz_file_graph_reader * r, struct fz_cursor * c) = {
		[FZ_FZ_GRAPH_FUNCTIONS] = read_function,
		[FZ_FZ_GRAPH_SELVES] = read_self,
		[FZ_FZ_GRAPH_CALLS] = read_call,
	};

	if (!read_whole(r, c))
		return false;
	uint8_t list = fz_cursor_u8(c);
	uint64_t first = fz_cursor_varint(c), n = fz_cursor_varint(c);
	if (c->bad || list >= FZ_FZ_GRAPHS || first != r->done[list] ||
	    n > r->whole[list] - r->done[list])
		return false;
	for (uint64_t i = 0; i < n && !c->bad && !r->p->over_limit; i++) {
		read[list](r, c);
		r->done[list] += !c->bad;
	}
	return !c->bad;
}

void fz_file_graph_finish(struct fz_file_graph_reader *r, bool damaged)
{
	if (r->graph && !damaged && memcmp(r->done, r->whole, sizeof(r->done)) == 0)
		r->p->callgraph = fz_steal(r->graph);
	fz_callgraph_free(r->graph);
	r->graph = NULL;
}
