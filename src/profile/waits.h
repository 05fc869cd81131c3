/* SPDX-License-Identifier: MIT */
/* Waits: samples of a thread that was blocked or had no CPU. With FZ_FEATURE_WAITS each sample is
 * one wait with its exact length; with FZ_FEATURE_SAMPLED_WAITS it is one instant in a wait, and
 * the ender, the lengths and the number of waits are unknown.
 *
 *   main;fetch;<lock wait>;<lock released by refresh>
 *              kind         ender, if known
 *
 * A wait is a frame on the stack, a marker, so it works in every format and view. */
#pragma once

#include "profile/profile.h"

enum fz_wait {
	FZ_WAIT_LOCK,
	FZ_WAIT_GIL,
	FZ_WAIT_SOCKET,
	FZ_WAIT_PIPE,
	FZ_WAIT_POLL, /* for any of several descriptors */
	FZ_WAIT_FILE, /* disks, too */
	FZ_WAIT_DEVICE,
	FZ_WAIT_EVENT, /* eventfd, timerfd, ... */
	FZ_WAIT_CHILD,
	FZ_WAIT_SLEEP,
	FZ_WAIT_SIGNAL,
	FZ_WAIT_MEMORY, /* a page fault, or the lock of the memory map */
	FZ_WAIT_STOPPED,
	FZ_WAIT_OTHER, /* another system call */
	FZ_WAIT_CPU,   /* runnable without a CPU */
	FZ_WAIT_KINDS
};

struct fz_wait_kind {
	const char *key;   /* "lock" */
	const char *frame; /* "<lock wait>" */
	const char *by;    /* "lock released by": action of the ender */
};
extern const struct fz_wait_kind fz_wait_kinds[FZ_WAIT_KINDS];

/* FZ_WAIT_KINDS if the function is not a wait. */
enum fz_wait fz_wait_of_function(const struct fz_profile *p, uint32_t function);

/* The state of a thread and its place. */
struct fz_wait_place {
	uint32_t function; /* innermost outside the standard library, else the innermost; FZ_NONE:
			      no code of its own, or not relevant, as for FZ_WAIT_CPU */
	int32_t line;
	uint32_t by;       /* marker that names the ender of the wait; FZ_NONE if unknown */
	enum fz_wait kind; /* FZ_WAIT_KINDS: on a CPU */
};

/* The places of a profile's stacks, computed on first use. */
struct fz_wait_places {
	const struct fz_profile *p;
	uint8_t *kinds; /* of functions: enum fz_wait */
	uint8_t *origins;
	struct fz_wait_place *of; /* of stacks */
	bool *known;
};

/* False if the profile has no waits, or time is not in ns; then nothing needs to be released. */
bool fz_wait_places_init(struct fz_wait_places *w, const struct fz_profile *p);
void fz_wait_places_release(struct fz_wait_places *w);
const struct fz_wait_place *fz_wait_place_of(struct fz_wait_places *w, uint32_t stack);

/* Samples of one place. */
struct fz_wait_row {
	struct fz_wait_place at;
	uint64_t n; /* samples */
	int64_t ns;
	int64_t longest; /* longest sample */
};

struct fz_wait_rows {
	struct fz_wait_row *rows;
	uint32_t n, cap;
	struct fz_map by_place;
};

void fz_wait_rows_add(struct fz_wait_rows *r, const struct fz_wait_place *at, uint64_t n,
		      int64_t ns);
/* Sorts by descending time; nothing can be added afterwards. */
void fz_wait_rows_sort(struct fz_wait_rows *r);
void fz_wait_rows_release(struct fz_wait_rows *r);

struct fz_wait_table {
	struct fz_wait_rows rows;
	int64_t ns, kind_ns[FZ_WAIT_KINDS];
	int64_t all_ns; /* of the recording: waits and CPU time */
	bool exact;     /* each sample is one wait */
};

/* Empty if there are no waits, or times are not in ns. */
void fz_wait_table_init(struct fz_wait_table *t, const struct fz_profile *p);
void fz_wait_table_release(struct fz_wait_table *t);
