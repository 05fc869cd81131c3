/* SPDX-License-Identifier: MIT */
/* Pages and pictures: columns are read back, text never becomes markup, extreme data. The page's
 * behaviour in a browser is tested in tests/web. */
#include "report/html.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/page_columns.h"
#include "report/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <zlib.h>

/* ---- columns ---- */

static struct fz_cursor column(const struct fz_columns *c, uint32_t i)
{
	return fz_cursor_of(c->blob.p + c->list[i].at, c->list[i].size);
}

static void numbers_are_divided_and_read_back(void **state)
{
	static const int64_t times[] = { 3000000, 0, 1000000, 129000000 };
	static const int64_t mixed[] = { -4, 6, 0, INT64_MIN + 2 };
	struct fz_columns c = { 0 };

	(void)state;
	fz_columns_numbers(&c, "times", times, FZ_ARRAY_LEN(times));
	fz_columns_numbers(&c, "mixed", mixed, FZ_ARRAY_LEN(mixed));
	fz_columns_numbers(&c, "none", NULL, 0);
	assert_int_equal(c.list[0].type, 'u');
	assert_int_equal(c.list[0].unit, 1000000);
	assert_int_equal(c.list[0].size, 5); /* 129 takes two bytes */
	assert_int_equal(c.list[1].type, 'z');
	assert_int_equal(c.list[1].unit, 2);
	assert_int_equal(c.list[2].size, 0);
	struct fz_cursor u = column(&c, 0), z = column(&c, 1);
	for (size_t i = 0; i < FZ_ARRAY_LEN(times); i++)
		assert_int_equal((int64_t)fz_cursor_varint(&u) * c.list[0].unit, times[i]);
	for (size_t i = 0; i < FZ_ARRAY_LEN(mixed); i++)
		assert_int_equal(fz_cursor_zigzag(&z) * c.list[1].unit, mixed[i]);
	fz_columns_release(&c);
}

static void number_of_columns_is_unlimited(void **state)
{
	static const int64_t zero[] = { 0 };
	struct fz_columns c = { 0 };

	(void)state;
	for (int64_t i = 0; i < 1000; i++) {
		fz_columns_numbers(&c, "plain", &i, 1);
		fz_columns_beside(&c, "beside", &i, zero, 1);
		fz_columns_begin_strings(&c, "names");
		fz_columns_string(&c, FZ_STR("x"));
		fz_columns_end_strings(&c);
	}
	assert_int_equal(c.count, 3000);
	struct fz_cursor last = column(&c, 2998);
	assert_int_equal((int64_t)fz_cursor_varint(&last) * c.list[2998].unit, 999);
	fz_columns_release(&c);
}

static void nearly_equal_columns_are_written_as_differences(void **state)
{
	enum { N = 1000 };
	static int64_t base[N], near[N], far[N];
	struct fz_columns c = { 0 };

	(void)state;
	for (int64_t i = 0; i < N; i++) {
		base[i] = (int64_t)(fz_hash64((uint64_t)i) >> 50) * 10;
		near[i] = base[i] + (i % 3 - 1) * 10;
		far[i] = 70;
	}
	fz_columns_numbers(&c, "base", base, N);
	fz_columns_beside(&c, "near", near, base, N);
	fz_columns_beside(&c, "far", far, base, N);
	fz_columns_numbers(&c, "next", far, N);
	assert_int_equal(c.count, 4);
	assert_int_equal(c.list[1].type, 'd');
	assert_int_equal(c.list[1].size, N);
	assert_int_equal(c.list[2].type, 'u');
	assert_int_equal(c.list[2].at, c.list[1].at + N);
	assert_int_equal(c.list[3].at, c.list[2].at + N);
	struct fz_cursor d = column(&c, 1), u = column(&c, 2);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(base[i] + fz_cursor_zigzag(&d) * c.list[1].unit, near[i]);
		assert_int_equal((int64_t)fz_cursor_varint(&u) * c.list[2].unit, far[i]);
	}
	fz_columns_release(&c);
}

static size_t decode_base64(const char *text, size_t n, uint8_t *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = 0;
	uint32_t bits = 0;
	int have = 0;

	for (size_t i = 0; i < n && text[i] != '='; i++) {
		bits = bits << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
		have += 6;
		if (have >= 8)
			out[len++] = (uint8_t)(bits >> (have -= 8));
	}
	return len;
}

static void the_blob_survives_deflate_and_base64(void **state)
{
	enum { N = 20000 };
	struct fz_columns c = { 0 };
	fz_auto(fz_free_ptr) int64_t *v = fz_calloc(N, sizeof(*v));
	struct fz_output *out = fz_output_memory();

	(void)state;
	/* Each kind of column: noise, small numbers, repetitions, none, text. */
	for (int64_t i = 0; i < N; i++)
		v[i] = (int64_t)(fz_hash64((uint64_t)i) >> 20);
	fz_columns_numbers(&c, "noise", v, N);
	for (int64_t i = 0; i < N; i++)
		v[i] &= 7;
	fz_columns_numbers(&c, "small", v, N);
	for (int64_t i = 0; i < N; i++)
		v[i] = i % 100;
	fz_columns_numbers(&c, "repeated", v, N);
	fz_columns_numbers(&c, "none", v, 0);
	fz_columns_begin_strings(&c, "text");
	fz_columns_string(&c, FZ_STR("name"));
	fz_columns_end_strings(&c);
	fz_columns_write(&c, out);
	struct fz_buf *text = fz_output_buffer(out);
	assert_int_equal(text->n % 4, 0);
	fz_auto(fz_free_ptr) uint8_t *packed = fz_malloc(text->n);
	fz_auto(fz_free_ptr) uint8_t *plain = fz_malloc(c.blob.n + 1);
	z_stream z = { .next_in = packed,
		       .avail_in = (uInt)decode_base64(text->p, text->n, packed),
		       .next_out = plain,
		       .avail_out = (uInt)c.blob.n + 1 };
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, c.blob.n);
	assert_memory_equal(plain, c.blob.p, c.blob.n);
	inflateEnd(&z);
	fz_output_abort(out);
	fz_columns_release(&c);
}

/* ---- markup ---- */

static void text_is_escaped(void **state)
{
	static const struct {
		struct fz_str in;
		const char *out;
	} cases[] = {
		{ FZ_STR("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;" },
		{ FZ_STR("\xff\x00\x1b[0m\x7f"),
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd[0m\xef\xbf\xbd" },
		{ FZ_STR("\xe2\x80\xaegpj"), "\xef\xbf\xbdgpj" },
		{ FZ_STR("\t\nö"), "\t\nö" },
		{ FZ_STR(""), "" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_buf b = { 0 };
		fz_html_escape(&b, cases[i].in);
		assert_string_equal(b.p ? b.p : "", cases[i].out);
		fz_buf_release(&b);
	}
}

static void names_of_benchmarks_break_after_slashes_and_colons(void **state)
{
	static const char *const cases[][2] = {
		{ "test_it.py::test_parse", "test_it.py::<wbr>test_parse" },
		{ "a/b//c:d", "a/<wbr>b//<wbr>c:<wbr>d" },
		{ "<b>/", "&lt;b&gt;/" },
		{ "/ö", "/<wbr>ö" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_buf b = { 0 };
		fz_html_name(&b, fz_str_of(cases[i][0]));
		assert_string_equal(b.p ? b.p : "", cases[i][1]);
		fz_buf_release(&b);
	}
}

/* ---- documents ---- */

static struct fz_profile *small_profile(const char *leaf, int64_t leaf_weight)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread thread = { .tid = 1, .is_main = true };

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	uint32_t t = fz_profile_thread(p, &thread);
	uint32_t root = fz_profile_stack(
		p, FZ_NONE,
		fz_profile_frame_named(p, FZ_STR("main"), FZ_STR("/a/m.py"), 3, FZ_KIND_PYTHON));
	uint32_t top = fz_profile_stack(
		p, root,
		fz_profile_frame_named(p, fz_str_of(leaf), FZ_STR("/a/m.py"), 9, FZ_KIND_PYTHON));
	const int64_t root_weight = 40000000;
	fz_profile_add_sample(p, &(struct fz_sample){ .thread = t, .stack = root }, &root_weight);
	fz_profile_add_sample(p, &(struct fz_sample){ .thread = t, .stack = top }, &leaf_weight);
	return p;
}

static char *write_profile(const struct fz_profile *p, const struct fz_html_options *o,
			   int (*write)(const struct fz_profile *, const struct fz_html_options *,
					struct fz_output *, struct fz_error *))
{
	struct fz_output *out = fz_output_memory();
	struct fz_error err;

	assert_int_equal(write(p, o, out, &err), 0);
	char *text = fz_buf_take(fz_output_buffer(out));
	fz_output_abort(out);
	return text;
}

static char *write_diff(const struct fz_profile *base, const struct fz_profile *head,
			int (*write)(const struct fz_diff *, const struct fz_html_options *,
				     struct fz_output *, struct fz_error *))
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_diff_options options = { .cells = true, .lines = true, .scale = FZ_SCALE_TIME };
	struct fz_output *out = fz_output_memory();
	struct fz_diff *d;
	struct fz_error err;

	assert_int_equal(fz_diff_new(base, head, &options, &d, &err), 0);
	assert_int_equal(write(d, &o, out, &err), 0);
	fz_diff_free(d);
	char *text = fz_buf_take(fz_output_buffer(out));
	fz_output_abort(out);
	return text;
}

static void the_same_profile_gives_the_same_page(void **state)
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_profile *p = small_profile("leaf", 60000000);
	fz_auto(fz_free_ptr) char *a = write_profile(p, &o, fz_report_html_profile);
	fz_auto(fz_free_ptr) char *b = write_profile(p, &o, fz_report_html_profile);

	(void)state;
	assert_string_equal(a, b);
	assert_non_null(strstr(a, "<title>Flame graph</title>"));
	assert_null(strstr(a, "<!--fz:"));
	assert_null(strstr(a, "http://www.w3.org/1999"));
	fz_profile_free(p);
}

static void a_selected_root_is_in_the_title(void **state)
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_profile *p = small_profile("leaf", 60000000);

	(void)state;
	o.labels[FZ_HEAD] = "a.fz";
	fz_profile_set_fact(p, "part", FZ_STR("--filter --root main"));
	fz_auto(fz_free_ptr) char *whole = write_profile(p, &o, fz_report_html_profile);
	assert_non_null(strstr(whole, "<title>Flame graph &middot; a.fz</title>"));
	assert_non_null(strstr(whole, "\"root\": \"\""));
	fz_profile_set_fact(p, "root", FZ_STR("^main$"));
	fz_auto(fz_free_ptr) char *page = write_profile(p, &o, fz_report_html_profile);
	assert_non_null(strstr(page, "<title>main &middot; Flame graph &middot; a.fz</title>"));
	assert_non_null(strstr(page, "\"root\": \"main\""));
	fz_profile_free(p);
}

static void names_never_end_an_element(void **state)
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	const char *name = "</script><!--fz:data--></title><b>";

	(void)state;
	o.labels[FZ_HEAD] = name;
	struct fz_profile *p = small_profile(name, 60000000);
	fz_profile_set_fact(p, "command", fz_str_of(name));
	fz_auto(fz_free_ptr) char *page = write_profile(p, &o, fz_report_html_profile);
	fz_auto(fz_free_ptr) char *picture = write_profile(p, &o, fz_report_svg_profile);
	assert_null(strstr(page, name));
	assert_null(strstr(page, "</script><!--"));
	assert_null(strstr(picture, name));
	assert_non_null(strstr(picture, "&lt;/script&gt;&lt;!--fz:data--&gt;"));
	fz_profile_free(p);
}

static void a_picture_shows_what_was_removed(void **state)
{
	struct fz_profile *base = small_profile("old", 60000000);
	struct fz_profile *head = small_profile("fresh", 30000000);
	fz_auto(fz_free_ptr) char *text = write_diff(base, head, fz_report_svg_diff);

	(void)state;
	assert_non_null(strstr(text, "Gone · 60.0 ms"));
	assert_non_null(strstr(text, "− old (100.0 %)"));
	assert_non_null(strstr(text, "+ fresh (42.9 %) (new)"));
	assert_non_null(strstr(text, "self 0 s → 30.0 ms (+30.0 ms)"));
	fz_profile_free(base);
	fz_profile_free(head);
}

/* The library's reports have no names of the sides. */
static void picture_title_names_metric_and_files(void **state)
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_profile *p = small_profile("leaf", 60000000);
	fz_auto(fz_free_ptr) char *diff = write_diff(p, p, fz_report_svg_diff);
	fz_auto(fz_free_ptr) char *profile = write_profile(p, &o, fz_report_svg_profile);

	(void)state;
	assert_non_null(strstr(diff, "y=\"42\">wall: 100 ms → 100 ms"));
	assert_non_null(strstr(profile, "y=\"42\">wall: 100 ms"));
	o.labels[FZ_HEAD] = "a.fz";
	fz_auto(fz_free_ptr) char *named = write_profile(p, &o, fz_report_svg_profile);
	assert_non_null(strstr(named, "y=\"42\">a.fz · wall: 100 ms"));
	fz_profile_free(p);
}

static void empty_profiles_make_pages(void **state)
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_profile *empty = fz_profile_new();
	struct fz_profile *full = small_profile("leaf", 1);

	(void)state;
	fz_profile_add_metric(empty, FZ_STR("wall"), FZ_STR("ns"), 1, false);
	free(write_profile(empty, &o, fz_report_html_profile));
	fz_auto(fz_free_ptr) char *picture = write_profile(empty, &o, fz_report_svg_profile);
	assert_non_null(strstr(picture, "There are no samples to draw."));
	free(write_diff(empty, full, fz_report_html_diff));
	free(write_diff(full, empty, fz_report_html_diff));
	free(write_diff(full, empty, fz_report_svg_diff));
	free(write_diff(empty, empty, fz_report_svg_diff));
	fz_profile_free(empty);
	fz_profile_free(full);
}

static void no_metric_is_an_error(void **state)
{
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_profile *p = fz_profile_new();
	struct fz_output *out = fz_output_memory();
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_report_html_profile(p, &o, out, &err), FZ_EINPUT);
	assert_int_equal(fz_report_svg_profile(p, &o, out, &err), FZ_EINPUT);
	fz_output_abort(out);
	fz_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_divided_and_read_back),
		cmocka_unit_test(number_of_columns_is_unlimited),
		cmocka_unit_test(nearly_equal_columns_are_written_as_differences),
		cmocka_unit_test(the_blob_survives_deflate_and_base64),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(names_of_benchmarks_break_after_slashes_and_colons),
		cmocka_unit_test(the_same_profile_gives_the_same_page),
		cmocka_unit_test(a_selected_root_is_in_the_title),
		cmocka_unit_test(names_never_end_an_element),
		cmocka_unit_test(a_picture_shows_what_was_removed),
		cmocka_unit_test(picture_title_names_metric_and_files),
		cmocka_unit_test(empty_profiles_make_pages),
		cmocka_unit_test(no_metric_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
