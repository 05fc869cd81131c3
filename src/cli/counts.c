/* SPDX-License-Identifier: MIT */
/* Counts of commits stored on a server, over HTTP; see counts.h, and serve/files.c for the
 * server. */
#include "cli/counts.h"

#include <stdlib.h>
#include <unistd.h>

const char *const fz_cli_counts_formats[] = { "text", "json", NULL };

void fz_cli_counts_release(struct fz_cli_counts *c)
{
	free(c->token);
	free(c->waits);
	*c = (struct fz_cli_counts){ 0 };
}

#ifdef FZ_FLEET

#include <time.h>

#include "agent/sender.h"
#include "fleet/client.h"

/* A gate must not wait long for a server that does not respond. */
enum { STALL_SECONDS = 20 };

/* A server that was unreachable before is tried once more, without retries. */
static struct fz_client client_of(const struct fz_cli_counts *c)
{
	return (struct fz_client){ .server = c->server.url,
				   .token = c->token,
				   .stall_seconds = STALL_SECONDS,
				   .attempts = c->server.trouble.code ? 0 : FZ_CLIENT_ATTEMPTS };
}

static int ask(struct fz_cli_counts *c, const char *query, struct fz_buf *ret, struct fz_error *err)
{
	const struct fz_client client = client_of(c);
	long status;

	return fz_client_try(&client, query, NULL, ret, &status, err);
}

static int list(void *arg, const char *commit, struct fz_buf *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *query =
		fz_asprintf("/api/counts%s%s", commit ? "?commit=" : "", commit ? commit : "");

	return ask(arg, query, ret, err);
}

static int read_one(void *arg, const char *commit, const char *key, struct fz_buf *ret,
		    struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *query = fz_asprintf("/api/count?commit=%s&key=%s", commit, key);

	return ask(arg, query, ret, err);
}

/* ---- storing, and the spool ---- */

static void say(void *arg, enum fz_notice kind, const char *text)
{
	const struct fz_cli_counts *c = arg;

	fz_cli_fleet_notify((void *)c->who, kind, text);
}

static int open_spool(struct fz_cli_counts *c, const struct fz_notify *notify,
		      struct fz_agent_spool **ret, struct fz_error *err)
{
	uint64_t limit = c->spool.limit ? c->spool.limit : FZ_CLI_SPOOL_LIMIT;

	return fz_agent_spool_open(c->waits, limit, true, notify, ret, err);
}

/* Leave counts in the spool if the server failed temporarily, but not if it rejected them. When
 * sent later, they do not replace counts that were stored meanwhile. */
static void leave(struct fz_cli_counts *c, const char *query, struct fz_str bytes,
		  struct fz_error *err)
{
	const struct fz_notify notify = { .call = say, .arg = c };
	fz_auto(fz_free_ptr) char *late = fz_asprintf("%s&replace=no", query);
	struct fz_agent_spool *spool = NULL;
	struct fz_error why;
	int rc = open_spool(c, &notify, &spool, &why);

	if (!rc)
		rc = fz_agent_spool_add(spool, late, bytes, time(NULL), &why);
	fz_agent_spool_close(spool);
	fz_fail(err, err->code, "%s; it %s%s", err->message,
		rc ? "cannot be queued for the next run: " : "is queued for the next run in ",
		rc ? why.message : c->waits);
}

static int save(void *arg, const char *commit, const char *key, struct fz_str bytes,
		struct fz_error *err)
{
	struct fz_cli_counts *c = arg;
	const struct fz_client client = client_of(c);
	fz_auto(fz_free_ptr) char *query = fz_asprintf("/api/count?commit=%s&key=%s", commit, key);
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	long status;
	int rc = fz_client_try(&client, query, &bytes, &answer, &status, err);

	/* Do not wait again for a server that has become unreachable. */
	if (rc == FZ_ESYSTEM)
		c->server.trouble = *err;
	if (rc && (status == 0 || status == 429 || status >= 500))
		leave(c, query, bytes, err);
	return rc;
}

static void count_gone(void *arg, const struct fz_agent_spooled *p, const struct fz_buf *answer)
{
	(void)p;
	*(int64_t *)arg += answer != NULL;
}

/* Send what earlier commands left in the spool. */
static void deliver(struct fz_cli_counts *c)
{
	const struct fz_notify notify = { .call = say, .arg = c };
	const struct fz_client client = client_of(c);
	struct fz_agent_spool *spool = NULL;
	char n[FZ_NUMBER_SIZE];
	struct fz_error err;
	int64_t gone = 0;

	if (access(c->waits, F_OK))
		return;
	int rc = open_spool(c, &notify, &spool, &err);
	bool opened = rc == 0;
	const struct fz_agent_send how = { .client = &client,
					   .spool = spool,
					   .notify = &notify,
					   .gone = count_gone,
					   .arg = &gone };
	if (opened)
		rc = fz_agent_send(&how, &err);
	fz_agent_spool_close(spool);
	if (gone)
		fz_notify_note(&notify,
			       "sent queued counts of earlier runs to the server (recordings: %s)",
			       fz_format_count(gone, n));
	/* An unreachable server is reported when its counts are read. */
	if (opened && rc == FZ_ESYSTEM)
		c->server.trouble = err;
	else if (rc)
		fz_notify_warn(&notify, "counts are queued in %s until the next run: %s", c->waits,
			       err.message);
}

static int open_server(struct fz_cli_counts *c, struct fz_error *err)
{
	const struct fz_client client = { .server = c->save };
	int r = fz_client_check(&client, err);

	if (!r)
		r = fz_cli_fleet_token(&c->fleet, &c->token, err);
	c->server = (struct fz_baseline_server){
		.url = c->save, .arg = c, .list = list, .read = read_one, .save = save
	};
	if (!r)
		r = fz_cli_spool_folder(&c->spool, c->save, "", c->token, &c->waits, err);
	if (!r)
		deliver(c);
	return r;
}

#else

static int open_server(struct fz_cli_counts *c, struct fz_error *err)
{
	fz_cli_fleet_missing(err);
	return fz_error_prefix(err, "--save %s", c->save);
}

#endif

int fz_cli_counts_open(struct fz_cli_counts *c, struct fz_baseline_server **ret,
		       struct fz_error *err)
{
	*ret = NULL;
	if (c->save && fz_baseline_place_of(c->save) == FZ_BASELINE_SERVER) {
		int r = open_server(c, err);
		if (!r)
			*ret = &c->server;
		return r;
	}
	if (c->fleet.token_file)
		return fz_fail(err, FZ_EUSAGE, "--token-file requires --save http://HOST:PORT");
	return 0;
}

int fz_cli_counts_place(struct fz_cli_counts *c, int *ret_place, struct fz_baseline_server **ret,
			struct fz_error *err)
{
	int place = c->save ? fz_baseline_place_of(c->save) : FZ_BASELINE_CACHE;

	if (place < 0)
		return fz_fail(
			err, FZ_EUSAGE,
			"invalid --save '%s': must be cache, notes, branch or http://HOST:PORT",
			c->save);
	*ret_place = place;
	return fz_cli_counts_open(c, ret, err);
}
