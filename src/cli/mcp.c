/* SPDX-License-Identifier: MIT */
/* fizeau mcp: serve the Model Context Protocol on standard input and output; see mcp/mcp.h. */
#include "mcp/mcp.h"

#include "cli/cli.h"

#include <unistd.h>

enum { COMMANDS_MAX = 64, TIMEOUT_DEFAULT = 600, TIMEOUT_MAX = 86400 };

static const char *commands[COMMANDS_MAX + 1];
static size_t command_n;
static struct fz_mcp_options options = { .root = ".",
					 .commands = commands,
					 .timeout = TIMEOUT_DEFAULT };

static int allow(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_str rest = fz_str_of(text), first = fz_str_take_word(&rest);

	(void)opt;
	if (!first.n || fz_str_eq(first, FZ_STR("*")))
		return fz_fail(err, FZ_EUSAGE,
			       "invalid --allow '%s': use a command, such as 'python3 bench.py'",
			       text);
	if (command_n == COMMANDS_MAX)
		return fz_fail(err, FZ_EUSAGE, "--allow: can be given at most %d times",
			       COMMANDS_MAX);
	commands[command_n++] = text;
	return 0;
}

static const struct fz_opt option_table[] = {
	FZ_OPT(STRING, "root", "DIR", &options.root,
	       "project folder; files outside are never read (default: the current folder)"),
	FZ_OPT(CALL, "allow", "COMMAND", NULL,
	       "allow clients to run exactly this command; a trailing * allows any further "
	       "arguments; repeatable (default: none)",
	       .call = allow),
	FZ_OPT(STRING, "setup", "COMMAND", &options.setup,
	       "shell command to build or install each tree first"),
	FZ_OPT(INT, "timeout", "SECONDS", &options.timeout, "time limit of a call (default 600)",
	       .min = 1, .max = TIMEOUT_MAX),
	{ .kind = FZ_OPT_END },
};

static int run(struct fz_opt_state *state)
{
	struct fz_error err;
	int stopped_by = 0;

	if (state->argument_count)
		return fz_cli_errorf("mcp: takes no arguments");
	if (options.setup && !command_n)
		return fz_cli_errorf("mcp: --setup requires --allow");
	if (isatty(STDIN_FILENO))
		fz_cli_note(
			"mcp: standard input is a terminal; run this command from an MCP client");
	if (fz_mcp_serve(&options, STDIN_FILENO, STDOUT_FILENO, &stopped_by, &err))
		return fz_cli_fail("mcp", &err);
	return stopped_by ? 128 + stopped_by : FZ_EXIT_OK;
}

const struct fz_command fz_command_mcp = {
	.name = "mcp",
	.summary = "serve the Model Context Protocol on standard input and output",
	.usage = "[options]",
	.examples =
		"  $ fizeau mcp                               # answer questions about recordings\n"
		"  $ fizeau mcp --allow 'python3 bench.py *'  # also allow measuring this "
		"command\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_NOTHING,
	.run = run,
};
