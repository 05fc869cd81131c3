/* SPDX-License-Identifier: MIT */
/* Benchmark results in SQLite: prepared statements by name, and helpers. results_calls.c has the
 * SQL; results.c runs it. */
#pragma once

#include "fleet/sqlite_calls.h"

enum fz_results_sql {
	FZ_RESULTS_SQL_ADD_REPOSITORY,
	FZ_RESULTS_SQL_GET_REPOSITORY,
	FZ_RESULTS_SQL_COUNT_REPOSITORIES,
	FZ_RESULTS_SQL_ADD_RUN,
	FZ_RESULTS_SQL_GET_RUN,
	FZ_RESULTS_SQL_JUDGE,
	FZ_RESULTS_SQL_ADD_COMMIT,
	FZ_RESULTS_SQL_ADD_VALUE,
	FZ_RESULTS_SQL_OWN_RUN,
	FZ_RESULTS_SQL_FIND_RUN,
	FZ_RESULTS_SQL_COUNT_PAGES,
	FZ_RESULTS_SQL_ADD_PAGE,
	FZ_RESULTS_SQL_GET_PAGE,
	FZ_RESULTS_SQL_PAGES,
	FZ_RESULTS_SQL_REPOSITORIES,
	FZ_RESULTS_SQL_RUNS,
	FZ_RESULTS_SQL_LAST,
	FZ_RESULTS_SQL_BRANCHES,
	FZ_RESULTS_SQL_METRICS,
	FZ_RESULTS_SQL_COMMITS,
	FZ_RESULTS_SQL_COUNTS,
	FZ_RESULTS_SQL_ACCEPT,
	FZ_RESULTS_SQL_FOLLOW,
	FZ_RESULTS_SQL_LAND,
	FZ_RESULTS_SQL_HAS_COLUMN,
	FZ_RESULTS_SQL_REFUSE,
	FZ_RESULTS_SQL_ACCEPTED,
	FZ_RESULTS_SQL_FORGET_PAGES,
	FZ_RESULTS_SQL_FORGET_RUNS,
	FZ_RESULTS_SQL_STATEMENTS
};

struct fz_results {
	struct fz_sql sql;
	sqlite3_stmt *prepared[FZ_RESULTS_SQL_STATEMENTS];
};

/* Create missing tables, and add columns that were added since. */
int fz_results_make_tables(struct fz_results *r, struct fz_error *err);
/* Return a prepared statement; the caller binds its parameters and steps it. */
sqlite3_stmt *fz_results_sql(struct fz_results *r, enum fz_results_sql name);
/* The same with `texts`, NULL-terminated, bound as the first parameters. */
sqlite3_stmt *fz_results_texts(struct fz_results *r, enum fz_results_sql name,
			       const char *const *texts);
/* Run a statement with bound parameters, ignoring its rows. */
int fz_results_do(struct fz_results *r, sqlite3_stmt *s, struct fz_error *err);
