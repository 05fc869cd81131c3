/* SPDX-License-Identifier: MIT */
/* fizeau: the table of commands, dispatch, and what is printed without a command. */
#include "cli/cli.h"
#include "cli/fleet.h"

#include "record/engine_choice.h"
#include "report/recording.h"
#include "report/table.h"
#include "store/store.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

static int completion(struct fz_opt_state *state);

/* Beside the table, which it prints as a script. */
static const struct fz_command command_completion = {
	.name = "completion",
	.summary = "print a shell completion script",
	.usage = "bash | zsh | fish",
	.examples = "  $ eval \"$(fizeau completion bash)\"     # in ~/.bashrc\n"
		    "  $ fizeau completion zsh > _fizeau      # in a folder of $fpath\n"
		    "  $ fizeau completion fish > fizeau.fish # in ~/.config/fish/completions\n",
	.options = (const struct fz_opt[]){ { .kind = FZ_OPT_END } },
	.argument = FZ_ARGUMENT_SHELL,
	.run = completion,
};

static const struct fz_command *const commands[] = {
	&fz_command_run,     &fz_command_attach, &fz_command_top,     &fz_command_dump,
	&fz_command_heap,    &fz_command_mark,   &fz_command_replay,  &fz_command_diff,
	&fz_command_compare, &fz_command_bench,  &fz_command_ci,      &fz_command_history,
	&fz_command_bisect,  &fz_command_list,   &fz_command_show,    &fz_command_rm,
	&fz_command_push,    &fz_command_pull,   &fz_command_serve,   &fz_command_agent,
	&fz_command_mcp,     &fz_command_doctor, &command_completion, NULL,
};

static int completion(struct fz_opt_state *state)
{
	if (state->argument_count != 1)
		return fz_cli_errorf("completion: specify a shell: bash, zsh or fish");
	return fz_cli_completion_print(commands, state->arguments[0]);
}

static const struct fz_command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static void print_overview(FILE *to)
{
	fputs("fizeau: profile Python and native programs and compare recordings\n\nUsage: "
	      "fizeau COMMAND [options]\n\nCommands:\n",
	      to);
	for (size_t i = 0; commands[i]; i++)
		fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nStart with 'fizeau run PROGRAM' or 'fizeau attach PID'. Use 'fizeau COMMAND "
	      "--help' for help on\na command and 'fizeau --version' for the version.\n",
	      to);
}

static int unknown_command(const char *name)
{
	/* Names in other programs, which are not similar to ours. */
	static const char *const others[][2] = { { "profile", "run" },
						 { "stat", "run --count" },
						 { "report", "replay" },
						 { "view", "replay" },
						 { "convert", "replay" },
						 { "snapshot", "dump" },
						 { "live", "top" },
						 { "watch", "top" },
						 { "flamegraph", "replay --flamegraph" },
						 { "version", "--version" } };
	const char *names[64];
	size_t n = 0;

	for (size_t i = 0; i < FZ_ARRAY_LEN(others); i++)
		if (strcmp(name, others[i][0]) == 0)
			return fz_cli_errorf("unknown command '%s'; did you mean '%s'?", name,
					     others[i][1]);
	for (; commands[n] && n + 2 < FZ_ARRAY_LEN(names); n++)
		names[n] = commands[n]->name;
	names[n++] = "record";
	names[n] = NULL;
	const char *near = fz_opt_nearest(name, names);
	if (near)
		return fz_cli_errorf("unknown command '%s'; did you mean '%s'?", name, near);
	return fz_cli_errorf("unknown %s '%s'; see 'fizeau help'",
			     *name == '-' ? "option" : "command", name);
}

static int help(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stdout);
		return FZ_EXIT_OK;
	}
	if (strcmp(argv[1], "formats") == 0)
		return fz_cli_formats_print();
	const struct fz_command *command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	char option[] = "--help";
	char *arguments[] = { argv[1], option, argc > 2 ? argv[2] : NULL, NULL };
	return fz_cli_run(command, argc > 2 ? 3 : 2, arguments);
}

static void on_broken_pipe(int number)
{
	(void)number;
}

/* Let writes to a closed pipe fail instead. A handler, unlike SIG_IGN, is not inherited by programs
 * that we start. */
static void ignore_broken_pipes(void)
{
	struct sigaction old;

	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = on_broken_pipe }, NULL);
}

#ifdef __clang__
#define IS_GCC "" /* clang's __VERSION__ includes its name */
#else
#define IS_GCC "GCC "
#endif

/* The first line is for programs, the others are for people: features of this build, and what this
 * kernel permits ('fizeau doctor' prints more). */
static int print_version(void)
{
	struct utsname system;
	struct fz_error why;

	puts("fizeau " FZ_VERSION);
	if (uname(&system))
		return FZ_EXIT_OK;
	printf("built by %s%s for %s, %s server support\n", IS_GCC, __VERSION__, system.machine,
	       FZ_CLI_HAS_SERVERS ? "with" : "without");
	printf("Linux %s: available stack readers: read", system.release);
	if (fz_engine_check_bpf(FZ_ENGINE_FOR_THREADS, &why))
		printf("; bpf is not available: %s\n", why.message);
	else
		printf(", bpf\n");
	return FZ_EXIT_OK;
}

/* ---- without a command ---- */

/* If there are recordings, suggest what to do with them:
 *
 *   2 recordings here; the latest is of app.py. Next:
 *     fizeau show                       what the latest holds
 *     fizeau replay @1 --browser        where its time went, as a page
 *     fizeau diff                       what changed since the run before
 */
enum { COMMAND_COLUMNS = 40 };

static void add_step(const char *command, const char *does, struct fz_buf *out)
{
	fz_buf_printf(out, "  %-28s %s\n", command, does);
}

/* Append "app.py --slow", or the name that the recorder gave the file. */
static void add_program(const char *path, struct fz_buf *out)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_store_name name;
	struct fz_error err;

	if (!fz_store_facts(path, &p, &err) && fz_profile_fact(p, "command").n)
		fz_recording_command(p, out);
	else if (fz_store_parse_name(path, &name))
		fz_buf_add(out, name.program.p, name.program.n);
	else
		fz_buf_str(out, path);
}

static bool has_pair(void)
{
	fz_auto(fz_free_ptr) char *base = NULL;
	fz_auto(fz_free_ptr) char *head = NULL;
	struct fz_error err;
	bool namesakes;

	return fz_store_last_two(&base, &head, &namesakes, &err) == 0;
}

/* Append the suggestions. False if there are no recordings. */
static bool add_next_steps(struct fz_buf *out)
{
	fz_auto(fz_store_list_release) struct fz_store_list list = { 0 };
	fz_auto(fz_buf_release) struct fz_buf program = { 0 };
	struct fz_style style = fz_style_of(STDERR_FILENO, FZ_COLOR_AUTO);
	struct fz_error err;

	if (fz_store_list_here(&list, NULL, &err) || !list.n)
		return false;
	add_program(list.paths[0], &program);
	fz_buf_printf(out, "%zu recording%s here; the latest is of ", list.n,
		      list.n == 1 ? "" : "s");
	fz_table_text(fz_buf_view(&program), COMMAND_COLUMNS, &style, out);
	fz_buf_str(out, ". Next:\n");
	add_step("fizeau show", "contents of the latest recording", out);
	add_step("fizeau replay @1 --browser", "where its time went, as a page", out);
	if (has_pair()) {
		add_step("fizeau diff", "what changed since the run before", out);
		add_step("fizeau diff --browser", "the same as a page", out);
	} else {
		add_step("fizeau run PROGRAM", "record it again, then compare with 'fizeau diff'",
			 out);
	}
	add_step("fizeau list", "all recordings", out);
	add_step("fizeau help", "all commands", out);
	return true;
}

/* Print to stderr, with an error status for scripts. */
static int no_command(void)
{
	fz_auto(fz_buf_release) struct fz_buf next = { 0 };

	if (add_next_steps(&next))
		fwrite(next.p, 1, next.n, stderr);
	else
		print_overview(stderr);
	return FZ_EXIT_TROUBLE;
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2)
		return no_command();
	if (strcmp(argv[1], "--version") == 0)
		return print_version();
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return help(argc - 1, argv + 1);
	if (strcmp(argv[1], "record") == 0)
		return fz_cli_record_alias(argc - 1, argv + 1);
	const struct fz_command *command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return fz_cli_run(command, argc - 1, argv + 1);
}

/* No file that we open gets the number of a closed standard stream. Reading from one finds nothing,
 * and writing to it still fails. */
static void fill_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	fill_standard_streams();
	setlocale(LC_CTYPE, "");
	ignore_broken_pipes();
	return fz_cli_end(dispatch(argc, argv));
}
