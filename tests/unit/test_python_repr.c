/* SPDX-License-Identifier: MIT */
/* Plain values formatted like Python's repr. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <cmocka.h>

#include "record/python/repr.h"

static void expect(struct fz_buf *b, const char *text)
{
	assert_string_equal(fz_buf_view(b).p, text);
	fz_buf_release(b);
}

static void test_int(void **state)
{
	(void)state;
	struct fz_buf b = { 0 };
	uint32_t digits[FZ_PY_INT_DIGITS_MAX];

	assert_int_equal(fz_py_repr_int(NULL, 0, false, 10, &b), 1);
	expect(&b, "0");
	digits[0] = 1000000000;
	fz_py_repr_int(digits, 1, true, 10, &b);
	expect(&b, "-1000000000");
	digits[0] = 0, digits[1] = 0, digits[2] = 16; /* 2**64 */
	assert_int_equal(fz_py_repr_int(digits, 3, false, 20, &b), 20);
	expect(&b, "18446744073709551616");
	assert_int_equal(fz_py_repr_int(digits, 3, false, 5, &b), 20);
	expect(&b, "18446...");
	for (size_t i = 0; i < FZ_PY_INT_DIGITS_MAX; i++)
		digits[i] = (1 << FZ_PY_INT_DIGIT_BITS) - 1;
	assert_int_equal(fz_py_repr_int(digits, FZ_PY_INT_DIGITS_MAX, false, 4, &b), 9248);
	expect(&b, "4379..."); /* 2**30720 - 1 */
}

static void test_float(void **state)
{
	(void)state;
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1e15, "1000000000000000.0" },
		{ 1e16, "1e+16" },
		{ 123456789012345680.0, "1.2345678901234568e+17" },
		{ 9999999999999998.0, "9999999999999998.0" },
		{ 0.0001, "0.0001" },
		{ 0.00001, "1e-05" },
		{ 5e-324, "5e-324" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 100, "100.0" },
		{ 0x1p-44, "5.684341886080802e-14" },
		{ -0x1p-44, "-5.684341886080802e-14" },
		{ 0x1p-21, "4.76837158203125e-07" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ NAN, "nan" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_buf b = { 0 };
		fz_py_repr_float(cases[i].v, &b);
		expect(&b, cases[i].text);
	}
}

static void test_text(void **state)
{
	(void)state;
	const uint16_t two[] = { 0x65e5, 0xd800, 0x202e, '\'' };
	const uint32_t four[] = { 0x1f600, 0x10ffff, 0x7fffffff };
	struct fz_buf b = { 0 };

	fz_py_repr_text("it's", 4, 1, false, &b);
	expect(&b, "\"it's\"");
	fz_py_repr_text("\"'\\\x1b\x9b\xe9", 6, 1, true, &b);
	expect(&b, "'\"\\'\\\\\\x1b\\x9b\xc3\xa9'...");
	fz_py_repr_text(two, 4, 2, false, &b);
	expect(&b, "\"\xe6\x97\xa5\\ud800\\u202e'\"");
	fz_py_repr_text(four, 3, 4, false, &b);
	expect(&b, "'\xf0\x9f\x98\x80\\U0010ffff\\U7fffffff'");
	fz_py_repr_bytes((const uint8_t *)"a\0\xff\n", 4, false, &b);
	expect(&b, "b'a\\x00\\xff\\n'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_int),
		cmocka_unit_test(test_float),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
