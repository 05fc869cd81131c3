/* SPDX-License-Identifier: MIT */
/* Text in Markdown tables: where names may wrap, and links to lines. */
#include "format_help.h"

#include "report/markup.h"

static void expect(struct fz_buf *got, const char *wanted)
{
	assert_int_equal(got->n, strlen(wanted));
	assert_memory_equal(got->p, wanted, got->n);
	fz_buf_reset(got);
}

static void test_code(void **state)
{
	static const struct {
		const char *text, *code;
	} cases[] = {
		{ "", "<code></code>" },
		{ "parse_body", "<code>parse_<wbr>body</code>" },
		{ "parse_issue_fixed", "<code>parse_<wbr>issue_<wbr>fixed</code>" },
		{ "tests/test_bench.py::test_x",
		  "<code>tests/<wbr>test_<wbr>bench.<wbr>py::<wbr>test_x</code>" },
		{ "HTMLParserOfPages", "<code>HTMLPars<wbr>erOf<wbr>Pages</code>" },
		{ "averyveryverylongname", "<code>averyver<wbr>yverylon<wbr>gname</code>" },
		{ "éééééééé", "<code>éééé<wbr>éééé</code>" },
		{ "test_parse_…large", "<code>test_<wbr>parse&#95;<wbr>…large</code>" },
		/* Possible markup stays text, and no user is mentioned. */
		{ "site-packages/x", "<code>site-<wbr>packages/<wbr>x</code>" },
		{ "<module>|@me", "<code>&#60;module&#62;<wbr>&#124;@<!-- -->me</code>" },
	};
	struct fz_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_markdown_code(&out, fz_str_of(cases[i].text));
		expect(&out, cases[i].code);
	}
	fz_markdown_value(&out, "6.98 ms");
	expect(&out, "6.98&nbsp;ms");
	fz_buf_release(&out);
}

static void test_place(void **state)
{
	struct fz_buf out = { 0 };

	(void)state;
	fz_markdown_place(&out, FZ_STR("a.py"), 12, NULL, FZ_STR("a.py"));
	expect(&out, "<sub><code>a.py&#58;12</code></sub>");
	fz_markdown_place(&out, FZ_STR("a.py"), 12, "", FZ_STR(""));
	expect(&out, "<sub><code>a.py&#58;12</code></sub>");
	fz_markdown_place(&out, FZ_STR("a.py"), 12, "", FZ_STR("a.py"));
	expect(&out, "<sub>[<code>a.py&#58;12</code>](a.py#L12)</sub>");
	fz_markdown_place(&out, FZ_STR("a.py"), 0, "https://x/", FZ_STR("s/a b).py"));
	expect(&out, "<sub>[<code>a.py</code>](https://x/s/a%20b%29.py)</sub>");
	fz_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
