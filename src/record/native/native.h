/* SPDX-License-Identifier: MIT */
/* Native stacks of a process, alone or merged with its Python stacks.
 *
 * The process is stopped for a sample: the registers and stacks of its threads are copied, and its
 * Python frames are read at the same instant. It continues while the copies are unwound. See
 * docs/native.md.
 */
#pragma once

#include "record/python/python.h"
#include "record/stop.h"
#include "symbol/images.h"

struct fz_native;

struct fz_native_options {
	bool all_threads;        /* false: only the main thread */
	struct fz_map *left_out; /* gets the ids of threads that are not sampled; may be NULL */
	const char *python;      /* file of the interpreter as the process maps it; NULL: none */
};

/* Addresses are interned in `into` and their files added to `images`; both outlive this. */
int fz_native_open(pid_t pid, const struct fz_native_options *options, struct fz_images *images,
		   struct fz_profile *into, struct fz_native **ret, struct fz_error *err);
void fz_native_close(struct fz_native *n);

/* Copy registers and stacks while the process is stopped. FZ_EGONE: it ended; FZ_EAGAIN: it runs
 * another program now. */
int fz_native_copy(struct fz_native *n, const struct fz_stopper *stopper, struct fz_error *err);
/* Afterwards, stopped or not: unwind the copies, merged with `python`, a sample taken at the same
 * stop; NULL: native stacks only. *ret is valid until the next call. */
void fz_native_unwind(struct fz_native *n, const struct fz_python_sample *python,
		      struct fz_python_sample *ret);

struct fz_native_figures {
	uint64_t stacks;     /* unwound */
	uint64_t incomplete; /* the outer part is missing */
};
struct fz_native_figures fz_native_figures(const struct fz_native *n);
