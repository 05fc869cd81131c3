/* SPDX-License-Identifier: MIT */
/* Text in UTF-16: both orders, with and without a mark, cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/utf16.h"

static const char text[] = "{\"\xc3\xa9\": \"\xe2\x82\xac \xf0\x9f\x94\xa5\"}\n";
static const uint16_t units[] = { '{',    '"', 0xe9,   '"',    ':', ' ', '"',
				  0x20ac, ' ', 0xd83d, 0xdd25, '"', '}', '\n' };

static size_t write_units(uint8_t *out, bool big, bool mark)
{
	size_t n = 0;

	for (size_t i = 0; i < FZ_ARRAY_LEN(units) + mark; i++) {
		uint16_t u = mark ? (i ? units[i - 1] : 0xfeff) : units[i];
		out[n++] = (uint8_t)(big ? u >> 8 : u);
		out[n++] = (uint8_t)(big ? u : u >> 8);
	}
	return n;
}

static void files_are_read_as_utf8(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		uint8_t bytes[64];
		struct fz_input *in;
		struct fz_error err;
		fz_auto(fz_buf_release) struct fz_buf out = { 0 };
		size_t n = write_units(bytes, i & 1, i & 2);
		assert_int_equal(fz_input_open_memory(bytes, n, "x", &in, &err), 0);
		assert_int_equal(fz_input_read_all(in, &out, 1000, &err), 0);
		fz_input_close(in);
		assert_int_equal(out.n, strlen(text));
		assert_memory_equal(out.p, text, out.n);
	}
}

/* A text longer than any buffer, with pairs at every place. */
static void long_files_are_read_whole(void **state)
{
	enum { N = 100001 };
	uint8_t *bytes = fz_malloc(4 * N + 4);
	struct fz_input *in;
	struct fz_error err;
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	(void)state;
	memcpy(bytes, "\xff\xfe{\0", 4);
	for (size_t i = 0; i < N; i++)
		memcpy(bytes + 4 + 4 * i, "\x3d\xd8\x25\xdd", 4);
	assert_int_equal(fz_input_open_memory(bytes, 4 * N + 4, "x", &in, &err), 0);
	assert_int_equal(fz_input_read_all(in, &out, 10 * N, &err), 0);
	assert_int_equal(out.n, 4 * N + 1);
	for (size_t i = 0; i < N; i++)
		assert_memory_equal(out.p + 1 + 4 * i, "\xf0\x9f\x94\xa5", 4);
	fz_input_close(in);
	free(bytes);
}

static void halves_are_replaced(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		bool last;
		const char *out;
		size_t used;
	} cases[] = {
		{ "\x3d\xd8", 2, false, "", 0 },
		{ "\x3d\xd8", 2, true, "\xef\xbf\xbd", 2 },
		{ "\x25\xdd"
		  "a\0",
		  4, false,
		  "\xef\xbf\xbd"
		  "a",
		  4 },
		{ "\x3d\xd8"
		  "a\0",
		  4, false,
		  "\xef\xbf\xbd"
		  "a",
		  4 },
		{ "a\0b", 3, false, "a", 2 },
		{ "a\0b", 3, true, "a\xef\xbf\xbd", 3 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		char out[16];
		size_t n, used = fz_utf16_decode(FZ_UTF16_LITTLE, (const uint8_t *)cases[i].in,
						 cases[i].n, cases[i].last, out, &n);
		assert_int_equal(used, cases[i].used);
		assert_int_equal(n, strlen(cases[i].out));
		assert_memory_equal(out, cases[i].out, n);
	}
}

static void other_files_are_left_alone(void **state)
{
	static const char *const files[] = { "{\"a\"", "{\0\0\0", "\xff\xfe\0\0", "\x1f\x8b\x08\0",
					     "{(\x02\0" };
	size_t mark;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(files); i++)
		assert_int_equal(fz_utf16_probe((const uint8_t *)files[i], 4, &mark), FZ_UTF16_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_as_utf8),
		cmocka_unit_test(long_files_are_read_whole),
		cmocka_unit_test(halves_are_replaced),
		cmocka_unit_test(other_files_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
