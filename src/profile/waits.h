/* SPDX-License-Identifier: MIT */
/* Waits: samples of a thread that could not go on, or had no CPU, each with its exact length.
 *
 *   main;fetch;<lock wait>;<lock released by refresh>
 *              what for     who ended it, where that is known
 *
 * A wait is a frame on the stack, a marker, so that every format and view has it. */
#pragma once

#include "profile/profile.h"

enum fz_wait {
	FZ_WAIT_LOCK,
	FZ_WAIT_GIL,
	FZ_WAIT_SOCKET,
	FZ_WAIT_PIPE,
	FZ_WAIT_POLL, /* for one of several descriptors */
	FZ_WAIT_FILE, /* disks, too */
	FZ_WAIT_DEVICE,
	FZ_WAIT_EVENT, /* a descriptor that is no file: eventfd, timerfd, ... */
	FZ_WAIT_CHILD,
	FZ_WAIT_SLEEP,
	FZ_WAIT_SIGNAL,
	FZ_WAIT_MEMORY, /* a page fault, or the map of the memory */
	FZ_WAIT_STOPPED,
	FZ_WAIT_OTHER, /* another system call */
	FZ_WAIT_CPU,   /* it could run, but others did */
	FZ_WAIT_KINDS
};

struct fz_wait_kind {
	const char *key;   /* "lock" */
	const char *frame; /* "<lock wait>" */
	const char *by;    /* "lock released by": what whoever ends it did */
};
extern const struct fz_wait_kind fz_wait_kinds[FZ_WAIT_KINDS];

/* FZ_WAIT_KINDS: the function is no wait. */
enum fz_wait fz_wait_of_function(const struct fz_profile *p, uint32_t function);

/* Waits at one place, for one thing, ended by one function. */
struct fz_wait_row {
	uint32_t function; /* where: innermost outside the standard library, else the innermost;
			      FZ_NONE: no code of its own */
	int32_t line;
	uint32_t by; /* marker that says who ended them; FZ_NONE: not known */
	enum fz_wait kind;
	uint64_t n;
	int64_t ns, longest;
};

struct fz_wait_table {
	struct fz_wait_row *rows; /* most time first */
	uint32_t n;
	int64_t ns, kind_ns[FZ_WAIT_KINDS];
	int64_t all_ns; /* of the recording: waits and CPU time */
};

/* Empty where nothing waits, or not in ns. */
void fz_wait_table_init(struct fz_wait_table *t, const struct fz_profile *p);
void fz_wait_table_release(struct fz_wait_table *t);
