/* SPDX-License-Identifier: MIT */
/* Tables of text; see base/table.h. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <locale.h>
#include <cmocka.h>

#include "base/io.h"
#include "base/short_name.h"
#include "base/table.h"
#include "format_help.h"

struct item {
	const char *size, *kind, *name;
};

static void add_item(struct fz_table *t, size_t i, const void *arg)
{
	const struct item *item = &((const struct item *)arg)[i];

	fz_table_cell(t, item->size);
	fz_table_cell(t, item->kind);
	fz_table_text(fz_str_of(item->name), fz_table_last(t), t->style, t->out);
}

static const struct fz_column columns[] = {
	{ "size", FZ_RIGHT },
	{ "kind", .gap = 2, .max = 6 },
	{ "name", .gap = 1 },
};

static void expect(const struct item *items, size_t n, const struct fz_style *style,
		   const char *want)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, &out);
	fz_table_print(&t, n, add_item, items);
	assert_string_equal(out.p, want);
}

static const struct fz_style plain = { .ascii = true, .columns = 40 };
static const struct fz_style utf8 = { .columns = 40 };

static void widths_follow_the_content(void **state)
{
	static const struct item items[] = { { "1", "a", "x" }, { "1,234,567", "b", "y" } };

	(void)state;
	expect(items, 1, &plain,
	       "size  kind name\n"
	       "   1  a    x\n");
	expect(items, 2, &plain,
	       "     size  kind name\n"
	       "        1  a    x\n"
	       "1,234,567  b    y\n");
}

static void no_rows_and_empty_cells(void **state)
{
	static const struct item items[] = { { "", "", "" }, { "1", "", "" } };

	(void)state;
	expect(items, 0, &plain, "size  kind name\n");
	expect(items + 1, 1, &plain,
	       "size  kind name\n"
	       "   1\n");
}

/* The euro sign is three bytes in one column, the Chinese characters two columns each. */
static void columns_are_not_bytes(void **state)
{
	static const struct item items[] = { { "1 \u20ac", "caf\u00e9", "x" },
					     { "100 $", "\u6f22\u5b57", "y" } };

	(void)state;
	expect(items, 2, &utf8,
	       " size  kind name\n"
	       "  1 \u20ac  caf\u00e9 x\n"
	       "100 $  \u6f22\u5b57 y\n");
	expect(items, 1, &plain,
	       "size  kind name\n"
	       " 1 ?  caf? x\n");
}

static void long_text_is_cut(void **state)
{
	static const struct item items[] = {
		{ "1", "generator", "a_name_of_more_than_thirty_columns_in_all" },
	};

	(void)state;
	expect(items, 1, &utf8,
	       "size  kind   name\n"
	       "   1  gener\u2026 a_name_of_more_than_thirty\u2026\n");
	expect(items, 1, &plain,
	       "size  kind   name\n"
	       "   1  gen... a_name_of_more_than_thir...\n");
}

/* Paths are cut at their front, but many packages have an __init__.py. */
static void paths_keep_what_tells_them_apart(void **state)
{
	static const struct {
		const char *path;
		unsigned columns;
		const char *shown;
	} cases[] = {
		{ "lib/faker/core.py", 30, "lib/faker/core.py" },
		{ "lib/faker/core.py", 12, "\u2026ker/core.py" },
		{ "lib/faker/__init__.py", 20, "\u2026b/faker/__init__.py" },
		{ "lib/faker/__init__.py", 18, "\u2026faker/__init__.py" },
		{ "lib/faker/__init__.py", 17, "faker/__init__.py" },
		{ "lib/faker/__init__.py", 16, "faker/__init__.\u2026" },
		{ "lib/faker/__main__.py", 8, "faker/_\u2026" },
		{ "faker/__init__.py", 17, "faker/__init__.py" },
		{ "/__init__.py", 12, "/__init__.py" },
		{ "__init__.py", 8, "\u2026it__.py" },
	};
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_buf_reset(&out);
		fz_table_path(fz_str_of(cases[i].path), cases[i].columns, &utf8, &out);
		assert_string_equal(out.p, cases[i].shown);
	}
}

static void hostile_text_is_harmless(void **state)
{
	static const struct item items[] = { { "\033[2J", "\n", "a\rb\xff" } };

	(void)state;
	expect(items, 1, &plain,
	       "   size  kind name\n"
	       "\\x1b[2J  \\n   a\\x0db\\xff\n");
}

/* A name at the front gets what the others leave; the last column reserves its minimum. */
static void column_fits(void **state)
{
	static const struct fz_column fitting[] = {
		{ "name", .min = 6, .fit = true },
		{ "size", FZ_RIGHT, .gap = 2, .min = 8 },
		{ "note", .gap = 2, .min = 10 },
	};
	static const struct fz_style narrow = { .ascii = true, .columns = 26 };
	static const char name[] = "a_long_name_of_a_benchmark";
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_table t;

	(void)state;
	struct item item = { name, "1", "same" };
	fz_table_init(&t, fitting, FZ_ARRAY_LEN(fitting), &plain, &out);
	fz_table_print(&t, 1, add_item, &item);
	assert_string_equal(out.p, "name                    size  note\n"
				   "a_long_name_of_...         1  same\n");
	fz_buf_reset(&out);
	fz_table_init(&t, fitting, FZ_ARRAY_LEN(fitting), &narrow, &out);
	fz_table_print(&t, 1, add_item, &item);
	assert_string_equal(out.p, "name        size  note\n"
				   "a_l...         1  same\n");
}

static void hidden_columns_and_titles(void **state)
{
	static const struct item items[] = { { "1", "a", "x" } };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_table t;

	(void)state;
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &plain, &out);
	t.hidden = 1u << 1;
	t.titles[0] = "instructions";
	t.titles[2] = NULL;
	fz_table_print(&t, 1, add_item, items);
	assert_string_equal(out.p, "instructions\n"
				   "           1 x\n");
}

static void add_item_with_notes(struct fz_table *t, size_t i, const void *arg)
{
	t->hue = FZ_HUE_RED;
	add_item(t, i, arg);
	fz_buf_printf(t->out, " %u", fz_table_below(t, 1));
	fz_buf_printf(t->out, "%u", fz_table_below(t, 2));
}

/* A colour begins with its first column and ends with its last text. */
static void lines_below_a_row(void **state)
{
	static const struct fz_style coloured = { .color = true, .ascii = true, .columns = 40 };
	static const struct item items[] = { { "1", "a", "x" } };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_table t;

	(void)state;
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &coloured, &out);
	fz_table_print(&t, 1, add_item_with_notes, items);
	fz_table_more(&t, 0, "item");
	fz_table_more(&t, 1, "item");
	assert_string_equal(out.p, "\033[2msize  kind name\033[0m\n"
				   "\033[31m   1  a\033[0m    x\n"
				   "       34\n"
				   "           29\n"
				   "           and 1 more item\n");
}

/* Without measuring, long text moves what follows. */
static void table_under_construction(void **state)
{
	static const struct item items[] = { { "1,000", "a", "x" } };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_table t;

	(void)state;
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &plain, &out);
	fz_table_titles(&t);
	fz_table_rows(&t, 1, add_item, items);
	assert_string_equal(out.p, "size  kind name\n"
				   "1,000  a x\n");
}

/* The table has a line for each name; web/labels.js has to agree with it, too. */
static void names_are_short(void **state)
{
	fz_auto(fz_free_ptr) char *path = tests_file("data/short_names.tsv");
	size_t n;
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 1 << 20, &n);
	struct fz_str rest = { text, n };

	(void)state;
	for (fz_str_take_line(&rest); rest.n;) {
		fz_auto(fz_buf_release) struct fz_buf got = { 0 };
		struct fz_str line = fz_str_take_line(&rest);
		struct fz_str name = fz_str_take_item(&line, "\t");
		struct fz_str expected = fz_str_take_item(&line, "\t");
		fz_short_name(name, "\u2026", &got);
		assert_true(fz_str_eq(fz_buf_view(&got), expected));
		assert_true(fz_str_eq(fz_str_component(expected), line));
	}
}

static void names_keep_their_last_component(void **state)
{
	static const struct {
		const char *name;
		unsigned columns;
		const char *expected;
	} cases[] = {
		{ "std::map<a::B, int>::find", 25, "std::map<a::B, int>::find" },
		{ "std::map<a::B, int>::find", 24, "std::map<\u2026>::find" },
		{ "std::map<std::pair<a, b> >::find", 16, "\u2026d::map<\u2026>::find" },
		{ "std::map<a::B, int>::find_everything", 10, "find_ever\u2026" },
		{ "<a::Vec<a::T> as a::Drop>::drop", 24, "<Vec<\u2026> as Drop>::drop" },
		{ "modify_title.<locals>.<listcomp>", 28, "modify_title.<\u2026>.<listcomp>" },
		{ "modify_title.<locals>.<listcomp>", 20, "\u2026itle.<\u2026>.<listcomp>" },
		{ "modify_title.<locals>.<listcomp>", 13, "\u2026<listcomp>" },
		{ "broken<a::b", 10, "broken<a:\u2026" },
		{ "f<int>", 5, "f<in\u2026" },
		{ "", 5, "" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_buf_release) struct fz_buf out = { 0 };
		fz_table_name(fz_str_of(cases[i].name), cases[i].columns, &utf8, &out);
		assert_string_equal(out.p ? out.p : "", cases[i].expected);
	}
}

int main(void)
{
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_follow_the_content),
		cmocka_unit_test(no_rows_and_empty_cells),
		cmocka_unit_test(columns_are_not_bytes),
		cmocka_unit_test(long_text_is_cut),
		cmocka_unit_test(paths_keep_what_tells_them_apart),
		cmocka_unit_test(names_are_short),
		cmocka_unit_test(names_keep_their_last_component),
		cmocka_unit_test(hostile_text_is_harmless),
		cmocka_unit_test(column_fits),
		cmocka_unit_test(hidden_columns_and_titles),
		cmocka_unit_test(lines_below_a_row),
		cmocka_unit_test(table_under_construction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
