/* SPDX-License-Identifier: MIT */
/* One look at a process: what do its Python threads do? */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct fz_python_glance {
	uint32_t threads; /* that run Python code */
	uint32_t idle;    /* of them: that wait for something other than the GIL */
};

/* Takes some 30 ms where only one thread runs. False: it cannot be looked into, or is no CPython.
 */
bool fz_python_glance(pid_t pid, struct fz_python_glance *ret);
/* Does a thread wait, by what a sample says and by the state that the kernel gives it ('S')? */
bool fz_python_is_idle(unsigned status, char state);
