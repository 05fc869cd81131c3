/* SPDX-License-Identifier: MIT */
/* The HTTP server: libmicrohttpd behind a table of routes.
 *
 *   connection -> method and path -> who asks -> body, up to a limit -> handler -> one answer
 *
 * A connection is one request and has a thread. There are limits for the body, all bodies together,
 * the time until a request is complete, and connections. A refusal is a status and one line of
 * text.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "serve/tokens.h"

struct fz_http_options {
	const char *host; /* an address, not a name */
	uint16_t port;    /* 0: any that is free */
	bool tls;         /* with the certificate of tls.h */
	const struct fz_tokens
		*tokens;   /* NULL: everybody may do everything, as project "default" */
	uint64_t body_max; /* bytes */
	int seconds_max;   /* until a request is complete */
};

enum { FZ_HTTP_PARAMETERS_MAX = 64 };

struct fz_http;

struct fz_http_request {
	const struct fz_http *http; /* that received it */
	const char *project;
	const char *rest; /* what follows a route's path, of one that ends with "/"; else "" */
	struct fz_str body;
	struct fz_str type;             /* Content-Type */
	struct fz_str profiles_version; /* OTLP-Profiles-Development-Version; "": not said */
	const char *peer;               /* address of who asks */
	/* what stands behind the "?", decoded */
	struct {
		const char *name, *value;
	} parameters[FZ_HTTP_PARAMETERS_MAX];
	size_t parameter_n;
};

/* A parameter behind the "?"; NULL: it is not there. */
const char *fz_http_parameter(const struct fz_http_request *q, const char *name);
/* All of that name; returns how many, at most `most` of which are in ret. */
size_t fz_http_parameters(const struct fz_http_request *q, const char *name, const char **ret,
			  size_t most);

struct fz_http_answer {
	unsigned status;    /* 200 to begin with */
	const char *type;   /* Content-Type; text to begin with */
	const char *policy; /* Content-Security-Policy; NULL: nothing may be loaded or run */
	struct fz_buf body;
	int file; /* what is sent in place of the body, open for reading; it is closed; -1: none */
	uint64_t file_bytes;
};

/* One line, with what the code stands for as its status. */
void fz_http_refuse(struct fz_http_answer *a, const struct fz_error *err);

struct fz_http_route {
	const char *method, *path; /* a path that ends with "/" stands for all below it */
	unsigned right; /* one of these is needed; 0: anybody may ask, from any machine */
	/* Called from several threads at once. */
	void (*answer)(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
};

struct fz_http_figures {
	uint64_t responses[6];          /* since the start, by the first digit of their status */
	size_t connections, body_bytes; /* now */
};
struct fz_http_figures fz_http_figures(const struct fz_http *h);

/* Routes end with one without a path, and live as long as the server. `arg` is for them. */
int fz_http_start(const struct fz_http_options *options, const struct fz_http_route *routes,
		  void *arg, struct fz_http **ret, struct fz_error *err);
/* From the next request on. Those before may go on to refer to the earlier ones. */
void fz_http_use_tokens(struct fz_http *h, const struct fz_tokens *tokens);
uint16_t fz_http_port(const struct fz_http *h);
/* To be called once a second: lets go of who takes too long to ask. */
void fz_http_tick(struct fz_http *h);
/* Answers what was asked already, then ends. */
void fz_http_stop(struct fz_http *h);
