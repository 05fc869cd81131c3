/* SPDX-License-Identifier: MIT */
/* Whether a thread is raising or handling an exception. */
#pragma once

#include "pages.h"
#include "runtime.h"

/* Is this supported for this interpreter? */
bool fz_py_exception_known(const struct fz_py_runtime *runtime);
/* Is the thread raising or handling an exception? `copy` is a copy of its state at `tstate`, as
 * planned by fz_py_walk_plan. `pages` must be used for this thread and purpose only. */
bool fz_py_exception(struct fz_py_pages *pages, const struct fz_py_runtime *runtime,
		     uint64_t tstate, const uint8_t *copy);
