/* SPDX-License-Identifier: MIT */
/* A thread that checks releases one by one, each when its data has doubled since the last check.
 * Hosts do not push at the same time: it waits for a pause in the pushes of a release, but not for
 * long.
 *
 *   push -> {project, service, version, main metric, first, last minute} -> due? -> check -> alarm
 *
 *   alarm -> store, file, command, URL
 *
 * A push only updates a release's minutes. An alarm in the store is not raised again. A check that
 * fails, or whose alarm cannot be stored, is repeated until it succeeds, with longer and longer
 * pauses; the log reports the first failure, and each with another message. If an alarm cannot be
 * delivered, the log reports it, and the alarm stays on the server's page.
 */
#include "serve/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/outfile.h"
#include "fleet/client.h"
#include "serve/server.h"

enum { RELEASES_MAX = 10000, BEHIND_MINUTES = 15 };
static const int64_t quiet = 2000000000, patience = 30000000000; /* ns */

struct release {
	struct release *next;
	struct fz_fleet_watch watch;
	char *host;     /* the only host that pushed so far; NULL: several */
	int64_t last;   /* latest pushed minute */
	int64_t pushed; /* time of the last push; fz_clock_now() */
	int64_t due;    /* since when a check is due; 0: not due */
	struct fz_retry retry;
};

struct fz_watcher {
	struct fz_server *server;
	pthread_t thread;
	pthread_mutex_t lock; /* for the members below */
	pthread_cond_t stop;
	bool stopping;
	struct release *releases; /* most recently pushed first */
	uint32_t n;
};

/* ---- releases ---- */

static void free_release(struct release *r)
{
	free((char *)r->watch.project);
	free((char *)r->watch.service);
	free((char *)r->watch.version);
	free((char *)r->watch.metric);
	free(r->host);
	free(r->retry.message);
	fz_fleet_watch_release(&r->watch);
	free(r);
}

/* Remove a release from the list and return it; NULL if there is none. */
static struct release *remove_release(struct fz_watcher *w, const struct fz_fleet_push *push,
				      const char *metric)
{
	for (struct release **at = &w->releases; *at; at = &(*at)->next) {
		struct release *r = *at;

		if (strcmp(r->watch.metric, metric) != 0 ||
		    strcmp(r->watch.version, push->version) != 0 ||
		    strcmp(r->watch.service, push->service) != 0 ||
		    strcmp(r->watch.project, push->project) != 0)
			continue;
		*at = r->next;
		w->n--;
		return r;
	}
	return NULL;
}

static void put(struct fz_watcher *w, struct release *r)
{
	r->next = w->releases;
	w->releases = r;
	w->n++;
}

/* Drop the least recently pushed release. */
static void drop_oldest(struct fz_watcher *w)
{
	struct release **at = &w->releases;

	while ((*at)->next)
		at = &(*at)->next;
	free_release(*at);
	*at = NULL;
	w->n--;
}

/* If the first host's clock is slow, or it ran the release long before the others, checks would be
 * hours apart by the time the others start. So the second host restarts the checks. */
static void note_host(struct release *r, const char *host, int64_t first)
{
	if (!r->host || (host && strcmp(r->host, host) == 0))
		return;
	if (first > r->watch.first + BEHIND_MINUTES) {
		r->watch.first = first;
		r->watch.checked = 0;
		r->watch.suspects.n = 0;
	}
	free(r->host);
	r->host = NULL;
}

static void note_metric(struct fz_watcher *w, const struct fz_fleet_push *push,
			const struct fz_fleet_batch *b, uint32_t kind)
{
	fz_auto(fz_free_ptr) char *metric =
		fz_strndup(b->kinds[kind].metric.p, b->kinds[kind].metric.n);
	int64_t first = INT64_MAX, last = 0;

	for (uint32_t i = 0; i < b->cell_n; i++) {
		if (b->cells[i].kind != kind)
			continue;
		first = FZ_MIN(first, b->cells[i].minute);
		last = FZ_MAX(last, b->cells[i].minute);
	}
	struct release *r = remove_release(w, push, metric);
	if (!r) {
		r = fz_calloc(1, sizeof(*r));
		r->watch = (struct fz_fleet_watch){ .project = fz_strdup(push->project),
						    .service = fz_strdup(push->service),
						    .version = fz_strdup(push->version),
						    .metric = fz_steal(metric),
						    .first = first,
						    .last = last };
		r->host = fz_strdup(push->host);
	}
	note_host(r, push->host, first);
	r->last = FZ_MAX(r->last, last);
	r->pushed = fz_clock_now();
	put(w, r);
	if (w->n > RELEASES_MAX)
		drop_oldest(w);
}

void fz_watcher_note(struct fz_watcher *w, const struct fz_fleet_push *push,
		     const struct fz_fleet_batch *b)
{
	pthread_mutex_lock(&w->lock);
	for (uint32_t kind = 0; kind < b->kind_n; kind++)
		if (b->kinds[kind].main)
			note_metric(w, push, b, kind);
	pthread_mutex_unlock(&w->lock);
}

/* ---- notifications ---- */

int fz_alarm_file_open(const char *path, FILE **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *resolved = NULL;
	bool direct;
	int r = fz_outfile_resolve(path, &resolved, &direct, err);

	if (r)
		return fz_error_prefix(err, "--alarm-file");
	int fd = open(resolved,
		      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (direct ? 0 : O_NOFOLLOW), 0666);
	*ret = fd < 0 ? NULL : fdopen(fd, "a");
	return *ret ? 0 : fz_fail_errno(err, "--alarm-file %s: cannot write", path);
}

static void append_to_file(const struct fz_server *s, const char *text)
{
	struct fz_error err;
	FILE *out = NULL;

	if (fz_alarm_file_open(s->options.alarm_file, &out, &err)) {
		s->say(err.message);
		return;
	}
	bool written = fprintf(out, "%s\n", text) > 0;
	/* Data is written on close. */
	if (fclose(out) || !written)
		s->say("--alarm-file: cannot write an alarm");
}

/* Start a command with an input; its output goes to our standard error, and no signals are blocked.
 */
static bool spawn(const char *const argv[], int input, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none;

	sigemptyset(&none);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	bool good = posix_spawnp(ret, argv[0], &files, &how, (char **)(void *)argv, environ) == 0;
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return good;
}

/* Run the alarm command, for a minute at most. */
static void run_command(const struct fz_server *s, const char *text)
{
	const char *const argv[] = { "timeout", "-k", "5", "60", "sh", "-c", s->options.alarm_run,
				     NULL };
	int input = memfd_create("alarm", MFD_CLOEXEC), status = -1;
	pid_t pid;

	if (input >= 0 && dprintf(input, "%s\n", text) > 0 && lseek(input, 0, SEEK_SET) == 0 &&
	    spawn(argv, input, &pid))
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	if (input >= 0)
		close(input);
	if (status != 0)
		s->say("--alarm-run: the command failed or took more than a minute");
}

/* The URL is used as it is, and not printed: it may contain a secret. */
static void call_url(const struct fz_server *s, const char *text)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	const struct fz_client client = { .type = "application/json",
					  .attempts = FZ_CLIENT_ATTEMPTS };
	struct fz_str body = fz_str_of(text);
	const char *why = NULL;
	struct fz_error err;

	if (fz_client_load(&err)) {
		s->say(err.message);
		return;
	}
	long status = fz_client_fetch(&client, s->options.alarm_url, &body, &answer, &why);
	if (status >= 200 && status < 300)
		return;
	fz_auto(fz_free_ptr) char *line =
		status ? fz_asprintf("--alarm-url: the response has status %ld", status)
		       : fz_asprintf("--alarm-url: %s", why);
	s->say(line);
}

static void notify(const struct fz_server *s, const struct fz_fleet_alarm *a, const char *metric)
{
	fz_auto(fz_free_ptr) char *line =
		fz_asprintf("alarm: %s@%s: %s costs more than in %s (%s)", a->service, a->head,
			    a->function, a->base, metric);

	s->say(line);
	if (s->options.alarm_file)
		append_to_file(s, a->text);
	if (s->options.alarm_run)
		run_command(s, a->text);
	if (s->options.alarm_url)
		call_url(s, a->text);
}

/* ---- checking ---- */

int fz_watcher_check(struct fz_server *s, struct fz_fleet_watch *watch, struct fz_error *err)
{
	fz_auto(fz_arena_release) struct fz_arena texts = { 0 };
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_fleet_alarm alarm;
	bool is_new = false;
	int r = fz_server_open_store(s, FZ_FLEET_READ, &f, err);

	if (r)
		return r;
	fz_server_begin_work(s);
	r = fz_fleet_check(f, watch, &alarm, &texts, err);
	fz_server_end_work(s);
	if (r > 0) {
		pthread_mutex_lock(&s->writing);
		r = fz_fleet_raise(s->writer, watch->project, &alarm, &is_new, err);
		pthread_mutex_unlock(&s->writing);
	}
	if (!r || r == FZ_ELIMIT)
		fz_fleet_checked(watch);
	if (!r && is_new)
		notify(s, &alarm, watch->metric);
	return r;
}

static bool is_due(struct release *r, int64_t now)
{
	r->watch.last = r->last;
	if (!fz_fleet_check_due(&r->watch) || now < r->retry.next)
		return false;
	if (!r->due)
		r->due = now;
	return now - r->pushed >= quiet || now - r->due >= patience;
}

/* Remove and return a release that is due for a check; NULL if there is none. */
static struct release *next_due(struct fz_watcher *w)
{
	int64_t now = fz_clock_now();

	for (struct release **at = &w->releases; *at; at = &(*at)->next) {
		struct release *r = *at;

		if (!is_due(r, now))
			continue;
		r->due = 0;
		*at = r->next;
		w->n--;
		return r;
	}
	return NULL;
}

/* Put a checked release back, merging pushes received meanwhile. */
static void put_back(struct fz_watcher *w, struct release *r)
{
	const struct fz_fleet_watch *v = &r->watch;
	struct release *newer = remove_release(w,
					       &(struct fz_fleet_push){ .project = v->project,
									.service = v->service,
									.version = v->version },
					       v->metric);

	if (newer) {
		note_host(r, newer->host, newer->watch.first);
		r->last = FZ_MAX(r->last, newer->last);
		r->pushed = newer->pushed;
		free_release(newer);
	}
	put(w, r);
}

bool fz_retry_note(struct fz_retry *r, int64_t now, int result, const struct fz_error *err)
{
	/* Another attempt would exceed a limit, too. */
	bool again = result && result != FZ_ELIMIT;
	bool report = result && !(r->message && strcmp(r->message, err->message) == 0);

	free(r->message);
	r->message = again ? fz_strdup(err->message) : NULL;
	r->pause = !again ? 0 : r->pause ? FZ_MIN(2 * r->pause, FZ_RETRY_LONGEST) : FZ_RETRY_FIRST;
	r->next = now + r->pause * FZ_SECOND;
	return report;
}

static void check(struct fz_watcher *w, struct release *r)
{
	struct fz_error err;
	int result = fz_watcher_check(w->server, &r->watch, &err);

	if (fz_retry_note(&r->retry, fz_clock_now(), result, &err))
		w->server->say(err.message);
}

static void *watch(void *arg)
{
	struct fz_watcher *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stopping) {
		struct release *r = next_due(w);
		struct timespec soon;

		if (!r) {
			clock_gettime(CLOCK_MONOTONIC, &soon);
			soon.tv_sec++;
			pthread_cond_clockwait(&w->stop, &w->lock, CLOCK_MONOTONIC, &soon);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		check(w, r);
		pthread_mutex_lock(&w->lock);
		put_back(w, r);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

void fz_watcher_start(struct fz_server *s, struct fz_watcher **ret)
{
	struct fz_watcher *w = fz_calloc(1, sizeof(*w));

	w->server = s;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->stop, NULL);
	fz_assert(pthread_create(&w->thread, NULL, watch, w) == 0);
	*ret = w;
}

void fz_watcher_stop(struct fz_watcher *w)
{
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->stop);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	for (struct release *r = w->releases, *next; r; r = next) {
		next = r->next;
		free_release(r);
	}
	pthread_cond_destroy(&w->stop);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
