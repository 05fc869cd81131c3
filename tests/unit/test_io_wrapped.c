/* SPDX-License-Identifier: MIT */
/* Compressed inputs: whole, cut short, and several pieces in a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io.h"

static const char text[] = "plain text, plain text, plain text";

static size_t gzip_member(uint8_t *out, size_t room)
{
	z_stream z = { .next_in = (Bytef *)text, .avail_in = sizeof(text) };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static size_t zstd_frame(uint8_t *out, size_t room)
{
	return ZSTD_compress(out, room, text, sizeof(text), 3);
}

/* Reads everything; the result of fz_input_read_all. */
static int unwrap(const void *p, size_t n, struct fz_buf *out)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;

	fz_buf_reset(out);
	assert_int_equal(fz_input_open_memory(p, n, "memory", &in, NULL), 0);
	return fz_input_read_all(in, out, 1 << 20, NULL);
}

static void check(size_t (*wrap)(uint8_t *out, size_t room))
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	uint8_t packed[1024];
	size_t n = wrap(packed, sizeof(packed) / 2);

	assert_int_equal(unwrap(packed, n, &out), 0);
	assert_int_equal(out.n, sizeof(text));
	assert_memory_equal(out.p, text, sizeof(text));
	assert_int_equal(unwrap(packed, n - 1, &out), FZ_EINPUT);
	assert_int_equal(unwrap(packed, n - 9, &out), FZ_EINPUT);
	memcpy(packed + n, packed, n);
	assert_int_equal(unwrap(packed, 2 * n, &out), 0);
	assert_int_equal(out.n, 2 * sizeof(text));
	assert_int_equal(unwrap(packed, 2 * n - 1, &out), FZ_EINPUT);
}

static void test_gzip(void **state)
{
	(void)state;
	check(gzip_member);
}

static void test_zstd(void **state)
{
	(void)state;
	check(zstd_frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gzip),
					    cmocka_unit_test(test_zstd) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
