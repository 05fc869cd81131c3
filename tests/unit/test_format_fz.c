/* SPDX-License-Identifier: MIT */
/* The native format: a file loses nothing, a damaged file yields its undamaged parts, and a busy
 * thread takes little more than two bytes per sample. */
#include "format_help.h"

#include <errno.h>
#include <fcntl.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/fz.h"
#include "format/fz_layout.h"

enum { INTERVAL = 1000000 };

/* Repeatable noise. */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return fz_hash64(*state);
}

/* A recording as the recorder makes it: stacks 5 to 24 deep below 40 functions, time stamps with
 * tens of microseconds of jitter, wall weights of whole intervals. */
static struct fz_profile *make_tables(uint32_t *leaves, uint32_t n)
{
	struct fz_profile *p = fz_profile_new();
	uint64_t random = 42;

	p->recording.interval_ns = INTERVAL;
	p->recording.mode = FZ_MODE_WALL;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), INTERVAL, true);
	fz_profile_thread(p, &(struct fz_thread){ .pid = 7, .tid = 7, .is_main = true });
	for (uint32_t i = 0; i < n; i++) {
		uint32_t stack = FZ_NONE, depth = 5 + next_random(&random) % 20;
		for (uint32_t d = 0; d < depth; d++) {
			char name[32];
			int len = snprintf(name, sizeof(name), "function_%u",
					   (unsigned)(next_random(&random) % 2 + 2 * d));
			uint32_t frame = fz_profile_frame_named(
				p, (struct fz_str){ name, (size_t)len }, FZ_STR("/app/main.py"),
				(int32_t)(next_random(&random) % 3 + 10 * d), FZ_KIND_PYTHON);
			stack = fz_profile_stack(p, stack, frame);
		}
		leaves[i] = stack;
	}
	return p;
}

static int temporary_file(void)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	int fd = dup(fileno(f));
	fclose(f);
	return fd;
}

static char *file_content(int fd, size_t *ret_n)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *p = fz_malloc((size_t)n + 1);

	assert_int_equal(pread(fd, p, (size_t)n, 0), n);
	*ret_n = (size_t)n;
	return p;
}

enum { LEAVES = 100, SECONDS = 60 };

/* Record SECONDS at 1 kHz, flushing every second; the file's content. */
static char *record(size_t *ret_n, bool finish)
{
	uint32_t leaves[LEAVES];
	fz_auto(fz_profile_freep) struct fz_profile *p = make_tables(leaves, LEAVES);
	fz_auto(fz_close_fd) int fd = temporary_file();
	struct fz_file_writer *w;
	struct fz_error err;
	uint64_t random = 1;

	w = fz_file_writer_new(fd, p);
	fz_profile_set_fact(p, "command", FZ_STR("python3 app.py"));
	for (int64_t i = 0; i < SECONDS * 1000; i++) {
		/* Lateness of a timer: tens of microseconds, now and then much more. */
		int64_t late = 50000 + (int64_t)(next_random(&random) % 20000 +
						 next_random(&random) % 20000);
		if (next_random(&random) % 200 == 0)
			late += (int64_t)(next_random(&random) % 400000);
		uint64_t r = next_random(&random) % LEAVES;
		struct fz_sample s = {
			.stack = leaves[r * (next_random(&random) % LEAVES) / LEAVES],
			.time = i * INTERVAL + late,
			.status = FZ_STATUS_HAS_GIL | FZ_STATUS_UNKNOWN,
		};
		int64_t weight = INTERVAL;
		fz_file_writer_add(w, &s, &weight);
		if (i % 1000 == 999)
			assert_int_equal(fz_file_writer_flush(w, &err), 0);
	}
	if (finish) {
		p->recording.complete = true;
		assert_int_equal(fz_file_writer_finish(w, &err), 0);
	}
	fz_file_writer_free(w);
	return file_content(fd, ret_n);
}

static struct fz_profile *load(const char *data, size_t n)
{
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (load_bytes(data, n, "test.fz", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void test_size(void **state)
{
	size_t n;
	fz_auto(fz_free_ptr) char *data = record(&n, true);
	fz_auto(fz_profile_freep) struct fz_profile *p = load(data, n);
	double each = (double)n / (SECONDS * 1000);

	(void)state;
	print_message("%.2f bytes a sample\n", each);
	assert_true(each <= 2.5);
	assert_int_equal(p->samples.n, SECONDS * 1000);
	assert_true(p->recording.complete);
	assert_int_equal(p->quality.dropped_bytes, 0);
	assert_string_equal(fz_profile_fact(p, "command").p, "python3 app.py");
	for (size_t row = 0; row < p->samples.n; row++)
		assert_int_equal(p->metrics[0].column[row], INTERVAL);
}

static void test_killed(void **state)
{
	size_t n;
	fz_auto(fz_free_ptr) char *data = record(&n, false);
	fz_auto(fz_profile_freep) struct fz_profile *p = load(data, n);

	(void)state;
	assert_int_equal(p->samples.n, SECONDS * 1000);
	assert_false(p->recording.complete);
	assert_string_equal(fz_profile_fact(p, "command").p, "python3 app.py");
	assert_int_equal(p->quality.dropped_bytes, 0);
	fz_auto(fz_profile_freep) struct fz_profile *cut = load(data, n - 100);
	assert_int_equal(cut->samples.n, (SECONDS - 1) * 1000);
	assert_true(cut->quality.dropped_bytes > 0);
}

/* A wrong byte anywhere costs at most two blocks, and the first ones the names. */
static void test_damage(void **state)
{
	size_t n;
	fz_auto(fz_free_ptr) char *data = record(&n, true);

	(void)state;
	for (size_t at = 300; at < n; at += n / 50) {
		data[at] ^= 0x40;
		fz_auto(fz_profile_freep) struct fz_profile *p = load(data, n);
		assert_true(p->samples.n >= (SECONDS - 2) * 1000);
		assert_true(p->quality.dropped_bytes > 0);
		assert_false(p->recording.complete);
		data[at] ^= 0x40;
	}
}

/* Bytes that are missing or too many. */
static void test_shift(void **state)
{
	size_t n;
	fz_auto(fz_free_ptr) char *data = record(&n, true);
	fz_auto(fz_free_ptr) char *other = fz_malloc(n + 500);

	(void)state;
	memcpy(other, data, n / 2);
	memcpy(other + n / 2, data + n / 2 + 500, n - n / 2 - 500);
	fz_auto(fz_profile_freep) struct fz_profile *less = load(other, n - 500);
	assert_true(less->samples.n >= (SECONDS - 2) * 1000 && less->quality.dropped_bytes > 0);
	memset(other + n / 2, 'x', 500);
	memcpy(other + n / 2 + 500, data + n / 2, n - n / 2);
	fz_auto(fz_profile_freep) struct fz_profile *more = load(other, n + 500);
	assert_true(more->samples.n >= (SECONDS - 2) * 1000 && more->quality.dropped_bytes > 0);
}

/* A block of tables that claims a number of strings in earlier blocks. */
static void add_gap(struct fz_buf *file, uint64_t strings)
{
	fz_auto(fz_buf_release) struct fz_buf payload = { 0 };
	size_t start = file->n;

	fz_buf_varint(&payload, strings);
	fz_buf_varint(&payload, 0);
	fz_buf_add(file, FZ_FZ_MARK, FZ_FZ_MARK_SIZE);
	fz_buf_add(file, (const uint8_t[4]){ FZ_FZ_TABLES }, 4);
	fz_buf_u32(file, (uint32_t)payload.n);
	fz_buf_u32(file, (uint32_t)payload.n);
	fz_buf_u64(file, XXH3_64bits(payload.p, payload.n));
	fz_buf_u32(file, (uint32_t)XXH3_64bits(file->p + start, file->n - start));
	fz_buf_add(file, payload.p, payload.n);
}

/* What a damaged part may have held is bounded by its size: 64 table entries a byte. */
static void test_gaps(void **state)
{
	enum { BYTES = 10, MOST = 64 * BYTES };
	static const struct {
		uint64_t strings[2]; /* lost so far according to two blocks */
		bool whole;          /* nothing but BYTES is dropped */
	} cases[] = {
		{ { MOST, MOST }, true },     { { MOST + 1, 0 }, false },
		{ { MOST / 2, MOST }, true }, { { MOST / 2, MOST + 1 }, false },
		{ { 1 << 30, 0 }, false },
	};
	fz_auto(fz_profile_freep) struct fz_profile *p = make_tables(NULL, 0);
	fz_auto(fz_close_fd) int fd = temporary_file();
	struct fz_file_writer *w;
	struct fz_error err;
	size_t n;

	(void)state;
	w = fz_file_writer_new(fd, p);
	assert_int_equal(fz_file_writer_flush(w, &err), 0);
	fz_file_writer_free(w);
	fz_auto(fz_free_ptr) char *begin = file_content(fd, &n);
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_buf_release) struct fz_buf file = { 0 };
		fz_buf_add(&file, begin, n);
		fz_buf_add(&file, "xxxxxxxxxx", BYTES);
		for (size_t k = 0; k < 2 && cases[i].strings[k]; k++)
			add_gap(&file, p->string_count + cases[i].strings[k]);
		fz_auto(fz_profile_freep) struct fz_profile *q = load(file.p, file.n);
		if (cases[i].whole)
			assert_int_equal(q->quality.dropped_bytes, BYTES);
		else
			assert_true(q->quality.dropped_bytes > BYTES);
	}
}

/* A name that comes after its thread was written, and facts that change. */
static void test_late_facts(void **state)
{
	uint32_t leaves[LEAVES];
	fz_auto(fz_profile_freep) struct fz_profile *p = make_tables(leaves, LEAVES);
	fz_auto(fz_close_fd) int fd = temporary_file();
	struct fz_file_writer *w;
	struct fz_error err;
	int64_t weight = INTERVAL;
	size_t n;

	(void)state;
	w = fz_file_writer_new(fd, p);
	fz_profile_set_fact(p, "host", FZ_STR("first"));
	fz_profile_set_fact(p, "build", FZ_STR("of a helper"));
	fz_file_writer_add(w, &(struct fz_sample){ .stack = leaves[0] }, &weight);
	assert_int_equal(fz_file_writer_flush(w, &err), 0);
	p->threads[0].name = fz_profile_string(p, FZ_STR("worker"));
	fz_profile_set_fact(p, "host", FZ_STR("second"));
	fz_profile_set_fact(p, "build", FZ_STR(""));
	fz_profile_add_run(p, &(struct fz_run){ 5, 7 });
	p->quality = (struct fz_quality){ .known = true, .taken = 9, .rejected = { 1, 2, 3, 4 } };
	fz_profile_add_source(p, fz_profile_string(p, FZ_STR("/app/main.py")),
			      FZ_STR("print(1)\n"));
	assert_int_equal(fz_file_writer_finish(w, &err), 0);
	fz_file_writer_free(w);
	fz_auto(fz_free_ptr) char *data = file_content(fd, &n);
	fz_auto(fz_profile_freep) struct fz_profile *q = load(data, n);
	assert_string_equal(fz_profile_text(q, q->threads[0].name).p, "worker");
	assert_true(q->threads[0].is_main);
	assert_string_equal(fz_profile_fact(q, "host").p, "second");
	assert_int_equal(fz_profile_fact(q, "build").n, 0);
	assert_int_equal(q->run_count, 1);
	assert_int_equal(q->runs[0].duration_ns, 7);
	assert_int_equal(q->quality.rejected[3], 4);
	const struct fz_source_text *s =
		fz_profile_source(q, fz_profile_string(q, FZ_STR("/app/main.py")));
	assert_non_null(s);
	assert_string_equal(s->text, "print(1)\n");
}

/* Facts alone are those that everything would have, and nothing else is read. */
static void test_facts_only(void **state)
{
	size_t n;
	fz_auto(fz_free_ptr) char *data = record(&n, true);
	fz_auto(fz_profile_freep) struct fz_profile *whole = load(data, n);
	fz_auto(fz_profile_freep) struct fz_profile *facts = fz_profile_new();
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_input_open_memory(data, n, "test.fz", &in, &err), 0);
	assert_int_equal(fz_format_fz.read_facts(in, facts, &err), 0);
	assert_int_equal(facts->samples.n, 0);
	assert_int_equal(facts->stack_count, 0);
	assert_true(facts->recording.complete);
	assert_int_equal(facts->quality.dropped_bytes, 0);
	assert_int_equal(facts->fact_count, whole->fact_count);
	assert_string_equal(fz_profile_fact(facts, "command").p, "python3 app.py");
	assert_string_equal(facts->metrics[0].name, whole->metrics[0].name);
	assert_int_equal(facts->run_count, whole->run_count);
}

/* A full disk: what was written before is readable, and the error is reported. */
static void test_full_disk(void **state)
{
	uint32_t leaves[LEAVES];
	fz_auto(fz_profile_freep) struct fz_profile *p = make_tables(leaves, LEAVES);
	fz_auto(fz_close_fd) int fd = open("/dev/full", O_WRONLY);
	struct fz_file_writer *w = NULL;
	struct fz_error err;

	(void)state;
	w = fz_file_writer_new(fd, p);
	assert_int_equal(fz_file_writer_finish(w, &err), FZ_ESYSTEM);
	assert_int_equal(err.sys_errno, ENOSPC);
	fz_file_writer_free(w);
}

/* Weights that are not whole microseconds keep their sum, whether they are the time since the last
 * sample or a part of it; rates beyond 10 kHz keep their order. */
static void test_rounding(void **state)
{
	static const int64_t intervals[] = { 1000000, 100000, 12345, 2500, 100, 0 };
	uint64_t random = 3;

	(void)state;
	for (size_t k = 0; k < 2 * FZ_ARRAY_LEN(intervals); k++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
		int64_t interval = intervals[k / 2], parts = k % 2 ? 3 : 1;
		int64_t sum = 0, again = 0, time = 0, step = interval ? interval : 1000;
		p->recording.interval_ns = interval;
		fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), step, true);
		fz_profile_thread(p, &(struct fz_thread){ .tid = 7 });
		for (int i = 0; i < 70000; i++) {
			int64_t weight =
				step / 2 + (int64_t)(next_random(&random) % (uint64_t)step);
			time += parts * weight;
			sum += weight;
			fz_profile_add_sample(
				p, &(struct fz_sample){ .stack = FZ_NONE, .time = time }, &weight);
		}
		fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_fz);
		fz_auto(fz_profile_freep) struct fz_profile *q = load(b.p, b.n);
		assert_int_equal(q->samples.n, 70000);
		int64_t quantum = interval >= 100000  ? 1000
				  : interval >= 10000 ? 100
				  : interval >= 1000  ? 10
						      : 1;
		for (size_t i = 0; i < q->samples.n; i++) {
			int64_t off = q->samples.time[i] - p->samples.time[i];
			assert_true(off <= quantum / 2 && off >= -quantum / 2);
			again += q->metrics[0].column[i];
		}
		assert_true(again - sum <= quantum && sum - again <= quantum);
	}
}

/* A recording of CPython's, written by us and read back. */
static void check_vector(const char *path)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_fz);
	fz_auto(fz_profile_freep) struct fz_profile *q = load(b.p, b.n);
	fz_auto(fz_buf_release) struct fz_buf want = save_bytes(p, &fz_format_collapsed);
	fz_auto(fz_buf_release) struct fz_buf got = save_bytes(q, &fz_format_collapsed);

	assert_string_equal(got.p, want.p);
	assert_int_equal(p->samples.n, q->samples.n);
	assert_memory_equal(p->samples.time, q->samples.time, p->samples.n * sizeof(int64_t));
	assert_memory_equal(p->samples.status, q->samples.status, p->samples.n);
	print_message("%s: %.2f bytes a sample\n", path, (double)b.n / (double)p->samples.n);
}

static void test_vectors(void **state)
{
	static const char *const names[] = { "plain",   "slow", "cpu",    "raw",
					     "opcodes", "deep", "threads" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *path = tests_file_of("data/tachyon/%s.bin", names[i]);
		check_vector(path);
	}
}

static void test_shared_vectors(void **state)
{
	static const char *const names[] = { "base", "deepbase", "slow", "small0", "th1", "wrap" };

	(void)state;
	need_shared();
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *bin = fz_asprintf("tachyon/vectors/%s.bin", names[i]);
		fz_auto(fz_free_ptr) char *path = shared_file(bin);
		check_vector(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),       cmocka_unit_test(test_killed),
		cmocka_unit_test(test_damage),     cmocka_unit_test(test_shift),
		cmocka_unit_test(test_gaps),       cmocka_unit_test(test_facts_only),
		cmocka_unit_test(test_vectors),    cmocka_unit_test(test_shared_vectors),
		cmocka_unit_test(test_late_facts), cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
