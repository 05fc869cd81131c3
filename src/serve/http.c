/* SPDX-License-Identifier: MIT */
/* libmicrohttpd, with all connections in one epoll set: one thread receives and sends, others work
 * on complete requests.
 *
 *   connection   connections.h             fz_http_tick closes slow ones
 *   request      {route, body, refusal}    a rejected body is still read to its end, so that the
 *                                          response arrives; only one that is too large is cut off
 *   workers      pushes | reads | public   a complete request is suspended until one of the threads
 *                                          of its kind has its response
 *
 * Readers wait only for readers and pushes only for pushes. Supervisors have threads of their own,
 * so they get an answer from a busy server and do not restart it.
 *
 * Other sites must not abuse a browser's stored tokens or, without tokens, its access from this
 * machine. So cross-origin requests are rejected. Without tokens, the server accepts only local
 * requests, and the Host header must name this machine.
 */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/library.h"
#include "serve/connections.h"
#include "serve/tls.h"
#include "serve/workers.h"

/* The limit of open files, less OTHER_FILES for everything else, may lower CONNECTIONS_MAX, at most
 * to CONNECTIONS_MIN. */
enum { CONNECTIONS_MAX = 10000, OTHER_FILES = 500, CONNECTIONS_MIN = 100 };
enum { IDLE_SECONDS = 15, BODIES_MAX = 512 << 20 };
/* Seconds that fz_http_stop waits for responses to be received. */
enum { STOP_SECONDS = 10 };
/* How much of a body that is too large is still read, as a multiple of body_max. */
enum { READ_FOR_NOTHING = 4 };

/* A GnuTLS priority string. Defaults for older versions depend on the machine. */
#define TLS_VERSIONS "NORMAL:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

static struct {
	__typeof__(&MHD_is_feature_supported) can;
	__typeof__(&MHD_start_daemon) start;
	__typeof__(&MHD_quiesce_daemon) quiesce;
	__typeof__(&MHD_stop_daemon) stop;
	__typeof__(&MHD_suspend_connection) suspend;
	__typeof__(&MHD_resume_connection) resume;
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

enum kind { PUSHES, READS, PUBLIC, KINDS };

/* Number of threads, and how many more complete requests may wait for one; beyond that they get
 * 503. Most pushes wait for the disk. */
static const struct {
	size_t threads, waiting;
} places[KINDS] = {
	[PUSHES] = { 128, 2000 },
	[READS] = { 32, 200 },
	[PUBLIC] = { 4, 200 },
};

struct fz_http {
	struct fz_http_options options;
	_Atomic(const struct fz_tokens *) tokens; /* in use */
	const struct fz_http_route *routes;
	void *arg;
	struct MHD_Daemon *daemon;
	unsigned connection_max;
	pthread_mutex_t lock; /* of connections */
	struct fz_connections connections;
	struct fz_workers workers[KINDS];
	atomic_size_t buffered;     /* bytes of all bodies */
	atomic_ullong responses[6]; /* by first digit of the status */
};

/* Methods of a path. */
enum { GET = 1, POST = 2 };
static const char *const allowed[] = {
	[GET] = "GET, HEAD", [POST] = "POST", [GET | POST] = "GET, HEAD, POST"
};

struct request {
	struct fz_work work; /* first */
	struct fz_http *http;
	struct MHD_Connection *connection;
	const struct fz_http_route *route;
	struct fz_http_request q;
	struct fz_http_answer a;
	struct fz_buf body;
	unsigned methods;       /* of the path; 0: it is unknown */
	uint64_t booked;        /* bytes read after the request was rejected */
	bool refused, hopeless; /* hopeless: respond without reading the body */
	bool answered;
	bool stays; /* the connection, after the response */
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

void fz_http_page(struct fz_http_answer *ret, struct fz_str html)
{
	fz_buf_add(&ret->body, html.p, html.n);
	ret->type = "text/html; charset=utf-8";
	/* The page itself allows its own script and style only, by their hashes. */
	ret->policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
		      "connect-src 'self'; base-uri 'none'; form-action 'none'; "
		      "frame-ancestors 'none'";
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
static enum MHD_Result add_parameter(void *arg, enum MHD_ValueKind kind, const char *name,
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
static void parse_token(const char *header, struct fz_buf *ret)
{
	fz_auto(fz_buf_release) struct fz_buf pair = { 0 };
	struct fz_str rest = fz_str_of(header), scheme = fz_str_take_word(&rest);

	rest = fz_str_trimmed(rest);
	if (scheme.n == 6 && strncasecmp(scheme.p, "Bearer", 6) == 0)
		fz_buf_add(ret, rest.p, rest.n);
	if (scheme.n != 5 || strncasecmp(scheme.p, "Basic", 5) != 0 ||
	    !fz_base64_decode(&pair, rest))
		return;
	const char *colon = memchr(pair.p ? pair.p : "", ':', pair.n);
	if (colon)
		fz_buf_add(ret, colon + 1, pair.n - (size_t)(colon + 1 - pair.p));
}

static void check_token(struct fz_http *h, struct request *r)
{
	fz_auto(fz_buf_release) struct fz_buf token = { 0 };

	parse_token(header_of(r, "Authorization"), &token);
	const char *shown = fz_http_parameter(&r->q, "token");
	bool in_address = !token.n && r->route->right == FZ_RIGHT_BADGE && shown;
	if (in_address)
		fz_buf_str(&token, shown);
	const struct fz_token *found = fz_tokens_find(atomic_load(&h->tokens), fz_buf_view(&token));
	/* A token in a URL may only grant badges, because URLs are shared and logged. */
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
	if (strcmp(method, "HEAD") == 0)
		method = "GET";
	for (const struct fz_http_route *route = h->routes; route->path; route++) {
		size_t n = strlen(route->path);
		bool below = n > 1 && route->path[n - 1] == '/';

		if (below ? strncmp(route->path, path, n) != 0 : strcmp(route->path, path) != 0)
			continue;
		r->methods |= strcmp(route->method, "GET") == 0 ? GET : POST;
		r->q.rest = path + n;
		if (strcmp(route->method, method) == 0)
			return route;
	}
	refuse(r, r->methods ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND,
	       r->methods ? "method not allowed" : "not found");
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

static struct fz_connection *connection_of(const struct request *r)
{
	const union MHD_ConnectionInfo *info =
		mhd.connection_info(r->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static bool may_stay(struct fz_http *h, const struct request *r)
{
	const struct fz_connection *c = connection_of(r);

	pthread_mutex_lock(&h->lock);
	bool ret = c && r->a.status < MHD_HTTP_BAD_REQUEST &&
		   fz_connections_may_stay(&h->connections, c);
	pthread_mutex_unlock(&h->lock);
	return ret;
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
		{ "Connection", "close" }, /* last */
	};
	struct MHD_Response *response = make_response(r);

	if (!response)
		return MHD_NO;
	fz_assert(r->a.status / 100 < FZ_ARRAY_LEN(h->responses));
	atomic_fetch_add(&h->responses[r->a.status / 100], 1);
	r->stays = may_stay(h, r);
	for (size_t i = 0; i < FZ_ARRAY_LEN(headers) - r->stays; i++)
		mhd.header(response, headers[i].name, headers[i].value);
	if (r->a.status == MHD_HTTP_UNAUTHORIZED)
		mhd.header(response, "WWW-Authenticate",
			   "Basic realm=\"fizeau: the password is a token\", charset=\"UTF-8\"");
	if (r->a.status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.header(response, "Allow", allowed[r->methods]);
	if (r->a.status == MHD_HTTP_SERVICE_UNAVAILABLE)
		mhd.header(response, "Retry-After", "5");
	enum MHD_Result result = mhd.queue(r->connection, r->a.status, response);
	mhd.destroy(response);
	return result;
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

struct headers {
	unsigned lengths, hosts;
	bool spaced; /* "Content-Length : 3" */
};

static enum MHD_Result see_header(void *arg, enum MHD_ValueKind kind, const char *name,
				  size_t name_n, const char *value, size_t value_n)
{
	struct headers *h = arg;

	(void)kind;
	(void)name_n;
	(void)value;
	(void)value_n;
	h->lengths += strcasecmp(name, "Content-Length") == 0 ||
		      strcasecmp(name, "Transfer-Encoding") == 0;
	h->hosts += strcasecmp(name, "Host") == 0;
	h->spaced |= strpbrk(name, " \t") != NULL;
	return MHD_YES;
}

/* Another reader of the request, such as a proxy, may find that its body ends elsewhere. */
static void check_headers(struct request *r)
{
	const char *coding = header_of(r, "Transfer-Encoding");
	struct headers h = { 0 };

	mhd.values(r->connection, MHD_HEADER_KIND, see_header, &h);
	if (h.lengths > 1)
		refuse(r, MHD_HTTP_BAD_REQUEST, "the length of the body is stated twice");
	if (h.hosts > 1)
		refuse(r, MHD_HTTP_BAD_REQUEST, "there are two Host headers");
	if (h.spaced)
		refuse(r, MHD_HTTP_BAD_REQUEST, "the name of a header contains a space");
	if (!*coding || strcasecmp(coding, "chunked") == 0)
		return;
	/* Where such a body ends is unknown. */
	refuse(r, MHD_HTTP_NOT_IMPLEMENTED, "unsupported Transfer-Encoding: send chunked");
	r->hopeless = true;
}

/* "http://host/path" is meant for proxies, but every server must accept it. */
static const char *path_of(const char *target)
{
	const char *host = *target == '/' ? NULL : strstr(target, "://");

	return host ? strchr(host + 3, '/') ?: "/" : target;
}

static struct request *begin(struct fz_http *h, struct MHD_Connection *connection, const char *path,
			     const char *method)
{
	struct request *r = fz_calloc(1, sizeof(*r));
	uint64_t length = 0;

	r->http = h;
	r->connection = connection;
	r->a = (struct fz_http_answer){ .status = MHD_HTTP_OK,
					.type = "text/plain; charset=utf-8",
					.file = -1 };
	find_peer(r);
	check_headers(r);
	mhd.values(connection, MHD_GET_ARGUMENT_KIND, add_parameter, r);
	r->q.type = fz_str_of(header_of(r, "Content-Type"));
	r->q.profiles_version = fz_str_of(header_of(r, "OTLP-Profiles-Development-Version"));
	r->q.http = h;
	r->route = find_route(h, r, method, path_of(path));
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
	r->hopeless |= length > READ_FOR_NOTHING * h->options.body_max;
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

static void set_state(struct fz_http *h, struct request *r, enum fz_connection_state state)
{
	struct fz_connection *c = connection_of(r);

	pthread_mutex_lock(&h->lock);
	if (c && c->state != FZ_CONNECTION_ENDING)
		fz_connections_move(&h->connections, c, state, fz_clock_now());
	pthread_mutex_unlock(&h->lock);
}

static void work_on(struct fz_work *work)
{
	struct request *r = (struct request *)(void *)work;

	r->route->answer(r->http->arg, &r->q, &r->a);
	r->answered = true;
	mhd.resume(r->connection);
}

static enum kind kind_of(const struct fz_http_route *route)
{
	return !route->right ? PUBLIC : route->right == FZ_RIGHT_WRITE ? PUSHES : READS;
}

/* Leave a complete request to a worker. on_request is called again when it is resumed. */
static void answer(struct fz_http *h, struct request *r)
{
	r->q.body = fz_buf_view(&r->body);
	r->work.run = work_on;
	mhd.suspend(r->connection);
	if (fz_workers_do(&h->workers[kind_of(r->route)], &r->work))
		return;
	refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
	       "too many concurrent requests; try again in a few seconds");
	mhd.resume(r->connection);
}

/* From the headers on. Routes without access control are served to every address. */
static void accept_request(struct fz_http *h, struct request *r)
{
	const struct fz_connection *c = connection_of(r);

	if (c && c->surplus && !(r->route && !r->route->right))
		refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "too many concurrent connections from this address; try again in a few "
		       "seconds, or raise --connections-per-address");
	set_state(h, r, r->refused ? FZ_CONNECTION_REFUSED : FZ_CONNECTION_BODY);
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
	if (r->refused || r->answered)
		return send_answer(h, r);
	set_state(h, r, FZ_CONNECTION_ANSWER);
	answer(h, r);
	return MHD_YES;
}

static void on_end(void *arg, struct MHD_Connection *connection, void **state,
		   enum MHD_RequestTerminationCode code)
{
	struct fz_http *h = arg;
	struct request *r = *state;

	(void)connection;
	if (!r)
		return;
	if (r->stays && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		set_state(h, r, FZ_CONNECTION_IDLE);
	atomic_fetch_sub(&h->buffered, r->body.n);
	fz_buf_release(&r->body);
	fz_buf_release(&r->a.body);
	fz_close_fd(&r->a.file);
	free(r);
	*state = NULL;
}

/* ---- connections ---- */

static enum MHD_Result on_accept(void *arg, const struct sockaddr *address, socklen_t n)
{
	struct fz_http *h = arg;

	(void)n;
	pthread_mutex_lock(&h->lock);
	bool admitted = fz_connections_admit(&h->connections, fz_connections_key(address));
	pthread_mutex_unlock(&h->lock);
	return admitted ? MHD_YES : MHD_NO;
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct fz_http *h = arg;

	pthread_mutex_lock(&h->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const struct sockaddr *address =
			mhd.connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
				->client_addr;
		int fd = mhd.connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;

		*context = fz_connections_add(&h->connections, fz_connections_key(address), fd,
					      fz_clock_now());
	} else if (*context) {
		fz_connections_remove(&h->connections, *context);
		*context = NULL;
	}
	pthread_mutex_unlock(&h->lock);
}

void fz_http_tick(struct fz_http *h)
{
	pthread_mutex_lock(&h->lock);
	fz_connections_tick(&h->connections, fz_clock_now());
	pthread_mutex_unlock(&h->lock);
}

/* ---- the server ---- */

int fz_http_load(struct fz_error *err)
{
	static const struct fz_library_symbol symbols[] = {
		{ "MHD_is_feature_supported", &mhd.can },
		{ "MHD_start_daemon", &mhd.start },
		{ "MHD_quiesce_daemon", &mhd.quiesce },
		{ "MHD_stop_daemon", &mhd.stop },
		{ "MHD_suspend_connection", &mhd.suspend },
		{ "MHD_resume_connection", &mhd.resume },
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

/* Raise the limit of open files as far as permitted; returns how many connections it allows. */
static unsigned connections_max(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return CONNECTIONS_MIN;
	rlim_t wanted = FZ_MIN(files.rlim_max, CONNECTIONS_MAX + OTHER_FILES);
	if (files.rlim_cur < wanted) {
		files.rlim_cur = wanted;
		setrlimit(RLIMIT_NOFILE, &files);
		getrlimit(RLIMIT_NOFILE, &files);
	}
	return (unsigned)FZ_MAX(CONNECTIONS_MIN,
				(int64_t)FZ_MIN(files.rlim_cur, CONNECTIONS_MAX + OTHER_FILES) -
					OTHER_FILES);
}

static struct fz_http *make(const struct fz_http_options *o, const struct fz_http_route *routes,
			    void *arg)
{
	struct fz_http *h = fz_calloc(1, sizeof(*h));
	unsigned most = connections_max();

	*h = (struct fz_http){
		.options = *o,
		.routes = routes,
		.arg = arg,
		.connection_max = most,
		.connections = { .crowded = most / 10 * 9, .per_address = o->per_address },
	};
	h->connections.deadline[FZ_CONNECTION_HEADERS] = o->headers_seconds * FZ_SECOND;
	h->connections.deadline[FZ_CONNECTION_REFUSED] = o->seconds_max * FZ_SECOND;
	h->connections.deadline[FZ_CONNECTION_BODY] = o->seconds_max * FZ_SECOND;
	h->connections.deadline[FZ_CONNECTION_IDLE] = o->idle_seconds * FZ_SECOND;
	atomic_init(&h->tokens, o->tokens);
	pthread_mutex_init(&h->lock, NULL);
	for (size_t i = 0; i < KINDS; i++)
		fz_workers_init(&h->workers[i], places[i].threads, places[i].waiting);
	return h;
}

static void release(struct fz_http *h)
{
	for (size_t i = 0; i < KINDS; i++)
		fz_workers_release(&h->workers[i]);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

int fz_http_start(const struct fz_http_options *options, const struct fz_http_route *routes,
		  void *arg, struct fz_http **ret, struct fz_error *err)
{
	union address address;
	int r = fz_http_load(err);

	if (!r)
		r = check_tls(options, err);
	if (r)
		return r;
	bool is_address = find_address(options, &address);
	fz_assert(is_address);
	struct fz_http *h = make(options, routes, arg);
	struct MHD_OptionItem tls[] = {
		{ options->tls ? MHD_OPTION_HTTPS_CERT_CALLBACK : MHD_OPTION_END, 0,
		  fz_tls_callback() },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_VERSIONS },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned flags = (options->tls ? MHD_USE_TLS : 0) | MHD_USE_EPOLL_INTERNAL_THREAD |
			 MHD_ALLOW_SUSPEND_RESUME |
			 (address.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
	errno = 0;
	h->daemon =
		mhd.start(flags, options->port, on_accept, h, on_request, h, MHD_OPTION_SOCK_ADDR,
			  &address.any, MHD_OPTION_CONNECTION_LIMIT, h->connection_max,
			  MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
			  MHD_OPTION_NOTIFY_COMPLETED, on_end, h, MHD_OPTION_NOTIFY_CONNECTION,
			  on_connection, h, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!h->daemon) {
		r = fz_fail_errno(err, "%s:%u: cannot listen on this address", options->host,
				  options->port);
		release(h);
		return r;
	}
	*ret = h;
	return 0;
}

void fz_http_use_tokens(struct fz_http *h, const struct fz_tokens *tokens)
{
	atomic_store(&h->tokens, tokens);
}

struct fz_http_figures fz_http_figures(struct fz_http *h)
{
	struct fz_http_figures ret = { .body_bytes = atomic_load(&h->buffered) };

	pthread_mutex_lock(&h->lock);
	ret.connections = h->connections.n;
	pthread_mutex_unlock(&h->lock);
	for (size_t i = 0; i < FZ_ARRAY_LEN(ret.responses); i++)
		ret.responses[i] = atomic_load(&h->responses[i]);
	return ret;
}

uint16_t fz_http_port(const struct fz_http *h)
{
	const union MHD_DaemonInfo *info = mhd.info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : h->options.port;
}

static bool is_answering(struct fz_http *h)
{
	pthread_mutex_lock(&h->lock);
	bool ret = h->connections.lists[FZ_CONNECTION_ANSWER].oldest;
	pthread_mutex_unlock(&h->lock);
	return ret;
}

void fz_http_stop(struct fz_http *h)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	int64_t until;

	if (!h)
		return;
	int listening = mhd.quiesce(h->daemon);
	for (size_t i = 0; i < KINDS; i++)
		fz_workers_close(&h->workers[i]);
	until = fz_clock_now() + STOP_SECONDS * FZ_SECOND;
	while (is_answering(h) && fz_clock_now() < until)
		nanosleep(&pause, NULL);
	mhd.stop(h->daemon);
	fz_close_fd(&listening);
	release(h);
}
