/* SPDX-License-Identifier: MIT */
/* All SQL of benchmark results, for SQLite; see results_calls.h.
 *
 * The tables may share a file with those of profiles (sqlite_calls.c), but are independent of them.
 */
#include "fleet/results_calls.h"

static const char tables[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS ci_repository (id INTEGER PRIMARY KEY, project TEXT NOT NULL,"
	" name TEXT NOT NULL, pages TEXT NOT NULL, UNIQUE (project, name)) STRICT;"
	"CREATE TABLE IF NOT EXISTS ci_commit (id INTEGER PRIMARY KEY,"
	" repository INTEGER NOT NULL, sha TEXT NOT NULL, branch TEXT NOT NULL,"
	" time INTEGER NOT NULL, subject TEXT NOT NULL, UNIQUE (repository, sha)) STRICT;"
	"CREATE INDEX IF NOT EXISTS ci_commit_branch ON ci_commit (repository, branch, time);"
	"CREATE TABLE IF NOT EXISTS ci_value (of INTEGER NOT NULL, metric TEXT NOT NULL,"
	" name TEXT NOT NULL, environment TEXT NOT NULL, count REAL NOT NULL,"
	" least REAL NOT NULL, PRIMARY KEY (of, metric, name, environment))"
	" STRICT, WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS ci_run (id INTEGER PRIMARY KEY, repository INTEGER NOT NULL,"
	" push TEXT NOT NULL, pull TEXT NOT NULL, branch TEXT NOT NULL, head TEXT NOT NULL,"
	" base TEXT NOT NULL, subject TEXT NOT NULL, exit INTEGER NOT NULL,"
	" headline TEXT NOT NULL, received INTEGER NOT NULL, report TEXT NOT NULL,"
	" UNIQUE (repository, push)) STRICT;"
	"CREATE TABLE IF NOT EXISTS ci_page (run INTEGER NOT NULL, name TEXT NOT NULL,"
	" page BLOB NOT NULL, PRIMARY KEY (run, name)) STRICT;"
	"CREATE TABLE IF NOT EXISTS ci_accepted (repository INTEGER NOT NULL, name TEXT NOT NULL,"
	" metric TEXT NOT NULL, sha TEXT NOT NULL, pull TEXT NOT NULL, change REAL NOT NULL,"
	" reason TEXT NOT NULL, time INTEGER NOT NULL,"
	" PRIMARY KEY (repository, name, metric, sha)) STRICT, WITHOUT ROWID;"
	"COMMIT;";

/* Columns added later; older files get them when opened for writing. */
static const char *const columns[][2] = {
	{ "ci_run", "target TEXT NOT NULL DEFAULT ''" },
	{ "ci_run", "patch TEXT NOT NULL DEFAULT ''" },
	{ "ci_accepted", "target TEXT NOT NULL DEFAULT ''" },
	{ "ci_accepted", "patch TEXT NOT NULL DEFAULT ''" },
	{ "ci_accepted", "base REAL NOT NULL DEFAULT -1" },
	{ "ci_accepted", "head REAL NOT NULL DEFAULT -1" },
	{ "ci_accepted", "landed TEXT NOT NULL DEFAULT ''" },
};

#define REPOSITORY "(SELECT id FROM ci_repository WHERE project = ?1 AND name = ?2)"
/* `received` is when a run was made, which may differ from the order of arrival. */
#define LATEST " ORDER BY received DESC, id DESC"
/* ?3 pull, ?4 branch, ?5 beginning of the head, ?6 run, ?7 one run of each pull request */
#define FOUND                                                                                     \
	" FROM ci_run JOIN ci_repository ON ci_repository.id = repository WHERE project = ?1"     \
	" AND (?2 IS NULL OR name = ?2) AND (?3 IS NULL OR pull = ?3)"                            \
	" AND (?4 IS NULL OR (branch = ?4 AND pull = ''))"                                        \
	" AND (?5 IS NULL OR substr(head, 1, length(?5)) = ?5) AND (?6 = 0 OR ci_run.id = ?6)"    \
	" AND (?7 = 0 OR (pull <> '' AND ci_run.id = (SELECT id FROM ci_run AS other WHERE"       \
	" other.repository = ci_run.repository AND other.pull = ci_run.pull" LATEST " LIMIT 1)))" \
	" ORDER BY received DESC, ci_run.id DESC LIMIT ?8"

static const char *const statements[FZ_RESULTS_SQL_STATEMENTS] = {
	[FZ_RESULTS_SQL_ADD_REPOSITORY] =
		"INSERT INTO ci_repository (project, name, pages) VALUES (?1, ?2, ?3)"
		" ON CONFLICT DO UPDATE SET pages = CASE ?3 WHEN '' THEN pages ELSE ?3"
		" END",
	[FZ_RESULTS_SQL_GET_REPOSITORY] =
		"SELECT id FROM ci_repository WHERE project = ?1 AND name = ?2",
	[FZ_RESULTS_SQL_COUNT_REPOSITORIES] =
		"SELECT count(*) FROM ci_repository WHERE project = ?1"
		" AND name <> ?2",
	[FZ_RESULTS_SQL_ADD_RUN] =
		"INSERT INTO ci_run (repository, push, pull, branch, head, base, subject, exit,"
		" headline, received, report, target, patch)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		" ON CONFLICT DO NOTHING",
	[FZ_RESULTS_SQL_GET_RUN] = "SELECT id FROM ci_run WHERE repository = ?1 AND push = ?2",
	[FZ_RESULTS_SQL_JUDGE] = "UPDATE ci_run SET exit = ?2, headline = ?3 WHERE id = ?1",
	[FZ_RESULTS_SQL_ADD_COMMIT] =
		"INSERT INTO ci_commit (repository, sha, branch, time, subject)"
		" VALUES (?1, ?2, ?3, max(?4, coalesce((SELECT time + 1 FROM ci_commit WHERE id = "
		"?6"
		" AND sha <> ?2), 0)), ?5) ON CONFLICT DO UPDATE SET time = max(time,"
		" excluded.time), branch = CASE branch WHEN '' THEN ?3 ELSE branch END RETURNING "
		"id",
	[FZ_RESULTS_SQL_ADD_VALUE] =
		"INSERT INTO ci_value VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE"
		" SET count = ?5, least = ?6",
	[FZ_RESULTS_SQL_OWN_RUN] =
		"SELECT ci_run.id FROM ci_run JOIN ci_repository ON"
		" ci_repository.id = repository WHERE project = ?1 AND ci_run.id = ?2",
	[FZ_RESULTS_SQL_FIND_RUN] =
		"SELECT ci_run.id FROM ci_run JOIN ci_repository ON ci_repository.id ="
		" repository WHERE project = ?1 AND name = ?2 AND push = ?3",
	[FZ_RESULTS_SQL_COUNT_PAGES] = "SELECT count(*) FROM ci_page WHERE run = ?1 AND name <> ?2",
	[FZ_RESULTS_SQL_ADD_PAGE] =
		"INSERT INTO ci_page VALUES (?1, ?2, CAST(?3 AS BLOB)) ON CONFLICT DO NOTHING",
	[FZ_RESULTS_SQL_GET_PAGE] =
		"SELECT page FROM ci_page JOIN ci_run ON ci_run.id = run JOIN ci_repository"
		" ON ci_repository.id = repository WHERE project = ?1 AND run = ?2"
		" AND ci_page.name = ?3",
	[FZ_RESULTS_SQL_PAGES] =
		"SELECT name FROM ci_page WHERE run = ?1 ORDER BY length(name), name",
	[FZ_RESULTS_SQL_REPOSITORIES] =
		"SELECT name, (SELECT count(*) FROM ci_commit WHERE"
		" ci_commit.repository = r.id), (SELECT count(DISTINCT pull) FROM ci_run WHERE"
		" ci_run.repository = r.id AND pull <> ''), (SELECT count(DISTINCT ci_value.name)"
		" FROM ci_value JOIN ci_commit ON ci_commit.id = of WHERE"
		" ci_commit.repository = r.id), (SELECT max(received) FROM ci_run WHERE"
		" ci_run.repository = r.id), coalesce(headline, ''), coalesce(exit, -1) FROM"
		" ci_repository AS r LEFT JOIN ci_run ON ci_run.id = (SELECT id FROM ci_run"
		" WHERE ci_run.repository = r.id AND pull = ''" LATEST " LIMIT 1)"
		" WHERE project = ?1 ORDER BY name",
	[FZ_RESULTS_SQL_RUNS] =
		"SELECT ci_run.id, received, exit, name, pages, pull, branch, head, base, subject,"
		" headline, '', target, patch" FOUND,
	[FZ_RESULTS_SQL_LAST] =
		"SELECT ci_run.id, received, exit, name, pages, pull, branch, head, base, subject,"
		" headline, report, target, patch" FOUND,
	[FZ_RESULTS_SQL_BRANCHES] =
		"SELECT branch FROM ci_commit WHERE repository = " REPOSITORY
		" AND branch <> '' GROUP BY branch ORDER BY count(*) DESC, branch LIMIT 100",
	[FZ_RESULTS_SQL_METRICS] =
		"SELECT DISTINCT metric FROM ci_value JOIN ci_commit ON ci_commit.id = of"
		" WHERE repository = " REPOSITORY " ORDER BY metric = 'instructions' DESC,"
		" metric",
	[FZ_RESULTS_SQL_COMMITS] =
		"SELECT * FROM (SELECT id, sha, subject, time FROM ci_commit WHERE"
		" repository = " REPOSITORY " AND branch = ?3 ORDER BY time DESC, id DESC"
		" LIMIT ?4) ORDER BY time, id",
	[FZ_RESULTS_SQL_COUNTS] =
		"SELECT name, environment, count, least FROM ci_value WHERE of = ?1"
		" AND metric = ?2",
	[FZ_RESULTS_SQL_ACCEPT] =
		"INSERT INTO ci_accepted (repository, name, metric, sha, pull, target, patch,"
		" landed, reason, change, base, head, time)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
		" ON CONFLICT DO UPDATE SET pull = ?5, target = ?6, patch = ?7, landed = ?8,"
		" reason = ?9, change = ?10, base = ?11, head = ?12, time = ?13",
	[FZ_RESULTS_SQL_FOLLOW] =
		"UPDATE ci_accepted SET patch = ?7, base = ?11, head = ?12 WHERE"
		" repository = ?1 AND name = ?2 AND metric = ?3 AND sha = ?4 AND pull = ?5"
		" AND landed = ''",
	[FZ_RESULTS_SQL_LAND] =
		"UPDATE ci_accepted SET landed = ?8 WHERE repository = ?1 AND name = ?2 AND"
		" metric = ?3 AND sha = ?4 AND target = ?6 AND landed = ''",
	[FZ_RESULTS_SQL_HAS_COLUMN] = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2",
	[FZ_RESULTS_SQL_REFUSE] =
		"DELETE FROM ci_accepted WHERE repository = ?1 AND name = ?2 AND metric = ?3"
		" AND sha = ?4",
	[FZ_RESULTS_SQL_ACCEPTED] =
		"SELECT name, metric, reason, sha, pull, target, patch, landed, change, base,"
		" head, time FROM ci_accepted WHERE repository = " REPOSITORY
		" ORDER BY time DESC, name, metric, sha"
		" LIMIT 10000",
	[FZ_RESULTS_SQL_FORGET_PAGES] =
		"DELETE FROM ci_page WHERE run IN (SELECT id FROM ci_run WHERE"
		" received < ?1)",
	[FZ_RESULTS_SQL_FORGET_RUNS] = "DELETE FROM ci_run WHERE received < ?1",
};

/* ---- statements ---- */

sqlite3_stmt *fz_results_sql(struct fz_results *r, enum fz_results_sql name)
{
	return fz_sql_kept(&r->sql, &r->prepared[name], statements[name]);
}

sqlite3_stmt *fz_results_texts(struct fz_results *r, enum fz_results_sql name,
			       const char *const *texts)
{
	sqlite3_stmt *s = fz_results_sql(r, name);

	for (int i = 0; texts[i]; i++)
		fz_sql_text(s, i + 1, fz_str_of(texts[i]));
	return s;
}

int fz_results_do(struct fz_results *r, sqlite3_stmt *s, struct fz_error *err)
{
	int64_t none;

	return fz_sql_read_id(&r->sql, s, &none, err);
}

/* ---- tables ---- */

static int add_column(struct fz_results *r, const char *table, const char *column,
		      struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_HAS_COLUMN);
	int64_t found;

	fz_sql_text(s, 1, fz_str_of(table));
	fz_sql_text(s, 2, (struct fz_str){ column, strcspn(column, " ") });
	int rc = fz_sql_read_id(&r->sql, s, &found, err);
	if (rc || found)
		return rc;
	fz_auto(fz_free_ptr) char *text =
		fz_asprintf("ALTER TABLE %s ADD COLUMN %s", table, column);
	return fz_sql_script(&r->sql, text, err);
}

int fz_results_make_tables(struct fz_results *r, struct fz_error *err)
{
	int rc = fz_sql_script(&r->sql, tables, err);

	for (size_t i = 0; !rc && i < FZ_ARRAY_LEN(columns); i++)
		rc = add_column(r, columns[i][0], columns[i][1], err);
	return rc;
}
