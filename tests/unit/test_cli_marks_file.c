/* SPDX-License-Identifier: MIT */
/* Lines of a log that become markers: how times are written, and which lines are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "cli/marks_file.h"
#include "profile/mark.h"
#include "refused.h"

#define SECOND 1000000000LL
/* 2026-11-23 14:03:00 UTC */
#define START 1795442580LL

static char path[] = "/tmp/fizeau_marks_XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	setenv("TZ", "UTC-2", 1); /* two hours east: local time is not UTC */
	tzset();
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_file(const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* A minute that begins at START. */
static struct fz_profile *minute(void)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(
		p, &(struct fz_run){ .start_unix_ns = START * SECOND, .duration_ns = 60 * SECOND });
	p->samples.timed = true;
	return p;
}

static int add(struct fz_profile *p, const char *text, struct fz_error *err)
{
	write_file(text, strlen(text));
	return fz_cli_marks_add(path, "a.fz", p, err);
}

/* The time of the only mark of that text, in ms after START; -1: there is none. */
static int64_t mark_ms(const char *line)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = minute();
	fz_auto(fz_free_ptr) struct fz_profile_mark *marks = NULL;
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_error err;

	/* The second line keeps "no line begins with a time" away. */
	fz_buf_printf(&text, "%s\n1000000000 long before\n", line);
	struct heard h = hear();
	assert_int_equal(add(p, text.p, &err), 0);
	heard(&h);
	size_t n = fz_profile_marks(p, &marks);
	if (!n)
		return -1;
	assert_int_equal(n, 1);
	assert_true(fz_str_eq(marks[0].text, FZ_STR("deploy")));
	return marks[0].time / 1000000;
}

static void test_times(void **state)
{
	static const struct {
		const char *line;
		int64_t ms;
	} cases[] = {
		{ "2026-11-23T14:03:05Z deploy", 5000 },
		{ "2026-11-23T14:03:05.250Z deploy", 5250 },
		{ "2026-11-23 14:03:05,250Z deploy", 5250 },
		{ "2026-11-23t14:03:05.1234567890123Z deploy", 5123 },
		{ "2026-11-23T16:03:05 deploy", 5000 }, /* local */
		{ "2026-11-23T15:03:05+01:00 deploy", 5000 },
		{ "2026-11-23T15:03:05+0100 deploy", 5000 },
		{ "2026-11-23T09:03:05 -0500 deploy", 5000 },
		{ "[2026-11-23T14:03:05Z] deploy", 5000 },
		{ "  2026-11-23T14:03:05Z   deploy  ", 5000 },
		{ "2026-11-23T14:02:60Z deploy", 0 }, /* a leap second */
		{ "1795442585 deploy", 5000 },
		{ "1795442585.25 deploy", 5250 },
		{ "[1795442585.25] deploy", 5250 },
		{ "2026-11-23T14:04:00Z deploy", 60000 }, /* the end */
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		if (mark_ms(cases[i].line) != cases[i].ms)
			fail_msg("%s: %lld ms", cases[i].line, (long long)mark_ms(cases[i].line));
}

static void test_no_times(void **state)
{
	static const char *const lines[] = {
		"deploy",
		"",
		"2026-11-31T14:03:05Z deploy",
		"2026-02-29T14:03:05Z deploy",
		"2026-13-01T14:03:05Z deploy",
		"2026-00-10T14:03:05Z deploy",
		"2026-11-23T24:03:05Z deploy",
		"2026-11-23T14:60:05Z deploy",
		"2026-11-23T14:03:61Z deploy",
		"1969-12-31T14:03:05Z deploy",
		"2026-11-23 deploy",
		"12 deploy",
		"1795442585250 deploy" /* milliseconds */,
		"999999999 deploy",
		"-1795442585 deploy",
		"2026-11-23T14:03 deploy",
		"99999999999999999999 deploy",
		"\xff\xfe\xfd",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(lines); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = minute();
		fz_auto(fz_buf_release) struct fz_buf message = { 0 };
		struct fz_error err;

		fz_buf_printf(&message,
			      "--markers: no line of %s begins with a time, such as "
			      "2026-11-23T14:03:05Z or 1795442585",
			      path);
		assert_refused(add(p, lines[i], &err), err, message.p);
	}
}

/* Just outside the recording, and a time without a text. */
static void test_other_lines(void **state)
{
	(void)state;
	assert_int_equal(mark_ms("2026-11-23T14:02:59.999Z deploy"), -1);
	assert_int_equal(mark_ms("2026-11-23T14:04:00.001Z deploy"), -1);
	assert_int_equal(mark_ms("2026-11-23T14:03:05Z"), -1);
}

static void test_warnings(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = minute();
	fz_auto(fz_profile_freep) struct fz_profile *full = minute();
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	fz_auto(fz_buf_release) struct fz_buf expected = { 0 };
	struct fz_error err;

	(void)state;
	struct heard h = hear();
	assert_int_equal(add(p, "1000000000 long before\n", &err), 0);
	fz_buf_printf(&expected,
		      "fizeau: warning: --markers: no line of %s is within the time of "
		      "a.fz\n",
		      path);
	assert_string_equal(heard(&h), expected.p);
	for (int i = 0; i < FZ_PROFILE_MARKS + 5; i++)
		fz_buf_printf(&text, "1795442585 mark %d\n", i);
	h = hear();
	assert_int_equal(add(full, text.p, &err), 0);
	fz_buf_reset(&expected);
	fz_buf_printf(&expected,
		      "fizeau: warning: --markers: using the first 1000 of 1005 lines of %s within "
		      "the recording; a recording can have at most 1000 markers\n",
		      path);
	assert_string_equal(heard(&h), expected.p);
}

static void test_recordings_without_start(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = minute();
	struct fz_error err;

	(void)state;
	p->runs[0].start_unix_ns = 0;
	assert_refused(add(p, "1795442585 deploy", &err), err,
		       "--markers: cannot place clock times in a.fz: it has no start time");
	fz_profile_add_run(p, &(struct fz_run){ .start_unix_ns = START * SECOND });
	assert_refused(add(p, "1795442585 deploy", &err), err,
		       "--markers: cannot place clock times in a.fz: it has several runs");
}

static void test_missing_file(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = minute();
	struct fz_error err;

	(void)state;
	assert_true(fz_cli_marks_add("/nonexistent/log", "a.fz", p, &err) < 0);
	assert_string_equal(
		err.message,
		"--markers: /nonexistent/log: cannot be opened: No such file or directory");
}

/* Bytes that are not text, without a final newline, do not hide the other lines. */
static void test_binary(void **state)
{
	static const char bytes[] = "\0\1\2\377\n1795442585 deploy\0x\n[[[[\n1795442586 end";
	fz_auto(fz_profile_freep) struct fz_profile *p = minute();
	fz_auto(fz_free_ptr) struct fz_profile_mark *marks = NULL;
	struct fz_error err;

	(void)state;
	write_file(bytes, sizeof(bytes) - 1);
	assert_int_equal(fz_cli_marks_add(path, "a.fz", p, &err), 0);
	assert_int_equal(fz_profile_marks(p, &marks), 2);
	assert_true(fz_str_eq(marks[1].text, FZ_STR("end")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_no_times),
		cmocka_unit_test(test_other_lines),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_recordings_without_start),
		cmocka_unit_test(test_missing_file),
		cmocka_unit_test(test_binary),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
