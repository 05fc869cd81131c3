/* SPDX-License-Identifier: MIT */
/* Print the memory that a walk over the first thread of a CPython reads, in the form that
 * tests/unit/memory_image.h reads back. The process must stand still.
 *
 *   record_image PID
 */
#include <stdio.h>

#include "record/python/runtime.h"
#include "unit/memory_image.h"

/* Every byte that was read, in any order and as often as it was. */
struct record {
	struct fz_process process;
	struct recorded {
		uint64_t at;
		uint8_t byte;
	} * list;
	size_t n, cap;
};

static ssize_t record_parts(void *arg, const struct iovec *parts, size_t n, void *out, size_t total)
{
	struct record *r = arg;
	ssize_t got = fz_process_read_parts(&r->process, parts, n, out, total);
	size_t done = 0;

	for (size_t i = 0; got > 0 && i < n && done + parts[i].iov_len <= (size_t)got; i++) {
		for (size_t k = 0; k < parts[i].iov_len; k++) {
			fz_grow(r->list, r->n, r->cap);
			r->list[r->n++] =
				(struct recorded){ (uint64_t)(uintptr_t)parts[i].iov_base + k,
						   ((uint8_t *)out)[done + k] };
		}
		done += parts[i].iov_len;
	}
	return got;
}

static int by_address(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void print_bytes(struct record *r)
{
	uint64_t row = 0;

	qsort(r->list, r->n, sizeof(*r->list), by_address);
	for (size_t i = 0; i < r->n; i++) {
		const struct recorded *b = &r->list[i];
		bool follows = i && b->at == r->list[i - 1].at + 1;
		if (i && b->at == r->list[i - 1].at)
			continue;
		if (!follows || b->at - row == IMAGE_ROW) {
			printf("%s%" PRIx64 " ", i ? "\n" : "", b->at);
			row = b->at;
		}
		printf("%02x", b->byte);
	}
	printf("\n");
}

/* A walk with everything that walks can read, into the record. */
static int walk(struct record *r, const struct fz_py_runtime *runtime, struct fz_error *err)
{
	const struct fz_py_layout *l = &runtime->layout;
	struct fz_process process = r->process;
	uint8_t table[FZ_PY_DEBUG_OFFSETS_MAX];
	struct image_walk w;
	uint64_t interp, thread;

	process.copy = record_parts;
	process.copy_arg = r;
	if (!fz_process_read_u64(&process, runtime->address + l->runtime.interpreters_head,
				 &interp) ||
	    !fz_process_read_u64(&process, interp + l->interp.threads_head, &thread) ||
	    !fz_process_read(&process, runtime->address, table, sizeof(table)))
		return fz_process_trouble(&r->process, errno, err);
	printf("version %u.%u.%u\n", runtime->version[0], runtime->version[1], runtime->version[2]);
	printf("runtime %#" PRIx64 "\ninterp %#" PRIx64 "\nthread %#" PRIx64 "\n", runtime->address,
	       interp, thread);
	image_walk_init(&w, &process, l, interp, thread);
	w.context.opcodes = l->frames != FZ_PY_FRAMES_HEAP;
	enum fz_py_outcome rc = image_walk_sample(&w);
	image_walk_release(&w);
	if (rc != FZ_PY_WALK_OK)
		return fz_fail(err, FZ_EAGAIN, "the walk ended with outcome %d", rc);
	return 0;
}

int main(int argc, char **argv)
{
	struct fz_py_runtime runtime = { 0 };
	struct record r = { 0 };
	struct fz_error err = { 0 };

	if (argc != 2) {
		fprintf(stderr, "usage: record_image PID\n");
		return 2;
	}
	int rc = fz_process_open(&r.process, atoi(argv[1]), &err);
	if (rc == 0)
		rc = fz_py_runtime_find(&r.process, NULL, &runtime, &err);
	if (rc == 0)
		rc = walk(&r, &runtime, &err);
	if (rc == 0)
		print_bytes(&r);
	else
		fprintf(stderr, "record_image: %s\n", err.message);
	fz_py_runtime_release(&runtime);
	fz_process_release(&r.process);
	free(r.list);
	return rc < 0;
}
