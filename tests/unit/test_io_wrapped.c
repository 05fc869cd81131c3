/* SPDX-License-Identifier: MIT */
/* Compressed inputs: whole, truncated, and concatenated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io.h"
#include "base/map.h"

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

/* ---- bombs ---- */

enum { ZEROS = 16 << 20, PIECES = 17 };

/* As a gzip member: n bytes of noise that take as many, or zeros that take next to nothing. */
static void add_member(struct fz_buf *file, const uint8_t *p, size_t n, int level)
{
	z_stream z = { .next_in = (Bytef *)p, .avail_in = (uInt)n };

	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t room = deflateBound(&z, n);
	z.next_out = (Bytef *)fz_buf_reserve(file, room);
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	file->n += z.total_out;
	deflateEnd(&z);
}

/* How reading a file ends that becomes `ratio` times its size, 272 MiB. */
static int64_t unpack_ratio(const uint8_t *zeros, double ratio, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf file = { 0 }, member = { 0 };
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	fz_auto(fz_free_ptr) uint8_t *room = fz_malloc(1 << 20);
	int64_t got;

	add_member(&member, zeros, ZEROS, 9);
	size_t noise = (size_t)((double)ZEROS * PIECES / ratio) - PIECES * member.n;
	for (size_t i = 0; i < noise; i++)
		room[i] = (uint8_t)fz_hash64(i);
	add_member(&file, room, noise, 0);
	for (int i = 0; i < PIECES; i++)
		fz_buf_add(&file, member.p, member.n);
	assert_int_equal(fz_input_open_memory(file.p, file.n, "bomb", &in, err), 0);
	while ((got = fz_input_read(in, room, 1 << 20, err)) > 0)
		continue;
	return got;
}

/* Files that become very large are read, but not what grows more than 400 times. */
static void test_ratio(void **state)
{
	fz_auto(fz_free_ptr) uint8_t *zeros = fz_calloc(ZEROS, 1);
	struct fz_error err = { 0 };

	(void)state;
	assert_int_equal(unpack_ratio(zeros, 380, &err), 0);
	assert_int_equal(unpack_ratio(zeros, 480, &err), FZ_ELIMIT);
	assert_string_equal(err.message, "bomb: unpacks to more than 400 times its size");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gzip),
					    cmocka_unit_test(test_zstd),
					    cmocka_unit_test(test_ratio) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
