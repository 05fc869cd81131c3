/* SPDX-License-Identifier: MIT */
/* Local variables of the frames of a sample: plain ones, cells and free variables. */
#pragma once

#include "pages.h"
#include "profile/locals.h"
#include "walk.h"

struct fz_python;

/* What was read of one thread. */
struct fz_py_locals_thread {
	uint32_t thread;                /* of the profile */
	struct fz_py_raw_frame *frames; /* outermost first */
	uint64_t *addresses;            /* of the frames */
	uint32_t *ends;                 /* for each frame, the end of its variables in `locals` */
	uint32_t n;
	struct fz_locals locals;
};

struct fz_py_locals {
	struct fz_py_pages pages;
	struct fz_py_locals_thread *threads;
	uint32_t thread_n, thread_cap;
	struct fz_locals *list; /* one per stack of the sample */
	uint32_t n, cap;
	bool torn; /* some are unknown */
};

void fz_py_locals_release(struct fz_py_locals *l);
/* Read the variables for the sample that was just taken. */
void fz_py_locals_read(struct fz_python *py);
/* Assign the variables read for the previous sample to the sample that was just taken: they are
 * valid for frames that are still the same. */
void fz_py_locals_settle(struct fz_python *py);
