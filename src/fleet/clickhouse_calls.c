/* SPDX-License-Identifier: MIT */
/* Queries to shards; see clickhouse_calls.h.
 *
 *   statement -> URL or body -> one attempt -> rows, or "Code: N, ...", or no answer
 *
 * The SQL works in ClickHouse 18.16 and later. Responses are buffered by the server
 * (wait_end_of_query), so that a query that fails half-way has an error status.
 */
#include "fleet/clickhouse_calls.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>

#include "base/clock.h"
#include "fleet/client.h"
#include "fleet/hour_cells.h"

enum {
	LINE_MAX_BYTES = 300,
	LAYOUT = 2,
	RETRY_SECONDS = 3,
	RETRY_TIMES = 3,
	WRITING_SECONDS = 30,
	PATIENT_SECONDS = 600,
	SYNCS_SINCE = 21
};

/* Partitions are days, so that old data is dropped as a whole. */
static const char *const tables[] = {
	"shard (layout UInt32, place UInt32, shards UInt32) ENGINE = MergeTree ORDER BY place",
	"push (project String, service String, host String, id String, version String,"
	" first UInt32, last UInt32, put UInt64, digest UInt64, came UInt32) ENGINE = MergeTree"
	" PARTITION BY intDiv(last, 1440) ORDER BY (project, service, host, id)",
	"cell (project String, service String, version String, labels String, metric String,"
	" unit String, clock String, mode Int64, features Int64, period Int64, main Int64,"
	" series UInt64, host String, minute UInt32, put UInt64, number UInt32,"
	" nodes UInt32, cpu Int64, wall Int64, samples Int64, lost Int64) ENGINE = MergeTree"
	" PARTITION BY intDiv(minute, 1440)"
	" ORDER BY (project, service, version, series, host, minute)",
	"value (series UInt64, minute UInt32, put UInt64, cell UInt32, node UInt64, value Int64,"
	" n Int64) ENGINE = MergeTree PARTITION BY intDiv(minute, 1440)"
	" ORDER BY (series, minute, put, cell, node)",
	"node (day UInt32, project String, service String, node UInt64, parent UInt64,"
	" function UInt64) ENGINE = ReplacingMergeTree PARTITION BY day"
	" ORDER BY (project, service, node, parent, function)",
	"function (day UInt32, project String, service String, function UInt64, name String,"
	" file String, module String, line Int64, kind Int64) ENGINE = ReplacingMergeTree"
	" PARTITION BY day"
	" ORDER BY (project, service, function, name, file, module, line, kind)",
	"alarm (project String, service String, base String, head String, function String,"
	" text String, change Float64, low Float64, high Float64, first UInt32, raised UInt32)"
	" ENGINE = ReplacingMergeTree PARTITION BY intDiv(raised, 1440)"
	" ORDER BY (project, service, head, function)",
	"aged (project String, service String, hour UInt32, age UInt64, put UInt64)"
	" ENGINE = MergeTree PARTITION BY intDiv(hour, 24)"
	" ORDER BY (project, service, hour, age, put)",
};

/* ---- addresses ---- */

static int parse_one(struct fz_str url, struct fz_shard *ret, struct fz_error *err)
{
	size_t scheme = fz_str_starts(url, "https://") ? 8 : fz_str_starts(url, "http://") ? 7 : 0;
	size_t at = scheme;

	while (at < url.n && url.p[at] != '/')
		at++;
	struct fz_str server = { url.p, at };
	struct fz_str database = { url.p + FZ_MIN(at + 1, url.n), url.n - FZ_MIN(at + 1, url.n) };
	bool good = scheme && at > scheme && database.n > 0 && database.n <= FZ_FLEET_NAME_MAX;
	for (size_t i = 0; i < database.n; i++)
		good &= isalnum((unsigned char)database.p[i]) || database.p[i] == '_';
	if (memchr(server.p, '@', server.n))
		return fz_fail(err, FZ_EUSAGE,
			       "--store: passwords in URLs are not allowed; set CLICKHOUSE_USER "
			       "and CLICKHOUSE_PASSWORD");
	if (!good)
		return fz_fail(err, FZ_EUSAGE,
			       "--store: invalid ClickHouse URL '%.*s' (expected "
			       "http://HOST:8123/DATABASE)",
			       (int)url.n, url.p);
	ret->server = fz_strndup(server.p, server.n);
	ret->database = fz_strndup(database.p, database.n);
	ret->name = fz_strndup(url.p, url.n);
	return 0;
}

static void read_credentials(struct fz_clickhouse *ret)
{
	const char *user = getenv("CLICKHOUSE_USER"), *password = getenv("CLICKHOUSE_PASSWORD");

	if (!user && !password)
		return;
	ret->headers[0] = fz_asprintf("X-ClickHouse-User: %s", user ? user : "default");
	ret->headers[1] = fz_asprintf("X-ClickHouse-Key: %s", password ? password : "");
}

int fz_clickhouse_parse(const char *urls, struct fz_clickhouse *ret, struct fz_error *err)
{
	struct fz_str rest = fz_str_of(urls);
	int r = 0;

	while (!r && rest.p) {
		const char *comma = memchr(rest.p, ',', rest.n);
		struct fz_str one = { rest.p, comma ? (size_t)(comma - rest.p) : rest.n };

		if (ret->n == FZ_CLICKHOUSE_SHARDS)
			return fz_fail(err, FZ_EUSAGE, "--store: more than %d shards",
				       FZ_CLICKHOUSE_SHARDS);
		r = parse_one(one, &ret->shards[ret->n], err);
		for (uint32_t i = 0; !r && i < ret->n; i++)
			if (strcmp(ret->shards[i].name, ret->shards[ret->n].name) == 0)
				r = fz_fail(err, FZ_EUSAGE, "--store: %s is listed twice",
					    ret->shards[i].name);
		ret->shards[ret->n].place = ret->n;
		ret->n++;
		rest = comma ? (struct fz_str){ comma + 1, rest.n - one.n - 1 }
			     : (struct fz_str){ 0 };
	}
	read_credentials(ret);
	return r ? r : fz_client_load(err);
}

void fz_clickhouse_release(struct fz_clickhouse *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct fz_shard *s = &c->shards[i];

		free(s->server);
		free(s->database);
		free(s->name);
		fz_map_release(&s->written);
		fz_map_release(&s->names);
		fz_map_release(&s->counts);
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(c->headers); i++)
		free(c->headers[i]);
	fz_buf_release(&c->missing);
}

/* ---- one query ---- */

/* Parse the number in "Code: 60, e.displayText() = DB::Exception: Table ..."; 0 if there is none.
 */
static int code_of(const struct fz_buf *answer)
{
	struct fz_str text = fz_buf_view(answer);
	int code = 0;

	if (!fz_str_starts(text, "Code: "))
		return 0;
	for (size_t i = 6; i < text.n && isdigit((unsigned char)text.p[i]) && code < 100000; i++)
		code = 10 * code + (text.p[i] - '0');
	return code;
}

/* Mark a shard as missing. The longer the query took to fail, the later the shard is retried,
 * because all writers wait meanwhile. */
static int gone(const struct fz_clickhouse *c, struct fz_shard *s, int64_t began, const char *why,
		struct fz_error *err)
{
	int64_t now = fz_clock_now();

	if (c->writing)
		s->retry_ns = now + FZ_MAX(RETRY_SECONDS * FZ_SECOND, RETRY_TIMES * (now - began));
	s->missing = true;
	return fz_fail(err, FZ_EAGAIN, "%s: no response (%s); try again later", s->name, why);
}

static int fail(const struct fz_shard *s, long status, const struct fz_buf *answer,
		struct fz_error *err)
{
	struct fz_str rest = fz_buf_view(answer), line = fz_str_take_line(&rest);
	int shown = (int)FZ_MIN(line.n, LINE_MAX_BYTES);

	switch (code_of(answer)) {
	case 60: /* UNKNOWN_TABLE */
	case 81: /* UNKNOWN_DATABASE */
		return fz_fail(err, FZ_EINPUT, "%s: not a fizeau store", s->name);
	case 159: /* TIMEOUT_EXCEEDED */
	case 202: /* TOO_MANY_SIMULTANEOUS_QUERIES */
	case 241: /* MEMORY_LIMIT_EXCEEDED */
	case 252: /* TOO_MANY_PARTS */
		return fz_fail(err, FZ_EAGAIN, "%s: is too busy; try again later (%.*s)", s->name,
			       shown, line.p);
	case 192: /* UNKNOWN_USER */
	case 193: /* WRONG_PASSWORD */
	case 194: /* REQUIRED_PASSWORD */
	case 497: /* ACCESS_DENIED */
	case 516: /* AUTHENTICATION_FAILED */
		return fz_fail(
			err, FZ_EPERM,
			"%s: access denied; set CLICKHOUSE_USER and CLICKHOUSE_PASSWORD (%.*s)",
			s->name, shown, line.p);
	default:
		return fz_fail(err, FZ_ESYSTEM, "%s: %.*s (status %ld)", s->name, shown, line.p,
			       status);
	}
}

static int ask(struct fz_clickhouse *c, struct fz_shard *s, const char *database,
	       struct fz_str query, struct fz_str body, struct fz_buf *ret, struct fz_error *err)
{
	int seconds = c->patient ? PATIENT_SECONDS : c->writing ? WRITING_SECONDS : 0;
	struct fz_client client = { .server = s->server,
				    .stall_seconds = seconds,
				    .headers = (const char *const *)c->headers };
	fz_auto(fz_buf_release) struct fz_buf url = { 0 };
	const char *why = "";
	int64_t began = fz_clock_now();

	/* Lists of ids are long. Readonly users cannot change settings. */
	fz_buf_printf(&url, "%s/?wait_end_of_query=1%s&database=%s", s->server,
		      c->writing ? "&max_query_size=16777216" : "", database);
	if (query.n) {
		fz_buf_str(&url, "&query=");
		fz_buf_uri_part(&url, query);
	}
	long status = fz_client_fetch(&client, url.p, &body, ret, &why);
	if (status == 200)
		return 0;
	if (status >= 502 && status <= 504)
		return gone(c, s, began, "reported by a proxy", err);
	if (status)
		return fail(s, status, ret, err);
	if (ret->overflow)
		return fz_fail(err, FZ_ELIMIT, "%s: %s; query a shorter time (--since, --until)",
			       s->name, why);
	return gone(c, s, began, why, err);
}

int fz_shard_query(struct fz_clickhouse *c, struct fz_shard *s, struct fz_str sql,
		   struct fz_buf *ret, struct fz_error *err)
{
	return ask(c, s, s->database, (struct fz_str){ 0 }, sql, ret, err);
}

int fz_shard_insert(struct fz_clickhouse *c, struct fz_shard *s, const char *table,
		    const char *columns, const struct fz_buf *rows, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf query = { 0 };
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };

	if (!rows->n)
		return 0;
	fz_buf_printf(&query, "INSERT INTO fizeau_%s (%s) FORMAT RowBinary", table, columns);
	return ask(c, s, s->database, fz_buf_view(&query), fz_buf_view(rows), &answer, err);
}

/* ---- preparing a shard ---- */

/* Create missing tables. Inserts reach the disk before they are acknowledged, if the server can do
 * so. */
static int make_tables(struct fz_clickhouse *c, struct fz_shard *s, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *make =
		fz_asprintf("CREATE DATABASE IF NOT EXISTS %s", s->database);
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	uint64_t version = 0;
	int r = ask(c, s, "default", (struct fz_str){ 0 }, fz_str_of(make), &answer, err);

	if (!r)
		r = fz_shard_query(c, s, FZ_STR("SELECT splitByChar('.', version())[1]"), &answer,
				   err);
	if (!r && !fz_parse_u64(fz_str_trimmed(fz_buf_view(&answer)), 1000, &version))
		r = fz_fail(err, FZ_EINPUT, "%s: not a ClickHouse server", s->name);
	for (size_t i = 0; !r && i < FZ_ARRAY_LEN(tables); i++) {
		fz_auto(fz_free_ptr) char *sql = fz_asprintf(
			"CREATE TABLE IF NOT EXISTS fizeau_%s%s", tables[i],
			version >= SYNCS_SINCE
				? " SETTINGS fsync_after_insert = 1, fsync_part_directory = 1"
				: "");

		r = fz_shard_query(c, s, fz_str_of(sql), &answer, err);
	}
	return r;
}

/* Upgrade a store of an earlier version. In the new columns its pushes get 0: unknown digest,
 * arrived long ago. */
static int add_column(struct fz_clickhouse *c, struct fz_shard *s, const char *name,
		      const char *type, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	fz_auto(fz_free_ptr) char *count =
		fz_asprintf("SELECT count() FROM system.columns WHERE database = '%s' AND"
			    " table = 'fizeau_push' AND name = '%s' FORMAT RowBinary",
			    s->database, name);
	fz_auto(fz_free_ptr) char *add =
		fz_asprintf("ALTER TABLE fizeau_push ADD COLUMN %s %s", name, type);
	int r = fz_shard_query(c, s, fz_str_of(count), &answer, err);

	if (r)
		return r;
	struct fz_cursor row = fz_rows_of(&answer);
	int64_t there = fz_row_read_int(&row);
	r = fz_clickhouse_check(c, s->place, &row, err);
	if (r || there)
		return r;
	return fz_shard_query(c, s, fz_str_of(add), &answer, err);
}

/* A shard has a row for each layout that it has had. */
static int check_place(const struct fz_clickhouse *c, const struct fz_shard *s,
		       struct fz_cursor *row, uint32_t *ret_layout, struct fz_error *err)
{
	while (fz_row_next(row)) {
		uint32_t layout = fz_cursor_u32(row), place = fz_cursor_u32(row),
			 shards = fz_cursor_u32(row);

		if (row->bad)
			break;
		if (layout > LAYOUT)
			return fz_fail(err, FZ_EUNSUPPORTED,
				       "%s: created by a newer fizeau; upgrade fizeau", s->name);
		if (place != s->place || shards != c->n)
			return fz_fail(err, FZ_EUSAGE,
				       "%s: is shard %u of %u, but specified as %u of %u; list all "
				       "shards of the store in order",
				       s->name, place + 1, shards, s->place + 1, c->n);
		*ret_layout = FZ_MAX(*ret_layout, layout);
	}
	return fz_clickhouse_check(c, s->place, row, err);
}

int fz_shard_prepare(struct fz_clickhouse *c, struct fz_shard *s, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	fz_auto(fz_buf_release) struct fz_buf row = { 0 };
	uint32_t layout = 0;
	int r = s->ready || !c->writing ? 0 : make_tables(c, s, err);

	if (!r && !s->ready && c->writing)
		r = add_column(c, s, "digest", "UInt64", err);
	if (!r && !s->ready && c->writing)
		r = add_column(c, s, "came", "UInt32", err);
	if (r || s->ready)
		return r;
	r = fz_shard_query(
		c, s, FZ_STR("SELECT layout, place, shards FROM fizeau_shard FORMAT RowBinary"),
		&answer, err);
	if (r)
		return r;
	if (!answer.n && !c->writing)
		return fz_fail(err, FZ_EINPUT, "%s: not a fizeau store", s->name);
	struct fz_cursor rows = fz_rows_of(&answer);
	r = check_place(c, s, &rows, &layout, err);
	if (!r && layout < LAYOUT && !c->writing)
		return fz_fail(
			err, FZ_EUNSUPPORTED,
			"%s: has an earlier layout; start 'fizeau serve' on it to convert it",
			s->name);
	if (!r && layout < LAYOUT) {
		fz_buf_u32(&row, LAYOUT);
		fz_buf_u32(&row, s->place);
		fz_buf_u32(&row, c->n);
		r = fz_shard_insert(c, s, "shard", "layout, place, shards", &row, err);
	}
	s->ready = !r;
	return r;
}

/* ---- all shards ---- */

struct question {
	struct fz_clickhouse *c;
	struct fz_shard *shard;
	struct fz_str sql;
	struct fz_buf *answer;
	struct fz_error err;
	int result;
	pthread_t thread;
};

static void *query_shard(void *arg)
{
	struct question *q = arg;

	q->result = fz_shard_prepare(q->c, q->shard, &q->err);
	if (!q->result && q->sql.n)
		q->result = fz_shard_query(q->c, q->shard, q->sql, q->answer, &q->err);
	return NULL;
}

int fz_clickhouse_query(struct fz_clickhouse *c, struct fz_str sql, enum fz_missing how,
			struct fz_buf answers[FZ_CLICKHOUSE_SHARDS], struct fz_error *err)
{
	struct question questions[FZ_CLICKHOUSE_SHARDS];
	uint32_t n = 0, answered = 0;
	int r = 0;

	memset(answers, 0, FZ_CLICKHOUSE_SHARDS * sizeof(*answers));
	for (uint32_t i = 0; i < c->n; i++)
		if (!c->shards[i].missing)
			questions[n++] = (struct question){
				.c = c, .shard = &c->shards[i], .sql = sql, .answer = &answers[i]
			};
	for (uint32_t i = 1; i < n; i++)
		fz_assert(pthread_create(&questions[i].thread, NULL, query_shard, &questions[i]) ==
			  0);
	if (n)
		query_shard(&questions[0]);
	for (uint32_t i = 1; i < n; i++)
		pthread_join(questions[i].thread, NULL);
	for (uint32_t i = 0; i < n; i++) {
		bool goes = questions[i].shard->missing && how == FZ_MISSING_GOES;

		answered += !questions[i].result;
		if (questions[i].result && !goes && !r) {
			r = questions[i].result;
			*err = questions[i].err;
		} else if (questions[i].result) {
			fz_buf_release(questions[i].answer);
		}
	}
	if (!r && !answered)
		r = fz_fail(err, FZ_EAGAIN, "%s: no response%s; try again later", c->shards[0].name,
			    c->n > 1 ? " (nor from the other shards)" : "");
	if (r)
		fz_clickhouse_release_answers(answers);
	return r;
}

void fz_clickhouse_release_answers(struct fz_buf answers[FZ_CLICKHOUSE_SHARDS])
{
	for (int i = 0; i < FZ_CLICKHOUSE_SHARDS; i++)
		fz_buf_release(&answers[i]);
}

int fz_clickhouse_check(const struct fz_clickhouse *c, uint32_t shard, const struct fz_cursor *row,
			struct fz_error *err)
{
	if (!row->bad && fz_cursor_left(row) == 0)
		return 0;
	return fz_fail(err, FZ_EINPUT, "%s: truncated or invalid ClickHouse response",
		       c->shards[shard].name);
}

/* ---- statements and rows ---- */

/* Append unhex('...'). */
static void add_text(struct fz_buf *sql, const char *text)
{
	fz_buf_str(sql, "unhex('");
	for (const char *p = text; *p; p++)
		fz_buf_printf(sql, "%02X", (unsigned char)*p);
	fz_buf_str(sql, "')");
}

void fz_sql_format(struct fz_buf *sql, const char *format, ...)
{
	va_list texts;

	va_start(texts, format);
	for (const char *p = format; *p; p++) {
		if (p[0] != '{' || p[1] != '}') {
			fz_buf_char(sql, *p);
			continue;
		}
		add_text(sql, va_arg(texts, const char *));
		p++;
	}
	va_end(texts);
}

void fz_sql_add_scope(struct fz_buf *sql, const char *project, const char *service,
		      const char *version)
{
	if (project)
		fz_sql_format(sql, "project = {} AND ", project);
	if (service)
		fz_sql_format(sql, "service = {} AND ", service);
	if (version)
		fz_sql_format(sql, "version = {} AND ", version);
}

/* Columns of minutes have 32 bits. */
static long long clamp(int64_t minute)
{
	return FZ_MAX(0, FZ_MIN(minute, (int64_t)UINT32_MAX));
}

void fz_sql_add_time(struct fz_buf *sql, int64_t from, int64_t until)
{
	fz_buf_printf(sql, "minute >= %lld AND minute < %lld AND ", clamp(from), clamp(until));
}

void fz_sql_add_series(struct fz_buf *sql, const int64_t *series, size_t n)
{
	fz_buf_str(sql, "series IN (");
	for (size_t i = 0; i < n; i++)
		fz_buf_printf(sql, "%s%llu", i ? ", " : "", (unsigned long long)series[i]);
	fz_buf_str(sql, ") AND ");
}

/* A push written twice at once may have different times in its two rows, but less than a day apart.
 */
static void add_valid(struct fz_buf *sql, const char *column, const char *project,
		      const char *service, int64_t from, int64_t until, const char *having)
{
	enum { APART = 1440 };

	fz_buf_printf(sql, "%s IN (SELECT min(put) FROM fizeau_push WHERE ", column);
	fz_sql_add_scope(sql, project, service, NULL);
	fz_buf_printf(sql, "last >= %lld AND first < %lld GROUP BY project, service, host, id%s)",
		      clamp(from - APART), clamp(FZ_MIN(until, UINT32_MAX) + APART), having);
}

void fz_sql_add_puts(struct fz_buf *sql, const char *project, const char *service, int64_t from,
		     int64_t until)
{
	add_valid(sql, "put", project, service, from, until, "");
}

void fz_sql_add_settled_puts(struct fz_buf *sql, const char *project, const char *service,
			     int64_t from, int64_t until)
{
	fz_auto(fz_free_ptr) char *having =
		fz_asprintf(" HAVING max(came) + %d < toUInt32(now())", FZ_SETTLED_SECONDS);

	add_valid(sql, "put", project, service, from, until, having);
}

void fz_sql_add_aged_rows(struct fz_buf *sql, const char *columns, const char *project,
			  const char *service, int64_t from, int64_t until)
{
	fz_buf_printf(sql, "(SELECT %s FROM fizeau_aged WHERE ", columns);
	fz_sql_add_scope(sql, project, service, NULL);
	fz_buf_printf(sql, "hour >= %lld AND hour <= %lld AND ", clamp(from) / FZ_HOUR_MINUTES,
		      clamp(until) / FZ_HOUR_MINUTES);
	add_valid(sql, "age", project, service, from, until, "");
	fz_buf_char(sql, ')');
}

void fz_sql_add_aged(struct fz_buf *sql, const char *project, const char *service, int64_t from,
		     int64_t until)
{
	fz_buf_str(sql, "(intDiv(minute, 60), put) IN ");
	fz_sql_add_aged_rows(sql, "hour, put", project, service, from, until);
}

void fz_row_text(struct fz_buf *row, struct fz_str text)
{
	fz_buf_varint(row, text.n);
	fz_buf_add(row, text.p, text.n);
}

void fz_row_double(struct fz_buf *row, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	fz_buf_u64(row, bits);
}

struct fz_str fz_row_read_text(struct fz_cursor *row)
{
	uint64_t n = fz_cursor_varint(row);
	const uint8_t *p = n <= fz_cursor_left(row) ? fz_cursor_bytes(row, n) : NULL;

	if (!p)
		row->bad = true;
	return p ? (struct fz_str){ (const char *)p, n } : (struct fz_str){ "", 0 };
}

int64_t fz_row_read_int(struct fz_cursor *row)
{
	return (int64_t)fz_cursor_u64(row);
}

double fz_row_read_double(struct fz_cursor *row)
{
	uint64_t bits = fz_cursor_u64(row);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}
