/* SPDX-License-Identifier: MIT */
/* Starts and stops the server; its routes.
 *
 * The main thread waits for signals, closes slow connections once a second, adds up complete
 * hours once a minute, and deletes old data, or its minutes, once an hour.
 */
#include "serve/serve.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "fleet/sqlite_calls.h"
#include "serve/retention.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "serve/tls.h"
#include "serve/watcher.h"

enum { HOUR = 3600, MINUTE = 60 };
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

/* Background work. After each transaction it leaves pushes as much time as the transaction took,
 * and closes slow connections. A signal ends it and stays pending for wait_for_signal. */
struct background {
	struct fz_http *http;
	const sigset_t *signals;
	int64_t since; /* start of the transaction */
};

static bool let_others(void *arg, int64_t rows)
{
	struct background *k = arg;
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

/* Sum hours that ended LATE_MINUTES ago, when most of their pushes have arrived. */
static void sum_hours(struct fz_server *s, struct fz_http *h, const sigset_t *signals)
{
	struct background k = { .http = h, .signals = signals };
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

static void clean_up(struct fz_server *s, struct fz_retention *retention, struct fz_http *h,
		     const sigset_t *signals)
{
	struct fz_error err;

	struct background background = { .http = h, .signals = signals, .since = fz_clock_now() };

	fz_retention_run(retention, s,
			 (struct fz_retention_clock){ fz_clock_unix(), fz_clock_now() }, let_others,
			 &background);
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
	struct fz_retention retention = { 0 };

	for (int64_t second = 0;; second++) {
		int signal = sigtimedwait(signals, NULL, &(struct timespec){ .tv_sec = 1 });

		if (signal == SIGHUP && (s->tokens || s->options.tls_certificate))
			reload(s, h);
		else if (signal > 0)
			return signal;
		fz_http_tick(h);
		if (second % HOUR == 0)
			clean_up(s, &retention, h, signals);
		if (second % MINUTE == 0)
			sum_hours(s, h, signals);
	}
}

static bool is_address(const char *host)
{
	struct in6_addr any;

	return inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1;
}

static int parse_address(const char *listen, char **ret_host, uint16_t *ret_port,
			 struct fz_error *err)
{
	const char *colon = strrchr(listen, ':');
	struct fz_str host = { listen, colon ? (size_t)(colon - listen) : 0 };
	uint64_t port = 0;
	bool good = host.n && fz_parse_u64(fz_str_of(colon + 1), UINT16_MAX, &port);

	if (good && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct fz_str){ host.p + 1, host.n - 2 };
	*ret_host = fz_strndup(host.p, host.n);
	*ret_port = (uint16_t)port;
	/* A name may have several addresses, some of them on other networks. */
	if (!good || !is_address(*ret_host))
		return fz_fail(err, FZ_EUSAGE,
			       "--listen: invalid address '%s' (expected ADDRESS:PORT, such as "
			       "127.0.0.1:4999)",
			       listen);
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
	int r = parse_address(o->listen, &host, &port, err);

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
	fz_server_note_places(&s);
	fz_retention_begin(&s);
	r = run(&s, &http, ready, ret_signal, err);
	fz_server_release_locks(&s);
	fz_files_close(s.files);
	fz_results_close(s.results);
	fz_fleet_close(s.writer);
	release_secrets(&s);
	return r;
}
