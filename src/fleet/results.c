/* SPDX-License-Identifier: MIT */
/* Benchmark results in SQLite: reading and writing; see results.h.
 *
 * A run is one transaction. A commit that first appeared as a base gets its branch when it is
 * pushed itself; a commit that has a branch keeps it.
 */
#include "fleet/results.h"

#include "fleet/results_calls.h"

void fz_results_close(struct fz_results *r)
{
	if (!r)
		return;
	for (int i = 0; r->sql.db && i < FZ_RESULTS_SQL_STATEMENTS; i++)
		fz_sqlite.finalize(r->prepared[i]);
	if (r->sql.db)
		fz_sql_close(&r->sql);
	free(r);
}

void fz_results_closep(struct fz_results **r)
{
	fz_results_close(*r);
}

int fz_results_open(const char *path, bool writing, struct fz_results **ret, struct fz_error *err)
{
	struct fz_results *r = fz_calloc(1, sizeof(*r));
	int rc = fz_sql_open(&r->sql, path, writing, err);

	if (!rc && writing)
		rc = fz_results_make_tables(r, err);
	if (rc)
		fz_results_close(r);
	else
		*ret = r;
	return rc;
}

/* ---- writing ---- */

static int find_repository(struct fz_results *r, const char *project, const char *name,
			   int64_t *ret, struct fz_error *err)
{
	const char *const texts[] = { project, name, NULL };
	int rc = fz_sql_read_id(&r->sql, fz_results_texts(r, FZ_RESULTS_SQL_GET_REPOSITORY, texts),
				ret, err);

	if (!rc && !*ret)
		return fz_fail(err, FZ_EINPUT, "no repository '%s'", name);
	return rc;
}

static int put_repository(struct fz_results *r, const struct fz_results_run *run, int64_t *ret,
			  struct fz_error *err)
{
	const char *const texts[] = { run->project, run->repository, NULL };
	const char *const all[] = { run->project, run->repository, run->commit_pages, NULL };
	int64_t others;
	int rc = fz_sql_read_id(&r->sql,
				fz_results_texts(r, FZ_RESULTS_SQL_COUNT_REPOSITORIES, texts),
				&others, err);

	if (!rc && others >= FZ_RESULTS_REPOSITORIES)
		rc = fz_fail(err, FZ_ELIMIT, "the project already has %lld repositories",
			     (long long)others);
	if (!rc)
		rc = fz_results_do(r, fz_results_texts(r, FZ_RESULTS_SQL_ADD_REPOSITORY, all), err);
	return rc ? rc : find_repository(r, run->project, run->repository, ret, err);
}

/* base: an earlier commit, or 0. The commit's time is made later than the base's, whatever its
 * clock. */
static int put_commit(struct fz_results *r, int64_t repository, const struct fz_results_commit *c,
		      int64_t base, int64_t *ret, struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_ADD_COMMIT);

	*ret = 0;
	if (!*c->sha)
		return 0;
	fz_sqlite.bind_int(s, 1, repository);
	fz_sql_text(s, 2, fz_str_of(c->sha));
	fz_sql_text(s, 3, fz_str_of(c->branch));
	fz_sqlite.bind_int(s, 4, c->time);
	fz_sql_text(s, 5, fz_str_of(c->subject));
	fz_sqlite.bind_int(s, 6, base);
	return fz_sql_read_id(&r->sql, s, ret, err);
}

static int put_values(struct fz_results *r, int64_t repository, const struct fz_results_run *run,
		      struct fz_error *err)
{
	int64_t commit[2];
	int rc = put_commit(r, repository, &run->base, 0, &commit[1], err);

	if (!rc)
		rc = put_commit(r, repository, &run->head, commit[1], &commit[0], err);
	for (size_t i = 0; !rc && i < run->value_n; i++) {
		const struct fz_results_value *v = &run->values[i];
		sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_ADD_VALUE);

		if (!commit[v->of_base])
			continue;
		fz_sqlite.bind_int(s, 1, commit[v->of_base]);
		fz_sql_text(s, 2, v->metric);
		fz_sql_text(s, 3, v->name);
		fz_sql_text(s, 4, fz_str_of(run->environment));
		fz_sqlite.bind_double(s, 5, v->count);
		fz_sqlite.bind_double(s, 6, v->limit);
		rc = fz_results_do(r, s, err);
	}
	return rc;
}

static int put_run(struct fz_results *r, int64_t repository, const struct fz_results_run *run,
		   bool *ret_new, struct fz_error *err)
{
	const char *const texts[] = { run->id,       run->pull,     run->branch,
				      run->head.sha, run->base.sha, run->head.subject };
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_ADD_RUN);

	fz_sqlite.bind_int(s, 1, repository);
	for (int i = 0; i < (int)FZ_ARRAY_LEN(texts); i++)
		fz_sql_text(s, 2 + i, fz_str_of(texts[i]));
	fz_sqlite.bind_int(s, 8, run->exit);
	fz_sql_text(s, 9, fz_str_of(run->headline));
	fz_sqlite.bind_int(s, 10, run->received);
	fz_sql_text(s, 11, run->report);
	fz_sql_text(s, 12, fz_str_of(run->into));
	fz_sql_text(s, 13, fz_str_of(run->patch));
	int rc = fz_results_do(r, s, err);
	*ret_new = !rc && fz_sqlite.changes(r->sql.db) > 0;
	return rc;
}

int fz_results_put(struct fz_results *r, const struct fz_results_run *run, int64_t *ret_id,
		   bool *ret_new, struct fz_error *err)
{
	int64_t repository;
	int rc = fz_sql_run(&r->sql, FZ_SQL_BEGIN, err);

	if (rc)
		return rc;
	rc = put_repository(r, run, &repository, err);
	if (!rc)
		rc = put_run(r, repository, run, ret_new, err);
	if (!rc) {
		sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_GET_RUN);
		fz_sqlite.bind_int(s, 1, repository);
		fz_sql_text(s, 2, fz_str_of(run->id));
		rc = fz_sql_read_id(&r->sql, s, ret_id, err);
	}
	if (!rc && *ret_new)
		rc = put_values(r, repository, run, err);
	return fz_sql_end(&r->sql, rc, err);
}

int fz_results_judge(struct fz_results *r, int64_t run, int exit, const char *headline,
		     struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_JUDGE);

	fz_sqlite.bind_int(s, 1, run);
	fz_sqlite.bind_int(s, 2, exit);
	fz_sql_text(s, 3, fz_str_of(headline));
	return fz_results_do(r, s, err);
}

static int check_run(struct fz_results *r, const char *project, int64_t run, struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_OWN_RUN);
	int64_t found;

	fz_sql_text(s, 1, fz_str_of(project));
	fz_sqlite.bind_int(s, 2, run);
	int rc = fz_sql_read_id(&r->sql, s, &found, err);
	if (!rc && !found)
		return fz_fail(err, FZ_EINPUT, "no run %lld", (long long)run);
	return rc;
}

int fz_results_find(struct fz_results *r, const char *project, const char *repository,
		    const char *id, int64_t *ret, struct fz_error *err)
{
	const char *const texts[] = { project, repository, id, NULL };
	int rc = fz_sql_read_id(&r->sql, fz_results_texts(r, FZ_RESULTS_SQL_FIND_RUN, texts), ret,
				err);

	if (!rc && !*ret)
		return fz_fail(err, FZ_EINPUT, "no run with id '%.80s'", id);
	return rc;
}

int fz_results_put_page(struct fz_results *r, const char *project, int64_t run, const char *name,
			struct fz_str page, struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_COUNT_PAGES);
	int64_t others = 0;
	int rc = check_run(r, project, run, err);

	if (rc)
		return rc;
	fz_sqlite.bind_int(s, 1, run);
	fz_sql_text(s, 2, fz_str_of(name));
	rc = fz_sql_read_id(&r->sql, s, &others, err);
	if (!rc && others >= FZ_RESULTS_PAGES)
		return fz_fail(err, FZ_ELIMIT, "run %lld already has %d pages", (long long)run,
			       FZ_RESULTS_PAGES);
	s = fz_results_sql(r, FZ_RESULTS_SQL_ADD_PAGE);
	fz_sqlite.bind_int(s, 1, run);
	fz_sql_text(s, 2, fz_str_of(name));
	fz_sql_text(s, 3, page);
	return rc ? rc : fz_results_do(r, s, err);
}

/* Run a statement with the parameters of ACCEPT. */
static int change_accepted(struct fz_results *r, enum fz_results_sql name, const char *project,
			   const char *repository, const struct fz_results_accepted *a,
			   struct fz_error *err)
{
	const char *const texts[] = { a->name, a->metric, a->commit, a->pull,
				      a->into, a->patch,  a->landed, a->reason };
	const double numbers[] = { a->change, a->count[0], a->count[1] };
	int64_t id;
	int rc = find_repository(r, project, repository, &id, err), at = 1;

	if (rc)
		return rc;
	sqlite3_stmt *s = fz_results_sql(r, name);
	fz_sqlite.bind_int(s, at++, id);
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		fz_sql_text(s, at++, fz_str_of(texts[i]));
	for (size_t i = 0; i < FZ_ARRAY_LEN(numbers); i++)
		fz_sqlite.bind_double(s, at++, numbers[i]);
	fz_sqlite.bind_int(s, at, a->time);
	return fz_results_do(r, s, err);
}

int fz_results_accept(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, struct fz_error *err)
{
	return change_accepted(r, FZ_RESULTS_SQL_ACCEPT, project, repository, a, err);
}

int fz_results_follow(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, struct fz_error *err)
{
	return change_accepted(r, FZ_RESULTS_SQL_FOLLOW, project, repository, a, err);
}

int fz_results_land(struct fz_results *r, const char *project, const char *repository,
		    const struct fz_results_accepted *a, struct fz_error *err)
{
	return change_accepted(r, FZ_RESULTS_SQL_LAND, project, repository, a, err);
}

int fz_results_refuse(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, bool *ret, struct fz_error *err)
{
	int rc = change_accepted(r, FZ_RESULTS_SQL_REFUSE, project, repository, a, err);

	*ret = !rc && fz_sqlite.changes(r->sql.db) > 0;
	return rc;
}

int fz_results_forget(struct fz_results *r, int64_t before, struct fz_error *err)
{
	static const enum fz_results_sql steps[] = { FZ_RESULTS_SQL_FORGET_PAGES,
						     FZ_RESULTS_SQL_FORGET_RUNS };
	int rc = fz_sql_run(&r->sql, FZ_SQL_BEGIN, err);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < FZ_ARRAY_LEN(steps); i++) {
		sqlite3_stmt *s = fz_results_sql(r, steps[i]);
		fz_sqlite.bind_int(s, 1, before);
		rc = fz_results_do(r, s, err);
	}
	return fz_sql_end(&r->sql, rc, err);
}

/* ---- reading ---- */

/* Pass each row of a statement with bound parameters to `one`. */
static int each(struct fz_results *r, sqlite3_stmt *s, void (*one)(void *arg, sqlite3_stmt *s),
		void *arg, struct fz_error *err)
{
	int rc;

	while ((rc = fz_sql_step(&r->sql, s, err)) == 1)
		one(arg, s);
	return rc;
}

struct names {
	void (*take)(void *arg, struct fz_str name);
	void *arg;
};

static void one_name(void *arg, sqlite3_stmt *s)
{
	struct names *n = arg;

	n->take(n->arg, fz_sql_column(s, 0));
}

int fz_results_page(struct fz_results *r, const char *project, int64_t run, const char *name,
		    struct fz_buf *ret, struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_GET_PAGE);

	fz_sql_text(s, 1, fz_str_of(project));
	fz_sqlite.bind_int(s, 2, run);
	fz_sql_text(s, 3, fz_str_of(name));
	int rc = fz_sql_step(&r->sql, s, err);
	if (rc != 1)
		return rc;
	struct fz_str page = fz_sql_column(s, 0);
	fz_buf_add(ret, page.p, page.n);
	fz_sql_reset(s);
	return 1;
}

int fz_results_pages(struct fz_results *r, int64_t run, void (*take)(void *arg, struct fz_str name),
		     void *arg, struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_PAGES);
	struct names names = { take, arg };

	fz_sqlite.bind_int(s, 1, run);
	return each(r, s, one_name, &names, err);
}

struct repositories {
	void (*take)(void *arg, const struct fz_results_repository *e);
	void *arg;
};

static void one_repository(void *arg, sqlite3_stmt *s)
{
	struct repositories *list = arg;

	list->take(list->arg,
		   &(struct fz_results_repository){ .name = fz_sql_column(s, 0),
						    .commits = fz_sqlite.column_int(s, 1),
						    .pulls = fz_sqlite.column_int(s, 2),
						    .benchmarks = fz_sqlite.column_int(s, 3),
						    .last = fz_sqlite.column_int(s, 4),
						    .headline = fz_sql_column(s, 5),
						    .exit = (int)fz_sqlite.column_int(s, 6) });
}

int fz_results_repositories(struct fz_results *r, const char *project,
			    void (*take)(void *arg, const struct fz_results_repository *e),
			    void *arg, struct fz_error *err)
{
	const char *const texts[] = { project, NULL };
	struct repositories list = { take, arg };

	return each(r, fz_results_texts(r, FZ_RESULTS_SQL_REPOSITORIES, texts), one_repository,
		    &list, err);
}

struct runs {
	void (*take)(void *arg, const struct fz_results_found *f);
	void *arg;
	int n;
};

static void one_run(void *arg, sqlite3_stmt *s)
{
	struct runs *list = arg;

	list->n++;
	list->take(list->arg, &(struct fz_results_found){ .id = fz_sqlite.column_int(s, 0),
							  .received = fz_sqlite.column_int(s, 1),
							  .exit = (int)fz_sqlite.column_int(s, 2),
							  .repository = fz_sql_column(s, 3),
							  .commit_pages = fz_sql_column(s, 4),
							  .pull = fz_sql_column(s, 5),
							  .branch = fz_sql_column(s, 6),
							  .head = fz_sql_column(s, 7),
							  .base = fz_sql_column(s, 8),
							  .subject = fz_sql_column(s, 9),
							  .headline = fz_sql_column(s, 10),
							  .report = fz_sql_column(s, 11),
							  .into = fz_sql_column(s, 12),
							  .patch = fz_sql_column(s, 13) });
}

static sqlite3_stmt *of_query(struct fz_results *r, enum fz_results_sql name,
			      const struct fz_results_query *q, unsigned most)
{
	const char *const texts[] = { q->project, q->repository, q->pull, q->branch, q->head };
	sqlite3_stmt *s = fz_results_sql(r, name);

	for (int i = 0; i < (int)FZ_ARRAY_LEN(texts); i++)
		fz_sqlite.bind_text(s, i + 1, texts[i], texts[i] ? strlen(texts[i]) : 0,
				    SQLITE_TRANSIENT, SQLITE_UTF8);
	fz_sqlite.bind_int(s, 6, q->run);
	fz_sqlite.bind_int(s, 7, q->pulls);
	fz_sqlite.bind_int(s, 8, most);
	return s;
}

int fz_results_runs(struct fz_results *r, const struct fz_results_query *q,
		    void (*take)(void *arg, const struct fz_results_found *f), void *arg,
		    struct fz_error *err)
{
	struct runs list = { .take = take, .arg = arg };

	return each(r, of_query(r, FZ_RESULTS_SQL_RUNS, q, q->most), one_run, &list, err);
}

int fz_results_last(struct fz_results *r, const struct fz_results_query *q,
		    void (*take)(void *arg, const struct fz_results_found *f), void *arg,
		    struct fz_error *err)
{
	struct runs list = { .take = take, .arg = arg };
	int rc = each(r, of_query(r, FZ_RESULTS_SQL_LAST, q, 1), one_run, &list, err);

	return rc ? rc : list.n;
}

int fz_results_branches(struct fz_results *r, const char *project, const char *repository,
			void (*take)(void *arg, struct fz_str name), void *arg,
			struct fz_error *err)
{
	const char *const texts[] = { project, repository, NULL };
	struct names names = { take, arg };

	return each(r, fz_results_texts(r, FZ_RESULTS_SQL_BRANCHES, texts), one_name, &names, err);
}

int fz_results_metrics(struct fz_results *r, const char *project, const char *repository,
		       void (*take)(void *arg, struct fz_str name), void *arg, struct fz_error *err)
{
	const char *const texts[] = { project, repository, NULL };
	struct names names = { take, arg };

	return each(r, fz_results_texts(r, FZ_RESULTS_SQL_METRICS, texts), one_name, &names, err);
}

struct points {
	void (*take)(void *arg, const struct fz_results_point *p);
	void *arg;
};

static void one_point(void *arg, sqlite3_stmt *s)
{
	struct points *list = arg;

	list->take(list->arg, &(struct fz_results_point){ .id = fz_sqlite.column_int(s, 0),
							  .sha = fz_sql_column(s, 1),
							  .subject = fz_sql_column(s, 2),
							  .time = fz_sqlite.column_int(s, 3) });
}

int fz_results_commits(struct fz_results *r, const struct fz_results_query *q,
		       void (*take)(void *arg, const struct fz_results_point *p), void *arg,
		       struct fz_error *err)
{
	const char *const texts[] = { q->project, q->repository, q->branch, NULL };
	sqlite3_stmt *s = fz_results_texts(r, FZ_RESULTS_SQL_COMMITS, texts);
	struct points list = { take, arg };

	fz_sqlite.bind_int(s, 4, q->most);
	return each(r, s, one_point, &list, err);
}

struct counts {
	void (*take)(void *arg, const struct fz_results_count *c);
	void *arg;
};

static void one_count(void *arg, sqlite3_stmt *s)
{
	struct counts *list = arg;

	list->take(list->arg, &(struct fz_results_count){ .name = fz_sql_column(s, 0),
							  .environment = fz_sql_column(s, 1),
							  .count = fz_sqlite.column_double(s, 2),
							  .limit = fz_sqlite.column_double(s, 3) });
}

int fz_results_counts(struct fz_results *r, int64_t commit, const char *metric,
		      void (*take)(void *arg, const struct fz_results_count *c), void *arg,
		      struct fz_error *err)
{
	sqlite3_stmt *s = fz_results_sql(r, FZ_RESULTS_SQL_COUNTS);
	struct counts list = { take, arg };

	fz_sqlite.bind_int(s, 1, commit);
	fz_sql_text(s, 2, fz_str_of(metric));
	return each(r, s, one_count, &list, err);
}

struct accepted {
	void (*take)(void *arg, const struct fz_results_accepted *a);
	void *arg;
};

static void one_accepted(void *arg, sqlite3_stmt *s)
{
	struct accepted *list = arg;

	list->take(list->arg,
		   &(struct fz_results_accepted){ .name = fz_sql_column(s, 0).p,
						  .metric = fz_sql_column(s, 1).p,
						  .reason = fz_sql_column(s, 2).p,
						  .commit = fz_sql_column(s, 3).p,
						  .pull = fz_sql_column(s, 4).p,
						  .into = fz_sql_column(s, 5).p,
						  .patch = fz_sql_column(s, 6).p,
						  .landed = fz_sql_column(s, 7).p,
						  .change = fz_sqlite.column_double(s, 8),
						  .count = { fz_sqlite.column_double(s, 9),
							     fz_sqlite.column_double(s, 10) },
						  .time = fz_sqlite.column_int(s, 11) });
}

int fz_results_accepted(struct fz_results *r, const char *project, const char *repository,
			void (*take)(void *arg, const struct fz_results_accepted *a), void *arg,
			struct fz_error *err)
{
	const char *const texts[] = { project, repository, NULL };
	struct accepted list = { take, arg };

	return each(r, fz_results_texts(r, FZ_RESULTS_SQL_ACCEPTED, texts), one_accepted, &list,
		    err);
}
