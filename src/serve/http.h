/* SPDX-License-Identifier: MIT */
/* The HTTP server: libmicrohttpd behind a table of routes.
 *
 *   connection -> method and path -> access -> body, up to a limit -> handler -> one response
 *
 * A connection serves one request after the other, and occupies a thread only from a complete
 * request to its response; an error ends it. There are limits for the size of a body and of all
 * bodies together, for the time until a request is complete, and for the number of connections, per
 * address and in total. An error response is a status and one line of text.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "serve/tokens.h"

struct fz_http_options {
	const char *host;               /* an address, not a name */
	uint16_t port;                  /* 0: any free port */
	bool tls;                       /* use the certificate of tls.h */
	const struct fz_tokens *tokens; /* NULL: no access control */
	uint64_t body_max;              /* bytes */
	int headers_seconds;            /* until a connection's headers are complete */
	int seconds_max;                /* from then on until its request is complete */
	int idle_seconds;               /* from its answer until the next headers are complete */
	size_t per_address;             /* connections */
};

enum { FZ_HTTP_PARAMETERS_MAX = 64 };

struct fz_http;

struct fz_http_request {
	struct fz_http *http; /* server that received it */
	const char *project;
	const char *rest; /* rest of the path for routes that end with "/"; else "" */
	struct fz_str body;
	struct fz_str type;             /* Content-Type */
	struct fz_str profiles_version; /* OTLP-Profiles-Development-Version; "": no such header */
	const char *peer;               /* the client's address */
	/* query parameters, decoded */
	struct {
		const char *name, *value;
	} parameters[FZ_HTTP_PARAMETERS_MAX];
	size_t parameter_n;
};

/* Get a query parameter; NULL if missing. */
const char *fz_http_parameter(const struct fz_http_request *q, const char *name);
/* Get all query parameters with a name: returns their number; ret gets the first `most`. */
size_t fz_http_parameters(const struct fz_http_request *q, const char *name, const char **ret,
			  size_t most);

struct fz_http_answer {
	unsigned status;    /* default: 200 */
	const char *type;   /* Content-Type; default: plain text */
	const char *policy; /* Content-Security-Policy; NULL: forbid everything */
	struct fz_buf body;
	int file; /* sent instead of the body, then closed; -1: none */
	uint64_t file_bytes;
};

/* Respond with the error's message and the status for its code. */
void fz_http_refuse(struct fz_http_answer *a, const struct fz_error *err);
/* Respond with a page whose script may send requests to this server. */
void fz_http_page(struct fz_http_answer *ret, struct fz_str html);

struct fz_http_route {
	const char *method, *path; /* a path that ends with "/" matches all paths below it */
	unsigned right;            /* one of these is required; 0: none, from any machine */
	/* Called from several threads at once. */
	void (*answer)(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
};

struct fz_http_figures {
	uint64_t responses[6];          /* since the start, by first digit of the status */
	size_t connections, body_bytes; /* now */
};
/* Load the library; starting a server does this. */
int fz_http_load(struct fz_error *err);
struct fz_http_figures fz_http_figures(struct fz_http *h);

/* Start a server. Routes end with one without a path and must outlive the server; they get `arg`.
 */
int fz_http_start(const struct fz_http_options *options, const struct fz_http_route *routes,
		  void *arg, struct fz_http **ret, struct fz_error *err);
/* Use other tokens from the next request on. Running requests may still refer to earlier ones. */
void fz_http_use_tokens(struct fz_http *h, const struct fz_tokens *tokens);
uint16_t fz_http_port(const struct fz_http *h);
/* Close connections that take too long to send a request. Call once a second. */
void fz_http_tick(struct fz_http *h);
/* Complete running requests, then stop. */
void fz_http_stop(struct fz_http *h);
