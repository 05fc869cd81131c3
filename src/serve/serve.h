/* SPDX-License-Identifier: MIT */
/* The fleet server: receives profiles and serves releases and comparisons; see docs/server.md.
 */
#pragma once

#include "base/error.h"
#include "serve/options.h"

/* Load the libraries that every server needs; fz_serve does this. */
int fz_serve_load(struct fz_error *err);
/* Run until SIGINT, SIGTERM or SIGHUP, stored in ret_signal. `ready` is called with the URL once
 * the server listens, `say` with messages for the operator; both may be called from any thread. */
int fz_serve(const struct fz_serve_options *options, void (*ready)(const char *url),
	     void (*say)(const char *text), int *ret_signal, struct fz_error *err);
