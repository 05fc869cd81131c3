/* SPDX-License-Identifier: MIT */
/* Asking a server over HTTP, by libcurl: one of ours, or a store's. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "fleet/fleet.h"

enum { FZ_CLIENT_ATTEMPTS = 6 }; /* of fz_client_ask: some six seconds */

struct fz_client {
	const char *server;         /* "http://host:port", with or without a path and a slash */
	const char *token;          /* NULL: none */
	const char *type;           /* of what is sent; NULL: bytes */
	const char *method;         /* NULL: POST where there is a body, else GET */
	const char *user;           /* "KEY:SECRET", which signs what is asked; NULL: nobody does */
	const char *signed_for;     /* by whom it is signed, as CURLOPT_AWS_SIGV4 has it */
	int seconds;                /* that a request may take in all; 0: as long as it goes on */
	int stall_seconds;          /* so long without a byte is no answer; 0: 120 */
	int attempts;               /* with pauses; 0: one */
	const char *const *headers; /* more of them, "Name: value", to NULL; NULL: none */
};

/* To be called before any thread asks. */
int fz_client_load(struct fz_error *err);
/* Whether anybody can be asked: the library is there, the address is one. */
int fz_client_check(const struct fz_client *c, struct fz_error *err);
/* As often as the client says. Returns the status of the answer, which is in `ret`, or 0, and then
 * *ret_why says why there is none. */
long fz_client_fetch(const struct fz_client *c, const char *url, const struct fz_str *body,
		     struct fz_buf *ret, const char **ret_why);

/* A server's address, with or without a slash, and what stands behind it; the caller frees. */
char *fz_client_url(const char *server, const char *query);
/* `query` is what stands behind the server's address: "/api/push?service=...". body NULL: GET. What
 * may be done twice is tried again for a while when the server cannot be reached, is busy or goes
 * away; all that we ask for may, for pushes have ids. An error has the server's own line. */
int fz_client_ask(const struct fz_client *c, const char *query, const struct fz_str *body,
		  struct fz_buf *ret, struct fz_error *err);
/* The same, as often as the client says. *ret_status is what the server said; 0: nothing. */
int fz_client_try(const struct fz_client *c, const char *query, const struct fz_str *body,
		  struct fz_buf *ret, long *ret_status, struct fz_error *err);
/* What stands behind the server's address for a push; the caller frees. */
char *fz_client_push_query(const struct fz_fleet_push *push);
