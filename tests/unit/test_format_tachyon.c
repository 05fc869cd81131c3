/* SPDX-License-Identifier: MIT */
/* The .bin reader against recordings of CPython 3.15 and the text its own replay made of them. */
#include "format_help.h"

static void check_golden(const char *bin, const char *text)
{
	fz_auto(fz_free_ptr) char *path = shared_file(bin);
	fz_auto(fz_free_ptr) char *golden_path = shared_file(text);
	fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);
	fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_collapsed);
	fz_auto(fz_free_ptr) char *want = read_file(golden_path, NULL);

	assert_string_equal(got.p, want);
}

static void test_golden(void **state)
{
	static const char *const names[] = { "base", "deepbase", "slow", "small", "small0", "th1" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *bin = fz_asprintf("tachyon/vectors/%s.bin", names[i]);
		fz_auto(fz_free_ptr) char *text =
			fz_asprintf("tachyon/vectors/%s.col.txt", names[i]);
		check_golden(bin, text);
	}
	check_golden("tachyon/w1.bin", "tachyon/w1.collapsed");
	check_golden("tachyon/w2.bin", "tachyon/w2.collapsed");
}

/* What we write of a recording gives the same text, threads and facts as the recording. */
static void test_rewrite(void **state)
{
	static const char *const names[] = { "base", "deepbase", "fib1",   "one", "r100",  "r1k",
					     "slow", "small",    "small0", "th1", "twice", "wrap" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *bin = fz_asprintf("tachyon/vectors/%s.bin", names[i]);
		fz_auto(fz_free_ptr) char *path = shared_file(bin);
		fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);
		fz_auto(fz_buf_release) struct fz_buf again = save_bytes(p, &fz_format_tachyon);
		fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
		struct fz_error err;
		if (load_bytes(again.p, again.n, "again.bin", &q, &err))
			fail_msg("%s: %s", bin, err.message);
		fz_auto(fz_buf_release) struct fz_buf a = save_bytes(p, &fz_format_collapsed);
		fz_auto(fz_buf_release) struct fz_buf b = save_bytes(q, &fz_format_collapsed);
		assert_string_equal(a.p, b.p);
		assert_int_equal(p->samples.n, q->samples.n);
		assert_int_equal(p->thread_count, q->thread_count);
		assert_int_equal(p->recording.interval_ns, q->recording.interval_ns);
		assert_int_equal(p->recording.duration_ns, q->recording.duration_ns);
		assert_int_equal(p->recording.mode, q->recording.mode);
		assert_int_equal(p->recording.features, q->recording.features);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_rewrite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
