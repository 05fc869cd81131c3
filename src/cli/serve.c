/* SPDX-License-Identifier: MIT */
/* fizeau serve: a server that keeps profiles of many hosts; see serve/serve.h. */
#include "serve/serve.h"

#include "cli/cli.h"
#include "cli/fleet.h"

#include <stdio.h>

enum { DAYS_MAX = 36500, BODY_DEFAULT = 64, BODY_MAX = 512 };
enum { RECORDINGS_DEFAULT = 10 << 10, RECORDINGS_MAX = 1 << 30 };

static struct fz_serve_options options;
static int stopped_by; /* the signal */

static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_STRING,
	  .long_name = "store",
	  .argument = "PATH",
	  .value = &options.store,
	  .help = "the file in which profiles are kept, made where it is missing; or databases "
		  "of ClickHouse's, http://HOST:8123/DATABASE[,http://...], each a shard" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "benchmarks",
	  .argument = "FILE",
	  .value = &options.benchmarks,
	  .help = "where results of 'fizeau ci --server' are kept (default: in the store; with "
		  "ClickHouse they need a file)" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "listen",
	  .argument = "ADDRESS:PORT",
	  .value = &options.listen,
	  .help = "where to listen (default 127.0.0.1:4999); port 0 is any that is free" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "tokens",
	  .argument = "FILE",
	  .value = &options.tokens,
	  .help = "who may do what: lines 'PROJECT read|write|read,write|badge TOKEN' (default: "
		  "this "
		  "machine may do everything, others nothing)" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "tls-cert",
	  .argument = "FILE",
	  .value = &options.tls_certificate,
	  .help = "https: the certificate, and those that vouch for it (PEM); with --tls-key" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "tls-key",
	  .argument = "FILE",
	  .value = &options.tls_key,
	  .help = "the certificate's key (PEM)" },
	{ .kind = FZ_OPT_INT,
	  .long_name = "retain",
	  .argument = "DAYS",
	  .value = &options.retain_days,
	  .min = 1,
	  .max = DAYS_MAX,
	  .help = "forget what is older (default: nothing is forgotten)" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "alarm-file",
	  .argument = "FILE",
	  .value = &options.alarm_file,
	  .help = "append a line of JSON when a release made a function more expensive" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "alarm-run",
	  .argument = "COMMAND",
	  .value = &options.alarm_run,
	  .help = "give that line to a command of the shell" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "alarm-url",
	  .argument = "URL",
	  .value = &options.alarm_url,
	  .help = "post that line to a URL (http or https)" },
	{ .kind = FZ_OPT_INT,
	  .long_name = "max-body",
	  .argument = "MIB",
	  .value = &options.body_max_mib,
	  .min = 1,
	  .max = BODY_MAX,
	  .help = "the largest profile that is taken (default 64)" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "recordings",
	  .argument = "FOLDER",
	  .value = &options.recordings,
	  .help = "keep recordings that are pushed as they are, and what 'fizeau ci --save URL' "
		  "counted, in files there (default: none are kept)" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "bucket",
	  .argument = "URL",
	  .value = &options.bucket,
	  .help = "keep these files in a bucket of S3's instead, https://HOST/BUCKET; the folder "
		  "has their index (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION say "
		  "who asks)" },
	{ .kind = FZ_OPT_INT,
	  .long_name = "recordings-limit",
	  .argument = "MIB",
	  .value = &options.recordings_mib,
	  .min = 1,
	  .max = RECORDINGS_MAX,
	  .help = "so much of each project's recordings, and of its counts; then the oldest go "
		  "(default 10240)" },
	{ .kind = FZ_OPT_END },
};

#ifdef FZ_FLEET

static void ready(const char *url)
{
	printf("%s\n", url);
	fflush(stdout);
	if (!options.tokens)
		fz_cli_note("serve: whoever is on this machine may push and read; --tokens says "
			    "who else");
}

static void say(const char *text)
{
	fz_cli_warn("serve: %s", text);
}

static int serve(char **names, int n, struct fz_error *err)
{
	(void)names;
	(void)n;
	return fz_serve(&options, ready, say, &stopped_by, err);
}

#endif

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	int status;

	options = (struct fz_serve_options){ .listen = "127.0.0.1:4999",
					     .body_max_mib = BODY_DEFAULT };
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	if (state.argument_count)
		return fz_cli_errorf("serve: takes no arguments");
	if (options.recordings_mib && !options.recordings)
		return fz_cli_errorf("serve: --recordings-limit: goes with --recordings FOLDER");
	if (options.bucket && !options.recordings)
		return fz_cli_errorf(
			"serve: --bucket: goes with --recordings FOLDER, which has the "
			"index");
	if (!options.recordings_mib)
		options.recordings_mib = RECORDINGS_DEFAULT;
	if (!options.store)
		return fz_cli_errorf("serve: needs to know where to keep profiles: --store PATH");
	stopped_by = 0;
	status = fz_cli_fleet_do(command, FZ_CLI_FLEET_WORK(serve), &state);
	return status == FZ_EXIT_OK && stopped_by ? 128 + stopped_by : status;
}

const struct fz_command fz_command_serve = {
	.name = "serve",
	.summary = "keep profiles of many hosts, and compare releases",
	.usage = "--store PATH [options]",
	.examples = "  $ fizeau serve --store fleet.db                 # for this machine\n"
		    "  $ fizeau serve --store fleet.db --listen 0.0.0.0:4999 --tokens tokens\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_NOTHING,
	.run = run,
};
