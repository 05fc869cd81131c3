/* SPDX-License-Identifier: MIT */
/* libcurl, for one request at a time; client.h. */
#include "fleet/client.h"

#include <curl/curl.h>
#include <time.h>

#include "base/clock.h"
#include "base/library.h"

enum { CONNECT_SECONDS = 10, STALL_SECONDS = 120, LINE_MAX_BYTES = 600 };
#define ANSWER_MAX ((size_t)1 << 30)

static struct {
	__typeof__(&curl_global_init) start;
	CURL *(*new)(void);
	__typeof__(&curl_easy_setopt) set;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_getinfo) info;
	__typeof__(&curl_easy_reset) reset;
	__typeof__(&curl_easy_cleanup) free;
	__typeof__(&curl_easy_strerror) error;
	__typeof__(&curl_slist_append) append;
	__typeof__(&curl_slist_free_all) free_list;
} curl;

int fz_client_load(struct fz_error *err)
{
	static const struct fz_library_symbol symbols[] = {
		{ "curl_global_init", &curl.start },        { "curl_easy_init", &curl.new },
		{ "curl_easy_setopt", &curl.set },          { "curl_easy_perform", &curl.perform },
		{ "curl_easy_getinfo", &curl.info },        { "curl_easy_cleanup", &curl.free },
		{ "curl_easy_strerror", &curl.error },      { "curl_slist_append", &curl.append },
		{ "curl_slist_free_all", &curl.free_list }, { "curl_easy_reset", &curl.reset },
	};
	int r = 0;

	if (!curl.start)
		r = fz_library_load("libcurl.so.4", "libcurl4", symbols, FZ_ARRAY_LEN(symbols),
				    err);
	if (!r && curl.start(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return fz_fail(err, FZ_ESYSTEM, "cannot initialize libcurl");
	return r;
}

static size_t add_answer(char *data, size_t one, size_t n, void *arg)
{
	struct fz_buf *ret = arg;

	(void)one;
	fz_buf_add(ret, data, n);
	return ret->overflow ? 0 : n;
}

struct attempt {
	CURLcode code;
	long status; /* 0: no response */
};

/* CURLE_UNKNOWN_OPTION if libcurl is older than 7.75 and cannot sign. */
static CURLcode sign(const struct fz_client *c, CURL *easy)
{
	if (!c->user)
		return CURLE_OK;
	curl.set(easy, CURLOPT_USERPWD, c->user);
	return curl.set(easy, CURLOPT_AWS_SIGV4, c->signed_for);
}

/* libcurl connects again if the server has closed a kept connection. */
static CURL *get_easy(const struct fz_client *c)
{
	CURL *easy = c->connection ? c->connection->easy : NULL;

	if (easy)
		curl.reset(easy);
	else
		easy = curl.new();
	fz_assert(easy);
	return easy;
}

static void put_easy(const struct fz_client *c, CURL *easy)
{
	if (c->connection)
		c->connection->easy = easy;
	else
		curl.free(easy);
}

void fz_connection_close(struct fz_connection *c)
{
	if (c->easy)
		curl.free(c->easy);
	c->easy = NULL;
}

static struct attempt send_request(const struct fz_client *c, const char *url,
				   const struct fz_str *body, struct fz_buf *ret)
{
	CURL *easy = get_easy(c);
	/* curl 7.88 would sign a removed header as if it were sent. */
	struct curl_slist *headers = c->user ? NULL : curl.append(NULL, "Expect:");
	struct attempt a = { .code = CURLE_OUT_OF_MEMORY };
	const char *trusted = getenv("SSL_CERT_FILE");

	if (c->token) {
		fz_auto(fz_free_ptr) char *line = fz_asprintf("Authorization: Bearer %s", c->token);
		headers = curl.append(headers, line);
	}
	fz_auto(fz_free_ptr) char *type =
		fz_asprintf("Content-Type: %s", c->type ? c->type : "application/octet-stream");
	headers = curl.append(headers, type);
	for (const char *const *h = c->headers; h && *h; h++)
		headers = curl.append(headers, *h);
	curl.set(easy, CURLOPT_URL, url);
	curl.set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl.set(easy, CURLOPT_HTTPHEADER, headers);
	curl.set(easy, CURLOPT_NOSIGNAL, 1L);
	/* As in OpenSSL: CAs to trust instead of the system's. */
	if (trusted)
		curl.set(easy, CURLOPT_CAINFO, trusted);
	curl.set(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	curl.set(easy, CURLOPT_TIMEOUT, (long)c->seconds);
	curl.set(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl.set(easy, CURLOPT_LOW_SPEED_TIME,
		 (long)(c->stall_seconds ? c->stall_seconds : STALL_SECONDS));
	curl.set(easy, CURLOPT_WRITEFUNCTION, add_answer);
	curl.set(easy, CURLOPT_WRITEDATA, ret);
	if (body) {
		curl.set(easy, CURLOPT_POST, 1L);
		curl.set(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->n);
		curl.set(easy, CURLOPT_POSTFIELDS, body->p);
	}
	curl.set(easy, CURLOPT_CUSTOMREQUEST, c->method);
	fz_buf_reset(ret);
	a.code = sign(c, easy);
	if (a.code == CURLE_OK)
		a.code = curl.perform(easy);
	curl.info(easy, CURLINFO_RESPONSE_CODE, &a.status);
	curl.free_list(headers);
	put_easy(c, easy);
	return a;
}

/* Can a retry succeed? Not if the host name is unknown or the request is invalid. */
static bool may_help_to_wait(const struct attempt *a)
{
	switch (a->code) {
	case CURLE_OK:
		return a->status == 429 || (a->status >= 502 && a->status <= 504);
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
		/* A server that rejects a body may close the connection after its response. */
		return a->status == 0;
	default:
		return false;
	}
}

static struct attempt request_with_retries(const struct fz_client *c, const char *url,
					   const struct fz_str *body, int attempts,
					   struct fz_buf *ret)
{
	ret->limit = ANSWER_MAX;
	for (int attempt = 0;; attempt++) {
		struct attempt a = send_request(c, url, body, ret);
		if (attempt + 1 >= attempts || !may_help_to_wait(&a))
			return a;
		/* 0.2 s, 0.4 s ... 3.2 s */
		int64_t ns = 200000000LL << attempt;
		nanosleep(&(struct timespec){ ns / FZ_SECOND, ns % FZ_SECOND }, NULL);
	}
}

long fz_client_fetch(const struct fz_client *c, const char *url, const struct fz_str *body,
		     struct fz_buf *ret, const char **ret_why)
{
	struct attempt a = request_with_retries(c, url, body, c->attempts, ret);

	/* A truncated response is a failure. */
	if (a.code == CURLE_OK)
		return a.status;
	*ret_why = ret->overflow ? "the response is larger than 1 GiB" : curl.error(a.code);
	return 0;
}

/* What to check if there was no response. */
static const char *question_for(const struct fz_client *c, CURLcode code)
{
	bool plain = strncmp(c->server, "http://", 7) == 0;

	if (code == CURLE_SSL_CONNECT_ERROR)
		return "is 'fizeau serve' running there, with --tls-cert?";
	if (plain &&
	    (code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR))
		return "is 'fizeau serve' running there, without --tls-cert?";
	return "is 'fizeau serve' running there?";
}

/* The reason for a failure: the first line of the response, if it is complete. */
static struct fz_str reason_of(const struct attempt *a, const struct fz_buf *answer)
{
	struct fz_str rest = fz_buf_view(answer), line = fz_str_take_line(&rest);

	if (a->status >= 300 && a->status < 400)
		return FZ_STR("this URL redirects; use the one it leads to");
	if (a->code != CURLE_OK && (!line.n || a->status < 300))
		return fz_str_of(curl.error(a->code));
	return line.n ? line : FZ_STR("the response gives no reason");
}

/* Servers confirm what they store; another server, or the page of a proxy, may accept anything. */
static int check(const struct fz_client *c, bool is_push, const struct attempt *a,
		 const struct fz_buf *answer, struct fz_error *err)
{
	struct fz_str why;

	if (a->status >= 200 && a->status < 300 && a->code == CURLE_OK)
		return !is_push || fz_str_starts(fz_buf_view(answer), "{\"status\"")
			       ? 0
			       : fz_fail(err, FZ_ESYSTEM,
					 "%s: unexpected response (is 'fizeau serve' running "
					 "there, in a current version?)",
					 c->server);
	if (answer->overflow)
		return fz_fail(err, FZ_ELIMIT, "%s: the response is larger than 1 GiB", c->server);
	if (a->code == CURLE_PEER_FAILED_VERIFICATION || a->code == CURLE_SSL_CACERT_BADFILE)
		return fz_fail(err, FZ_ESYSTEM,
			       "%s: untrusted certificate; set SSL_CERT_FILE=FILE to trust its CA",
			       c->server);
	if (a->status == 0)
		return fz_fail(err, FZ_ESYSTEM, "%s: %s (%s)", c->server, curl.error(a->code),
			       question_for(c, a->code));
	why = reason_of(a, answer);
	return fz_fail(err, FZ_EINPUT, "%s: %.*s (status %ld)", c->server,
		       (int)FZ_MIN(why.n, LINE_MAX_BYTES), why.p, a->status);
}

int fz_client_check(const struct fz_client *c, struct fz_error *err)
{
	int r = fz_client_load(err);

	if (!r && strncmp(c->server, "http://", 7) != 0 && strncmp(c->server, "https://", 8) != 0)
		r = fz_fail(err, FZ_EUSAGE,
			    "--server: invalid URL '%s' (expected http://HOST:PORT)", c->server);
	return r;
}

char *fz_client_url(const char *server, const char *query)
{
	size_t n = strlen(server);

	return fz_asprintf("%.*s%s", (int)(n - (server[n - 1] == '/')), server, query);
}

static int request_path(const struct fz_client *c, const char *query, const struct fz_str *body,
			int attempts, struct fz_buf *ret, long *ret_status, struct fz_error *err)
{
	int r = fz_client_check(c, err);

	*ret_status = 0;
	if (r)
		return r;
	fz_auto(fz_free_ptr) char *url = fz_client_url(c->server, query);
	struct attempt a = request_with_retries(c, url, body, attempts, ret);
	r = check(c, body != NULL, &a, ret, err);
	*ret_status = r && a.status >= 200 && a.status < 300 ? 0 : a.status;
	return r;
}

int fz_client_request(const struct fz_client *c, const char *query, const struct fz_str *body,
		      struct fz_buf *ret, struct fz_error *err)
{
	long status;

	return request_path(c, query, body, FZ_CLIENT_ATTEMPTS, ret, &status, err);
}

int fz_client_try(const struct fz_client *c, const char *query, const struct fz_str *body,
		  struct fz_buf *ret, long *ret_status, struct fz_error *err)
{
	return request_path(c, query, body, c->attempts, ret, ret_status, err);
}

static void add_parameter(struct fz_buf *out, const char *name, struct fz_str value)
{
	fz_buf_printf(out, "&%s=", name);
	fz_buf_uri_part(out, value);
}

char *fz_client_push_query(const struct fz_fleet_push *push)
{
	struct fz_buf out = { 0 };
	struct fz_str labels = fz_str_of(push->labels);

	fz_buf_str(&out, "/api/push?");
	add_parameter(&out, "service", fz_str_of(push->service));
	add_parameter(&out, "version", fz_str_of(push->version));
	add_parameter(&out, "host", fz_str_of(push->host));
	add_parameter(&out, "id", fz_str_of(push->id));
	while (labels.n) {
		struct fz_str label = fz_str_take_line(&labels);
		if (label.n)
			add_parameter(&out, "label", label);
	}
	return fz_buf_take(&out);
}
