/* SPDX-License-Identifier: MIT */
/* The option --save PLACE of commands that count commits: the name of a place or the URL of a
 * server. */
#pragma once

#include "bench/baseline.h"
#include "cli/fleet.h"

struct fz_cli_counts {
	const char *who;  /* the command */
	const char *save; /* --save; NULL: not given */
	struct fz_cli_fleet fleet;
	struct fz_cli_spool spool; /* where counts wait while the server is unreachable */
	char *token, *waits;       /* waits: the spool's folder for this server and token */
	struct fz_baseline_server server;
};

#define FZ_CLI_COUNTS_TOKEN_ENTRY(c)                                \
	FZ_OPT(STRING, "token-file", "FILE", &(c).fleet.token_file, \
	       "read the token for the --save server from FILE (default: $FIZEAU_TOKEN)")
/* For commands that store counts only in a place. */
#define FZ_CLI_COUNTS_ENTRIES(c)                                                                 \
	FZ_OPT(STRING, "save", "PLACE", &(c).save,                                               \
	       "store counts in: cache (default), notes (git notes, refs/notes/fizeau), branch " \
	       "(fizeau-data), or a server (http://HOST:PORT)"),                                 \
		FZ_CLI_COUNTS_TOKEN_ENTRY(c)

extern const char *const fz_cli_counts_formats[]; /* for --format: "text", "json" */

/* If --save is a URL, set *ret to access that server, valid as long as c; else to NULL. Sends what
 * earlier commands left in the spool first, if the server is reachable. */
int fz_cli_counts_open(struct fz_cli_counts *c, struct fz_baseline_server **ret,
		       struct fz_error *err);
/* The same, and set the place; without --save the cache. Fails if --save is not a place. */
int fz_cli_counts_place(struct fz_cli_counts *c, int *ret_place, struct fz_baseline_server **ret,
			struct fz_error *err);
void fz_cli_counts_release(struct fz_cli_counts *c);
