/* SPDX-License-Identifier: MIT */
/* Command-line options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/opt.h"

static bool all;
static const char *output, *tint;
static int rate, choice, format;

static int parse_twice(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	if (strcmp(text, "x") == 0)
		return fz_fail(err, FZ_EUSAGE, "--twice: not x");
	*(int *)opt->value = 2;
	return 0;
}

static int twice;
static const char *const choices[] = { "one", "two", NULL };
static const struct fz_opt table[] = {
	{ FZ_OPT_GROUP, .help = "Group" },
	{ FZ_OPT_FLAG, 'a', "all", NULL, "all of it", &all, .common = true },
	{ FZ_OPT_STRING, 'o', "output", "FILE", "where", &output },
	{ FZ_OPT_INT, 'r', "rate", "N", "how often", &rate, 1, 100 },
	{ FZ_OPT_CHOICE, 0, "choice", "WHICH", "which", &choice, .choices = choices },
	{ FZ_OPT_SET, 0, "sort-name", NULL, "by name", &format, 5 },
	{ FZ_OPT_SET, 0, "sort-total", NULL, "by total", &format, 6 },
	{ FZ_OPT_SET, 0, "sort", NULL, "somehow", &format, 7 },
	{ FZ_OPT_CALL, 0, "twice", "N", "twice", &twice, .call = parse_twice },
	FZ_OPT_RENAMED("out", "output"),
	FZ_OPT_RENAMED("frequency", "rate"),
	{ FZ_OPT_GROUP, .help = "Rare" },
	{ FZ_OPT_STRING, 0, "tint", "NAME", "colour", &tint },
	{ FZ_OPT_END },
};

static struct fz_opt_state opts;

static int parse(struct fz_error *err, int stop, ...)
{
	static char text[16][32];
	static char *argv[17];
	int argc = 1;
	va_list ap;

	va_start(ap, stop);
	argv[0] = text[0];
	for (const char *s; (s = va_arg(ap, const char *)); argc++) {
		snprintf(text[argc], sizeof(text[argc]), "%s", s);
		argv[argc] = text[argc];
	}
	va_end(ap);
	argv[argc] = NULL;
	all = false;
	output = NULL;
	rate = choice = format = 0;
	opts = (struct fz_opt_state){ .options = table, .command = "test", .stop_at_first = stop };
	return fz_opt_parse(&opts, argc, argv, err);
}

static void test_forms(void **state)
{
	struct fz_error err;

	(void)state;
	assert_int_equal(parse(&err, false, "-ar", "7", "x", "--output=f", "y", NULL), 0);
	assert_true(all && rate == 7);
	assert_string_equal(output, "f");
	assert_int_equal(opts.argument_count, 2);
	assert_string_equal(opts.arguments[0], "x");
	assert_string_equal(opts.arguments[1], "y");
	assert_int_equal(parse(&err, false, "-r7", "--out", "-", "-", NULL), 0);
	assert_int_equal(rate, 7);
	assert_string_equal(output, "-");
	assert_int_equal(opts.argument_count, 1);
	assert_int_equal(parse(&err, false, "--choice", "two", "--output=", NULL), 0);
	assert_int_equal(choice, 1);
	assert_string_equal(output, "");
	assert_int_equal(parse(&err, false, "--twice=3", NULL), 0);
	assert_int_equal(twice, 2);
}

static void test_ends(void **state)
{
	struct fz_error err;

	(void)state;
	assert_int_equal(parse(&err, true, "-a", "prog", "-r", "x", "--", "-a", NULL), 0);
	assert_int_equal(opts.argument_count, 5);
	assert_string_equal(opts.arguments[1], "-r");
	assert_false(opts.saw_dashes);
	assert_int_equal(parse(&err, false, "x", "--", "-a", "--", NULL), 0);
	assert_true(opts.saw_dashes && !all);
	assert_int_equal(opts.after_dashes, 1);
	assert_int_equal(opts.argument_count, 3);
	assert_int_equal(parse(&err, false, "--help", NULL), 0);
	assert_int_equal(opts.help, FZ_OPT_HELP_COMMON);
	assert_int_equal(parse(&err, true, "--help", "all", NULL), 0);
	assert_int_equal(opts.help, FZ_OPT_HELP_ALL);
	assert_int_equal(parse(&err, false, "--help=all", NULL), 0);
	assert_int_equal(opts.help, FZ_OPT_HELP_ALL);
	assert_int_equal(parse(&err, false, "--", "--help", NULL), 0);
	assert_int_equal(opts.help, FZ_OPT_HELP_NONE);
}

static void test_prefixes(void **state)
{
	struct fz_error err;

	(void)state;
	assert_int_equal(parse(&err, false, "--sort-n", NULL), 0);
	assert_int_equal(format, 5);
	/* an exact name wins over longer ones, wherever it is in the table */
	assert_int_equal(parse(&err, false, "--sort", NULL), 0);
	assert_int_equal(format, 7);
	assert_int_equal(parse(&err, false, "--sort-", NULL), FZ_EUSAGE);
	assert_non_null(strstr(err.message, "--sort-name or --sort-total"));
}

/* A former name works like the present one, and nothing else mentions it. */
static void test_aliases(void **state)
{
	struct fz_error err;

	(void)state;
	assert_int_equal(parse(&err, false, "--out=f", "--frequency", "9", NULL), 0);
	assert_string_equal(output, "f");
	assert_int_equal(rate, 9);
	assert_int_equal(parse(&err, false, "--frequency", "0", NULL), FZ_EUSAGE);
	assert_non_null(strstr(err.message, "--rate: '0'"));
	assert_int_equal(parse(&err, false, "--freq", "9", NULL), FZ_EUSAGE);
	assert_non_null(strstr(err.message, "unknown option '--freq'"));
	assert_null(strstr(err.message, "frequency"));
	assert_int_equal(parse(&err, false, "--outp=f", NULL), 0);
}

static void check_error(int code, const struct fz_error *err, const char *text)
{
	assert_int_equal(code, FZ_EUSAGE);
	if (!strstr(err->message, text))
		fail_msg("'%s' lacks '%s'", err->message, text);
}

static void test_errors(void **state)
{
	struct fz_error err;

	(void)state;
	check_error(parse(&err, false, "--ouptut=x", NULL), &err, "did you mean '--output'");
	check_error(parse(&err, false, "--all=1", NULL), &err, "takes no value");
	check_error(parse(&err, false, "--output", NULL), &err, "requires a value (FILE)");
	check_error(parse(&err, false, "-o", NULL), &err, "requires a value");
	check_error(parse(&err, false, "-z", NULL), &err,
		    "unknown option '-z'; see 'fizeau test --help all'");
	check_error(parse(&err, false, "-r", "0", NULL), &err, "from 1 to 100");
	check_error(parse(&err, false, "-r", "5x", NULL), &err, "not a whole number");
	check_error(parse(&err, false, "--choice=three", NULL), &err, "not one of one, two");
	check_error(parse(&err, false, "--twice=x", NULL), &err, "not x");
}

static void test_help(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	(void)state;
	fz_opt_help(table, FZ_OPT_HELP_ALL, 60, &b);
	assert_non_null(strstr(b.p, "Group:"));
	assert_non_null(strstr(b.p, "-o, --output FILE"));
	for (const char *line = b.p; *line;) {
		size_t n = strcspn(line, "\n");
		assert_true(n <= 60);
		line += n + (line[n] == '\n');
	}
}

static void test_short_help(void **state)
{
	static const struct fz_opt plain[] = {
		{ FZ_OPT_FLAG, 'a', "all", NULL, "all of it", &all },
		{ FZ_OPT_END },
	};
	fz_auto(fz_buf_release) struct fz_buf few = { 0 }, every = { 0 }, whole = { 0 };

	(void)state;
	assert_true(fz_opt_has_short_help(table));
	fz_opt_help(table, FZ_OPT_HELP_COMMON, 80, &few);
	assert_string_equal(few.p, "\nGroup:\n  -a, --all                 all of it\n");
	fz_opt_help(table, FZ_OPT_HELP_ALL, 80, &every);
	assert_non_null(strstr(every.p, "\nRare:\n      --tint NAME"));
	assert_null(strstr(every.p, "frequency"));
	assert_false(fz_opt_has_short_help(plain));
	fz_opt_help(plain, FZ_OPT_HELP_COMMON, 80, &whole);
	assert_string_equal(whole.p, "\nOptions:\n  -a, --all                 all of it\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),    cmocka_unit_test(test_ends),
		cmocka_unit_test(test_prefixes), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_help),     cmocka_unit_test(test_short_help),
		cmocka_unit_test(test_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
