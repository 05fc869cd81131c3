/* SPDX-License-Identifier: MIT */
/* The .bin reader on recordings of CPython 3.15, compared with the output of CPython's own replay:
 * those of tests/data/tachyon, and the shared ones if present. */
#include "format_help.h"

static const char *const own[] = { "plain", "slow", "cpu", "raw", "opcodes", "deep", "threads" };

static void check_golden(const char *path, const char *golden_path)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);
	fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_collapsed);
	fz_auto(fz_free_ptr) char *want = read_file(golden_path, NULL);

	assert_string_equal(got.p, want);
}

static void check_shared_golden(const char *bin, const char *text)
{
	fz_auto(fz_free_ptr) char *path = shared_file(bin);
	fz_auto(fz_free_ptr) char *golden_path = shared_file(text);

	check_golden(path, golden_path);
}

static void test_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(own); i++) {
		fz_auto(fz_free_ptr) char *bin = tests_file_of("data/tachyon/%s.bin", own[i]);
		fz_auto(fz_free_ptr) char *text = tests_file_of("data/tachyon/%s.txt", own[i]);
		check_golden(bin, text);
	}
}

static void test_shared_golden(void **state)
{
	static const char *const names[] = { "base", "deepbase", "slow", "small", "small0", "th1" };

	(void)state;
	need_shared();
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *bin = fz_asprintf("tachyon/vectors/%s.bin", names[i]);
		fz_auto(fz_free_ptr) char *text =
			fz_asprintf("tachyon/vectors/%s.col.txt", names[i]);
		check_shared_golden(bin, text);
	}
	check_shared_golden("tachyon/w1.bin", "tachyon/w1.collapsed");
	check_shared_golden("tachyon/w2.bin", "tachyon/w2.collapsed");
}

/* What we write of a recording gives the same text, threads and facts as the recording. */
static void check_rewrite(const char *path)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);
	fz_auto(fz_buf_release) struct fz_buf again = save_bytes(p, &fz_format_tachyon);
	fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
	struct fz_error err;

	if (load_bytes(again.p, again.n, "again.bin", &q, &err))
		fail_msg("%s: %s", path, err.message);
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

static void test_rewrite(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(own); i++) {
		fz_auto(fz_free_ptr) char *path = tests_file_of("data/tachyon/%s.bin", own[i]);
		check_rewrite(path);
	}
}

static void test_shared_rewrite(void **state)
{
	static const char *const names[] = { "base", "deepbase", "fib1",   "one", "r100",  "r1k",
					     "slow", "small",    "small0", "th1", "twice", "wrap" };

	(void)state;
	need_shared();
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *bin = fz_asprintf("tachyon/vectors/%s.bin", names[i]);
		fz_auto(fz_free_ptr) char *path = shared_file(bin);
		check_rewrite(path);
	}
}

static char *load_seed(const char *name, size_t *ret_n)
{
	fz_auto(fz_free_ptr) char *file = fz_asprintf("fuzz/corpus/tachyon/%s", name);
	fz_auto(fz_free_ptr) char *path = tests_file(file);

	return read_file(path, ret_n);
}

/* The same recording compressed, plain, from a big-endian machine, and from a beta. */
static void test_variants(void **state)
{
	static const char *const names[] = { "zstd", "plain", "big-endian", "beta" };
	static const char want[] = "tid:7;a.py:f:3;b.py:g:7;<GC> 40\n"
				   "tid:7;a.py:f:3;b.py:g:8 20\n"
				   "tid:9;a.py:f:4 3\n"
				   "tid:7;a.py:f:3 2\n"
				   "tid:9;a.py:f:3;<native>;c.py:C.<lambda>:1 1\n";
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		size_t n;
		fz_auto(fz_free_ptr) char *data = load_seed(names[i], &n);
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		if (load_bytes(data, n, "x.bin", &p, &err))
			fail_msg("%s: %s", names[i], err.message);
		fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_collapsed);
		assert_string_equal(got.p, want);
		assert_int_equal(p->recording.interval_ns, 1000000);
		assert_int_equal(p->quality.dropped_bytes, 0);
	}
}

static void check_fails(const char *data, size_t n, int code, const char *text)
{
	struct fz_profile *p = NULL;
	struct fz_error err;

	assert_int_equal(load_bytes(data, n, "x.bin", &p, &err), code);
	if (!strstr(err.message, text))
		fail_msg("'%s' lacks '%s'", err.message, text);
}

static void test_damage(void **state)
{
	size_t n;
	fz_auto(fz_free_ptr) char *data = load_seed("plain", &n);
	struct fz_error err;

	(void)state;
	check_fails(data, n / 2, FZ_EINPUT, "truncated");
	check_fails(data, n - 1, FZ_EINPUT, "");
	check_fails(data, 40, FZ_EINPUT, "truncated header");
	data[4] = 2;
	check_fails(data, n, FZ_EUNSUPPORTED, "version 2");
	data[4] = 1;
	data[28]++; /* one sample more than there are */
	check_fails(data, n, FZ_EINPUT, "instead of the 67");
	data[28]--;
	data[36]--; /* a thread less */
	check_fails(data, n, FZ_EINPUT, "more threads than the 1 in its header");
	data[36]++;
	data[60] |= 6;
	check_fails(data, n, FZ_EINPUT, "mode 6");
	data[60] &= ~7;
	/* an unknown record encoding: what came before it stays */
	data[64 + 12] = 9;
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	assert_int_equal(load_bytes(data, n, "x.bin", &p, &err), 0);
	assert_int_equal(p->samples.n, 0);
	assert_true(p->quality.dropped_bytes > 0);
	size_t zeros_n;
	fz_auto(fz_free_ptr) char *zeros = load_seed("unfinished", &zeros_n);
	check_fails(zeros, zeros_n, FZ_EINPUT, "unfinished");
}

/* A weight of several intervals is several samples; a deep stack keeps its leaves. */
static void test_weights(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
	uint32_t stack = FZ_NONE, deep = FZ_NONE;
	struct fz_error err;

	(void)state;
	p->recording.interval_ns = 1000000;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 5 });
	uint32_t f = fz_profile_frame_named(p, FZ_STR("f"), FZ_STR("a.py"), 1, FZ_KIND_PYTHON);
	uint32_t g = fz_profile_frame_named(p, FZ_STR("g"), FZ_STR("a.py"), 2, FZ_KIND_PYTHON);
	stack = fz_profile_stack(p, FZ_NONE, f);
	deep = stack;
	for (int i = 0; i < 400; i++)
		deep = fz_profile_stack(p, deep, g);
	int64_t weights[] = { 1000000, 1400000, 250000, 5000000 };
	for (int64_t i = 0; i < 4; i++)
		fz_profile_add_sample(
			p,
			&(struct fz_sample){ .stack = i == 3 ? deep : stack, .time = i * 20000000 },
			&weights[i]);
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_tachyon);
	if (load_bytes(b.p, b.n, "x.bin", &q, &err))
		fail_msg("%s", err.message);
	assert_int_equal(q->samples.n, 1 + 1 + 1 + 5);
	assert_int_equal(q->samples.time[3], 56000000); /* four intervals before 60 ms */
	assert_int_equal(q->samples.time[7], 60000000);
	assert_int_equal(q->stacks[q->samples.stack[7]].depth, 256);
	assert_int_equal(q->threads[0].tid, 5);
}

/* Weights that are not whole intervals, in many short rows: the total and the shares stay. */
static void test_uneven_weights(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
	int64_t cost[2] = { 0 };
	struct fz_error err;

	(void)state;
	p->recording.interval_ns = 1000000;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_thread(p, &(struct fz_thread){ .tid = 5 });
	for (int64_t i = 0; i < 2000; i++) {
		const char *name = i % 2 ? "long" : "short";
		int64_t weight = i % 2 ? 990000 : 10000;
		uint32_t f = fz_profile_frame_named(p, fz_str_of(name), FZ_STR("a.py"), 1,
						    FZ_KIND_PYTHON);
		fz_profile_add_sample(p,
				      &(struct fz_sample){ .stack = fz_profile_stack(p, FZ_NONE, f),
							   .time = i * 500000 },
				      &weight);
	}
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_tachyon);
	if (load_bytes(b.p, b.n, "x.bin", &q, &err))
		fail_msg("%s", err.message);
	for (size_t row = 0; row < q->samples.n; row++) {
		const struct fz_function *f = fz_profile_stack_function(q, q->samples.stack[row]);
		cost[fz_str_eq(fz_profile_text(q, f->name), FZ_STR("long"))] +=
			fz_sample_weight(q, q->default_metric, row);
	}
	assert_int_equal(cost[0], 10 * 1000000);
	assert_int_equal(cost[1], 990 * 1000000);
}

/* Calls that were timed have no interval: one is chosen that keeps them. */
static void test_timed_calls(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL, *q = NULL;
	static const char text[] = "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 0, \"dur\": 100},"
				   "{\"ph\": \"X\", \"name\": \"b\", \"ts\": 10, \"dur\": 3}]";
	struct fz_error err;
	int64_t sum = 0;

	(void)state;
	if (load_bytes(text, strlen(text), "x.json", &p, &err))
		fail_msg("%s", err.message);
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_tachyon);
	if (load_bytes(b.p, b.n, "x.bin", &q, &err))
		fail_msg("%s", err.message);
	for (size_t row = 0; row < q->samples.n; row++)
		sum += fz_sample_weight(q, q->default_metric, row);
	assert_int_equal(sum, 100 * 1000);
	/* Bytes are not a time. */
	fz_auto(fz_profile_freep) struct fz_profile *heap = fz_profile_new();
	fz_profile_add_metric(heap, FZ_STR("bytes"), FZ_STR("bytes"), 0, true);
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	assert_int_equal(fz_format_tachyon.write(heap, out, &err), FZ_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "'bytes' is not a time"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),      cmocka_unit_test(test_shared_golden),
		cmocka_unit_test(test_rewrite),     cmocka_unit_test(test_shared_rewrite),
		cmocka_unit_test(test_variants),    cmocka_unit_test(test_damage),
		cmocka_unit_test(test_weights),     cmocka_unit_test(test_uneven_weights),
		cmocka_unit_test(test_timed_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
