/* SPDX-License-Identifier: MIT */
/* A copy of what a process keeps in its memory.
 *
 *   /proc/PID/maps     mappings that are writable     -> segments
 *   /proc/PID/pagemap  which of their pages exist     -> only these are read
 *
 * Pages that were never touched are not read: reading would make them exist. A segment is a run of
 * pages; segments are in order of address and do not overlap. Every access is bounded by them.
 */
#pragma once

#include "record/process.h"

struct fz_heap_segment {
	uint64_t start, end; /* in the target */
	uint8_t *bytes;      /* the copy */
	uint64_t *seen;      /* one bit for each 8 bytes */
};

struct fz_heap_memory {
	struct fz_heap_segment *list;
	uint32_t n, cap;
	uint32_t last;                 /* segment that held the last address */
	uint64_t bytes;                /* of all segments */
	uint64_t heap_start, heap_end; /* what the kernel calls the heap of the process */
	uint8_t *copy;                 /* all segments, one behind the other */
	size_t copy_size;
	uint64_t *seen;
};

int fz_heap_memory_read(struct fz_process *process, struct fz_heap_memory *ret,
			struct fz_error *err);
void fz_heap_memory_release(struct fz_heap_memory *m);

/* The copy of n bytes at an address; NULL where not all of them were copied. */
const uint8_t *fz_heap_memory_at(struct fz_heap_memory *m, uint64_t address, uint64_t n);
/* Was the object at an address marked? */
bool fz_heap_memory_is_marked(struct fz_heap_memory *m, uint64_t address);
/* Mark the object at an address, which is in the copy. False: it was marked before. */
bool fz_heap_memory_mark(struct fz_heap_memory *m, uint64_t address);
