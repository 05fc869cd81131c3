/* SPDX-License-Identifier: MIT */
/* --save PLACE of commands that count commits: the name of a place or the URL of a server. */
#pragma once

#include "bench/baseline.h"
#include "cli/fleet.h"

struct fz_cli_counts {
	const char *who;  /* the command */
	const char *save; /* as it was given; NULL: not at all */
	struct fz_cli_fleet fleet;
	struct fz_cli_spool spool; /* where counts wait for a server that is away */
	char *token, *waits;       /* of that folder, which is that server's and token's */
	struct fz_baseline_server server;
};

#define FZ_CLI_COUNTS_TOKEN_ENTRY(c)                                                               \
	{                                                                                          \
		.kind = FZ_OPT_STRING, .long_name = "token-file", .argument = "FILE",              \
		.help = "read the token for the --save server from FILE (default: $FIZEAU_TOKEN)", \
		.value = &(c).fleet.token_file                                                     \
	}
/* For those that keep counts nowhere but in a place. */
#define FZ_CLI_COUNTS_ENTRIES(c)                                                             \
	{ .kind = FZ_OPT_STRING,                                                             \
	  .long_name = "save",                                                               \
	  .argument = "PLACE",                                                               \
	  .value = &(c).save,                                                                \
	  .help = "store counts in: cache (default), notes (git notes, refs/notes/fizeau), " \
		  "branch (fizeau-data), or a server (http://HOST:PORT)" },                  \
		FZ_CLI_COUNTS_TOKEN_ENTRY(c)

/* Where --save is an address, *ret is how that server is asked, for as long as c lives; else NULL.
 * What earlier commands left in the spool goes to it first, if it answers. */
int fz_cli_counts_open(struct fz_cli_counts *c, struct fz_baseline_server **ret,
		       struct fz_error *err);
/* The same, and the place: without --save the cache. What is no place is an error. */
int fz_cli_counts_place(struct fz_cli_counts *c, int *ret_place, struct fz_baseline_server **ret,
			struct fz_error *err);
void fz_cli_counts_release(struct fz_cli_counts *c);
