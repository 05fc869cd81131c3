/* SPDX-License-Identifier: MIT */
/* Names of benchmarks: without their file, cut where they agree, and still different. */
#include "format_help.h"

#include "bench/short_names.h"

enum { MOST = 8 };

static void expect(const char *const names[], const char *const wanted[], const char *const files[])
{
	fz_auto(fz_arena_release) struct fz_arena arena = { 0 };
	struct fz_short_name got[MOST];
	struct fz_str list[MOST] = { 0 };
	uint32_t n = 0;

	for (; names[n]; n++)
		list[n] = fz_str_of(names[n]);
	fz_short_names(&arena, list, n, got);
	for (uint32_t i = 0; i < n; i++) {
		struct fz_str s = got[i].shown;
		if (!fz_str_eq(s, fz_str_of(wanted[i])))
			fail_msg("%s: %.*s, not %s", names[i], (int)s.n, s.p, wanted[i]);
		assert_true(fz_str_eq(got[i].file, fz_str_of(files ? files[i] : "")));
	}
}

static void test_files(void **state)
{
	(void)state;
	expect((const char *const[]){ "t/a.py::x", "t/a.py::y[b::c]", "plain", "ns::x::y", NULL },
	       (const char *const[]){ "x", "y[b::c]", "plain", "ns::x::y" },
	       (const char *const[]){ "t/a.py", "t/a.py", "", "" });
	/* Two files with the same test; one name by two metrics. */
	expect((const char *const[]){ "a.py::x", "b.py::x", "b.py::y", "b.py::y", NULL },
	       (const char *const[]){ "a.py::x", "b.py::x", "y", "y" },
	       (const char *const[]){ "", "", "b.py", "b.py" });
}

static void test_differences(void **state)
{
	(void)state;
	expect((const char *const[]){ "t.py::test_parse_document_of_orders[small]",
				      "t.py::test_parse_document_of_orders[large]",
				      "t.py::test_parse_document_of_users[small]", "t.py::other",
				      NULL },
	       (const char *const[]){ "test_parse_…orders[small]", "test_parse_…orders[large]",
				      "test_parse_…users[small]", "other" },
	       (const char *const[]){ "t.py", "t.py", "t.py", "t.py" });
	/* Below the limit nothing is cut. */
	expect((const char *const[]){ "test_parse_document_1", "test_parse_document2", NULL },
	       (const char *const[]){ "test_parse_document_1", "test_parse_document2" }, NULL);
	/* One is the start of another; they differ in several places. */
	expect((const char *const[]){ "test_parse_document_of_x", "test_parse_document_of_x2",
				      "test_parse_document_of_y_with_a_long_list_of_words_1",
				      "test_parse_document_of_y_with_a_long_list_of_words_2",
				      NULL },
	       (const char *const[]){ "test_parse_…x", "test_parse_…x2",
				      "test_parse_…y_with_a_lo…1", "test_parse_…y_with_a_lo…2" },
	       NULL);
	/* No separator, and characters of several bytes. */
	expect((const char *const[]){ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
				      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", NULL },
	       (const char *const[]){ "aaaaaaaaaaa…aaaaaaab", "aaaaaaaaaaa…aaaaaaac" }, NULL);
	expect((const char *const[]){ "ééééééééééééééé1", "ééééééééééééééé2", NULL },
	       (const char *const[]){ "ééééé…ééé1", "ééééé…ééé2" }, NULL);
	/* The start shows the group. */
	expect((const char *const[]){ "test_parse_one_of_many_x1", "test_parse_one_of_many_x2",
				      "test_parse_two_of_many_x1", "test_parse_two_of_many_x2",
				      NULL },
	       (const char *const[]){ "test_parse_one_…x1", "test_parse_one_…x2",
				      "test_parse_two_…x1", "test_parse_two_…x2" },
	       NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
