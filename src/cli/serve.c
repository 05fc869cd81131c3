/* SPDX-License-Identifier: MIT */
/* fizeau serve: store profiles of many hosts; see serve/serve.h. */
#include "serve/serve.h"

#include "cli/cli.h"
#include "cli/fleet.h"

#include <stdio.h>

enum { DAYS_MAX = 36500, BODY_DEFAULT = 64, BODY_MAX = 512 };
enum { RETAIN_MINUTES_LEAST = 8 };
enum { MEMORY_DEFAULT = 1024, MEMORY_MIN = 64, MEMORY_MAX = 1 << 20 };
enum { CONNECTIONS_DEFAULT = 500, CONNECTIONS_MAX = 10000 };
enum { RECORDINGS_DEFAULT = 10 << 10, RECORDINGS_MAX = 1 << 30 };

static struct fz_serve_options options = { .listen = "127.0.0.1:4999",
					   .body_max_mib = BODY_DEFAULT,
					   .memory_mib = MEMORY_DEFAULT,
					   .connections_per_address = CONNECTIONS_DEFAULT };
static int stopped_by; /* a signal */

static const struct fz_opt option_table[] = {
	FZ_OPT(STRING, "store", "PATH", &options.store,
	       "store profiles in this file, created if missing, or in ClickHouse: "
	       "http://HOST:8123/DATABASE[,http://...], one URL per shard",
	       .common = true),
	FZ_OPT(STRING, "benchmarks", "FILE", &options.benchmarks,
	       "store results of 'fizeau ci --server' in FILE (default: in the store; required "
	       "with ClickHouse)"),
	FZ_OPT(STRING, "listen", "ADDRESS:PORT", &options.listen,
	       "address to listen on (default 127.0.0.1:4999); port 0 picks a free port",
	       .common = true),
	FZ_OPT(STRING, "tokens", "FILE", &options.tokens,
	       "read access tokens from FILE: lines of 'PROJECT read|write|read,write|badge TOKEN' "
	       "(default: full access from this machine, none from others)",
	       .common = true),
	FZ_OPT(STRING, "tls-cert", "FILE", &options.tls_certificate,
	       "serve HTTPS with this certificate and its chain (PEM); requires --tls-key"),
	FZ_OPT(STRING, "tls-key", "FILE", &options.tls_key, "private key of the certificate (PEM)"),
	FZ_OPT(INT, "retain", "DAYS", &options.retain_days,
	       "delete data older than DAYS (default: keep everything)", .min = 1, .max = DAYS_MAX,
	       .common = true),
	FZ_OPT(INT, "retain-minutes", "DAYS", &options.retain_minutes_days,
	       "replace minutes older than DAYS by sums of hours, which take a tenth of the space "
	       "(8 or more, because alarms look back a week; default: never)",
	       .min = RETAIN_MINUTES_LEAST, .max = DAYS_MAX),
	FZ_OPT(STRING, "alarm-file", "FILE", &options.alarm_file,
	       "when a release makes a function more expensive, append a JSON line to FILE"),
	FZ_OPT(STRING, "alarm-run", "COMMAND", &options.alarm_run,
	       "when a release makes a function more expensive, pipe a JSON line to a shell "
	       "command"),
	FZ_OPT(STRING, "alarm-url", "URL", &options.alarm_url,
	       "when a release makes a function more expensive, post a JSON line to URL (http or "
	       "https)",
	       .common = true),
	FZ_OPT(INT, "max-body", "MIB", &options.body_max_mib,
	       "maximum size of a pushed profile (default 64)", .min = 1, .max = BODY_MAX),
	FZ_OPT(INT, "memory", "MIB", &options.memory_mib,
	       "memory for all pushed profiles that are read at the same time; one may take half "
	       "(default 1024)",
	       .min = MEMORY_MIN, .max = MEMORY_MAX),
	FZ_OPT(INT, "connections-per-address", "N", &options.connections_per_address,
	       "answer 503 to an address with more than N open connections (default 500); raise it "
	       "for a proxy",
	       .min = 1, .max = CONNECTIONS_MAX),
	FZ_OPT(STRING, "recordings", "FOLDER", &options.recordings,
	       "store complete pushed recordings and the counts of 'fizeau ci --save URL' as files "
	       "in FOLDER (default: do not store them)",
	       .common = true),
	FZ_OPT(STRING, "bucket", "URL", &options.bucket,
	       "store these files in an S3 bucket, https://HOST/BUCKET, and only their index in "
	       "FOLDER (credentials: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION)"),
	FZ_OPT(INT, "recordings-limit", "MIB", &options.recordings_mib,
	       "maximum size of each project's recordings, and of its counts; the oldest are "
	       "deleted first (default 10240)",
	       .min = 1, .max = RECORDINGS_MAX),
	{ .kind = FZ_OPT_END },
};

#ifdef FZ_FLEET

static void ready(const char *url)
{
	printf("%s\n", url);
	fflush(stdout);
	if (!options.tokens)
		fz_cli_note("serve: every user of this machine can push and read; use --tokens to "
			    "control access");
}

static void say(const char *text)
{
	fz_cli_warn("serve: %s", text);
}

static int serve(char **names, int n, struct fz_error *err)
{
	(void)names;
	(void)n;
	int r = fz_cli_fleet_convert(options.store, err);
	return r ? r : fz_serve(&options, ready, say, &stopped_by, err);
}

#endif

static int run(struct fz_opt_state *state)
{
	int status;

	if (state->argument_count)
		return fz_cli_errorf("serve: takes no arguments");
	if (options.recordings_mib && !options.recordings)
		return fz_cli_errorf("serve: --recordings-limit requires --recordings FOLDER");
	if (options.bucket && !options.recordings)
		return fz_cli_errorf("serve: --bucket requires --recordings FOLDER for the index");
	if (options.retain_days && options.retain_minutes_days >= options.retain_days)
		return fz_cli_errorf("serve: --retain-minutes must be less than --retain");
	if (!options.recordings_mib)
		options.recordings_mib = RECORDINGS_DEFAULT;
	if (!options.store)
		return fz_cli_errorf("serve: --store PATH is required");
	stopped_by = 0;
	status = fz_cli_fleet_do("serve", FZ_CLI_FLEET_WORK(serve), state);
	return status == FZ_EXIT_OK && stopped_by ? 128 + stopped_by : status;
}

const struct fz_command fz_command_serve = {
	.name = "serve",
	.summary = "store profiles of many hosts and compare releases",
	.usage = "--store PATH [options]",
	.examples = "  $ fizeau serve --store fleet.db                 # for this machine\n"
		    "  $ fizeau serve --store fleet.db --listen 0.0.0.0:4999 --tokens tokens\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_NOTHING,
	.run = run,
};
