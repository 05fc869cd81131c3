/* SPDX-License-Identifier: MIT */
/* The fleet server: receives profiles and serves releases and comparisons; see docs/server.md.
 */
#pragma once

#include "base/error.h"

struct fz_serve_options {
	const char *store;                     /* path */
	const char *benchmarks;                /* path; NULL: in the store, if that is a file */
	const char *listen;                    /* "127.0.0.1:4999", "[::1]:0" */
	const char *tls_certificate, *tls_key; /* paths of PEM files; NULL: no TLS */
	const char *tokens; /* path; NULL: only this machine may ask, and may do everything */
	int retain_days;    /* 0: for ever */
	/* who hears of a release that made a function more expensive; NULL: nobody */
	const char *alarm_file, *alarm_run, *alarm_url;
	int body_max_mib;
	const char *recordings; /* a folder for whole files (fleet/files.h); NULL: none are kept */
	const char *bucket;     /* these files are there; NULL: in the folder */
	int recordings_mib;     /* of each project and kind */
};

/* Until SIGINT, SIGTERM or SIGHUP, which ret_signal names. `ready` is told the address once it is
 * listened on, `say` what somebody who looks after the server should know; both for as long as it
 * runs, from any thread. */
int fz_serve(const struct fz_serve_options *options, void (*ready)(const char *url),
	     void (*say)(const char *text), int *ret_signal, struct fz_error *err);
