/* SPDX-License-Identifier: MIT */
/* Native stacks of a process, alone or merged with its Python stacks.
 *
 * The process is stopped for a sample: the registers of its threads and their stacks are copied,
 * and its Python frames are read at the same instant; it runs on while the copies are unwound.
 * docs/native.md has the facts.
 */
#pragma once

#include "record/python/python.h"
#include "record/stop.h"
#include "symbol/images.h"

struct fz_native;

struct fz_native_options {
	bool all_threads; /* else only the main one */
	/* Ids of threads that are not sampled are added; may be NULL. */
	struct fz_map *left_out;
	const char *python; /* file of the interpreter as the process maps it; NULL: none */
};

/* Addresses are interned in `into` and their files added to `images`; both outlive this. */
int fz_native_open(pid_t pid, const struct fz_native_options *options, struct fz_images *images,
		   struct fz_profile *into, struct fz_native **ret, struct fz_error *err);
void fz_native_close(struct fz_native *n);

/* While the process stands: copy what the threads have. FZ_EGONE: it ended; FZ_EAGAIN: it runs
 * another program now. */
int fz_native_copy(struct fz_native *n, const struct fz_stopper *stopper, struct fz_error *err);
/* Afterwards, standing or not: the stacks of what was copied. With `python`, a sample taken at
 * the same stop, merged. Valid until the next call. */
void fz_native_take(struct fz_native *n, const struct fz_python_sample *python,
		    struct fz_python_sample *ret);

struct fz_native_figures {
	uint64_t stacks;     /* unwound */
	uint64_t incomplete; /* not to their root: the outer part is missing */
};
struct fz_native_figures fz_native_figures(const struct fz_native *n);
