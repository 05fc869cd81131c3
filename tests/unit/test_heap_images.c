/* SPDX-License-Identifier: MIT */
/* Objects of all kinds in memory images of real interpreters, 3.8 to 3.15, taken while a program
 * stood still (tests/data/images/heap-*, heap_image.h): sizes, types and references must match what
 * the program printed, and no corruption of that memory may cause an access outside of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "heap_image.h"
#include "memory_image.h"

enum { FIRST = FZ_PY_MINOR_MIN, LAST = FZ_PY_MINOR_MAX };

/* An image, and a walk over it. */
struct world {
	struct image image;
	struct fz_process process;
	struct fz_heap_walk w;
};

/* Rows that touch are one segment. */
static void fill_memory(const struct image *m, struct fz_heap_memory *to)
{
	uint8_t *at;
	uint64_t bits = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct image_row *row = &m->rows[i];
		assert_int_equal(row->at % 8 | row->n % 8, 0);
		to->bytes += row->n;
		if (to->n && to->list[to->n - 1].end == row->at) {
			to->list[to->n - 1].end += row->n;
			continue;
		}
		fz_grow(to->list, to->n, to->cap);
		to->list[to->n++] =
			(struct fz_heap_segment){ .start = row->at, .end = row->at + row->n };
	}
	to->copy = at =
		mmap(NULL, to->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(to->copy, MAP_FAILED);
	/* A word of marks for each 512 bytes, and for what is left of each segment. */
	to->seen = fz_calloc(to->bytes / 512 + to->n, 8);
	for (uint32_t i = 0; i < to->n; i++) {
		struct fz_heap_segment *s = &to->list[i];
		s->bytes = at;
		s->seen = to->seen + bits;
		assert_true(image_copy(m, s->start, at, s->end - s->start));
		at += s->end - s->start;
		bits += (s->end - s->start + 511) / 512;
	}
}

static void begin(struct world *t, unsigned minor)
{
	struct fz_error err = { 0 };
	char path[512];

	*t = (struct world){ .process = { .pidfd = -1, .stat_fd = -1, .mem_fd = -1 } };
	snprintf(path, sizeof(path), "%s/data/images/heap-3.%u.gz", getenv("FZ_TESTS"), minor);
	if (image_load(path, &t->image, &err) < 0)
		fail_msg("%s", err.message);
	t->process.copy = image_read_parts;
	t->process.copy_arg = &t->image;
	fill_memory(&t->image, &t->w.memory);
	heap_image_begin(&t->w, &t->process, &t->image.layout, t->image.runtime);
}

static void end(struct world *t)
{
	heap_image_end(&t->w);
	image_release(&t->image);
}

static bool is_queued(const struct fz_heap_walk *w, uint64_t object)
{
	for (size_t i = w->head; i < w->tail; i++)
		if (w->queue[i].object == object)
			return true;
	return false;
}

static void test_objects(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct world t;
		uint64_t object = 0, size;
		uint32_t type = FZ_NONE;
		char name[64] = "";

		begin(&t, minor);
		heap_image_roots(&t.w, t.image.interp);
		for (size_t i = 0; i < t.image.object_n; i++) {
			const char *line = t.image.objects[i];
			if (sscanf(line, "object %" SCNx64 " %" SCNu64 " %63[^\n]", &object, &size,
				   name) == 3) {
				uint64_t ours = heap_image_take(&t.w, object, &type);
				if (type == FZ_NONE)
					fail_msg("3.%u: %s", minor, line);
				const char *said = t.w.profile->strings[t.w.types[type].name].p;
				if (ours != size || strcmp(said, name) != 0)
					fail_msg("3.%u: %s: %" PRIu64 " bytes, %s", minor, line,
						 ours, said);
			} else if (sscanf(line, "holds %" SCNx64, &size) == 1 &&
				   size != t.w.types[type].address && !is_queued(&t.w, size)) {
				fail_msg("3.%u: %s of %s (%#" PRIx64 ")", minor, line, name,
					 object);
			}
		}
		assert_true(object);
		assert_int_equal(t.w.changed, 0);
		end(&t);
	}
}

/* Name of the last holder of what is queued. */
static const char *holder_of(const struct fz_heap_walk *w, uint64_t object)
{
	for (size_t i = w->head; i < w->tail; i++)
		if (w->queue[i].object == object)
			return w->profile
				->strings[fz_profile_stack_function(w->profile, w->queue[i].stack)
						  ->name]
				.p;
	return "";
}

static void test_roots(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct world t;
		uint64_t object = 0;

		begin(&t, minor);
		assert_int_equal(heap_image_roots(&t.w, t.image.interp), FZ_HEAP_LISTS);
		for (size_t i = 0; i < t.image.object_n; i++)
			sscanf(t.image.objects[i], "variable %" SCNx64, &object);
		assert_string_equal(holder_of(&t.w, object), "stand.argument");
		assert_string_equal(holder_of(&t.w, t.w.queue[t.w.head].object), "sys");
		end(&t);
	}
}

/* Some words become other words of the memory, or anything. */
static void damage(struct fz_heap_memory *m, uint64_t *dice)
{
	uint64_t words = m->bytes / 8, *copy = (uint64_t *)(void *)m->copy;

	for (int i = 0; i < 100; i++) {
		uint64_t at = fz_dice_roll(dice) % words, value = fz_dice_roll(dice);
		copy[at] = i % 3 == 0 ? value : i % 3 == 1 ? copy[value % words] : value & 0xffff;
	}
}

static void test_damaged(void **state)
{
	enum { ROUNDS = 30 };
	uint64_t dice = 1;

	(void)state;
	for (unsigned minor = FIRST; minor <= LAST; minor++)
		for (int round = 0; round < ROUNDS; round++) {
			struct world t;
			uint64_t object;
			uint32_t type;

			begin(&t, minor);
			damage(&t.w.memory, &dice);
			heap_image_roots(&t.w, t.image.interp);
			for (size_t i = 0; i < t.image.object_n; i++)
				if (sscanf(t.image.objects[i], "object %" SCNx64, &object) == 1)
					heap_image_take(&t.w, object, &type);
			end(&t);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
