/* SPDX-License-Identifier: MIT */
/* From a batch to rows.
 *
 *   push {id, put}       makes it visible: without this row, readers ignore rows with this put
 *   cell {put, number}   <- value {put, cell = number, node}
 *   node -> its parent, function; ids are hashes of their content
 *
 * Each write of a push has a new random `put`, so that rows of an aborted write are never read. A
 * cell stores the number of its values, so that a reader can check that all are present.
 *
 * Functions and nodes are written for each day that a service uses them, into that day's partition,
 * and are dropped with it.
 */
#include "fleet/clickhouse_rows.h"

#include "base/clock.h"

/* Newer servers accept at most 100 partitions per insert; another push may follow. */
enum { FULL = 32 << 20, DAYS_FULL = 30 };

const struct fz_clickhouse_table fz_clickhouse_tables[5] = {
	/* Referenced rows come first; last those that make all visible. */
	{ "function", "day, project, service, function, name, file, module, line, kind",
	  offsetof(struct fz_clickhouse_rows, function) },
	{ "node", "day, project, service, node, parent, function",
	  offsetof(struct fz_clickhouse_rows, node) },
	{ "value", "series, minute, put, cell, node, value, n",
	  offsetof(struct fz_clickhouse_rows, value) },
	{ "cell",
	  "project, service, version, labels, metric, unit, clock, mode, features, period, main,"
	  " series, host, minute, put, number, nodes, cpu, wall, samples, lost",
	  offsetof(struct fz_clickhouse_rows, cell) },
	{ "push", "project, service, host, id, version, first, last, put, digest, came",
	  offsetof(struct fz_clickhouse_rows, push) },
};

struct adder {
	struct fz_shard *s;
	const struct fz_fleet_push *push;
	const struct fz_fleet_batch *b;
	struct fz_clickhouse_rows *rows;
	uint64_t put, digest, scope;
	int64_t days[FZ_ROWS_DAYS]; /* of the push's cells */
	uint32_t day_n;
	uint64_t *function; /* 0: not yet added */
	uint64_t series[FZ_METRICS_MAX];
	struct fz_buf scratch;
};

/* ---- functions and nodes ---- */

/* Never 0, which means no parent. */
static uint64_t hash_of(const struct fz_buf *content)
{
	uint64_t hash = fz_hash_bytes(content->p, content->n);

	return hash ? hash : 1;
}

/* Add a row for each day for which the shard does not have it, and note that it has. */
static void add_once(struct adder *k, uint64_t kind, uint64_t id, const struct fz_buf *content,
		     struct fz_buf *rows)
{
	for (uint32_t i = 0; i < k->day_n; i++) {
		const uint64_t parts[] = { k->scope, (uint64_t)k->days[i], kind, id };
		uint32_t *slot = fz_map_slot(&k->s->written, fz_map_hash(parts, sizeof(parts)));

		if (*slot != FZ_NONE)
			continue;
		*slot = 0;
		fz_buf_u32(rows, (uint32_t)k->days[i]);
		fz_row_text(rows, fz_str_of(k->push->project));
		fz_row_text(rows, fz_str_of(k->push->service));
		fz_buf_u64(rows, id);
		fz_buf_add(rows, content->p, content->n);
	}
}

static uint64_t add_function(struct adder *k, const struct fz_function *g)
{
	const struct fz_profile *p = k->b->profile;
	struct fz_buf *content = &k->scratch;

	fz_buf_reset(content);
	fz_row_text(content, fz_profile_text(p, g->name));
	fz_row_text(content, fz_profile_text(p, g->file));
	fz_row_text(content, fz_profile_text(p, g->module));
	fz_buf_u64(content, (uint64_t)(int64_t)g->first_line);
	fz_buf_u64(content, g->kind);
	uint64_t id = hash_of(content);
	add_once(k, 'f', id, content, &k->rows->function);
	return id;
}

static uint64_t add_node(struct adder *k, uint64_t parent, uint32_t function)
{
	struct fz_buf *content = &k->scratch;

	if (!k->function[function])
		k->function[function] = add_function(k, &k->b->profile->functions[function]);
	fz_buf_reset(content);
	fz_buf_u64(content, parent);
	fz_buf_u64(content, k->function[function]);
	uint64_t id = hash_of(content);
	add_once(k, 'n', id, content, &k->rows->node);
	return id;
}

/* ---- cells and values ---- */

static void add_kind(struct fz_buf *out, const struct fz_fleet_push *push,
		     const struct fz_fleet_kind *kind)
{
	fz_row_text(out, fz_str_of(push->project));
	fz_row_text(out, fz_str_of(push->service));
	fz_row_text(out, fz_str_of(push->version));
	fz_row_text(out, fz_str_of(push->labels));
	fz_row_text(out, kind->metric);
	fz_row_text(out, kind->unit);
	fz_row_text(out, kind->clock);
	fz_buf_u64(out, (uint64_t)(int64_t)kind->mode);
	fz_buf_u64(out, (uint64_t)(int64_t)kind->features);
	fz_buf_u64(out, (uint64_t)kind->interval_ns);
	fz_buf_u64(out, kind->main);
}

static void add_cell(struct adder *k, uint32_t number, uint32_t nodes)
{
	const struct fz_fleet_cell *c = &k->b->cells[number];
	struct fz_buf *rows = &k->rows->cell;

	add_kind(rows, k->push, &k->b->kinds[c->kind]);
	fz_buf_u64(rows, k->series[c->kind]);
	fz_row_text(rows, fz_str_of(k->push->host));
	fz_buf_u32(rows, (uint32_t)c->minute);
	fz_buf_u64(rows, k->put);
	fz_buf_u32(rows, number);
	fz_buf_u32(rows, nodes);
	fz_buf_u64(rows, (uint64_t)c->exposure.cpu_ns);
	fz_buf_u64(rows, (uint64_t)c->exposure.wall_ns);
	fz_buf_u64(rows, (uint64_t)c->exposure.samples);
	fz_buf_u64(rows, (uint64_t)c->exposure.lost);
}

static void add_value(struct adder *k, const struct fz_fleet_value *v, uint64_t node)
{
	const struct fz_fleet_cell *c = &k->b->cells[v->cell];
	struct fz_buf *rows = &k->rows->value;

	fz_buf_u64(rows, k->series[c->kind]);
	fz_buf_u32(rows, (uint32_t)c->minute);
	fz_buf_u64(rows, k->put);
	fz_buf_u32(rows, v->cell);
	fz_buf_u64(rows, node);
	fz_buf_u64(rows, (uint64_t)v->value);
	fz_buf_u64(rows, (uint64_t)v->n);
}

static void add_push(struct adder *k, int64_t first, int64_t last)
{
	struct fz_buf *rows = &k->rows->push;

	fz_row_text(rows, fz_str_of(k->push->project));
	fz_row_text(rows, fz_str_of(k->push->service));
	fz_row_text(rows, fz_str_of(k->push->host));
	fz_row_text(rows, fz_str_of(k->push->id));
	fz_row_text(rows, fz_str_of(k->push->version));
	fz_buf_u32(rows, (uint32_t)first);
	fz_buf_u32(rows, (uint32_t)last);
	fz_buf_u64(rows, k->put);
	fz_buf_u64(rows, k->digest);
	fz_buf_u32(rows, (uint32_t)(k->rows->came / FZ_SECOND));
}

/* Lists hold at most FZ_ROWS_DAYS days. */
static void add_day(int64_t *days, uint32_t *n, int64_t day)
{
	for (uint32_t i = 0; i < *n; i++)
		if (days[i] == day)
			return;
	if (*n < FZ_ROWS_DAYS)
		days[(*n)++] = day;
}

static void add_content(struct adder *k)
{
	const struct fz_fleet_batch *b = k->b;
	fz_auto(fz_free_ptr) uint64_t *node = fz_calloc(FZ_MAX(b->node_n, 1), sizeof(*node));
	fz_auto(fz_free_ptr) uint32_t *nodes = fz_calloc(FZ_MAX(b->cell_n, 1), sizeof(*nodes));

	for (uint32_t i = 0; i < b->node_n; i++) {
		const struct fz_fleet_node *n = &b->nodes[i];

		node[i] = add_node(k, n->parent == FZ_NONE ? 0 : node[n->parent], n->function);
	}
	for (uint32_t i = 0; i < b->kind_n; i++) {
		fz_buf_reset(&k->scratch);
		add_kind(&k->scratch, k->push, &b->kinds[i]);
		k->series[i] = hash_of(&k->scratch);
	}
	for (size_t i = 0; i < b->value_n; i++) {
		add_value(k, &b->values[i], node[b->values[i].node]);
		nodes[b->values[i].cell]++;
	}
	for (uint32_t i = 0; i < b->cell_n; i++)
		add_cell(k, i, nodes[i]);
}

int fz_clickhouse_add_rows(struct fz_shard *s, const struct fz_fleet_item *item, uint64_t put,
			   struct fz_clickhouse_rows *rows, struct fz_error *err)
{
	const struct fz_fleet_push *push = item->push;
	const struct fz_fleet_batch *b = item->batch;
	fz_auto(fz_free_ptr) char *scope = fz_asprintf("%s\n%s", push->project, push->service);
	struct adder k = {
		.s = s, .push = push, .b = b, .rows = rows, .put = put, .digest = item->digest
	};
	int64_t first = b->cell_n ? INT64_MAX : 0, last = 0;

	for (uint32_t i = 0; i < b->cell_n; i++) {
		first = FZ_MIN(first, b->cells[i].minute);
		last = FZ_MAX(last, b->cells[i].minute);
		add_day(k.days, &k.day_n, fz_clickhouse_day(b->cells[i].minute));
	}
	if (first < 0 || last >= UINT32_MAX)
		return fz_fail(err, FZ_EINPUT, "its time is invalid");
	if (k.day_n == FZ_ROWS_DAYS)
		return fz_fail(err, FZ_ELIMIT,
			       "it spans more than %d days; push its runs one by one",
			       FZ_ROWS_DAYS - 1);
	for (uint32_t i = 0; i < k.day_n; i++)
		add_day(rows->days, &rows->day_n, k.days[i]);
	k.scope = fz_map_hash(scope, strlen(scope));
	k.function = fz_calloc(FZ_MAX(b->profile->function_count, 1), sizeof(*k.function));
	add_content(&k);
	add_push(&k, first, last);
	free(k.function);
	fz_buf_release(&k.scratch);
	return 0;
}

bool fz_clickhouse_rows_full(const struct fz_clickhouse_rows *rows)
{
	size_t bytes = rows->value.n + rows->node.n + rows->function.n + rows->cell.n;

	return bytes >= FULL || rows->day_n > DAYS_FULL;
}

struct fz_buf *fz_clickhouse_rows_of(struct fz_clickhouse_rows *rows, size_t i)
{
	return (struct fz_buf *)(void *)((char *)rows + fz_clickhouse_tables[i].rows);
}

void fz_clickhouse_rows_reset(struct fz_clickhouse_rows *rows)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(fz_clickhouse_tables); i++)
		fz_buf_reset(fz_clickhouse_rows_of(rows, i));
	rows->day_n = 0;
}

void fz_clickhouse_rows_release(struct fz_clickhouse_rows *rows)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(fz_clickhouse_tables); i++)
		fz_buf_release(fz_clickhouse_rows_of(rows, i));
}
