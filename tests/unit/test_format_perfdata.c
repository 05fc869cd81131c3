/* SPDX-License-Identifier: MIT */
/* perf.data, in files built here record by record: which mapping an address belongs to, and what is
 * refused. tests/live/test_formats.py compares files of perf with what perf prints. */
#include "format_help.h"

#include <linux/perf_event.h>

enum { HEADER = 104, ATTR = sizeof(struct perf_event_attr) };
#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

/* ---- files ---- */

static void record(struct fz_buf *b, uint32_t type, uint16_t misc, const struct fz_buf *body)
{
	fz_buf_u32(b, type);
	fz_buf_u32(b, (uint32_t)(body->n + 8) << 16 | misc);
	fz_buf_add(b, body->p, body->n);
}

static void put_ids(struct fz_buf *b, uint32_t first, uint32_t second)
{
	fz_buf_u32(b, first);
	fz_buf_u32(b, second);
}

static void text_of_8(struct fz_buf *b, const char *s)
{
	static const char none[8];
	size_t n = strlen(s) + 1;

	fz_buf_add(b, s, n);
	fz_buf_add(b, none, (8 - n % 8) % 8);
}

static void map_at(struct fz_buf *b, uint64_t time, uint32_t pid, uint64_t start, const char *path)
{
	fz_auto(fz_buf_release) struct fz_buf body = { 0 };

	put_ids(&body, pid, pid);
	fz_buf_u64(&body, start);
	fz_buf_u64(&body, 0x1000);
	fz_buf_u64(&body, 0);
	text_of_8(&body, path);
	put_ids(&body, pid, pid);
	fz_buf_u64(&body, time);
	record(b, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, &body);
}

static void comm_at(struct fz_buf *b, uint64_t time, uint32_t pid, const char *name, bool exec)
{
	fz_auto(fz_buf_release) struct fz_buf body = { 0 };

	put_ids(&body, pid, pid);
	text_of_8(&body, name);
	put_ids(&body, pid, pid);
	fz_buf_u64(&body, time);
	record(b, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, &body);
}

static void fork_at(struct fz_buf *b, uint64_t time, uint32_t parent, uint32_t child)
{
	fz_auto(fz_buf_release) struct fz_buf body = { 0 };

	put_ids(&body, child, parent);
	put_ids(&body, child, parent);
	fz_buf_u64(&body, time);
	put_ids(&body, child, child);
	fz_buf_u64(&body, time);
	record(b, PERF_RECORD_FORK, 0, &body);
}

/* With a chain where n > 0. */
static void sample_at(struct fz_buf *b, uint64_t time, uint32_t pid, uint64_t ip,
		      const uint64_t *chain, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf body = { 0 };

	fz_buf_u64(&body, ip);
	put_ids(&body, pid, pid);
	fz_buf_u64(&body, time);
	fz_buf_u64(&body, 1000);
	if (n)
		fz_buf_u64(&body, n);
	for (size_t i = 0; i < n; i++)
		fz_buf_u64(&body, chain[i]);
	record(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
}

static struct perf_event_attr clock_event(uint64_t more)
{
	return (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
					 .size = ATTR,
					 .config = PERF_COUNT_SW_CPU_CLOCK,
					 .sample_period = 1000,
					 .sample_type = TYPE | more,
					 .sample_id_all = 1 };
}

/* A file of one event. */
static void file_of(struct fz_buf *out, const struct perf_event_attr *attr,
		    const struct fz_buf *data)
{
	fz_buf_str(out, "PERFILE2");
	fz_buf_u64(out, HEADER);
	fz_buf_u64(out, ATTR + 16);
	fz_buf_u64(out, HEADER);
	fz_buf_u64(out, ATTR + 16);
	fz_buf_u64(out, HEADER + ATTR + 16);
	fz_buf_u64(out, data->n);
	for (int i = 0; i < 6; i++)
		fz_buf_u64(out, 0);
	fz_buf_add(out, attr, ATTR);
	fz_buf_u64(out, 0);
	fz_buf_u64(out, 0);
	fz_buf_add(out, data->p, data->n);
}

static struct fz_profile *load_buf(const struct fz_buf *b)
{
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (load_bytes(b->p, b->n, "perf.data", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void expect_error(const struct fz_buf *b, const char *what)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	assert_true(load_bytes(b->p, b->n, "perf.data", &p, &err) < 0);
	if (!strstr(err.message, what))
		fail_msg("'%s' does not say '%s'", err.message, what);
}

/* Names of a row's stack, outermost first. */
static void expect_stack(const struct fz_profile *p, size_t row, const char *expected)
{
	fz_auto(fz_buf_release) struct fz_buf got = { 0 };
	uint32_t frames[16], n = 0;

	for (uint32_t s = p->samples.stack[row]; s != FZ_NONE; s = p->stacks[s].parent)
		frames[n++] = p->frames[p->stacks[s].frame].function;
	while (n-- > 0) {
		struct fz_str name = fz_profile_text(p, p->functions[frames[n]].name);
		fz_buf_str(&got, got.n ? ";" : "");
		fz_buf_add(&got, name.p, name.n);
	}
	assert_string_equal(got.p ? got.p : "", expected);
}

/* ---- tests ---- */

/* Records lie in the file in another order than that of their times. */
static void test_spaces(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf data = { 0 }, file = { 0 };
	struct perf_event_attr attr = clock_event(0);

	(void)state;
	sample_at(&data, 15, 7, 0x1010, NULL, 0); /* a is there */
	sample_at(&data, 60, 8, 0x1010, NULL, 0); /* of the parent */
	sample_at(&data, 80, 8, 0x1010, NULL, 0); /* after exec: nothing */
	sample_at(&data, 90, 7, 0x1010, NULL, 0); /* c lies over a */
	sample_at(&data, 91, 7, 0x1ff0, NULL, 0); /* what is left of it */
	sample_at(&data, 96, 9, 0x1010, NULL, 0); /* a child's name */
	map_at(&data, 10, 7, 0x1000, "/nowhere/a.so");
	comm_at(&data, 5, 7, "first", false);
	fork_at(&data, 50, 7, 8);
	comm_at(&data, 70, 8, "second", true);
	map_at(&data, 85, 7, 0x800, "/nowhere/c.so");
	fork_at(&data, 95, 8, 9);
	file_of(&file, &attr, &data);
	fz_auto(fz_profile_freep) struct fz_profile *p = load_buf(&file);
	assert_int_equal(p->samples.n, 6);
	expect_stack(p, 0, "[a.so]");
	expect_stack(p, 1, "[a.so]");
	expect_stack(p, 2, "[unknown]");
	expect_stack(p, 3, "[c.so]");
	expect_stack(p, 4, "[a.so]");
	assert_int_equal(p->samples.time[4], 91 - 15);
	assert_string_equal(p->metrics[0].name, "cpu");
	assert_int_equal(fz_sample_weight(p, 0, 0), 1000);
	const struct fz_thread *t = &p->threads[p->samples.thread[5]];
	assert_int_equal(t->pid, 9);
	assert_string_equal(fz_profile_text(p, t->name).p, "second");
}

/* The kernel's side, then the user's; an address to return to belongs to the call before it. */
static void test_chain(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf data = { 0 }, file = { 0 };
	struct perf_event_attr attr = clock_event(PERF_SAMPLE_CALLCHAIN);
	const uint64_t chain[] = {
		PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, 0x2000, 0x2000, 0x9000
	};

	(void)state;
	map_at(&data, 1, 7, 0x1000, "/nowhere/a.so");
	map_at(&data, 2, 7, 0x2000, "/nowhere/b.so");
	sample_at(&data, 3, 7, 0xffffffff81000010, chain, FZ_ARRAY_LEN(chain));
	file_of(&file, &attr, &data);
	fz_auto(fz_profile_freep) struct fz_profile *p = load_buf(&file);
	expect_stack(p, 0, "[unknown];[a.so];[b.so];[kernel.kallsyms]");
}

/* The same records behind the short header of a pipe, the event among them. */
static void test_pipe(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf data = { 0 }, body = { 0 };
	struct perf_event_attr attr = clock_event(0);

	(void)state;
	fz_buf_str(&data, "PERFILE2");
	fz_buf_u64(&data, 16);
	fz_buf_add(&body, &attr, ATTR);
	record(&data, 64, 0, &body);
	map_at(&data, 1, 7, 0x1000, "/nowhere/a.so");
	sample_at(&data, 2, 7, 0x1010, NULL, 0);
	fz_auto(fz_profile_freep) struct fz_profile *p = load_buf(&data);
	expect_stack(p, 0, "[a.so]");
}

static void test_cut_off(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf data = { 0 }, file = { 0 };
	struct perf_event_attr attr = clock_event(0);

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		sample_at(&data, 1 + i, 7, 0x1010, NULL, 0);
	file_of(&file, &attr, &data);
	file.n -= 10;
	fz_auto(fz_profile_freep) struct fz_profile *p = load_buf(&file);
	assert_int_equal(p->samples.n, 2);
	assert_true(p->quality.dropped_bytes > 0);
}

static void test_refused(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf data = { 0 }, file = { 0 };
	struct perf_event_attr attr = clock_event(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER);

	(void)state;
	sample_at(&data, 1, 7, 0x1010, NULL, 0);
	file_of(&file, &attr, &data);
	expect_error(&file, "--call-graph dwarf");
	expect_error(&file, "perf script");
	memcpy(file.p, "2ELIFREP", 8);
	expect_error(&file, "byte order");
	file.n = 12;
	memcpy(file.p, "PERFILE2", 8);
	expect_error(&file, "truncated header");

	fz_auto(fz_buf_release) struct fz_buf none = { 0 };
	fz_buf_reset(&data);
	attr = clock_event(0);
	comm_at(&data, 5, 7, "first", false);
	file_of(&none, &attr, &data);
	expect_error(&none, "no perf samples");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spaces),  cmocka_unit_test(test_chain),
		cmocka_unit_test(test_pipe),    cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
