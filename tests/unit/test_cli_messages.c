/* SPDX-License-Identifier: MIT */
/* Messages of commands, output that is lost, options that are wrong, --help, and browsers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "cli/cli.h"
#include "refused.h"

/* ---- messages ---- */

static void test_messages(void **state)
{
	const struct fz_error err = { .message = "x: is wrong" };

	(void)state;
	struct heard h = hear();
	assert_int_equal(fz_cli_error(&err), FZ_EXIT_TROUBLE);
	assert_int_equal(fz_cli_errorf("%s is %d", "x\033[2J", 7), FZ_EXIT_TROUBLE);
	fz_cli_warn("%s\n\x9b", "a\033b");
	fz_cli_note("%s", "\xe2\x80\xae");
	assert_string_equal(heard(&h), "fizeau: x: is wrong\n"
				       "fizeau: x\\x1b[2J is 7\n"
				       "fizeau: warning: a\\x1bb\\n\\x9b\n"
				       "fizeau: \\xe2\\x80\\xae\n");
}

/* Longer than any buffer: cut, not lost. */
static void test_long_messages(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	(void)state;
	for (int i = 0; i < 2 * PATH_MAX; i++)
		fz_buf_char(&text, 'x');
	struct heard h = hear();
	fz_cli_warn("%s", text.p);
	const char *said = heard(&h);
	assert_int_equal(strlen(said), strlen("fizeau: warning: ") + PATH_MAX + 255 + 1);
	assert_int_equal(said[strlen(said) - 1], '\n');
}

/* Progress is only for a terminal. */
static void test_notices(void **state)
{
	(void)state;
	struct heard h = hear();
	fz_notify_progress(&fz_cli_notify, "50 %%");
	fz_notify_note(&fz_cli_notify, "a note");
	fz_notify_warn(&fz_cli_notify, "a warning");
	fz_notify_progress_end(&fz_cli_notify);
	assert_string_equal(heard(&h), "fizeau: a note\nfizeau: warning: a warning\n");
}

/* ---- standard output ---- */

/* What a process prints and returns whose standard output is at `fd`. */
static int end_with(int fd, bool by_print, int status, struct heard *h)
{
	int result = 0;

	*h = hear();
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		signal(SIGPIPE, SIG_IGN);
		dup2(fd, STDOUT_FILENO);
		if (by_print)
			fz_cli_print(FZ_STR("text\n"));
		else
			fputs("text\n", stdout);
		_exit(fz_cli_end(status));
	}
	waitpid(pid, &result, 0);
	close(fd);
	assert_true(WIFEXITED(result));
	return WEXITSTATUS(result);
}

static int full(void)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int broken_pipe(void)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	return ends[1];
}

static void test_lost_output(void **state)
{
	static const char lost[] =
		"fizeau: standard output: cannot be written: No space left on device\n";
	struct heard h;

	(void)state;
	for (int by_print = 0; by_print < 2; by_print++) {
		assert_int_equal(end_with(full(), by_print, FZ_EXIT_OK, &h), FZ_EXIT_TROUBLE);
		assert_string_equal(heard(&h), lost);
		/* Not after another error, and not if the reader has gone. */
		assert_int_equal(end_with(full(), by_print, FZ_EXIT_REGRESSION, &h),
				 FZ_EXIT_REGRESSION);
		assert_string_equal(heard(&h), "");
		assert_int_equal(end_with(broken_pipe(), by_print, FZ_EXIT_OK, &h), FZ_EXIT_OK);
		assert_string_equal(heard(&h), "");
	}
}

/* ---- options ---- */

static bool flag;
static const struct fz_opt options[] = {
	{ .kind = FZ_OPT_FLAG, .long_name = "flag", .value = &flag, .common = true, .help = "one" },
	{ .kind = FZ_OPT_FLAG, .long_name = "rare", .value = &flag, .help = "two" },
	{ .kind = FZ_OPT_END },
};

static int odd_run(struct fz_opt_state *state)
{
	return state->argument_count ? 1 : 77;
}

static const struct fz_command odd = { .name = "odd",
				       .summary = "do odd things",
				       .usage = "[options] X",
				       .examples = "  $ fizeau odd 1\n",
				       .options = options,
				       .run = odd_run };

static int parse(const char *word)
{
	char name[] = "odd", option[40];
	char *argv[] = { name, option, NULL };

	snprintf(option, sizeof(option), "%s", word);
	return fz_cli_run(&odd, 2, argv);
}

static void test_parse(void **state)
{
	(void)state;
	assert_int_equal(parse("--flag"), 77);
	assert_true(flag);
	struct heard h = hear();
	assert_int_equal(parse("--flog"), FZ_EXIT_TROUBLE);
	assert_string_equal(heard(&h),
			    "fizeau: odd: unknown option '--flog'; did you mean '--flag'?\n");
}

/* Redirects standard output to the file that `hear` reads. */
static const char *help(const char *word, struct heard *h)
{
	int saved = dup(STDOUT_FILENO);

	fflush(stdout);
	*h = hear();
	dup2(h->fd, STDOUT_FILENO);
	int status = parse(word);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(status, FZ_EXIT_OK);
	return heard(h);
}

static void test_help(void **state)
{
	struct heard h;
	const char *said = help("--help", &h);

	(void)state;
	assert_true(strncmp(said,
			    "fizeau odd: do odd things\n\nUsage: fizeau odd [options] X\n\n"
			    "Examples:\n  $ fizeau odd 1\n",
			    82) == 0);
	assert_non_null(strstr(said, "--flag"));
	assert_null(strstr(said, "--rare"));
	assert_non_null(strstr(said, "\nUse 'fizeau odd --help all' for every option.\n"));
	said = help("--help=all", &h);
	assert_non_null(strstr(said, "--rare"));
	assert_null(strstr(said, "--help all"));
}

/* ---- browsers ---- */

static char folder[] = "/tmp/fizeau_browser_XXXXXX";

static int make_tmp(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	FILE *f = fopen("tool", "w");
	if (!f || fputs("#!/bin/sh\nprintf '%s|' \"$@\" > called\n", f) < 0 || fclose(f) ||
	    chmod("tool", 0755))
		return -1;
	f = fopen("a page.html", "w");
	return f ? fclose(f) : -1;
}

static int remove_tmp(void **state)
{
	(void)state;
	unlink("tool");
	unlink("a page.html");
	unlink("called");
	return chdir("/") || rmdir(folder);
}

static char *what_was_called(void)
{
	size_t n;
	char *text = fz_read_small("called", 4096, &n);

	unlink("called");
	return text ? text : fz_strdup("(nothing)");
}

static void check_browser(const char *browser, const char *before, const char *after)
{
	fz_auto(fz_free_ptr) char *expected =
		fz_asprintf("%sfile://%s/a%%20page.html%s", before, folder, after);
	struct fz_error err;

	setenv("BROWSER", browser, 1);
	if (fz_cli_browser_open("a page.html", &err))
		fail_msg("%s: %s", browser, err.message);
	fz_auto(fz_free_ptr) char *called = what_was_called();
	assert_string_equal(called, expected);
}

static void test_browsers(void **state)
{
	(void)state;
	check_browser("./tool", "", "|");
	check_browser("./tool --new %s -x", "--new|", "|-x|");
	check_browser("./tool  a=%s", "a=", "|");
	/* The first of several that starts and does not fail. */
	check_browser("./missing:false:./tool 2", "2|", "|");
	check_browser("::./tool", "", "|");
	/* No shell: these are words. */
	check_browser("./tool $HOME `id` ;id", "$HOME|`id`|;id|", "|");
}

static void test_no_browser(void **state)
{
	struct fz_error err;

	(void)state;
	setenv("BROWSER", "./missing:false", 1);
	assert_int_equal(fz_cli_browser_open("a page.html", &err), FZ_ESYSTEM);
	assert_string_equal(err.message,
			    "a page.html: cannot start a browser (./missing:false); open the file "
			    "yourself or set BROWSER");
	assert_int_equal(fz_cli_browser_open("no page.html", &err), FZ_ESYSTEM);
	assert_string_equal(err.message,
			    "no page.html: cannot be opened: No such file or directory");
}

/* More words than there is room for: the rest is left out, the address is not. */
static void test_long_browser(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf browser = { 0 };
	fz_auto(fz_buf_release) struct fz_buf before = { 0 };

	(void)state;
	fz_buf_str(&browser, "./tool");
	for (int i = 0; i < 100; i++)
		fz_buf_printf(&browser, " %d", i);
	for (int i = 0; i < 30; i++)
		fz_buf_printf(&before, "%d|", i);
	check_browser(browser.p, before.p, "|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),     cmocka_unit_test(test_long_messages),
		cmocka_unit_test(test_notices),      cmocka_unit_test(test_lost_output),
		cmocka_unit_test(test_parse),        cmocka_unit_test(test_help),
		cmocka_unit_test(test_browsers),     cmocka_unit_test(test_no_browser),
		cmocka_unit_test(test_long_browser),
	};

	return cmocka_run_group_tests(tests, make_tmp, remove_tmp);
}
