/* SPDX-License-Identifier: MIT */
/* `fizeau record` as in py-spy: what `run` and `attach` are called with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/buf.h"
#include "cli/cli.h"

static struct fz_buf called; /* "run|--option|word" */

/* In place of the function that parses options. */
int fz_cli_run(const struct fz_command *command, int argc, char **argv)
{
	(void)command;
	fz_buf_reset(&called);
	for (int i = 0; i < argc; i++)
		fz_buf_printf(&called, "%s%s", i ? "|" : "", argv[i]);
	assert_null(argv[argc]);
	return 77;
}

/* In place of the commands; some options as they have them. */
static const char *text;
static bool flag;
static const struct fz_opt options[] = {
	{ .kind = FZ_OPT_STRING,
	  .short_name = 'o',
	  .long_name = "output",
	  .argument = "FILE",
	  .value = &text },
	{ .kind = FZ_OPT_STRING,
	  .short_name = 'x',
	  .long_name = "extra",
	  .argument = "X",
	  .value = &text },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "maybe",
	  .argument = "X",
	  .value = &text,
	  .optional = true },
	{ .kind = FZ_OPT_FLAG, .short_name = 'z', .long_name = "zip", .value = &flag },
	{ .kind = FZ_OPT_END },
};
const struct fz_command fz_command_run = { .name = "run", .options = options };
const struct fz_command fz_command_attach = { .name = "attach", .options = options };

/* Words are separated by single spaces. */
static void check(const char *words, const char *expected)
{
	char buffer[200], *argv[32], *rest = NULL;
	int argc = 0;

	snprintf(buffer, sizeof(buffer), "record %s", words);
	for (char *w = strtok_r(buffer, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	argv[argc] = NULL;
	assert_int_equal(fz_cli_record_alias(argc, argv), 77);
	if (strcmp(called.p, expected) != 0)
		fail_msg("%s: %s", words, called.p);
}

static void test_programs(void **state)
{
	(void)state;
	check("", "run");
	check("app.py", "run|app.py");
	check("-o out.svg -- python3 app.py -o x", "run|--output=out.svg|--|python3|app.py|-o|x");
	check("-f raw app.py", "run|--format=collapsed|app.py");
	check("--format=flamegraph app.py", "run|--format=svg|app.py");
	check("-f speedscope app.py", "run|--format=speedscope|app.py");
	check("-d unlimited app.py", "run|app.py");
	check("-d 5 -r 99 app.py", "run|--duration=5|--sampling-rate=99|app.py");
	/* What follows the program is the program's. */
	check("app.py -n --pid 1", "run|app.py|-n|--pid|1");
	check("-- -n x", "run|--|-n|x");
	check("- x", "run|-|x");
}

static void test_processes(void **state)
{
	(void)state;
	check("-p 4711", "attach|4711");
	check("--pid=4711", "attach|4711");
	check("-p4711", "attach|4711");
	check("-p 1 --pid 2", "attach|2");
	/* With an output all threads, as py-spy does. */
	check("-o a.svg -p 1", "attach|--output=a.svg|--all-threads|1");
	check("-f raw -p 1", "attach|--format=collapsed|--all-threads|1");
	check("--system", "attach|--system");
}

static void test_flags(void **state)
{
	(void)state;
	check("-sn -p 1", "attach|--subprocesses|--native=stacks|1");
	check("-snp 1", "attach|--subprocesses|--native=stacks|1");
	check("-stgo out.svg app.py",
	      "run|--subprocesses|--all-threads|--mode=gil|--output=out.svg|app.py");
	/* These have no effect here. */
	check("-iF --nolineno --nonblocking --full-filenames app.py", "run|app.py");
	/* Ours, whose --native takes a value. */
	check("--native=functions app.py", "run|--native=functions|app.py");
	check("--native app.py", "run|--native=stacks|app.py");
}

/* Options that are not py-spy's are kept, with their values. */
static void test_own_options(void **state)
{
	(void)state;
	check("--extra 5 app.py", "run|--extra|5|app.py");
	check("--extra=5 app.py", "run|--extra=5|app.py");
	check("-x 5 app.py", "run|-x5|app.py");
	check("-zx5 app.py", "run|-z|-x5|app.py");
	check("--maybe app.py", "run|--maybe|app.py");
	check("--zip app.py", "run|--zip|app.py");
	check("--unknown app.py", "run|--unknown|app.py");
}

/* A value that is not there: the command itself reports that. */
static void test_missing_values(void **state)
{
	(void)state;
	check("-o", "run|-o");
	check("--output", "run|--output");
	check("--pid", "run|--pid");
	check("-p", "run|-p");
	check("--extra", "run|--extra");
	check("--output= app.py", "run|app.py");
}

static int release(void **state)
{
	(void)state;
	fz_buf_release(&called);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),       cmocka_unit_test(test_processes),
		cmocka_unit_test(test_flags),          cmocka_unit_test(test_own_options),
		cmocka_unit_test(test_missing_values),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
