/* SPDX-License-Identifier: MIT */
/* Reads the heap of a running CPython process from outside: types by memory, and their holders.
 *
 * Its writable memory is copied at once (memory.h), and objects are found in the copy (walk.h); the
 * process is not modified. The result is a profile whose stacks are chains of holders, with a
 * weight in bytes. Each object counts once, below the first holder in a breadth-first search from
 * modules and frames.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "profile/profile.h"

/* Bytes and objects of one type. */
struct fz_heap_type {
	uint32_t name; /* string of the profile */
	uint64_t bytes, objects;
};

struct fz_heap_result {
	uint8_t python[3];
	struct fz_heap_type *types; /* by descending bytes */
	uint32_t n;
	uint64_t bytes, objects; /* of all types */
	uint64_t changed;        /* references without an object, which changed while being read */
	uint64_t read_bytes;
	int64_t read_ns;
};

/* Adds the heap of a process to an empty profile. FZ_EAGAIN if it has no interpreter, or changed
 * too much while being read; FZ_EUNSUPPORTED for a version or build of Python with unknown objects.
 */
int fz_heap_record(pid_t pid, struct fz_profile *into, struct fz_heap_result *ret,
		   struct fz_error *err);
void fz_heap_result_release(struct fz_heap_result *r);
