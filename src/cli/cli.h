/* SPDX-License-Identifier: MIT */
/* Commands: one file each, one table in main.c. Nothing outside src/cli knows argv. */
#pragma once

#include "base/error.h"
#include "base/opt.h"
#include "base/text.h"
#include "record/notify.h"

enum fz_exit {
	FZ_EXIT_OK = 0,
	FZ_EXIT_REGRESSION = 1, /* a gate (--fail-on) found a regression */
	FZ_EXIT_TROUBLE = 2,    /* usage, input or runtime trouble */
	FZ_EXIT_NO_SAMPLE = 3,  /* the options select no sample */
	FZ_EXIT_FAILED = 125,   /* run: the program did not start, or was not recorded */
};

/* Kind of a command's plain arguments, for shell completion. */
enum fz_argument {
	FZ_ARGUMENT_NOTHING,
	FZ_ARGUMENT_RECORDING,
	FZ_ARGUMENT_PROCESS,
	FZ_ARGUMENT_PROGRAM,
	FZ_ARGUMENT_SHELL,
};
extern const char *const fz_argument_names[]; /* by enum fz_argument */

struct fz_command {
	const char *name;
	const char *summary;  /* one line for `fizeau help` */
	const char *usage;    /* "[options] BASE HEAD" */
	const char *examples; /* lines "$ command   # comment"; shown first in --help */
	const struct fz_opt *options;
	enum fz_argument argument;
	bool stop_at_first; /* the first argument ends the options: they are those of a program */
	/* Commands that the first argument may name, such as "ci merge"; NULL: none. To run a
	 * program of that name, use "--". */
	const struct fz_command *const *parts;
	void (*begin)(void); /* before the options are parsed; NULL: nothing to do */
	int (*run)(struct fz_opt_state *state); /* returns the exit status */
};

extern const struct fz_command fz_command_run, fz_command_attach, fz_command_top, fz_command_dump,
	fz_command_heap, fz_command_replay, fz_command_diff, fz_command_compare, fz_command_bench,
	fz_command_ci, fz_command_history, fz_command_bisect, fz_command_list, fz_command_show,
	fz_command_rm, fz_command_mcp, fz_command_doctor, fz_command_mark, fz_command_push,
	fz_command_pull, fz_command_serve, fz_command_agent;

/* Parse the options of a command and run it, once per process; prints help or the error. Returns
 * the exit status. */
int fz_cli_run(const struct fz_command *command, int argc, char **argv);
/* Print "fizeau: MESSAGE" to stderr; returns FZ_EXIT_TROUBLE. */
int fz_cli_error(const struct fz_error *err);
/* The same after "COMMAND: ". */
int fz_cli_fail(const char *command, struct fz_error *err);
FZ_PRINTF(1, 2)
int fz_cli_errorf(const char *fmt, ...);
/* Print "fizeau: warning: MESSAGE" to stderr. */
FZ_PRINTF(1, 2)
void fz_cli_warn(const char *fmt, ...);
/* Print "fizeau: MESSAGE" to stderr, escaped: it may contain paths. */
FZ_PRINTF(1, 2)
void fz_cli_note(const char *fmt, ...);
/* Prints notes, warnings and, on a terminal, progress. */
extern const struct fz_notify fz_cli_notify;
/* Print text to standard output and flush. A failure is reported by fz_cli_end. */
void fz_cli_print(struct fz_str text);
/* Flush standard output and return the exit status of the process: FZ_EXIT_TROUBLE, with a message,
 * if output was lost and `status` is not already an error. A closed pipe is not an error. */
int fz_cli_end(int status);

/* ---- parts of commands in files of their own ---- */

/* The table of formats: 'fizeau replay --list-formats' and 'fizeau help formats'. Returns an exit
 * status. */
int fz_cli_formats_print(void);

/* Prints the completion script of a NULL-terminated table of commands for a shell: "bash", "zsh" or
 * "fish". Returns an exit status. */
int fz_cli_completion_print(const struct fz_command *const *commands, const char *shell);

/* `fizeau record`, as in py-spy and perf: `run` a program, or `attach` to a process id. argv[0] is
 * "record". Runs one of them; returns the exit status. */
int fz_cli_record_alias(int argc, char **argv);

/* Open a page in the user's browser. Uses $BROWSER with the usual syntax (commands separated by
 * ":", "%s" for the address, a final "&" to run in the background), else xdg-open. */
int fz_cli_browser_open(const char *path, struct fz_error *err);
