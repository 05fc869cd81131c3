/* SPDX-License-Identifier: MIT */
/* Print the memory that heap_image.h's steps read, in the form that tests/unit/memory_image.h reads
 * back, and the lines of standard input about the objects. The process must stand still.
 *
 *   record_heap PID <<< "object 0x7f... 56 dict"
 *
 * The linker puts a function of this file in front of fz_heap_memory_at.
 */
#include <inttypes.h>
#include <stdio.h>

#include "record/python/runtime.h"
#include "unit/heap_image.h"

enum { ROW = 64, LINE = 1024 };

/* Words that were read, in any order and as often as they were. */
static struct {
	struct fz_process process;
	uint64_t *list;
	size_t n, cap;
} words;

static void add_words(uint64_t at, uint64_t n)
{
	for (uint64_t word = at & ~7ull; word < at + n; word += 8) {
		fz_grow(words.list, words.n, words.cap);
		words.list[words.n++] = word;
	}
}

const uint8_t *__real_fz_heap_memory_at(struct fz_heap_memory *m, uint64_t address, uint64_t n);
const uint8_t *__wrap_fz_heap_memory_at(struct fz_heap_memory *m, uint64_t address, uint64_t n);

const uint8_t *__wrap_fz_heap_memory_at(struct fz_heap_memory *m, uint64_t address, uint64_t n)
{
	const uint8_t *p = __real_fz_heap_memory_at(m, address, n);

	if (p)
		add_words(address, n);
	return p;
}

/* What is read from the process itself: constants. */
static ssize_t record_parts(void *arg, const struct iovec *parts, size_t n, void *out, size_t total)
{
	ssize_t got = fz_process_read_parts(arg, parts, n, out, total);

	for (size_t i = 0; got == (ssize_t)total && i < n; i++)
		add_words((uintptr_t)parts[i].iov_base, parts[i].iov_len);
	return got;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_words(void)
{
	uint64_t row = 0, previous = 0;
	uint8_t bytes[8];

	qsort(words.list, words.n, sizeof(*words.list), by_address);
	for (size_t i = 0; i < words.n; i++) {
		uint64_t at = words.list[i];
		if (at == previous || !fz_process_read(&words.process, at, bytes, sizeof(bytes)))
			continue;
		if (at != previous + 8 || at - row == ROW) {
			printf("%s%" PRIx64 " ", previous ? "\n" : "", at);
			row = at;
		}
		for (size_t k = 0; k < sizeof(bytes); k++)
			printf("%02x", bytes[k]);
		previous = at;
	}
	printf("\n");
}

static void take_lines(struct fz_heap_walk *w)
{
	char line[LINE];
	uint64_t object;
	uint32_t type;

	while (fgets(line, sizeof(line), stdin)) {
		fputs(line, stdout);
		if (sscanf(line, "object %" SCNx64, &object) == 1)
			heap_image_take(w, object, &type);
	}
}

static int record(const struct fz_py_runtime *r, struct fz_error *err)
{
	struct fz_process process = words.process;
	struct fz_heap_walk w = { 0 };
	uint64_t interp = 0;

	process.copy = record_parts;
	process.copy_arg = &words.process;
	int rc = fz_heap_memory_read(&words.process, &w.memory, err);
	if (rc)
		return rc;
	heap_image_begin(&w, &process, &r->layout, r->address);
	fz_heap_word(&w, r->address + r->layout.runtime.interpreters_head, &interp);
	printf("version %u.%u.%u\nruntime %#" PRIx64 "\ninterp %#" PRIx64 "\n", r->version[0],
	       r->version[1], r->version[2], r->address, interp);
	if (r->layout.minor >= 13)
		add_words(r->address, FZ_PY_DEBUG_OFFSETS_MAX);
	heap_image_roots(&w, interp);
	take_lines(&w);
	heap_image_end(&w);
	print_words();
	return 0;
}

int main(int argc, char **argv)
{
	struct fz_py_runtime runtime = { 0 };
	struct fz_error err = { 0 };

	if (argc != 2) {
		fprintf(stderr, "usage: record_heap PID < LINES\n");
		return 2;
	}
	int rc = fz_process_open(&words.process, atoi(argv[1]), &err);
	if (rc == 0)
		rc = fz_py_runtime_find(&words.process, NULL, &runtime, &err);
	if (rc == 0)
		rc = record(&runtime, &err);
	if (rc)
		fprintf(stderr, "record_heap: %s\n", err.message);
	fz_py_runtime_release(&runtime);
	fz_process_release(&words.process);
	free(words.list);
	return rc < 0;
}
