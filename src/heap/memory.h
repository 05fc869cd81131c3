/* SPDX-License-Identifier: MIT */
/* Copies the memory of a process.
 *
 *   /proc/PID/maps     writable mappings              -> segments
 *   /proc/PID/pagemap  existing pages                 -> only these are read
 *
 * Untouched pages are not read, because reading would create them. A segment is a run of pages;
 * segments are in order of address and do not overlap. Every access is bounded by them.
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
	uint32_t last;                 /* segment of the last address */
	uint64_t bytes;                /* of all segments, before any was truncated */
	uint64_t heap_start, heap_end; /* the process's [heap] mapping */
	uint8_t *copy;                 /* all segments, contiguous */
	uint64_t *seen;
};

int fz_heap_memory_read(struct fz_process *process, struct fz_heap_memory *ret,
			struct fz_error *err);
void fz_heap_memory_release(struct fz_heap_memory *m);

/* Returns the copy of n bytes at an address; NULL if not all were copied. */
const uint8_t *fz_heap_memory_at(struct fz_heap_memory *m, uint64_t address, uint64_t n);
/* Whether the object at an address is marked. */
bool fz_heap_memory_is_marked(struct fz_heap_memory *m, uint64_t address);
/* Marks the object at an address, which must be in the copy; false if it is already marked. */
bool fz_heap_memory_mark(struct fz_heap_memory *m, uint64_t address);
