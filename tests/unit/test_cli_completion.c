/* SPDX-License-Identifier: MIT */
/* Scripts of completion for a table of commands whose texts have everything that a shell could
 * misread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "refused.h"

static const char *const colours[] = { "red", "green", NULL };
static bool flag;
static int number;
static const char *text;

static void list_names(struct fz_buf *out)
{
	fz_buf_str(out, "one two");
}

static const struct fz_opt odd_options[] = {
	{ .kind = FZ_OPT_GROUP, .help = "Group's heading" },
	{ .kind = FZ_OPT_FLAG,
	  .short_name = 'a',
	  .long_name = "all",
	  .value = &flag,
	  .help = "don't stop at [this]: $(rm) `x` \\ end" },
	{ .kind = FZ_OPT_CHOICE,
	  .long_name = "colour",
	  .argument = "NAME",
	  .value = &number,
	  .choices = colours,
	  .help = "of the page" },
	{ .kind = FZ_OPT_CHOICE,
	  .long_name = "maybe",
	  .argument = "NAME",
	  .value = &number,
	  .choices = colours,
	  .optional = true,
	  .help = "with or without a value" },
	{ .kind = FZ_OPT_CALL,
	  .short_name = 'n',
	  .argument = "A:B",
	  .list_values = list_names,
	  .help = "short only" },
	{ .kind = FZ_OPT_STRING,
	  .short_name = 'o',
	  .long_name = "output",
	  .argument = "FILE",
	  .value = &text,
	  .help = "a text that is so long that it cannot stand beside an option of a shell, and "
		  "is cut at a blank" },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "secret",
	  .argument = "X",
	  .value = &text,
	  .hidden = true,
	  .help = "hidden" },
	FZ_OPT_RENAMED("former", "output"),
	{ .kind = FZ_OPT_END },
};

static const struct fz_command odd = {
	.name = "odd",
	.summary = "it's 100% $HOME `x` \\ odd",
	.options = odd_options,
	.argument = FZ_ARGUMENT_RECORDING,
};

static const struct fz_command *const commands[] = { &odd, NULL };

/* The script for a shell. */
static const char *script(const char *shell, int *ret_status)
{
	static char out[65536];
	int saved = dup(STDOUT_FILENO), fd = memfd_create("stdout", MFD_CLOEXEC);

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	*ret_status = fz_cli_completion_print(commands, shell);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	ssize_t n = pread(fd, out, sizeof(out) - 1, 0);
	assert_true(n >= 0 && (size_t)n < sizeof(out) - 1);
	out[n] = 0;
	close(saved);
	close(fd);
	return out;
}

static void assert_has(const char *all, const char *part)
{
	if (!strstr(all, part))
		fail_msg("no '%s' in: %s", part, all);
}

static void assert_lacks(const char *all, const char *part)
{
	if (strstr(all, part))
		fail_msg("'%s' in: %s", part, all);
}

/* Hidden options and former names are accepted, never offered. */
static void check_common(const char *all)
{
	assert_lacks(all, "secret");
	assert_lacks(all, "former");
	assert_lacks(all, "Group's");
	assert_has(all, "red green");
	assert_has(all, "one two");
}

static void test_bash(void **state)
{
	int status;
	const char *all = script("bash", &status);

	(void)state;
	assert_int_equal(status, FZ_EXIT_OK);
	check_common(all);
	assert_has(all, "\todd)\n\t\tkind=recording options='-a --all --colour --maybe -n -o "
			"--output'\n");
	/* Options whose next word is a value: not those with an optional one. */
	assert_has(all, "\t\ttakes=' --colour -n -o --output ' ;;\n");
	assert_has(all, "\t'odd --colour'|'odd --colour=') words='red green' ;;\n");
	assert_has(all, "\t'odd --maybe=') words='red green' ;;\n");
	assert_has(all, "\t'odd -o'|'odd --output'|'odd --output=') kind=recording ;;\n");
	assert_has(all, "\t'odd -n') words='one two' ;;\n");
	assert_has(all, "commands='odd help'");
}

static void test_zsh(void **state)
{
	int status;
	const char *all = script("zsh", &status);

	(void)state;
	assert_int_equal(status, FZ_EXIT_OK);
	check_common(all);
	assert_has(all, "\t\t'odd:it'\\''s 100% $HOME `x` \\ odd'\n");
	/* A text is cut at a colon, and brackets and quotes are escaped. */
	assert_has(all, "\t\t\t'(-a --all)-a[don'\\''t stop at \\[this\\]]' \\\n");
	assert_has(all, "\t\t\t'(-a --all)--all[don'\\''t stop at \\[this\\]]' \\\n");
	assert_has(all, "'--colour=[of the page]:NAME:(red green)'");
	assert_has(all, "'--maybe=-[with or without a value]::NAME:(red green)'");
	assert_has(all, "'-n+[short only]:A B:(one two)'");
	assert_has(all, "--output=[a text that is so long that it cannot stand beside an option of "
			"a]:FILE:_fizeau_recordings'");
}

static void test_fish(void **state)
{
	int status;
	const char *all = script("fish", &status);

	(void)state;
	assert_int_equal(status, FZ_EXIT_OK);
	check_common(all);
	assert_has(all, "-a odd -d 'it\\'s 100% $HOME `x` \\\\ odd'\n");
	assert_has(all, "-s a -l all -d 'don\\'t stop at [this]'\n");
	assert_has(all, "-l colour -x -a 'red green' -d 'of the page'\n");
	assert_has(all, "-l maybe -a 'red green' -d 'with or without a value'\n");
	assert_has(all, "-s o -l output -r -F -a '(__fizeau_recordings)' -d ");
}

static void test_wrong_shell(void **state)
{
	int status;

	(void)state;
	struct heard h = hear();
	assert_string_equal(script("csh\033", &status), "");
	assert_int_equal(status, FZ_EXIT_TROUBLE);
	assert_string_equal(heard(&h),
			    "fizeau: completion: unknown shell 'csh\\x1b'; use bash, zsh "
			    "or fish\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bash),
		cmocka_unit_test(test_zsh),
		cmocka_unit_test(test_fish),
		cmocka_unit_test(test_wrong_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
