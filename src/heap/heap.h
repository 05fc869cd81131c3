/* SPDX-License-Identifier: MIT */
/* The heap of a running CPython process, read from outside: which types hold its memory, and what
 * holds them.
 *
 * The process is only read: its writable memory is copied at once (memory.h), and objects are found
 * in the copy (walk.h). The result is a profile whose stacks are chains of holders, with a weight
 * in bytes. Each object counts once, below the holder that a breadth-first search from modules and
 * frames reaches first.
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
	struct fz_heap_type *types; /* by bytes, the largest first */
	uint32_t n;
	uint64_t bytes, objects; /* of all types */
	uint64_t changed;        /* references that led to no object: changed while being read */
	uint64_t read_bytes;
	int64_t read_ns;
};

/* Add the heap of a process to an empty profile. FZ_EAGAIN: it has no interpreter, or changed too
 * much while it was read; FZ_EUNSUPPORTED: a version or build of Python whose objects are unknown.
 */
int fz_heap_take(pid_t pid, struct fz_profile *into, struct fz_heap_result *ret,
		 struct fz_error *err);
void fz_heap_result_release(struct fz_heap_result *r);
