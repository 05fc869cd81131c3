/* SPDX-License-Identifier: MIT */
/* Asking a server of ours over HTTP, by libcurl. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

struct fz_client {
	const char *server; /* "http://host:port", with or without a path and a slash */
	const char *token;  /* NULL: none */
	const char *type;   /* of what is sent; NULL: bytes */
};

/* `query` is what stands behind the server's address: "/api/push?service=...". body NULL: GET. What
 * may be done twice is tried again for a while when the server cannot be reached, is busy or goes
 * away; all that we ask for may, for pushes have ids. An error has the server's own line. */
int fz_client_ask(const struct fz_client *c, const char *query, const struct fz_str *body,
		  struct fz_buf *ret, struct fz_error *err);
