/* SPDX-License-Identifier: MIT */
/* What all commands use: messages, standard output, parsing of options, --help.
 *
 * Standard output is flushed before each message to standard error, so that both are in order on a
 * terminal. The first error of a write to it is kept until the command ends.
 */
#include "cli/cli.h"

#include "base/io.h"
#include "cli/busy.h"
#include "report/table.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

const char *const fz_argument_names[] = { "nothing", "recording", "process", "program", "shell" };

/* Why standard output could not be written; reported at the end. */
static int stdout_errno;

static bool progress_shown;

/* Progress is one line that is rewritten; any message replaces it. */
static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Call before each message. */
static void flush_stdout(void)
{
	fz_cli_busy_end();
	clear_progress();
	if (fflush(stdout) == EOF)
		stdout_errno = errno;
}

void fz_cli_print(struct fz_str text)
{
	flush_stdout();
	if (!fz_write_full(STDOUT_FILENO, text.p, text.n))
		stdout_errno = errno;
}

int fz_cli_error(const struct fz_error *err)
{
	flush_stdout();
	fprintf(stderr, "fizeau: %s\n", err->message);
	return err->code == FZ_ENOSAMPLE ? FZ_EXIT_NO_SAMPLE : FZ_EXIT_TROUBLE;
}

int fz_cli_fail(const char *command, struct fz_error *err)
{
	fz_error_prefix(err, "%s", command);
	return fz_cli_error(err);
}

int fz_cli_errorf(const char *fmt, ...)
{
	struct fz_error err;
	char text[sizeof(err.message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fz_fail(&err, FZ_EUSAGE, "%s", text);
	return fz_cli_error(&err);
}

/* Prints an escaped message; one that is too long is cut. */
static void print_message(const char *prefix, const char *fmt, va_list ap)
{
	char text[PATH_MAX + 256], safe[4 * sizeof(text)];

	vsnprintf(text, sizeof(text), fmt, ap);
	fz_str_printable(text, strlen(text), safe, sizeof(safe));
	flush_stdout();
	fprintf(stderr, "fizeau: %s%s\n", prefix, safe);
}

void fz_cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message("warning: ", fmt, ap);
	va_end(ap);
}

void fz_cli_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message("", fmt, ap);
	va_end(ap);
}

static void on_notice(void *arg, enum fz_notice kind, const char *text)
{
	(void)arg;
	clear_progress();
	if (kind == FZ_NOTICE_WARNING)
		fz_cli_warn("%s", text);
	else if (kind == FZ_NOTICE_NOTE)
		fz_cli_note("%s", text);
	else if (*text && isatty(STDERR_FILENO))
		progress_shown = fprintf(stderr, "fizeau: %s\r", text) > 0;
}

const struct fz_notify fz_cli_notify = { .call = on_notice };

static void print_command_help(const struct fz_command *command, const struct fz_opt_state *state)
{
	struct fz_style style = fz_style_of(STDOUT_FILENO, FZ_COLOR_AUTO);
	struct fz_buf text = { 0 };

	fz_buf_printf(&text, "fizeau %s: %s\n\nUsage: fizeau %s %s\n", command->name,
		      command->summary, command->name, command->usage);
	if (command->examples)
		fz_buf_printf(&text, "\nExamples:\n%s", command->examples);
	fz_opt_help(state->options, state->help, style.columns, &text);
	if (state->help == FZ_OPT_HELP_COMMON && fz_opt_has_short_help(state->options))
		fz_buf_printf(&text, "\nUse 'fizeau %s --help all' for every option.\n",
			      command->name);
	fz_cli_print(fz_buf_view(&text));
	fz_buf_release(&text);
}

int fz_cli_run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = command->options,
				      .command = command->name,
				      .stop_at_first = command->stop_at_first };
	struct fz_error err;

	for (size_t i = 0; command->parts && command->parts[i] && argc > 1; i++)
		if (strcmp(argv[1], strchr(command->parts[i]->name, ' ') + 1) == 0)
			return fz_cli_run(command->parts[i], argc - 1, argv + 1);
	if (command->begin)
		command->begin();
	if (fz_opt_parse(&state, argc, argv, &err))
		return fz_cli_fail(command->name, &err);
	if (!state.help)
		return command->run(&state);
	print_command_help(command, &state);
	return FZ_EXIT_OK;
}

int fz_cli_end(int status)
{
	flush_stdout();
	if (!stdout_errno || stdout_errno == EPIPE || status != FZ_EXIT_OK)
		return status;
	fprintf(stderr, "fizeau: standard output: cannot be written: %s\n", strerror(stdout_errno));
	return FZ_EXIT_TROUBLE;
}
