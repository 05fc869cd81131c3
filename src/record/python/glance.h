/* SPDX-License-Identifier: MIT */
/* A quick check of what a process's Python threads do. */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct fz_python_glance {
	uint32_t threads; /* those that run Python code */
	uint32_t idle;    /* those of them that wait for something other than the GIL */
};

/* Takes some 30 ms if only one thread runs. False if it cannot be read, or is not CPython. */
bool fz_python_glance(pid_t pid, struct fz_python_glance *ret);
/* Does a thread wait, by its status in a sample and its state in the kernel ('S')? */
bool fz_python_is_idle(unsigned status, char state);
