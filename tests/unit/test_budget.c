/* SPDX-License-Identifier: MIT */
/* Files crafted to take memory or time out of all proportion to their size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "format/format.h"

enum { MANY = 12000000, KEYS = 40000, SAMPLES = 500000, LINES = 20000 };

/* ---- hash tables ---- */

/* What fz_hash64 makes of it is x: it loses nothing, so it can be undone. */
static uint64_t unhash(uint64_t x)
{
	uint64_t inverse = 0xd6e8feb86659fd93u;

	for (int i = 0; i < 6; i++) /* Newton: twice as many bits each time */
		inverse *= 2 - 0xd6e8feb86659fd93u * inverse;
	x ^= x >> 32;
	x *= inverse;
	x ^= x >> 32;
	x *= inverse;
	x ^= x >> 32;
	return x;
}

static int64_t time_keys(bool colliding)
{
	struct fz_map map = { 0 };
	int64_t start = fz_clock_read(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t i = 0; i < KEYS; i++)
		fz_map_put(&map, colliding ? unhash(i << 32) : i, 1);
	assert_int_equal(map.len, KEYS);
	fz_map_release(&map);
	return fz_clock_read(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* The machine may stop in the middle of one try, not of all; a table whose keys collide is slow in
 * each. */
static void test_collisions(void **state)
{
	bool good = false;

	(void)state;
	assert_int_equal(fz_hash64(unhash(12345)), 12345);
	for (int tries = 0; tries < 20 && !good; tries++) {
		int64_t usual = time_keys(false);
		good = time_keys(true) < 50 * usual;
	}
	assert_true(good);
}

/* ---- bombs ---- */

/* A field of a message, repeated; the result is gzip. */
struct bomb {
	z_stream z;
	uint8_t *packed;
};

enum { PACKED_MAX = 1 << 22 };

static void start(struct bomb *b)
{
	b->packed = fz_malloc(PACKED_MAX);
	b->z = (z_stream){ .next_out = b->packed, .avail_out = PACKED_MAX };
	assert_int_equal(deflateInit2(&b->z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
}

static void add(struct bomb *b, const void *p, size_t n, size_t times)
{
	enum { AT_ONCE = 1 << 16 };
	fz_auto(fz_free_ptr) uint8_t *room = fz_malloc(AT_ONCE + n);

	while (times) {
		size_t k = FZ_MIN(times, AT_ONCE / n + 1);
		for (size_t i = 0; i < k; i++)
			memcpy(room + i * n, p, n);
		b->z.next_in = room;
		b->z.avail_in = (uInt)(k * n);
		assert_int_equal(deflate(&b->z, Z_NO_FLUSH), Z_OK);
		times -= k;
	}
}

/* "samples" in "count", a function "main" with number 1. */
static const char head[] = "\x32\x00\x32\x07samples\x32\x05"
			   "count\x32\x04main\x0a\x04\x08\x01\x10\x02\x2a\x04\x08\x01\x10\x03";

/* It is refused as too large, with memory and time in proportion to the limit. */
static void finish(struct bomb *b)
{
	struct fz_input *in;
	struct fz_profile *p = NULL;
	struct fz_error err;
	struct rusage before, after;

	assert_int_equal(deflate(&b->z, Z_FINISH), Z_STREAM_END);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(fz_input_open_memory(b->packed, b->z.total_out, "bomb", &in, &err), 0);
	assert_int_equal(fz_format_load_input(in, &p, &err), FZ_ELIMIT);
	assert_non_null(strstr(err.message, "bomb: would use more than"));
	assert_null(p);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 600 << 10);
	fz_input_close(in);
	deflateEnd(&b->z);
	free(b->packed);
}

static void test_tables(void **state)
{
	static const char entries[][2] = { "\x22", "\x2a", "\x1a", "\x32", "\x0a" };
	struct bomb b;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(entries); i++) {
		start(&b);
		add(&b, head, sizeof(head) - 1, 1);
		add(&b, entries[i], 2, MANY);
		finish(&b);
	}
}

/* Two bytes of a sample stand for as many frames as were inlined into one place. */
static void test_inlined(void **state)
{
	static const char line[] = "\x22\x02\x08\x01", sample[] = "\x12\x04\x08\x01\x10\x01";
	/* 4 * LINES + 2 bytes */
	static const char location[] = "\x22\x82\xf1\x04\x08\x01";
	struct bomb b;

	(void)state;
	start(&b);
	add(&b, head, sizeof(head) - 1, 1);
	add(&b, location, sizeof(location) - 1, 1);
	add(&b, line, sizeof(line) - 1, LINES);
	add(&b, sample, sizeof(sample) - 1, SAMPLES);
	finish(&b);
}

/* The same amount in a file that is so large in itself. */
static void test_large(void **state)
{
	size_t n = sizeof(head) - 1;
	char *file = fz_malloc(n + 2 * (size_t)MANY);
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_input *in;
	struct fz_error err;

	(void)state;
	memcpy(file, head, n);
	for (size_t i = 0; i < MANY; i++)
		memcpy(file + n + 2 * i, "\x22", 2);
	assert_int_equal(fz_input_open_memory(file, n + 2 * (size_t)MANY, "large", &in, &err), 0);
	assert_int_equal(fz_format_load_input(in, &p, &err), 0);
	fz_input_close(in);
	free(file);
}

/* A small file may be a recording of hours; what comes over a network may not. */
static void test_files(void **state)
{
	uint64_t quarter = (uint64_t)sysconf(_SC_PHYS_PAGES) / 4 * (uint64_t)sysconf(_SC_PAGESIZE);
	char path[] = "/tmp/fz-test-budget-XXXXXX";
	int fd = mkstemp(path);
	struct fz_input *in;
	struct fz_error err;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fz_input_open(path, &in, &err), 0);
	unlink(path);
	close(fd);
	assert_true(fz_input_charge(in, FZ_MAX(quarter, (uint64_t)256 << 20)));
	assert_false(fz_input_charge(in, 1));
	assert_int_equal(fz_input_check(in, &err), FZ_ELIMIT);
	fz_input_close(in);
	assert_int_equal(fz_input_open_memory("", 0, "push", &in, &err), 0);
	assert_true(fz_input_charge(in, (uint64_t)256 << 20));
	assert_false(fz_input_charge(in, 1));
	fz_input_close(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collisions), cmocka_unit_test(test_tables),
		cmocka_unit_test(test_inlined),    cmocka_unit_test(test_large),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
