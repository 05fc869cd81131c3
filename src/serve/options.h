/* SPDX-License-Identifier: MIT */
/* What the operator chose for a server. */
#pragma once

struct fz_serve_options {
	const char *store;                     /* path */
	const char *benchmarks;                /* path; NULL: the store, if that is a file */
	const char *listen;                    /* "127.0.0.1:4999", "[::1]:0" */
	const char *tls_certificate, *tls_key; /* paths of PEM files; NULL: no TLS */
	const char *tokens;                    /* path; NULL: full access, from this machine only */
	int retain_days;                       /* 0: forever */
	int retain_minutes_days;               /* older data only by the hour; 0: never */
	/* where to send alarms; NULL: nowhere */
	const char *alarm_file, *alarm_run, *alarm_url;
	int body_max_mib;
	int connections_per_address;
	int memory_mib;         /* for profiles that are read at the same time */
	const char *recordings; /* folder for whole files (fleet/files.h); NULL: none are kept */
	const char *bucket;     /* URL of a bucket for these files; NULL: in the folder */
	int recordings_mib;     /* limit for each project and kind */
};
