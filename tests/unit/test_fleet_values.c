/* SPDX-License-Identifier: MIT */
/* The values of a cell as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fleet/cell_values.h"

static struct fz_cell_codec codec;

/* Bytes that are read as these values. */
static void check_round(const struct fz_cell_value *values, size_t n, size_t most_bytes)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	struct fz_cell_value v;

	fz_cell_values_write(&codec, values, n, &bytes);
	assert_true(bytes.n <= most_bytes);
	struct fz_cell_reader r = fz_cell_reader_of(&codec, fz_buf_view(&bytes));
	for (size_t i = 0; i < n; i++) {
		assert_true(fz_cell_reader_next(&r, &v));
		assert_int_equal(v.node, values[i].node);
		assert_int_equal(v.value, values[i].value);
		assert_int_equal(v.n, values[i].n);
	}
	assert_false(fz_cell_reader_next(&r, &v));
	assert_false(r.bad);
}

static void test_round(void **state)
{
	const struct fz_cell_value mixed[] = {
		{ 1, 0, 0 },
		{ 2, 7, 1 },
		{ 1000, INT64_MAX, INT64_MAX },
		{ INT64_MAX, INT64_MAX - 1, 3 },
	};
	/* at intervals of 10 ms, so two bytes each */
	const struct fz_cell_value sampled[] = {
		{ 5, 30000000, 3 },
		{ 6, 10000000, 1 },
		{ 9, 20000000, 2 },
	};

	(void)state;
	check_round(mixed, 1, 4);
	check_round(mixed, FZ_ARRAY_LEN(mixed), 80);
	check_round(sampled, FZ_ARRAY_LEN(sampled), 1 + 4 + 3 * 2);
}

static void test_add_up(void **state)
{
	struct fz_cell_value values[] = { { 4, 1, 1 }, { 2, 5, 2 }, { 4, 3, 1 }, { 2, 1, 0 } };
	struct fz_cell_value large[] = { { 1, INT64_MAX, 1 }, { 1, 1, 1 } };
	struct fz_cell_value many[] = { { 1, 1, INT64_MAX }, { 1, 1, 1 } };
	size_t n = FZ_ARRAY_LEN(values);

	(void)state;
	assert_true(fz_cell_values_add_up(values, &n));
	assert_int_equal(n, 2);
	assert_int_equal(values[0].node, 2);
	assert_int_equal(values[0].value, 6);
	assert_int_equal(values[0].n, 2);
	assert_int_equal(values[1].node, 4);
	assert_int_equal(values[1].value, 4);
	n = 0;
	assert_true(fz_cell_values_add_up(values, &n));
	assert_int_equal(n, 0);
	n = 2;
	assert_false(fz_cell_values_add_up(large, &n));
	n = 2;
	assert_false(fz_cell_values_add_up(many, &n));
}

/* Many are packed; a frame that is cut is refused. */
static void test_packed(void **state)
{
	struct fz_cell_value values[300];
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };

	(void)state;
	for (int i = 0; i < 300; i++)
		values[i] = (struct fz_cell_value){ i * 2 + 1, (i % 7 + 1) * 10000000, i % 7 + 1 };
	check_round(values, 300, 200);
	fz_cell_values_write(NULL, values, 300, &bytes);
	assert_int_equal(bytes.n, 2 + 4 + 300 * 2);
	fz_buf_reset(&bytes);
	fz_cell_values_write(&codec, values, 300, &bytes);
	for (size_t n = 0; n < bytes.n; n++) {
		struct fz_cell_reader r = fz_cell_reader_of(&codec, (struct fz_str){ bytes.p, n });
		struct fz_cell_value v;

		while (fz_cell_reader_next(&r, &v))
			;
		assert_true(r.bad);
	}
}

/* Each is refused, after the values that it has before what is wrong with it. */
static void test_damaged(void **state)
{
#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}
#define LARGEST "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
	static const struct fz_str damaged[] = {
		BYTES(""),
		BYTES("\x00"),
		BYTES("\x00\x01"),
		BYTES("\x00\x28\xb5"),
		BYTES("\x00\x28\xb5\x2f\xfd\x20\x02\x11\x00\x00\x00"),
		BYTES("\x00\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00"),
		BYTES("\x00\x01\x01"),
		BYTES("\x01\x01"),
		BYTES("\x01\x01\x00\x02"),
		BYTES("\x02\x01\x01\x02"),
		BYTES("\x02\x01\x01\x02\x00\x02"),
		BYTES("\x01\x01\x01\x02\x01"),
		BYTES("\x01\x01\x01\x03"),
		BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01\x02"),
		BYTES("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02"),
		BYTES("\x02\x01" LARGEST "\x02\x01\x02"),
		BYTES("\x01" LARGEST "\x01\x04"),
		BYTES("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x02"),
		BYTES("\x01\x01\x01\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		BYTES("\x01\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(damaged); i++) {
		struct fz_cell_reader r = fz_cell_reader_of(&codec, damaged[i]);
		struct fz_cell_value v;
		int n = 0;

		while (fz_cell_reader_next(&r, &v))
			n++;
		assert_true(r.bad);
		assert_true(n <= 2);
		assert_false(fz_cell_reader_next(&r, &v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_add_up),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_damaged),
	};

	int r = cmocka_run_group_tests(tests, NULL, NULL);
	fz_cell_codec_release(&codec);
	return r;
}
