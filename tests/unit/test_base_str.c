/* SPDX-License-Identifier: MIT */
/* Untrusted text, numbers in it, and text for display. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/str.h"
#include "base/text.h"

static void test_parse_u64(void **state)
{
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   " 1",
					   "1 ",
					   "0x1",
					   "1.0",
					   "18446744073709551616",
					   "99999999999999999999999" };
	uint64_t v = 42;

	(void)state;
	assert_true(fz_parse_u64(FZ_STR("18446744073709551615"), UINT64_MAX, &v));
	assert_true(v == UINT64_MAX);
	assert_true(fz_parse_u64(FZ_STR("007"), 7, &v));
	assert_int_equal(v, 7);
	assert_false(fz_parse_u64(FZ_STR("8"), 7, &v));
	for (size_t i = 0; i < FZ_ARRAY_LEN(bad); i++)
		assert_false(fz_parse_u64(fz_str_of(bad[i]), UINT64_MAX, &v));
	assert_int_equal(v, 7); /* untouched */
}

static void test_parse_hex(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(fz_parse_hex(FZ_STR("7f3Ac0 x"), &v), 6);
	assert_int_equal(v, 0x7f3ac0);
	assert_int_equal(fz_parse_hex(FZ_STR("ffffffff81a4b2c0"), &v), 16);
	assert_true(v == 0xffffffff81a4b2c0);
	assert_int_equal(fz_parse_hex(FZ_STR("00000000000000000005"), &v), 20);
	assert_int_equal(v, 5);
	assert_int_equal(fz_parse_hex(FZ_STR("12345678123456781"), &v), 17);
	assert_true(v == UINT64_MAX);
	assert_int_equal(fz_parse_hex(FZ_STR("1@g`"), &v), 1);
	assert_int_equal(fz_parse_hex(FZ_STR("0x1"), NULL), 1);
	assert_int_equal(fz_parse_hex(FZ_STR(""), &v), 0);
	assert_int_equal(v, 0);
}

static void test_parse_decimal(void **state)
{
	static const char *const bad[] = { "", ".", "1e5", "-1", "nan", "1.2.3", "1 " };
	double v = 0;

	(void)state;
	assert_true(fz_parse_decimal(FZ_STR("0.5"), &v) && v == 0.5);
	assert_true(fz_parse_decimal(FZ_STR("12"), &v) && v == 12);
	assert_true(fz_parse_decimal(FZ_STR("3."), &v) && v == 3);
	assert_true(fz_parse_decimal(FZ_STR(".25"), &v) && v == 0.25);
	for (size_t i = 0; i < FZ_ARRAY_LEN(bad); i++)
		assert_false(fz_parse_decimal(fz_str_of(bad[i]), &v));
}

static void test_words(void **state)
{
	struct fz_str line = FZ_STR(" \tone  two\r\n");

	(void)state;
	assert_true(fz_str_eq(fz_str_trimmed(line), FZ_STR("one  two")));
	assert_true(fz_str_eq(fz_str_take_word(&line), FZ_STR("one")));
	assert_true(fz_str_eq(fz_str_take_word(&line), FZ_STR("two")));
	assert_int_equal(fz_str_take_word(&line).n, 0);

	struct fz_str list = FZ_STR("attrs 23.1.0, yaml 6.0, ");
	assert_true(fz_str_eq(fz_str_take_item(&list, ", "), FZ_STR("attrs 23.1.0")));
	assert_true(fz_str_eq(fz_str_take_item(&list, ", "), FZ_STR("yaml 6.0")));
	assert_int_equal(list.n, 0);
	assert_int_equal(fz_str_take_item(&list, ", ").n, 0);
	assert_int_equal(fz_str_trimmed(FZ_STR(" \n ")).n, 0);
}

static void test_utf8(void **state)
{
	static const char *const good[] = {
		"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"
	};
	static const char *const bad[] = { "\x80",         "\xc3",         "\xc0\x80",
					   "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
					   "\xff",         "\xf0\x9f\x98" };
	char out[4];
	uint32_t code;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(good); i++)
		assert_true(fz_utf8_valid(fz_str_of(good[i])));
	for (size_t i = 0; i < FZ_ARRAY_LEN(bad); i++)
		assert_false(fz_utf8_valid(fz_str_of(bad[i])));
	for (uint32_t c = 0; c <= 0x10ffff; c += c < 0x1000 ? 1 : 97) {
		bool surrogate = c >= 0xd800 && c <= 0xdfff;
		size_t n = fz_utf8_encode(c, out);
		assert_int_equal(fz_utf8_decode(out, n, &code), n);
		assert_int_equal(code, surrogate ? 0xfffd : c);
	}
}

static void check_printable(const char *in, size_t n, const char *want)
{
	char out[64];
	size_t len = fz_str_printable(in, n, out, sizeof(out));

	assert_string_equal(out, want);
	assert_int_equal(len, strlen(want));
}

static void test_printable(void **state)
{
	char tiny[5];

	(void)state;
	check_printable("plain \xc3\xa9", 8, "plain \xc3\xa9");
	check_printable("a\nb\tc", 5, "a\\nb\\tc");
	check_printable("\x1b[31m", 5, "\\x1b[31m");
	check_printable("\xff\x80", 2, "\\xff\\x80");
	check_printable("\xc2\x9b", 2, "\\xc2\\x9b");          /* C1 */
	check_printable("\xe2\x80\xae", 3, "\\xe2\\x80\\xae"); /* right-to-left override */
	check_printable("a\0b", 3, "a\\x00b");
	/* an escape is never cut */
	assert_int_equal(fz_str_printable("ab\x01", 3, tiny, sizeof(tiny)), 2);
	assert_string_equal(tiny, "ab");
}

static void test_path_base(void **state)
{
	struct fz_str base = fz_path_base(FZ_STR("/a/b.py"));

	(void)state;
	assert_true(fz_str_eq(base, FZ_STR("b.py")));
	assert_true(fz_str_eq(fz_path_base(FZ_STR("b.py")), FZ_STR("b.py")));
	assert_true(fz_str_eq(fz_path_base(FZ_STR("dir/")), FZ_STR("dir/")));
	assert_int_equal(fz_path_base(FZ_STR("")).n, 0);
	assert_true(fz_str_eq(fz_path_folder(FZ_STR("/a/b.py")), FZ_STR("/a/")));
	assert_true(fz_str_eq(fz_path_folder(FZ_STR("/b.py")), FZ_STR("/")));
	assert_true(fz_str_eq(fz_path_folder(FZ_STR("b.py")), FZ_STR("./")));
	assert_true(fz_str_eq(fz_path_folder(FZ_STR("dir/")), FZ_STR("dir/")));
	/* Elsewhere a backslash is a part of a name. */
	assert_true(fz_str_eq(fz_path_base(FZ_STR("C:\\a\\b.py")), FZ_STR("b.py")));
	assert_true(fz_str_eq(fz_path_base(FZ_STR("\\\\host\\a/b.py")), FZ_STR("b.py")));
	assert_true(fz_str_eq(fz_path_base(FZ_STR("a\\b.py")), FZ_STR("a\\b.py")));
	assert_true(fz_str_eq(fz_path_folder(FZ_STR("C:\\a\\b.py")), FZ_STR("C:\\a\\")));
}

static void test_compare(void **state)
{
	(void)state;
	assert_int_equal(fz_str_shared(FZ_STR("abc"), FZ_STR("abd")), 2);
	assert_int_equal(fz_str_shared(FZ_STR("ab"), FZ_STR("abd")), 2);
	assert_int_equal(fz_str_shared(FZ_STR(""), FZ_STR("a")), 0);
	assert_true(fz_str_cmp(FZ_STR("a"), FZ_STR("b")) < 0);
	assert_true(fz_str_cmp(FZ_STR("ab"), FZ_STR("a")) > 0);
	assert_true(fz_str_cmp(FZ_STR(""), FZ_STR("")) == 0);
	assert_true(fz_str_starts(FZ_STR("abc"), "ab") && !fz_str_starts(FZ_STR("a"), "ab"));
	assert_true(fz_str_ends(FZ_STR("abc"), "bc") && !fz_str_ends(FZ_STR("c"), "bc"));
}

/* tests/web/unit_intervals.js has the same values for pages. */
static void test_rounding(void **state)
{
	(void)state;
	static const struct {
		double value;
		const char *unit, *text;
	} cases[] = {
		{ 1625e6, "ns", "1.62 s" },
		{ 112.5e6, "ns", "112 ms" },
		{ 999.6e6, "ns", "1.00 s" },
		{ 99.97e6, "ns", "100 ms" },
		{ 9.997e6, "ns", "10.0 ms" },
		{ 1.5, "ns", "2 ns" },
		{ 0x1.4p40, "bytes", "1.25 TiB" },
		{ 5, "bytes", "5 B" },
		{ 0, "bytes", "0 B" },
		{ 2.375, "samples", "2.4" },
		{ 100.5, "samples", "100" },
		{ 1234567, "samples", "1,234,567" },
	};
	char b[FZ_NUMBER_SIZE];

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		assert_string_equal(fz_format_value(cases[i].value, cases[i].unit, b),
				    cases[i].text);
	assert_string_equal(fz_format_percent(0.06125, b), "6.1 %");
	assert_string_equal(fz_format_percent(9.994, b), "999.4 %");
	assert_string_equal(fz_format_percent(9.995, b), "999.5 %"); /* 999.4999... */
	assert_string_equal(fz_format_percent(-9.995, b), "-999.5 %");
	assert_string_equal(fz_format_percent(9.9951, b), "1,000 %");
}

static void test_human_readable_numbers(void **state)
{
	char b[FZ_NUMBER_SIZE];

	(void)state;
	assert_string_equal(fz_format_count(0, b), "0");
	assert_string_equal(fz_format_count(999, b), "999");
	assert_string_equal(fz_format_count(-1234567, b), "-1,234,567");
	assert_string_equal(fz_format_count(INT64_MIN, b), "-9,223,372,036,854,775,808");
	assert_string_equal(fz_format_decimal(1234.55, 1, b), "1,234.5");
	assert_string_equal(fz_format_decimal(-0.01, 1, b), "0.0");
	assert_string_equal(fz_format_ns(1234567890, b), "1.23 s");
	assert_string_equal(fz_format_ns(45600000, b), "45.6 ms");
	assert_string_equal(fz_format_ns(789000, b), "789 us");
	assert_string_equal(fz_format_ns(12, b), "12 ns");
	assert_string_equal(fz_format_value(2048, "bytes", b), "2.00 KiB");
	assert_string_equal(fz_format_value(12345, "count", b), "12,345");
	assert_string_equal(fz_format_change(1500000, "ns", b), "+1.50 ms");
	assert_string_equal(fz_format_change(-1500000, "ns", b), "-1.50 ms");
	assert_string_equal(fz_format_percent(0.1234, b), "12.3 %");
	assert_string_equal(fz_format_percent_change(0.1234, b), "+12.3 %");
	assert_string_equal(fz_format_plural(1, "sample", b), "1 sample");
	assert_string_equal(fz_format_plural(2000, "sample", b), "2,000 samples");
}

static void test_style(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	unsetenv("NO_COLOR");
	unsetenv("FORCE_COLOR");
	unsetenv("CLICOLOR_FORCE");
	assert_false(fz_style_of(fds[1], FZ_COLOR_AUTO).color);
	assert_true(fz_style_of(fds[1], FZ_COLOR_ALWAYS).color);
	setenv("FORCE_COLOR", "1", 1);
	assert_true(fz_style_of(fds[1], FZ_COLOR_AUTO).color);
	setenv("NO_COLOR", "1", 1);
	assert_false(fz_style_of(fds[1], FZ_COLOR_AUTO).color);
	setenv("LC_ALL", "C", 1);
	assert_true(fz_style_of(fds[1], FZ_COLOR_AUTO).ascii);
	setenv("LC_ALL", "en_US.UTF-8", 1);
	assert_false(fz_style_of(fds[1], FZ_COLOR_AUTO).ascii);
	setenv("COLUMNS", "20", 1);
	assert_int_equal(fz_style_of(fds[1], FZ_COLOR_AUTO).columns, 40);
	setenv("COLUMNS", "132", 1);
	assert_int_equal(fz_style_of(fds[1], FZ_COLOR_AUTO).columns, 132);
	close(fds[0]);
	close(fds[1]);
}

/* A view without a zero at its end, or with one inside. */
static void test_matches(void **state)
{
	struct fz_str zero = { "ab\0cd", 5 };
	regex_t regex;

	(void)state;
	assert_int_equal(regcomp(&regex, "^b?cd$", REG_EXTENDED | REG_NOSUB), 0);
	assert_true(fz_str_matches(FZ_STR("bcd"), &regex));
	assert_true(fz_str_matches((struct fz_str){ "bcdef", 3 }, &regex));
	assert_false(fz_str_matches((struct fz_str){ "bcd", 2 }, &regex));
	assert_false(fz_str_matches((struct fz_str){ "bcd", 0 }, &regex));
	regfree(&regex);
	assert_int_equal(regcomp(&regex, "cd", REG_EXTENDED), 0);
	assert_true(fz_str_matches(zero, &regex));
	regfree(&regex);
}

static void test_find_outside(void **state)
{
	(void)state;
	static const struct {
		const char *s, *text;
		size_t at;
	} cases[] = {
		{ "a as b", " as ", 1 },
		{ "<a as b> as c", " as ", 8 },
		{ "fn(a) -> b as c", " as ", 10 },
		{ "fn() -> a>", ">", 9 }, /* that of an arrow is no bracket */
		{ "(a::b)[c::d]{e::f}", "::", 18 },
		{ "a)>::b", "::", 3 },
		{ "a<b", ">", 3 },
		{ "a", "ab", 1 },
		{ "", "a", 0 },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		assert_int_equal(fz_str_find_outside(fz_str_of(cases[i].s), cases[i].text),
				 cases[i].at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_u64),
		cmocka_unit_test(test_parse_hex),
		cmocka_unit_test(test_parse_decimal),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_path_base),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_human_readable_numbers),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_style),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_find_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
