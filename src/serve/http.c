/* SPDX-License-Identifier: MIT */
/* libmicrohttpd, with a thread for each connection.
 *
 *   connection   {socket, since, asking}   in a list: fz_http_tick closes slow ones
 *   request      {route, body, refusal}    a rejected body is still read to its end, so that the
 *                                          response arrives; only one that is too large is cut off
 *
 * Other sites must not abuse a browser's stored tokens or, without tokens, its access from this
 * machine. So cross-origin requests are rejected. Without tokens the server accepts only local
 * requests, and the Host header must name this machine.
 */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/library.h"
#include "serve/tls.h"

enum { CONNECTIONS_MAX = 700, IDLE_SECONDS = 15, BODIES_MAX = 512 << 20 };
/* Maximum number of requests served at once; others get 503 with Retry-After. */
enum { REQUESTS_MAX = 250 };
/* Above this number, each new connection ends the oldest one without a request. Above
 * CONNECTIONS_MAX libmicrohttpd resets new ones. */
enum { CROWDED = 600 };
/* How much of a body that is too large is still read, as a multiple of body_max. */
enum { READ_FOR_NOTHING = 4 };

/* A GnuTLS priority string. Defaults for older versions depend on the machine. */
#define TLS_VERSIONS "NORMAL:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

static struct {
	__typeof__(&MHD_is_feature_supported) can;
	__typeof__(&MHD_start_daemon) start;
	__typeof__(&MHD_stop_daemon) stop;
	__typeof__(&MHD_get_daemon_info) info;
	__typeof__(&MHD_get_connection_info) connection_info;
	__typeof__(&MHD_lookup_connection_value) lookup;
	__typeof__(&MHD_get_connection_values_n) values;
	__typeof__(&MHD_create_response_from_buffer) response;
	__typeof__(&MHD_create_response_from_fd64) file_response;
	__typeof__(&MHD_add_response_header) header;
	__typeof__(&MHD_queue_response) queue;
	__typeof__(&MHD_destroy_response) destroy;
} mhd;

struct connection {
	struct connection *next, **link;
	int fd;
	int64_t since;
	bool asking;
	bool begun;  /* its request was accepted, from the headers */
	bool ending; /* it is being closed to make room */
};

struct fz_http {
	struct fz_http_options options;
	_Atomic(const struct fz_tokens *) tokens; /* in use */
	const struct fz_http_route *routes;
	void *arg;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* of connections */
	struct connection *connections;
	atomic_size_t connection_n;
	unsigned begun_n;           /* connections whose request was accepted */
	atomic_size_t buffered;     /* bytes of all bodies */
	atomic_ullong responses[6]; /* by first digit of the status */
};

struct request {
	struct MHD_Connection *connection;
	const struct fz_http_route *route;
	struct fz_http_request q;
	struct fz_http_answer a;
	struct fz_buf body;
	uint64_t booked;        /* bytes read after the request was rejected */
	bool refused, hopeless; /* hopeless: respond without reading the body */
	char peer[INET6_ADDRSTRLEN];
};

/* ---- parameters ---- */

const char *fz_http_parameter(const struct fz_http_request *q, const char *name)
{
	for (size_t i = 0; i < q->parameter_n; i++)
		if (strcmp(q->parameters[i].name, name) == 0)
			return q->parameters[i].value;
	return NULL;
}

size_t fz_http_parameters(const struct fz_http_request *q, const char *name, const char **ret,
			  size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < q->parameter_n; i++) {
		if (strcmp(q->parameters[i].name, name) != 0)
			continue;
		if (n < most)
			ret[n] = q->parameters[i].value;
		n++;
	}
	return n;
}

static const char *header_of(const struct request *r, const char *name)
{
	const char *value = mhd.lookup(r->connection, MHD_HEADER_KIND, name);

	return value ? value : "";
}

/* ---- checks ---- */

static void refuse(struct request *r, unsigned status, const char *text)
{
	if (r->refused)
		return;
	r->refused = true;
	r->a.status = status;
	fz_buf_printf(&r->a.body, "%s\n", text);
}

void fz_http_refuse(struct fz_http_answer *a, const struct fz_error *err)
{
	static const struct {
		int code;
		unsigned status;
	} statuses[] = {
		{ FZ_EINPUT, MHD_HTTP_UNPROCESSABLE_CONTENT },
		{ FZ_ELIMIT, MHD_HTTP_CONTENT_TOO_LARGE },
		{ FZ_EUNSUPPORTED, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE },
		{ FZ_EUSAGE, MHD_HTTP_BAD_REQUEST },
		{ FZ_EAGAIN, MHD_HTTP_SERVICE_UNAVAILABLE },
		{ FZ_ESYSTEM, MHD_HTTP_INSUFFICIENT_STORAGE },
	};

	a->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	for (size_t i = 0; i < FZ_ARRAY_LEN(statuses); i++)
		if (statuses[i].code == err->code)
			a->status = statuses[i].status;
	a->type = "text/plain; charset=utf-8";
	fz_buf_reset(&a->body);
	fz_buf_printf(&a->body, "%s\n", err->message);
}

/* Add a parameter. Zero bytes are rejected, because texts would end there. */
static enum MHD_Result take_parameter(void *arg, enum MHD_ValueKind kind, const char *name,
				      size_t name_n, const char *value, size_t value_n)
{
	struct request *r = arg;

	(void)kind;
	if (!value)
		return MHD_YES;
	if (memchr(name, '\0', name_n) || memchr(value, '\0', value_n)) {
		refuse(r, MHD_HTTP_BAD_REQUEST, "a parameter contains a zero byte");
		return MHD_NO;
	}
	if (r->q.parameter_n == FZ_HTTP_PARAMETERS_MAX) {
		refuse(r, MHD_HTTP_BAD_REQUEST, "more than 64 parameters");
		return MHD_NO;
	}
	r->q.parameters[r->q.parameter_n].name = name;
	r->q.parameters[r->q.parameter_n++].value = value;
	return MHD_YES;
}

/* Read "Bearer TOKEN", or "Basic BASE64(anything:TOKEN)", which browsers send. */
static void take_token(const char *header, struct fz_buf *ret)
{
	fz_auto(fz_buf_release) struct fz_buf pair = { 0 };

	if (strncasecmp(header, "Bearer ", 7) == 0)
		fz_buf_str(ret, header + 7);
	if (strncasecmp(header, "Basic ", 6) != 0 ||
	    !fz_base64_decode(&pair, fz_str_of(header + 6)))
		return;
	const char *colon = memchr(pair.p ? pair.p : "", ':', pair.n);
	if (colon)
		fz_buf_add(ret, colon + 1, pair.n - (size_t)(colon + 1 - pair.p));
}

static void check_token(struct fz_http *h, struct request *r)
{
	fz_auto(fz_buf_release) struct fz_buf token = { 0 };

	take_token(header_of(r, "Authorization"), &token);
	const char *shown = fz_http_parameter(&r->q, "token");
	bool in_address = !token.n && r->route->right == FZ_RIGHT_BADGE && shown;
	if (in_address)
		fz_buf_str(&token, shown);
	const struct fz_token *found = fz_tokens_find(atomic_load(&h->tokens), fz_buf_view(&token));
	/* URLs are shared and logged. */
	if (found && in_address && found->rights != FZ_RIGHT_BADGE)
		refuse(r, MHD_HTTP_FORBIDDEN, "a token in a URL must be a badge token");
	else if (!found)
		refuse(r, MHD_HTTP_UNAUTHORIZED,
		       token.n ? "unknown token"
			       : "authentication required: Authorization: Bearer TOKEN; in a "
				 "browser, enter the token as password with any user name");
	else if (!(found->rights & r->route->right))
		refuse(r, MHD_HTTP_FORBIDDEN,
		       found->rights == FZ_RIGHT_BADGE ? "this token only grants access to badges"
		       : r->route->right & FZ_RIGHT_WRITE ? "this token is read-only"
							  : "this token is write-only");
	else
		r->q.project = found->project;
}

/* "127.0.0.1", "[::1]" or "localhost", with or without a port. */
static bool is_this_machine(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) == 0 && (!host[n] || host[n] == ':'))
			return true;
	}
	return false;
}

static void check_origin(struct request *r)
{
	const char *origin = header_of(r, "Origin"), *from = strstr(origin, "://");

	if (*origin && (!from || strcasecmp(from + 3, header_of(r, "Host")) != 0))
		refuse(r, MHD_HTTP_FORBIDDEN, "cross-origin request refused");
}

static void check_machine(struct request *r)
{
	if (!is_this_machine(header_of(r, "Host")))
		refuse(r, MHD_HTTP_FORBIDDEN,
		       "without tokens the server only accepts requests to 127.0.0.1 and "
		       "localhost");
	r->q.project = "default";
}

static const struct fz_http_route *find_route(const struct fz_http *h, struct request *r,
					      const char *method, const char *path)
{
	bool known = false;

	if (strcmp(method, "HEAD") == 0)
		method = "GET";
	for (const struct fz_http_route *route = h->routes; route->path; route++) {
		size_t n = strlen(route->path);
		bool below = n > 1 && route->path[n - 1] == '/';

		if (below ? strncmp(route->path, path, n) != 0 : strcmp(route->path, path) != 0)
			continue;
		known = true;
		r->q.rest = path + n;
		if (strcmp(route->method, method) == 0)
			return route;
	}
	refuse(r, known ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND,
	       known ? "method not allowed" : "not found");
	return NULL;
}

/* ---- responses ---- */

/* Files are read while they are sent, to bound memory. */
static struct MHD_Response *make_response(struct request *r)
{
	if (r->a.file < 0)
		return mhd.response(r->a.body.n, (void *)fz_buf_view(&r->a.body).p,
				    MHD_RESPMEM_MUST_COPY);
	struct MHD_Response *response = mhd.file_response(r->a.file_bytes, r->a.file);
	if (response)
		r->a.file = -1; /* closed by the library */
	return response;
}

static enum MHD_Result send_answer(struct fz_http *h, struct request *r)
{
	static const char nothing[] = "default-src 'none'; base-uri 'none'; form-action 'none'; "
				      "frame-ancestors 'none'";
	const struct {
		const char *name, *value;
	} headers[] = {
		{ "Content-Type", r->a.type },
		{ "Content-Security-Policy", r->a.policy ? r->a.policy : nothing },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cache-Control", "no-store" },
		{ "Connection", "close" },
	};
	struct MHD_Response *response = make_response(r);

	if (!response)
		return MHD_NO;
	fz_assert(r->a.status / 100 < FZ_ARRAY_LEN(h->responses));
	atomic_fetch_add(&h->responses[r->a.status / 100], 1);
	for (size_t i = 0; i < FZ_ARRAY_LEN(headers); i++)
		mhd.header(response, headers[i].name, headers[i].value);
	if (r->a.status == MHD_HTTP_UNAUTHORIZED)
		mhd.header(response, "WWW-Authenticate",
			   "Basic realm=\"fizeau: the password is a token\", charset=\"UTF-8\"");
	if (r->a.status == MHD_HTTP_SERVICE_UNAVAILABLE)
		mhd.header(response, "Retry-After", "5");
	enum MHD_Result result = mhd.queue(r->connection, r->a.status, response);
	mhd.destroy(response);
	return result;
}

static struct connection *connection_of(const struct request *r)
{
	const union MHD_ConnectionInfo *info =
		mhd.connection_info(r->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void find_peer(struct request *r)
{
	const union MHD_ConnectionInfo *info =
		mhd.connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = info ? info->client_addr : NULL;

	if (a && a->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr,
			  r->peer, sizeof(r->peer));
	else if (a && a->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
			  r->peer, sizeof(r->peer));
	r->q.peer = r->peer;
}

/* ---- a request ---- */

static void too_large(const struct fz_http *h, struct request *r)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "the body is larger than %llu MiB; push a shorter recording, or raise --max-body",
		 (unsigned long long)(h->options.body_max >> 20));
	refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, text);
}

/* The compression of a body is detected from its bytes, but only these encodings are supported. */
static void check_encoding(struct request *r)
{
	static const char *const known[] = { "", "identity", "gzip", "zstd" };
	const char *encoding = header_of(r, "Content-Encoding");

	for (size_t i = 0; i < FZ_ARRAY_LEN(known); i++)
		if (strcasecmp(encoding, known[i]) == 0)
			return;
	refuse(r, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
	       "unsupported Content-Encoding: send gzip, zstd or an unencoded body");
}

static struct request *begin(struct fz_http *h, struct MHD_Connection *connection, const char *path,
			     const char *method)
{
	struct request *r = fz_calloc(1, sizeof(*r));
	uint64_t length = 0;

	r->connection = connection;
	r->a = (struct fz_http_answer){ .status = MHD_HTTP_OK,
					.type = "text/plain; charset=utf-8",
					.file = -1 };
	find_peer(r);
	mhd.values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, r);
	r->q.type = fz_str_of(header_of(r, "Content-Type"));
	r->q.profiles_version = fz_str_of(header_of(r, "OTLP-Profiles-Development-Version"));
	r->q.http = h;
	r->route = find_route(h, r, method, path);
	if (r->route && r->route->right && h->options.tokens)
		check_token(h, r);
	else if (r->route && r->route->right)
		check_machine(r);
	if (r->route)
		check_origin(r);
	check_encoding(r);
	if (fz_parse_u64(fz_str_of(header_of(r, "Content-Length")), UINT64_MAX, &length) &&
	    length > h->options.body_max)
		too_large(h, r);
	r->hopeless = length > READ_FOR_NOTHING * h->options.body_max;
	return r;
}

/* Append a part of the body. False if the connection must be closed. */
static bool add_body(struct fz_http *h, struct request *r, const char *data, size_t n)
{
	if (r->body.n + n > h->options.body_max)
		too_large(h, r);
	/* Without Content-Length a body may be endless. */
	r->booked += r->refused ? n : 0;
	if (r->refused)
		return r->booked <= READ_FOR_NOTHING * h->options.body_max;
	if (atomic_fetch_add(&h->buffered, n) + n > BODIES_MAX) {
		atomic_fetch_sub(&h->buffered, n);
		refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "too many concurrent pushes; try again in a few seconds");
		return true;
	}
	fz_buf_add(&r->body, data, n);
	return true;
}

static void answer(struct fz_http *h, struct request *r)
{
	struct connection *c = connection_of(r);

	if (c) {
		pthread_mutex_lock(&h->lock);
		c->asking = false;
		pthread_mutex_unlock(&h->lock);
	}
	r->q.body = fz_buf_view(&r->body);
	if (!r->refused)
		r->route->answer(h->arg, &r->q, &r->a);
}

/* Accept or reject a request. Routes without access control are always served, so that supervisors
 * do not restart a busy server. */
static void accept_request(struct fz_http *h, struct request *r)
{
	struct connection *c = connection_of(r);

	if (!c || r->refused)
		return;
	pthread_mutex_lock(&h->lock);
	if (h->begun_n >= REQUESTS_MAX && r->route->right) {
		refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "too many concurrent requests; try again in a few seconds");
	} else {
		c->begun = true;
		h->begun_n++;
	}
	pthread_mutex_unlock(&h->lock);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **state)
{
	struct fz_http *h = arg;
	struct request *r = *state;

	(void)version;
	if (!r) {
		*state = r = begin(h, connection, path, method);
		accept_request(h, r);
		/* Respond before a body that is far too large is sent. */
		return r->hopeless ? send_answer(h, r) : MHD_YES;
	}
	if (*size) {
		bool goes_on = add_body(h, r, data, *size);

		*size = 0;
		return goes_on ? MHD_YES : MHD_NO;
	}
	answer(h, r);
	return send_answer(h, r);
}

static void on_end(void *arg, struct MHD_Connection *connection, void **state,
		   enum MHD_RequestTerminationCode code)
{
	struct fz_http *h = arg;
	struct request *r = *state;

	(void)connection;
	(void)code;
	if (!r)
		return;
	atomic_fetch_sub(&h->buffered, r->body.n);
	fz_buf_release(&r->body);
	fz_buf_release(&r->a.body);
	fz_close_fd(&r->a.file);
	free(r);
	*state = NULL;
}

/* ---- connections ---- */

/* End the oldest connection without a request, but never the newest, so that idle clients cannot
 * lock out others. */
static void make_room(struct fz_http *h)
{
	struct connection *oldest = NULL;

	if (atomic_load(&h->connection_n) <= CROWDED)
		return;
	for (struct connection *c = h->connections->next; c; c = c->next)
		if (!c->begun && !c->ending && c->fd >= 0)
			oldest = c;
	if (!oldest)
		return;
	oldest->ending = true;
	shutdown(oldest->fd, SHUT_RDWR);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct fz_http *h = arg;
	struct connection *c = *context;

	pthread_mutex_lock(&h->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			mhd.connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		*context = c = fz_calloc(1, sizeof(*c));
		*c = (struct connection){ .next = h->connections,
					  .link = &h->connections,
					  .fd = info ? info->connect_fd : -1,
					  .since = fz_clock_now(),
					  .asking = true };
		if (c->next)
			c->next->link = &c->next;
		h->connections = c;
		atomic_fetch_add(&h->connection_n, 1);
		make_room(h);
	} else if (c) {
		atomic_fetch_sub(&h->connection_n, 1);
		h->begun_n -= c->begun;
		*c->link = c->next;
		if (c->next)
			c->next->link = c->link;
		free(c);
		*context = NULL;
	}
	pthread_mutex_unlock(&h->lock);
}

void fz_http_tick(struct fz_http *h)
{
	int64_t late = fz_clock_now() - h->options.seconds_max * (int64_t)1000000000;

	pthread_mutex_lock(&h->lock);
	for (struct connection *c = h->connections; c; c = c->next)
		if (c->asking && c->since < late && c->fd >= 0)
			shutdown(c->fd, SHUT_RDWR);
	pthread_mutex_unlock(&h->lock);
}

/* ---- the server ---- */

static int load(struct fz_error *err)
{
	static const struct fz_library_symbol symbols[] = {
		{ "MHD_is_feature_supported", &mhd.can },
		{ "MHD_start_daemon", &mhd.start },
		{ "MHD_stop_daemon", &mhd.stop },
		{ "MHD_get_daemon_info", &mhd.info },
		{ "MHD_get_connection_info", &mhd.connection_info },
		{ "MHD_lookup_connection_value", &mhd.lookup },
		{ "MHD_get_connection_values_n", &mhd.values },
		{ "MHD_create_response_from_buffer", &mhd.response },
		{ "MHD_create_response_from_fd64", &mhd.file_response },
		{ "MHD_add_response_header", &mhd.header },
		{ "MHD_queue_response", &mhd.queue },
		{ "MHD_destroy_response", &mhd.destroy },
	};

	return fz_library_load("libmicrohttpd.so.12", "libmicrohttpd12", symbols,
			       FZ_ARRAY_LEN(symbols), err);
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool find_address(const struct fz_http_options *o, union address *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, o->host, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(o->port);
		return true;
	}
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons(o->port);
	return inet_pton(AF_INET6, o->host, &ret->v6.sin6_addr) == 1;
}

static int check_tls(const struct fz_http_options *o, struct fz_error *err)
{
	if (o->tls && mhd.can(MHD_FEATURE_TLS) != MHD_YES)
		return fz_fail(err, FZ_EUNSUPPORTED, "libmicrohttpd was built without TLS");
	return 0;
}

int fz_http_start(const struct fz_http_options *options, const struct fz_http_route *routes,
		  void *arg, struct fz_http **ret, struct fz_error *err)
{
	union address address;
	int r = load(err);

	if (!r)
		r = check_tls(options, err);
	if (r)
		return r;
	if (!find_address(options, &address))
		return fz_fail(
			err, FZ_EUSAGE,
			"--listen: invalid address '%s' (expected 127.0.0.1:PORT or [::1]:PORT)",
			options->host);
	struct fz_http *h = fz_calloc(1, sizeof(*h));
	*h = (struct fz_http){ .options = *options, .routes = routes, .arg = arg };
	atomic_init(&h->tokens, options->tokens);
	pthread_mutex_init(&h->lock, NULL);
	struct MHD_OptionItem tls[] = {
		{ options->tls ? MHD_OPTION_HTTPS_CERT_CALLBACK : MHD_OPTION_END, 0,
		  fz_tls_callback() },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_VERSIONS },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned flags = (options->tls ? MHD_USE_TLS : 0) | MHD_USE_INTERNAL_POLLING_THREAD |
			 MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC |
			 (address.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
	errno = 0;
	h->daemon = mhd.start(flags, options->port, NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR,
			      &address.any, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
			      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
			      MHD_OPTION_NOTIFY_COMPLETED, on_end, h, MHD_OPTION_NOTIFY_CONNECTION,
			      on_connection, h, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!h->daemon) {
		r = fz_fail_errno(err, "%s:%u: cannot listen on this address", options->host,
				  options->port);
		pthread_mutex_destroy(&h->lock);
		free(h);
		return r;
	}
	*ret = h;
	return 0;
}

void fz_http_use_tokens(struct fz_http *h, const struct fz_tokens *tokens)
{
	atomic_store(&h->tokens, tokens);
}

struct fz_http_figures fz_http_figures(const struct fz_http *h)
{
	struct fz_http_figures ret = { .connections = atomic_load(&h->connection_n),
				       .body_bytes = atomic_load(&h->buffered) };

	for (size_t i = 0; i < FZ_ARRAY_LEN(ret.responses); i++)
		ret.responses[i] = atomic_load(&h->responses[i]);
	return ret;
}

uint16_t fz_http_port(const struct fz_http *h)
{
	const union MHD_DaemonInfo *info = mhd.info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : h->options.port;
}

void fz_http_stop(struct fz_http *h)
{
	if (!h)
		return;
	mhd.stop(h->daemon);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
