/* SPDX-License-Identifier: MIT */
/* Whether a thread is raising or handling an exception. */
#pragma once

#include "pages.h"
#include "runtime.h"

/* Can it be told for this interpreter at all? */
bool fz_py_exception_known(const struct fz_py_runtime *runtime);
/* `copy` is a copy of the thread state at `tstate`, up to what fz_py_walk_plan copies of it.
 * `pages` are of this thread, and for this alone. */
bool fz_py_exception(struct fz_py_pages *pages, const struct fz_py_runtime *runtime,
		     uint64_t tstate, const uint8_t *copy);
