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
	uint64_t *addresses;            /* of them */
	uint32_t *ends;                 /* where in `locals` those of each frame end */
	uint32_t n;
	struct fz_locals locals;
};

struct fz_py_locals {
	struct fz_py_pages pages;
	struct fz_py_locals_thread *threads;
	uint32_t thread_n, thread_cap;
	struct fz_locals *list; /* one for each stack of the sample */
	uint32_t n, cap;
	bool torn; /* some are not known */
};

void fz_py_locals_release(struct fz_py_locals *l);
/* Read those of the sample that was just taken. */
void fz_py_locals_read(struct fz_python *py);
/* Give the sample that was just taken what was read for the one before: what is in frames that are
 * still the same is right. */
void fz_py_locals_settle(struct fz_python *py);
