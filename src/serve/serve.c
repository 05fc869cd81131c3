/* SPDX-License-Identifier: MIT */
/* Starts and stops the server; the path of all inputs.
 *
 *   bytes -> format readers, with their limits -> batch -> group_commit.h -> store
 *            two at once                                     one writer for all waiting pushes
 *
 * The main thread then waits for signals, closes slow connections once a second, adds up complete
 * hours once a minute, and deletes old data, or its minutes, once an hour.
 */
#include "serve/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "fleet/batch.h"
#include "fleet/sqlite_calls.h"
#include "format/format.h"
#include "serve/sample_labels.h"
#include "serve/server.h"
#include "serve/tls.h"

enum { AT_ONCE = 2, HOUR = 3600, MINUTE = 60, MINUTES_A_DAY = 1440 };
/* Clients do not usually send every 7 seconds, so hardly any sends just when its idle connection is
 * closed. */
enum { HEADERS_SECONDS = 10, REQUEST_SECONDS = 60, IDLE_SECONDS = 7 };
enum { LATE_MINUTES = 5 };
enum { PEM_MAX = 1 << 20 };

static const struct fz_http_route routes[] = {
	{ "GET", "/", FZ_RIGHT_READ, fz_answer_home },
	{ "GET", "/healthz", 0, fz_answer_health },
	{ "GET", "/metrics", FZ_RIGHT_READ, fz_answer_metrics },
	{ "GET", "/diff", FZ_RIGHT_READ, fz_answer_diff },
	{ "GET", "/service", FZ_RIGHT_READ, fz_answer_service },
	{ "GET", "/api/timeline", FZ_RIGHT_READ, fz_answer_timeline },
	{ "GET", "/api/diff", FZ_RIGHT_READ, fz_answer_json },
	{ "GET", "/api/release", FZ_RIGHT_READ, fz_answer_release },
	{ "GET", "/api/pair", FZ_RIGHT_READ, fz_answer_pair },
	{ "GET", "/api/recordings", FZ_RIGHT_READ, fz_answer_recordings },
	{ "GET", "/api/recording", FZ_RIGHT_READ, fz_answer_recording },
	{ "GET", "/api/counts", FZ_RIGHT_READ, fz_answer_counts },
	{ "GET", "/api/count", FZ_RIGHT_READ, fz_answer_count },
	{ "POST", "/api/count", FZ_RIGHT_WRITE, fz_answer_keep_count },
	{ "POST", "/api/push", FZ_RIGHT_WRITE, fz_answer_push },
	{ "POST", "/ingest", FZ_RIGHT_WRITE, fz_answer_ingest },
	{ "POST", "/push.v1.PusherService/Push", FZ_RIGHT_WRITE, fz_answer_push_v1 },
	{ "POST", "/v1development/profiles", FZ_RIGHT_WRITE, fz_answer_otlp },
	{ "GET", "/benchmarks", FZ_RIGHT_READ, fz_answer_repositories },
	{ "GET", "/repository", FZ_RIGHT_READ, fz_answer_repository },
	{ "GET", "/change", FZ_RIGHT_READ, fz_answer_change },
	{ "GET", "/report/", FZ_RIGHT_READ, fz_answer_report },
	{ "GET", "/badge.svg", FZ_RIGHT_BADGE, fz_answer_badge },
	{ "GET", "/api/status", FZ_RIGHT_BADGE, fz_answer_status },
	{ "GET", "/api/accepted", FZ_RIGHT_READ | FZ_RIGHT_WRITE, fz_answer_accepted },
	{ "POST", "/api/accept", FZ_RIGHT_WRITE, fz_answer_accept },
	{ "POST", "/api/benchmarks", FZ_RIGHT_WRITE, fz_answer_run },
	{ "POST", "/api/benchmarks/page", FZ_RIGHT_WRITE, fz_answer_run_page },
	{ 0 },
};

void fz_server_begin_work(struct fz_server *s)
{
	while (sem_wait(&s->work) && errno == EINTR)
		;
}

void fz_server_end_work(struct fz_server *s)
{
	sem_post(&s->work);
}

/* ---- storing ---- */

struct fz_budget_part fz_server_memory(struct fz_server *s)
{
	return (struct fz_budget_part){ .budget = &s->memory, .limit = s->memory.limit / 2 };
}

int fz_server_open_body(struct fz_str body, struct fz_budget_part *memory, struct fz_input **ret,
			struct fz_error *err)
{
	int r = body.n ? fz_input_open_memory(body.p, body.n, "the body", ret, err)
		       : fz_fail(err, FZ_EINPUT, "the body is empty; send a profile");

	if (r)
		return r;
	fz_input_set_limit(*ret, memory->limit);
	fz_input_set_budget(*ret, memory);
	return 0;
}

static int read_profile(const struct fz_server_push *push, struct fz_profile **ret,
			struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int r = fz_server_open_body(push->body, push->memory, &in, err);

	if (r)
		return r;
	return push->format ? fz_format_load_input_as(in, push->format, ret, err)
			    : fz_format_load_input(in, ret, err);
}

/* Add what the profile lacks but the request contains. */
static void complete(struct fz_profile *p, const struct fz_server_push *push, int64_t now)
{
	int64_t start = push->start_unix_ns ? push->start_unix_ns : now;

	if (p->recording.duration_ns == 0)
		p->recording.duration_ns = push->duration_ns;
	if (p->recording.interval_ns == 0 && push->hertz > 0)
		p->recording.interval_ns = (int64_t)(1e9 / push->hertz);
	if (p->run_count == 0)
		fz_profile_add_run(p, &(struct fz_run){ .duration_ns = p->recording.duration_ns });
	for (uint32_t i = 0; i < p->run_count; i++)
		if (p->runs[i].start_unix_ns == 0)
			p->runs[i].start_unix_ns = start;
	if (p->run_count == 1 && p->runs[0].duration_ns == 0)
		p->runs[0].duration_ns = p->recording.duration_ns;
}

static bool has_start(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->run_count; i++)
		if (p->runs[i].start_unix_ns == 0)
			return false;
	return p->run_count > 0;
}

static int check_age(const struct fz_server *s, const struct fz_fleet_batch *b, int64_t now,
		     struct fz_error *err)
{
	int64_t oldest = now / FZ_MINUTE - (int64_t)s->options.retain_days * MINUTES_A_DAY;

	for (uint32_t i = 0; s->options.retain_days && i < b->cell_n; i++)
		if (b->cells[i].minute < oldest)
			return fz_fail(err, FZ_EINPUT, "it is older than the retention of %d days",
				       s->options.retain_days);
	return 0;
}

/* A push on its way to the disk, in parts by the labels of its samples. */
struct ready {
	struct fz_profile *profile;
	struct fz_sample_labels labels;
	struct part {
		struct fz_fleet_push to;
		struct fz_fleet_batch batch;
		struct fz_fleet_item item;
		char *id;
	} * parts;
	uint64_t lost; /* samples whose labels are not kept */
	struct fz_budget_part *memory;
	uint64_t taken; /* of it */
};

static void release_ready(struct ready *w)
{
	for (uint32_t i = 0; w->parts && i < w->labels.part_n; i++) {
		fz_fleet_batch_release(&w->parts[i].batch);
		free(w->parts[i].id);
	}
	free(w->parts);
	fz_sample_labels_release(&w->labels);
	fz_profile_free(w->profile);
	fz_budget_give(w->memory, w->taken);
}

static int make_batches(const struct fz_server *s, struct fz_server_push *push, struct ready *w,
			struct fz_error *err)
{
	int64_t now = fz_clock_unix();
	bool has_values = push->may_be_idle;
	int r = read_profile(push, &w->profile, err);

	if (r)
		return r;
	/* Without a time or id, identical pushes are different ones: the time of arrival becomes
	 * part of the id. */
	if (!*push->to.id && !push->start_unix_ns && !has_start(w->profile))
		push->start_unix_ns = now;
	complete(w->profile, push, now);
	fz_sample_labels_of(w->profile, push->to.labels, &w->labels);
	w->lost = w->labels.lost;
	w->parts = fz_calloc(w->labels.part_n, sizeof(*w->parts));
	for (uint32_t i = 0; !r && i < w->labels.part_n; i++) {
		const struct fz_fleet_part part = { w->labels.part_of, i };
		struct fz_fleet_batch *b = &w->parts[i].batch;

		r = fz_fleet_batch_of(w->profile, &part, now, now, b, err);
		if (!r)
			r = check_age(s, b, now, err);
		has_values |= b->value_n > 0;
	}
	if (!r && !has_values)
		r = fz_fail(err, FZ_EINPUT, "it has no samples with a stack");
	return r;
}

/* An id of a part, derived from that of the push. */
static char *part_id(const char *id, const char *labels)
{
	return fz_asprintf("%016llx.%016llx", (unsigned long long)fz_hash_bytes(id, strlen(id)),
			   (unsigned long long)fz_hash_bytes(labels, strlen(labels)));
}

static void name_parts(struct fz_server_push *push, struct ready *w)
{
	if (!*push->to.id)
		push->to.id = w->parts[0].id =
			fz_fleet_id(&push->to, push->body, push->start_unix_ns);
	for (uint32_t i = 0; i < w->labels.part_n; i++) {
		struct part *part = &w->parts[i];

		part->to = push->to;
		if (i) {
			part->to.labels = w->labels.labels[i].p;
			part->to.id = part->id = part_id(push->to.id, part->to.labels);
			part->to.of_samples = true;
		}
		part->item = (struct fz_fleet_item){ .push = &part->to, .batch = &part->batch };
	}
}

static int make_ready(struct fz_server *s, struct fz_server_push *push, struct ready *ret,
		      struct fz_error *err)
{
	uint64_t before = push->memory->taken;

	fz_server_begin_work(s);
	int r = make_batches(s, push, ret, err);
	fz_server_end_work(s);
	ret->memory = push->memory;
	ret->taken = push->memory->taken - before;
	if (!r)
		name_parts(push, ret);
	return r;
}

/* If the store has no room for a part's labels, the part is stored without them. */
static void drop_labels(struct ready *w, struct fz_fleet_item **put, size_t *put_n)
{
	for (uint32_t i = 1; i < w->labels.part_n; i++) {
		struct part *part = &w->parts[i];

		if (part->item.result != FZ_ELIMIT)
			continue;
		w->lost += w->labels.samples[i];
		char *id = part_id(part->to.id, "");
		free(part->id);
		part->to.id = part->id = id;
		part->to.labels = w->parts[0].to.labels;
		part->to.of_samples = false;
		part->item = (struct fz_fleet_item){ .push = &part->to, .batch = &part->batch };
		put[(*put_n)++] = &part->item;
	}
}

static void describe(const struct ready *w, struct fz_server_pushed *ret)
{
	const struct fz_fleet_batch *whole = &w->parts[0].batch;

	*ret = (struct fz_server_pushed){
		.put = FZ_FLEET_KNOWN,
		.minutes = whole->cell_n / FZ_MAX(whole->kind_n, 1),
		.unlabelled = w->lost,
		.start_unix_ns = whole->cell_n ? whole->cells[0].minute * FZ_MINUTE : 0,
	};
	for (uint32_t part = 0; part < w->labels.part_n; part++) {
		const struct fz_fleet_batch *b = &w->parts[part].batch;

		for (uint32_t i = 0; i < b->cell_n; i++) {
			if (b->kinds[b->cells[i].kind].main)
				ret->samples += b->cells[i].exposure.samples;
			ret->start_unix_ns =
				FZ_MIN(ret->start_unix_ns, b->cells[i].minute * FZ_MINUTE);
		}
		if (w->parts[part].item.put == FZ_FLEET_STORED)
			ret->put = FZ_FLEET_STORED;
	}
}

static int take_result(struct fz_server *s, const struct ready *w, struct fz_server_pushed *ret,
		       struct fz_error *err)
{
	int r = 0;

	for (uint32_t i = 0; i < w->labels.part_n; i++) {
		const struct fz_fleet_item *item = &w->parts[i].item;

		if (!r && item->result) {
			r = item->result;
			*err = item->err;
		}
		if (!item->result && s->watcher && item->put == FZ_FLEET_STORED)
			fz_watcher_note(s->watcher, item->push, &w->parts[i].batch);
	}
	if (!r)
		describe(w, ret);
	if (r == FZ_ESYSTEM)
		s->say(err->message);
	return r;
}

static void count(struct fz_server *s, const struct fz_server_item *item)
{
	bool stored = !item->result && item->pushed.put == FZ_FLEET_STORED;
	bool failed = item->result == FZ_ESYSTEM || item->result == FZ_EAGAIN;

	atomic_fetch_add(stored         ? &s->figures.stored
			 : failed       ? &s->figures.failed
			 : item->result ? &s->figures.refused
					: &s->figures.known,
			 1);
	if (!stored)
		return;
	atomic_fetch_add(&s->figures.bytes, item->push.body.n);
	atomic_fetch_add(&s->figures.samples, (unsigned long long)item->pushed.samples);
	atomic_fetch_add(&s->figures.unlabelled, item->pushed.unlabelled);
}

static void put_together(struct fz_server *s, struct fz_fleet_item **put, size_t n)
{
	if (n)
		fz_commits_put(&s->commits, s->writer, &s->writing, put, n);
}

/* Store all parts of the pushes that could be read. Parts with labels of their own follow when the
 * first is stored: so a push whose id is refused stores nothing, and an interrupted one is
 * completed when it is repeated. */
static void put_parts(struct fz_server *s, struct fz_server_item *items, struct ready *ready,
		      size_t n)
{
	fz_auto(fz_free_ptr) struct fz_fleet_item **put =
		fz_calloc(FZ_MAX(n, 1) * FZ_SAMPLE_SETS, sizeof(*put));
	size_t put_n = 0;

	for (size_t i = 0; i < n; i++)
		if (!items[i].result)
			put[put_n++] = &ready[i].parts[0].item;
	put_together(s, put, put_n);
	put_n = 0;
	for (size_t i = 0; i < n; i++) {
		bool first = !items[i].result && !ready[i].parts[0].item.result;

		for (uint32_t part = 1; first && part < ready[i].labels.part_n; part++)
			put[put_n++] = &ready[i].parts[part].item;
	}
	put_together(s, put, put_n);
	put_n = 0;
	for (size_t i = 0; i < n; i++)
		if (!items[i].result)
			drop_labels(&ready[i], put, &put_n);
	put_together(s, put, put_n);
}

void fz_server_store_all(struct fz_server *s, struct fz_server_item *items, size_t n)
{
	fz_auto(fz_free_ptr) struct ready *ready = fz_calloc(FZ_MAX(n, 1), sizeof(*ready));

	for (size_t i = 0; i < n; i++) {
		items[i].result = make_ready(s, &items[i].push, &ready[i], &items[i].err);
		if (items[i].result)
			release_ready(&ready[i]);
	}
	put_parts(s, items, ready, n);
	for (size_t i = 0; i < n; i++) {
		struct fz_server_item *item = &items[i];
		bool was_put = !item->result;

		if (was_put)
			item->result = take_result(s, &ready[i], &item->pushed, &item->err);
		count(s, item);
		if (was_put)
			release_ready(&ready[i]);
	}
}

int fz_server_store(struct fz_server *s, const struct fz_server_push *push,
		    struct fz_server_pushed *ret, struct fz_error *err)
{
	struct fz_server_item item = { .push = *push };

	fz_server_store_all(s, &item, 1);
	if (item.result)
		*err = item.err;
	*ret = item.pushed;
	return item.result;
}

/* ---- the server ---- */

/* Background work. After each transaction it leaves pushes as much time as the transaction took,
 * and closes slow connections. A signal ends it and stays pending for wait_for_signal. */
struct beside {
	struct fz_http *http;
	const sigset_t *signals;
	int64_t since; /* start of the transaction */
};

static bool let_others(void *arg, int64_t rows)
{
	struct beside *k = arg;
	int64_t took = fz_clock_now() - k->since;
	sigset_t pending, both;

	(void)rows;
	fz_http_tick(k->http);
	nanosleep(&(struct timespec){ took / FZ_SECOND, took % FZ_SECOND }, NULL);
	k->since = fz_clock_now();
	sigpending(&pending);
	sigandset(&both, &pending, k->signals);
	return sigisemptyset(&both);
}

static int64_t days_ago(int days)
{
	return fz_clock_unix() / FZ_MINUTE - (int64_t)days * MINUTES_A_DAY;
}

/* Replace old minutes by sums of hours. */
static void age(struct fz_server *s, struct beside *k)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *own = NULL;
	struct fz_error err;
	int64_t n = fz_fleet_open(s->options.store, FZ_FLEET_WRITE, &own, &err);

	k->since = fz_clock_now();
	if (!n)
		n = fz_fleet_age_between(own, days_ago(s->options.retain_minutes_days), let_others,
					 k, &err);
	if (n < 0)
		s->say(err.message);
}

static int forget_profiles(struct fz_server *s, struct beside *k, int64_t before,
			   struct fz_error *err)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *own = NULL;
	int64_t n;

	if (fz_fleet_forgets_beside(s->writer)) {
		int r = fz_fleet_open(s->options.store, FZ_FLEET_WRITE, &own, err);

		k->since = fz_clock_now();
		n = r ? r : fz_fleet_forget_between(own, before, let_others, k, err);
	} else {
		pthread_mutex_lock(&s->writing);
		n = fz_fleet_forget(s->writer, before, err);
		pthread_mutex_unlock(&s->writing);
	}
	return n < 0 ? (int)n : 0;
}

static void forget(struct fz_server *s, struct beside *k)
{
	int64_t before = days_ago(s->options.retain_days);
	struct fz_error err;

	if (forget_profiles(s, k, before, &err))
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

/* Sum hours that ended LATE_MINUTES ago, when most of their pushes have arrived. */
static void sum_hours(struct fz_server *s, struct fz_http *h, const sigset_t *signals)
{
	struct beside k = { .http = h, .signals = signals };
	int64_t before = fz_clock_unix() / FZ_MINUTE - LATE_MINUTES, n;
	struct fz_error err;

	do {
		k.since = fz_clock_now();
		pthread_mutex_lock(&s->writing);
		n = fz_fleet_sum_hours(s->writer, before, &err);
		pthread_mutex_unlock(&s->writing);
	} while (n > 0 && let_others(&k, n));
	if (n < 0)
		s->say(err.message);
}

static void clean_up(struct fz_server *s, struct fz_http *h, const sigset_t *signals)
{
	struct fz_error err;

	struct beside beside = { .http = h, .signals = signals };

	if (s->options.retain_days)
		forget(s, &beside);
	if (s->options.retain_minutes_days)
		age(s, &beside);
	if (s->files && fz_files_tidy(s->files, &err))
		s->say(err.message);
}

static int load_tokens(struct fz_server *s, struct fz_error *err)
{
	struct fz_tokens tokens;
	int r = fz_tokens_load(s->options.tokens, &tokens, err);

	if (r)
		return r;
	struct fz_server_tokens *set = fz_calloc(1, sizeof(*set));
	*set = (struct fz_server_tokens){ .earlier = s->tokens, .tokens = tokens };
	s->tokens = set;
	return 0;
}

static void release_tokens(struct fz_server *s)
{
	for (struct fz_server_tokens *set = s->tokens, *earlier; set; set = earlier) {
		earlier = set->earlier;
		fz_tokens_release(&set->tokens);
		free(set);
	}
	s->tokens = NULL;
}

static void release_secrets(struct fz_server *s)
{
	release_tokens(s);
	fz_tls_release();
}

static void reload_tokens(struct fz_server *s, struct fz_http *h)
{
	struct fz_error err;

	if (load_tokens(s, &err)) {
		fz_error_prefix(&err, "the previous tokens stay valid");
		s->say(err.message);
		return;
	}
	fz_http_use_tokens(h, &s->tokens->tokens);
}

static int read_pem(const char *option, const char *path, char **ret, struct fz_error *err)
{
	*ret = fz_read_small(path, PEM_MAX, NULL);
	return *ret ? 0 : fz_fail_errno(err, "%s %s: cannot read", option, path);
}

static int load_tls(const struct fz_serve_options *o, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *certificate = NULL, *key = NULL;

	if (!o->tls_certificate && !o->tls_key)
		return 0;
	if (!o->tls_certificate || !o->tls_key)
		return fz_fail(err, FZ_EUSAGE,
			       "TLS requires both --tls-cert FILE and --tls-key FILE");
	int r = read_pem("--tls-cert", o->tls_certificate, &certificate, err);
	if (!r)
		r = read_pem("--tls-key", o->tls_key, &key, err);
	return r ? r : fz_tls_use(certificate, key, err);
}

static void reload_tls(struct fz_server *s)
{
	struct fz_error err;

	if (load_tls(&s->options, &err)) {
		fz_error_prefix(&err, "the previous certificate stays in use");
		s->say(err.message);
	}
}

static void reload(struct fz_server *s, struct fz_http *h)
{
	if (s->tokens)
		reload_tokens(s, h);
	reload_tls(s);
}

static int wait_for_signal(struct fz_server *s, struct fz_http *h, const sigset_t *signals)
{
	for (int64_t second = 0;; second++) {
		int signal = sigtimedwait(signals, NULL, &(struct timespec){ .tv_sec = 1 });

		if (signal == SIGHUP && (s->tokens || s->options.tls_certificate))
			reload(s, h);
		else if (signal > 0)
			return signal;
		fz_http_tick(h);
		if (second % HOUR == 0)
			clean_up(s, h, signals);
		if (second % MINUTE == 0)
			sum_hours(s, h, signals);
	}
}

static int take_address(const char *listen, char **ret_host, uint16_t *ret_port,
			struct fz_error *err)
{
	const char *colon = strrchr(listen, ':');
	struct fz_str host = { listen, colon ? (size_t)(colon - listen) : 0 };
	uint64_t port;

	if (!colon || !host.n || !fz_parse_u64(fz_str_of(colon + 1), UINT16_MAX, &port))
		return fz_fail(err, FZ_EUSAGE,
			       "--listen: invalid address '%s' (expected ADDRESS:PORT, such as "
			       "127.0.0.1:4999)",
			       listen);
	if (host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct fz_str){ host.p + 1, host.n - 2 };
	*ret_host = fz_strndup(host.p, host.n);
	*ret_port = (uint16_t)port;
	return 0;
}

static bool is_loopback(const char *host)
{
	return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

static int run(struct fz_server *s, struct fz_http_options *http, void (*ready)(const char *url),
	       int *ret_signal, struct fz_error *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct fz_http *h;
	sigset_t signals;

	/* Exceeding a file size limit must fail the write, not kill the server. */
	sigaction(SIGXFSZ, &ignore, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (http->tokens && !http->tls && !is_loopback(http->host))
		s->say("tokens and profiles are sent unencrypted: use --tls-cert and --tls-key, or "
		       "listen on 127.0.0.1 behind a proxy with TLS");
	fz_watcher_start(s, &s->watcher);
	int r = fz_http_start(http, routes, s, &h, err);
	if (r) {
		fz_watcher_stop(s->watcher);
		return r;
	}
	bool v6 = strchr(http->host, ':');
	fz_auto(fz_free_ptr) char *url =
		fz_asprintf("%s://%s%s%s:%u", http->tls ? "https" : "http", v6 ? "[" : "",
			    http->host, v6 ? "]" : "", fz_http_port(h));
	ready(url);
	*ret_signal = wait_for_signal(s, h, &signals);
	fz_http_stop(h);
	fz_watcher_stop(s->watcher);
	return 0;
}

/* Check where alarms are sent before there is one. */
static int check_alarms(const struct fz_serve_options *o, struct fz_error *err)
{
	FILE *file = NULL;
	int r = o->alarm_file ? fz_alarm_file_open(o->alarm_file, &file, err) : 0;

	if (r)
		return r;
	if (file)
		fclose(file);
	if (o->alarm_url && strncmp(o->alarm_url, "http://", 7) != 0 &&
	    strncmp(o->alarm_url, "https://", 8) != 0)
		return fz_fail(err, FZ_EUSAGE,
			       "--alarm-url: invalid URL '%s' (expected https://...)",
			       o->alarm_url);
	return 0;
}

static int open_files(const struct fz_serve_options *o, struct fz_files **ret, struct fz_error *err)
{
	if (!o->recordings)
		return 0;
	return fz_files_open(o->recordings, o->bucket, (uint64_t)o->recordings_mib << 20, ret, err);
}

/* Benchmarks are in the store's file, unless another is specified or the store is not a file. */
static int open_results(struct fz_server *s, struct fz_error *err)
{
	const char *store = s->options.store;
	bool is_file = strncmp(store, "http://", 7) != 0 && strncmp(store, "https://", 8) != 0;

	if (!s->options.benchmarks && is_file)
		s->options.benchmarks = store;
	return s->options.benchmarks
		       ? fz_results_open(s->options.benchmarks, true, &s->results, err)
		       : 0;
}

void fz_server_init_locks(struct fz_server *s)
{
	pthread_mutex_init(&s->writing, NULL);
	pthread_mutex_init(&s->results_writing, NULL);
	fz_commits_init(&s->commits);
	fz_answer_cache_init(&s->answers);
	sem_init(&s->work, 0, AT_ONCE);
}

void fz_server_release_locks(struct fz_server *s)
{
	sem_destroy(&s->work);
	fz_answer_cache_release(&s->answers);
	fz_commits_release(&s->commits);
	pthread_mutex_destroy(&s->results_writing);
	pthread_mutex_destroy(&s->writing);
}

int fz_serve_load(struct fz_error *err)
{
	int r = fz_http_load(err);

	return r ? r : fz_sqlite_load(err);
}

int fz_serve(const struct fz_serve_options *o, void (*ready)(const char *url),
	     void (*say)(const char *text), int *ret_signal, struct fz_error *err)
{
	struct fz_server s = { .options = *o, .say = say, .started = fz_clock_unix() };
	s.memory.limit = (uint64_t)o->memory_mib << 20;
	fz_auto(fz_free_ptr) char *host = NULL;
	uint16_t port = 0;
	int r = take_address(o->listen, &host, &port, err);

	if (!r && o->tokens)
		r = load_tokens(&s, err);
	if (!r && !o->tokens && !is_loopback(host))
		r = fz_fail(err, FZ_EUSAGE,
			    "--listen %s: the address is reachable from other machines; --tokens "
			    "FILE is required",
			    o->listen);
	if (!r)
		r = load_tls(o, err);
	if (!r)
		r = check_alarms(o, err);
	if (!r)
		r = fz_fleet_open(o->store, FZ_FLEET_WRITE, &s.writer, err);
	if (r) {
		release_secrets(&s);
		return r;
	}
	r = open_results(&s, err);
	if (!r)
		r = open_files(o, &s.files, err);
	if (r) {
		fz_results_close(s.results);
		fz_fleet_close(s.writer);
		release_secrets(&s);
		return r;
	}
	struct fz_http_options http = { .host = host,
					.port = port,
					.tls = o->tls_certificate != NULL,
					.tokens = s.tokens ? &s.tokens->tokens : NULL,
					.body_max = (uint64_t)o->body_max_mib << 20,
					.headers_seconds = HEADERS_SECONDS,
					.seconds_max = REQUEST_SECONDS,
					.idle_seconds = IDLE_SECONDS,
					.per_address = (size_t)o->connections_per_address };
	fz_server_init_locks(&s);
	r = run(&s, &http, ready, ret_signal, err);
	fz_server_release_locks(&s);
	fz_files_close(s.files);
	fz_results_close(s.results);
	fz_fleet_close(s.writer);
	release_secrets(&s);
	return r;
}
