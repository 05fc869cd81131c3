/* SPDX-License-Identifier: MIT */
/* A free-threaded 3.15 that consists of data only: a runtime, an interpreter, a thread, frames,
 * code objects and strings laid out as in that build's headers, in a child process. It has no
 * symbols, so the reader finds it by its cookie; one frame runs the thread's own copy of the
 * bytecode. Then the data is damaged piece by piece, which the reader must survive.
 *
 *   runtime -> interp -> thread -> inner (copied bytecode) -> outer -> entry frame (the base)
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "heap/heap.h"
#include "record/python/python.h"
#include "record/python/runtime.h"
#include "python_tables.h"

enum {
	TABLE = 111, /* words of _Py_DebugOffsets */
	OWNER = 78,
	TLBC_INDEX = 72,
	POSITION = 56,
	FRAME_SIZE = 88,
};

/* All of it, so that the damage can be done anywhere. In shared memory at a fixed place: the
 * parent damages what the child shows. */
struct world {
	uint64_t interp[1024];
	uint64_t thread[128];
	uint8_t frames[3][FRAME_SIZE]; /* inner, outer, entry */
	uint64_t codes[2][40];
	uint8_t own_bytecode[64];
	uint64_t tlbc[3];
	uint64_t texts[3][32];
	uint64_t tables[2][16];
};

static uint64_t runtime[128]; /* begins with the table; writable, hence searched for the cookie */
static struct world *world;

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void put(void *base, size_t offset, uint64_t value)
{
	memcpy((uint8_t *)base + offset, &value, sizeof(value));
}

static void put32(void *base, size_t offset, uint32_t value)
{
	memcpy((uint8_t *)base + offset, &value, sizeof(value));
}

static uint64_t make_text(unsigned i, const char *text, unsigned kind, size_t n)
{
	uint64_t *p = world->texts[i];
	bool ascii = kind == 1;

	put(p, 32, n);
	put32(p, 48, kind << 8 | 1u << 11 | (uint32_t)ascii << 12);
	memcpy((uint8_t *)p + (ascii ? 56 : 72), text, n * kind);
	return address(p);
}

/* A location table of one entry: 8 code units on the function's first line, columns 4 to 9. */
static uint64_t make_table(unsigned i)
{
	static const uint8_t table[] = { 0x80 | 10 << 3 | 7, 4, 9 };
	uint64_t *p = world->tables[i];

	put(p, 32, sizeof(table));
	memcpy((uint8_t *)p + 48, table, sizeof(table));
	return address(p);
}

static void make_code(unsigned i, uint64_t name, uint64_t file, uint32_t line)
{
	uint64_t *p = world->codes[i];

	put(p, 32, 8); /* ob_size: code units */
	put(p, 128, file);
	put(p, 136, name);
	put(p, 144, name);
	put(p, 152, make_table(i));
	put32(p, 84, line);
	put(p, 224, address(world->tlbc));
}

static void make_frame(unsigned i, uint64_t code, uint64_t previous, uint64_t position)
{
	uint8_t *p = world->frames[i];

	put(p, 0, code | 1); /* a tagged reference */
	put(p, 8, previous);
	put(p, POSITION, position);
}

static void make_world(void)
{
	static const uint16_t wide[] = { 0x4f8b };

	memset(world, 0, sizeof(*world));
	uint64_t file = make_text(2, "/app.py", 1, 7);
	make_code(0, make_text(0, (const char *)wide, 2, 1), file, 10);
	make_code(1, make_text(1, "outer", 1, 5), file, 20);
	world->tlbc[0] = 2;
	world->tlbc[1] = address(world->codes[0]) + 232;
	world->tlbc[2] = address(world->own_bytecode);
	make_frame(0, address(world->codes[0]), address(world->frames[1]),
		   address(world->own_bytecode) + 6);
	put32(world->frames[0], TLBC_INDEX, 1);
	make_frame(1, address(world->codes[1]), address(world->frames[2]),
		   address(world->codes[1]) + 232 + 4);
	make_frame(2, 0, 0, 0);
	world->frames[2][OWNER] = 3;
	put(world->thread, 16, address(world->interp));
	put(world->thread, 72, address(world->frames[0]));
	put(world->thread, 80, address(world->frames[2]));
	put(world->interp, 7336, address(world->thread));
	memcpy(runtime, python_table_315, sizeof(python_table_315));
	for (size_t i = 0; i < FZ_ARRAY_LEN(python_free_threaded_315); i++)
		put(runtime, python_free_threaded_315[i].at, python_free_threaded_315[i].value);
	put(runtime, 936, address(world->interp));
}

/* A child that shows the world and waits. */
static pid_t show_world(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	put(world->thread, 184, (uint64_t)pid);
	return pid;
}

static void end_world(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void expect_frame(const struct fz_profile *p, uint32_t stack, const char *name, int line)
{
	const struct fz_frame *f = &p->frames[p->stacks[stack].frame];
	const struct fz_function *fn = &p->functions[f->function];

	assert_string_equal(p->strings[fn->name].p, name);
	assert_string_equal(p->strings[fn->file].p, "/app.py");
	assert_int_equal(f->line, line);
	assert_int_equal(f->column, 4);
	assert_int_equal(f->end_column, 9);
}

static void test_reads_it(void **state)
{
	(void)state;
	const struct fz_python_options options = { .all_threads = true };
	struct fz_profile *p = fz_profile_new();
	struct fz_python_sample sample;
	struct fz_python *py;
	struct fz_error err = { 0 };

	make_world();
	pid_t pid = show_world();
	if (fz_python_open(pid, &options, p, &py, &err) < 0) {
		end_world(pid);
		fail_msg("%s", err.message);
	}
	assert_true(fz_python_info(py)->free_threaded);
	assert_int_equal(fz_python_info(py)->version[1], 15);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(fz_python_sample_take(py, &sample, &err), 0);
		assert_int_equal(sample.n, 1);
		assert_false(sample.stacks[0].rejected);
		assert_int_equal(p->stacks[sample.stacks[0].stack].depth, 2);
		expect_frame(p, sample.stacks[0].stack, "\xe4\xbe\x8b", 10);
		expect_frame(p, p->stacks[sample.stacks[0].stack].parent, "outer", 20);
	}
	assert_int_equal(p->threads[sample.stacks[0].thread].tid, pid);
	fz_python_close(py);
	fz_profile_free(p);
	end_world(pid);
}

/* The newest interpreter comes first, and has no thread while it runs nothing. */
static void test_idle_interpreter(void **state)
{
	(void)state;
	static uint64_t idle[1024];
	struct fz_process process;
	struct fz_py_runtime r = { 0 };
	struct fz_error err = { 0 };

	make_world();
	put(idle, 7264, address(world->interp)); /* the next one */
	put(runtime, 936, address(idle));
	pid_t pid = show_world();
	assert_int_equal(fz_process_open(&process, pid, &err), 0);
	int rc = fz_py_runtime_find(&process, NULL, &r, &err);
	end_world(pid);
	if (rc)
		fail_msg("%s", err.message);
	assert_int_equal(r.address, address(runtime));
	fz_py_runtime_release(&r);
	fz_process_release(&process);
}

static void test_has_no_heap(void **state)
{
	(void)state;
	struct fz_profile *p = fz_profile_new();
	struct fz_heap_result result;
	struct fz_error err = { 0 };
	char message[256];

	make_world();
	pid_t pid = show_world();
	assert_int_equal(fz_heap_record(pid, p, &result, &err), FZ_EUNSUPPORTED);
	snprintf(message, sizeof(message),
		 "process %d: reading the heap of free-threaded Python 3.15 is not supported; "
		 "run the program on the default build of Python 3.15",
		 (int)pid);
	assert_string_equal(err.message, message);
	fz_heap_result_release(&result);
	fz_profile_free(p);
	end_world(pid);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 29;
}

/* Something that a corrupted or hostile process could hold: small, huge, or a real address. */
static uint64_t nasty(uint64_t *seed)
{
	const uint64_t values[] = { 0,
				    1,
				    7,
				    8,
				    3,
				    UINT64_MAX,
				    1ull << 47,
				    1ull << 63,
				    4096,
				    UINT32_MAX,
				    address(world),
				    address(runtime) };

	if (next_random(seed) % 3 == 0)
		return address(world) + next_random(seed) % sizeof(*world);
	return values[next_random(seed) % FZ_ARRAY_LEN(values)];
}

static void test_survives_damage(void **state)
{
	(void)state;
	const struct fz_python_options options = { .all_threads = true, .gc = true };
	uint64_t seed = 5;
	unsigned taken = 0;

	make_world();
	pid_t pid = show_world();
	for (unsigned round = 0; round < 400; round++) {
		struct fz_profile *p = fz_profile_new();
		struct fz_python_sample sample;
		struct fz_python *py;
		make_world();
		put(world->thread, 184, (uint64_t)pid);
		if (fz_python_open(pid, &options, p, &py, NULL) < 0)
			fail_msg("the world cannot be opened");
		for (unsigned i = 0; i < 6; i++) {
			uint64_t *words = (uint64_t *)world;
			uint64_t used = offsetof(struct world, thread) / 8;
			size_t at = used + next_random(&seed) % (sizeof(*world) / 8 - used);
			if (i > 1)
				words[at] = nasty(&seed);
			if (fz_python_sample_take(py, &sample, NULL) < 0)
				break;
			taken += sample.n;
			for (uint32_t k = 0; k < sample.n; k++)
				assert_true(sample.stacks[k].stack == FZ_NONE ||
					    sample.stacks[k].stack < p->stack_count);
		}
		fz_python_close(py);
		fz_profile_free(p);
	}
	end_world(pid);
	assert_true(taken > 400);
}

static int set_up(void **state)
{
	(void)state;
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return world == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_it),
		cmocka_unit_test(test_idle_interpreter),
		cmocka_unit_test(test_has_no_heap),
		cmocka_unit_test(test_survives_damage),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
