/* SPDX-License-Identifier: MIT */
/* This process, its own stack unwound, and its own mappings looked up while they change. */
#include "record/native/unwind.h"

#include "record/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/io.h"

enum { PAGES = 2 };

static uint8_t copied[1 << 16];

struct own {
	struct fz_process process;
	struct fz_images images;
	struct fz_profile *profile;
	struct fz_space space;
};

static void own_init(struct own *own)
{
	struct fz_error err;

	*own = (struct own){ .profile = fz_profile_new() };
	assert_int_equal(fz_process_open(&own->process, getpid(), &err), 0);
	fz_space_init(&own->space, &own->process, &own->images);
}

static void own_release(struct own *own)
{
	fz_space_release(&own->space);
	fz_images_release(&own->images);
	fz_process_release(&own->process);
	fz_profile_free(own->profile);
}

static void read_registers(const ucontext_t *c, uint64_t reg[FZ_REGS])
{
#if defined(__x86_64__)
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	for (size_t i = 0; i < FZ_ARRAY_LEN(order); i++)
		reg[i] = (uint64_t)c->uc_mcontext.gregs[order[i]];
#else
	for (size_t i = 0; i < FZ_REG_SP; i++)
		reg[i] = c->uc_mcontext.regs[i];
	reg[FZ_REG_SP] = c->uc_mcontext.sp;
	reg[FZ_REG_RETURN] = c->uc_mcontext.pc;
#endif
}

/* Where each call returns to, innermost first. */
struct calls {
	struct fz_unwind *unwind;
	uint64_t back[3];
	enum fz_unwind_end end;
};

#define BACK ((uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/* A sanitizer would complain about what is between variables. */
__attribute__((no_sanitize("address"))) static void copy_stack(const volatile uint8_t *from,
							       size_t n)
{
	for (size_t i = 0; i < n; i++)
		copied[i] = from[i];
}

static __attribute__((noinline)) int innermost(struct calls *calls)
{
	uint64_t reg[FZ_REGS] = { 0 };
	ucontext_t context;

	calls->back[0] = BACK;
	getcontext(&context);
	read_registers(&context, reg);
	uint64_t lo = reg[FZ_REG_SP], end = fz_space_area_end(calls->unwind->space, lo);
	struct fz_unwind_stack stack = { lo, FZ_MIN(sizeof(copied), end - lo), copied };
	copy_stack((const uint8_t *)(uintptr_t)lo, stack.n);
	calls->end = fz_unwind_run(calls->unwind, reg, &stack);
	return (int)calls->unwind->n;
}

static __attribute__((noinline)) int middle(struct calls *calls)
{
	calls->back[1] = BACK;
	return innermost(calls) + 1;
}

static __attribute__((noinline)) int outermost(struct calls *calls)
{
	calls->back[2] = BACK;
	return middle(calls) + 1;
}

/* A frame is at the call, not at the instruction after it, which may belong to another line or
 * function. */
static void test_frames_are_at_their_calls(void **state)
{
	struct own own;
	struct fz_unwind unwind;
	struct calls calls = { .unwind = &unwind };

	(void)state;
	own_init(&own);
	fz_unwind_init(&unwind, &own.space, own.profile);
	assert_true(outermost(&calls) > 5);
	for (size_t i = 0; i < FZ_ARRAY_LEN(calls.back); i++) {
		assert_int_equal(unwind.frames[i + 1].pc, calls.back[i] - 1);
		assert_int_equal(unwind.frames[i].hi, unwind.frames[i + 1].sp);
		assert_true(unwind.frames[i].sp < unwind.frames[i].hi);
	}
	assert_int_equal(calls.end, FZ_UNWIND_ROOT);
	fz_unwind_release(&unwind);
	own_release(&own);
}

static int make_file(void)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGES * getpagesize()), 0);
	return fd;
}

/* Map a page of the file as code; at the given address, if any. */
static void *map_code(void *at, int fd, int page)
{
	void *p = mmap(at, (size_t)getpagesize(), PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, (off_t)page * getpagesize());

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void test_other_code_at_a_known_address(void **state)
{
	struct own own;
	struct stat first, second;
	int files[] = { make_file(), make_file() };
	void *at = map_code(NULL, files[0], 0);

	(void)state;
	own_init(&own);
	fstat(files[0], &first);
	fstat(files[1], &second);
	struct fz_space_range *r = fz_space_find(&own.space, (uint64_t)at);
	assert_non_null(r);
	assert_int_equal(r->inode, first.st_ino);
	uint32_t known = own.space.generation;
	/* Nothing has changed. */
	fz_space_refresh(&own.space, own.space.next_check);
	assert_int_equal(own.space.generation, known);
	/* Another part of the file, then another file. */
	map_code(at, files[0], 1);
	fz_space_refresh(&own.space, own.space.next_check);
	assert_int_equal(own.space.generation, ++known);
	r = fz_space_find(&own.space, (uint64_t)at);
	assert_int_equal(r->offset, getpagesize());
	map_code(at, files[1], 1);
	fz_space_refresh(&own.space, own.space.next_check);
	assert_int_equal(own.space.generation, ++known);
	r = fz_space_find(&own.space, (uint64_t)at);
	assert_int_equal(r->inode, second.st_ino);
	munmap(at, (size_t)getpagesize());
	own_release(&own);
	close(files[0]);
	close(files[1]);
}

static void copy_into(int fd, const char *from)
{
	size_t size;
	fz_auto(fz_free_ptr) char *text = fz_read_small(from, 1 << 28, &size);

	assert_non_null(text);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, size, 0), size);
}

/* The image of a file is shared by processes, unless the file was written since. */
static void test_changed_image_file(void **state)
{
	struct own own;
	struct fz_space again, changed;
	char path[] = "/tmp/fz-unwind-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	copy_into(fd, "/proc/self/exe");
	void *at = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED) /* nothing in this folder may run */
		skip();
	own_init(&own);
	fz_space_init(&again, &own.process, &own.images);
	fz_space_init(&changed, &own.process, &own.images);
	uint32_t image = fz_space_find(&own.space, (uint64_t)at)->image;
	assert_int_not_equal(image, FZ_NONE);
	assert_int_equal(fz_space_find(&again, (uint64_t)at)->image, image);
	copy_into(fd, "/bin/sh");
	assert_int_not_equal(fz_space_find(&changed, (uint64_t)at)->image, image);
	munmap(at, (size_t)getpagesize());
	fz_space_release(&again);
	fz_space_release(&changed);
	own_release(&own);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_are_at_their_calls),
		cmocka_unit_test(test_other_code_at_a_known_address),
		cmocka_unit_test(test_changed_image_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
