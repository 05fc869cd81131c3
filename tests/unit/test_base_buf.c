/* SPDX-License-Identifier: MIT */
/* Buffers, cursors, maps and arenas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/map.h"

static void test_numbers(void **state)
{
	static const uint64_t values[] = { 0,     1,        127,        128,       16383,
					   16384, 1u << 31, 1ull << 63, UINT64_MAX };
	static const int64_t signed_values[] = { 0, -1, 1, -64, 64, INT64_MAX, INT64_MIN };
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(values); i++)
		fz_buf_varint(&b, values[i]);
	for (size_t i = 0; i < FZ_ARRAY_LEN(signed_values); i++)
		fz_buf_zigzag(&b, signed_values[i]);
	fz_buf_u8(&b, 200);
	fz_buf_u32(&b, 0x01020304);
	fz_buf_u64(&b, 0x0102030405060708);
	struct fz_cursor c = fz_cursor_of(b.p, b.n);
	for (size_t i = 0; i < FZ_ARRAY_LEN(values); i++)
		assert_true(fz_cursor_varint(&c) == values[i]);
	for (size_t i = 0; i < FZ_ARRAY_LEN(signed_values); i++)
		assert_true(fz_cursor_zigzag(&c) == signed_values[i]);
	assert_int_equal(fz_cursor_u8(&c), 200);
	assert_int_equal(fz_cursor_u32(&c), 0x01020304);
	assert_true(fz_cursor_u64(&c) == 0x0102030405060708);
	assert_false(c.bad);
	assert_int_equal(fz_cursor_left(&c), 0);
	assert_int_equal(fz_cursor_u8(&c), 0);
	assert_true(c.bad);
}

static void test_bad_cursor(void **state)
{
	static const uint8_t endless[12] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					     0xff, 0xff, 0xff, 0xff, 0xff, 1 };
	static const uint8_t too_large[10] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					       0xff, 0xff, 0xff, 0xff, 2 };
	struct fz_cursor c = fz_cursor_of(endless, sizeof(endless));

	(void)state;
	assert_int_equal(fz_cursor_varint(&c), 0);
	assert_true(c.bad);
	c = fz_cursor_of(too_large, sizeof(too_large));
	fz_cursor_varint(&c);
	assert_true(c.bad);
	c = fz_cursor_of(endless, 3); /* ends within a number */
	fz_cursor_varint(&c);
	assert_true(c.bad);
	c = fz_cursor_of(endless, 3);
	assert_null(fz_cursor_bytes(&c, 4));
	assert_null(fz_cursor_bytes(&c, 1)); /* bad stays bad */
	c = fz_cursor_of(endless, 3);
	assert_null(fz_cursor_bytes(&c, SIZE_MAX));
	c = fz_cursor_of("\x05", 1);
	assert_int_equal(fz_cursor_varint32(&c, 4), 0);
	assert_true(c.bad);
}

static void test_limit(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf b = { .limit = 10 };

	(void)state;
	fz_buf_str(&b, "0123456789");
	assert_false(b.overflow);
	fz_buf_char(&b, 'x');
	assert_true(b.overflow);
	assert_string_equal(b.p, "0123456789");
	assert_null(fz_buf_reserve(&b, SIZE_MAX));
	fz_buf_reset(&b);
	assert_false(b.overflow);
	assert_string_equal(b.p, "");
}

static void test_printf_and_take(void **state)
{
	struct fz_buf b = { 0 };
	char longest[1000];

	(void)state;
	memset(longest, 'y', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	fz_buf_printf(&b, "%d ", 7);
	fz_buf_printf(&b, "%s", longest);
	assert_int_equal(b.n, 2 + 999);
	fz_auto(fz_free_ptr) char *text = fz_buf_take(&b);
	assert_int_equal(strlen(text), 1001);
	assert_null(b.p);
	fz_auto(fz_free_ptr) char *empty = fz_buf_take(&b);
	assert_string_equal(empty, "");
}

static void test_shell_words(void **state)
{
	static const char *const words[] = {
		"", "a", "a b", "'", "''", "it's", "$x", "a\nb", "\\"
	};
	static const char *const foreign[] = { "", "a b", "$x", "'a", "'a'b", "'a''b'", "a'b'" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(words); i++) {
		fz_auto(fz_buf_release) struct fz_buf quoted = { 0 }, again = { 0 };
		fz_buf_shell_word(&quoted, words[i]);
		assert_true(fz_buf_shell_unquote(&again, fz_buf_view(&quoted)));
		assert_true(fz_str_eq(fz_buf_view(&again), fz_str_of(words[i])));
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(foreign); i++) {
		fz_auto(fz_buf_release) struct fz_buf text = { 0 };
		assert_false(fz_buf_shell_unquote(&text, fz_str_of(foreign[i])));
	}
}

static void test_map(void **state)
{
	struct fz_map m = { 0 };

	(void)state;
	assert_int_equal(fz_map_get(&m, 5), FZ_NONE);
	for (uint32_t i = 0; i < 10000; i++)
		fz_map_put(&m, (uint64_t)i << 32, i);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(fz_map_get(&m, (uint64_t)i << 32), i);
	assert_int_equal(fz_map_get(&m, 1), FZ_NONE);
	assert_int_equal(m.len, 10000);
	fz_map_put(&m, 0, 77);
	assert_int_equal(fz_map_get(&m, 0), 77);
	assert_int_equal(m.len, 10000);
	uint32_t *slot = fz_map_slot(&m, UINT64_MAX);
	assert_int_equal(*slot, FZ_NONE);
	*slot = 1;
	assert_int_equal(fz_map_get(&m, UINT64_MAX), 1);
	fz_map_clear(&m);
	assert_int_equal(fz_map_get(&m, 0), FZ_NONE);
	assert_int_equal(m.len, 0);
	fz_map_release(&m);
}

static void test_arena(void **state)
{
	struct fz_arena a = { 0 };
	char *first = fz_arena_strndup(&a, "abc", 2);

	(void)state;
	for (size_t i = 1; i < 100; i++) {
		char *p = fz_arena_alloc(&a, i * 37);
		assert_int_equal((uintptr_t)p % 8, 0);
		memset(p, 0xee, i * 37);
	}
	char *large = fz_arena_alloc(&a, 1 << 20);
	memset(large, 1, 1 << 20);
	assert_string_equal(first, "ab");
	assert_true(a.bytes >= 1 << 20);
	fz_arena_release(&a);
	assert_int_equal(a.bytes, 0);
}

/* The examples of RFC 4648, and invalid base64. */
static void test_base64(void **state)
{
	static const char plain[] = "foobar";
	static const char *const texts[] = { "",         "Zg==",     "Zm8=",    "Zm9v",
					     "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
	static const char *const bad[] = { "Zg", "Zg=", "Z===", "====", "Zm9v!a==", "Zg==Zg==" };

	(void)state;
	for (size_t n = 0; n < FZ_ARRAY_LEN(texts); n++) {
		fz_auto(fz_buf_release) struct fz_buf text = { 0 }, back = { 0 };
		fz_base64_encode(&text, plain, n);
		assert_string_equal(fz_buf_view(&text).p, texts[n]);
		assert_true(fz_base64_decode(&back, fz_buf_view(&text)));
		assert_int_equal(back.n, n);
		assert_memory_equal(fz_buf_view(&back).p, plain, n);
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(bad); i++) {
		fz_auto(fz_buf_release) struct fz_buf back = { 0 };
		assert_false(fz_base64_decode(&back, fz_str_of(bad[i])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_bad_cursor),
		cmocka_unit_test(test_limit),   cmocka_unit_test(test_printf_and_take),
		cmocka_unit_test(test_map),     cmocka_unit_test(test_arena),
		cmocka_unit_test(test_base64),  cmocka_unit_test(test_shell_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
