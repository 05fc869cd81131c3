/* SPDX-License-Identifier: MIT */
/* Opens a store: creates its tables, or converts those of earlier layouts.
 *
 *   project <- host, function <- node (a path; its parent comes first)
 *           <- push (ids, so that each is stored once)
 *           <- series {service, version, labels, kind} <- cell {host, minute} <- cell_values
 *
 * Triggers maintain sums, so that lists are read without counting cells or pushes: host_sum has the
 * sums of a host's cells in a series, push_count the number of pushes of a release. A row is
 * deleted with the last cell or push that it counts. A cell may be part of an old_hour instead of
 * having a row (sqlite_hours.c).
 *
 * Tables are strict, so a sum above 63 bits is an error and not a rounded number. Acknowledged data
 * is synchronised to disk. A store with a newer layout is refused, one with an older layout is
 * converted when opened.
 */
#include "fleet/sqlite_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/outfile.h"

enum { LAYOUT = 7, BUSY_MS = 30000 };

/* All values of a cell (cell_values.h); a cell without values has no row. */
#define VALUES                                                                                   \
	"CREATE TABLE IF NOT EXISTS cell_values (cell INTEGER PRIMARY KEY, bytes BLOB NOT NULL)" \
	" STRICT;"

/* Keep host_sum up to date with the rows of a table, of `n` cells each. */
#define ADD_ON(name, table, n)                                                                    \
	"CREATE TRIGGER IF NOT EXISTS " name " AFTER INSERT ON " table " BEGIN"                   \
	" INSERT INTO host_sum VALUES (new.series, new.host, " n ", new.cpu, new.wall,"           \
	" new.samples, new.lost) ON CONFLICT (series, host) DO UPDATE SET cells = cells + " n "," \
	" cpu = cpu + new.cpu, wall = wall + new.wall, samples = samples + new.samples,"          \
	" lost = lost + new.lost; END;"
#define SUBTRACT_ON(name, table, n)                                                                \
	"CREATE TRIGGER IF NOT EXISTS " name " AFTER DELETE ON " table " BEGIN"                    \
	" UPDATE host_sum SET cells = cells - " n ", cpu = cpu - old.cpu, wall = wall - old.wall," \
	" samples = samples - old.samples, lost = lost - old.lost"                                 \
	" WHERE series = old.series AND host = old.host;"                                          \
	" DELETE FROM host_sum WHERE series = old.series AND host = old.host AND cells = 0; END;"

#define CELL_ADDED ADD_ON("cell_added", "cell", "1")
#define CELL_DELETED SUBTRACT_ON("cell_deleted", "cell", "1")
#define SUMS_TABLES                                                                               \
	"CREATE TABLE IF NOT EXISTS host_sum (series INTEGER NOT NULL, host INTEGER NOT NULL,"    \
	" cells INTEGER NOT NULL, cpu REAL NOT NULL, wall REAL NOT NULL,"                         \
	" samples INTEGER NOT NULL, lost INTEGER NOT NULL, PRIMARY KEY (series, host))"           \
	" STRICT, WITHOUT ROWID;"                                                                 \
	"CREATE TABLE IF NOT EXISTS push_count (project INTEGER NOT NULL, service TEXT NOT NULL," \
	" version TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (project, service, version))"    \
	" STRICT, WITHOUT ROWID;"                                                                 \
	"CREATE TRIGGER IF NOT EXISTS cell_grown AFTER UPDATE ON cell BEGIN"                      \
	" UPDATE host_sum SET cpu = cpu - old.cpu + new.cpu, wall = wall - old.wall + new.wall,"  \
	" samples = samples - old.samples + new.samples, lost = lost - old.lost + new.lost"       \
	" WHERE series = new.series AND host = new.host; END;"                                    \
	"CREATE TRIGGER IF NOT EXISTS push_added AFTER INSERT ON push BEGIN"                      \
	" INSERT INTO push_count VALUES (new.project, new.service, new.version, 1)"               \
	" ON CONFLICT (project, service, version) DO UPDATE SET n = n + 1; END;"                  \
	"CREATE TRIGGER IF NOT EXISTS push_deleted AFTER DELETE ON push BEGIN"                    \
	" UPDATE push_count SET n = n - 1 WHERE project = old.project AND service = old.service"  \
	" AND version = old.version;"                                                             \
	" DELETE FROM push_count WHERE project = old.project AND service = old.service"           \
	" AND version = old.version AND n = 0; END;"
#define SUMS SUMS_TABLES CELL_ADDED CELL_DELETED

/* Cells and sums of whole hours (sqlite_hours.c). */
#define STALE_ON(name, event, row)                                                           \
	"CREATE TRIGGER IF NOT EXISTS " name " AFTER " event " ON cell BEGIN"                \
	" DELETE FROM hour WHERE series = " row ".series AND hour = " row ".minute / 60 AND" \
	" host = " row ".host;"                                                              \
	" INSERT INTO stale_hour VALUES (" row ".series, " row ".minute / 60, " row ".host)" \
	" ON CONFLICT DO NOTHING; END;"
#define HOURS_TABLES                                                                             \
	"CREATE TABLE IF NOT EXISTS hour (id INTEGER PRIMARY KEY, series INTEGER NOT NULL,"      \
	" hour INTEGER NOT NULL, host INTEGER NOT NULL, first INTEGER, last INTEGER, n INTEGER," \
	" cpu INTEGER, wall INTEGER, samples INTEGER, lost INTEGER, cells BLOB, bytes BLOB,"     \
	" UNIQUE (series, hour, host)) STRICT;"                                                  \
	"CREATE TABLE IF NOT EXISTS stale_hour (series INTEGER NOT NULL, hour INTEGER NOT NULL," \
	" host INTEGER NOT NULL, PRIMARY KEY (series, hour, host)) STRICT, WITHOUT ROWID;"       \
	"CREATE INDEX IF NOT EXISTS stale_by_hour ON stale_hour (hour);"                         \
	"CREATE TRIGGER IF NOT EXISTS series_deleted AFTER DELETE ON series BEGIN"               \
	" DELETE FROM stale_hour WHERE series = old.id; END;"
#define HOURS                                                   \
	HOURS_TABLES STALE_ON("hour_of_added", "INSERT", "new") \
		STALE_ON("hour_of_grown", "UPDATE", "new")      \
			STALE_ON("hour_of_deleted", "DELETE", "old")

/* Hours whose minutes were deleted (sqlite_hours.c); n: number of their cells. */
#define OLD_HOUR_ADDED ADD_ON("old_hour_added", "old_hour", "new.n")
#define OLD_HOUR_DELETED SUBTRACT_ON("old_hour_deleted", "old_hour", "old.n")
#define OLD_HOURS_TABLE                                                                         \
	"CREATE TABLE IF NOT EXISTS old_hour (id INTEGER PRIMARY KEY, series INTEGER NOT NULL," \
	" hour INTEGER NOT NULL, host INTEGER NOT NULL, first INTEGER NOT NULL,"                \
	" last INTEGER NOT NULL, n INTEGER NOT NULL, cpu INTEGER NOT NULL,"                     \
	" wall INTEGER NOT NULL, samples INTEGER NOT NULL, lost INTEGER NOT NULL,"              \
	" cells BLOB NOT NULL, bytes BLOB NOT NULL, UNIQUE (series, hour, host)) STRICT;"       \
	"CREATE INDEX IF NOT EXISTS old_hour_first ON old_hour (series, first, n);"             \
	"CREATE INDEX IF NOT EXISTS old_hour_last ON old_hour (series, last);"
#define OLD_HOURS OLD_HOURS_TABLE OLD_HOUR_ADDED OLD_HOUR_DELETED

/* The number of the last change of each series. Numbers are not used again, although ids of series
 * are. */
#define CHANGES                                                                                  \
	"CREATE TABLE IF NOT EXISTS change (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT;" \
	"INSERT INTO change VALUES (1, 0) ON CONFLICT DO NOTHING;"                               \
	"CREATE TABLE IF NOT EXISTS series_change (series INTEGER PRIMARY KEY, n INTEGER NOT "   \
	"NULL)"                                                                                  \
	" STRICT;"                                                                               \
	"CREATE TRIGGER IF NOT EXISTS changed_series_deleted AFTER DELETE ON series BEGIN"       \
	" DELETE FROM series_change WHERE series = old.id; END;"

/* Is a sweep of unused rows active, and what do pushes use meanwhile (sqlite_forget.c)? */
#define SWEEPS                                                                                   \
	"CREATE TABLE IF NOT EXISTS sweep (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL," \
	" active INTEGER NOT NULL) STRICT;"                                                      \
	"INSERT INTO sweep VALUES (1, 0, 0) ON CONFLICT DO NOTHING;"                             \
	"CREATE TABLE IF NOT EXISTS in_use (what INTEGER NOT NULL, id INTEGER NOT NULL,"         \
	" PRIMARY KEY (what, id)) STRICT, WITHOUT ROWID;"

static const char tables[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS project (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
	" STRICT;"
	"CREATE TABLE IF NOT EXISTS host (id INTEGER PRIMARY KEY, project INTEGER NOT NULL,"
	" name TEXT NOT NULL, UNIQUE (project, name)) STRICT;"
	"CREATE TABLE IF NOT EXISTS function (id INTEGER PRIMARY KEY, project INTEGER NOT NULL,"
	" name BLOB NOT NULL, file BLOB NOT NULL, module BLOB NOT NULL, line INTEGER NOT NULL,"
	" kind INTEGER NOT NULL, UNIQUE (project, name, file, module, line, kind)) STRICT;"
	"CREATE TABLE IF NOT EXISTS node (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL,"
	" function INTEGER NOT NULL, UNIQUE (parent, function)) STRICT;"
	"CREATE TABLE IF NOT EXISTS push (project INTEGER NOT NULL, id TEXT NOT NULL,"
	" service TEXT NOT NULL, version TEXT NOT NULL, last INTEGER NOT NULL, digest INTEGER,"
	" PRIMARY KEY (project, id)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS series (id INTEGER PRIMARY KEY, project INTEGER NOT NULL,"
	" service TEXT NOT NULL, version TEXT NOT NULL, labels TEXT NOT NULL, metric TEXT NOT NULL,"
	" unit TEXT NOT NULL, clock TEXT NOT NULL, mode INTEGER NOT NULL,"
	" features INTEGER NOT NULL, interval INTEGER NOT NULL, main INTEGER NOT NULL,"
	" UNIQUE (project, service, version, labels, metric, unit, clock, mode, features, interval,"
	" main)) STRICT;"
	"CREATE TABLE IF NOT EXISTS cell (id INTEGER PRIMARY KEY, series INTEGER NOT NULL,"
	" minute INTEGER NOT NULL, host INTEGER NOT NULL, cpu INTEGER NOT NULL,"
	" wall INTEGER NOT NULL, samples INTEGER NOT NULL, lost INTEGER NOT NULL,"
	" UNIQUE (series, minute, host)) STRICT;"
	"CREATE TABLE IF NOT EXISTS alarm (project INTEGER NOT NULL, service TEXT NOT NULL,"
	" base TEXT NOT NULL, head TEXT NOT NULL, function TEXT NOT NULL, text TEXT NOT NULL,"
	" change REAL, low REAL, high REAL, first INTEGER NOT NULL, raised INTEGER NOT NULL,"
	" PRIMARY KEY (project, service, head, function)) STRICT, WITHOUT ROWID;" VALUES SUMS HOURS
		OLD_HOURS CHANGES SWEEPS "PRAGMA user_version = 7;"
	"COMMIT;";

/* Conversion of each layout to the next. */
static const char *const upgrades[LAYOUT] = {
	/* Existing pushes have no digest. */
	[1] = "ALTER TABLE push ADD COLUMN digest INTEGER;"
	      "PRAGMA user_version = 2;",
	[2] = SUMS "INSERT INTO host_sum SELECT series, host, count(*), total(cpu), total(wall),"
		   " sum(samples), sum(lost) FROM cell GROUP BY series, host;"
		   "INSERT INTO push_count SELECT project, service, version, count(*) FROM push"
		   " GROUP BY project, service, version;"
		   "PRAGMA user_version = 3;",
	/* The rows of `value` are converted in parts later, and the table is deleted. */
	[3] = VALUES "PRAGMA user_version = 4;",
	[4] = HOURS "INSERT INTO stale_hour SELECT DISTINCT series, minute / 60, host FROM cell;"
		    "PRAGMA user_version = 5;",
	/* From here on values may be compressed; existing ones remain readable. */
	[5] = "PRAGMA user_version = 6;",
	/* Delete the sums of hours: they are added up again, for the new columns. */
	[6] = "DROP TABLE hour;" HOURS OLD_HOURS CHANGES
	      "INSERT INTO stale_hour SELECT DISTINCT series, minute / 60, host FROM cell"
	      " WHERE true ON CONFLICT DO NOTHING;"
	      "PRAGMA user_version = 7;",
};

/* Create missing tables in one transaction. */
static int make_tables(struct fz_sql *s, const char *text, struct fz_error *err)
{
	int r = fz_sql_script(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;", err);

	if (!r)
		r = fz_sql_script(s, text, err);
	return r;
}

static int read_layout(struct fz_sql *s, int64_t *ret, struct fz_error *err)
{
	sqlite3_stmt *version = NULL;

	if (fz_sqlite.prepare(s->db, "PRAGMA user_version", -1, 0, &version, NULL) != SQLITE_OK)
		return fz_sql_fail(s, err);
	int r = fz_sql_step(s, version, err);
	*ret = r == 1 ? fz_sqlite.column_int(version, 0) : 0;
	fz_sqlite.finalize(version);
	return FZ_MIN(r, 0);
}

static int check_layout(const struct fz_sql *s, int64_t layout, int64_t newest, bool writing,
			struct fz_error *err)
{
	if (layout > newest)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: created by a newer fizeau; upgrade fizeau", s->path);
	if (layout == 0 && !writing)
		return fz_fail(err, FZ_EINPUT, "%s: not a fizeau store", s->path);
	return 0;
}

static int resolve(struct fz_sql *s, struct fz_error *err)
{
	bool direct;
	char *path;
	int r = fz_outfile_resolve(s->path, &path, &direct, err);

	if (r)
		return r;
	free(s->path);
	s->path = path;
	return 0;
}

static bool is_read_only(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && fs.f_flag & ST_RDONLY;
}

/* Create a private file; SQLite gives its other files the same mode. Other users cannot redirect
 * writes. An existing file is never opened here: closing it would release all locks that SQLite
 * holds on it for this process, and another process would remove the log under the writer
 * (sqlite.org/howtocorrupt.html, 2.2). */
static int create_file(struct fz_sql *s, struct fz_error *err)
{
	if (strcmp(s->path, ":memory:") == 0)
		return 0;
	if (is_read_only(s->path))
		return fz_fail(err, FZ_EPERM, "%s: is on a read-only file system; use a copy",
			       s->path);
	int r = resolve(s, err);
	if (r)
		return r;
	int fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	/* It may have been created since its name was resolved. */
	return errno == EEXIST ? resolve(s, err) : fz_fail_errno(err, "%s: cannot open", s->path);
}

/* Where to report the progress of a conversion; may be NULL. */
struct reporting {
	void (*progress)(void *arg, int percent);
	void *arg;
};

static void report(const struct reporting *to, int percent)
{
	if (to)
		to->progress(to->arg, percent);
}

/* Another process may be converting, too, so the layout is read inside the transaction. */
static int convert(struct fz_sql *s, const struct reporting *to, struct fz_error *err)
{
	int64_t layout = 0;
	int r = fz_sql_script(s, "BEGIN IMMEDIATE", err);

	if (r)
		return r;
	r = read_layout(s, &layout, err);
	for (; !r && layout > 0 && layout < LAYOUT; layout++)
		r = fz_sql_script(s, upgrades[layout], err);
	r = fz_sql_end(s, r, err);
	if (r)
		return r;
	report(to, 0);
	r = fz_sqlite_convert_values(s, to ? to->progress : NULL, to ? to->arg : NULL, err);
	if (!r)
		report(to, 100);
	return r;
}

/* Convert a store of an earlier layout, or one whose conversion was interrupted. */
static int migrate(struct fz_sql *s, int64_t layout, const struct reporting *to,
		   struct fz_error *err)
{
	sqlite3_stmt *values =
		fz_sql_once(s, "SELECT count(*) FROM sqlite_schema WHERE name = 'value'");
	int64_t left;
	int r = fz_sql_read_id(s, values, &left, err);

	fz_sql_drop(&values);
	if (!r && (layout < LAYOUT || left))
		r = convert(s, to, err);
	if (r == FZ_EPERM)
		fz_fail(err, r,
			"%s: created by an earlier fizeau and must be converted; run this once "
			"with permission to write to it",
			s->path);
	return r;
}

static int open_database(struct fz_sql *s, const char *name, int flags, struct fz_error *err)
{
	return fz_sqlite.open(name, &s->db, flags, NULL) == SQLITE_OK ? 0 : fz_sql_fail(s, err);
}

/* SQLite cannot create the index of its log here, which it needs for reading, too. So a file
 * without a log or index is opened as one that nobody changes. A server that runs has both, also
 * while its log is empty. */
static int open_read_only(struct fz_sql *s, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *log = fz_asprintf("%s-wal", s->path);
	fz_auto(fz_free_ptr) char *index = fz_asprintf("%s-shm", s->path);
	fz_auto(fz_buf_release) struct fz_buf url = { 0 };
	struct stat st;
	bool logged = stat(log, &st) == 0, indexed = access(index, F_OK) == 0;

	if (logged && st.st_size > 0 && !indexed)
		return fz_fail(
			err, FZ_EPERM,
			"%s: its writer was killed, so it cannot be read on a read-only file "
			"system; copy it with %s",
			s->path, log);
	/* Two slashes at the start of a path would begin a host name. */
	fz_buf_str(&url, s->path[0] == '/' ? "file://" : "file:");
	fz_buf_uri_part(&url, fz_str_of(s->path));
	fz_buf_str(&url, logged && indexed ? "" : "?immutable=1");
	return open_database(s, url.p, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/* made: SQL that creates missing tables, or NULL when reading. */
static int open_file(struct fz_sql *s, const char *path, const char *made, int64_t newest,
		     const struct reporting *to, struct fz_error *err)
{
	int64_t layout;
	int flags = made ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
	int r = fz_sqlite_load(err);

	if (r)
		return r;
	*s = (struct fz_sql){ .path = fz_strdup(path) };
	if (made)
		r = create_file(s, err);
	if (!r)
		r = !made && is_read_only(s->path) ? open_read_only(s, err)
						   : open_database(s, s->path, flags, err);
	if (r) {
		fz_sql_close(s);
		return r;
	}
	fz_sqlite.busy_timeout(s->db, BUSY_MS);
	r = read_layout(s, &layout, err);
	if (!r)
		r = check_layout(s, layout, newest, made != NULL, err);
	/* Readers need the new layout, too. */
	if (!r && layout > 0 && newest == LAYOUT)
		r = migrate(s, layout, to, err);
	if (!r && made)
		r = make_tables(s, made, err);
	if (r)
		fz_sql_close(s);
	return r;
}

int fz_sql_open(struct fz_sql *s, const char *path, bool writing, struct fz_error *err)
{
	return open_file(s, path, writing ? tables : NULL, LAYOUT, NULL, err);
}

int fz_sql_convert(const char *path, void (*progress)(void *arg, int percent), void *arg,
		   struct fz_error *err)
{
	const struct reporting to = { progress, arg };
	struct fz_sql s;

	if (access(path, F_OK))
		return 0;
	int r = open_file(&s, path, NULL, LAYOUT, &to, err);
	if (!r)
		fz_sql_close(&s);
	return r;
}

int fz_sql_open_with(struct fz_sql *s, const char *path, const char *made, struct fz_error *err)
{
	return open_file(s, path, made, 1, NULL, err);
}
