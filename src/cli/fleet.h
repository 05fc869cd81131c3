/* SPDX-License-Identifier: MIT */
/* Options of what commands ask of a server or a store of releases; and what remains of them in a
 * program that was built without. */
#pragma once

#include "cli/cli.h"
#include "profile/profile.h"

enum { FZ_CLI_LABELS_MAX = 16 };

struct fz_cli_fleet {
	const char *server, *store, *token_file;
	const char *labels[FZ_CLI_LABELS_MAX];
	size_t label_n;
	int64_t since_s, until_s; /* before now; 0: not given */
};

/* Option callbacks; the value is the struct fz_cli_fleet. */
int fz_cli_fleet_add_label(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_fleet_set_since(const char *text, const struct fz_opt *opt, struct fz_error *err);

#define FZ_CLI_FLEET_SERVER_ENTRIES(f)                                                   \
	{ .kind = FZ_OPT_STRING,                                                         \
	  .long_name = "server",                                                         \
	  .argument = "URL",                                                             \
	  .help = "where 'fizeau serve' listens: http://HOST:PORT",                      \
	  .value = &(f).server },                                                        \
	{                                                                                \
		.kind = FZ_OPT_STRING, .long_name = "token-file", .argument = "FILE",    \
		.help = "a file with the token for the server (default: $FIZEAU_TOKEN)", \
		.value = &(f).token_file                                                 \
	}

/* Whether one of them was given. */
static inline bool fz_cli_fleet_asked(const struct fz_cli_fleet *f)
{
	return f->server || f->store || f->token_file || f->label_n || f->since_s || f->until_s;
}

/* Two releases "SERVICE@VERSION", from the server or the store. */
int fz_cli_fleet_load(const struct fz_cli_fleet *f, const char *const names[2], const char *metric,
		      struct fz_profile *ret[2], struct fz_error *err);
/* The token, or NULL; the caller frees. */
int fz_cli_fleet_token(const struct fz_cli_fleet *f, char **ret, struct fz_error *err);
/* What this program was built without. */
int fz_cli_fleet_missing(struct fz_error *err);
