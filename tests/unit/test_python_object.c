/* SPDX-License-Identifier: MIT */
/* Synthetic str and bytes objects in CPython's layout, in this process's own memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/python/object.h"
#include "python_tables.h"

static struct fz_process self;
static struct fz_py_layout layout;

/* Make a str object with 64-bit headers of this layout. */
struct made {
	uint64_t head[16];
	uint8_t data[4096];
};

static uint64_t make_text(struct made *m, const void *data, size_t n, unsigned kind, bool ascii,
			  uint64_t length)
{
	uint8_t *p = (uint8_t *)m;
	uint32_t state = kind << layout.unicode_shift | 1u << (layout.unicode_shift + 3) |
			 (uint32_t)ascii << (layout.unicode_shift + 4);

	memset(m, 0, sizeof(*m));
	memcpy(p + layout.unicode.length, &length, sizeof(length));
	memcpy(p + layout.unicode.state, &state, sizeof(state));
	memcpy(p + (ascii ? layout.unicode.ascii_data : layout.unicode.compact_data), data,
	       n * kind);
	return (uint64_t)(uintptr_t)m;
}

static void expect_text(uint64_t object, const char *want)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	assert_true(fz_py_read_text(&self, &layout, object, &b));
	assert_string_equal(b.p ? b.p : "", want);
}

static void test_kinds(void **state)
{
	(void)state;
	struct made m;
	const uint16_t two[] = { 'a', 0x20ac, 0xd800, 0xfffd };
	const uint32_t four[] = { 0x1f600, 'z', 0x110000 };

	expect_text(make_text(&m, "hello", 5, 1, true, 5), "hello");
	expect_text(make_text(&m, "", 0, 1, true, 0), "");
	expect_text(make_text(&m, "w\xf6rker", 6, 1, false, 6), "w\xc3\xb6rker");
	expect_text(make_text(&m, two, 4, 2, false, 4), "a\xe2\x82\xac\\ud800\xef\xbf\xbd");
	expect_text(make_text(&m, four, 3, 4, false, 3), "\xf0\x9f\x98\x80z\xef\xbf\xbd");
}

static void test_bad_text(void **state)
{
	(void)state;
	struct made m;
	struct fz_buf b = { 0 };
	uint64_t text = make_text(&m, "x", 1, 1, true, 1);

	assert_false(fz_py_read_text(&self, &layout, 0, &b));
	assert_false(fz_py_read_text(&self, &layout, text + 1, &b));
	assert_false(fz_py_read_text(&self, &layout, 0x1000, &b));
	assert_false(fz_py_read_text(&self, &layout, make_text(&m, "", 0, 3, false, 1), &b));
	assert_false(fz_py_read_text(&self, &layout, make_text(&m, "", 0, 2, true, 1), &b));
	assert_false(
		fz_py_read_text(&self, &layout, make_text(&m, "", 0, 1, true, 1ull << 62), &b));
	assert_false(
		fz_py_read_text(&self, &layout, make_text(&m, "", 0, 1, true, UINT64_MAX), &b));
	memset(&m, 0, sizeof(m)); /* not compact */
	assert_false(fz_py_read_text(&self, &layout, (uint64_t)(uintptr_t)&m, &b));
	assert_int_equal(b.n, 0);
	fz_buf_release(&b);
}

static void test_long_text_is_cut(void **state)
{
	(void)state;
	size_t n = FZ_PY_TEXT_MAX + 1000;
	struct made *m = fz_calloc(1, sizeof(*m) + n);
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };
	uint64_t text = make_text(m, "", 0, 1, true, n);

	memset((uint8_t *)m + layout.unicode.ascii_data, 'y', n);
	assert_true(fz_py_read_text(&self, &layout, text, &b));
	assert_int_equal(b.n, FZ_PY_TEXT_MAX);
	free(m);
}

static void test_bytes(void **state)
{
	(void)state;
	uint64_t object[8] = { 0 };
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };
	uint64_t at = (uint64_t)(uintptr_t)object;

	object[layout.bytes.size / 8] = 3;
	memcpy((uint8_t *)object + layout.bytes.data, "abc", 3);
	assert_true(fz_py_read_bytes(&self, &layout, at, 100, &b));
	assert_int_equal(b.n, 3);
	assert_memory_equal(b.p, "abc", 3);
	assert_false(fz_py_read_bytes(&self, &layout, at, 2, &b));
	object[layout.bytes.size / 8] = UINT64_MAX;
	assert_false(fz_py_read_bytes(&self, &layout, at, 100, &b));
	assert_false(fz_py_read_bytes(&self, &layout, 8, 100, &b));
}

static int set_up_old(void **state)
{
	(void)state;
	layout = *fz_py_layout_static(8);
	return fz_process_open(&self, getpid(), NULL);
}

static int set_up_new(void **state)
{
	(void)state;
	fz_py_layout_parse(python_table_315, sizeof(python_table_315), false, &layout, NULL);
	return fz_process_open(&self, getpid(), NULL);
}

/* 3.14t and 3.15t have longer headers and the flags in other bits. */
static int set_up_free_threaded(void **state)
{
	set_up_new(state);
	layout.unicode_shift = 8;
	layout.unicode.length = 32;
	layout.unicode.state = 48;
	layout.unicode.ascii_data = 56;
	layout.unicode.compact_data = 72;
	layout.bytes.size = 32;
	layout.bytes.data = 48;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fz_process_release(&self);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_bad_text),
		cmocka_unit_test(test_long_text_is_cut),
		cmocka_unit_test(test_bytes),
	};
	int failed = cmocka_run_group_tests_name("3.8", tests, set_up_old, tear_down);

	failed += cmocka_run_group_tests_name("3.15", tests, set_up_new, tear_down);
	failed += cmocka_run_group_tests_name("3.15t", tests, set_up_free_threaded, tear_down);
	return failed;
}
