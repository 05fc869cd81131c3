/* SPDX-License-Identifier: MIT */
/* Deletes old data: profiles, whole files, reports of benchmarks.
 *
 *   newest data, clock, monotonic time -> the present -> what is older than --retain goes
 *
 * With a clock 40 days ahead nothing is deleted too early, as long as clients send the time of
 * their data: the newest data shows the true time. After 40 days without a push the present is 40
 * days behind the clock, and catches up at the next start or in 40 days.
 */
#include "serve/retention.h"

#include "base/clock.h"
#include "serve/server.h"

int64_t fz_retention_advance(struct fz_retention *t, int64_t newest_ns,
			     struct fz_retention_clock clock)
{
	int64_t most = t->reached + 2 * (clock.monotonic_ns - t->measured);

	if (!t->reached)
		t->reached = newest_ns;
	else
		t->reached = FZ_MAX(t->reached, FZ_MIN(most, clock.unix_ns));
	t->measured = clock.monotonic_ns;
	return FZ_MIN(t->reached, clock.unix_ns);
}

/* ---- the newest data ---- */

static void see(int64_t *newest, int64_t ns)
{
	*newest = FZ_MAX(*newest, ns);
}

static void see_release(void *arg, const struct fz_fleet_entry *e)
{
	see(arg, e->last * FZ_MINUTE);
}

static void see_file(void *arg, const struct fz_file *file)
{
	see(arg, file->began_unix_ns);
}

static void see_repository(void *arg, const struct fz_results_repository *r)
{
	see(arg, r->last * FZ_SECOND);
}

static int see_files(struct fz_server *s, const char *project, int64_t *newest,
		     struct fz_error *err)
{
	static const enum fz_files_kind kinds[] = { FZ_FILES_RECORDINGS, FZ_FILES_COUNTS };
	int r = 0;

	for (size_t i = 0; !r && i < FZ_ARRAY_LEN(kinds); i++) {
		const struct fz_files_query q = {
			.project = project, .kind = kinds[i], .until = INT64_MAX, .most = 1
		};
		r = fz_files_list(s->files, &q, see_file, newest, err);
	}
	return r;
}

static int see_project(struct fz_server *s, struct fz_fleet *f, const char *project,
		       int64_t *newest, struct fz_error *err)
{
	int r = fz_fleet_list(f, project, see_release, newest, err);

	if (!r && s->files)
		r = see_files(s, project, newest, err);
	if (!r && s->results) {
		pthread_mutex_lock(&s->results_writing);
		r = fz_results_repositories(s->results, project, see_repository, newest, err);
		pthread_mutex_unlock(&s->results_writing);
	}
	return r;
}

/* Is a token the first of its project? */
static bool is_first(const struct fz_tokens *t, size_t token)
{
	for (size_t i = 0; i < token; i++)
		if (strcmp(t->list[i].project, t->list[token].project) == 0)
			return false;
	return true;
}

static int find_newest(struct fz_server *s, int64_t *ret, struct fz_error *err)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	int r = fz_server_open_store(s, FZ_FLEET_READ, &f, err);

	if (!r && !s->tokens)
		r = see_project(s, f, "default", ret, err);
	for (size_t i = 0; !r && s->tokens && i < s->tokens->tokens.n; i++)
		if (is_first(&s->tokens->tokens, i))
			r = see_project(s, f, s->tokens->tokens.list[i].project, ret, err);
	return r;
}

void fz_retention_begin(struct fz_server *s)
{
	int64_t newest = 0;
	struct fz_error err;

	if (find_newest(s, &newest, &err))
		s->say(err.message);
	atomic_store(&s->newest_minute, newest / FZ_MINUTE);
}

/* ---- deleting ---- */

/* Replace old minutes by sums of hours. */
static void age(struct fz_server *s, int64_t before, bool (*between)(void *arg, int64_t rows),
		void *arg)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *own = NULL;
	struct fz_error err;
	int64_t n = fz_server_open_store(s, FZ_FLEET_WRITE, &own, &err);

	if (!n)
		n = fz_fleet_age_between(own, before, between, arg, &err);
	if (n < 0)
		s->say(err.message);
}

static int forget_profiles(struct fz_server *s, int64_t before,
			   bool (*between)(void *arg, int64_t rows), void *arg,
			   struct fz_error *err)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *own = NULL;
	int64_t n;

	if (fz_fleet_forgets_beside(s->writer)) {
		int r = fz_server_open_store(s, FZ_FLEET_WRITE, &own, err);

		n = r ? r : fz_fleet_forget_between(own, before, between, arg, err);
	} else {
		pthread_mutex_lock(&s->writing);
		n = fz_fleet_forget(s->writer, before, err);
		pthread_mutex_unlock(&s->writing);
	}
	return n < 0 ? (int)n : 0;
}

static void forget(struct fz_server *s, int64_t before, bool (*between)(void *arg, int64_t rows),
		   void *arg)
{
	struct fz_error err;

	if (forget_profiles(s, before, between, arg, &err))
		s->say(err.message);
	if (s->files && fz_files_forget(s->files, before * FZ_MINUTE, &err))
		s->say(err.message);
	if (!s->results)
		return;
	pthread_mutex_lock(&s->results_writing);
	if (fz_results_forget(s->results, before * 60, &err))
		s->say(err.message);
	pthread_mutex_unlock(&s->results_writing);
}

/* Once, until the present has caught up. */
static void report_lag(struct fz_retention *t, const struct fz_server *s, int64_t lag_ns)
{
	if (lag_ns > FZ_DAY && !t->reported) {
		long long days = lag_ns / FZ_DAY;
		fz_auto(fz_free_ptr) char *line = fz_asprintf(
			"the clock is %lld days later than the newest data; check it: old data is "
			"kept %lld days longer",
			days, days);

		s->say(line);
	}
	t->reported = lag_ns > FZ_DAY;
}

void fz_retention_run(struct fz_retention *t, struct fz_server *s, struct fz_retention_clock clock,
		      bool (*between)(void *arg, int64_t rows), void *arg)
{
	const struct fz_serve_options *o = &s->options;
	struct fz_error err;
	int64_t newest = 0;

	if (!o->retain_days && !o->retain_minutes_days)
		return;
	if (!t->reached && find_newest(s, &newest, &err)) {
		s->say(err.message);
		return;
	}
	/* Only data shows that the clock is right: without any, no push is too old. */
	if (!t->reached && !newest)
		return;
	int64_t now = fz_retention_advance(t, newest, clock);
	report_lag(t, s, clock.unix_ns - now);
	if (o->retain_days) {
		int64_t before = (now - o->retain_days * FZ_DAY) / FZ_MINUTE;

		atomic_store(&s->oldest_minute, before);
		forget(s, before, between, arg);
	}
	if (o->retain_minutes_days)
		age(s, (now - o->retain_minutes_days * FZ_DAY) / FZ_MINUTE, between, arg);
}
