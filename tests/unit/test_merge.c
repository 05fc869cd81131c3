/* SPDX-License-Identifier: MIT */
/* Python frames replace the C frames that run them, also where the C stack has calls of the loop
 * that belong to other frames. Made by hand: frame N of the C stack is at [16 N, 16 N + 16) and is
 * frame 100 + N of the profile, with its code at the same addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/native/merge.h"

enum {
	FRAMES = 6,
	LO = 4096,
	CURRENT = 0, /* in a CFrame, which is a C frame here */
	PREVIOUS = 8,
};

struct world {
	uint64_t stack[FRAMES * 2];
	struct fz_unwind_frame frames[FRAMES];
	struct fz_space_range range;
	struct fz_space space;
	struct fz_unwind unwind;
};

static uint64_t at(unsigned i)
{
	return LO + 16 * i;
}

/* Frame 3 is greenlet's, or some library's. */
static void begin(struct world *w, const char *library)
{
	*w = (struct world){
		.range = { .start = at(3), .end = at(4), .tried = true, .path = (char *)library },
		.space = { .ranges = &w->range, .n = 1, .next_refresh = INT64_MAX },
		.unwind = { .space = &w->space, .frames = w->frames, .n = FRAMES },
	};
	for (unsigned i = 0; i < FRAMES; i++)
		w->frames[i] = (struct fz_unwind_frame){
			.pc = at(i), .sp = at(i), .hi = at(i + 1), .frame = 100 + i
		};
}

/* Innermost first; 0 ends the list. */
static void link_cframes(struct world *w, const unsigned *list, const uint64_t *current)
{
	for (unsigned i = 0; list[i]; i++) {
		w->stack[2 * list[i]] = current[i];
		w->stack[2 * list[i] + 1] = list[i + 1] ? at(list[i + 1]) : 8;
	}
}

/* Outermost first. */
static void check(struct world *w, const struct fz_python_calls *calls,
		  const struct fz_merge_loop *loop, const uint32_t *expected, uint32_t n)
{
	const struct fz_unwind_stack stack = { LO, sizeof(w->stack), (const uint8_t *)w->stack };
	struct fz_merge m = { 0 };

	fz_merge_begin(&m);
	fz_merge_add(&m, calls, &stack, &w->unwind);
	fz_merge_run(&m, &w->unwind, loop);
	assert_int_equal(m.n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(m.frames[i], expected[i]);
	fz_merge_release(&m);
}

#define CHECK(w, calls, loop, ...)                               \
	check(w, calls, loop, (const uint32_t[]){ __VA_ARGS__ }, \
	      FZ_ARRAY_LEN(((const uint32_t[]){ __VA_ARGS__ })))

static const uint32_t python[] = { 1, 2 }; /* innermost first */

/* 3.11: one call runs both frames; the outer call is that of the frame that started the greenlet.
 */
static void test_each_call_points_to_its_frame(void **state)
{
	(void)state;
	struct fz_python_segment segment = { .frame = 7000, .end = 2 };
	const struct fz_python_calls calls = { python, 2, &segment, 1, at(1), PREVIOUS, CURRENT };
	struct world w;

	begin(&w, "/usr/lib/libc.so.6");
	link_cframes(&w, (unsigned[]){ 1, 4, 0 }, (uint64_t[]){ 7000, 9000 });
	CHECK(&w, &calls, &(struct fz_merge_loop){ 0 }, 105, 104, 103, 102, 2, 1, 100);
	/* The inner one has just begun and points nowhere yet. */
	link_cframes(&w, (unsigned[]){ 1, 4, 0 }, (uint64_t[]){ 1, 7000 });
	CHECK(&w, &calls, &(struct fz_merge_loop){ 0 }, 105, 2, 1, 103, 102, 101, 100);
}

/* 3.10: each Python frame has a call. */
static void test_calls_are_counted(void **state)
{
	(void)state;
	struct fz_python_segment segments[] = { { .end = 1 }, { .end = 2 } };
	const struct fz_python_calls calls = {
		python, 2, segments, 2, at(1), PREVIOUS, UINT32_MAX
	};
	static const uint64_t none[4] = { 0 };
	struct world w;

	begin(&w, "/usr/lib/libc.so.6");
	link_cframes(&w, (unsigned[]){ 1, 2, 0 }, none);
	CHECK(&w, &calls, &(struct fz_merge_loop){ 0 }, 105, 104, 103, 2, 1, 100);
	/* One more: it has just begun. */
	link_cframes(&w, (unsigned[]){ 1, 2, 4, 0 }, none);
	CHECK(&w, &calls, &(struct fz_merge_loop){ 0 }, 105, 2, 103, 1, 101, 100);
	/* Two more: the outer ones belong to another greenlet. */
	link_cframes(&w, (unsigned[]){ 1, 2, 4, 5, 0 }, none);
	CHECK(&w, &calls, &(struct fz_merge_loop){ 0 }, 105, 104, 103, 2, 1, 100);
	begin(&w, "/site-packages/greenlet/_greenlet.cpython-310-x86_64-linux-gnu.so");
	link_cframes(&w, (unsigned[]){ 1, 2, 4, 0 }, none);
	CHECK(&w, &calls, &(struct fz_merge_loop){ 0 }, 105, 104, 103, 2, 1, 100);
}

/* 3.8 and 3.9: calls of the loop by their code. Here it is frames 1 and 2, and 4 and 5 or none. */
static void test_calls_are_found_by_code(void **state)
{
	(void)state;
	struct fz_python_segment segments[] = { { .end = 1 }, { .end = 2 } };
	const struct fz_python_calls calls = { python, 2, segments, 2, 0, 0, UINT32_MAX };
	struct fz_merge_loop loop = { { at(1) }, { at(3) }, 1 };
	struct world w;

	begin(&w, "/usr/lib/libc.so.6");
	CHECK(&w, &calls, &loop, 105, 104, 103, 2, 1, 100);
	loop = (struct fz_merge_loop){ { at(1), at(4) }, { at(3), at(5) }, 2 };
	CHECK(&w, &calls, &loop, 105, 2, 103, 1, 101, 100);
	loop.hi[1] = at(6);
	CHECK(&w, &calls, &loop, 105, 104, 103, 2, 1, 100);
	begin(&w, "/site-packages/greenlet.cpython-38-x86_64-linux-gnu.so");
	loop.hi[1] = at(5);
	CHECK(&w, &calls, &loop, 105, 104, 103, 2, 1, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_call_points_to_its_frame),
		cmocka_unit_test(test_calls_are_counted),
		cmocka_unit_test(test_calls_are_found_by_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
