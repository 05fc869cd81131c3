/* SPDX-License-Identifier: MIT */
/* Input with limits and lines, output that replaces its target in one step, JSON, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/io.h"
#include "base/json.h"

static struct fz_input *open_text(const char *text, size_t n)
{
	struct fz_input *in = NULL;

	assert_int_equal(fz_input_open_memory(text, n, "test", &in, NULL), 0);
	return in;
}

static void check_line(struct fz_input *in, const char *want)
{
	struct fz_str line;
	struct fz_error err;

	assert_int_equal(fz_input_line(in, 1000, &line, &err), want ? 1 : 0);
	if (want)
		assert_true(fz_str_eq(line, fz_str_of(want)));
}

static void test_lines(void **state)
{
	static const char text[] = "one\r\n\ntwo\rx\nlast";
	fz_auto(fz_input_closep) struct fz_input *in = open_text(text, sizeof(text) - 1);

	(void)state;
	check_line(in, "one");
	check_line(in, "");
	check_line(in, "two\rx");
	check_line(in, "last");
	check_line(in, NULL);
	check_line(in, NULL);
}

static void test_long_lines(void **state)
{
	size_t n = 300000;
	fz_auto(fz_free_ptr) char *text = fz_malloc(n);
	struct fz_str line;
	struct fz_error err;

	(void)state;
	memset(text, 'x', n);
	text[n / 2] = '\n';
	fz_auto(fz_input_closep) struct fz_input *in = open_text(text, n);
	assert_int_equal(fz_input_line(in, n, &line, &err), 1);
	assert_int_equal(line.n, n / 2);
	assert_int_equal(fz_input_line(in, 1000, &line, &err), FZ_ELIMIT);
}

static void test_peek_and_read(void **state)
{
	fz_auto(fz_input_closep) struct fz_input *in = open_text("0123456789", 10);
	const uint8_t *head;
	char out[16];
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_input_peek(in, &head, 4, &err), 4);
	assert_memory_equal(head, "0123", 4);
	assert_int_equal(fz_input_read(in, out, 3, &err), 3);
	assert_int_equal(fz_input_peek(in, &head, 100, &err), 7);
	assert_memory_equal(head, "3456789", 7);
	assert_int_equal(fz_input_read(in, out, sizeof(out), &err), 7);
	assert_int_equal(fz_input_read(in, out, sizeof(out), &err), 0);
}

static size_t gzip(const char *p, size_t n, uint8_t *out, size_t room)
{
	z_stream z = { .next_in = (Bytef *)p, .avail_in = (uInt)n, .next_out = out };

	z.avail_out = (uInt)room;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static void test_limits(void **state)
{
	size_t n = 1 << 20;
	fz_auto(fz_free_ptr) char *zeros = fz_calloc(n, 1);
	fz_auto(fz_free_ptr) uint8_t *packed = fz_malloc(n);
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_error err;

	(void)state;
	size_t size = gzip(zeros, n, packed, n);
	fz_auto(fz_input_closep) struct fz_input *in = open_text((char *)packed, size);
	fz_input_set_limit(in, n / 2);
	assert_int_equal(fz_input_read_all(in, &out, UINT64_MAX, &err), FZ_ELIMIT);
	fz_auto(fz_input_closep) struct fz_input *again = open_text((char *)packed, size);
	fz_buf_reset(&out);
	assert_int_equal(fz_input_read_all(again, &out, 1000, &err), FZ_ELIMIT);
	/* damaged in the middle */
	packed[size / 2] ^= 0xff;
	packed[size / 2 + 1] ^= 0xff;
	fz_auto(fz_input_closep) struct fz_input *broken = open_text((char *)packed, size);
	fz_buf_reset(&out);
	assert_int_equal(fz_input_read_all(broken, &out, UINT64_MAX, &err), FZ_EINPUT);
}

static void test_open_errors(void **state)
{
	struct fz_input *in = NULL;
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_input_open("/", &in, &err), FZ_EINPUT);
	assert_int_equal(fz_input_open("/no/such/file", &in, &err), FZ_ESYSTEM);
	assert_int_equal(err.sys_errno, ENOENT);
	assert_non_null(strstr(err.message, "/no/such/file"));
	assert_null(in);
}

/* ---- output ---- */

static char *make_folder(void)
{
	char template[] = "/tmp/fz-unit-XXXXXX";

	assert_non_null(mkdtemp(template));
	return fz_strdup(template);
}

static void check_content(const char *path, const char *want)
{
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 1000, NULL);

	assert_non_null(text);
	assert_string_equal(text, want);
}

static void test_output(void **state)
{
	fz_auto(fz_free_ptr) char *folder = make_folder();
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/file", folder);
	struct fz_output *out = NULL;
	struct fz_error err;
	struct stat st;

	(void)state;
	mode_t mask = umask(0027);
	assert_int_equal(fz_output_open(path, &out, &err), 0);
	fz_output_printf(out, "%d", 1);
	assert_int_equal(access(path, F_OK), -1); /* not before it is complete */
	assert_int_equal(fz_output_close(out, &err), 0);
	check_content(path, "1");
	assert_int_equal(stat(path, &st), 0);
	umask(mask);
	assert_int_equal(st.st_mode & 0777, 0640);
	/* an aborted write leaves the old content and no other file */
	assert_int_equal(fz_output_open(path, &out, &err), 0);
	fz_output_str(out, "2");
	fz_output_abort(out);
	check_content(path, "1");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_output_errors(void **state)
{
	struct fz_output *out = NULL;
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_output_open("/tmp", &out, &err), FZ_EUSAGE);
	assert_int_equal(fz_output_open("/no/such/folder/file", &out, &err), FZ_ESYSTEM);
	assert_null(out);
	assert_int_equal(fz_output_open("/dev/full", &out, &err), 0);
	fz_output_str(out, "x");
	assert_int_equal(fz_output_close(out, &err), FZ_ESYSTEM);
	assert_int_equal(err.sys_errno, ENOSPC);
}

static void test_make_folder(void **state)
{
	fz_auto(fz_free_ptr) char *folder = make_folder();
	fz_auto(fz_free_ptr) char *deep = fz_asprintf("%s/a/b/c", folder);
	fz_auto(fz_free_ptr) char *command = fz_asprintf("rm -r %s", folder);
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_make_folder(deep, &err), 0);
	assert_int_equal(fz_make_folder(deep, &err), 0);
	assert_int_equal(access(deep, F_OK), 0);
	assert_int_equal(fz_make_folder("/proc/no", &err) < 0, 1);
	assert_int_equal(system(command), 0);
}

/* ---- JSON ---- */

static void test_json(void **state)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_json j;

	(void)state;
	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "s", FZ_STR("a\"\\\n</script>\xff\xc3\xa9\xc2\x9b"));
	fz_json_kint(&j, "i", INT64_MIN);
	fz_json_key(&j, "list");
	fz_json_open(&j, '[');
	fz_json_double(&j, 0.1);
	fz_json_double(&j, 1.0 / 3);
	fz_json_double(&j, __builtin_nan(""));
	fz_json_double(&j, 1e300);
	fz_json_bool(&j, true);
	fz_json_null(&j);
	fz_json_open(&j, '[');
	fz_json_close(&j, ']');
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	assert_string_equal(fz_output_buffer(out)->p,
			    "{\"s\":\"a\\\"\\\\\\u000a\\u003c/script>\xef\xbf\xbd\xc3\xa9\\u009b\","
			    "\"i\":-9223372036854775808,"
			    "\"list\":[0.1,0.3333333333333333,null,1e+300,true,null,[]]}\n");
}

static void test_json_lines(void **state)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_json j;

	(void)state;
	fz_json_init(&j, out, 1);
	fz_json_open(&j, '{');
	fz_json_kdouble(&j, "whole", -3);
	fz_json_key(&j, "objects");
	fz_json_open(&j, '[');
	fz_json_open(&j, '{');
	fz_json_kint(&j, "a", 0);
	fz_json_kstr(&j, "b", (struct fz_str){ NULL, 0 });
	fz_json_close(&j, '}');
	fz_json_null(&j);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	assert_string_equal(fz_output_buffer(out)->p,
			    "{\n"
			    "  \"whole\": -3,\n"
			    "  \"objects\": [{\"a\": 0, \"b\": \"\"}, null]\n"
			    "}\n");
}

/* Short strings are written at once, long ones through a buffer. */
static void test_json_strings_of_all_sizes(void **state)
{
	char text[300], want[sizeof(text) + 3];
	struct fz_json j;

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t n = 0; n <= sizeof(text); n++) {
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
		fz_json_init(&j, out, 0);
		fz_json_str(&j, (struct fz_str){ text, n });
		snprintf(want, sizeof(want), "\"%.*s\"", (int)n, text);
		assert_string_equal(fz_output_buffer(out)->p, want);
	}
}

/* ---- errors ---- */

static void test_errors(void **state)
{
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_fail(&err, FZ_EINPUT, "bad \x1b[31m\n%d", 5), FZ_EINPUT);
	assert_null(strchr(err.message, '\n'));
	assert_null(strchr(err.message, '\x1b'));
	assert_int_equal(fz_error_prefix(&err, "file"), FZ_EINPUT);
	assert_int_equal(strncmp(err.message, "file: bad", 9), 0);
	errno = EACCES;
	assert_int_equal(fz_fail_errno(&err, "x"), FZ_EPERM);
	assert_int_equal(err.sys_errno, EACCES);
	assert_int_equal(fz_fail(NULL, FZ_ELIMIT, "x"), FZ_ELIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_peek_and_read),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_output_errors),
		cmocka_unit_test(test_make_folder),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_lines),
		cmocka_unit_test(test_json_strings_of_all_sizes),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
