/* SPDX-License-Identifier: MIT */
/* HTTP client, by libcurl: for our server and for those of a store. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "fleet/fleet.h"

enum { FZ_CLIENT_ATTEMPTS = 6 }; /* of fz_client_request: for about 6 seconds */

/* Keeps the connection of one thread's requests open from one to the next; all zero at first. */
struct fz_connection {
	void *easy; /* libcurl's; NULL: there was no request yet */
};
void fz_connection_close(struct fz_connection *c);

struct fz_client {
	const char *server;         /* "http://host:port", with or without a path and a slash */
	const char *token;          /* NULL: none */
	const char *type;           /* Content-Type; NULL: application/octet-stream */
	const char *method;         /* NULL: POST if there is a body, else GET */
	const char *user;           /* "KEY:SECRET" to sign requests; NULL: unsigned */
	const char *signed_for;     /* for CURLOPT_AWS_SIGV4 */
	int seconds;                /* timeout of a request; 0: none */
	int stall_seconds;          /* give up after this long without a byte; 0: 120 */
	int attempts;               /* with pauses between; 0: one */
	const char *const *headers; /* more headers, "Name: value", NULL-terminated; NULL: none */
	struct fz_connection *connection; /* NULL: each request opens its own */
};

/* Call before any thread makes a request. */
int fz_client_load(struct fz_error *err);
/* Load the library and check the server's URL. */
int fz_client_check(const struct fz_client *c, struct fz_error *err);
/* Send a request, at most c->attempts times. Returns the status of the response, which is in `ret`,
 * or 0 and the reason for the failure in *ret_why. */
long fz_client_fetch(const struct fz_client *c, const char *url, const struct fz_str *body,
		     struct fz_buf *ret, const char **ret_why);

/* Append a path and query to a server's URL, which may end in a slash; the caller frees. */
char *fz_client_url(const char *server, const char *query);
/* query: the part of the URL after the server, "/api/push?service=...". body NULL: GET. Retries for
 * a while if the server cannot be reached, is busy or disconnects; all our requests may be
 * repeated, since pushes have ids. The error contains the first line of the response. With a body
 * the response must be a server's confirmation, {"status": ...}. */
int fz_client_request(const struct fz_client *c, const char *query, const struct fz_str *body,
		      struct fz_buf *ret, struct fz_error *err);
/* The same with c->attempts. *ret_status: the response's status; 0: no response, or not a server's.
 */
int fz_client_try(const struct fz_client *c, const char *query, const struct fz_str *body,
		  struct fz_buf *ret, long *ret_status, struct fz_error *err);
/* Path and query of a push; the caller frees. */
char *fz_client_push_query(const struct fz_fleet_push *push);
