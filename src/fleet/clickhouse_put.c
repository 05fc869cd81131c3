/* SPDX-License-Identifier: MIT */
/* Writing to ClickHouse, which has no transactions.
 *
 *   which ids exist? -> functions, nodes -> values -> cells -> pushes
 *                       |--- rows of a put that is not visible ---|  now visible
 *
 * A push exists when its row in `push` exists, which is written last; the rows of an aborted push
 * have a number (`put`) that no such row refers to. If two servers write the same id at once, or a
 * write completes after it was given up and repeated, an id has two rows: readers use the one with
 * the smaller number. So an id counts once, whatever happens in between. Old pushes are only added
 * up when no second row can follow (clickhouse_age.c).
 *
 * Each shard has its own writer thread. A shard that did not respond is skipped for some seconds,
 * so that pushes for other shards do not wait for it.
 */
#include "fleet/clickhouse_put.h"

#include <errno.h>
#include <pthread.h>
#include <sys/random.h>

#include "base/clock.h"
#include "fleet/clickhouse_rows.h"
#include "fleet/texts.h"

enum { WRITTEN_MAX = 1 << 22 };

/* Items of one shard. */
struct job {
	struct fz_clickhouse *c;
	struct fz_shard *shard;
	struct fz_fleet_item **items;
	size_t n;
	pthread_t thread;
	struct fz_arena arena;
	struct fz_texts ids; /* of the items: project, service, host and id, each on a line */
	uint32_t *id;        /* of each item */
	struct fz_fleet_item **owner; /* of each id: the first item; NULL: it existed */
	uint64_t *digest;             /* of each id; 0: unknown */
	struct fz_clickhouse_rows rows;
	size_t begun; /* first item whose rows were not yet sent */
};

/* ---- which shard ---- */

static struct fz_shard *shard_of(struct fz_clickhouse *c, const char *service, const char *host)
{
	fz_auto(fz_free_ptr) char *name = fz_asprintf("%s\n%s", service, host);

	return &c->shards[fz_hash_bytes(name, strlen(name)) % c->n];
}

/* A missing shard is tried again after a while. */
int fz_shard_reach(struct fz_clickhouse *c, struct fz_shard *s, struct fz_error *err)
{
	if (s->missing && fz_clock_now() < s->retry_ns)
		return fz_fail(err, FZ_EAGAIN, "%s: no response; try again later", s->name);
	s->missing = false;
	return fz_shard_prepare(c, s, err);
}

/* ---- ids ---- */

static void add_id(struct job *j, size_t i, struct fz_buf *sql)
{
	const struct fz_fleet_push *p = j->items[i]->push;
	fz_auto(fz_free_ptr) char *id =
		fz_asprintf("%s\n%s\n%s\n%s", p->project, p->service, p->host, p->id);
	uint32_t before = j->ids.n;

	j->id[i] = fz_texts_place(&j->ids, &j->arena, fz_str_of(id));
	if (j->id[i] < before)
		return;
	j->owner[j->id[i]] = j->items[i];
	j->digest[j->id[i]] = j->items[i]->digest;
	fz_buf_str(sql, before ? ", " : "");
	fz_sql_format(sql, "({}, {}, {}, {})", p->project, p->service, p->host, p->id);
}

static int find_ids(struct job *j, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };

	fz_buf_str(&sql, "SELECT project, service, host, id, digest FROM fizeau_push"
			 " WHERE (project, service, host, id) IN (");
	for (size_t i = 0; i < j->n; i++)
		add_id(j, i, &sql);
	fz_buf_str(&sql, ") FORMAT RowBinary");
	int r = fz_shard_query(j->c, j->shard, fz_buf_view(&sql), &answer, err);
	if (r)
		return r;
	struct fz_cursor row = fz_rows_of(&answer);
	while (fz_row_next(&row)) {
		struct fz_str parts[4];

		for (int i = 0; i < 4; i++)
			parts[i] = fz_row_read_text(&row);
		uint64_t digest = (uint64_t)fz_row_read_int(&row);
		fz_auto(fz_free_ptr) char *id = fz_asprintf(
			"%.*s\n%.*s\n%.*s\n%.*s", (int)parts[0].n, parts[0].p, (int)parts[1].n,
			parts[1].p, (int)parts[2].n, parts[2].p, (int)parts[3].n, parts[3].p);
		uint32_t place = fz_texts_place(&j->ids, &j->arena, fz_str_of(id));
		if (place >= j->n)
			continue;
		j->owner[place] = NULL;
		j->digest[place] = digest;
	}
	return fz_clickhouse_check(j->c, j->shard->place, &row, err);
}

/* ---- rows ---- */

uint64_t fz_clickhouse_draw(void)
{
	uint64_t put;

	while (getrandom(&put, sizeof(put), 0) != sizeof(put))
		fz_assert(errno == EINTR);
	return put;
}

/* Sends the rows of the items before `end`. Rows of pushes come last, and only if it is not too
 * late for them. */
static int flush(struct job *j, size_t end, struct fz_error *err)
{
	enum { TABLES = FZ_ARRAY_LEN(fz_clickhouse_tables) };
	int r = 0;

	for (size_t t = 0; !r && t < TABLES; t++) {
		const struct fz_clickhouse_table *table = &fz_clickhouse_tables[t];
		int64_t took = fz_clock_unix() - j->rows.came;

		if (t + 1 == TABLES && took > FZ_SETTLED_SECONDS / 2 * FZ_SECOND)
			return fz_fail(err, FZ_EAGAIN, "%s: writing took too long; try again",
				       j->shard->name);
		r = fz_shard_insert(j->c, j->shard, table->name, table->columns,
				    fz_clickhouse_rows_of(&j->rows, t), err);
	}
	fz_clickhouse_rows_reset(&j->rows);
	if (!r)
		j->begun = end;
	return r;
}

static bool is_owner(const struct job *j, size_t i)
{
	return j->owner[j->id[i]] == j->items[i];
}

static int put_own(struct job *j, struct fz_error *err)
{
	struct fz_shard *s = j->shard;
	int r = 0;

	for (size_t i = 0; !r && i < j->n; i++) {
		struct fz_fleet_item *item = j->items[i];

		if (!is_owner(j, i))
			continue;
		item->put = FZ_FLEET_STORED;
		item->result = fz_shard_check_names(j->c, s, item->push, &item->err);
		if (!item->result)
			item->result = fz_clickhouse_add_rows(s, item, fz_clickhouse_draw(),
							      &j->rows, &item->err);
		if (fz_clickhouse_rows_full(&j->rows))
			r = flush(j, i + 1, err);
	}
	return r ? r : flush(j, j->n, err);
}

/* Fail the items that may not have been written, and forget which names and nodes the shard has. */
static void fail_rest(struct job *j, int result, const struct fz_error *err)
{
	for (size_t i = j->begun; i < j->n; i++) {
		if (!is_owner(j, i) || j->items[i]->result)
			continue;
		j->items[i]->result = result;
		j->items[i]->err = *err;
	}
	fz_map_clear(&j->shard->written);
	fz_map_clear(&j->shard->names);
	fz_map_clear(&j->shard->counts);
}

/* Set the result of items whose id existed or is that of an earlier item. */
static void finish(struct job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct fz_fleet_item *owner = j->owner[j->id[i]];
		struct fz_fleet_item *item = j->items[i];

		if (owner == item)
			continue;
		item->put = FZ_FLEET_KNOWN;
		item->result = owner ? owner->result : 0;
		if (item->result)
			item->err = owner->err;
		else if (j->digest[j->id[i]] && j->digest[j->id[i]] != item->digest)
			item->result = fz_fleet_fail_id(item->push->id, &item->err);
	}
}

static void put(struct job *j)
{
	struct fz_error err;
	int r = fz_shard_reach(j->c, j->shard, &err);

	j->rows.came = fz_clock_unix();
	if (j->shard->written.len > WRITTEN_MAX)
		fz_map_clear(&j->shard->written);
	if (!r)
		r = find_ids(j, &err);
	for (size_t i = 0; r && i < j->n; i++) {
		j->items[i]->result = r;
		j->items[i]->err = err;
	}
	if (r)
		return;
	r = put_own(j, &err);
	if (r)
		fail_rest(j, r, &err);
	finish(j);
}

static void *run(void *arg)
{
	struct job *j = arg;

	j->id = fz_calloc(j->n, sizeof(*j->id));
	j->owner = fz_calloc(j->n, sizeof(struct fz_fleet_item *));
	j->digest = fz_calloc(j->n, sizeof(*j->digest));
	put(j);
	free(j->id);
	free(j->owner);
	free(j->digest);
	fz_texts_release(&j->ids);
	fz_arena_release(&j->arena);
	fz_clickhouse_rows_release(&j->rows);
	return NULL;
}

void fz_clickhouse_put_all(struct fz_fleet *f, struct fz_fleet_item *const *items, size_t n)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	struct job jobs[FZ_CLICKHOUSE_SHARDS] = { 0 };

	for (uint32_t s = 0; s < c->n; s++)
		jobs[s] = (struct job){ .c = c,
					.shard = &c->shards[s],
					.items = fz_calloc(n + 1, sizeof(struct fz_fleet_item *)) };
	for (size_t i = 0; i < n; i++) {
		struct job *j =
			&jobs[shard_of(c, items[i]->push->service, items[i]->push->host)->place];

		items[i]->result = 0;
		j->items[j->n++] = items[i];
	}
	for (uint32_t s = 0; s < c->n; s++)
		if (jobs[s].n)
			fz_assert(pthread_create(&jobs[s].thread, NULL, run, &jobs[s]) == 0);
	for (uint32_t s = 0; s < c->n; s++) {
		if (jobs[s].n)
			pthread_join(jobs[s].thread, NULL);
		free(jobs[s].items);
	}
}

/* ---- forgetting ---- */

int fz_shard_days(struct fz_clickhouse *c, struct fz_shard *s, const char *table, int64_t before,
		  struct fz_buf *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *sql = fz_asprintf(
		"SELECT DISTINCT toUInt32(partition) FROM system.parts WHERE active AND"
		" database = '%s' AND table = 'fizeau_%s' AND toUInt32(partition) < %lld"
		" FORMAT RowBinary",
		s->database, table, (long long)before);

	return fz_shard_query(c, s, fz_str_of(sql), ret, err);
}

/* Drop pushes first, because rows without a push are ignored; cells before their values. */
static int drop_days(struct fz_clickhouse *c, struct fz_shard *s, int64_t day, struct fz_error *err)
{
	static const char *const order[] = { "push",     "cell",  "value", "node",
					     "function", "alarm", "aged" };
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	int r = 0;

	for (size_t t = 0; !r && t < FZ_ARRAY_LEN(order); t++) {
		r = fz_shard_days(c, s, order[t], day, &answer, err);
		struct fz_cursor row = fz_rows_of(&answer);
		while (!r && fz_row_next(&row)) {
			fz_auto(fz_buf_release) struct fz_buf nothing = { 0 };
			fz_auto(fz_free_ptr) char *drop =
				fz_asprintf("ALTER TABLE fizeau_%s DROP PARTITION %u", order[t],
					    fz_cursor_u32(&row));

			r = fz_shard_query(c, s, fz_str_of(drop), &nothing, err);
		}
	}
	return r;
}

static int64_t forget_in(struct fz_clickhouse *c, struct fz_shard *s, int64_t day,
			 struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	fz_auto(fz_free_ptr) char *count =
		fz_asprintf("SELECT count() FROM fizeau_cell WHERE " FZ_SQL_NO_SUM
			    " AND minute < %lld FORMAT RowBinary",
			    (long long)day * 1440);
	int r = fz_shard_query(c, s, fz_str_of(count), &answer, err);

	if (r)
		return r;
	struct fz_cursor row = fz_rows_of(&answer);
	int64_t cells = fz_row_read_int(&row);
	r = fz_clickhouse_check(c, s->place, &row, err);
	if (!r)
		r = drop_days(c, s, day, err);
	fz_map_clear(&s->written);
	fz_map_clear(&s->names);
	fz_map_clear(&s->counts);
	return r ? r : cells;
}

/* Drops whole partitions at once, so `between` is never called. */
int64_t fz_clickhouse_forget(struct fz_fleet *f, int64_t before,
			     bool (*between)(void *arg, int64_t rows), void *arg,
			     struct fz_error *err)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	int64_t cells = 0;

	(void)between;
	(void)arg;
	for (uint32_t i = 0; i < c->n; i++) {
		int64_t n = fz_shard_reach(c, &c->shards[i], err);

		if (!n)
			n = forget_in(c, &c->shards[i], fz_clickhouse_day(before), err);
		/* A shard that does not respond is cleaned up next time. */
		if (n < 0 && n != FZ_EAGAIN)
			return n;
		cells += FZ_MAX(n, 0);
	}
	return cells;
}

/* ---- alarms ---- */

int fz_clickhouse_raise(struct fz_fleet *f, const char *project, const struct fz_fleet_alarm *a,
			bool *ret, struct fz_error *err)
{
	const char *const texts[] = { project, a->service, a->base, a->head, a->function, a->text };
	struct fz_clickhouse *c = fz_clickhouse(f);
	struct fz_shard *s = shard_of(c, a->service, "");
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	fz_auto(fz_buf_release) struct fz_buf row = { 0 };
	int r = fz_shard_reach(c, s, err);

	if (r)
		return r;
	fz_sql_format(&sql,
		      "SELECT count() FROM fizeau_alarm WHERE project = {} AND service = {} AND"
		      " head = {} AND function = {} FORMAT RowBinary",
		      project, a->service, a->head, a->function);
	r = fz_shard_query(c, s, fz_buf_view(&sql), &answer, err);
	if (r)
		return r;
	struct fz_cursor count = fz_rows_of(&answer);
	bool is_new = fz_row_read_int(&count) == 0;
	r = fz_clickhouse_check(c, s->place, &count, err);
	if (r || !is_new)
		return r;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		fz_row_text(&row, fz_str_of(texts[i]));
	fz_row_double(&row, a->change);
	fz_row_double(&row, a->low);
	fz_row_double(&row, a->high);
	fz_buf_u32(&row, (uint32_t)a->first_seen);
	fz_buf_u32(&row, (uint32_t)a->raised);
	r = fz_shard_insert(c, s, "alarm",
			    "project, service, base, head, function, text, change, low, high,"
			    " first, raised",
			    &row, err);
	if (!r)
		*ret = true;
	return r;
}
