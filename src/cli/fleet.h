/* SPDX-License-Identifier: MIT */
/* Options of commands that query a server or a database of releases, and their stubs for builds
 * without server support. */
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

#define FZ_CLI_FLEET_SERVER_ENTRIES(f)                                                  \
	FZ_OPT(STRING, "server", "URL", &(f).server,                                    \
	       "address of a 'fizeau serve' server: http://HOST:PORT", .common = true), \
		FZ_OPT(STRING, "token-file", "FILE", &(f).token_file,                   \
		       "read the server's token from FILE (default: $FIZEAU_TOKEN)")

/* Where pushes wait while the server is unreachable. */
struct fz_cli_spool {
	const char *folder; /* NULL: the default */
	uint64_t limit;     /* bytes; 0: FZ_CLI_SPOOL_LIMIT */
};
#define FZ_CLI_SPOOL_LIMIT ((uint64_t)256 << 20)
/* The folder of pushes to a server with this token, for the owner `whose`, so that pushes of
 * different owners are separate. The caller frees. */
int fz_cli_spool_folder(const struct fz_cli_spool *s, const char *server, const char *whose,
			const char *token, char **ret, struct fz_error *err);
/* Parse "256M" into a uint64_t. */
int fz_cli_spool_set_limit(const char *text, const struct fz_opt *opt, struct fz_error *err);

#define FZ_CLI_SPOOL_ENTRIES(s, usual)                                                          \
	FZ_OPT_HEADING("When the server is unreachable"),                                       \
		FZ_OPT(STRING, "spool", "DIR", &(s).folder,                                     \
		       "queue pushes in DIR (default " usual ")"),                              \
		FZ_OPT(CALL, "spool-limit", "BYTES", &(s).limit,                                \
		       "drop the oldest queued pushes above this size: 64M, 2G (default 256M)", \
		       .call = fz_cli_spool_set_limit)

/* A call of a struct fz_notify whose arg is the command's name. */
void fz_cli_fleet_notify(void *command, enum fz_notice kind, const char *text);

/* True if one of these options was given. */
static inline bool fz_cli_fleet_asked(const struct fz_cli_fleet *f)
{
	return f->server || f->store || f->token_file || f->label_n || f->since_s || f->until_s;
}

/* Load two releases "SERVICE@VERSION" from the server or the store. */
int fz_cli_fleet_load(const struct fz_cli_fleet *f, const char *const names[2], const char *metric,
		      struct fz_profile *ret[2], struct fz_error *err);
/* Convert a store of an earlier layout, with messages. */
int fz_cli_fleet_convert(const char *store, struct fz_error *err);
/* The token, or NULL; the caller frees. */
int fz_cli_fleet_token(const struct fz_cli_fleet *f, char **ret, struct fz_error *err);
/* The error that this program was built without server support. */
int fz_cli_fleet_missing(struct fz_error *err);
/* Can push, pull and agent run, or serve? They need libraries that are loaded on demand. */
int fz_cli_fleet_check_client(struct fz_error *err);
int fz_cli_fleet_check_server(struct fz_error *err);
/* Run a command's work on its arguments; returns the exit status. work is NULL if this program was
 * built without server support. */
typedef int fz_cli_fleet_work(char **names, int n, struct fz_error *err);
int fz_cli_fleet_do(const char *command, fz_cli_fleet_work *work, const struct fz_opt_state *state);
#ifdef FZ_FLEET
enum { FZ_CLI_HAS_SERVERS = 1 };
#define FZ_CLI_FLEET_WORK(work) work
#else
enum { FZ_CLI_HAS_SERVERS = 0 };
#define FZ_CLI_FLEET_WORK(work) NULL
#endif
