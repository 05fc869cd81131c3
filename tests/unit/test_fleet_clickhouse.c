/* SPDX-License-Identifier: MIT */
/* Queries sent to ClickHouse, and malformed answers. The engine as a whole is tested live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fleet/clickhouse_calls.h"

static int parse(const char *urls, uint32_t *ret_n, struct fz_error *err)
{
	struct fz_clickhouse c = { 0 };
	int r = fz_clickhouse_parse(urls, &c, err);

	*ret_n = c.n;
	if (!r) {
		assert_string_equal(c.shards[0].server, "http://a:8123");
		assert_string_equal(c.shards[0].database, "fleet");
		assert_string_equal(c.shards[0].name, "http://a:8123/fleet");
	}
	fz_clickhouse_release(&c);
	return r;
}

static void test_addresses(void **state)
{
	static const char *const wrong[] = {
		"http://",
		"http:///fleet",
		"http://a:8123",
		"http://a:8123/",
		"http://a:8123/x'y",
		"http://a:8123/x?y=z",
		"http://a:8123/fleet,",
		"http://a:8123/fleet,/fleet",
		"http://a:8123/fleet,http://a:8123/fleet",
		"http://me:secret@a:8123/fleet",
		"ftp://a/fleet",
	};
	fz_auto(fz_buf_release) struct fz_buf many = { 0 };
	struct fz_error err;
	uint32_t n;

	(void)state;
	assert_int_equal(parse("http://a:8123/fleet", &n, &err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(parse("http://a:8123/fleet,https://b/x_1", &n, &err), 0);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < FZ_ARRAY_LEN(wrong); i++) {
		assert_int_equal(parse(wrong[i], &n, &err), FZ_EUSAGE);
		assert_null(strstr(err.message, "secret"));
	}
	for (int i = 0; i <= FZ_CLICKHOUSE_SHARDS; i++)
		fz_buf_printf(&many, "%shttp://a:8123/f%d", i ? "," : "", i);
	assert_int_equal(parse(many.p, &n, &err), FZ_EUSAGE);
}

/* No text is pasted into a statement unescaped. */
static void test_texts(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

	(void)state;
	fz_sql_format(&sql, "a = {} AND b = {}", "'\\{}", "");
	assert_string_equal(sql.p, "a = unhex('275C7B7D') AND b = unhex('')");
	fz_buf_reset(&sql);
	fz_sql_add_time(&sql, -5, INT64_MAX);
	assert_string_equal(sql.p, "minute >= 0 AND minute < 4294967295 AND ");
	fz_buf_reset(&sql);
	fz_sql_add_puts(&sql, "p", "s", 0, INT64_MAX);
	assert_non_null(strstr(sql.p, "last >= 0 AND first < 4294967295 GROUP BY"));
	assert_null(strstr(sql.p, "HAVING"));
	fz_sql_add_settled_puts(&sql, "p", "s", 0, INT64_MAX);
	assert_non_null(strstr(sql.p, "host, id HAVING max(came) + 1800 < toUInt32(now()))"));
}

/* No response is read beyond its end, and a truncated one is an error. */
static void test_cut_rows(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf row = { 0 };
	struct fz_clickhouse c = { .n = 1, .shards = { { .name = (char *)"x" } } };
	struct fz_error err;

	(void)state;
	fz_row_text(&row, FZ_STR("a\0b"));
	fz_buf_u64(&row, 7);
	fz_row_double(&row, 0.5);
	for (size_t n = 0; n <= row.n; n++) {
		struct fz_cursor cursor = fz_cursor_of(row.p, n);
		struct fz_str text = fz_row_read_text(&cursor);
		int64_t number = fz_row_read_int(&cursor);
		double fraction = fz_row_read_double(&cursor);

		assert_int_equal(fz_clickhouse_check(&c, 0, &cursor, &err),
				 n == row.n ? 0 : FZ_EINPUT);
		if (n < row.n)
			continue;
		assert_true(fz_str_eq(text, FZ_STR("a\0b")) && number == 7 && fraction == 0.5);
	}
	struct fz_cursor cursor = fz_cursor_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 11);
	assert_int_equal(fz_row_read_text(&cursor).n, 0);
	assert_true(cursor.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_cut_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
