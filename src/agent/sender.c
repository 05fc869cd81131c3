/* SPDX-License-Identifier: MIT */
/* The thread that sends pushes; see sender.h.
 *
 *   answer            push      next
 *   2xx               removed   the next one: the server has it, now or from an earlier attempt
 *   400, 413, 415,
 *   422               dropped   the next one: a retry would fail too
 *   none, others      stays     the same after a pause, which doubles up to half a minute
 */
#include "agent/sender.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/thread.h"

#define PAUSE_MIN (FZ_SECOND / 2)
#define PAUSE_MAX (30 * FZ_SECOND)

struct fz_agent_sender {
	struct fz_client client;
	struct fz_connection connection; /* the client's */
	struct fz_agent_spool *spool;
	const struct fz_notify *notify;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool news, ends; /* under the lock */
	bool away;       /* a warning that the server is unreachable was printed */
	uint64_t sent;
	int64_t pause;
};

static bool is_refusal(long status)
{
	return status == 400 || status == 413 || status == 415 || status == 422;
}

/* The age is computed with the same clock as the push's time, so a wrong clock does not matter. */
static char *query_of(const struct fz_agent_send *how, const struct fz_agent_spooled *p)
{
	int64_t age = fz_clock_unix() / FZ_SECOND - p->unix_seconds;

	return how->tells_age ? fz_asprintf("%s&age=%lld", p->query.p, (long long)FZ_MAX(age, 0))
			      : fz_strdup(p->query.p);
}

static int send_one(const struct fz_agent_send *how, const struct fz_agent_spooled *p,
		    struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	fz_auto(fz_free_ptr) char *query = query_of(how, p);
	long status = 0;
	int r = fz_client_try(how->client, query, &p->body, &answer, &status, err);

	if (r && !is_refusal(status))
		return r;
	how->gone(how->arg, p, r ? NULL : &answer);
	if (r)
		fz_notify_warn(how->notify, "dropping a push that the server refused: %s",
			       err->message);
	fz_agent_spool_remove(how->spool, p->number);
	return 0;
}

int fz_agent_send(const struct fz_agent_send *how, struct fz_error *err)
{
	struct fz_agent_spooled p;
	int r = 0;

	while (!r && fz_agent_spool_first(how->spool, &p)) {
		r = send_one(how, &p, err);
		fz_agent_spooled_release(&p);
	}
	return r;
}

/* ---- in a thread ---- */

static void warn_unreachable(struct fz_agent_sender *s, const struct fz_error *err)
{
	if (!s->away)
		fz_notify_warn(s->notify, "%s; pushes wait in the spool", err->message);
	s->away = true;
}

static void note_reconnected(struct fz_agent_sender *s)
{
	char n[FZ_NUMBER_SIZE];

	if (s->away)
		fz_notify_note(s->notify, "the server accepts pushes again: %s to send",
			       fz_format_count((int64_t)fz_agent_spool_count(s->spool).n, n));
	s->away = false;
}

static void on_gone(void *arg, const struct fz_agent_spooled *p, const struct fz_buf *answer)
{
	struct fz_agent_sender *s = arg;

	(void)p;
	note_reconnected(s);
	s->sent += answer != NULL;
}

/* Send all pushes; false if the server is unreachable. */
static bool send_all(struct fz_agent_sender *s)
{
	const struct fz_agent_send how = { .client = &s->client,
					   .spool = s->spool,
					   .notify = s->notify,
					   .gone = on_gone,
					   .arg = s };
	struct fz_error err;
	int r = fz_agent_send(&how, &err);

	if (r)
		warn_unreachable(s, &err);
	return r == 0;
}

/* Wait for a new push or the end of the pause; false: exit. */
static bool wait(struct fz_agent_sender *s, bool sent)
{
	int64_t until = fz_clock_now() + s->pause;
	struct timespec when = { until / FZ_SECOND, until % FZ_SECOND };

	pthread_mutex_lock(&s->lock);
	while (!s->ends && (sent ? !s->news : fz_clock_now() < until)) {
		if (sent)
			pthread_cond_wait(&s->changed, &s->lock);
		else
			pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &when);
	}
	bool goes_on = !s->ends;
	s->news = false;
	pthread_mutex_unlock(&s->lock);
	return goes_on;
}

static void *run(void *arg)
{
	struct fz_agent_sender *s = arg;
	bool sent;

	do {
		sent = send_all(s);
		s->pause = sent ? PAUSE_MIN : FZ_MIN(2 * s->pause, PAUSE_MAX);
	} while (wait(s, sent));
	/* Send what was added in the meantime. */
	send_all(s);
	return NULL;
}

int fz_agent_sender_start(const struct fz_client *client, struct fz_agent_spool *spool,
			  const struct fz_notify *notify, struct fz_agent_sender **ret,
			  struct fz_error *err)
{
	struct fz_agent_sender *s = fz_calloc(1, sizeof(*s));

	s->client = *client;
	s->client.connection = &s->connection;
	s->spool = spool;
	s->notify = notify;
	s->pause = PAUSE_MIN;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	if (!fz_thread_start(&s->thread, run, s)) {
		free(s);
		return fz_fail(err, FZ_ESYSTEM, "cannot start a thread");
	}
	*ret = s;
	return 0;
}

static void wake(struct fz_agent_sender *s, bool *what)
{
	pthread_mutex_lock(&s->lock);
	*what = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void fz_agent_sender_wake(struct fz_agent_sender *s)
{
	wake(s, &s->news);
}

uint64_t fz_agent_sender_finish(struct fz_agent_sender *s)
{
	if (!s)
		return 0;
	wake(s, &s->ends);
	pthread_join(s->thread, NULL);
	uint64_t sent = s->sent;
	fz_connection_close(&s->connection);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
	return sent;
}
